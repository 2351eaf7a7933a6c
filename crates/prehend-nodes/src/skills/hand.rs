//! What the joints and the gripper report, and what is held.

use super::fault::SkillFault;
use crate::RobotConfig;
use crate::convert::seconds;
use futures::StreamExt;
use nalgebra::Isometry3;
use prehend_geometry::OrientedBox;
use prehend_msgs::sensor_msgs::msg::JointState;
use prehend_ros::{Node, QosProfile, RosError};
use prehend_scene::{Object, ObjectKey};
use prehend_skills::HeldShape;
use std::time::{Duration, Instant};
use tokio::sync::watch;

/// Joint states older than this say nothing of now.
const FRESH: Duration = Duration::from_millis(1500);
/// What to look at when none come.
const ADVICE: &str = "does the driver run, and does it call its joints as the robot file does?";
/// Pads closer than this hold nothing, metres.
pub(super) const EMPTY_OPENING: f64 = 0.003;

/// The newest joint state.
#[derive(Clone, Debug)]
pub(super) struct Joints {
    /// Arm joints in the robot file's order, radians.
    pub(super) arm: Vec<f64>,
    /// Distance between the pads, metres.
    pub(super) opening: f64,
    /// Force or effort of the gripper's joint; 0 when it is not reported.
    pub(super) effort: f64,
    /// Torques of the arm's joints, Nm; empty when they are not reported.
    pub(super) torques: Vec<f64>,
    /// Time of the measurement, seconds.
    pub(super) stamp: f64,
    heard: Instant,
}

#[cfg(test)]
impl Joints {
    /// A joint state of an arm that stands.
    pub(super) fn standing(arm: Vec<f64>, torques: Vec<f64>) -> Self {
        Self { arm, opening: 0.0, effort: 0.0, torques, stamp: 0.0, heard: Instant::now() }
    }
}

/// Reads `/joint_states` for as long as the node lives.
pub(super) fn follow_joints(
    node: &Node,
    robot: &RobotConfig,
) -> Result<watch::Receiver<Option<Joints>>, RosError> {
    let mut states = node.subscribe::<JointState>(&robot.joint_states, QosProfile::sensor_data())?;
    let (sender, receiver) = watch::channel(None);
    let robot = robot.clone();
    tokio::spawn(async move {
        loop {
            let state = tokio::select! {
                () = sender.closed() => return,
                state = states.next() => state,
            };
            let Some(state) = state else { return };
            match read_joints(&state, &robot) {
                Some(joints) => {
                    sender.send_replace(Some(joints));
                }
                // A message of other joints says nothing; one of these that is no number says that nothing is known.
                None if is_broken(&state, &robot) => {
                    sender.send_replace(None);
                }
                None => tracing::debug!("joint state without the arm's or the gripper's joints"),
            }
        }
    });
    Ok(receiver)
}

/// Whether a position of a joint of this robot is no number.
fn is_broken(state: &JointState, robot: &RobotConfig) -> bool {
    let ours = |name: &String| robot.arm.joints.contains(name) || *name == robot.gripper.joint;
    state.name.iter().zip(&state.position).any(|(name, position)| ours(name) && !position.is_finite())
}

fn read_joints(state: &JointState, robot: &RobotConfig) -> Option<Joints> {
    let index = |name: &String| state.name.iter().position(|n| n == name);
    let position = |name: &String| state.position.get(index(name)?).copied().filter(|p| p.is_finite());
    let arm: Option<Vec<f64>> = robot.arm.joints.iter().map(position).collect();
    let drive = position(&robot.gripper.joint)?;
    let effort = index(&robot.gripper.joint).and_then(|i| state.effort.get(i)).copied();
    let torque = |name: &String| state.effort.get(index(name)?).copied().filter(|e| e.is_finite());
    let torques: Option<Vec<f64>> = robot.arm.joints.iter().map(torque).collect();
    Some(Joints {
        arm: arm?,
        torques: torques.unwrap_or_default(),
        opening: robot.gripper.opening(drive),
        effort: effort.filter(|e| e.is_finite()).unwrap_or(0.0),
        stamp: seconds(&state.header.stamp),
        heard: Instant::now(),
    })
}

/// The newest joint state, when it is fresh.
pub(super) fn fresh(joints: &watch::Receiver<Option<Joints>>) -> Result<Joints, SkillFault> {
    let newest = joints.borrow().clone();
    match newest {
        Some(joints) if joints.heard.elapsed() < FRESH => Ok(joints),
        Some(joints) => Err(SkillFault::Sensor {
            what: "joint states",
            detail: format!("the newest is {:.1} s old: {ADVICE}", joints.heard.elapsed().as_secs_f64()),
        }),
        None => Err(SkillFault::Sensor {
            what: "joint states",
            detail: format!("none was heard, or the last was no number: {ADVICE}"),
        }),
    }
}

/// A held object: as it was seen before it was grasped, and how it lies in the hand.
#[derive(Clone, Debug)]
pub(super) struct Held {
    /// The object as it was mapped before the grasp.
    pub(super) object: Object,
    /// Its shape around the tool.
    pub(super) shape: HeldShape,
    /// Its boxes in the tool frame.
    pub(super) boxes: Vec<OrientedBox>,
    /// Whether what is held is not known, only that something is.
    pub(super) unknown: bool,
}

/// The gripper's memory; whether something is held is decided by the measured opening.
#[derive(Debug, Default)]
pub(super) struct Hand {
    held: Option<Held>,
    /// What the pads are closing on: it is held when they are found to hold something.
    expected: Option<Held>,
    /// Opening commanded last, metres; `None` before the first command of this process.
    command: Option<f64>,
    /// Whether arm, hand and map are as the last skill left them; `None` before the first one of this process.
    settled: Option<bool>,
}

impl Hand {
    /// What is held, given the measured opening: pads that meet hold nothing.
    pub(super) fn held(&mut self, opening: f64) -> Option<&Held> {
        if opening < EMPTY_OPENING {
            self.held = None;
        }
        self.held.as_ref()
    }

    /// Key of what is held, given the measured opening.
    pub(super) fn key(&mut self, opening: f64) -> Option<ObjectKey> {
        self.held(opening).map(|held| held.object.key.clone())
    }

    /// Key of what is held when the map has it: not of something that was only felt.
    pub(super) fn known(&mut self, opening: f64) -> Option<ObjectKey> {
        self.held(opening).filter(|held| !held.unknown).map(|held| held.object.key.clone())
    }

    /// Notes what the pads are about to close on.
    pub(super) fn expect(&mut self, object: Option<Held>) {
        self.expected = object;
    }

    /// Notes what was grasped.
    pub(super) fn take(&mut self, held: Held) {
        self.held = Some(held);
        self.expected = None;
    }

    /// Notes that something was felt between the pads: what was held before, else what they were closing on.
    pub(super) fn felt(&mut self) {
        self.held = self.held.take().or(self.expected.take());
    }

    /// Notes that the gripper was opened, or found empty.
    pub(super) fn release(&mut self) {
        self.held = None;
        self.expected = None;
    }

    /// Notes whether arm, hand and map are as a skill left them.
    pub(super) fn settle(&mut self, settled: bool) {
        self.settled = Some(settled);
    }

    /// Whether they are; `None` when no skill has ended yet.
    pub(super) fn settled(&self) -> Option<bool> {
        self.settled
    }

    /// Whether the pads are about to close, or have closed, on something.
    pub(super) fn is_engaged(&self) -> bool {
        self.held.is_some() || self.expected.is_some()
    }

    /// Notes a command.
    pub(super) fn commanded(&mut self, opening: f64) {
        self.command = Some(opening);
    }

    /// The opening commanded last; the measured one before the first command.
    pub(super) fn command(&self, measured: f64) -> f64 {
        self.command.unwrap_or(measured)
    }
}

/// Whether an object of the map is what is in the hand, seen by the camera: most of its points are at the held boxes.
pub(super) fn is_in_hand(object: &Object, held: &Held, map_from_tool: &Isometry3<f64>) -> bool {
    if object.key == held.object.key {
        return true;
    }
    let points = &object.cloud.points;
    let inside = points
        .iter()
        .filter(|p| {
            let local = map_from_tool.inverse_transform_point(p);
            held.boxes.iter().any(|b| b.contains(&local, 0.015))
        })
        .count();
    inside * 2 > points.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn held(key: &str) -> Held {
        let cube = OrientedBox { pose: Isometry3::identity(), size: nalgebra::Vector3::repeat(0.04) };
        let points = vec![nalgebra::Point3::origin(), nalgebra::Point3::new(0.01, 0.0, 0.0)];
        let shape = HeldShape::new(&points, &Isometry3::identity(), -0.02, 0.04).expect("a shape");
        let object = Object::unnamed(key.into(), prehend_geometry::PointCloud::from_points(points), cube);
        Held { object, shape, boxes: vec![cube], unknown: false }
    }

    #[test]
    fn what_the_pads_closed_on_is_held_once_something_is_felt() {
        let mut hand = Hand::default();
        hand.expect(Some(held("cup")));
        assert_eq!(hand.key(0.04), None, "closing is not holding");
        hand.felt();
        assert_eq!(hand.key(0.04), Some("cup".into()));
        // What is held stays what it is, and pads that meet hold nothing.
        hand.expect(Some(held("bowl")));
        hand.felt();
        assert_eq!(hand.key(0.04), Some("cup".into()));
        assert_eq!(hand.key(0.0), None);
        hand.expect(Some(held("bowl")));
        hand.release();
        hand.felt();
        assert_eq!(hand.key(0.04), None);
    }

    fn robot() -> RobotConfig {
        RobotConfig::load(std::path::Path::new("config/robots/xarm6.yaml")).expect("robot file")
    }

    #[test]
    fn joint_states_are_read_by_name_and_garbage_is_left_out() {
        let robot = robot();
        let mut state = JointState {
            name: ["drive_joint", "joint6", "joint5", "joint4", "joint3", "joint2", "joint1"]
                .map(String::from)
                .to_vec(),
            position: vec![0.425, 6.0, 5.0, 4.0, 3.0, 2.0, 1.0],
            ..Default::default()
        };
        let joints = read_joints(&state, &robot).expect("complete");
        assert_eq!(joints.arm, [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
        assert!((joints.opening - 0.0425).abs() < 1e-9);
        assert!(joints.torques.is_empty(), "a robot that reports no effort feels nothing");
        state.effort = vec![30.0, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1];
        let joints = read_joints(&state, &robot).expect("complete");
        assert_eq!((joints.effort, joints.torques), (30.0, vec![0.1, 0.2, 0.3, 0.4, 0.5, 0.6]));
        state.position[3] = f64::NAN;
        assert!(read_joints(&state, &robot).is_none() && is_broken(&state, &robot));
        state.position.truncate(3);
        assert!(read_joints(&state, &robot).is_none());
        let others =
            JointState { name: vec!["wheel".to_owned()], position: vec![f64::NAN], ..Default::default() };
        assert!(read_joints(&others, &robot).is_none() && !is_broken(&others, &robot));
    }
}
