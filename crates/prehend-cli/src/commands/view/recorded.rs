//! The stage of a recording, at any of its times.

use super::event::read_event;
use super::robot::Robot;
use prehend_bags::{ContainerError, StoredMessage, stored_messages};
use prehend_msgs::names;
use prehend_msgs::prehend_interfaces::msg::{ObjectMap, SymbolicState as StateMsg, TraceEvent};
use prehend_msgs::sensor_msgs::msg::JointState;
use prehend_nodes::convert;
use prehend_nodes::joints::{Joints, read_joints};
use prehend_ros::{RosError, from_cdr};
use prehend_scene::SymbolicState;
use prehend_viewer::{Event, Stage, Story, Thing, things};
use std::path::Path;
use std::sync::Arc;

/// What was recorded, by the time of its recording in nanoseconds, oldest first.
type Samples<T> = Vec<(i64, T)>;

/// A recording of a graph.
pub(super) struct Recorded {
    robot: Robot,
    heard: Heard,
}

/// What of it is shown.
#[derive(Default)]
struct Heard {
    maps: Samples<Arc<Vec<Thing>>>,
    states: Samples<SymbolicState>,
    joints: Samples<Joints>,
    events: Samples<Event>,
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
        heard.sort();
        if heard.maps.is_empty() && heard.joints.is_empty() {
            return Err(format!(
                "{} has neither object maps nor joint states of {}: was it made by `prehend record`?",
                path.display(),
                robot.config.name
            ));
        }
        Ok(Self { robot, heard })
    }

    /// How long it is, seconds.
    pub(super) fn seconds(&self) -> f64 {
        let (began, ended) = self.heard.span();
        (ended - began) as f64 * 1e-9
    }

    /// What was heard until then, seconds after the beginning.
    pub(super) fn stage_at(&self, seconds: f64) -> Stage {
        let at = self.heard.span().0 + (seconds * 1e9) as i64;
        let mut story = Story::default();
        for (_, event) in self.heard.events.iter().take_while(|(when, _)| *when <= at) {
            story.take(event);
        }
        let none = Arc::default();
        let things = newest(&self.heard.maps, at).unwrap_or(&none);
        let links = newest(&self.heard.joints, at).map(|joints| self.robot.links(joints));
        self.robot.stage(things, links.unwrap_or_default(), newest(&self.heard.states, at), &story)
    }
}

impl Heard {
    fn take(&mut self, robot: &Robot, message: &StoredMessage<'_>) -> Result<(), RosError> {
        let (at, data) = (message.logged, message.data);
        match message.topic {
            topic if names::is_name(topic, names::OBJECT_MAP) => {
                match convert::map_from_msg(&from_cdr::<ObjectMap>(data)?) {
                    Ok(map) => self.maps.push((at, Arc::new(things(&map)))),
                    Err(error) => tracing::warn!("an object map that cannot be read: {error}"),
                }
            }
            topic if names::is_name(topic, names::STATE) => {
                self.states.push((at, convert::state_from_msg(&from_cdr::<StateMsg>(data)?)));
            }
            topic if names::is_name(topic, names::TRACE) => {
                self.events.push((at, read_event(&from_cdr::<TraceEvent>(data)?)));
            }
            topic if topic == robot.config.joint_states => {
                let joints = read_joints(&from_cdr::<JointState>(data)?, &robot.config);
                self.joints.extend(joints.map(|joints| (at, joints)));
            }
            _ => {}
        }
        Ok(())
    }

    /// Messages are stored nearly in the order of their recording.
    fn sort(&mut self) {
        self.maps.sort_by_key(|(at, _)| *at);
        self.states.sort_by_key(|(at, _)| *at);
        self.joints.sort_by_key(|(at, _)| *at);
        self.events.sort_by_key(|(at, _)| *at);
    }

    /// Its first and last time; both 0 when nothing was heard.
    fn span(&self) -> (i64, i64) {
        let ends = [ends(&self.maps), ends(&self.states), ends(&self.joints), ends(&self.events)];
        let all = ends.into_iter().flatten();
        all.reduce(|(a, b), (first, last)| (a.min(first), b.max(last))).unwrap_or((0, 0))
    }
}

fn ends<T>(samples: &Samples<T>) -> Option<(i64, i64)> {
    Some((samples.first()?.0, samples.last()?.0))
}

/// The newest sample at a time.
fn newest<T>(samples: &Samples<T>, at: i64) -> Option<&T> {
    let before = samples.partition_point(|(when, _)| *when <= at);
    samples[..before].last().map(|(_, sample)| sample)
}

#[cfg(test)]
mod tests {
    use super::*;
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
        heard.sort();
        let recorded = Recorded { robot, heard };
        assert_eq!(recorded.seconds(), 4.0);
        let sentence = |at: f64| recorded.stage_at(at).panel.get(1).map(|line| line.text.clone());
        assert_eq!(sentence(1.0), None);
        assert_eq!(sentence(2.0).as_deref(), Some("open the drawer"));
        assert_eq!(sentence(3.5).as_deref(), Some("close it"));
        let robot_at = |at: f64| recorded.stage_at(at).robot;
        assert!(!robot_at(0.0).is_empty() && robot_at(0.0) == robot_at(3.9));
        assert_ne!(robot_at(0.0), robot_at(4.0));
    }
}
