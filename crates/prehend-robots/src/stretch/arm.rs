//! The arm's controller: trajectories of the robot file's joints, the base among them, as points for the driver.

use super::driver::{Driver, DriverError, Turn};
use super::state::{Now, POSITION};
use super::waypoints::{Joint, Waypoint, waypoints};
use crate::trajectory_check::TrajectoryFault;
use futures::StreamExt;
use prehend_msgs::control_msgs::action::FollowJointTrajectory;
use prehend_msgs::trajectory_msgs::msg::JointTrajectoryPoint;
use prehend_ros::{ActionServer, ExecutingGoal};
use std::time::Duration;

/// Time between two feedback messages.
const FEEDBACK_PERIOD: Duration = Duration::from_millis(100);
/// How far the arm may be from where a trajectory begins, metres and radians.
const START: [f64; 2] = [0.02, 0.1];
/// How far from its end it may stand, metres and radians.
const ARRIVED: [f64; 2] = [0.006, 0.03];
/// The head's joints carry the camera, not the tool, and their gears have play: how far these may be away, radians.
const HEAD: f64 = 0.08;
/// How often it is sent to the end again when it stands too far from it.
const CORRECTIONS: usize = 2;
/// What the base may slip to the side, metres, or turn, radians, while it moves as a joint of the arm.
const SLIP: [f64; 2] = [0.03, 0.05];

/// Why a trajectory was not executed to its end.
#[derive(Debug, thiserror::Error)]
enum ArmFault {
    #[error("trajectory: {0}")]
    Trajectory(#[from] TrajectoryFault),
    #[error(transparent)]
    Driver(#[from] DriverError),
    #[error("stretch_driver is in mode `{0}`: the arm moves in mode `{POSITION}`")]
    Mode(String),
    #[error("`{joint}` is at {found:.3}, not at {expected:.3}, where the trajectory begins")]
    Start { joint: String, found: f64, expected: f64 },
    #[error("`{joint}` stands at {found:.3}, not at {expected:.3}, after {CORRECTIONS} corrections")]
    Goal { joint: String, found: f64, expected: f64 },
    #[error("the base slipped {aside:.3} m to the side and turned by {turned:.3} rad")]
    Slipped { aside: f64, turned: f64 },
    #[error("stopped on request")]
    Cancelled,
}

impl ArmFault {
    /// The number that ros2_control's controller has for it.
    fn code(&self) -> i32 {
        type Code = FollowJointTrajectory::Result;
        match self {
            Self::Trajectory(TrajectoryFault::Joints { .. }) => Code::INVALID_JOINTS,
            Self::Trajectory(_) | Self::Mode(_) | Self::Driver(DriverError::Silent(_)) => Code::INVALID_GOAL,
            Self::Start { .. } | Self::Slipped { .. } | Self::Driver(_) => Code::PATH_TOLERANCE_VIOLATED,
            Self::Goal { .. } => Code::GOAL_TOLERANCE_VIOLATED,
            Self::Cancelled => Code::SUCCESSFUL,
        }
    }
}

/// Serves until the server is dropped. One goal at a time: a second one is rejected.
pub(super) async fn serve(
    mut server: ActionServer<FollowJointTrajectory::Action>,
    driver: Driver,
    joints: Vec<Joint>,
) {
    while let Some(request) = server.next().await {
        let turn = match driver.turn() {
            Ok(turn) => turn,
            Err(refused) => {
                tracing::warn!("a trajectory was refused: {refused}");
                request.reject();
                continue;
            }
        };
        let (goal, driver, joints) = (request.accept(), driver.clone(), joints.clone());
        tokio::spawn(async move { follow(goal, turn, &driver, &joints).await });
    }
}

async fn follow(
    goal: ExecutingGoal<FollowJointTrajectory::Action>,
    turn: Turn,
    driver: &Driver,
    joints: &[Joint],
) {
    let ended = match waypoints(&goal.goal().trajectory, joints) {
        Err(error) => Err(error.into()),
        Ok(path) => {
            let driven = drive(driver, joints, &path);
            tokio::pin!(driven);
            let mut tick = tokio::time::interval(FEEDBACK_PERIOD);
            let ended = loop {
                tokio::select! {
                    ended = &mut driven => break ended,
                    () = goal.cancelled() => break Err(ArmFault::Cancelled),
                    bar = driver.barred() => break Err(bar.into()),
                    _ = tick.tick() => feed_back(&goal, driver, joints),
                }
            };
            if ended.is_err() {
                driver.halt().await;
            }
            ended
        }
    };
    // Whoever has the result may send the next goal at once.
    drop(turn);
    let Err(fault) = ended else {
        let error_code = FollowJointTrajectory::Result::SUCCESSFUL;
        return goal.succeed(FollowJointTrajectory::Result { error_code, error_string: String::new() });
    };
    let result = FollowJointTrajectory::Result { error_code: fault.code(), error_string: fault.to_string() };
    if matches!(fault, ArmFault::Cancelled) {
        goal.canceled(result);
    } else {
        tracing::warn!("a trajectory ended early: {fault}");
        goal.abort(result);
    }
}

fn feed_back(goal: &ExecutingGoal<FollowJointTrajectory::Action>, driver: &Driver, joints: &[Joint]) {
    // Without a state there is nothing to say; the motion itself ends by that.
    let Ok(now) = driver.now() else { return };
    let actual = JointTrajectoryPoint { positions: now.positions, ..Default::default() };
    let feedback = FollowJointTrajectory::Feedback {
        joint_names: joints.iter().map(|joint| joint.name.clone()).collect(),
        desired: actual.clone(),
        actual,
        ..Default::default()
    };
    if let Err(error) = goal.publish_feedback(feedback) {
        tracing::debug!("feedback not sent: {error}");
    }
}

async fn drive(driver: &Driver, joints: &[Joint], path: &[Waypoint]) -> Result<(), ArmFault> {
    let (Some(first), Some(last)) = (path.first(), path.last()) else { return Ok(()) };
    let begun = driver.now().map_err(DriverError::from)?;
    if begun.mode != POSITION {
        return Err(ArmFault::Mode(begun.mode));
    }
    if let Some((joint, found, expected)) = astray(joints, &begun, first, |joint| joint.of(START)) {
        return Err(ArmFault::Start { joint, found, expected });
    }
    for waypoint in path.iter().skip(1) {
        driver.go(joints, waypoint).await?;
        steady(&driver.now().map_err(DriverError::from)?)?;
    }
    let near = |joint: &Joint| if joint.name.starts_with("joint_head") { HEAD } else { joint.of(ARRIVED) };
    let mut left = CORRECTIONS;
    loop {
        let standing = driver.rest(joints).await?;
        steady(&standing)?;
        match astray(joints, &standing, last, near) {
            None => return Ok(()),
            Some((joint, found, expected)) if left == 0 => {
                return Err(ArmFault::Goal { joint, found, expected });
            }
            Some(_) => {
                left -= 1;
                driver.go(joints, last).await?;
            }
        }
    }
}

/// The base as a joint of the arm goes straight ahead or back; where it does not, the arm is not where it is thought to be.
fn steady(now: &Now) -> Result<(), ArmFault> {
    let (aside, turned) = (now.roll.aside, now.roll.turned);
    if aside.abs() > SLIP[0] || turned.abs() > SLIP[1] {
        return Err(ArmFault::Slipped { aside, turned });
    }
    Ok(())
}

/// The first joint that is farther from a point than allowed: its name, where it is, where it should be.
fn astray(
    joints: &[Joint],
    now: &Now,
    point: &Waypoint,
    allowed: impl Fn(&Joint) -> f64,
) -> Option<(String, f64, f64)> {
    let pairs = now.positions.iter().zip(&point.positions);
    joints
        .iter()
        .zip(pairs)
        .find(|(joint, (found, expected))| (*found - *expected).abs() > allowed(joint))
        .map(|(joint, (found, expected))| (joint.name.clone(), *found, *expected))
}
