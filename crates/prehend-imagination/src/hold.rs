//! The fingers close on what is seen, and it is pulled: does it stay between them?
//!
//! The frame is the hand's, and the hand stands still: the fingers slide along y only, and the load is put on the thing instead.

use crate::grip::{Grip, around, middle, ways};
use crate::{End, Hand, Imagined};
use nalgebra::{Point3, Vector3};
use rapier3d::math::Pose;
use rapier3d::prelude::{
    CoefficientCombineRule, ColliderBuilder, FrictionModel, IntegrationParameters, LockedAxes, PhysicsWorld,
    RigidBodyBuilder, RigidBodyHandle, SharedShape, SpringCoefficients, Vector,
};
use std::collections::BTreeMap;

/// Edge of the cells in which what is seen is summed up, and radius of the balls that stand for them, metres: cubes would make stairs of
/// what is slanted, and stairs do not slip.
const CELL: f64 = 0.004;
const GRAIN: f64 = 0.003;
/// What is farther from the hand than this is left out, metres.
const NEAR: f64 = 0.07;
/// Ways that are played, of those in which the hand gets around the part.
const PLAYED: usize = 2;
/// Step, seconds, and steps of closing and of each pull.
const STEP: f64 = 1.0 / 240.0;
const CLOSING: usize = 30;
const PULLING: usize = 24;
/// Speed at which a finger closes on nothing, m/s.
const FINGER_SPEED: f64 = 0.10;
/// How stiffly a linkage keeps the fingers at one distance from the middle, N/m.
const LINKAGE: f64 = 2000.0;
/// Mass of a finger and of the thing, kg. Most of what a hand lifts is lighter.
const FINGER_MASS: f64 = 0.12;
const MASS: f64 = 0.5;
/// Friction of pads on what is usual in a household.
const FRICTION: f64 = 0.6;
/// Load of a pull, newtons: twice the thing's weight.
const LOAD: f64 = 10.0;
/// Farthest that what is held slips, metres.
const SLIP: f64 = 0.008;
/// Shortest distance between the pads when something is between them, metres.
const BETWEEN: f64 = 0.0015;

/// The best of the ways.
pub(crate) fn best(
    thing: &[Point3<f64>],
    part: &[Point3<f64>],
    outward: Vector3<f64>,
    support: f64,
    hand: &Hand,
) -> Option<Imagined> {
    let at = middle(part);
    let ways = ways(part, outward);
    let grips: Vec<Grip> =
        ways.iter().filter_map(|way| around(thing, part, way, support, hand)).take(PLAYED).collect();
    let mut best: Option<Imagined> = None;
    for grip in &grips {
        let (end, success) = play(thing, grip, hand);
        let at = Point3::from(grip.map_from_hand.translation.vector);
        if best.is_none_or(|best| success > best.success) {
            best = Some(Imagined { success, at, end });
        }
        if success >= 1.0 {
            break;
        }
    }
    best.or(Some(Imagined { success: 0.0, at, end: End::NoRoom }))
}

/// The thing near the hand, in the hand's frame: the middles of the points of every cell.
fn grains(thing: &[Point3<f64>], grip: &Grip) -> Vec<Vector3<f64>> {
    let mut cells: BTreeMap<[i32; 3], (Vector3<f64>, f64)> = BTreeMap::new();
    let near = thing.iter().map(|point| grip.map_from_hand.inverse_transform_point(point).coords);
    for point in near.filter(|point| point.norm() < NEAR) {
        let cell = [point.x, point.y, point.z].map(|c| (c / CELL).floor() as i32);
        let (sum, count) = cells.entry(cell).or_insert((Vector3::zeros(), 0.0));
        *sum += point;
        *count += 1.0;
    }
    cells.into_values().map(|(sum, count)| sum / count).collect()
}

struct Play {
    physics: PhysicsWorld,
    thing: RigidBodyHandle,
    fingers: [RigidBodyHandle; 2],
}

impl Play {
    fn new(grains: &[Vector3<f64>], grip: &Grip, hand: &Hand) -> Self {
        let mut physics = PhysicsWorld {
            gravity: Vector::ZERO,
            // The settings of the embedded robot, at which friction alone holds.
            integration_parameters: IntegrationParameters {
                dt: STEP as f32,
                num_solver_iterations: 4,
                num_internal_stabilization_iterations: 2,
                contact_softness: SpringCoefficients::new(50.0, 1.0),
                contact_recycling: false,
                normalized_prediction_distance: 0.005,
                contact_clustering: false,
                friction_model: FrictionModel::Coulomb,
                friction_in_bias_pass: false,
                max_ccd_substeps: 0,
                normalized_max_corrective_velocity: 1.5,
                ..IntegrationParameters::default()
            },
            ..PhysicsWorld::default()
        };
        let rubbed = |shape: SharedShape, mass: f64| {
            ColliderBuilder::new(shape)
                .mass(mass as f32)
                .friction(FRICTION as f32)
                .friction_combine_rule(CoefficientCombineRule::Min)
        };
        let ball = |at: &Vector3<f64>| {
            let at = Vector::new(at.x as f32, at.y as f32, at.z as f32);
            (Pose::from_translation(at), SharedShape::ball(GRAIN as f32))
        };
        let grains = SharedShape::compound(grains.iter().map(ball).collect());
        let body = RigidBodyBuilder::dynamic().can_sleep(false).linear_damping(0.5).angular_damping(2.0);
        let thing = physics.insert_body(body);
        physics.insert_collider(rubbed(grains, MASS), Some(thing));
        let half = [hand.pad_width / 2.0, hand.finger_thickness / 2.0, hand.finger_length / 2.0];
        let fingers = [1.0, -1.0].map(|side: f64| {
            let y = side * (grip.opening / 2.0 + half[1]);
            let all_but_y = LockedAxes::ROTATION_LOCKED
                | LockedAxes::TRANSLATION_LOCKED_X
                | LockedAxes::TRANSLATION_LOCKED_Z;
            let body = RigidBodyBuilder::dynamic()
                .translation(Vector::new(0.0, y as f32, -half[2] as f32))
                .locked_axes(all_but_y)
                .linear_damping((hand.force / (FINGER_MASS * FINGER_SPEED)) as f32)
                .can_sleep(false);
            let finger = physics.insert_body(body);
            let shape = SharedShape::cuboid(half[0] as f32, half[1] as f32, half[2] as f32);
            physics.insert_collider(rubbed(shape, FINGER_MASS), Some(finger));
            finger
        });
        Self { physics, thing, fingers }
    }

    /// Steps with the fingers closing and a load on the thing, newtons in the hand's frame.
    fn step(&mut self, steps: usize, load: Vector3<f64>, hand: &Hand) {
        for _ in 0..steps {
            if let Some(thing) = self.physics.bodies.get_mut(self.thing) {
                thing.reset_forces(true);
                thing.add_force(Vector::new(load.x as f32, load.y as f32, load.z as f32), true);
            }
            let apart = (self.place(self.fingers[0]).y + self.place(self.fingers[1]).y) / 2.0;
            for (handle, side) in self.fingers.into_iter().zip([1.0, -1.0]) {
                let Some(finger) = self.physics.bodies.get_mut(handle) else { continue };
                finger.reset_forces(true);
                // The finger that is more open pushes harder.
                let force = (hand.force + LINKAGE * apart * side).clamp(0.0, 2.0 * hand.force);
                finger.add_force(Vector::new(0.0, (-side * force) as f32, 0.0), true);
            }
            self.physics.step();
        }
    }

    fn place(&self, body: RigidBodyHandle) -> Vector3<f64> {
        let at = self.physics.bodies.get(body).map_or(Vector::ZERO, |body| body.center_of_mass());
        Vector3::new(f64::from(at.x), f64::from(at.y), f64::from(at.z))
    }

    /// Distance between the pads, metres.
    fn gap(&self, hand: &Hand) -> f64 {
        self.place(self.fingers[0]).y - self.place(self.fingers[1]).y - hand.finger_thickness
    }
}

/// Closes on the thing and pulls it down, and out of the hand; how it ended, and the share of the pulls that it was held in.
fn play(thing: &[Point3<f64>], grip: &Grip, hand: &Hand) -> (End, f64) {
    let grains = grains(thing, grip);
    if grains.is_empty() {
        return (End::Missed, 0.0);
    }
    let mut play = Play::new(&grains, grip, hand);
    play.step(CLOSING, Vector3::zeros(), hand);
    if play.gap(hand) < BETWEEN {
        return (End::Missed, 0.0);
    }
    let down = grip.map_from_hand.rotation.inverse() * -Vector3::z();
    let mut slipped: f64 = 0.0;
    let pulls = [down, Vector3::z()];
    for (before, pull) in pulls.into_iter().enumerate() {
        let from = play.place(play.thing);
        play.step(PULLING, pull * LOAD, hand);
        let slip = (play.place(play.thing) - from).norm();
        slipped = slipped.max(slip);
        if !(slip.is_finite() && slip < SLIP && play.gap(hand) >= BETWEEN) {
            return (End::Slipped(slip), before as f64 / pulls.len() as f64);
        }
    }
    (End::Held(slipped), 1.0)
}
