//! Joints of articulated objects in physics: dry friction, springs, catches, and what comes off when pulled.

use super::settings::SOLVER_ITERATIONS;
use crate::body::collider::{from_pose, to_pose};
use crate::scene::{Joint, JointKind, Link};
use nalgebra::{Isometry3, Translation3, UnitQuaternion, Vector3};
use rapier3d::prelude::{
    GenericJoint, ImpulseJointHandle, JointAxesMask, JointAxis, MotorModel, PhysicsWorld, RigidBodyHandle,
};

/// Gain of the velocity motor that stands for dry friction, N s/m: far more than any friction times any speed needs.
const FRICTION_GAIN: f32 = 2e4;
/// Share of critical damping of a spring that names no damping.
const SPRING_DAMPING: f64 = 0.4;

/// What a joint of an object is made of, as physics has it.
#[derive(Clone, Debug, PartialEq)]
pub struct JointProperties {
    /// Index of the object in the scene.
    pub object: usize,
    /// The joint in its model.
    pub spec: Joint,
    /// Position now, metres or radians.
    pub position: f64,
    /// It cannot move: it is locked, or holds until it is pulled off.
    pub rigid: bool,
    /// It came off.
    pub broken: bool,
    /// Dry friction away from catches, newtons or newton metres; 0 where a spring drives it.
    pub friction: f64,
    /// Viscous damping, N s/m or N m s/rad.
    pub damping: f64,
}

/// A joint of an object in physics.
#[derive(Clone, Debug)]
pub(super) struct Mechanism {
    /// Index of the object in the scene, and of the joint in its model.
    pub(super) object: usize,
    pub(super) joint: usize,
    spec: Joint,
    handle: Option<ImpulseJointHandle>,
    parent: RigidBodyHandle,
    child: RigidBodyHandle,
    child_mass: f64,
    /// Centre of mass of the child, in its frame.
    child_center: Vector3<f64>,
    pub(super) position: f64,
    pub(super) velocity: f64,
    /// Lowest and highest position since the start.
    pub(super) reached: [f64; 2],
    /// Friction that its motor has now.
    friction: f64,
}

impl Mechanism {
    pub(super) fn insert(
        physics: &mut PhysicsWorld,
        (object, joint): (usize, usize),
        spec: &Joint,
        (parent, child): (RigidBodyHandle, RigidBodyHandle),
        link: &Link,
    ) -> Self {
        let mut mechanism = Self {
            object,
            joint,
            spec: spec.clone(),
            handle: None,
            parent,
            child,
            child_mass: link.mass,
            child_center: center(link),
            position: spec.position,
            velocity: 0.0,
            reached: [spec.position; 2],
            friction: 0.0,
        };
        mechanism.friction = mechanism.wanted_friction();
        let built = mechanism.build();
        mechanism.handle = Some(physics.insert_impulse_joint(parent, child, built));
        mechanism
    }

    fn axis(&self) -> JointAxis {
        match self.spec.kind {
            JointKind::Prismatic => JointAxis::LinX,
            JointKind::Revolute => JointAxis::AngX,
        }
    }

    fn build(&self) -> GenericJoint {
        // Physics moves along or about x of the joint's frames.
        let turn = UnitQuaternion::rotation_between(&Vector3::x(), &self.spec.axis)
            .unwrap_or_else(|| UnitQuaternion::from_axis_angle(&Vector3::z_axis(), std::f64::consts::PI));
        // At the child's centre of mass, or as near to it as the hinge goes: a small thing on a long lever shakes.
        let along = self.spec.axis.into_inner() * self.child_center.dot(&self.spec.axis);
        let anchor = match self.spec.kind {
            JointKind::Prismatic => self.child_center,
            JointKind::Revolute => along,
        };
        let frame = Isometry3::from_parts(Translation3::from(anchor), turn);
        let is_rigid = self.is_rigid();
        let locked = match self.spec.kind {
            _ if is_rigid => JointAxesMask::LOCKED_FIXED_AXES,
            JointKind::Prismatic => JointAxesMask::LOCKED_PRISMATIC_AXES,
            JointKind::Revolute => JointAxesMask::LOCKED_REVOLUTE_AXES,
        };
        let mut joint = GenericJoint::new(locked);
        let at = if is_rigid { self.spec.position } else { 0.0 };
        joint.set_local_frame1(to_pose(&(self.spec.parent_from_child(at) * frame)));
        joint.set_local_frame2(to_pose(&frame));
        joint.set_contacts_enabled(false);
        if is_rigid {
            return joint;
        }
        let axis = self.axis();
        joint.set_limits(axis, self.spec.limits.map(|limit| limit as f32));
        joint.set_motor_model(axis, MotorModel::ForceBased);
        match self.spec.spring {
            Some(spring) => {
                let damping = self.damping() as f32;
                joint.set_motor_position(axis, spring.rest as f32, spring.stiffness as f32, damping);
            }
            None => {
                joint.set_motor_velocity(axis, 0.0, FRICTION_GAIN);
                joint.set_motor_max_force(axis, self.friction as f32);
            }
        }
        joint
    }

    /// Viscous damping; a spring that names none has some.
    fn damping(&self) -> f64 {
        match self.spec.spring {
            Some(spring) if self.spec.damping <= 0.0 => {
                SPRING_DAMPING * 2.0 * (spring.stiffness * self.child_mass).sqrt()
            }
            _ => self.spec.damping,
        }
    }

    /// What it is made of.
    pub(super) fn properties(&self) -> JointProperties {
        JointProperties {
            object: self.object,
            spec: self.spec.clone(),
            position: self.position,
            rigid: self.is_rigid(),
            broken: self.is_broken(),
            friction: if self.spec.spring.is_some() { 0.0 } else { self.spec.friction },
            damping: self.damping(),
        }
    }

    fn is_rigid(&self) -> bool {
        self.spec.locked || self.spec.breaks_at.is_some()
    }

    /// Friction at the present position and speed, newtons or newton metres.
    fn wanted_friction(&self) -> f64 {
        let caught = self.spec.latch.filter(|latch| (self.position - latch.at).abs() <= latch.range);
        let latch = caught.map_or(0.0, |latch| latch.force);
        self.spec.friction + latch + self.spec.damping * self.velocity.abs()
    }

    /// Measures the joint after a step of `step` seconds and sets its friction for the next.
    pub(super) fn observe(&mut self, physics: &mut PhysicsWorld, step: f64) {
        let pose = |handle| physics.bodies.get(handle).map(|body| from_pose(body.position()));
        let (Some(parent), Some(child)) = (pose(self.parent), pose(self.child)) else { return };
        let position = self.spec.position_of(&(parent.inverse() * child));
        self.velocity = (position - self.position) / step;
        self.position = position;
        self.reached = [self.reached[0].min(position), self.reached[1].max(position)];
        let Some(handle) = self.handle else { return };
        if let Some(limit) = self.spec.breaks_at {
            // Only a pull along the axis takes it off. Physics notes the impulse of its last part of a step, as it acts on
            // the parent.
            let impulse =
                physics.impulse_joints.get(handle).map_or(0.0, |joint| f64::from(joint.impulses[0]));
            let pull = impulse * SOLVER_ITERATIONS as f64 / step;
            if pull > limit {
                physics.impulse_joints.remove(handle, true);
                self.handle = None;
            }
            return;
        }
        let friction = self.wanted_friction();
        if self.spec.spring.is_none() && (friction - self.friction).abs() > 0.02 * (0.1 + self.friction) {
            let axis = self.axis();
            // Setting it wakes nobody: a joint that changes its friction moves already.
            if let Some(joint) = physics.impulse_joints.get_mut(handle, false) {
                joint.data.set_motor_max_force(axis, friction as f32);
                self.friction = friction;
            }
        }
    }

    /// The body it moves.
    pub(super) fn child(&self) -> RigidBodyHandle {
        self.child
    }

    /// It came off.
    pub(super) fn is_broken(&self) -> bool {
        self.handle.is_none()
    }

    /// Begins its history anew.
    pub(super) fn forget(&mut self) {
        self.reached = [self.position; 2];
    }
}

/// Centre of mass of a link, in its frame.
fn center(link: &Link) -> Vector3<f64> {
    let felt = link.parts.iter().filter(|part| !part.only_seen);
    let (mut volume, mut sum) = (0.0, Vector3::zeros());
    for part in felt {
        let share = part.shape.volume();
        volume += share;
        sum += part.body_from_part.translation.vector * share;
    }
    if volume > 0.0 { sum / volume } else { sum }
}

/// Lets two links of one object pass through each other.
pub(super) fn keep_apart(physics: &mut PhysicsWorld, first: RigidBodyHandle, second: RigidBodyHandle) {
    let mut joint = GenericJoint::new(JointAxesMask::empty());
    joint.set_contacts_enabled(false);
    physics.insert_impulse_joint(first, second, joint);
}
