//! Names that MoveIt and Nav2 give beside those of the robot file: in the same namespace.

use super::{MoveItNames, Navigation};

/// Actions of Nav2's servers that drive the base once the navigator has sent them off.
const DRIVING: [&str; 5] = ["follow_path", "spin", "backup", "drive_on_heading", "assisted_teleop"];

impl MoveItNames {
    /// `moveit_msgs/srv/GetPlanningScene`: the whole planning scene.
    pub fn planning_scene(&self) -> String {
        beside(&self.apply_planning_scene, "get_planning_scene")
    }

    /// `moveit_msgs/srv/GetStateValidity`: what the robot touches in a state.
    pub fn state_validity(&self) -> String {
        beside(&self.apply_planning_scene, "check_state_validity")
    }

    /// Topic, `moveit_msgs/msg/PlanningScene`: the planning scene whenever it changes, whole or as a difference.
    pub fn changed_scene(&self) -> String {
        beside(&self.apply_planning_scene, "monitored_planning_scene")
    }
}

impl Navigation {
    /// Topic, `nav_msgs/msg/Path` in the frame of the map: the way that was planned last.
    pub fn route(&self) -> String {
        beside(&self.action, "plan")
    }

    /// Services, `action_msgs/srv/CancelGoal`: by which Nav2's servers that drive the base are told to stop, each for itself.
    pub fn cancel_driving(&self) -> Vec<String> {
        let cancel = |action: &&str| beside(&self.action, &format!("{action}/_action/cancel_goal"));
        DRIVING.iter().map(cancel).collect()
    }

    /// Topic, `geometry_msgs/msg/Twist` in the frame of the base: the velocity that Nav2 commands.
    pub fn velocity(&self) -> String {
        beside(&self.action, "cmd_vel")
    }

    /// Topic, `geometry_msgs/msg/PoseWithCovarianceStamped` in the frame of the map: where somebody says that the robot is.
    pub fn initial_pose(&self) -> String {
        beside(&self.pose, "initialpose")
    }
}

/// `name` in the namespace of `other`.
fn beside(other: &str, name: &str) -> String {
    other.rsplit_once('/').map_or_else(|| name.to_owned(), |(namespace, _)| format!("{namespace}/{name}"))
}

#[cfg(test)]
mod tests {
    use super::beside;

    #[test]
    fn a_name_is_in_the_namespace_of_the_other() {
        for (other, expected) in
            [("/navigate_to_pose", "/plan"), ("/left/navigate_to_pose", "/left/plan"), ("drive", "plan")]
        {
            assert_eq!(beside(other, "plan"), expected, "{other}");
        }
    }
}
