//! The arm from its URDF: where its links are for given joint positions, and their shapes.

use crate::body::{ConvexPart, PartShape};
use crate::scene::Color;
use nalgebra::{Isometry3, Translation3, Unit, UnitQuaternion, Vector3};
use urdf_rs::{Geometry, JointType};

/// Positions or velocities of the arm's joints in the order of [`ArmModel::joints`], rad or rad/s (m or m/s for slides).
pub type JointVector = Vec<f64>;

/// Names of the links that the simulator must know, which are names of frames too.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinkNames {
    /// The arm's base, the root of a robot that stands still.
    pub base: String,
    /// Between the pads.
    pub tool: String,
    /// The camera: x right, y down, z ahead.
    pub camera: String,
    /// The scanner; a robot may have none.
    pub laser: String,
}

impl Default for LinkNames {
    /// The names of `urdf/xarm6.urdf` and `urdf/ranger_xarm6.urdf`.
    fn default() -> Self {
        let [base, tool, camera, laser] =
            ["link_base", "link_tcp", "camera_color_optical_frame", "laser_link"].map(str::to_owned);
        Self { base, tool, camera, laser }
    }
}

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
    /// Half the opening by the drive's position.
    drive: Mapping,
}

/// A joint of the arm.
#[derive(Clone, Debug, PartialEq)]
pub struct ArmJoint {
    /// Name.
    pub name: String,
    /// Lower limit, rad (m for a slide).
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
    /// Index of the parent among the links, always smaller than the own one; `None` for the root: the arm's base, or what carries it
    /// on a robot that drives.
    pub parent: Option<usize>,
    /// What moves it.
    pub joint: LinkJoint,
    /// Shapes, in the link's frame.
    pub parts: Vec<ConvexPart>,
    parent_from_joint: Isometry3<f64>,
}

/// What moves a link against its parent.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum LinkJoint {
    /// Nothing.
    Fixed,
    /// The arm joint of this index.
    Arm(usize, Motion),
    /// Another joint that follows the arm joint of this index: `multiplier * joint + offset`.
    Follower(usize, Motion, Mapping),
    /// The gripper's drive.
    Drive(Motion),
    /// The gripper's opening, along an axis: half the opening.
    Finger(Unit<Vector3<f64>>),
}

/// How a joint moves its link, in the joint's frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Motion {
    /// It turns about an axis.
    Turn(Unit<Vector3<f64>>),
    /// It slides along an axis.
    Slide(Unit<Vector3<f64>>),
}

impl Motion {
    fn by(&self, value: f64) -> Isometry3<f64> {
        match self {
            Self::Turn(axis) => {
                Isometry3::from_parts(Translation3::identity(), UnitQuaternion::from_axis_angle(axis, value))
            }
            Self::Slide(axis) => Translation3::from(axis.into_inner() * value).into(),
        }
    }
}

/// A joint that follows another one: `multiplier * value + offset`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mapping {
    multiplier: f64,
    offset: f64,
}

impl Mapping {
    fn of(mimic: &urdf_rs::Mimic) -> Self {
        Self { multiplier: mimic.multiplier.unwrap_or(1.0), offset: mimic.offset.unwrap_or(0.0) }
    }
}

/// A URDF that is not that of an arm this simulator can run.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ModelError {
    /// The text is not a URDF.
    #[error("not a URDF: {0}")]
    Urdf(String),
    /// A link that the simulator needs is not there.
    #[error("the URDF has no link `{0}`")]
    NoLink(String),
    /// The links do not form a tree under one root.
    #[error("link `{0}` does not hang on the base")]
    Loose(String),
    /// Nothing moves the arm.
    #[error("no joint moves `{0}`")]
    Rigid(String),
    /// A joint without an axis, or of a kind the arm cannot have.
    #[error(
        "joint `{0}` is neither fixed nor revolute nor prismatic, or follows a joint that is not the arm's"
    )]
    Joint(String),
    /// There are not two fingers that slide as the gripper's drive says.
    #[error("expected two prismatic joints that follow the gripper's drive, found {0}")]
    Fingers(usize),
    /// A shape that is a mesh, or has no size.
    #[error("link `{0}` has a shape that is not a box, cylinder, capsule or sphere with a size")]
    Shape(String),
}

impl ArmModel {
    /// Reads a URDF with the link names of `urdf/xarm6.urdf`; see [`ArmModel::from_urdf_with`].
    pub fn from_urdf(text: &str) -> Result<Self, ModelError> {
        Self::from_urdf_with(text, &LinkNames::default())
    }

    /// Reads a URDF: every joint that follows no other one is the arm's, but the gripper's drive, which two prismatic joints follow: the
    /// fingers, the left one (on the tool's +y side) first. What else follows a joint of the arm moves with it.
    ///
    /// Errors: [`ModelError`].
    pub fn from_urdf_with(text: &str, names: &LinkNames) -> Result<Self, ModelError> {
        let robot = urdf_rs::read_from_string(text).map_err(|error| ModelError::Urdf(error.to_string()))?;
        let reaching = chain(&robot, &names.tool)?;
        // What follows a joint that the tool does not hang on are the fingers.
        let is_finger = |joint: &&urdf_rs::Joint| {
            joint.mimic.as_ref().is_some_and(|mimic| !reaching.contains(&mimic.joint.as_str()))
        };
        let fingers: Vec<&urdf_rs::Joint> = robot.joints.iter().filter(is_finger).collect();
        let [left, right] = fingers[..] else { return Err(ModelError::Fingers(fingers.len())) };
        let (Some(mimic), JointType::Prismatic, JointType::Prismatic) =
            (&left.mimic, &left.joint_type, &right.joint_type)
        else {
            return Err(ModelError::Fingers(0));
        };
        // The joints that move the tool, then the others, in the file's order.
        let own = robot.joints.iter().filter(|joint| {
            joint.joint_type != JointType::Fixed && joint.mimic.is_none() && joint.name != mimic.joint
        });
        let (mut order, beside): (Vec<&urdf_rs::Joint>, Vec<_>) =
            own.partition(|joint| reaching.contains(&joint.name.as_str()));
        order.sort_by_key(|joint| reaching.iter().position(|name| *name == joint.name));
        if order.is_empty() {
            return Err(ModelError::Rigid(names.tool.clone()));
        }
        order.extend(beside);
        let index = |name: &str| order.iter().position(|joint| joint.name == name);

        let root = root(&robot)?;
        let mut links = vec![link_model(&robot, root, None, LinkJoint::Fixed, Isometry3::identity())?];
        // Links in the order of their depth: a parent always stands before its children.
        let mut next = 0;
        while next < links.len() {
            let parent = links[next].name.clone();
            for joint in robot.joints.iter().filter(|joint| joint.parent.link == parent) {
                let wrong = || ModelError::Joint(joint.name.clone());
                let motion = motion(joint)?;
                let kind = match (motion, &joint.mimic) {
                    (None, _) => LinkJoint::Fixed,
                    (Some(Motion::Slide(axis)), Some(_)) if is_finger(&joint) => LinkJoint::Finger(axis),
                    (Some(motion), Some(mimic)) => LinkJoint::Follower(
                        index(&mimic.joint).ok_or_else(wrong)?,
                        motion,
                        Mapping::of(mimic),
                    ),
                    (Some(motion), None) if joint.name == mimic.joint => LinkJoint::Drive(motion),
                    (Some(motion), None) => LinkJoint::Arm(index(&joint.name).ok_or_else(wrong)?, motion),
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
        let find = |name: &str| {
            let found = links.iter().position(|link| link.name == name);
            found.ok_or_else(|| ModelError::NoLink(name.to_owned()))
        };
        Ok(Self {
            arm_base: find(&names.base)?,
            laser: find(&names.laser).ok(),
            tcp: find(&names.tool)?,
            camera: find(&names.camera)?,
            hand: find(&left.parent.link)?,
            fingers: [find(&left.child.link)?, find(&right.child.link)?],
            links,
            joints: order.into_iter().map(arm_joint).collect(),
            finger_travel: left.limit.upper,
            drive: Mapping::of(mimic),
        })
    }

    /// The arm's joints from base to tool, then those that the tool does not hang on, such as a head's.
    pub fn joints(&self) -> &[ArmJoint] {
        &self.joints
    }

    /// The links; a parent stands before its children.
    pub fn links(&self) -> &[LinkModel] {
        &self.links
    }

    /// Whether it is on a base that drives.
    pub fn is_mobile(&self) -> bool {
        self.arm_base != 0
    }

    /// Index of the arm's own base.
    pub fn arm_base(&self) -> usize {
        self.arm_base
    }

    /// Index of the scanner's link, when there is one.
    pub fn laser(&self) -> Option<usize> {
        self.laser
    }

    /// `root_from_link` of every link, for arm joints and an opening in metres; joints that are not given count as 0.
    pub fn link_poses(&self, joints: &[f64], opening: f64) -> Vec<Isometry3<f64>> {
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
    pub fn parent_from_link(&self, link: &LinkModel, joints: &[f64], opening: f64) -> Isometry3<f64> {
        let joint = |index: usize| joints.get(index).copied().unwrap_or(0.0);
        let moved = match &link.joint {
            LinkJoint::Fixed => Isometry3::identity(),
            LinkJoint::Arm(index, motion) => motion.by(joint(*index)),
            LinkJoint::Follower(index, motion, Mapping { multiplier, offset }) => {
                motion.by(multiplier * joint(*index) + offset)
            }
            LinkJoint::Drive(motion) => motion.by(self.drive_from_opening(opening)),
            LinkJoint::Finger(axis) => Translation3::from(axis.into_inner() * (opening / 2.0)).into(),
        };
        link.parent_from_joint * moved
    }

    /// `root_from_tcp`.
    pub fn tcp_pose(&self, joints: &[f64]) -> Isometry3<f64> {
        self.link_poses(joints, 0.0)[self.tcp]
    }

    /// How far the pads come apart for each radian (metre, if it slides) of the drive, metres; positive.
    pub(super) fn opening_rate(&self) -> f64 {
        2.0 * self.drive.multiplier.abs()
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

/// The link that is nobody's child.
fn root(robot: &urdf_rs::Robot) -> Result<&str, ModelError> {
    let is_child = |name: &str| robot.joints.iter().any(|joint| joint.child.link == name);
    let root = robot.links.iter().find(|link| !is_child(&link.name));
    root.map(|root| root.name.as_str()).ok_or_else(|| ModelError::Loose(robot.name.clone()))
}

/// Names of the joints from the root to `link`.
fn chain<'a>(robot: &'a urdf_rs::Robot, link: &str) -> Result<Vec<&'a str>, ModelError> {
    if !robot.links.iter().any(|known| known.name == link) {
        return Err(ModelError::NoLink(link.to_owned()));
    }
    let mut names = Vec::new();
    let mut at = link;
    while let Some(joint) = robot.joints.iter().find(|joint| joint.child.link == at) {
        names.push(joint.name.as_str());
        if names.len() > robot.joints.len() {
            return Err(ModelError::Loose(link.to_owned()));
        }
        at = &joint.parent.link;
    }
    names.reverse();
    Ok(names)
}

/// How a joint moves; `None` for a fixed one.
fn motion(joint: &urdf_rs::Joint) -> Result<Option<Motion>, ModelError> {
    let wrong = || ModelError::Joint(joint.name.clone());
    let [x, y, z] = joint.axis.xyz.0;
    let axis = || Unit::try_new(Vector3::new(x, y, z), 1e-9).ok_or_else(wrong);
    match joint.joint_type {
        JointType::Fixed => Ok(None),
        JointType::Revolute | JointType::Continuous => Ok(Some(Motion::Turn(axis()?))),
        JointType::Prismatic => Ok(Some(Motion::Slide(axis()?))),
        JointType::Floating | JointType::Planar | JointType::Spherical => Err(wrong()),
    }
}

fn arm_joint(joint: &urdf_rs::Joint) -> ArmJoint {
    let (name, limit) = (joint.name.clone(), &joint.limit);
    ArmJoint { name, lower: limit.lower, upper: limit.upper, velocity: limit.velocity }
}

fn link_model(
    robot: &urdf_rs::Robot,
    name: &str,
    parent: Option<usize>,
    joint: LinkJoint,
    parent_from_joint: Isometry3<f64>,
) -> Result<LinkModel, ModelError> {
    let link = robot.links.iter().find(|link| link.name == name);
    let link = link.ok_or_else(|| ModelError::Loose(name.to_owned()))?;
    let parts = link
        .collision
        .iter()
        .enumerate()
        .map(|(index, collision)| {
            let shape = part_shape(&collision.geometry).ok_or_else(|| ModelError::Shape(name.to_owned()))?;
            // The URDF draws what collides: visual and collision shapes stand in the same order.
            let color = link.visual.get(index).and_then(|visual| color(robot, visual));
            Ok(ConvexPart::new(shape, pose(&collision.origin), color.unwrap_or(Color([140, 140, 144]))))
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
