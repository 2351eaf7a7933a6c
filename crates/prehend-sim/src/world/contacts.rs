//! What the robot touches, how hard, and the force guard.

use super::settings::{SOLVER_ITERATIONS, STEP};
use crate::body::Owner;
use crate::body::collider::from_vector;
use nalgebra::Vector3;
use rapier3d::prelude::{
    ColliderHandle, ContactData, ContactManifold, ContactPair, PhysicsWorld, TrackedContact,
};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Time constant of the low-pass filter of forces, seconds.
const FILTER_TIME: f64 = 0.030;
/// Force at which the guard stops the arm, newtons.
pub const FORCE_LIMIT: f64 = 80.0;
/// Force at the start of a motion from which the guard lets the arm leave what it presses on, newtons: where it stands it may come to
/// press harder than the filter tells yet, and on the way along a face friction is added.
const EASED_FROM: f64 = 0.6 * FORCE_LIMIT;
/// Steps after such a start in which the guard learns how hard the arm presses: 0.25 s, eight times the filter's. From rest it gets a
/// few millimetres far in them.
const EASED_STEPS: usize = 60;
/// By how much harder it may press on its way out.
const EASED_RISE: f64 = 1.3;
/// Force above which a contact of the robot is logged, newtons.
const LOGGED: f64 = 70.0;
/// Stiffness by which the depth of a link in a fixed thing counts as force: physics has none between two immovable
/// things, so this is an estimate, N/m.
const FIXED_STIFFNESS: f64 = 4.0e4;

/// A contact of the robot above the logged force.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct HardContact {
    /// Link of the robot.
    pub link: String,
    /// What it touched.
    pub other: String,
    /// Start, seconds of simulated time.
    pub start: f64,
    /// End so far, seconds.
    pub end: f64,
    /// Largest low-passed force, newtons.
    pub force: f64,
}

/// One collider of the robot.
#[derive(Clone, Debug)]
pub(super) struct RobotCollider {
    pub(super) collider: ColliderHandle,
    pub(super) link: usize,
    /// 0 or 1 for the fingers.
    pub(super) finger: Option<usize>,
}

/// A force with its moment about the origin of `link_base`, newtons and newton metres.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Wrench {
    pub(super) force: Vector3<f64>,
    pub(super) moment: Vector3<f64>,
}

impl Wrench {
    fn add(&mut self, force: Vector3<f64>, at: &Vector3<f64>) {
        self.force += force;
        self.moment += at.cross(&force);
    }
}

#[derive(Clone, Debug, Default)]
pub(super) struct Contacts {
    /// Low-passed wrenches of contacts on each link, friction included.
    wrenches: BTreeMap<usize, Wrench>,
    /// Low-passed force vectors by link and the other's owner.
    filtered: BTreeMap<(usize, Owner), Vector3<f64>>,
    /// Low-passed force vectors of the fingers.
    fingers: [Vector3<f64>; 2],
    log: Vec<HardContact>,
    open: BTreeMap<(usize, Owner), usize>,
    touched: [Vec<Owner>; 2],
    largest_pad: f64,
    /// While the guard lets the arm leave a contact.
    eased: Option<Eased>,
}

/// A motion that started in a hard contact.
#[derive(Clone, Copy, Debug)]
struct Eased {
    /// Force at which it must stop, newtons.
    limit: f64,
    /// Steps until the limit is set.
    steps: usize,
}

/// Adds what a pair's contacts, friction included, do to the collider on the side of `sign`: -1 the first, 1 the second.
fn add_contacts(physics: &PhysicsWorld, pair: &ContactPair, sign: f64, wrench: &mut Wrench) {
    for manifold in pair.manifolds() {
        let normal = from_vector(manifold.data.normal);
        for contact in &manifold.points {
            // Physics notes the friction of its last part of a step, as it acts on the first.
            let friction = from_vector(contact.data.warmstart_tangent_world) * SOLVER_ITERATIONS as f64;
            let force = (normal * f64::from(contact.data.impulse) - friction) * (sign / STEP);
            wrench.add(force, &point_of(physics, pair, manifold, contact));
        }
    }
}

/// Where a contact is, in `link_base`.
fn point_of(
    physics: &PhysicsWorld,
    pair: &ContactPair,
    manifold: &ContactManifold,
    contact: &TrackedContact<ContactData>,
) -> Vector3<f64> {
    let Some(collider) = physics.colliders.get(pair.collider1) else { return Vector3::zeros() };
    let local = manifold.subshape_pos1().map_or(contact.local_p1, |pose| *pose * contact.local_p1);
    from_vector(*collider.position() * local)
}

/// Whether a collider stands for good, so that physics has no force between it and a link of the arm.
fn is_fixed(physics: &PhysicsWorld, collider: ColliderHandle) -> bool {
    let parent = physics.colliders.get(collider).and_then(|collider| collider.parent());
    parent.and_then(|body| physics.bodies.get(body)).is_none_or(|body| body.is_fixed())
}

impl Contacts {
    /// Measures the contacts of the robot's colliders after a step.
    pub(super) fn measure(
        &mut self,
        physics: &PhysicsWorld,
        robot: &[RobotCollider],
        owner_of: impl Fn(ColliderHandle) -> Option<Owner>,
    ) {
        let mut now: BTreeMap<(usize, Owner), Vector3<f64>> = BTreeMap::new();
        let mut fingers = [Vector3::zeros(); 2];
        let mut touched: [Vec<Owner>; 2] = Default::default();
        let mut wrenches: BTreeMap<usize, Wrench> = BTreeMap::new();
        for entry in robot {
            for pair in physics.narrow_phase.contact_pairs_with(entry.collider) {
                let (other, sign) = if pair.collider1 == entry.collider {
                    (pair.collider2, -1.0)
                } else {
                    (pair.collider1, 1.0)
                };
                let Some(owner) = owner_of(other) else { continue };
                if matches!(owner, Owner::Robot(_)) || !pair.has_any_active_contact() {
                    continue;
                }
                let impulse = from_vector(pair.total_impulse()) * sign;
                let mut force = impulse / STEP;
                let wrench = wrenches.entry(entry.link).or_default();
                add_contacts(physics, pair, sign, wrench);
                let immovable = entry.finger.is_none() && is_fixed(physics, other);
                if immovable && let Some((manifold, contact)) = pair.find_deepest_contact() {
                    let depth = f64::from(-contact.dist).max(0.0);
                    let push = from_vector(manifold.data.normal) * (sign * depth * FIXED_STIFFNESS);
                    force += push;
                    wrench.add(push, &point_of(physics, pair, manifold, contact));
                }
                *now.entry((entry.link, owner)).or_default() += force;
                if let Some(finger) = entry.finger {
                    fingers[finger] += force;
                    if !touched[finger].contains(&owner) && force.norm() > 0.0 {
                        touched[finger].push(owner);
                    }
                }
            }
        }
        self.touched = touched;
        let share = STEP / (FILTER_TIME + STEP);
        for (old, new) in self.fingers.iter_mut().zip(fingers) {
            *old += (new - *old) * share;
        }
        for link in wrenches.keys() {
            self.wrenches.entry(*link).or_default();
        }
        for (link, old) in &mut self.wrenches {
            let new = wrenches.get(link).copied().unwrap_or_default();
            old.force += (new.force - old.force) * share;
            old.moment += (new.moment - old.moment) * share;
        }
        for key in now.keys() {
            self.filtered.entry(*key).or_default();
        }
        for (key, old) in &mut self.filtered {
            let new = now.get(key).copied().unwrap_or_default();
            *old += (new - *old) * share;
        }
        self.filtered.retain(|_, force| force.norm() > 0.01);
        self.largest_pad = self.largest_pad.max(self.pad_force());
    }

    /// Logs contacts above the limit.
    pub(super) fn note(&mut self, time: f64, name_of: impl Fn(Owner) -> String) {
        for (key, force) in &self.filtered {
            let force = force.norm();
            if force < LOGGED {
                self.open.remove(key);
                continue;
            }
            match self.open.get(key).and_then(|index| self.log.get_mut(*index)) {
                Some(entry) => {
                    entry.end = time;
                    entry.force = entry.force.max(force);
                }
                None => {
                    self.open.insert(*key, self.log.len());
                    self.log.push(HardContact {
                        link: name_of(Owner::Robot(key.0)),
                        other: name_of(key.1),
                        start: time,
                        end: time,
                        force,
                    });
                }
            }
        }
        let filtered = &self.filtered;
        self.open.retain(|key, _| filtered.contains_key(key));
    }

    /// Low-passed wrench of the contacts on each link that has some, by link.
    pub(super) fn wrenches(&self) -> impl Iterator<Item = (usize, &Wrench)> {
        self.wrenches.iter().map(|(link, wrench)| (*link, wrench))
    }

    /// Sum of the low-passed forces on both fingers, newtons.
    pub(super) fn grip_force(&self) -> f64 {
        self.fingers.iter().map(Vector3::norm).sum()
    }

    /// Low-passed force on the finger that feels more, newtons.
    pub(super) fn pad_force(&self) -> f64 {
        self.fingers.iter().map(Vector3::norm).fold(0.0, f64::max)
    }

    /// Largest low-passed force on any link or finger, newtons.
    pub(super) fn guarded_force(&self) -> f64 {
        self.filtered.values().map(Vector3::norm).fold(self.pad_force(), f64::max)
    }

    /// What presses hardest: the link and what it touches.
    pub(super) fn hardest(&self) -> Option<(usize, Owner)> {
        self.filtered.iter().max_by(|a, b| a.1.norm().total_cmp(&b.1.norm())).map(|(key, _)| *key)
    }

    /// The force at which a moving arm must stop now, if it must; asked once a step.
    pub(super) fn tripped(&mut self) -> Option<f64> {
        let force = self.guarded_force();
        if self.eased.is_some_and(|eased| eased.steps == 0 && force < EASED_FROM) {
            self.eased = None;
        }
        let limit = self.eased.as_mut().map_or(FORCE_LIMIT, |eased| {
            if eased.steps > 0 {
                eased.steps -= 1;
                eased.limit = (EASED_RISE * force).max(FORCE_LIMIT);
            }
            eased.limit
        });
        (force > limit).then_some(force)
    }

    /// Called when a motion starts: one that starts in a hard contact may leave it, if it does not press harder.
    pub(super) fn ease(&mut self) {
        let eased = Eased { limit: FORCE_LIMIT, steps: EASED_STEPS };
        self.eased = (self.guarded_force() > EASED_FROM).then_some(eased);
    }

    pub(super) fn largest_pad(&self) -> f64 {
        self.largest_pad
    }

    pub(super) fn log(&self) -> &[HardContact] {
        &self.log
    }

    /// Whether a finger presses on this object.
    pub(super) fn touched(&self, owner: Owner) -> bool {
        self.touched.iter().any(|touched| touched.contains(&owner))
    }

    /// Whether both fingers press on this object.
    pub(super) fn held(&self, owner: Owner) -> bool {
        self.touched.iter().all(|touched| touched.contains(&owner))
    }
}
