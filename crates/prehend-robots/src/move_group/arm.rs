//! The arm behind MoveIt's face: where it is, and what moves it.

use super::error::MoveGroupError;
use super::misbehaviour::Misbehaviour;
use super::state::ArmState;
use crate::motion_bounds::MotionBounds;
use prehend_msgs::moveit_msgs::msg::RobotTrajectory;

/// An arm that MoveIt's face plans for.
pub trait Arm: Send + Sync + 'static {
    /// Where arm and fingers are now, joints in the robot file's order.
    ///
    /// Errors: [`MoveGroupError::Stale`] when that is not known, [`MoveGroupError::NotStarted`] when the arm may not be used.
    fn state(&self) -> Result<ArmState, MoveGroupError>;

    /// Moves the arm along the joints' part of a trajectory until it stands again; it is stopped once `cancelled` completes.
    ///
    /// Errors: [`MoveGroupError::Trajectory`] and [`MoveGroupError::NotStarted`] before anything moves;
    /// [`MoveGroupError::Stopped`] when somebody stopped it; those of the arm when it fails on the way.
    fn follow(
        &self,
        trajectory: &RobotTrajectory,
        cancelled: impl Future<Output = ()> + Send,
    ) -> impl Future<Output = Result<(), MoveGroupError>> + Send;

    /// What trajectories must keep to before this arm is given them; `None` when it looks to that itself.
    fn bounds(&self) -> Option<&MotionBounds> {
        None
    }

    /// Whether the face does what MoveIt 2 does and a user would rather be without: it hears of an execution nothing before that has ended, and
    /// slows no line down to a `max_cartesian_speed`. Whoever learns to live with such a face can live with a real one.
    fn has_moveits_manners(&self) -> bool {
        false
    }

    /// What is wrong with the answers on purpose.
    fn misbehaviour(&self) -> Misbehaviour {
        Misbehaviour::default()
    }
}
