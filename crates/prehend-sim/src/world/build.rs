//! A placed scene and the arm as physics bodies.

use super::base::Base;
use super::contacts::{Contacts, RobotCollider};
use super::entity::Entity;
use super::gripper::Gripper;
use super::handling::Handling;
use super::mechanism::{Mechanism, keep_apart};
use super::settings::{CONTACT_SKIN, ROLLING_DAMPING, TURNING_DAMPING, collider, integration_parameters};
use super::trajectory::Controller;
use super::{ArmModel, LinkJoint, Motions, World, WorldError};
use crate::body::collider::{shapes, to_pose, to_vector};
use crate::body::{ConvexPart, Owner, PartShape, RenderItem, at};
use crate::scene::{Color, Model, PlacedObject, PlacedScene, Scene, Shape};
use nalgebra::{Isometry3, Point3, Vector3};
use rapier3d::math::Vector;
use rapier3d::prelude::{
    ActiveCollisionTypes, ColliderHandle, Group, ImpulseJointHandle, InteractionGroups, InteractionTestMode,
    MassProperties, PhysicsWorld, PrismaticJointBuilder, RigidBodyBuilder, RigidBodyHandle,
};

/// Height of the floor below the lower of `link_base` and the table's top, metres.
const FLOOR_DEPTH: f64 = 0.75;
/// Size of the box that may be put in the way, metres.
pub(super) const OBSTACLE: Vector3<f64> = Vector3::new(0.4, 0.4, 0.7);
/// Mass of a finger, kg, and its extra inertia, kg m²: light fingers shake, so they turn like heavier ones.
const FINGER_MASS: f32 = 0.12;
const FINGER_INERTIA: f32 = 1e-3;
/// Friction coefficient of the pads.
pub const PAD_FRICTION: f64 = 1.2;
/// Friction coefficient of the arm's housings.
const HOUSING_FRICTION: f64 = 0.5;
/// Longest time in which a new world comes to rest, seconds.
const SETTLE_TIME: f64 = 2.0;

pub(super) const STATIC: Group = Group::GROUP_1;
pub(super) const ROBOT: Group = Group::GROUP_2;
pub(super) const OBJECT: Group = Group::GROUP_3;

/// What is being put together.
struct Builder {
    physics: PhysicsWorld,
    owners: Vec<(ColliderHandle, Owner)>,
    items: Vec<RenderItem>,
    robot_colliders: Vec<RobotCollider>,
}

impl World {
    /// Puts the scene and the arm at its home position together and lets the objects come to rest; time is 0 then.
    ///
    /// Errors: [`WorldError`] for a home outside the joint limits, or fingers without shape.
    pub fn new(placed: &PlacedScene, model: &ArmModel, home: &[f64]) -> Result<Self, WorldError> {
        if home.len() != model.joints().len() {
            return Err(WorldError::Joints { expected: model.joints().len(), found: home.len() });
        }
        for (joint, position) in model.joints().iter().zip(home) {
            if !(joint.lower..=joint.upper).contains(position) {
                return Err(WorldError::Home { joint: joint.name.clone(), position: *position });
            }
        }
        let base = match (&placed.scene.room, model.is_mobile()) {
            (Some(room), true) => Some(Base::new(room.start, room.localisation, placed.seed)),
            (None, false) => None,
            (Some(_), false) => return Err(WorldError::NeedsBase),
            (None, true) => return Err(WorldError::NeedsRoom),
        };
        let mut builder = Builder {
            physics: PhysicsWorld {
                gravity: Vector::new(0.0, 0.0, -9.81),
                integration_parameters: integration_parameters(),
                ..PhysicsWorld::default()
            },
            owners: Vec::new(),
            items: Vec::new(),
            robot_colliders: Vec::new(),
        };
        builder.add_fixtures(placed);
        let mut poses = model.link_poses(home, model.max_opening());
        if let Some(base) = &base {
            let map_from_base = base.map_from_base();
            poses.iter_mut().for_each(|pose| *pose = map_from_base * *pose);
        }
        let link_bodies = builder.add_links(model, &poses);
        let fingers = builder.finger_bodies(model, &link_bodies).ok_or(WorldError::Finger)?;
        let hand = link_bodies[model.hand()].ok_or(WorldError::Finger)?;
        let finger_joints = builder.join_fingers(model, hand, fingers);
        let objects = builder.add_objects(placed, 1 + model.links().len());
        let obstacle = base.is_some().then(|| {
            let body = 1 + model.links().len() + objects.bodies.len();
            builder.add_obstacle(placed, body)
        });
        builder.owners.sort_by_key(|(handle, _)| handle.into_raw_parts());
        let mut world = Self {
            physics: builder.physics,
            model: model.clone(),
            scene: placed.clone(),
            link_bodies,
            fingers,
            finger_joints,
            objects: objects.bodies,
            base,
            obstacle,
            bumps: Vec::new(),
            entities: objects.entities,
            mechanisms: objects.mechanisms,
            robot_colliders: builder.robot_colliders,
            owners: builder.owners,
            items: builder.items.into(),
            controller: Controller::new(home),
            gripper: Gripper::new(model.finger_travel()),
            contacts: Contacts::default(),
            steps: 0,
            motion_ends: Vec::new(),
            grip_ends: Vec::new(),
            motions: Motions::default(),
            handling: Vec::new(),
        };
        world.settle();
        Ok(world)
    }

    /// Steps until every object rests, then starts time anew.
    fn settle(&mut self) {
        let mut resting = 0;
        while self.time() < SETTLE_TIME && resting < 24 {
            self.step();
            let still = (0..self.objects.len()).all(|body| self.body_speed(body) < 0.003);
            resting = if still { resting + 1 } else { 0 };
        }
        self.steps = 0;
        self.motions = Motions::default();
        self.contacts = Contacts::default();
        self.mechanisms.iter_mut().for_each(Mechanism::forget);
        self.handling = vec![Handling::default(); self.entities.len()];
    }
}

impl Builder {
    fn draw(&mut self, owner: Owner, body: usize, parts: &[ConvexPart], body_from_parts: &Isometry3<f64>) {
        self.items.extend(parts.iter().map(|part| RenderItem {
            owner,
            body,
            part: ConvexPart { body_from_part: body_from_parts * part.body_from_part, ..part.clone() },
        }));
    }

    /// Floor, pedestal, table and furniture: one fixed body, index 0 of a frame.
    fn add_fixtures(&mut self, placed: &PlacedScene) {
        let table = &placed.scene.table;
        let body = self.physics.insert_body(RigidBodyBuilder::fixed());
        let in_room = placed.scene.room.is_some();
        let solid = |size: Vector3<f64>, color: Color| {
            ConvexPart::new(PartShape::Box { half: size / 2.0 }, at(0.0, 0.0, 0.0), color)
        };
        let floor = table.height.min(0.0) - FLOOR_DEPTH;
        let slab = Vector3::new(table.size[0], table.size[1], table.thickness);
        let stand = 0.02 + FLOOR_DEPTH + table.height.min(0.0);
        let pedestal_color = Color([96, 98, 102]);
        let ground = vec![(
            Owner::Floor,
            solid(slab + Vector3::new(1.0, 1.0, 0.0), table.color),
            table.top() * at(0.0, 0.0, -table.thickness / 2.0),
            table.friction,
        )];
        let around_table = vec![
            (
                Owner::Floor,
                solid(Vector3::new(4.0, 4.0, 0.1), Color([150, 150, 146])),
                at(0.3, 0.0, floor - 0.05),
                0.8,
            ),
            (
                Owner::Floor,
                solid(Vector3::new(0.16, 0.16, stand), pedestal_color),
                at(0.0, 0.0, -0.001 - stand / 2.0),
                0.8,
            ),
            (
                Owner::Table,
                solid(slab, table.color),
                table.top() * at(0.0, 0.0, -table.thickness / 2.0),
                table.friction,
            ),
        ];
        let mut fixtures = if in_room { ground } else { around_table };
        for (index, item) in placed.scene.furniture.iter().enumerate() {
            fixtures.push((Owner::Furniture(index), solid(item.size, item.color), item.pose, 0.7));
        }
        for (owner, part, pose, friction) in fixtures {
            let part = [part];
            self.draw(owner, 0, &part, &pose);
            for (body_from_shape, shape) in shapes(&part) {
                let built = collider(shape, friction)
                    .position(to_pose(&pose) * body_from_shape)
                    .collision_groups(groups(STATIC, ROBOT | OBJECT));
                let handle = self.physics.insert_collider(built, Some(body));
                self.owners.push((handle, owner));
            }
        }
    }

    /// Kinematic bodies of the arm's links, dynamic ones of the fingers.
    fn add_links(&mut self, model: &ArmModel, poses: &[Isometry3<f64>]) -> Vec<Option<RigidBodyHandle>> {
        let mut bodies = Vec::new();
        for (index, link) in model.links().iter().enumerate() {
            self.draw(Owner::Robot(index), 1 + index, &link.parts, &Isometry3::identity());
            let finger = model.fingers().iter().position(|finger| *finger == index);
            if link.parts.is_empty() && index != model.hand() {
                bodies.push(None);
                continue;
            }
            let pose = to_pose(&poses[index]);
            let body = match finger {
                None => RigidBodyBuilder::kinematic_position_based().pose(pose).can_sleep(false),
                Some(_) => RigidBodyBuilder::dynamic()
                    .pose(pose)
                    .can_sleep(false)
                    .gravity_scale(0.0)
                    .additional_mass_properties(finger_mass(&link.parts)),
            };
            let body = self.physics.insert_body(body);
            // The base stands in its pedestal; everything else may touch the table.
            let fixed_base = link.parent.is_none() && !model.is_mobile();
            for (body_from_shape, shape) in shapes(&link.parts) {
                let friction = if finger.is_some() { PAD_FRICTION } else { HOUSING_FRICTION };
                let others = if fixed_base { OBJECT } else { OBJECT | STATIC };
                let built = collider(shape, friction)
                    .position(body_from_shape)
                    .density(0.0)
                    .collision_groups(groups(ROBOT, others))
                    .active_collision_types(
                        ActiveCollisionTypes::default() | ActiveCollisionTypes::KINEMATIC_FIXED,
                    );
                let handle = self.physics.insert_collider(built, Some(body));
                self.owners.push((handle, Owner::Robot(index)));
                self.robot_colliders.push(RobotCollider { collider: handle, link: index, finger });
            }
            bodies.push(Some(body));
        }
        bodies
    }

    fn finger_bodies(
        &self,
        model: &ArmModel,
        bodies: &[Option<RigidBodyHandle>],
    ) -> Option<[RigidBodyHandle; 2]> {
        let [left, right] = model.fingers();
        let shaped = [left, right].iter().all(|link| !model.links()[*link].parts.is_empty());
        shaped.then_some([bodies[left]?, bodies[right]?])
    }

    fn join_fingers(
        &mut self,
        model: &ArmModel,
        hand: RigidBodyHandle,
        fingers: [RigidBodyHandle; 2],
    ) -> [ImpulseJointHandle; 2] {
        let mut join = |finger: usize| {
            let link = &model.links()[model.fingers()[finger]];
            let axis = match link.joint {
                LinkJoint::Finger(axis) => axis.into_inner(),
                LinkJoint::Fixed | LinkJoint::Arm(..) | LinkJoint::Follower(..) | LinkJoint::Drive(_) => {
                    Vector3::y()
                }
            };
            let hand_from_finger = model.parent_from_link(link, &[], 0.0);
            let joint = PrismaticJointBuilder::new(to_vector(&axis))
                .local_anchor1(to_vector(&hand_from_finger.translation.vector))
                .local_anchor2(Vector::ZERO)
                .limits([0.0, model.finger_travel() as f32]);
            let mut joint = joint.build();
            joint.set_contacts_enabled(false);
            if hand_from_finger.rotation.angle() > 1e-6 {
                let turn = to_pose(&hand_from_finger).rotation;
                joint.data.local_frame1.rotation = turn * joint.data.local_frame1.rotation;
            }
            self.physics.insert_impulse_joint(hand, fingers[finger], joint)
        };
        [join(0), join(1)]
    }

    /// Bodies of the objects: their roots in the scene's order, then the other links of the articulated ones.
    fn add_objects(&mut self, placed: &PlacedScene, first_body: usize) -> Objects {
        let mut objects = Objects::default();
        let roots = placed.objects.iter().enumerate();
        objects.entities = roots.clone().map(|(index, object)| Entity::object(index, object)).collect();
        for (index, object) in roots.clone() {
            let spec = &object.spec;
            let owner = Owner::Object(index);
            let body = if spec.fixed { RigidBodyBuilder::fixed() } else { RigidBodyBuilder::dynamic() };
            let body = body.pose(to_pose(&object.pose));
            let made = match spec.model.as_ref().and_then(|model| model.links.first()) {
                Some(link) => {
                    let solid = Solid {
                        parts: &link.parts,
                        mass: link.mass,
                        friction: link.friction,
                        restitution: 0.0,
                    };
                    self.add_body(owner, first_body + index, body.angular_damping(TURNING_DAMPING), &solid)
                }
                None => {
                    let parts = object.parts();
                    let (mass, friction, restitution) = (spec.mass, spec.friction, spec.restitution);
                    let damping = if rolls(&spec.shape) { ROLLING_DAMPING } else { TURNING_DAMPING };
                    let solid = Solid { parts: &parts, mass, friction, restitution };
                    self.add_body(owner, first_body + index, body.angular_damping(damping), &solid)
                }
            };
            objects.bodies.push(made);
        }
        for (index, object) in roots {
            if let Some(model) = &object.spec.model {
                self.add_links_of(index, object, model, first_body, &mut objects);
            }
        }
        objects
    }

    /// The links of an articulated object but its root, and its joints.
    fn add_links_of(
        &mut self,
        index: usize,
        object: &PlacedObject,
        model: &Model,
        first_body: usize,
        objects: &mut Objects,
    ) {
        let poses = model.start_poses();
        let mut handles = vec![objects.bodies[index]];
        // Entity of every link, by the nearest link up that has a class.
        let mut entity_of = vec![index];
        for (number, link) in model.links.iter().enumerate().skip(1) {
            let body = objects.bodies.len();
            let owner = match model.classed(number) {
                Some(classed) if classed == number => {
                    objects.entities.push(Entity::link(index, object, number, body));
                    objects.entities.len() - 1
                }
                Some(classed) => entity_of[classed],
                None => index,
            };
            entity_of.push(owner);
            let builder = RigidBodyBuilder::dynamic()
                .pose(to_pose(&(object.pose * poses[number])))
                .angular_damping(TURNING_DAMPING);
            let solid =
                Solid { parts: &link.parts, mass: link.mass, friction: link.friction, restitution: 0.0 };
            let made = self.add_body(Owner::Object(owner), first_body + body, builder, &solid);
            objects.bodies.push(made);
            handles.push(made);
        }
        for (number, joint) in model.joints.iter().enumerate() {
            let bodies = (handles[joint.parent], handles[joint.child]);
            let link = &model.links[joint.child];
            let mechanism = Mechanism::insert(&mut self.physics, (index, number), joint, bodies, link);
            objects.mechanisms.push(mechanism);
        }
        // Links that are in each other where they start are meant to pass through each other.
        let boxes: Vec<Option<[Point3<f64>; 2]>> =
            model.links.iter().zip(&poses).map(|(link, pose)| bounds(&link.parts, pose)).collect();
        for (second, handle) in handles.iter().enumerate().skip(1) {
            for (first, other) in handles[..second].iter().enumerate() {
                let joined = model.joints.iter().any(|joint| joint.child == second && joint.parent == first);
                if !joined && overlap(&boxes[first], &boxes[second]) {
                    keep_apart(&mut self.physics, *other, *handle);
                }
            }
        }
    }

    /// A box that the judge may put in the way; until then it is below the floor, where nothing is.
    fn add_obstacle(&mut self, placed: &PlacedScene, body: usize) -> RigidBodyHandle {
        let owner = Owner::Furniture(placed.scene.furniture.len());
        let part = [ConvexPart::new(
            PartShape::Box { half: OBSTACLE / 2.0 },
            at(0.0, 0.0, 0.0),
            Color([196, 120, 60]),
        )];
        self.draw(owner, body, &part, &Isometry3::identity());
        let pose = to_pose(&parked(&placed.scene));
        let handle = self.physics.insert_body(RigidBodyBuilder::kinematic_position_based().pose(pose));
        for (body_from_shape, shape) in shapes(&part) {
            let built = collider(shape, 0.7)
                .position(body_from_shape)
                .collision_groups(groups(STATIC, ROBOT | OBJECT))
                .active_collision_types(ActiveCollisionTypes::all());
            let collider = self.physics.insert_collider(built, Some(handle));
            self.owners.push((collider, owner));
        }
        handle
    }

    fn add_body(
        &mut self,
        owner: Owner,
        body: usize,
        builder: RigidBodyBuilder,
        solid: &Solid<'_>,
    ) -> RigidBodyHandle {
        self.draw(owner, body, solid.parts, &Isometry3::identity());
        let felt = solid.parts.iter().filter(|part| !part.only_seen);
        let volume: f64 = felt.map(|part| part.shape.volume()).sum();
        let density = solid.mass / volume.max(1e-9);
        let handle = self.physics.insert_body(builder);
        for (body_from_shape, shape) in shapes(solid.parts) {
            let built = collider(shape, solid.friction)
                .position(body_from_shape)
                .density(density as f32)
                .restitution(solid.restitution as f32)
                .collision_groups(groups(OBJECT, STATIC | ROBOT | OBJECT));
            let collider = self.physics.insert_collider(built, Some(handle));
            self.owners.push((collider, owner));
        }
        handle
    }
}

/// Below the middle of the floor, where nobody sees it.
pub(super) fn parked(scene: &Scene) -> Isometry3<f64> {
    let [x, y] = scene.table.center;
    at(x, y, -3.0)
}

/// What a body is made of.
struct Solid<'a> {
    parts: &'a [ConvexPart],
    mass: f64,
    friction: f64,
    restitution: f64,
}

/// The objects in physics.
#[derive(Default)]
struct Objects {
    bodies: Vec<RigidBodyHandle>,
    entities: Vec<Entity>,
    mechanisms: Vec<Mechanism>,
}

/// Lowest and highest corner of the parts that are felt, in the model's frame.
fn bounds(parts: &[ConvexPart], model_from_link: &Isometry3<f64>) -> Option<[Point3<f64>; 2]> {
    let felt = parts.iter().filter(|part| !part.only_seen);
    let vertices = felt.flat_map(|part| {
        let pose = model_from_link * part.body_from_part;
        part.shape.mesh().vertices.into_iter().map(move |vertex| pose * vertex)
    });
    vertices.map(|vertex| [vertex; 2]).reduce(|a, b| [a[0].inf(&b[0]), a[1].sup(&b[1])])
}

fn overlap(first: &Option<[Point3<f64>; 2]>, second: &Option<[Point3<f64>; 2]>) -> bool {
    let (Some([low, high]), Some([other_low, other_high])) = (first, second) else { return false };
    (0..3).all(|axis| {
        low[axis] < other_high[axis] + 2.0 * CONTACT_SKIN && other_low[axis] < high[axis] + 2.0 * CONTACT_SKIN
    })
}

fn groups(member: Group, others: Group) -> InteractionGroups {
    InteractionGroups::new(member, others, InteractionTestMode::And)
}

fn finger_mass(parts: &[ConvexPart]) -> MassProperties {
    let count = parts.len().max(1) as f64;
    let middle: Vector3<f64> =
        parts.iter().map(|part| part.body_from_part.translation.vector).sum::<Vector3<f64>>() / count;
    MassProperties::new(
        to_vector(&middle),
        FINGER_MASS,
        Vector::new(FINGER_INERTIA, FINGER_INERTIA, FINGER_INERTIA),
    )
}

fn rolls(shape: &Shape) -> bool {
    match shape {
        Shape::Sphere { .. }
        | Shape::Capsule { .. }
        | Shape::Egg { .. }
        | Shape::Cylinder { .. }
        | Shape::Can { .. }
        | Shape::Bottle { .. } => true,
        Shape::Box { .. }
        | Shape::Mug { .. }
        | Shape::Bowl { .. }
        | Shape::Plate { .. }
        | Shape::Pan { .. }
        | Shape::Tray { .. } => false,
    }
}
