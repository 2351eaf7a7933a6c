//! The robot file: every name, pose and limit of one robot, from `config/robots/<robot>.yaml`.

mod beside;

use crate::arming::ArmingConfig;
use crate::stretch::StretchDriver;
use prehend_config::{Findings, Map, Value};
use prehend_motion::RobotGroup;
use prehend_navigation::Footprint;
use prehend_navigation::footprint::FootprintError;
use prehend_navigation::viewpose::ViewPoseParams;
use prehend_sim::world::LinkNames;
use prehend_verify::Approval;
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

/// Safety limits; none has a default but `approval`: never.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limits {
    /// Least x, y, z of the tool centre point in the base frame, metres.
    pub workspace_low: [f64; 3],
    /// Greatest x, y, z of the tool centre point in the base frame, metres.
    pub workspace_high: [f64; 3],
    /// Least height of the tool centre point above the support, metres.
    pub support_clearance: f64,
    /// Pad force at which the robot side stops a motion, newtons.
    pub contact_force: f64,
    /// Silence after which a peer is lost, seconds.
    pub peer_silence: f64,
    /// For which plans a person is asked at least, whatever the verifier is set to.
    pub approval: Approval,
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

fn text(m: &mut Map<'_>, key: &'static str) -> Option<String> {
    m.req(key).and_then(|v| v.text())
}

fn number(m: &mut Map<'_>, key: &'static str, low: f64, high: f64) -> Option<f64> {
    m.req(key).and_then(|v| v.f64_in(low, high))
}

fn joint_pose(value: &Value<'_>, count: usize) -> Option<Vec<f64>> {
    let pose = value.list(|v| v.f64_in(-7.0, 7.0))?;
    if count != 0 && pose.len() != count {
        value.report(format!("expected {count} joint positions, found {}", pose.len()));
        return None;
    }
    Some(pose)
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

    /// The links of the URDF that the simulator must know.
    pub fn link_names(&self) -> LinkNames {
        let Frames { base, tool, camera } = self.frames.clone();
        let names = LinkNames { base, tool, camera, ..LinkNames::default() };
        match &self.navigation {
            Some(navigation) => LinkNames { laser: navigation.laser.clone(), ..names },
            None => names,
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
        let resolved = crate::share::resolve(path);
        let is_name = path.extension().is_none() && path.components().count() == 1;
        if is_name && !resolved.is_file() {
            return crate::share::resolve(&Path::new("config/robots").join(path.with_extension("yaml")));
        }
        resolved
    }

    fn read(root: &Value<'_>) -> Option<Self> {
        root.map(|m| {
            let name = text(m, "name");
            let urdf = text(m, "urdf").map(|urdf| crate::share::resolve(Path::new(&urdf)));
            let frames = m.req("frames").and_then(|v| {
                v.map(|m| {
                    let (base, tool, camera) = (text(m, "base"), text(m, "tool"), text(m, "camera"));
                    Some(Frames { base: base?, tool: tool?, camera: camera? })
                })
            });
            let camera = m.req("camera").and_then(|v| {
                v.map(|m| {
                    let (color, depth, info) = (text(m, "color"), text(m, "depth"), text(m, "info"));
                    Some(CameraTopics { color: color?, depth: depth?, info: info? })
                })
            });
            let detector = m.req("detector").and_then(|v| v.map(read_detector));
            let joint_states = text(m, "joint_states");
            let moveit = m.req("moveit").and_then(|v| v.map(read_moveit));
            let arm = m.req("arm").and_then(|v| v.map(read_arm));
            let gripper = m.req("gripper").and_then(|v| v.map(read_gripper));
            let joints = arm.as_ref().map_or(0, |arm| arm.joints.len());
            let poses = m.req("poses").and_then(|v| {
                v.map(|m| {
                    let home = m.req("home").and_then(|v| joint_pose(&v, joints));
                    let looks = m.req("looks").and_then(|v| {
                        v.map(|m| {
                            let all = m.entries();
                            let read: Vec<_> = all
                                .into_iter()
                                .map(|(name, v)| joint_pose(&v, joints).map(|pose| (name, pose)))
                                .collect();
                            read.into_iter().collect::<Option<Vec<_>>>()
                        })
                    });
                    Some((home?, looks?))
                })
            });
            let limits = m.req("limits").and_then(|v| v.map(read_limits));
            let navigation = match m.opt("navigation") {
                Some(v) => Some(v.map(|m| read_navigation(m, joints))?),
                None => None,
            };
            let arming = match m.opt("arming") {
                Some(v) => Some(ArmingConfig::read(&v, limits.as_ref())?),
                None => None,
            };
            let driver = match m.opt("driver") {
                Some(v) => Some(v.map(StretchDriver::read)?),
                None => None,
            };
            let (home, looks) = poses?;
            Some(Self {
                name: name?,
                urdf: urdf?,
                frames: frames?,
                camera: camera?,
                detector: detector?,
                joint_states: joint_states?,
                moveit: moveit?,
                arm: arm?,
                gripper: gripper?,
                home,
                looks,
                limits: limits?,
                navigation,
                arming,
                driver,
            })
        })
    }
}

fn read_detector(m: &mut Map<'_>) -> Option<DetectorTopics> {
    let (label_image, detections) = (text(m, "label_image"), text(m, "detections"));
    let part_label_image = m.opt("part_label_image").map(|v| v.text());
    let part_detections = m.opt("part_detections").map(|v| v.text());
    let parts = match (part_label_image, part_detections) {
        (None, None) => None,
        (Some(label_image), Some(detections)) => {
            Some(PartTopics { label_image: label_image?, detections: detections? })
        }
        _ => {
            m.report("a detector of parts needs both `part_label_image` and `part_detections`");
            return None;
        }
    };
    Some(DetectorTopics { label_image: label_image?, detections: detections?, parts })
}

/// `humble`, `jazzy`, or that of the ROS 2 around this process (`installed`).
fn distribution(m: &mut Map<'_>) -> Option<Distribution> {
    let named = m.opt("distribution").map_or(Some(None), |v| {
        let choices = [Distribution::Humble, Distribution::Jazzy].map(Some);
        v.choice(&[("humble", choices[0]), ("jazzy", choices[1]), ("installed", None)])
    })?;
    Some(named.unwrap_or_else(|| Distribution::of(prehend_ros::BACKEND.distro().as_deref())))
}

fn read_moveit(m: &mut Map<'_>) -> Option<MoveItNames> {
    let distribution = distribution(m);
    let group = text(m, "group");
    let move_action = text(m, "move_action");
    let execute_trajectory = text(m, "execute_trajectory");
    let cartesian_path = text(m, "cartesian_path");
    let inverse_kinematics = text(m, "inverse_kinematics");
    let apply_planning_scene = text(m, "apply_planning_scene");
    Some(MoveItNames {
        distribution: distribution?,
        group: group?,
        move_action: move_action?,
        execute_trajectory: execute_trajectory?,
        cartesian_path: cartesian_path?,
        inverse_kinematics: inverse_kinematics?,
        apply_planning_scene: apply_planning_scene?,
    })
}

fn read_arm(m: &mut Map<'_>) -> Option<Arm> {
    let controller = text(m, "controller");
    let joints = m.req("joints").and_then(|v| v.list(|v| v.text()));
    let velocity_scaling = number(m, "velocity_scaling", 0.01, 1.0);
    let acceleration_scaling = number(m, "acceleration_scaling", 0.01, 1.0);
    let contact_velocity_scaling = number(m, "contact_velocity_scaling", 0.01, 1.0);
    Some(Arm {
        controller: controller?,
        joints: joints?,
        velocity_scaling: velocity_scaling?,
        acceleration_scaling: acceleration_scaling?,
        contact_velocity_scaling: contact_velocity_scaling?,
    })
}

fn read_gripper(m: &mut Map<'_>) -> Option<Gripper> {
    let (action, joint) = (text(m, "action"), text(m, "joint"));
    let open = number(m, "open", -4.0, 4.0);
    let closed = number(m, "closed", -4.0, 4.0);
    let max_opening = number(m, "max_opening", 0.001, 0.5);
    let grip_force = number(m, "grip_force", 0.1, 500.0);
    let (open, closed) = (open?, closed?);
    if (open - closed).abs() < 1e-6 {
        m.report("the gripper's open and closed positions must differ");
        return None;
    }
    Some(Gripper {
        action: action?,
        joint: joint?,
        open,
        closed,
        max_opening: max_opening?,
        grip_force: grip_force?,
    })
}

fn read_limits(m: &mut Map<'_>) -> Option<Limits> {
    let low = m.req("workspace_low").and_then(|v| v.numbers::<3>());
    let high = m.req("workspace_high").and_then(|v| v.numbers::<3>());
    let support_clearance = number(m, "support_clearance", -0.05, 0.2);
    let contact_force = number(m, "contact_force", 1.0, 500.0);
    let peer_silence = number(m, "peer_silence", 0.2, 10.0);
    let approval = m.or("approval", Approval::Never, |v| v.choice(&Approval::ALL));
    let (low, high) = (low?, high?);
    if (0..3).any(|i| low[i] >= high[i]) {
        m.report("workspace_low must be below workspace_high on every axis");
        return None;
    }
    Some(Limits {
        workspace_low: low,
        workspace_high: high,
        support_clearance: support_clearance?,
        contact_force: contact_force?,
        peer_silence: peer_silence?,
        approval: approval?,
    })
}

fn read_navigation(m: &mut Map<'_>, joints: usize) -> Option<Navigation> {
    let (action, map, costmap) = (text(m, "action"), text(m, "map"), text(m, "costmap"));
    let distribution = distribution(m);
    let navigator = m.opt("navigator").map_or(Some("/bt_navigator".to_owned()), |v| v.text());
    let (scan, odometry, pose) = (text(m, "scan"), text(m, "odometry"), text(m, "pose"));
    let (frame, odom, base, laser) = (text(m, "frame"), text(m, "odom"), text(m, "base"), text(m, "laser"));
    let footprint = match (m.opt("footprint"), m.opt("radius")) {
        (Some(v), None) => v
            .list(|corner| corner.numbers::<2>())
            .and_then(|corners| outline(&v, Footprint::polygon(&corners))),
        (None, Some(v)) => v.f64_in(0.05, 2.0).and_then(|radius| outline(&v, Footprint::circle(radius))),
        _ => {
            m.report("give the base's outline: either `footprint` or `radius`");
            None
        }
    };
    let max_speed = number(m, "max_speed", 0.01, 5.0);
    let max_turn = number(m, "max_turn", 0.01, 10.0);
    let tolerance = m.req("goal_tolerance").and_then(|v| {
        v.map(|m| {
            let (xy, yaw) = (number(m, "xy", 0.005, 1.0), number(m, "yaw", 0.005, 1.6));
            Some((xy?, yaw?))
        })
    });
    let facing = m.opt("facing").map_or(Some(0.0), |v| v.f64_in(-3.2, 3.2));
    let usual = ViewPoseParams::default();
    let reach = m.opt("reach").map_or(Some([usual.radius, usual.relax_max]), |v| {
        let reach @ [first, most] = v.numbers::<2>()?;
        if first.is_finite() && most.is_finite() && 0.05 <= first && first <= most && most <= 3.0 {
            return Some(reach);
        }
        v.report("expected two distances from 0.05 to 3 m, the first not greater than the second");
        None
    });
    let drive_pose = m.req("drive_pose").and_then(|v| joint_pose(&v, joints));
    let (goal_tolerance_xy, goal_tolerance_yaw) = tolerance?;
    Some(Navigation {
        action: action?,
        distribution: distribution?,
        navigator: navigator?,
        map: map?,
        costmap: costmap?,
        scan: scan?,
        odometry: odometry?,
        pose: pose?,
        frame: frame?,
        odom: odom?,
        base: base?,
        laser: laser?,
        footprint: footprint?,
        max_speed: max_speed?,
        max_turn: max_turn?,
        goal_tolerance_xy,
        goal_tolerance_yaw,
        facing: facing?,
        reach: reach?,
        drive_pose: drive_pose?,
    })
}

/// The outline, or its error at its place.
fn outline(place: &Value<'_>, read: Result<Footprint, FootprintError>) -> Option<Footprint> {
    match read {
        Ok(footprint) => Some(footprint),
        Err(error) => {
            place.report(error.to_string());
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_robot_file_of_the_repository_is_valid() {
        let folder = crate::share::share_dir().join("config/robots");
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
        let file = crate::share::share_dir().join("config/robots/xarm6.yaml");
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
    fn a_base_is_read_and_its_mistakes_are_told() {
        let file = crate::share::share_dir().join("config/robots/ranger_xarm6.yaml");
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
        assert_eq!((stretch.group().more.len(), stretch.link_names().laser.as_str()), (8, "laser"));
        let fixed = crate::share::share_dir().join("config/robots/xarm6.yaml");
        assert_eq!(RobotConfig::load(&fixed).expect("valid").navigation, None);
        assert_eq!(RobotConfig::load(Path::new("xarm6")).expect("by name").name, "xarm6");
    }
}
