//! The driver: one goal of its controller at a time, and its stop.

use super::state::{Now, ROLL, Reported, Silent, fresh};
use super::waypoints::{Joint, Waypoint};
use crate::shell::{Bar, Peers};
use prehend_msgs::control_msgs::action::FollowJointTrajectory;
use prehend_msgs::std_srvs::srv::Trigger;
use prehend_msgs::trajectory_msgs::msg::{JointTrajectory, JointTrajectoryPoint};
use prehend_ros::{ActionClient, Client, GoalHandle, GoalStatus, RosError};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::{Mutex, OwnedMutexGuard};

/// What the driver calls a way of the base from where it is.
const TRANSLATE: &str = "translate_mobile_base";
/// Ways of the base smaller than this are none, metres.
const NO_WAY: f64 = 0.001;
/// Deadline for the acceptance of a goal, and of a stop.
const ACCEPT: Duration = Duration::from_secs(2);
/// Silence after which the driver is lost: while it works at a goal it says so a hundred times a second.
const SILENCE: Duration = Duration::from_secs(2);
/// A robot that has not moved for this long stands.
const STANDS: Duration = Duration::from_millis(300);
/// What it may move and still stand, metres and radians: noise of its joint states.
const NOISE: [f64; 2] = [0.0007, 0.003];
/// Longest wait for it to stand.
const REST: Duration = Duration::from_secs(5);

/// Why the driver did not do it.
#[derive(Debug, thiserror::Error)]
pub(super) enum DriverError {
    #[error(transparent)]
    Silent(#[from] Silent),
    #[error("stretch_driver: {0}")]
    Ros(#[from] RosError),
    #[error("stretch_driver ended the goal as {status:?} (code {code}): {words}")]
    Ended { status: GoalStatus, code: i32, words: String },
    #[error("the robot did not come to rest within {REST:?}")]
    Restless,
    #[error(transparent)]
    Barred(#[from] Bar),
}

/// The way to the driver; clones are the same.
#[derive(Clone)]
pub(super) struct Driver {
    client: Arc<ActionClient<FollowJointTrajectory::Action>>,
    stop: Client<Trigger::Service>,
    now: Reported,
    turn: Arc<Mutex<()>>,
    peers: Peers,
}

/// The right to move, until it is dropped.
pub(super) type Turn = OwnedMutexGuard<()>;

/// Why a goal is not taken.
#[derive(Debug, thiserror::Error)]
pub(super) enum Refused {
    #[error("the robot moves already")]
    Moving,
    #[error(transparent)]
    Barred(#[from] Bar),
}

impl Driver {
    pub(super) fn new(
        client: ActionClient<FollowJointTrajectory::Action>,
        stop: Client<Trigger::Service>,
        now: Reported,
        peers: Peers,
    ) -> Self {
        Self { client: Arc::new(client), stop, now, turn: Arc::default(), peers }
    }

    /// The right to move, when nobody else has it: of two goals the driver gives the first one up and goes on moving.
    pub(super) fn turn(&self) -> Result<Turn, Refused> {
        if let Some(bar) = self.peers.bar() {
            return Err(bar.into());
        }
        Arc::clone(&self.turn).try_lock_owned().map_err(|_| Refused::Moving)
    }

    /// Completes when the robot must not be moved any more.
    pub(super) async fn barred(&self) -> DriverError {
        self.peers.barred().await.into()
    }

    /// Stops what moves.
    pub(super) async fn end(&self) {
        if Arc::clone(&self.turn).try_lock_owned().is_err() {
            self.halt().await;
        }
    }

    /// The robot as it is.
    pub(super) fn now(&self) -> Result<Now, Silent> {
        fresh(&self.now)
    }

    /// Moves all joints to a point and waits for the driver's word.
    pub(super) async fn go(&self, joints: &[Joint], to: &Waypoint) -> Result<(), DriverError> {
        let (names, point) = command(joints, to, &self.now()?);
        self.ended(&mut self.send(names, point).await?).await
    }

    /// Sends one point for some joints.
    pub(super) async fn send(
        &self,
        joint_names: Vec<String>,
        point: JointTrajectoryPoint,
    ) -> Result<GoalHandle<FollowJointTrajectory::Action>, DriverError> {
        let trajectory = JointTrajectory { joint_names, points: vec![point], ..Default::default() };
        let goal = FollowJointTrajectory::Goal { trajectory, ..Default::default() };
        Ok(self.client.send_goal(goal, ACCEPT).await?)
    }

    /// Waits for the driver's word about a goal.
    pub(super) async fn ended(
        &self,
        goal: &mut GoalHandle<FollowJointTrajectory::Action>,
    ) -> Result<(), DriverError> {
        match goal.result(SILENCE).await? {
            (GoalStatus::Succeeded, _) => Ok(()),
            (status, result) => {
                Err(DriverError::Ended { status, code: result.error_code, words: result.error_string })
            }
        }
    }

    /// Waits until arm and fingers stand: the driver calls a point reached while they still move.
    pub(super) async fn rest(&self, joints: &[Joint]) -> Result<Now, DriverError> {
        let end = Instant::now() + REST;
        let mut reports = self.now.clone();
        let (mut still, mut since) = (self.now()?, Instant::now());
        while Instant::now() < end {
            // A report that does not come is told by `now`.
            let _ = tokio::time::timeout(STANDS, reports.changed()).await;
            let now = self.now()?;
            if moved(joints, &still, &now) {
                (still, since) = (now, Instant::now());
            } else if since.elapsed() >= STANDS {
                return Ok(now);
            }
        }
        Err(DriverError::Restless)
    }

    /// Stops whatever moves: the end of a goal alone lets the joints go on to its point.
    pub(super) async fn halt(&self) {
        let stopped = self.stop.request(Trigger::Request::default(), ACCEPT);
        let (cancelled, stopped) = tokio::join!(self.client.halt_all(ACCEPT), stopped);
        for error in [cancelled.err(), stopped.err()].into_iter().flatten() {
            tracing::warn!("stretch_driver was not stopped: {error}");
        }
    }
}

/// Names and point for the driver: the base's way from where it is, everything else as it is.
fn command(joints: &[Joint], to: &Waypoint, now: &Now) -> (Vec<String>, JointTrajectoryPoint) {
    let mut names = Vec::with_capacity(joints.len());
    let mut point = JointTrajectoryPoint::default();
    for (joint, (position, speed)) in joints.iter().zip(to.positions.iter().zip(&to.speeds)) {
        let way = position - now.roll.ahead;
        let (name, position) = match joint.name.as_str() {
            ROLL if way.abs() < NO_WAY => continue,
            ROLL => (TRANSLATE, way),
            name => (name, *position),
        };
        names.push(name.to_owned());
        point.positions.push(position);
        point.velocities.push(*speed);
    }
    (names, point)
}

fn moved(joints: &[Joint], before: &Now, after: &Now) -> bool {
    let pairs = before.positions.iter().zip(&after.positions);
    let arm =
        joints.iter().zip(pairs).any(|(joint, (before, after))| (after - before).abs() > joint.of(NOISE));
    arm || (after.aperture - before.aperture).abs() > NOISE[0]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stretch::parked::Roll;
    use crate::stretch::state;

    fn joints() -> Vec<Joint> {
        [(ROLL, true), ("joint_lift", true)]
            .map(|(name, slides)| Joint { name: name.to_owned(), slides })
            .into()
    }

    /// The driver counts the base's way from where the goal begins, and takes no name of which there is no way.
    #[test]
    fn the_base_goes_what_is_left_of_its_way() {
        let now = state::at(vec![0.08, 0.5], Roll { ahead: 0.08, aside: 0.0, turned: 0.0 });
        let to = |roll: f64| Waypoint { positions: vec![roll, 0.6], speeds: vec![0.1, 0.05] };
        let (names, point) = command(&joints(), &to(0.2), &now);
        assert_eq!(names, [TRANSLATE, "joint_lift"]);
        assert!((point.positions[0] - 0.12).abs() < 1e-12 && point.positions[1] == 0.6, "{point:?}");
        assert_eq!(point.velocities, [0.1, 0.05]);
        let (names, point) = command(&joints(), &to(0.0805), &now);
        assert_eq!((names, point.positions), (vec!["joint_lift".to_owned()], vec![0.6]));
    }
}
