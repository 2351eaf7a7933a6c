//! Names that MoveIt and Nav2 give beside those of the robot file: in the same namespace.

use super::{MoveItNames, Navigation};

impl MoveItNames {
    /// `moveit_msgs/srv/GetPlanningScene`: the whole planning scene.
    pub fn planning_scene(&self) -> String {
        beside(&self.apply_planning_scene, "get_planning_scene")
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
