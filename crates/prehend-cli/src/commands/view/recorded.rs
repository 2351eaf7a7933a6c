//! What was recorded of a graph, or left by a run, as the stage of any of its times.

use super::event::read_event;
use super::moment::Moment;
use super::place::{Place, floor_of, read_map, route_of};
use super::robot::Robot;
use nalgebra::Point3;
use prehend_bags::{ContainerError, StoredMessage, stored_messages};
use prehend_convert as convert;
use prehend_msgs::moveit_msgs::msg::PlanningScene;
use prehend_msgs::names;
use prehend_msgs::nav_msgs::msg::{OccupancyGrid as GridMsg, Path as PathMsg};
use prehend_msgs::prehend_interfaces::msg::{ObjectMap as MapMsg, SymbolicState as StateMsg, TraceEvent};
use prehend_msgs::sensor_msgs::msg::JointState;
use prehend_msgs::tf2_msgs::msg::TFMessage;
use prehend_robots::joints::{Joints, read_joints};
use prehend_robots::move_group::HeardScene;
use prehend_ros::{RosError, TfTree, from_cdr};
use prehend_scene::{Object, ObjectMap, SymbolicState};
use prehend_viewer::{Area, Event, Floor, Stage, Story, Thing, around, things_at};
use std::path::Path;
use std::sync::Arc;

/// What was heard, by the time at which it was in nanoseconds, oldest first.
pub(super) type Samples<T> = Vec<(i64, T)>;

/// What was heard of a graph.
pub(super) struct Recorded {
    robot: Robot,
    heard: Heard,
    areas: Arc<Vec<Area>>,
    /// The things that were shown last, and which of the maps they are from.
    shown: Option<(Maps, Arc<Vec<Thing>>)>,
}

/// Which of the maps of the surroundings, and which of the room.
type Maps = [Option<i64>; 2];

/// A step of the story.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Step {
    /// When, seconds after the beginning.
    pub(super) at: f64,
    /// What happened, in a few words.
    pub(super) name: String,
}

/// What of it is shown.
#[derive(Default)]
pub(super) struct Heard {
    pub(super) maps: Samples<ObjectMap>,
    pub(super) events: Samples<Event>,
    pub(super) joints: Samples<Joints>,
    pub(super) places: Samples<Place>,
    rooms: Samples<ObjectMap>,
    in_hand: Samples<Option<Object>>,
    states: Samples<SymbolicState>,
    messages: Samples<PlanningScene>,
    scenes: Samples<HeardScene>,
    floors: Samples<Arc<Floor>>,
    routes: Samples<Vec<Point3<f64>>>,
    tf: Option<TfTree>,
}

impl Recorded {
    /// Reads the bag at `path`; of one that is damaged, what is before the damage.
    ///
    /// Errors: what is wrong, in words.
    pub(super) fn read(path: &Path, robot: Robot) -> Result<Self, String> {
        let mut heard = Heard::default();
        let visit = &mut |message: StoredMessage<'_>| {
            if let Err(error) = heard.take(&robot, &message) {
                tracing::warn!("a message of {} cannot be read: {error}", message.topic);
            }
            true
        };
        let broken = |error: ContainerError| error.to_string();
        if let Some(damage) = stored_messages(path, true, visit).map_err(broken)? {
            tracing::warn!("{damage}: what comes after it is not shown");
        }
        if heard.maps.is_empty() && heard.joints.is_empty() {
            return Err(format!(
                "{} has neither object maps nor joint states of {}: was it made by `prehend record`?",
                path.display(),
                robot.config.name
            ));
        }
        Ok(Self::new(robot, heard))
    }

    /// What was heard of a robot.
    pub(super) fn new(robot: Robot, mut heard: Heard) -> Self {
        heard.sort(&robot);
        Self { robot, heard, areas: Arc::default(), shown: None }
    }

    /// With areas of the building.
    pub(super) fn in_building(self, areas: Vec<Area>) -> Self {
        Self { areas: Arc::new(areas), ..self }
    }

    /// How long it is, seconds.
    pub(super) fn seconds(&self) -> f64 {
        let (began, ended) = self.heard.span();
        (ended - began) as f64 * 1e-9
    }

    /// The steps of its story, in order: what changes what is told.
    pub(super) fn steps(&self) -> Vec<Step> {
        let began = self.heard.span().0;
        let mut story = Story::default();
        let mut steps = Vec::new();
        for (when, event) in &self.heard.events {
            if story.take(event) {
                let mut words = vec![event.kind.as_str(), event.name.as_str(), event.status.as_str()];
                words.retain(|word| !word.is_empty());
                words.dedup();
                let name = words.join(" ");
                // The stage of a time has what was heard until then.
                steps.push(Step { at: (when - began) as f64 * 1e-9 + 1e-7, name });
            }
        }
        steps
    }

    /// What was heard until then, seconds after the beginning.
    pub(super) fn stage_at(&mut self, seconds: f64) -> Stage {
        let at = self.heard.span().0 + (seconds * 1e9) as i64;
        let mut story = Story::default();
        for (_, event) in self.heard.events.iter().take_while(|(when, _)| *when <= at) {
            story.take(event);
        }
        let things = self.things_at(at);
        let heard = &self.heard;
        let place = newest(&heard.places, at).cloned();
        let building = self.robot.config.navigation.is_some();
        let is_placed = place.is_some() || !building;
        self.robot.stage(&Moment {
            place: place.unwrap_or_default(),
            things,
            joints: newest(&heard.joints, at),
            scene: newest(&heard.scenes, at),
            in_hand: newest(&heard.in_hand, at).and_then(Option::as_ref),
            state: newest(&heard.states, at),
            story,
            floor: newest(&heard.floors, at).filter(|_| is_placed).cloned(),
            route: newest(&heard.routes, at).filter(|_| is_placed).cloned().unwrap_or_default(),
            areas: if is_placed { Arc::clone(&self.areas) } else { Arc::default() },
            ..Moment::default()
        })
    }

    /// What was around the robot then: put together once for all times that have the same maps.
    fn things_at(&mut self, at: i64) -> Arc<Vec<Thing>> {
        let (heard, config) = (&self.heard, &self.robot.config);
        let is_placed = !heard.places.is_empty();
        let near = newest_with_time(&heard.maps, at);
        let far = newest_with_time(&heard.rooms, at).filter(|_| is_placed);
        let maps = [near.map(|(when, _)| when), far.map(|(when, _)| when)];
        if let Some((shown, things)) = &self.shown
            && *shown == maps
        {
            return Arc::clone(things);
        }
        let put = |found: Option<(i64, &ObjectMap)>| {
            found.map_or_else(Vec::new, |(when, map)| {
                // Where the robot was when it saw them; before anybody knew, where it was first.
                let first = heard.places.first().map(|(_, place)| place);
                let from = newest(&heard.places, when).or(first).cloned().unwrap_or_default();
                things_at(map, &from.stage_from(&map.frame, config))
            })
        };
        let things = Arc::new(around(put(near), put(far)));
        self.shown = Some((maps, Arc::clone(&things)));
        things
    }
}

impl Heard {
    fn take(&mut self, robot: &Robot, message: &StoredMessage<'_>) -> Result<(), RosError> {
        let (at, data, config) = (message.logged, message.data, &robot.config);
        let moving = config.navigation.as_ref();
        match message.topic {
            topic if names::is_name(topic, names::OBJECT_MAP) => {
                self.maps.extend(read_map(&from_cdr::<MapMsg>(data)?).map(|map| (at, map)));
            }
            topic if names::is_name(topic, names::ROOM_MAP) => {
                self.rooms.extend(read_map(&from_cdr::<MapMsg>(data)?).map(|map| (at, map)));
            }
            topic if names::is_name(topic, names::IN_HAND) => {
                let map = read_map(&from_cdr::<MapMsg>(data)?);
                self.in_hand.extend(map.map(|map| (at, map.objects.into_iter().next())));
            }
            topic if names::is_name(topic, names::STATE) => {
                self.states.push((at, convert::state_from_msg(&from_cdr::<StateMsg>(data)?)));
            }
            topic if names::is_name(topic, names::TRACE) => {
                self.events.push((at, read_event(&from_cdr::<TraceEvent>(data)?)));
            }
            topic if topic == config.joint_states => {
                let joints = read_joints(&from_cdr::<JointState>(data)?, config);
                self.joints.extend(joints.map(|joints| (at, joints)));
            }
            topic if topic == config.moveit.changed_scene() => self.messages.push((at, from_cdr(data)?)),
            topic @ ("/tf" | "/tf_static") if moving.is_some() => {
                self.hear_frames(at, &from_cdr(data)?, topic == "/tf_static", robot);
            }
            topic => {
                let Some(navigation) = moving else { return Ok(()) };
                let why = |why: String| tracing::warn!("{topic} is not shown: {why}");
                if topic == navigation.costmap {
                    let floor = floor_of(&from_cdr::<GridMsg>(data)?, &navigation.frame).map_err(why);
                    self.floors.extend(floor.ok().map(|floor| (at, Arc::new(floor))));
                } else if topic == navigation.route() {
                    let route = route_of(&from_cdr::<PathMsg>(data)?, &navigation.frame).map_err(why);
                    self.routes.extend(route.ok().map(|route| (at, route)));
                }
            }
        }
        Ok(())
    }

    /// Takes frames, and where the robot is by them.
    fn hear_frames(&mut self, at: i64, message: &TFMessage, is_fixed: bool, robot: &Robot) {
        let tf = self.tf.get_or_insert_default();
        for transform in &message.transforms {
            if let Err(error) = tf.insert(transform, is_fixed) {
                tracing::debug!("a frame that cannot be read: {error}");
            }
        }
        let place = Place::find(&robot.config, |target, source| {
            tf.lookup(target, source, &Default::default()).ok().map(|found| found.isometry())
        });
        if place.as_ref() != self.places.last().map(|(_, place)| place) {
            self.places.extend(place.map(|place| (at, place)));
        }
    }

    /// Messages are stored nearly in the order of their recording. Scenes are what their messages come to.
    fn sort(&mut self, robot: &Robot) {
        self.maps.sort_by_key(|(at, _)| *at);
        self.rooms.sort_by_key(|(at, _)| *at);
        self.in_hand.sort_by_key(|(at, _)| *at);
        self.states.sort_by_key(|(at, _)| *at);
        self.joints.sort_by_key(|(at, _)| *at);
        self.events.sort_by_key(|(at, _)| *at);
        self.places.sort_by_key(|(at, _)| *at);
        self.floors.sort_by_key(|(at, _)| *at);
        self.routes.sort_by_key(|(at, _)| *at);
        self.messages.sort_by_key(|(at, _)| *at);
        let mut scene = HeardScene::new(Arc::clone(&robot.model));
        for (at, message) in std::mem::take(&mut self.messages) {
            let joints = newest(&self.joints, at);
            let arm = joints.map_or(robot.config.home.as_slice(), |joints| joints.measured.arm.as_slice());
            let positions = robot.positions(arm).unwrap_or_default();
            match scene.take(&message, &positions, joints.map_or(0.0, |joints| joints.drive)) {
                Ok(()) => self.scenes.push((at, scene.clone())),
                Err(error) => tracing::warn!("a planning scene is not shown: {error}"),
            }
        }
    }

    /// Its first and last time; both 0 when nothing was heard. What was there already when it began has an earlier time of its own.
    fn span(&self) -> (i64, i64) {
        let ends = [ends(&self.maps), ends(&self.states), ends(&self.joints), ends(&self.events)];
        let all = ends.into_iter().flatten();
        all.reduce(|(a, b), (first, last)| (a.min(first), b.max(last))).unwrap_or((0, 0))
    }
}

fn ends<T>(samples: &Samples<T>) -> Option<(i64, i64)> {
    Some((samples.first()?.0, samples.last()?.0))
}

/// The newest sample at a time, and when it was.
fn newest_with_time<T>(samples: &Samples<T>, at: i64) -> Option<(i64, &T)> {
    let before = samples.partition_point(|(when, _)| *when <= at);
    samples[..before].last().map(|(when, sample)| (*when, sample))
}

/// The newest sample at a time.
fn newest<T>(samples: &Samples<T>, at: i64) -> Option<&T> {
    newest_with_time(samples, at).map(|(_, sample)| sample)
}

#[cfg(test)]
mod tests {
    use super::*;
    use nalgebra::{Isometry3, Vector3};
    use prehend_geometry::OrientedBox;
    use prehend_msgs::geometry_msgs::msg::TransformStamped;
    use prehend_ros::to_cdr;

    fn robot() -> Robot {
        Robot::load(Path::new("config/robots/xarm6.yaml")).expect("a robot")
    }

    fn event(message: &str) -> Vec<u8> {
        let event = TraceEvent {
            kind: "goal".into(),
            name: "started".into(),
            message: message.into(),
            ..Default::default()
        };
        to_cdr(&event).expect("bytes")
    }

    fn joints(first: f64) -> Vec<u8> {
        let name = ["joint1", "joint2", "joint3", "joint4", "joint5", "joint6", "drive_joint"];
        let state = JointState {
            name: name.map(String::from).to_vec(),
            position: vec![first, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0],
            ..Default::default()
        };
        to_cdr(&state).expect("bytes")
    }

    #[test]
    fn a_time_shows_what_was_heard_until_then() {
        let robot = robot();
        let mut heard = Heard::default();
        for (topic, logged, data) in [
            ("/prehend/trace", 3_000_000_000, event("open the drawer")),
            ("/joint_states", 1_000_000_000, joints(0.0)),
            ("/joint_states", 5_000_000_000, joints(1.0)),
            ("/prehend/trace", 4_000_000_000, event("close it")),
            ("/clock", 9_000_000_000, Vec::new()),
        ] {
            let message = StoredMessage { topic, type_name: "", logged, data: &data };
            heard.take(&robot, &message).expect("readable");
        }
        let mut recorded = Recorded::new(robot, heard);
        assert_eq!(recorded.seconds(), 4.0);
        let names: Vec<String> = recorded.steps().into_iter().map(|step| step.name).collect();
        assert_eq!(names, ["goal started", "goal started"]);
        let mut sentence = |at: f64| recorded.stage_at(at).panel.get(1).map(|line| line.text.clone());
        assert_eq!(sentence(1.0), None);
        assert_eq!(sentence(2.0).as_deref(), Some("open the drawer"));
        assert_eq!(sentence(3.5).as_deref(), Some("close it"));
        let second = recorded.steps()[1].at;
        assert_eq!(recorded.stage_at(second).panel[1].text, "close it", "a step shows what it is named by");
        let mut robot_at = |at: f64| recorded.stage_at(at).robot;
        assert!(!robot_at(0.0).is_empty() && robot_at(0.0) == robot_at(3.9));
        assert_ne!(robot_at(0.0), robot_at(4.0));
    }

    fn frame(parent: &str, child: &str, x: f64, second: i32) -> TransformStamped {
        let mut transform = TransformStamped { child_frame_id: child.to_owned(), ..Default::default() };
        (transform.header.frame_id, transform.header.stamp.sec) = (parent.to_owned(), second);
        (transform.transform.translation.x, transform.transform.rotation.w) = (x, 1.0);
        transform
    }

    #[test]
    fn in_a_room_things_stay_where_they_were_seen_while_the_base_drives_on() {
        let robot = Robot::load(Path::new("config/robots/ranger_xarm6.yaml")).expect("a robot");
        let navigation = robot.config.navigation.clone().expect("it drives");
        let (arm, base) = (robot.config.frames.base.clone(), navigation.base.clone());
        let moved = |x: f64, second: i32| {
            to_cdr(&TFMessage { transforms: vec![frame(&navigation.frame, &base, x, second)] })
                .expect("bytes")
        };
        let fixed = to_cdr(&TFMessage { transforms: vec![frame(&base, &arm, 0.2, 0)] }).expect("bytes");
        let mut grid = GridMsg { data: vec![0, 100], ..Default::default() };
        grid.header.frame_id.clone_from(&navigation.frame);
        (grid.info.width, grid.info.height, grid.info.resolution) = (2, 1, 1.0);
        let bounds = OrientedBox { pose: Isometry3::translation(0.5, 0.0, 0.0), size: Vector3::repeat(0.1) };
        let map = ObjectMap {
            frame: arm.clone(),
            objects: vec![Object::unnamed("mug_0".into(), Default::default(), bounds)],
            ..ObjectMap::default()
        };
        let second = 1_000_000_000;
        let mut heard = Heard { maps: vec![(2 * second, map)], ..Heard::default() };
        for (topic, logged, data) in [
            ("/tf_static", 0, fixed),
            ("/tf", second, moved(1.0, 1)),
            ("/tf", 3 * second, moved(4.0, 3)),
            (navigation.costmap.as_str(), second, to_cdr(&grid).expect("bytes")),
            ("/prehend/trace", 5 * second, event("go on")),
        ] {
            heard
                .take(&robot, &StoredMessage { topic, type_name: "", logged, data: &data })
                .expect("readable");
        }
        let mut recorded = Recorded::new(robot, heard);
        for (at, base_at) in [(0.0, 1.0), (3.0, 4.0)] {
            let stage = recorded.stage_at(at);
            assert_eq!(stage.stands[0].stage_from_base.translation.x, base_at, "{at}");
            assert!((stage.things[0].bounds.pose.translation.x - 1.7).abs() < 1e-9, "{at}");
            assert_eq!(stage.floor.map(|floor| floor.patches.len()), Some(2));
        }
    }
}
