//! The robot as its URDF describes it: a tree of links, one moving chain, one gripper value.

use crate::{JointError, ModelError, Shape};
use nalgebra::{Isometry3, Matrix3, Point3, Translation3, Unit, UnitQuaternion, Vector3};
use std::collections::HashMap;

/// Which part of a URDF is planned for.
#[derive(Clone, Debug, PartialEq)]
pub struct RobotGroup {
    /// Name of the planning group, e.g. `xarm6`.
    pub name: String,
    /// First link of the chain; the model's base frame.
    pub base: String,
    /// Last link of the chain; the frame that goals are given for.
    pub tip: String,
    /// The joint that drives the fingers, when there is one.
    pub drive: Option<String>,
    /// Joints that move with the group although the tip does not hang on them, such as those of a head. Names of joints on the chain
    /// may stand here too and add nothing.
    pub more: Vec<String>,
}

impl RobotGroup {
    /// The xArm6 with its gripper, by the names of `urdf/xarm6.urdf`, which are the vendor's.
    pub fn xarm6() -> Self {
        Self {
            name: "xarm6".to_owned(),
            base: "link_base".to_owned(),
            tip: "link_tcp".to_owned(),
            drive: Some("drive_joint".to_owned()),
            more: Vec::new(),
        }
    }
}

/// Range and greatest speed of one joint, from the URDF.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct JointLimits {
    /// Lowest position, rad (m for a prismatic joint); minus infinity for a continuous joint.
    pub lower: f64,
    /// Highest position.
    pub upper: f64,
    /// Greatest speed, rad/s or m/s, positive.
    pub velocity: f64,
}

impl JointLimits {
    /// Whether `value` lies in the range, with a tolerance of a microradian for rounding on the wire.
    pub fn contains(&self, value: f64) -> bool {
        value >= self.lower - 1e-6 && value <= self.upper + 1e-6
    }
}

/// One collision shape of a link.
#[derive(Clone, Debug, PartialEq)]
pub struct LinkShape {
    /// Pose of the shape in its link.
    pub link_from_shape: Isometry3<f64>,
    /// The solid.
    pub shape: Shape,
}

/// Mass of a link.
#[derive(Clone, Debug, PartialEq)]
pub struct Inertial {
    /// Mass, kg; 0 for a frame without a body.
    pub mass: f64,
    /// Centre of mass in the link.
    pub centre: Point3<f64>,
    /// Inertia about the centre of mass in the link's axes, kg m².
    pub inertia: Matrix3<f64>,
}

/// How a link moves against its parent.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum JointMotion {
    Fixed,
    /// Joint `index` of the group.
    Arm {
        index: usize,
        axis: Unit<Vector3<f64>>,
        prismatic: bool,
    },
    /// Follows joint `index` of the group: `value = multiplier * joint + offset`.
    Follow {
        index: usize,
        axis: Unit<Vector3<f64>>,
        prismatic: bool,
        multiplier: f64,
        offset: f64,
    },
    /// Follows the drive value: `value = multiplier * drive + offset`.
    Drive {
        axis: Unit<Vector3<f64>>,
        prismatic: bool,
        multiplier: f64,
        offset: f64,
    },
}

/// One link of the tree.
#[derive(Clone, Debug, PartialEq)]
pub struct Link {
    /// Name in the URDF.
    pub name: String,
    /// Index of the parent link, always smaller than the link's own; none for the base.
    pub parent: Option<usize>,
    /// Name of the joint to the parent; none for the base.
    pub joint: Option<String>,
    /// Pose of the joint to the parent, at joint value 0.
    pub parent_from_joint: Isometry3<f64>,
    /// Collision shapes; may be empty.
    pub shapes: Vec<LinkShape>,
    /// Mass.
    pub inertial: Inertial,
    pub(crate) motion: JointMotion,
}

/// The robot: links parents first, one chain of moving joints, one drive value for the gripper.
///
/// Frames: the base link of the group. Joint vectors are in the order of [`RobotModel::joint_names`], rad (m for prismatic joints):
/// those of the chain from base to tip, then those of [`RobotGroup::more`]. Movable joints that are in neither and follow neither one of
/// them nor the drive stay at 0. Links that carry the base rigidly hang on it.
#[derive(Clone, Debug, PartialEq)]
pub struct RobotModel {
    group: RobotGroup,
    links: Vec<Link>,
    index_of_link: HashMap<String, usize>,
    joint_names: Vec<String>,
    limits: Vec<JointLimits>,
    drive_limits: Option<JointLimits>,
    tip: usize,
    /// Index of the link that each joint moves, by joint.
    pub(crate) chain: Vec<usize>,
    /// Number of joints between base and tip; they are the first ones.
    pub(crate) reaching: usize,
    /// Indices of all links from below the base to the tip.
    pub(crate) path: Vec<usize>,
    /// For each joint: no point of the robot moves more than this, m, for a radian of the joint (1 for a prismatic joint).
    pub(crate) joint_reach: Vec<f64>,
}

impl RobotModel {
    /// Reads a URDF text and picks out `group`.
    ///
    /// Errors: every [`ModelError`], as its variants say.
    pub fn from_urdf(text: &str, group: RobotGroup) -> Result<Self, ModelError> {
        let robot = urdf_rs::read_from_string(text)
            .map_err(|error| ModelError::Parse { message: error.to_string() })?;
        build(&robot, group)
    }

    /// The group this model was made for.
    pub fn group(&self) -> &RobotGroup {
        &self.group
    }

    /// Number of joints in the group.
    pub fn dof(&self) -> usize {
        self.joint_names.len()
    }

    /// Names of the joints: base to tip, then those that the tip does not hang on.
    pub fn joint_names(&self) -> &[String] {
        &self.joint_names
    }

    /// Limits of the joints, in the order of their names.
    pub fn limits(&self) -> &[JointLimits] {
        &self.limits
    }

    /// Limits of the drive joint of the gripper, when the group has one.
    pub fn drive_limits(&self) -> Option<JointLimits> {
        self.drive_limits
    }

    /// All links, parents first.
    pub fn links(&self) -> &[Link] {
        &self.links
    }

    /// Index of the link called `name`.
    pub fn link_index(&self, name: &str) -> Option<usize> {
        self.index_of_link.get(name).copied()
    }

    /// Index of the tip link.
    pub fn tip_index(&self) -> usize {
        self.tip
    }

    /// The joint nearest to the tip that moves this link; none for links rigid to the base.
    pub fn last_joint(&self, link: usize) -> Option<usize> {
        let mut at = Some(link);
        while let Some(link) = at.and_then(|index| self.links.get(index)) {
            if let JointMotion::Arm { index, .. } | JointMotion::Follow { index, .. } = link.motion {
                return Some(index);
            }
            at = link.parent;
        }
        None
    }

    /// Whether two links touch by design: rigid to each other, or with one joint of the group between them.
    pub(crate) fn are_neighbours(&self, a: usize, b: usize) -> bool {
        let (a, b) = (self.last_joint(a), self.last_joint(b));
        let before = |joint: Option<usize>| {
            let moved = joint.and_then(|joint| self.links.get(*self.chain.get(joint)?));
            moved.map(|link| link.parent.and_then(|parent| self.last_joint(parent)))
        };
        a == b || before(a) == Some(b) || before(b) == Some(a)
    }

    /// Whether the link moves with any joint of the group.
    pub fn moves(&self, link: usize) -> bool {
        self.last_joint(link).is_some()
    }

    /// Whether the link moves with the tip's last joint: the hand, its fingers, what is mounted on it.
    pub fn is_on_hand(&self, link: usize) -> bool {
        self.last_joint(link).is_some_and(|joint| joint + 1 == self.reaching)
    }

    /// Whether a joint slides (metres) or turns (radians); a joint that is not there does neither.
    pub fn slides(&self, joint: usize) -> bool {
        let link = self.chain.get(joint).and_then(|link| self.links.get(*link));
        link.is_some_and(|link| matches!(link.motion, JointMotion::Arm { prismatic: true, .. }))
    }

    /// Checks length, finiteness and limits of a joint vector.
    ///
    /// Errors: [`JointError`].
    pub fn check_joints(&self, joints: &[f64]) -> Result<(), JointError> {
        self.check_numbers(joints)?;
        for (joint, (value, limits)) in joints.iter().zip(&self.limits).enumerate() {
            if !limits.contains(*value) {
                let JointLimits { lower, upper, .. } = *limits;
                return Err(JointError::OutOfLimits { joint, value: *value, lower, upper });
            }
        }
        Ok(())
    }

    /// Checks length and finiteness only.
    pub(crate) fn check_numbers(&self, joints: &[f64]) -> Result<(), JointError> {
        if joints.len() != self.dof() {
            return Err(JointError::Count { expected: self.dof(), found: joints.len() });
        }
        match joints.iter().position(|value| !value.is_finite()) {
            Some(joint) => Err(JointError::NotFinite { joint }),
            None => Ok(()),
        }
    }
}

fn build(robot: &urdf_rs::Robot, group: RobotGroup) -> Result<RobotModel, ModelError> {
    let joint_to: HashMap<&str, &urdf_rs::Joint> =
        robot.joints.iter().map(|joint| (joint.child.link.as_str(), joint)).collect();
    for name in [&group.base, &group.tip] {
        if !robot.links.iter().any(|link| link.name == *name) {
            return Err(ModelError::UnknownLink { link: name.clone() });
        }
    }
    let drive = match &group.drive {
        None => None,
        Some(name) => Some(
            robot
                .joints
                .iter()
                .find(|joint| joint.name == *name)
                .ok_or_else(|| ModelError::UnknownJoint { joint: name.clone() })?,
        ),
    };

    let mut chain_names = Vec::new();
    let mut at = group.tip.as_str();
    while at != group.base {
        let joint = joint_to.get(at).ok_or_else(|| ModelError::Disconnected { link: group.tip.clone() })?;
        chain_names.push(joint.name.as_str());
        if chain_names.len() > robot.joints.len() {
            return Err(ModelError::Disconnected { link: group.tip.clone() });
        }
        at = joint.parent.link.as_str();
    }
    chain_names.reverse();

    let mut model = RobotModel {
        links: Vec::new(),
        index_of_link: HashMap::new(),
        joint_names: Vec::new(),
        limits: Vec::new(),
        drive_limits: drive.map(joint_limits).transpose()?,
        tip: 0,
        chain: Vec::new(),
        reaching: 0,
        path: Vec::new(),
        joint_reach: Vec::new(),
        group,
    };
    let more: Vec<String> =
        model.group.more.iter().filter(|name| !chain_names.contains(&name.as_str())).cloned().collect();
    for name in chain_names.iter().copied().chain(more.iter().map(String::as_str)) {
        let joint = robot.joints.iter().find(|joint| joint.name == name);
        let Some(joint) = joint else { return Err(ModelError::UnknownJoint { joint: name.to_owned() }) };
        match joint.joint_type {
            urdf_rs::JointType::Fixed => continue,
            urdf_rs::JointType::Revolute | urdf_rs::JointType::Continuous | urdf_rs::JointType::Prismatic
                if joint.mimic.is_none() =>
            {
                model.joint_names.push(joint.name.clone());
                model.limits.push(joint_limits(joint)?);
            }
            ref kind => {
                return Err(ModelError::JointKind {
                    joint: joint.name.clone(),
                    found: format!("{kind:?}, mimic: {}", joint.mimic.is_some()).to_lowercase(),
                });
            }
        }
    }
    model.reaching = model.joint_names.iter().filter(|name| chain_names.contains(&name.as_str())).count();
    if model.reaching == 0 {
        let RobotGroup { base, tip, .. } = model.group;
        return Err(ModelError::EmptyChain { base, tip });
    }
    model.chain = vec![0; model.joint_names.len()];

    add_links(robot, &mut model)?;
    model.tip = model
        .link_index(&model.group.tip)
        .ok_or_else(|| ModelError::Disconnected { link: model.group.tip.clone() })?;
    let mut at = model.tip;
    while let Some(parent) = model.links[at].parent {
        model.path.push(at);
        at = parent;
    }
    model.path.reverse();
    model.joint_reach = joint_reach(&model);
    Ok(model)
}

/// Allowance for what the hand may hold beyond its own shapes, m.
const HELD_ALLOWANCE: f64 = 0.05;

fn joint_reach(model: &RobotModel) -> Vec<f64> {
    let mut poses = Vec::new();
    model.link_poses_into(&vec![0.0; model.dof()], 0.0, &mut poses);
    let mut reach = vec![0.0; model.dof()];
    // By joint: radius of a ball around its origin that holds everything beyond it, wherever the joints beyond it stand.
    let mut balls = vec![0.0; model.dof()];
    let mut outermost_first: Vec<usize> = (0..model.dof()).collect();
    outermost_first.sort_by_key(|joint| std::cmp::Reverse(model.chain[*joint]));
    for joint in outermost_first {
        let moved = model.chain[joint];
        let (axis, prismatic) = match &model.links[moved].motion {
            JointMotion::Arm { axis, prismatic, .. } => (axis.into_inner(), *prismatic),
            JointMotion::Fixed | JointMotion::Follow { .. } | JointMotion::Drive { .. } => continue,
        };
        let joint_from_base = poses[moved].inverse();
        // A slide beyond this joint carries what is beyond it so much farther.
        let slack = |joint: usize| match &model.links[model.chain[joint]].motion {
            JointMotion::Arm { prismatic: true, .. } => {
                let JointLimits { lower, upper, .. } = model.limits[joint];
                lower.abs().max(upper.abs())
            }
            _ => 0.0,
        };
        let mut ball: f64 = 0.0;
        let mut around: f64 = 0.0;
        let mut take = |origin: Vector3<f64>, radius: f64| {
            ball = ball.max(origin.norm() + radius);
            around = around.max(origin.cross(&axis).norm() + radius);
        };
        for (index, link) in model.links.iter().enumerate() {
            if model.last_joint(index) == Some(joint) {
                // What follows this joint elsewhere moves as far as this joint at most.
                for one in &link.shapes {
                    let pose = joint_from_base * poses[index] * one.link_from_shape;
                    take(pose.translation.vector, one.shape.bounding_radius());
                }
            }
        }
        for (next, moved) in model.chain.iter().enumerate() {
            let before = model.links[*moved].parent.and_then(|parent| model.last_joint(parent));
            if before == Some(joint) {
                take((joint_from_base * poses[*moved]).translation.vector, balls[next] + slack(next));
            }
        }
        if joint + 1 == model.reaching {
            take((joint_from_base * poses[model.tip]).translation.vector, HELD_ALLOWANCE);
        }
        reach[joint] = if prismatic { 1.0 } else { around };
        balls[joint] = ball;
    }
    reach
}

/// Adds the links below the base, parents first.
fn add_links(robot: &urdf_rs::Robot, model: &mut RobotModel) -> Result<(), ModelError> {
    let find = |name: &str| robot.links.iter().find(|link| link.name == name);
    let mut open = vec![(model.group.base.clone(), None, None, Isometry3::identity(), JointMotion::Fixed)];
    let mut next = 0;
    while let Some((name, parent, joint, parent_from_joint, motion)) = open.get(next).cloned() {
        next += 1;
        let urdf = find(&name).ok_or_else(|| ModelError::UnknownLink { link: name.clone() })?;
        let index = model.links.len();
        if model.index_of_link.insert(name.clone(), index).is_some() {
            return Err(ModelError::Disconnected { link: name });
        }
        if let JointMotion::Arm { index: joint, .. } = motion {
            model.chain[joint] = index;
        }
        model.links.push(Link {
            shapes: urdf.collision.iter().map(|one| link_shape(&name, one)).collect::<Result<_, _>>()?,
            inertial: inertial(&name, &urdf.inertial)?,
            name: name.clone(),
            parent,
            joint,
            parent_from_joint,
            motion,
        });
        for joint in robot.joints.iter().filter(|joint| joint.parent.link == name) {
            let motion = joint_motion(joint, model)?;
            let origin = pose(&joint.name, &joint.origin)?;
            open.push((joint.child.link.clone(), Some(index), Some(joint.name.clone()), origin, motion));
        }
    }
    add_carriers(robot, model)
}

/// Adds the links that carry the base and do not move against it, such as the chassis below an arm: it must not hit them.
fn add_carriers(robot: &urdf_rs::Robot, model: &mut RobotModel) -> Result<(), ModelError> {
    let mut at = model.group.base.clone();
    let mut base_from_link = Isometry3::identity();
    loop {
        let carries =
            |joint: &&urdf_rs::Joint| joint.child.link == at && joint.joint_type == urdf_rs::JointType::Fixed;
        let Some(joint) = robot.joints.iter().find(carries) else { return Ok(()) };
        let name = joint.parent.link.clone();
        let urdf = robot.links.iter().find(|link| link.name == name);
        let urdf = urdf.ok_or_else(|| ModelError::UnknownLink { link: name.clone() })?;
        base_from_link *= pose(&joint.name, &joint.origin)?.inverse();
        if model.index_of_link.insert(name.clone(), model.links.len()).is_some() {
            return Err(ModelError::Disconnected { link: name });
        }
        model.links.push(Link {
            shapes: urdf.collision.iter().map(|one| link_shape(&name, one)).collect::<Result<_, _>>()?,
            inertial: inertial(&name, &urdf.inertial)?,
            name: name.clone(),
            parent: Some(0),
            joint: Some(joint.name.clone()),
            parent_from_joint: base_from_link,
            motion: JointMotion::Fixed,
        });
        at = name;
    }
}

fn joint_motion(joint: &urdf_rs::Joint, model: &RobotModel) -> Result<JointMotion, ModelError> {
    let prismatic = joint.joint_type == urdf_rs::JointType::Prismatic;
    let position = |wanted: &String| model.joint_names.iter().position(|name| name == wanted);
    let arm = position(&joint.name);
    let follows = joint.mimic.as_ref().and_then(|mimic| {
        Some((position(&mimic.joint)?, mimic.multiplier.unwrap_or(1.0), mimic.offset.unwrap_or(0.0)))
    });
    let drive = model.group.drive.as_deref().and_then(|drive| match &joint.mimic {
        Some(mimic) if mimic.joint == drive => {
            Some((mimic.multiplier.unwrap_or(1.0), mimic.offset.unwrap_or(0.0)))
        }
        None if joint.name == drive => Some((1.0, 0.0)),
        _ => None,
    });
    let axis = || {
        let [x, y, z] = joint.axis.xyz.0;
        Unit::try_new(Vector3::new(x, y, z), 1e-9)
            .filter(|axis| axis.iter().all(|value| value.is_finite()))
            .ok_or(ModelError::BadNumber { name: joint.name.clone(), what: "axis" })
    };
    Ok(match (arm, follows, drive) {
        (Some(index), _, _) => JointMotion::Arm { index, axis: axis()?, prismatic },
        (None, Some((index, multiplier, offset)), _) => {
            JointMotion::Follow { index, axis: axis()?, prismatic, multiplier, offset }
        }
        (None, None, Some((multiplier, offset))) => {
            JointMotion::Drive { axis: axis()?, prismatic, multiplier, offset }
        }
        (None, None, None) => JointMotion::Fixed,
    })
}

fn joint_limits(joint: &urdf_rs::Joint) -> Result<JointLimits, ModelError> {
    let continuous = joint.joint_type == urdf_rs::JointType::Continuous;
    let limits = JointLimits {
        lower: if continuous { f64::NEG_INFINITY } else { joint.limit.lower },
        upper: if continuous { f64::INFINITY } else { joint.limit.upper },
        velocity: joint.limit.velocity,
    };
    let usable = limits.lower <= limits.upper && limits.velocity.is_finite() && limits.velocity > 0.0;
    if usable { Ok(limits) } else { Err(ModelError::BadNumber { name: joint.name.clone(), what: "limit" }) }
}

fn pose(name: &str, pose: &urdf_rs::Pose) -> Result<Isometry3<f64>, ModelError> {
    let (xyz, rpy) = (pose.xyz.0, pose.rpy.0);
    if xyz.iter().chain(&rpy).any(|value| !value.is_finite()) {
        return Err(ModelError::BadNumber { name: name.to_owned(), what: "origin" });
    }
    Ok(Isometry3::from_parts(
        Translation3::new(xyz[0], xyz[1], xyz[2]),
        UnitQuaternion::from_euler_angles(rpy[0], rpy[1], rpy[2]),
    ))
}

fn link_shape(link: &str, collision: &urdf_rs::Collision) -> Result<LinkShape, ModelError> {
    let bad = || ModelError::BadNumber { name: link.to_owned(), what: "collision shape" };
    let shape = match &collision.geometry {
        urdf_rs::Geometry::Box { size } => {
            Shape::Box { half: Vector3::new(size.0[0], size.0[1], size.0[2]) / 2.0 }
        }
        urdf_rs::Geometry::Cylinder { radius, length } => {
            Shape::Cylinder { radius: *radius, half_length: length / 2.0 }
        }
        urdf_rs::Geometry::Sphere { radius } => Shape::Sphere { radius: *radius },
        urdf_rs::Geometry::Capsule { .. } | urdf_rs::Geometry::Mesh { .. } => return Err(bad()),
    };
    if !shape.is_valid() {
        return Err(bad());
    }
    Ok(LinkShape { link_from_shape: pose(link, &collision.origin)?, shape })
}

fn inertial(link: &str, inertial: &urdf_rs::Inertial) -> Result<Inertial, ModelError> {
    let i = &inertial.inertia;
    let inertia = Matrix3::new(i.ixx, i.ixy, i.ixz, i.ixy, i.iyy, i.iyz, i.ixz, i.iyz, i.izz);
    let mass = inertial.mass.value;
    if !(mass.is_finite() && mass >= 0.0 && inertia.iter().all(|value| value.is_finite())) {
        return Err(ModelError::BadNumber { name: link.to_owned(), what: "inertial" });
    }
    let origin = pose(link, &inertial.origin)?;
    let rotation = origin.rotation.to_rotation_matrix();
    Ok(Inertial {
        mass,
        centre: Point3::from(origin.translation.vector),
        inertia: rotation * inertia * rotation.transpose(),
    })
}
