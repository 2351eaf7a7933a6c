//! A robot description for Gazebo: fixed to the world, with gz_ros2_control (Jazzy with Gazebo Harmonic) and two cameras on the wrist.
//!
//! The gripper changes. In the description both fingers follow the drive, which has no shape and so would close whatever is between
//! them. For Gazebo each finger is commanded, with a controller of its own, and the node `gazebo` tells the drive from where both are: a
//! finger that followed the other one there would push it, or yield to it. The fingers' zero is where the drive's is.

use super::tree::Element;
use nalgebra::{UnitQuaternion, Vector3};
use prehend_robots::RobotConfig;
use prehend_sim::sensors::wrist_camera_intrinsics;
use std::f64::consts::FRAC_PI_2;
use std::path::Path;

/// Gazebo's topics of the cameras, which config/gazebo/ros_gz_bridge.yaml names too.
pub const CAMERA_TOPIC: &str = "/prehend/camera";
/// See [`CAMERA_TOPIC`].
pub const SEGMENTATION_TOPIC: &str = "/prehend/segmentation";
/// Nearest and farthest distance that the depth camera measures, metres.
const DEPTH_RANGE: [&str; 2] = ["0.08", "6.0"];
/// Share of a position error that is taken back in one step of the controllers. gz_ros2_control's 0.1 is soft.
const POSITION_GAIN: &str = "0.5";

/// What is not in the robot file.
#[derive(Clone, Copy, Debug)]
pub struct Options<'a> {
    /// Absolute path of the controllers' parameters.
    pub controllers: &'a Path,
    /// Namespace of the controllers; empty is none.
    pub namespace: &'a str,
    /// Frames per second of the cameras.
    pub rate: f64,
}

/// A description that cannot be made into one for Gazebo.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UrdfError {
    /// Not XML, or not one that can be written.
    #[error("not a URDF: {0}")]
    Xml(String),
    /// A joint or link of the robot file is not there.
    #[error("the URDF has no {what} `{name}`")]
    Missing {
        /// `joint` or `link`.
        what: &'static str,
        /// Its name in the robot file.
        name: String,
    },
    /// The gripper is of another kind.
    #[error("two prismatic joints that follow `{drive}` by one factor are needed for Gazebo, found {found}")]
    Gripper {
        /// The gripper's joint.
        drive: String,
        /// How many follow it.
        found: usize,
    },
    /// It drives: Gazebo would need its wheels, and Nav2 its laser.
    #[error("`{0}` has a base that drives; only robots that stand still are made for Gazebo")]
    Drives(String),
}

/// The description of a robot for Gazebo.
///
/// Errors: [`UrdfError`].
pub fn write(urdf: &str, robot: &RobotConfig, options: &Options<'_>) -> Result<String, UrdfError> {
    if robot.navigation.is_some() {
        return Err(UrdfError::Drives(robot.name.clone()));
    }
    let mut root = Element::parse(urdf).map_err(UrdfError::Xml)?;
    if root.tag != "robot" {
        return Err(UrdfError::Xml(format!("its first element is `{}`", root.tag)));
    }
    for (what, name) in robot.arm.joints.iter().map(|joint| ("joint", joint)).chain([
        ("joint", &robot.gripper.joint),
        ("link", &robot.frames.base),
        ("link", &robot.frames.camera),
    ]) {
        find(&root, what, name)?;
    }
    let hand = turn_gripper_round(&mut root, robot)?;
    root.children.extend([
        Element::new("link", &[("name", "world")]),
        Element::new("joint", &[("name", "world_joint"), ("type", "fixed")]).with([
            Element::new("parent", &[("link", "world")]),
            Element::new("child", &[("link", &robot.frames.base)]),
        ]),
        control(robot, &hand),
        Element::new("gazebo", &[]).with([plugin(options)]),
        cameras(robot, options.rate),
    ]);
    root.children.extend(hand.fingers.iter().map(|finger| pads(finger)));
    root.to_xml().map_err(UrdfError::Xml)
}

fn find(root: &Element, what: &'static str, name: &str) -> Result<usize, UrdfError> {
    let is_it = |element: &Element| element.tag == what && element.attribute("name") == Some(name);
    let found = root.children.iter().position(is_it);
    found.ok_or_else(|| UrdfError::Missing { what, name: name.to_owned() })
}

/// The gripper as Gazebo has it.
#[derive(Debug)]
struct Hand {
    /// Joints of the fingers, which are commanded.
    joints: [String; 2],
    /// Links with pads.
    fingers: [String; 2],
    /// A joint that moves nothing that can touch; it follows the first finger.
    drive: String,
}

fn turn_gripper_round(root: &mut Element, robot: &RobotConfig) -> Result<Hand, UrdfError> {
    let drive = &robot.gripper.joint;
    let follows = |element: &&Element| {
        element.tag == "joint"
            && element.attribute("type") == Some("prismatic")
            && element.child("mimic").and_then(|mimic| mimic.attribute("joint")) == Some(drive)
    };
    let found: Vec<Element> = root.children.iter().filter(follows).cloned().collect();
    let wrong = |found: usize| UrdfError::Gripper { drive: drive.clone(), found };
    let [left, right] = &found[..] else { return Err(wrong(found.len())) };
    let factor = |joint: &Element| match joint.numbers("mimic", "multiplier").as_deref() {
        Some([factor]) if *factor != 0.0 => Some(*factor),
        _ => None,
    };
    let of_left = factor(left).ok_or(wrong(1))?;
    if factor(right) != Some(of_left) {
        return Err(wrong(1));
    }
    let name = |joint: &Element| joint.attribute("name").unwrap_or_default().to_owned();
    let link = |joint: &Element| {
        joint.child("child").and_then(|child| child.attribute("link")).unwrap_or_default().to_owned()
    };
    let hand =
        Hand { joints: [name(left), name(right)], fingers: [link(left), link(right)], drive: drive.clone() };
    for joint in [left, right] {
        let index = find(root, "joint", &name(joint))?;
        let mut changed = with_the_drives_zero(joint).ok_or(wrong(found.len()))?;
        changed.children.retain(|child| child.tag != "mimic" && child.tag != "dynamics");
        // It presses no harder than the robot file says, and moves as fast as the description says. Damping also keeps what is held
        // in the middle of the hand, between two fingers that push with all their force. (Friction does not: DART's stops the finger.)
        let speed = joint.numbers("limit", "velocity").and_then(|all| all.first().copied());
        let speed = speed.filter(|speed| *speed > 0.0).ok_or(wrong(found.len()))?;
        let damping = number(robot.gripper.grip_force / speed);
        changed.child_mut("limit").set("effort", number(robot.gripper.grip_force));
        changed.children.push(Element::new("dynamics", &[("damping", &damping), ("friction", "0")]));
        root.children[index] = changed;
    }
    let index = find(root, "joint", drive)?;
    *root.children[index].child_mut("mimic") = Element::new(
        "mimic",
        &[("joint", &hand.joints[0]), ("multiplier", &number(1.0 / of_left)), ("offset", "0")],
    );
    Ok(hand)
}

/// A finger's joint that is 0 where the drive is 0: its origin moves by the offset, its limits move back.
fn with_the_drives_zero(joint: &Element) -> Option<Element> {
    let offset = joint.numbers("mimic", "offset").and_then(|all| all.first().copied()).unwrap_or(0.0);
    let three = |values: Option<Vec<f64>>| -> Option<Vector3<f64>> {
        let values = values?;
        (values.len() == 3).then(|| Vector3::from_column_slice(&values))
    };
    let axis = three(joint.numbers("axis", "xyz"))?.try_normalize(1e-9)?;
    let at = three(joint.numbers("origin", "xyz")).unwrap_or_default();
    let turn = three(joint.numbers("origin", "rpy")).unwrap_or_default();
    let turn = UnitQuaternion::from_euler_angles(turn.x, turn.y, turn.z);
    let at = at + turn * axis * offset;
    let mut changed = joint.clone();
    changed.child_mut("origin").set("xyz", format!("{} {} {}", number(at.x), number(at.y), number(at.z)));
    for end in ["lower", "upper"] {
        let limit = joint.numbers("limit", end)?.first().copied()?;
        changed.child_mut("limit").set(end, number(limit - offset));
    }
    Some(changed)
}

/// Without the noise of sums of decimal fractions.
fn number(value: f64) -> String {
    format!("{}", (value * 1e12).round() / 1e12 + 0.0)
}

/// What ros2_control commands and reads.
fn control(robot: &RobotConfig, hand: &Hand) -> Element {
    let states = |at: Option<f64>| {
        let position = Element::new("state_interface", &[("name", "position")]);
        let start = at.map(|at| parameter("initial_value", &number(at)));
        [
            position.with(start),
            Element::new("state_interface", &[("name", "velocity")]),
            Element::new("state_interface", &[("name", "effort")]),
        ]
    };
    let commanded = |name: &str, by: &str, at: f64| {
        Element::new("joint", &[("name", name)])
            .with([Element::new("command_interface", &[("name", by)])])
            .with(states(Some(at)))
    };
    let arm = robot.arm.joints.iter().zip(&robot.home).map(|(joint, at)| commanded(joint, "position", *at));
    // By force, which a goal of the gripper gives.
    let fingers = hand.joints.iter().map(|joint| commanded(joint, "effort", 0.0));
    // ros2_control finds in the description which joint it follows; a command it has none.
    let drive = Element::new("joint", &[("name", &hand.drive)]).with(states(None));
    Element::new("ros2_control", &[("name", "gazebo"), ("type", "system")])
        .with([
            Element::new("hardware", &[]).with([Element::text("plugin", "gz_ros2_control/GazeboSimSystem")])
        ])
        .with(arm)
        .with(fingers)
        .with([drive])
}

fn parameter(name: &str, value: &str) -> Element {
    Element { text: value.to_owned(), ..Element::new("param", &[("name", name)]) }
}

fn plugin(options: &Options<'_>) -> Element {
    let kind =
        [("filename", "gz_ros2_control-system"), ("name", "gz_ros2_control::GazeboSimROS2ControlPlugin")];
    let namespace = options.namespace.trim_matches('/');
    let ros = (!namespace.is_empty())
        .then(|| Element::new("ros", &[]).with([Element::text("namespace", &format!("/{namespace}"))]));
    Element::new("plugin", &kind)
        .with([
            Element::text("parameters", &options.controllers.display().to_string()),
            Element::text("position_proportional_gain", POSITION_GAIN),
        ])
        .with(ros)
}

/// The wrist camera and one that sees labels, with the intrinsics of the embedded robot's.
fn cameras(robot: &RobotConfig, rate: f64) -> Element {
    let intrinsics = wrist_camera_intrinsics();
    let (width, height) = (intrinsics.width, intrinsics.height);
    let view = 2.0 * (width as f64 / 2.0 / intrinsics.fx).atan();
    let lens = || {
        let numbers = [
            ("fx", intrinsics.fx),
            ("fy", intrinsics.fy),
            ("cx", intrinsics.cx),
            ("cy", intrinsics.cy),
            ("s", 0.0),
        ];
        let numbers = numbers.map(|(name, value)| Element::text(name, &number(value)));
        Element::new("lens", &[]).with([Element::new("intrinsics", &[]).with(numbers)])
    };
    let sensor = |name: &str, kind: &str, topic: &str, own: Vec<Element>| {
        let format = (kind == "rgbd_camera").then(|| Element::text("format", "R8G8B8"));
        let camera = Element::new("camera", &[])
            .with([
                Element::text("horizontal_fov", &number(view)),
                Element::new("image", &[])
                    .with([
                        Element::text("width", &width.to_string()),
                        Element::text("height", &height.to_string()),
                    ])
                    .with(format),
                Element::new("clip", &[])
                    .with([Element::text("near", DEPTH_RANGE[0]), Element::text("far", DEPTH_RANGE[1])]),
                // The camera info is not made of the field of view: without these it says 277 pixels.
                lens(),
                Element::text("optical_frame_id", &robot.frames.camera),
            ])
            .with(own);
        Element::new("sensor", &[("name", name), ("type", kind)]).with([
            // Gazebo's cameras look along x, with z up; this frame's z looks ahead, and its y is down.
            Element::text("pose", &format!("0 0 0 {FRAC_PI_2} -{FRAC_PI_2} 0")),
            Element::text("always_on", "true"),
            Element::text("update_rate", &number(rate)),
            Element::text("topic", topic),
            Element::text("gz_frame_id", &robot.frames.camera),
            camera,
        ])
    };
    Element::new("gazebo", &[("reference", &robot.frames.camera)]).with([
        sensor("wrist_camera", "rgbd_camera", CAMERA_TOPIC, Vec::new()),
        sensor(
            "wrist_segmentation",
            "segmentation",
            SEGMENTATION_TOPIC,
            vec![Element::text("segmentation_type", "semantic")],
        ),
    ])
}

/// Pads rub as those of the embedded robot do.
fn pads(link: &str) -> Element {
    let friction = prehend_sim::world::PAD_FRICTION.to_string();
    Element::new("gazebo", &[("reference", link)])
        .with([Element::text("mu1", &friction), Element::text("mu2", &friction)])
}
