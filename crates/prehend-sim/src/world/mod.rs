//! The world: physics of a placed scene, the arm in it, its controllers and its force guard.
//!
//! Arm links are moved by forward kinematics; the fingers are dynamic and hold by friction alone. Not simulated: limits
//! of joint torque and the arm's compliance. A force guard stops the arm instead.

mod base;
mod bodies;
mod build;
mod contacts;
mod effort;
mod entity;
mod gripper;
mod handling;
mod hash;
mod interfere;
mod laser;
mod mechanism;
mod model;
mod settings;
mod trajectory;
mod truth;

pub use base::{Bump, DriveError, in_space};
pub use bodies::BodyProperties;
pub use build::PAD_FRICTION;
pub use contacts::{FORCE_LIMIT, HardContact};
pub use entity::Entity;
pub use gripper::{DEFAULT_GRIP_FORCE, GripEnd, GripId};
pub use handling::{BODY, Handling};
pub use interfere::NudgeError;
pub use laser::LaserSpec;
pub use model::{
    ArmJoint, ArmModel, JointVector, LinkJoint, LinkModel, LinkNames, Mapping, ModelError, Motion,
};
pub use settings::{CONTACT_SKIN, STEP};
pub use trajectory::{JointPoint, MotionEnd, MotionId, MotionOutcome, START_TOLERANCE, TrajectoryError};
pub use truth::{BaseTruth, JointTruth, Motions, ObjectTruth, Truth};

use crate::body::collider::{from_pose, from_vector, to_pose};
use crate::body::{Frame, Owner, RenderItem};
use crate::scene::{PlacedObject, PlacedScene};
use base::Base;
use contacts::{Contacts, RobotCollider};
use gripper::Gripper;
pub use mechanism::JointProperties;
use mechanism::Mechanism;
use nalgebra::Isometry3;
use prehend_navigation::Pose2;
use prehend_navigation::follow::Velocity;
use rapier3d::prelude::{ColliderHandle, ImpulseJointHandle, PhysicsWorld, RigidBodyHandle};
use std::sync::Arc;
use trajectory::Controller;

/// Pause, seconds, below which two movements count as one in the log: none, but for rounding.
const MERGED_PAUSE: f64 = 1.5 * STEP;

/// A placed scene in physics, with the arm in it.
///
/// ```no_run
/// # fn f(urdf: &str, home: [f64; 6]) -> Result<(), Box<dyn std::error::Error>> {
/// use prehend_sim::{Scene, World, world::ArmModel};
/// let placed = Scene::load("config/scenes/tabletop.yaml".as_ref())?.instantiate(1)?;
/// let mut world = World::new(&placed, &ArmModel::from_urdf(urdf)?, &home)?;
/// world.command_gripper(0.0, 30.0);
/// while world.take_grip_ends().is_empty() { world.step(); }
/// # Ok(()) }
/// ```
pub struct World {
    physics: PhysicsWorld,
    model: ArmModel,
    scene: PlacedScene,
    /// Body of every link that has one.
    link_bodies: Vec<Option<RigidBodyHandle>>,
    fingers: [RigidBodyHandle; 2],
    finger_joints: [ImpulseJointHandle; 2],
    /// Bodies of the objects: the roots in the scene's order, then the other links.
    objects: Vec<RigidBodyHandle>,
    /// Objects in the scene's order, then links with a class of their own; [`Owner::Object`] counts them.
    entities: Vec<Entity>,
    mechanisms: Vec<Mechanism>,
    robot_colliders: Vec<RobotCollider>,
    owners: Vec<(ColliderHandle, Owner)>,
    items: Arc<[RenderItem]>,
    controller: Controller,
    gripper: Gripper,
    contacts: Contacts,
    steps: u64,
    motion_ends: Vec<MotionEnd>,
    grip_ends: Vec<GripEnd>,
    motions: Motions,
    /// By the index of the entity.
    /// The base, when it drives; the world's frame is `map` then.
    base: Option<Base>,
    /// A box that the judge may put in the way.
    obstacle: Option<RigidBodyHandle>,
    bumps: Vec<Bump>,
    handling: Vec<Handling>,
}

/// A world that cannot be made.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum WorldError {
    /// The home position is one of another arm.
    #[error("the home position has {found} joints, the arm {expected}")]
    Joints {
        /// Joints of the arm.
        expected: usize,
        /// Positions given.
        found: usize,
    },
    /// The home position is not finite or outside the joint limits.
    #[error("{joint} cannot start at {position} rad")]
    Home {
        /// Joint name.
        joint: String,
        /// Position, rad.
        position: f64,
    },
    /// The scene is a room and the robot stands still.
    #[error("the scene is a room: it needs a robot with a base that drives")]
    NeedsBase,
    /// The robot drives and the scene has no floor for it.
    #[error("the robot drives: it needs a scene with a `room`")]
    NeedsRoom,
    /// A finger of the model has no shape.
    #[error("a finger has no shape")]
    Finger,
}

impl World {
    /// Advances by [`STEP`].
    pub fn step(&mut self) {
        if self.controller.is_moving()
            && let Some(force) = self.contacts.tripped()
        {
            self.controller.stop(MotionOutcome::ForceLimit(force));
        }
        if let Some(end) = self.controller.step() {
            self.motion_ends.push(end);
        }
        self.step_base();
        self.set_link_targets();
        for finger in 0..2 {
            if let Some(joint) = self.physics.impulse_joints.get_mut(self.finger_joints[finger], true) {
                self.gripper.drive(finger, &mut joint.data);
            }
        }
        self.physics.step();
        self.steps += 1;
        for mechanism in &mut self.mechanisms {
            mechanism.observe(&mut self.physics, STEP);
        }
        let travel = self.finger_travel();
        if let Some(end) = self.gripper.observe(travel) {
            self.grip_ends.push(end);
        }
        let owners = &self.owners;
        self.contacts.measure(&self.physics, &self.robot_colliders, |handle| owner_in(owners, handle));
        let time = self.time();
        let (model, scene, entities) = (&self.model, &self.scene, &self.entities);
        self.contacts.note(time, |owner| name_in(model, scene, entities, owner));
        self.note_motions();
        if self.steps.is_multiple_of(handling::EVERY) {
            self.note_handling();
        }
    }

    /// Moves the base, unless it touches something hard.
    fn step_base(&mut self) {
        let Some(base) = &mut self.base else { return };
        if base.is_moving()
            && let Some(force) = self.contacts.tripped()
        {
            base.halt();
            if let Some((link, other)) = self.hardest_contact() {
                self.bumps.push(Bump { time: self.steps as f64 * STEP, link, other, force });
            }
        }
        if let Some(base) = &mut self.base {
            base.step();
        }
    }

    /// The link of the robot that presses hardest on something now, and on what.
    pub fn hardest_contact(&self) -> Option<(String, String)> {
        let name = |owner| name_in(&self.model, &self.scene, &self.entities, owner);
        self.contacts.hardest().map(|(link, other)| (name(Owner::Robot(link)), name(other)))
    }

    /// Poses of all links in the world's frame, the fingers as commanded.
    fn commanded_poses(&self) -> Vec<Isometry3<f64>> {
        let mut poses = self.model.link_poses(self.controller.positions(), self.gripper.opening());
        // Without a base nothing is multiplied: the last bit of a fixed arm stays what it was.
        if let Some(map_from_base) = self.base_transform() {
            poses.iter_mut().for_each(|pose| *pose = map_from_base * *pose);
        }
        poses
    }

    fn set_link_targets(&mut self) {
        let poses = self.commanded_poses();
        for (pose, body) in poses.iter().zip(&self.link_bodies) {
            if let Some(body) = body.and_then(|handle| self.physics.bodies.get_mut(handle))
                && body.is_kinematic()
            {
                let mut target = to_pose(pose);
                // Of the two quaternions of a rotation the nearer one: physics takes the way to the other for a whole turn, which flings
                // away what is held when a base turns past 180 degrees.
                if target.rotation.dot(body.position().rotation) < 0.0 {
                    target.rotation = -target.rotation;
                }
                body.set_next_kinematic_position(target);
            }
        }
    }

    /// How far each finger is from the middle, metres.
    fn finger_travel(&self) -> [f64; 2] {
        let links = self.model.fingers();
        let hand = self.physics_pose(self.link_bodies[self.model.hand()]);
        [0, 1].map(|finger| {
            let link = &self.model.links()[links[finger]];
            let LinkJoint::Finger(axis) = link.joint else {
                return 0.0;
            };
            let closed = self.model.parent_from_link(link, &[], 0.0);
            let hand_from_finger = hand.inverse() * self.physics_pose(Some(self.fingers[finger]));
            let moved = hand_from_finger.translation.vector - closed.translation.vector;
            moved.dot(&(closed.rotation * axis.into_inner()))
        })
    }

    fn physics_pose(&self, body: Option<RigidBodyHandle>) -> Isometry3<f64> {
        body.and_then(|handle| self.physics.bodies.get(handle))
            .map_or_else(Isometry3::identity, |body| from_pose(body.position()))
    }

    fn note_motions(&mut self) {
        let time = self.time();
        if self.controller.velocities().iter().any(|speed| speed.abs() > 1e-5) {
            extend(&mut self.motions.arm, time);
        }
        if self.gripper.is_moving() {
            extend(&mut self.motions.gripper, time);
        }
        if self.base.as_ref().is_some_and(Base::is_moving) {
            extend(&mut self.motions.base, time);
        }
    }

    /// Simulated time since the start, seconds.
    pub fn time(&self) -> f64 {
        self.steps as f64 * STEP
    }

    /// The arm and its kinematics.
    pub fn model(&self) -> &ArmModel {
        &self.model
    }

    /// Joint positions, rad (m for a slide).
    pub fn arm_joints(&self) -> &[f64] {
        self.controller.positions()
    }

    /// Joint velocities, rad/s.
    pub fn arm_velocities(&self) -> &[f64] {
        self.controller.velocities()
    }

    /// Whether a trajectory is running.
    pub fn is_moving(&self) -> bool {
        self.controller.is_moving()
    }

    /// Opening between the pads, metres.
    pub fn gripper_opening(&self) -> f64 {
        self.gripper.opening()
    }

    /// Position of the gripper's drive joint, rad (m if it slides).
    pub fn drive_position(&self) -> f64 {
        self.model.drive_from_opening(self.gripper.opening())
    }

    /// Force on the finger that feels more, low-passed over 30 ms, newtons.
    pub fn pad_force(&self) -> f64 {
        self.contacts.pad_force()
    }

    /// Starts a trajectory; it takes the place of one that is running. Its end comes from [`World::take_motion_ends`].
    ///
    /// Errors: [`TrajectoryError`]; what moves goes on then.
    pub fn execute(&mut self, points: &[JointPoint]) -> Result<MotionId, TrajectoryError> {
        if self.base.as_ref().is_some_and(Base::is_driving) {
            return Err(TrajectoryError::Driving);
        }
        let (id, replaced) = self.controller.start(&self.model, points)?;
        self.motion_ends.extend(replaced);
        self.contacts.ease();
        Ok(id)
    }

    /// Stops the arm along its path with bounded deceleration; it then holds still.
    pub fn stop(&mut self) {
        self.controller.stop(MotionOutcome::Stopped);
    }

    /// Moves the fingers to an opening in metres with a force in newtons (0 or less: the default).
    /// Its end comes from [`World::take_grip_ends`]. A number that is not finite counts as fully open or default force.
    pub fn command_gripper(&mut self, opening: f64, effort: f64) -> GripId {
        let opening = if opening.is_finite() { opening } else { self.model.max_opening() };
        let effort = if effort.is_finite() { effort } else { 0.0 };
        let (id, replaced) = self.gripper.command(opening, effort, self.model.finger_travel());
        self.grip_ends.extend(replaced);
        id
    }

    /// Stops the fingers where they are; fingers that grip something go on gripping. A running command ends.
    pub fn hold_gripper(&mut self) {
        self.grip_ends.extend(self.gripper.hold());
    }

    /// Motions that ended since the last call.
    pub fn take_motion_ends(&mut self) -> Vec<MotionEnd> {
        std::mem::take(&mut self.motion_ends)
    }

    /// Gripper commands that ended since the last call.
    pub fn take_grip_ends(&mut self) -> Vec<GripEnd> {
        std::mem::take(&mut self.grip_ends)
    }

    /// Everything that can be seen; it never changes, so meshes can be made once.
    pub fn render_items(&self) -> Arc<[RenderItem]> {
        Arc::clone(&self.items)
    }

    /// Where everything is now, for a picture.
    pub fn frame(&self) -> Frame {
        let mut poses = vec![Isometry3::identity()];
        let links = self.link_poses();
        let camera = links[self.model.camera()];
        poses.extend(links);
        poses.extend(self.objects.iter().map(|handle| self.physics_pose(Some(*handle))));
        poses.extend(self.obstacle.map(|handle| self.physics_pose(Some(handle))));
        Frame { time: self.time(), base_from_body: poses, base_from_camera: camera }
    }

    /// `base_from_link` of every link (in a room: `map_from_link`); the fingers as physics has them.
    pub fn link_poses(&self) -> Vec<Isometry3<f64>> {
        let mut poses = self.commanded_poses();
        for (finger, link) in self.model.fingers().into_iter().enumerate() {
            poses[link] = self.physics_pose(Some(self.fingers[finger]));
        }
        poses
    }

    /// The objects as they were placed, in the scene's order.
    pub fn objects(&self) -> &[PlacedObject] {
        &self.scene.objects
    }

    /// The scene.
    pub fn scene(&self) -> &PlacedScene {
        &self.scene
    }

    /// Objects in the scene's order, then links with a class of their own.
    pub fn entities(&self) -> &[Entity] {
        &self.entities
    }

    /// `base_from_shape` of an entity: where the centre of its shape is.
    fn entity_pose(&self, entity: &Entity) -> Isometry3<f64> {
        self.physics_pose(self.objects.get(entity.body).copied()) * entity.body_from_shape
    }

    /// Position of a joint of an articulated object now, metres or radians; `None` when there is no such joint.
    pub fn joint_position(&self, object: &str, joint: &str) -> Option<f64> {
        let index = self.scene.objects.iter().position(|placed| placed.spec.name == object)?;
        let model = self.scene.objects[index].spec.model.as_ref()?;
        let joint = model.joints.iter().position(|known| known.name == joint)?;
        let found = self.mechanisms.iter().find(|known| known.object == index && known.joint == joint);
        found.map(|mechanism| mechanism.position)
    }

    /// `base_from_object` of every object, in the scene's order.
    pub fn object_poses(&self) -> Vec<Isometry3<f64>> {
        self.objects[..self.scene.objects.len()]
            .iter()
            .map(|handle| self.physics_pose(Some(*handle)))
            .collect()
    }

    /// What the robot did so far.
    pub fn motions(&self) -> Motions {
        Motions {
            max_pad_force: self.contacts.largest_pad(),
            hard_contacts: self.contacts.log().to_vec(),
            bumps: self.bumps.clone(),
            handling: self
                .entities
                .iter()
                .map(|entity| entity.name.clone())
                .zip(self.handling.clone())
                .collect(),
            ..self.motions.clone()
        }
    }

    /// Whether both fingers press on the object of this index.
    pub fn is_held(&self, object: usize) -> bool {
        self.contacts.held(Owner::Object(object))
    }

    fn body_speed(&self, body: usize) -> f64 {
        let body = self.objects.get(body).and_then(|handle| self.physics.bodies.get(*handle));
        body.map_or(0.0, |body| from_vector(body.linvel()).norm())
    }

    /// Drives like this for a quarter of a second, unless another command comes; zero brakes.
    ///
    /// Errors: [`DriveError`].
    pub fn drive(&mut self, velocity: Velocity) -> Result<(), DriveError> {
        if !(velocity.linear.is_finite() && velocity.angular.is_finite()) {
            return Err(DriveError::NotFinite);
        }
        let wants = velocity.linear != 0.0 || velocity.angular != 0.0;
        let arm_moves = self.controller.is_moving();
        let base = self.base.as_mut().ok_or(DriveError::NoBase)?;
        if wants && arm_moves {
            return Err(DriveError::ArmMoves);
        }
        if wants && !base.is_driving() {
            self.contacts.ease();
        }
        base.command(velocity);
        Ok(())
    }

    /// Whether the base moves or is about to.
    pub fn is_driving(&self) -> bool {
        self.base.as_ref().is_some_and(Base::is_driving)
    }

    /// `map_from_base`, truly; `None` for an arm without a base that drives. For the judge.
    pub fn base_pose(&self) -> Option<Pose2> {
        self.base.as_ref().map(|base| *base.pose())
    }

    /// `map_from_base` in space, truly; `None` for an arm without a base that drives.
    pub fn base_transform(&self) -> Option<Isometry3<f64>> {
        self.base.as_ref().map(Base::map_from_base)
    }

    /// `map_from_base` as the localisation believes.
    pub fn believed_pose(&self) -> Option<Pose2> {
        self.base.as_ref().map(Base::believed)
    }

    /// `odom_from_base` as the wheels have counted, and the velocity.
    pub fn odometry(&self) -> Option<(Pose2, Velocity)> {
        self.base.as_ref().map(|base| (*base.odometry(), *base.velocity()))
    }

    /// Every time the base was stopped because it touched something hard.
    pub fn bumps(&self) -> &[Bump] {
        &self.bumps
    }

    fn table_height(&self) -> f64 {
        self.scene.scene.table.height
    }

    /// What an entity touches, without repetition.
    fn touched_by(&self, entity: usize) -> Vec<Owner> {
        let mut found = Vec::new();
        let own = self.owners.iter().filter(|(_, owner)| *owner == Owner::Object(entity));
        for (collider, _) in own {
            for pair in self.physics.narrow_phase.contact_pairs_with(*collider) {
                let other = if pair.collider1 == *collider { pair.collider2 } else { pair.collider1 };
                if let Some(owner) = owner_in(&self.owners, other)
                    && pair.has_any_active_contact()
                    && owner != Owner::Object(entity)
                    && !found.contains(&owner)
                {
                    found.push(owner);
                }
            }
        }
        found.sort_unstable();
        found
    }

    fn name_of(&self, owner: Owner) -> String {
        name_in(&self.model, &self.scene, &self.entities, owner)
    }
}

fn extend(intervals: &mut Vec<[f64; 2]>, time: f64) {
    match intervals.last_mut() {
        Some(last) if time - last[1] <= MERGED_PAUSE => last[1] = time,
        _ => intervals.push([time - STEP, time]),
    }
}

/// `owners` is sorted by handle.
fn owner_in(owners: &[(ColliderHandle, Owner)], handle: ColliderHandle) -> Option<Owner> {
    let key = handle.into_raw_parts();
    let index = owners.binary_search_by_key(&key, |(known, _)| known.into_raw_parts()).ok()?;
    owners.get(index).map(|(_, owner)| *owner)
}

fn name_in(model: &ArmModel, scene: &PlacedScene, entities: &[Entity], owner: Owner) -> String {
    let name = match owner {
        Owner::Floor => Some("floor"),
        Owner::Table => Some("table"),
        Owner::Furniture(index) => {
            Some(scene.scene.furniture.get(index).map_or("obstacle", |item| item.name.as_str()))
        }
        Owner::Robot(index) => model.links().get(index).map(|link| link.name.as_str()),
        Owner::Object(index) => entities.get(index).map(|entity| entity.name.as_str()),
    };
    name.unwrap_or("unknown").to_owned()
}
