//! The stage of a graph that runs.

use super::super::ask;
use super::approval::Asking;
use super::areas;
use super::event::read_event;
use super::moment::Moment;
use super::place::{Place, floor_of, read_map, route_of};
use super::robot::Robot;
use crate::args::ViewArgs;
use crate::observer::Observer;
use crate::outcome::exit;
use futures::StreamExt;
use nalgebra::Point3;
use prehend_convert as convert;
use prehend_msgs::moveit_msgs::msg::{PlanningScene, PlanningSceneComponents};
use prehend_msgs::moveit_msgs::srv::GetPlanningScene;
use prehend_msgs::names;
use prehend_msgs::nav_msgs::msg::{OccupancyGrid as GridMsg, Path as PathMsg};
use prehend_msgs::prehend_interfaces::msg::{ObjectMap as MapMsg, SymbolicState, TraceEvent};
use prehend_robots::joints::{Joints, follow_joints};
use prehend_robots::move_group::HeardScene;
use prehend_ros::{QosProfile, RosError};
use prehend_scene::{Object, ObjectMap};
use prehend_viewer::{Area, Floor, Stage, Story, Thing, around, things_at};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;

/// Longest time until there is the map, or the first joint state, when there is the other: a picture without it is better than none.
const PATIENCE: Duration = Duration::from_secs(2);
/// Longest time for the planner to tell its scene.
const SCENE: Duration = Duration::from_secs(5);
/// By how much a joint or the base moves before it is drawn anew: rad, m.
const STILL: f64 = 5e-4;
/// How often the memory is read.
const REMEMBER: Duration = Duration::from_secs(5);

type Newest<T> = watch::Receiver<Option<T>>;

/// What is heard of a graph, as a stage.
pub(super) struct LiveStage {
    observer: Observer,
    map: Newest<ObjectMap>,
    room: Newest<ObjectMap>,
    in_hand: Newest<Option<Object>>,
    state: Newest<SymbolicState>,
    joints: Newest<Joints>,
    story: watch::Receiver<Story>,
    scene: Newest<HeardScene>,
    floor: Newest<Arc<Floor>>,
    route: Newest<Vec<Point3<f64>>>,
    areas: watch::Receiver<Arc<Vec<Area>>>,
    asking: Asking,
    robot: Robot,
    things: Arc<Vec<Thing>>,
    /// Where the robot was when the things were put into the stage; `None` while nobody knows.
    seen_from: Option<Place>,
    /// Where the robot was when it was shown last, as [`LiveStage::stands`] says it.
    shown_at: Vec<f64>,
}

impl LiveStage {
    /// Joins the graph and waits until it hears where the robot is, or its object map: before the first look there is none.
    pub(super) async fn join(args: &ViewArgs) -> Result<Self, (String, u8)> {
        let robot = Robot::load(&args.robot).map_err(|error| (error, exit::BAD_INPUT))?;
        let areas = follow_areas(args).await.map_err(|error| (error, exit::BAD_INPUT))?;
        let observer = ask::join(&args.robot, &args.ros)?;
        let lost = |error: RosError| (error.to_string(), exit::NOT_READY);
        let mut live = Self::listen(observer, robot, areas).map_err(lost)?;
        let (mut map, mut first) = (live.map.clone(), live.joints.clone());
        let anything = async {
            tokio::select! {
                heard = first.wait_for(Option::is_some) => heard.is_ok(),
                heard = map.wait_for(Option::is_some) => heard.is_ok(),
            }
        };
        if !tokio::time::timeout(ask::FIND_DEADLINE, anything).await.unwrap_or(false) {
            let what = "neither joint states nor an object map";
            return Err((ask::absent(what, &live.observer), exit::NOT_READY));
        }
        live.joints.mark_changed();
        live.map.mark_changed();
        Ok(live)
    }

    fn listen(
        observer: Observer,
        robot: Robot,
        areas: watch::Receiver<Arc<Vec<Area>>>,
    ) -> Result<Self, RosError> {
        let joints = follow_joints(&observer.node, &robot.config)?;
        let latched = QosProfile::transient_local();
        let (mut floor, mut route) = (watch::channel(None).1, watch::channel(None).1);
        if let Some(navigation) = &robot.config.navigation {
            let (frame, topic) = (navigation.frame.clone(), navigation.costmap.clone());
            floor = observer.follow(&navigation.costmap, &[latched], move |message: GridMsg| {
                shown(floor_of(&message, &frame).map(Arc::new), &topic)
            })?;
            let (frame, topic) = (navigation.frame.clone(), navigation.route());
            route = observer.follow(
                &navigation.route(),
                &[latched, QosProfile::default()],
                move |message: PathMsg| shown(route_of(&message, &frame), &topic),
            )?;
        }
        Ok(Self {
            map: observer.follow(names::OBJECT_MAP, &[latched], |message: MapMsg| read_map(&message))?,
            room: observer.follow(names::ROOM_MAP, &[latched], |message: MapMsg| read_map(&message))?,
            in_hand: observer.follow(names::IN_HAND, &[latched], |message: MapMsg| {
                read_map(&message).map(|map| map.objects.into_iter().next())
            })?,
            state: observer.state.clone(),
            story: follow_story(&observer)?,
            scene: follow_scene(&observer, &robot, joints.clone())?,
            asking: Asking::join(&observer)?,
            joints,
            floor,
            route,
            areas,
            observer,
            robot,
            things: Arc::default(),
            seen_from: None,
            shown_at: Vec::new(),
        })
    }

    /// Waits for what is not there yet, but not for long: a picture is drawn once.
    pub(super) async fn settle(&mut self) {
        let (mut map, mut joints) = (self.map.clone(), self.joints.clone());
        let all =
            async { tokio::join!(map.wait_for(Option::is_some), joints.wait_for(Option::is_some)).0.is_ok() };
        if tokio::time::timeout(PATIENCE, all).await.is_err() {
            tracing::warn!("the picture lacks the object map, or the robot");
        }
        let (mut scene, mut floor) = (self.scene.clone(), self.floor.clone());
        let drives = self.robot.config.navigation.is_some();
        let rest = async {
            let _ = scene.wait_for(Option::is_some).await;
            if drives {
                let _ = floor.wait_for(Option::is_some).await;
            }
        };
        if tokio::time::timeout(PATIENCE, rest).await.is_err() {
            tracing::warn!("the picture lacks the planning scene, or the map of the floor");
        }
    }

    /// What there is now, when it is not what there was, after the keys for yes and no that were pressed.
    pub(super) fn changed(&mut self, answers: &[bool]) -> Option<Stage> {
        let is_asked = self.asking.press(answers) | self.asking.changed();
        let is_new = is_asked
            || self.map.has_changed().unwrap_or(false)
            || self.room.has_changed().unwrap_or(false)
            || self.has_moved()
            || self.state.has_changed().unwrap_or(false)
            || self.story.has_changed().unwrap_or(false)
            || self.scene.has_changed().unwrap_or(false)
            || self.floor.has_changed().unwrap_or(false)
            || self.route.has_changed().unwrap_or(false)
            || self.areas.has_changed().unwrap_or(false);
        is_new.then(|| self.stage())
    }

    /// Whether the robot is elsewhere than it was shown. Joint states come all the time.
    fn has_moved(&mut self) -> bool {
        if !self.joints.has_changed().unwrap_or(false) {
            return false;
        }
        let now = self.stands();
        now.iter().zip(&self.shown_at).any(|(now, shown)| (now - shown).abs() > STILL)
            || now.len() != self.shown_at.len()
    }

    /// The numbers that say where the robot is: its joints, and its base in the room.
    fn stands(&self) -> Vec<f64> {
        let joints = self.joints.borrow();
        let mut all = joints.as_ref().map_or_else(Vec::new, |joints| joints.measured.arm.clone());
        all.extend(joints.as_ref().map(|joints| joints.drive));
        if let Some(place) = self.place() {
            all.extend(place.stage_from_arm.to_homogeneous().iter());
        }
        all
    }

    fn place(&self) -> Option<Place> {
        Place::find(&self.robot.config, |target, source| {
            let found = self.observer.tf.lookup(target, source, &Default::default()).ok()?;
            Some(found.isometry())
        })
    }

    /// What there is now.
    pub(super) fn stage(&mut self) -> Stage {
        let place = self.place();
        self.shown_at = self.stands();
        let config = &self.robot.config;
        let is_new = self.map.has_changed().unwrap_or(false) || self.room.has_changed().unwrap_or(false);
        if is_new || (self.seen_from.is_none() && place.is_some()) {
            let from = place.clone().unwrap_or_default();
            let put = |map: &ObjectMap| things_at(map, &from.stage_from(&map.frame, config));
            let near = self.map.borrow_and_update().as_ref().map_or_else(Vec::new, put);
            // Of a robot that nobody has found, the room is elsewhere.
            let known = self.room.borrow_and_update();
            let far = known.as_ref().filter(|_| place.is_some()).map_or_else(Vec::new, put);
            drop(known);
            self.things = Arc::new(around(near, far));
            self.seen_from.clone_from(&place);
        }
        let state = self.state.borrow_and_update().as_ref().map(convert::state_from_msg);
        let mut story = self.story.borrow_and_update().clone();
        let building = config.navigation.as_ref().map(|navigation| navigation.frame.as_str());
        let asked = self.asking.lines(&mut story, building);
        let is_placed = place.is_some();
        let (scene, joints) = (self.scene.borrow_and_update(), self.joints.borrow_and_update());
        let in_hand = self.in_hand.borrow_and_update();
        let (floor, route) = (self.floor.borrow_and_update().clone(), self.route.borrow_and_update().clone());
        let areas = Arc::clone(&self.areas.borrow_and_update());
        let mut stage = self.robot.stage(&Moment {
            place: place.unwrap_or_default(),
            things: Arc::clone(&self.things),
            joints: joints.as_ref(),
            scene: scene.as_ref(),
            in_hand: in_hand.as_ref().and_then(Option::as_ref),
            state: state.as_ref(),
            story,
            floor: floor.filter(|_| is_placed),
            route: route.filter(|_| is_placed).unwrap_or_default(),
            areas: if is_placed || building.is_none() { areas } else { Arc::default() },
            ..Moment::default()
        });
        stage.panel.splice(0..0, asked);
        stage
    }
}

/// What can be shown; of what cannot, why it is not.
fn shown<T>(read: Result<T, String>, topic: &str) -> Option<T> {
    read.inspect_err(|why| tracing::warn!("{topic} is not shown: {why}")).ok()
}

/// Follows the trace from now on.
fn follow_story(observer: &Observer) -> Result<watch::Receiver<Story>, RosError> {
    let mut events =
        observer.node.subscribe::<TraceEvent>(names::TRACE, QosProfile::default().depth(2000))?;
    let (sender, receiver) = watch::channel(Story::default());
    tokio::spawn(async move {
        loop {
            let event = tokio::select! {
                () = sender.closed() => return,
                event = events.next() => event,
            };
            let Some(event) = event else { return };
            sender.send_if_modified(|story| story.take(&read_event(&event)));
        }
    });
    Ok(receiver)
}

/// Asks the planner for its scene, and follows what becomes of it.
fn follow_scene(
    observer: &Observer,
    robot: &Robot,
    joints: Newest<Joints>,
) -> Result<Newest<HeardScene>, RosError> {
    let names = &robot.config.moveit;
    let mut changes =
        observer.node.subscribe::<PlanningScene>(&names.changed_scene(), QosProfile::default().depth(100))?;
    let client = observer
        .node
        .create_client::<GetPlanningScene::Service>(&names.planning_scene(), QosProfile::services())?;
    let (sender, receiver) = watch::channel(None);
    let mut scene = HeardScene::new(Arc::clone(&robot.model));
    let (home, order) = (robot.config.home.clone(), robot.order());
    tokio::spawn(async move {
        let mut request = GetPlanningScene::Request::default();
        request.components.components = PlanningSceneComponents::WORLD_OBJECT_NAMES
            | PlanningSceneComponents::WORLD_OBJECT_GEOMETRY
            | PlanningSceneComponents::ROBOT_STATE_ATTACHED_OBJECTS;
        let mut first = None;
        if client.wait_available(SCENE).await.is_ok() {
            first = client.request(request, SCENE).await.ok().map(|answer| answer.scene);
        }
        loop {
            let message = match first.take() {
                Some(scene) => scene,
                None => tokio::select! {
                    () = sender.closed() => return,
                    Some(message) = changes.next() => message,
                    else => return,
                },
            };
            let (arm, drive) = joints
                .borrow()
                .as_ref()
                .map_or((home.clone(), 0.0), |joints| (joints.measured.arm.clone(), joints.drive));
            let positions: Vec<f64> = order.iter().filter_map(|index| arm.get(*index).copied()).collect();
            match scene.take(&message, &positions, drive) {
                Ok(()) => drop(sender.send_replace(Some(scene.clone()))),
                Err(error) => tracing::warn!("a planning scene is not shown: {error}"),
            }
        }
    });
    Ok(receiver)
}

/// Reads the memory again and again, when there is one.
async fn follow_areas(args: &ViewArgs) -> Result<watch::Receiver<Arc<Vec<Area>>>, String> {
    let (sender, receiver) = watch::channel(Arc::default());
    let Some(memory) = args.memory.clone() else { return Ok(receiver) };
    let building = args.building.clone();
    let read = move || {
        let (memory, building) = (memory.clone(), building.clone());
        tokio::task::spawn_blocking(move || areas::read(&memory, building.as_deref()))
    };
    let first = read().await.map_err(|error| error.to_string())?;
    match first {
        Ok(areas) => drop(sender.send_replace(Arc::new(areas))),
        // A graph that has just begun may make its memory later.
        Err(why) => tracing::warn!("no areas yet: {why}"),
    }
    tokio::spawn(async move {
        loop {
            tokio::select! {
                () = sender.closed() => return,
                () = tokio::time::sleep(REMEMBER) => {}
            }
            if let Ok(Ok(areas)) = read().await {
                sender.send_if_modified(|known| {
                    let is_new = **known != areas;
                    if is_new {
                        *known = Arc::new(areas);
                    }
                    is_new
                });
            }
        }
    });
    Ok(receiver)
}
