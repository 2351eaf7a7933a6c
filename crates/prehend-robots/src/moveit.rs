//! What MoveIt's error codes mean here.

use prehend_msgs::moveit_msgs::msg::MoveItErrorCodes as Code;
use prehend_scene::Reason;

/// What follows from a code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Done.
    Done,
    /// This pose or path is not possible, another may be.
    Miss,
    /// Somebody stopped it.
    Stopped,
    /// No pose and no path is possible until somebody has mended something.
    Broken(Reason),
    /// The execution failed; after a new look it may not.
    Failed,
}

/// What a code means, what to do about it, and what follows.
pub fn meaning(code: i32) -> (&'static str, Verdict) {
    use Verdict::{Broken, Done, Failed, Miss, Stopped};
    match code {
        Code::SUCCESS => ("done", Done),
        Code::UNDEFINED => ("no code was given", Miss),
        Code::FAILURE => ("failed without a reason: see move_group's log, and its joint limits", Miss),
        Code::PLANNING_FAILED => ("no path", Miss),
        Code::INVALID_MOTION_PLAN => ("the path does not hold against the planning scene", Miss),
        Code::MOTION_PLAN_INVALIDATED_BY_ENVIRONMENT_CHANGE => ("something came into the way", Miss),
        Code::CONTROL_FAILED => (
            "the controller failed: inactive, a tolerance, or the arm is elsewhere (ros2 control list_controllers)",
            Failed,
        ),
        Code::UNABLE_TO_AQUIRE_SENSOR_DATA => ("the planner has no sensor data", Broken(Reason::SensorFault)),
        Code::TIMED_OUT => ("timed out", Miss),
        Code::PREEMPTED => ("somebody else stopped it", Stopped),
        Code::START_STATE_IN_COLLISION => ("start in collision", Miss),
        Code::START_STATE_VIOLATES_PATH_CONSTRAINTS => ("start violates the path's constraints", Miss),
        Code::START_STATE_INVALID => ("start outside the joints' limits: move the arm back by hand", Miss),
        Code::GOAL_IN_COLLISION => ("goal in collision", Miss),
        Code::GOAL_VIOLATES_PATH_CONSTRAINTS => ("goal violates the path's constraints", Miss),
        Code::GOAL_CONSTRAINTS_VIOLATED => ("the end is not the goal", Miss),
        Code::GOAL_STATE_INVALID => ("goal outside the joints' limits", Miss),
        Code::UNRECOGNIZED_GOAL_TYPE => {
            ("the planner does not know joint goals: see its pipeline", Broken(Reason::Internal))
        }
        Code::INVALID_GROUP_NAME => (
            "no such planning group: `moveit.group` of the robot file is not in the SRDF",
            Broken(Reason::Internal),
        ),
        Code::INVALID_GOAL_CONSTRAINTS => ("the goal is malformed", Miss),
        Code::INVALID_ROBOT_STATE => {
            ("the robot state is malformed: do the joint names agree with the URDF?", Miss)
        }
        Code::INVALID_LINK_NAME => {
            ("no such link: `frames.tool` of the robot file is not in the URDF", Broken(Reason::Internal))
        }
        Code::INVALID_OBJECT_NAME => ("an object of the planning scene is unknown", Miss),
        Code::FRAME_TRANSFORM_FAILURE => (
            "no transform to `frames.base`: does robot_state_publisher run, do the clocks agree?",
            Broken(Reason::SensorFault),
        ),
        Code::COLLISION_CHECKING_UNAVAILABLE => {
            ("collisions cannot be checked: see move_group's log", Broken(Reason::Internal))
        }
        Code::ROBOT_STATE_STALE => {
            ("move_group's joint states are old: do the clocks agree?", Broken(Reason::SensorFault))
        }
        Code::SENSOR_INFO_STALE => ("move_group's sensor data are old", Broken(Reason::SensorFault)),
        Code::COMMUNICATION_FAILURE => ("move_group cannot reach its controllers", Broken(Reason::PeerLost)),
        Code::CRASH => ("the planner crashed: see move_group's log", Miss),
        Code::ABORT => ("the planner gave up", Miss),
        Code::NO_IK_SOLUTION => ("out of reach, or in collision there", Miss),
        _ => ("a code this version does not know", Miss),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_has_a_meaning_of_its_own() {
        let codes: Vec<i32> =
            (-31..=1).filter(|code| ![-8, -9, -20].contains(code)).chain([Code::FAILURE]).collect();
        let mut words: Vec<&str> = codes.iter().map(|code| meaning(*code).0).collect();
        assert!(!words.contains(&meaning(-99).0), "{words:?}");
        words.sort_unstable();
        let all = words.len();
        words.dedup();
        assert_eq!(words.len(), all);
        assert_eq!(meaning(-99), ("a code this version does not know", Verdict::Miss));
        assert_eq!(meaning(Code::PREEMPTED).1, Verdict::Stopped);
        assert_eq!(meaning(Code::CONTROL_FAILED).1, Verdict::Failed);
        assert_eq!(meaning(Code::INVALID_GROUP_NAME).1, Verdict::Broken(Reason::Internal));
    }
}
