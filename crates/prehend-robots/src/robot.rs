//! The robot file: every name, pose and limit of one robot, from `config/robots/<robot>.yaml`.

mod beside;
mod read;

use crate::arming::ArmingConfig;
use crate::limits::Limits;
use crate::stretch::StretchDriver;
use prehend_config::Findings;
use prehend_motion::RobotGroup;
use prehend_navigation::Footprint;
use std::path::{Path, PathBuf};

/// Frames of the robot, REP-103.
#[derive(Clone, Debug, PartialEq)]
pub struct Frames {
    /// Map frame: base of the arm, x forward, y left, z up.
    pub base: String,
    /// Tool centre point between the pads; z is the approach direction, the pads open along y.
    pub tool: String,
    /// Optical frame of the camera.
    pub camera: String,
}

/// Topics of the camera.
#[derive(Clone, Debug, PartialEq)]
pub struct CameraTopics {
    /// `sensor_msgs/Image`, rgb8.
    pub color: String,
    /// `sensor_msgs/Image`, 16UC1, millimetres, aligned with colour.
    pub depth: String,
    /// `sensor_msgs/CameraInfo` of colour.
    pub info: String,
}

/// Topics of the detector.
#[derive(Clone, Debug, PartialEq)]
pub struct DetectorTopics {
    /// `sensor_msgs/Image`, 16UC1: 0 background, i = detection i.
    pub label_image: String,
    /// `vision_msgs/Detection2DArray`; ids are label values.
    pub detections: String,
    /// Topics of a detector of parts (handles, knobs, buttons), if the robot has one.
    pub parts: Option<PartTopics>,
}

/// Topics of a detector of parts, of the same types and stamps as the detector's.
#[derive(Clone, Debug, PartialEq)]
pub struct PartTopics {
    /// `sensor_msgs/Image`, 16UC1: 0 background, i = part detection i.
    pub label_image: String,
    /// `vision_msgs/Detection2DArray`; ids are label values, classes are those of parts.
    pub detections: String,
}

/// MoveIt 2's interfaces.
#[derive(Clone, Debug, PartialEq)]
pub struct MoveItNames {
    /// Whose layouts they have: Humble's say less, and its lines are timed at full speed.
    pub distribution: Distribution,
    /// Planning group of the arm.
    pub group: String,
    /// Planning pipeline, and planner in it, for motions between joint positions; MoveIt's own choice when empty.
    pub pipeline: String,
    /// See `pipeline`.
    pub planner: String,
    /// `moveit_msgs/action/MoveGroup`.
    pub move_action: String,
    /// `moveit_msgs/action/ExecuteTrajectory`.
    pub execute_trajectory: String,
    /// `moveit_msgs/srv/GetCartesianPath`.
    pub cartesian_path: String,
    /// `moveit_msgs/srv/GetPositionIK`.
    pub inverse_kinematics: String,
    /// `moveit_msgs/srv/ApplyPlanningScene`.
    pub apply_planning_scene: String,
    /// Links of the hand that MoveIt's robot has and `urdf` has not: they, too, may touch what is held.
    pub touch_links: Vec<String>,
}

/// The arm's controller.
#[derive(Clone, Debug, PartialEq)]
pub struct Arm {
    /// `control_msgs/action/FollowJointTrajectory`.
    pub controller: String,
    /// Joint names in order: base to tool, then those that carry the camera when the tool does not hang on them.
    pub joints: Vec<String>,
    /// Share of the joint velocity limits for free motions, (0, 1].
    pub velocity_scaling: f64,
    /// Share of the joint acceleration limits, (0, 1].
    pub acceleration_scaling: f64,
    /// Share of the joint velocity limits near contact, (0, 1].
    pub contact_velocity_scaling: f64,
}

/// The gripper's controller.
#[derive(Clone, Debug, PartialEq)]
pub struct Gripper {
    /// `control_msgs/action/GripperCommand`.
    pub action: String,
    /// Joint that is commanded.
    pub joint: String,
    /// Its position when open, radians.
    pub open: f64,
    /// Its position when closed, radians.
    pub closed: f64,
    /// Distance between the pads when open, metres.
    pub max_opening: f64,
    /// Grip force asked for, newtons.
    pub grip_force: f64,
}

impl Gripper {
    /// Joint position for a distance between the pads (clamped to what the gripper has).
    pub fn position(&self, opening: f64) -> f64 {
        let share = (opening / self.max_opening).clamp(0.0, 1.0);
        self.closed + (self.open - self.closed) * share
    }

    /// Distance between the pads at a joint position, metres.
    pub fn opening(&self, position: f64) -> f64 {
        self.max_opening * (position - self.closed) / (self.open - self.closed)
    }
}

/// The ROS 2 distribution whose layouts a peer speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Distribution {
    /// ROS 2 Humble.
    Humble,
    /// ROS 2 Jazzy.
    Jazzy,
}

impl Distribution {
    /// Whose layouts a distribution speaks; without one the robot is simulated, and what came after Jazzy speaks as Jazzy.
    fn of(distro: Option<&str>) -> Self {
        if distro == Some("humble") { Self::Humble } else { Self::Jazzy }
    }
}

/// A base that drives: names of Nav2's interfaces, its outline and what it may do. A fixed arm has none.
#[derive(Clone, Debug, PartialEq)]
pub struct Navigation {
    /// `nav2_msgs/action/NavigateToPose`.
    pub action: String,
    /// Whose `NavigateToPose` it is: Humble ends a drive without a code.
    pub distribution: Distribution,
    /// The node behind the action, which has a lifecycle.
    pub navigator: String,
    /// `nav_msgs/OccupancyGrid`, latched: the map.
    pub map: String,
    /// `nav_msgs/OccupancyGrid`, latched: the global costmap.
    pub costmap: String,
    /// `sensor_msgs/LaserScan`.
    pub scan: String,
    /// `nav_msgs/Odometry`.
    pub odometry: String,
    /// `geometry_msgs/PoseWithCovarianceStamped`, latched: where the localisation believes the base is.
    pub pose: String,
    /// Frame of the map.
    pub frame: String,
    /// Frame of the odometry.
    pub odom: String,
    /// Frame of the base: origin on the floor, x forward, y left, z up.
    pub base: String,
    /// Frame of the laser, in which scans are.
    pub laser: String,
    /// Convex outline in the base's frame.
    pub footprint: Footprint,
    /// Greatest speed, m/s.
    pub max_speed: f64,
    /// Greatest turning rate, rad/s.
    pub max_turn: f64,
    /// How far from a goal the base may stop, metres.
    pub goal_tolerance_xy: f64,
    /// How far from a goal's heading the base may stop, radians.
    pub goal_tolerance_yaw: f64,
    /// Direction in the base's frame into which the arm works and the camera looks, radians: 0 is forward.
    pub facing: f64,
    /// How far from what it works on the base stands, metres: the first choice, and the most.
    pub reach: [f64; 2],
    /// Joint positions of the arm while the base drives.
    pub drive_pose: Vec<f64>,
}

/// One robot.
#[derive(Clone, Debug, PartialEq)]
pub struct RobotConfig {
    /// Name of the robot.
    pub name: String,
    /// Robot description.
    pub urdf: PathBuf,
    /// Frames.
    pub frames: Frames,
    /// Camera topics.
    pub camera: CameraTopics,
    /// Detector topics.
    pub detector: DetectorTopics,
    /// `sensor_msgs/JointState` topic.
    pub joint_states: String,
    /// MoveIt's interfaces.
    pub moveit: MoveItNames,
    /// Arm controller.
    pub arm: Arm,
    /// Gripper controller.
    pub gripper: Gripper,
    /// Joint positions from which the camera overlooks the workspace, radians.
    pub home: Vec<f64>,
    /// Further survey poses by name, in file order, radians.
    pub looks: Vec<(String, Vec<f64>)>,
    /// Safety limits.
    pub limits: Limits,
    /// The base, if it drives.
    pub navigation: Option<Navigation>,
    /// The vendor's own safety, which is armed before anything moves; `None` when there is nothing to arm.
    pub arming: Option<ArmingConfig>,
    /// The interface of a driver that the names above are not of: the node `stretch` stands between.
    pub driver: Option<StretchDriver>,
}

impl RobotConfig {
    /// What of the URDF is planned for: from the base frame to the tool, with the gripper's joint and every joint of the arm's controller.
    pub fn group(&self) -> RobotGroup {
        RobotGroup {
            name: self.moveit.group.clone(),
            base: self.frames.base.clone(),
            tip: self.frames.tool.clone(),
            drive: Some(self.gripper.joint.clone()),
            more: self.arm.joints.clone(),
        }
    }

    /// Reads a robot file, or the one in `config/robots` of a name like `xarm6`; relative paths in it are looked up in the share
    /// folder.
    pub fn load(path: &Path) -> Result<Self, Findings> {
        prehend_config::read_file(&Self::file(path), |root| Self::read(&root))
    }

    /// Reads the text of a robot file; `name` is what the findings call it.
    pub fn parse(name: &str, text: &str) -> Result<Self, Findings> {
        prehend_config::read(name, text, |root| Self::read(&root))
    }

    /// The robot file that a path or a name means.
    pub fn file(path: &Path) -> PathBuf {
        let resolved = prehend_config::share::resolve(path);
        let is_name = path.extension().is_none() && path.components().count() == 1;
        if is_name && !resolved.is_file() {
            return prehend_config::share::resolve(
                &Path::new("config/robots").join(path.with_extension("yaml")),
            );
        }
        resolved
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_robot_file_of_the_repository_is_valid() {
        let folder = prehend_config::share::share_dir().join("config/robots");
        let mut count = 0;
        for entry in std::fs::read_dir(folder).expect("config/robots") {
            let path = entry.expect("entry").path();
            let robot = RobotConfig::load(&path).unwrap_or_else(|findings| panic!("{findings}"));
            assert!(robot.urdf.is_file(), "{}", robot.urdf.display());
            for opening in [0.0, 0.02, robot.gripper.max_opening] {
                assert!((robot.gripper.opening(robot.gripper.position(opening)) - opening).abs() < 1e-9);
            }
            count += 1;
        }
        assert!(count > 0);
    }

    #[test]
    fn layouts_are_those_of_what_is_sourced_unless_the_file_says_whose() {
        assert_eq!(Distribution::of(Some("humble")), Distribution::Humble);
        for other in [None, Some("jazzy"), Some("rolling")] {
            assert_eq!(Distribution::of(other), Distribution::Jazzy, "{other:?}");
        }
        let file = prehend_config::share::share_dir().join("config/robots/xarm6.yaml");
        let text = std::fs::read_to_string(file).expect("the file");
        let read = |text: &str| prehend_config::read("robot.yaml", text, |root| RobotConfig::read(&root));
        let sourced = Distribution::of(prehend_ros::BACKEND.distro().as_deref());
        for (word, whose) in
            [("installed", sourced), ("humble", Distribution::Humble), ("jazzy", Distribution::Jazzy)]
        {
            let text = text.replace("distribution: installed", &format!("distribution: {word}"));
            assert_eq!(read(&text).expect("valid").moveit.distribution, whose, "{word}");
        }
        let told = read(&text.replace("distribution: installed", "distribution: foxy"));
        assert!(told.expect_err("no such").to_string().contains("installed"));
    }

    #[test]
    fn a_planner_of_moveits_may_be_named() {
        let file = prehend_config::share::share_dir().join("config/robots/xarm6.yaml");
        let text = std::fs::read_to_string(file).expect("the file");
        let read = |text: &str| prehend_config::read("robot.yaml", text, |root| RobotConfig::read(&root));
        let plain = read(&text).expect("valid").moveit;
        assert_eq!((plain.pipeline.as_str(), plain.planner.as_str()), ("", ""));
        let named = text.replace("  # pipeline: ", "  pipeline: ").replace("  # planner: ", "  planner: ");
        let named = read(&named).expect("valid").moveit;
        assert_eq!((named.pipeline.as_str(), named.planner.as_str()), ("ompl", "RRTConnect"));
        let told = read(&text.replace("  # planner: RRTConnect", "  planner: [a, b]")).expect_err("no text");
        assert!(told.to_string().contains("planner"), "{told}");
    }

    #[test]
    fn a_base_is_read_and_its_mistakes_are_told() {
        let file = prehend_config::share::share_dir().join("config/robots/ranger_xarm6.yaml");
        let text = std::fs::read_to_string(file).expect("the file");
        let read = |text: &str| prehend_config::read("robot.yaml", text, |root| RobotConfig::read(&root));
        let base = read(&text).expect("valid").navigation.expect("a base");
        assert_eq!((base.action.as_str(), base.frame.as_str()), ("/navigate_to_pose", "map"));
        assert!((base.footprint.inscribed_radius() - 0.25).abs() < 1e-9);
        for (from, to, message) in [
            ("footprint: [[0.37, 0.25]", "footprint: [[-9, 0.25]", "points inwards"),
            ("footprint:", "radius: 0.3\n  footprint:", "either `footprint` or `radius`"),
            ("max_speed: 0.5", "max_sped: 0.5", "did you mean `max_speed`?"),
            ("goal_tolerance: {xy: 0.05", "goal_tolerance: {xy: 5", "outside"),
            ("drive_pose:", "reach: [0.9, 0.6]\n  drive_pose:", "not greater"),
            ("drive_pose: [0.0, ", "drive_pose: [", "expected 6 joint positions"),
        ] {
            assert!(text.contains(from), "{from}");
            let found = read(&text.replacen(from, to, 1)).expect_err(message).to_string();
            assert!(found.contains(message), "{message}: {found}");
        }
        assert_eq!((base.facing, base.reach), (0.0, [0.85, 1.3]));
        let stretch = RobotConfig::load(Path::new("stretch")).expect("valid");
        let base = stretch.navigation.as_ref().expect("a base");
        assert!(base.facing < -1.5 && base.reach[1] < 0.7, "its arm is short, and to its right");
        assert_eq!(stretch.group().more.len(), 8);
        let fixed = prehend_config::share::share_dir().join("config/robots/xarm6.yaml");
        assert_eq!(RobotConfig::load(&fixed).expect("valid").navigation, None);
        assert_eq!(RobotConfig::load(Path::new("xarm6")).expect("by name").name, "xarm6");
    }
}
