//! The arm from its URDF: where its links are for given joint positions, and their shapes.

use crate::body::{Part, PartShape};
use crate::scene::Color;
use nalgebra::{Isometry3, Translation3, Unit, UnitQuaternion, Vector3};
use urdf_rs::{Geometry, JointType};

/// The link that is the base of a robot that drives: on the floor, x forward.
const BASE_LINK: &str = "base_link";

/// Number of arm joints.
pub const JOINTS: usize = 6;

/// Positions or velocities of the arm joints, rad or rad/s.
pub type JointVector = [f64; JOINTS];

/// The arm with its gripper and camera.
#[derive(Clone, Debug)]
pub struct ArmModel {
    links: Vec<LinkModel>,
    joints: Vec<ArmJoint>,
    arm_base: usize,
    laser: Option<usize>,
    tcp: usize,
    camera: usize,
    hand: usize,
    fingers: [usize; 2],
    finger_travel: f64,
    drive: DriveMapping,
}

/// A joint of the arm.
#[derive(Clone, Debug, PartialEq)]
pub struct ArmJoint {
    /// Name.
    pub name: String,
    /// Lower limit, rad.
    pub lower: f64,
    /// Upper limit, rad.
    pub upper: f64,
    /// Speed limit, rad/s.
    pub velocity: f64,
}

/// One link and how it hangs on its parent.
#[derive(Clone, Debug)]
pub struct LinkModel {
    /// Name, which is the name of its frame too.
    pub name: String,
    /// Index of the parent among the links, always smaller than the own one; `None` for the root: `link_base`, or `base_link` of a
    /// robot that drives.
    pub parent: Option<usize>,
    /// What moves it.
    pub joint: LinkJoint,
    /// Shapes, in the link's frame.
    pub parts: Vec<Part>,
    parent_from_joint: Isometry3<f64>,
}

/// What moves a link against its parent.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum LinkJoint {
    /// Nothing.
    Fixed,
    /// The arm joint of this index, about an axis in the joint's frame.
    Arm(usize, Unit<Vector3<f64>>),
    /// The gripper's drive, about an axis.
    Drive(Unit<Vector3<f64>>),
    /// The gripper's opening, along an axis: half the opening.
    Finger(Unit<Vector3<f64>>),
}

/// Drive joint against opening: half the opening is `offset + multiplier * drive`.
#[derive(Clone, Copy, Debug, PartialEq)]
struct DriveMapping {
    multiplier: f64,
    offset: f64,
}

/// A URDF that is not that of an arm this simulator can run.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ModelError {
    /// The text is not a URDF.
    #[error("not a URDF: {0}")]
    Urdf(String),
    /// A link that the simulator needs is not there.
    #[error("the URDF has no link `{0}`")]
    NoLink(&'static str),
    /// The links do not form a tree under the base.
    #[error("link `{0}` does not hang on the base")]
    Loose(String),
    /// Not six joints turn the arm.
    #[error("expected 6 arm joints, found {0}")]
    Joints(usize),
    /// A joint without an axis, or of a kind the arm cannot have.
    #[error("joint `{0}` is neither fixed nor revolute nor one of the gripper's")]
    Joint(String),
    /// A shape that is a mesh, or has no size.
    #[error("link `{0}` has a shape that is not a box, cylinder, capsule or sphere with a size")]
    Shape(String),
}

impl ArmModel {
    /// Reads the URDF of `urdf/xarm6.urdf`'s structure: `link_base` (on a base that drives: `base_link`, which carries it), six revolute joints, `xarm_gripper_base_link`,
    /// two fingers on prismatic joints that mimic `drive_joint`, `link_tcp` and `camera_color_optical_frame`.
    pub fn from_urdf(text: &str) -> Result<Self, ModelError> {
        let robot = urdf_rs::read_from_string(text).map_err(|error| ModelError::Urdf(error.to_string()))?;
        // A robot that drives hangs on its base.
        let root =
            if robot.links.iter().any(|link| link.name == BASE_LINK) { BASE_LINK } else { "link_base" };
        let mut links = vec![link_model(&robot, root, None, LinkJoint::Fixed, Isometry3::identity())?];
        let mut joints: Vec<ArmJoint> = Vec::new();
        let mut drive = DriveMapping { multiplier: -0.05, offset: 0.0425 };
        let mut finger_travel = 0.0425;
        // Links in the order of their depth: a parent always stands before its children.
        let mut next = 0;
        while next < links.len() {
            let parent = links[next].name.clone();
            for joint in robot.joints.iter().filter(|joint| joint.parent.link == parent) {
                let [x, y, z] = joint.axis.xyz.0;
                let axis = Unit::try_new(Vector3::new(x, y, z), 1e-9)
                    .ok_or_else(|| ModelError::Joint(joint.name.clone()))?;
                let kind = match joint.joint_type {
                    JointType::Fixed => LinkJoint::Fixed,
                    JointType::Revolute | JointType::Continuous if joint.name == "drive_joint" => {
                        LinkJoint::Drive(axis)
                    }
                    JointType::Revolute | JointType::Continuous => {
                        joints.push(ArmJoint {
                            name: joint.name.clone(),
                            lower: joint.limit.lower,
                            upper: joint.limit.upper,
                            velocity: joint.limit.velocity,
                        });
                        LinkJoint::Arm(joints.len() - 1, axis)
                    }
                    JointType::Prismatic => {
                        if let Some(mimic) = &joint.mimic {
                            drive = DriveMapping {
                                multiplier: mimic.multiplier.unwrap_or(1.0),
                                offset: mimic.offset.unwrap_or(0.0),
                            };
                        }
                        finger_travel = joint.limit.upper;
                        LinkJoint::Finger(axis)
                    }
                    JointType::Floating | JointType::Planar | JointType::Spherical => {
                        return Err(ModelError::Joint(joint.name.clone()));
                    }
                };
                let origin = pose(&joint.origin);
                links.push(link_model(&robot, &joint.child.link, Some(next), kind, origin)?);
                if links.len() > robot.links.len() {
                    return Err(ModelError::Loose(joint.child.link.clone()));
                }
            }
            next += 1;
        }
        if let Some(loose) = robot.links.iter().find(|link| links.iter().all(|known| known.name != link.name))
        {
            return Err(ModelError::Loose(loose.name.clone()));
        }
        if joints.len() != JOINTS {
            return Err(ModelError::Joints(joints.len()));
        }
        let find = |name: &'static str| {
            links.iter().position(|link| link.name == name).ok_or(ModelError::NoLink(name))
        };
        Ok(Self {
            arm_base: find("link_base")?,
            laser: find("laser_link").ok(),
            tcp: find("link_tcp")?,
            camera: find("camera_color_optical_frame")?,
            hand: find("xarm_gripper_base_link")?,
            fingers: [find("left_finger")?, find("right_finger")?],
            links,
            joints,
            finger_travel,
            drive,
        })
    }

    /// The arm's joints from base to wrist; always six.
    pub fn joints(&self) -> &[ArmJoint] {
        &self.joints
    }

    /// The links; a parent stands before its children.
    pub fn links(&self) -> &[LinkModel] {
        &self.links
    }

    /// Whether it is on a base that drives.
    pub fn is_mobile(&self) -> bool {
        self.links.first().is_some_and(|root| root.name == BASE_LINK)
    }

    /// Index of `link_base`, the arm's own base.
    pub fn arm_base(&self) -> usize {
        self.arm_base
    }

    /// Index of `laser_link`, when there is one.
    pub fn laser(&self) -> Option<usize> {
        self.laser
    }

    /// `root_from_link` of every link, for arm joints in rad and an opening in metres.
    pub fn link_poses(&self, joints: &JointVector, opening: f64) -> Vec<Isometry3<f64>> {
        let mut poses: Vec<Isometry3<f64>> = Vec::with_capacity(self.links.len());
        for link in &self.links {
            let local = self.parent_from_link(link, joints, opening);
            let pose = match link.parent {
                Some(parent) => poses[parent] * local,
                None => local,
            };
            poses.push(pose);
        }
        poses
    }

    /// `parent_from_link` of one link.
    pub fn parent_from_link(&self, link: &LinkModel, joints: &JointVector, opening: f64) -> Isometry3<f64> {
        let turn = |axis: &Unit<Vector3<f64>>, angle: f64| {
            Isometry3::from_parts(Translation3::identity(), UnitQuaternion::from_axis_angle(axis, angle))
        };
        let moved = match &link.joint {
            LinkJoint::Fixed => Isometry3::identity(),
            LinkJoint::Arm(index, axis) => turn(axis, joints[*index]),
            LinkJoint::Drive(axis) => turn(axis, self.drive_from_opening(opening)),
            LinkJoint::Finger(axis) => Translation3::from(axis.into_inner() * (opening / 2.0)).into(),
        };
        link.parent_from_joint * moved
    }

    /// `root_from_tcp`.
    pub fn tcp_pose(&self, joints: &JointVector) -> Isometry3<f64> {
        self.link_poses(joints, 0.0)[self.tcp]
    }

    /// Position of the drive joint, rad, at an opening between the pads, metres.
    pub fn drive_from_opening(&self, opening: f64) -> f64 {
        (opening / 2.0 - self.drive.offset) / self.drive.multiplier
    }

    /// Opening between the pads, metres, at a position of the drive joint, rad.
    pub fn opening_from_drive(&self, drive: f64) -> f64 {
        (2.0 * (self.drive.offset + self.drive.multiplier * drive)).clamp(0.0, self.max_opening())
    }

    /// Widest opening between the pads, metres.
    pub fn max_opening(&self) -> f64 {
        2.0 * self.finger_travel
    }

    pub(super) fn camera(&self) -> usize {
        self.camera
    }

    pub(super) fn hand(&self) -> usize {
        self.hand
    }

    /// Left finger (on the tool's +y side), then right.
    pub(super) fn fingers(&self) -> [usize; 2] {
        self.fingers
    }

    pub(super) fn finger_travel(&self) -> f64 {
        self.finger_travel
    }
}

fn link_model(
    robot: &urdf_rs::Robot,
    name: &str,
    parent: Option<usize>,
    joint: LinkJoint,
    parent_from_joint: Isometry3<f64>,
) -> Result<LinkModel, ModelError> {
    let link = robot.links.iter().find(|link| link.name == name).ok_or_else(|| {
        if parent.is_none() { ModelError::NoLink("link_base") } else { ModelError::Loose(name.to_owned()) }
    })?;
    let parts = link
        .collision
        .iter()
        .enumerate()
        .map(|(index, collision)| {
            let shape = part_shape(&collision.geometry).ok_or_else(|| ModelError::Shape(name.to_owned()))?;
            // The URDF draws what collides: visual and collision shapes stand in the same order.
            let color = link.visual.get(index).and_then(|visual| color(robot, visual));
            Ok(Part::new(shape, pose(&collision.origin), color.unwrap_or(Color([140, 140, 144]))))
        })
        .collect::<Result<Vec<_>, ModelError>>()?;
    Ok(LinkModel { name: name.to_owned(), parent, joint, parts, parent_from_joint })
}

fn color(robot: &urdf_rs::Robot, visual: &urdf_rs::Visual) -> Option<Color> {
    let material = visual.material.as_ref()?;
    let named = robot.materials.iter().find(|known| known.name == material.name);
    let color = material.color.as_ref().or_else(|| named?.color.as_ref())?;
    let [r, g, b, _] = color.rgba.0;
    Some(Color([r, g, b].map(|channel| (channel.clamp(0.0, 1.0) * 255.0).round() as u8)))
}

fn part_shape(geometry: &Geometry) -> Option<PartShape> {
    let positive = |lengths: &[f64]| lengths.iter().all(|length| length.is_finite() && *length > 0.0);
    match geometry {
        Geometry::Box { size } => {
            positive(&size.0).then(|| PartShape::Box { half: Vector3::from(size.0) / 2.0 })
        }
        Geometry::Cylinder { radius, length } => positive(&[*radius, *length])
            .then_some(PartShape::Cylinder { radius: *radius, half_height: length / 2.0 }),
        Geometry::Capsule { radius, length } => positive(&[*radius, *length])
            .then_some(PartShape::Capsule { radius: *radius, half_height: length / 2.0 }),
        Geometry::Sphere { radius } => positive(&[*radius]).then_some(PartShape::Sphere { radius: *radius }),
        Geometry::Mesh { .. } => None,
    }
}

fn pose(origin: &urdf_rs::Pose) -> Isometry3<f64> {
    let [x, y, z] = origin.xyz.0;
    let [roll, pitch, yaw] = origin.rpy.0;
    Isometry3::from_parts(Translation3::new(x, y, z), UnitQuaternion::from_euler_angles(roll, pitch, yaw))
}
