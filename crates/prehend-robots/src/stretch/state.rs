//! What the driver reports, as the robot file's arm: joint states with the base's way and the gripper's aperture, and frames.

use super::config::StretchDriver;
use super::parked::{Parked, Roll};
use super::waypoints::Joint;
use futures::StreamExt;
use nalgebra::Isometry3;
use prehend_convert::{plane_pose, pose_from_msg, transform_to_msg};
use prehend_motion::RobotModel;
use prehend_msgs::geometry_msgs::msg::TransformStamped;
use prehend_msgs::nav_msgs::msg::Odometry;
use prehend_msgs::sensor_msgs::msg::JointState;
use prehend_msgs::std_msgs::msg::{Header, String as Text};
use prehend_msgs::tf2_msgs::msg::TFMessage;
use prehend_ros::{Publisher, Subscription};
use std::time::{Duration, Instant};
use tokio::sync::watch;

/// The arm's first joint, which the driver does not have: how far the base has rolled since it was parked.
pub(super) const ROLL: &str = "joint_mobile_base_translation";
/// A joint of the driver whose position is that of the fingers.
const FINGER: &str = "joint_gripper_finger_left";
/// The driver's mode in which the arm moves.
pub(super) const POSITION: &str = "position";
/// What is older than this says nothing of now.
const FRESH: Duration = Duration::from_secs(1);

/// The robot as it was last heard of.
#[derive(Clone, Debug)]
pub(super) struct Now {
    /// Joint positions in the robot file's order, metres or radians.
    pub(super) positions: Vec<f64>,
    /// Distance between the pads, metres.
    pub(super) aperture: f64,
    /// How the base stands.
    pub(super) roll: Roll,
    /// The driver's mode.
    pub(super) mode: String,
    heard: Instant,
}

/// It is not known how the robot stands.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "nothing was heard of the driver's joint states, odometry and mode for a second: does stretch_driver run, and does the robot file call its topics as it does?"
)]
pub(super) struct Silent;

/// The newest state.
pub(super) type Reported = watch::Receiver<Option<Now>>;

/// The newest state, when it is one of now.
pub(super) fn fresh(now: &Reported) -> Result<Now, Silent> {
    let newest = now.borrow().clone();
    newest.filter(|now| now.heard.elapsed() < FRESH).ok_or(Silent)
}

/// Links of the robot's description, by index.
pub(super) struct Frames {
    pub(super) model: RobotModel,
    /// The base that moves, the place where it was parked, by name.
    pub(super) base: String,
    pub(super) parked: String,
    pub(super) base_link: usize,
    pub(super) parked_link: usize,
}

impl Frames {
    /// Where the robot file's frames are, in the driver's frame of the base: `parked` and the arm's base, which stay where they are
    /// when the base rolls, and the tool.
    fn of(
        &self,
        now: &Now,
        base_from_parked: &Isometry3<f64>,
    ) -> Option<Vec<(String, String, Isometry3<f64>)>> {
        let poses = self.model.link_poses(&now.positions, now.aperture).ok()?;
        let (base, parked) = (poses.get(self.base_link)?, poses.get(self.parked_link)?);
        let tool = poses.get(self.model.tip_index())?;
        let group = self.model.group();
        Some(vec![
            (self.base.clone(), self.parked.clone(), *base_from_parked),
            (self.parked.clone(), group.base.clone(), parked.inverse()),
            // On the base that moves: what its wheels slip shows between the arm's base and the tool.
            (self.base.clone(), group.tip.clone(), base.inverse() * tool),
        ])
    }
}

/// What is heard, and where it goes.
pub(super) struct Reporter {
    pub(super) driver: StretchDriver,
    pub(super) joints: Vec<Joint>,
    /// Name of the gripper's joint.
    pub(super) gripper: String,
    pub(super) frames: Frames,
    pub(super) states: Subscription<JointState>,
    pub(super) odometry: Subscription<Odometry>,
    pub(super) modes: Subscription<Text>,
    pub(super) joint_states: Publisher<JointState>,
    pub(super) tf: Publisher<TFMessage>,
}

impl Reporter {
    /// Reports until nobody listens any more.
    pub(super) async fn report(mut self, now: watch::Sender<Option<Now>>) {
        let mut mode: Option<(String, Instant)> = None;
        let mut base: Option<(Parked, Instant)> = None;
        let mut complained = false;
        loop {
            tokio::select! {
                () = now.closed() => return,
                Some(heard) = self.modes.next() => mode = Some((heard.data, Instant::now())),
                Some(heard) = self.odometry.next() => {
                    let Ok(pose) = pose_from_msg(&heard.pose.pose) else {
                        tracing::warn!("an odometry without a pose was left out");
                        continue;
                    };
                    let (pose, arms) = (plane_pose(&pose), mode.as_ref().is_some_and(|(mode, _)| mode == POSITION));
                    match &mut base {
                        Some((parked, at)) => {
                            parked.heard(pose, arms);
                            *at = Instant::now();
                        }
                        None => base = Some((Parked::here(pose), Instant::now())),
                    }
                }
                Some(state) = self.states.next() => {
                    let (Some((parked, _)), Some((mode, _))) = (
                        base.as_ref().filter(|(_, at)| at.elapsed() < FRESH),
                        mode.as_ref().filter(|(_, at)| at.elapsed() < FRESH),
                    ) else {
                        continue;
                    };
                    match self.merged(&state, parked, mode) {
                        Some(merged) => {
                            complained = false;
                            self.tell(&state, &merged, parked);
                            now.send_replace(Some(merged));
                        }
                        None if !complained => {
                            complained = true;
                            tracing::warn!(
                                "joint states of the driver are left out: a joint of the robot file is not among them, or is no number"
                            );
                        }
                        None => {}
                    }
                }
                else => return,
            }
        }
    }

    fn merged(&self, state: &JointState, parked: &Parked, mode: &str) -> Option<Now> {
        let roll = parked.roll();
        let value = |name: &str| {
            let index = state.name.iter().position(|known| known == name)?;
            state.position.get(index).copied().filter(|position| position.is_finite())
        };
        let positions = self.joints.iter().map(|joint| match joint.name.as_str() {
            ROLL => Some(roll.ahead),
            name => value(name),
        });
        Some(Now {
            positions: positions.collect::<Option<_>>()?,
            aperture: self.driver.aperture(value(FINGER)?),
            roll,
            mode: mode.to_owned(),
            heard: Instant::now(),
        })
    }

    fn tell(&self, state: &JointState, now: &Now, parked: &Parked) {
        let name: Vec<String> =
            self.joints.iter().map(|joint| joint.name.clone()).chain([self.gripper.clone()]).collect();
        let merged = JointState {
            header: Header { stamp: state.header.stamp.clone(), frame_id: String::new() },
            position: now.positions.iter().copied().chain([now.aperture]).collect(),
            name,
            // The driver's efforts are shares of a motor's greatest current: no torques, no forces.
            ..Default::default()
        };
        let frames = self.frames.of(now, &parked.base_from_parked()).unwrap_or_default();
        let stamped = |(parent, child, pose): (String, String, Isometry3<f64>)| TransformStamped {
            header: Header { stamp: state.header.stamp.clone(), frame_id: parent },
            child_frame_id: child,
            transform: transform_to_msg(&pose),
        };
        let frames = TFMessage { transforms: frames.into_iter().map(stamped).collect() };
        for error in
            [self.joint_states.publish(&merged), self.tf.publish(&frames)].into_iter().filter_map(Result::err)
        {
            tracing::debug!("state not sent: {error}");
        }
    }
}

/// A robot that was heard just now.
#[cfg(test)]
pub(super) fn at(positions: Vec<f64>, roll: Roll) -> Now {
    Now { positions, aperture: 0.0, roll, mode: POSITION.to_owned(), heard: Instant::now() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use nalgebra::Vector3;

    /// With the base rolled and turned, the arm's base stays where the base was parked, and the tool goes along with the base.
    #[test]
    fn frames_are_where_the_odometry_has_them() {
        let robot = crate::RobotConfig::load(std::path::Path::new("stretch")).expect("valid");
        let urdf = std::fs::read_to_string(&robot.urdf).expect("the description");
        let model = RobotModel::from_urdf(&urdf, robot.group()).expect("a model");
        let frames = Frames {
            base: "base_link".to_owned(),
            parked: "base_origin".to_owned(),
            base_link: model.link_index("base_link").expect("a link"),
            parked_link: model.link_index("base_origin").expect("a link"),
            model,
        };
        let pose = |x: f64, yaw: f64| prehend_navigation::Pose2::new(x, 0.0, yaw);
        let mut parked = Parked::here(pose(0.0, 0.0));
        parked.heard(pose(0.1, 0.02), true);
        let mut positions = robot.home.clone();
        positions[0] = parked.roll().ahead;
        let now = at(positions, parked.roll());
        let of = frames.of(&now, &parked.base_from_parked()).expect("poses");
        let odom_from_base = Isometry3::new(Vector3::new(0.1, 0.0, 0.0), Vector3::z() * 0.02);
        let arm = odom_from_base * of[0].2 * of[1].2;
        assert!((arm.translation.vector - Vector3::new(0.0, 0.0, 0.70)).norm() < 1e-9, "{arm}");
        let tool = odom_from_base * of[2].2;
        let planned = frames.model.link_poses(&now.positions, 0.0).expect("poses")[frames.model.tip_index()];
        let seen = arm.inverse() * tool;
        // The turn of 0.02 rad moves the tool, of which the planner knows nothing.
        let off = (seen.translation.vector - planned.translation.vector).norm();
        let arm_length = of[2].2.translation.vector.xy().norm();
        assert!((off - 0.02 * arm_length).abs() < 1e-4, "{off} m at {arm_length} m");
    }
}
