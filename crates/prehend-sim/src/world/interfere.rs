//! What somebody else does to the world: things that are moved, pushed and knocked over, obstacles, bumps. For tests.

use super::{Bump, Mechanism, World, build, contacts};
use crate::body::collider::{from_pose, to_pose, to_vector};
use nalgebra::{Isometry3, Unit, UnitQuaternion, Vector3};
use prehend_navigation::Pose2;
use rapier3d::math::{Pose, Vector};
use rapier3d::prelude::{RigidBody, RigidBodyHandle};
use std::f64::consts::FRAC_PI_2;

/// A request about an object that cannot be carried out.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum NudgeError {
    /// No object of this name.
    #[error("there is no object `{0}`")]
    NoObject(String),
    /// A number is not finite.
    #[error("not a finite number")]
    NotFinite,
}

impl World {
    /// Puts an object somewhere else, at rest: a fault for tests. `position` is in `link_base`, metres.
    pub fn move_object(&mut self, name: &str, position: &Vector3<f64>) -> Result<(), NudgeError> {
        let index = self.scene.objects.iter().position(|object| object.spec.name == name);
        let root = index.map(|index| self.objects[index]);
        let before = self.physics_pose(root).translation.vector;
        let shift = to_vector(&(position - before));
        let links = self.mechanisms.iter().filter(|mechanism| Some(mechanism.object) == index);
        let links: Vec<RigidBodyHandle> = links.map(Mechanism::child).collect();
        let moved = |body: &RigidBody, translation| Pose { translation, ..*body.position() };
        self.nudge(name, position, |body, position| put(body, moved(body, position)))?;
        for link in links {
            if let Some(body) = self.physics.bodies.get_mut(link) {
                put(body, moved(body, body.translation() + shift));
            }
        }
        Ok(())
    }

    /// Lays an object on its side where it stands, at rest, its top towards `toward` (only x and y count): a fault for tests.
    pub fn knock_over(&mut self, name: &str, toward: &Vector3<f64>) -> Result<(), NudgeError> {
        let flat = Vector3::new(toward.x, toward.y, 0.0);
        let direction = Unit::try_new(flat, 1e-6).ok_or(NudgeError::NotFinite)?;
        let fall =
            UnitQuaternion::from_axis_angle(&Unit::new_normalize(Vector3::z().cross(&direction)), FRAC_PI_2);
        let half_extents = self
            .truth()
            .objects
            .into_iter()
            .find(|object| object.name == name)
            .map(|object| object.half_extents);
        let [x, y, z] = half_extents.ok_or_else(|| NudgeError::NoObject(name.to_owned()))?;
        self.nudge(name, toward, |body, _| {
            let pose = from_pose(body.position());
            // Its half width may be more than its half height: it must not be laid into what it stands on.
            let raised = pose.translation.vector + Vector3::z() * (x.max(y) - z).max(0.0);
            put(body, to_pose(&Isometry3::from_parts(raised.into(), fall * pose.rotation)));
        })
    }

    /// Gives an object a velocity, m/s, as a push does: a fault for tests.
    pub fn push_object(&mut self, name: &str, velocity: &Vector3<f64>) -> Result<(), NudgeError> {
        self.nudge(name, velocity, |body, velocity| body.set_linvel(velocity, true))
    }

    fn nudge(
        &mut self,
        name: &str,
        vector: &Vector3<f64>,
        act: impl FnOnce(&mut RigidBody, Vector),
    ) -> Result<(), NudgeError> {
        if vector.iter().any(|number| !number.is_finite() || number.abs() > 100.0) {
            return Err(NudgeError::NotFinite);
        }
        let index = self.scene.objects.iter().position(|object| object.spec.name == name);
        let body = index.and_then(|index| self.physics.bodies.get_mut(self.objects[index]));
        act(body.ok_or_else(|| NudgeError::NoObject(name.to_owned()))?, to_vector(vector));
        Ok(())
    }

    /// Makes the localisation jump by metres and radians: a fault for tests. False without a base.
    pub fn jump_localisation(&mut self, by: Pose2) -> bool {
        match &mut self.base {
            Some(base) if by.is_finite() => {
                base.jump(by);
                true
            }
            Some(_) | None => false,
        }
    }

    /// The arm stays where it is in the middle of its motion, or of the next one, and its controller does not tell, until the motion is
    /// stopped: a fault for tests.
    pub fn jam(&mut self) {
        self.controller.jam();
    }

    /// Stops the base as if it had touched something: a fault for tests. False without a base.
    pub fn bump(&mut self) -> bool {
        let time = self.time();
        let Some(base) = &mut self.base else { return false };
        base.halt();
        let (link, other) = ("base_link".to_owned(), "nothing".to_owned());
        self.bumps.push(Bump { time, link, other, force: contacts::FORCE_LIMIT });
        true
    }

    /// Puts a box of 0.4 x 0.4 x 0.7 m on the floor there, or away with `None`: a fault for tests. False without a base.
    pub fn put_obstacle(&mut self, at: Option<[f64; 2]>) -> bool {
        let body = self.obstacle.and_then(|handle| self.physics.bodies.get_mut(handle));
        let Some(body) = body else { return false };
        let pose = match at {
            Some([x, y]) if x.is_finite() && y.is_finite() => {
                Isometry3::translation(x, y, build::OBSTACLE.z / 2.0 + 0.001)
            }
            Some(_) => return false,
            None => build::parked(&self.scene.scene),
        };
        body.set_position(to_pose(&pose), true);
        true
    }
}

/// There, at rest.
fn put(body: &mut RigidBody, pose: Pose) {
    body.set_position(pose, true);
    body.set_linvel(Vector::ZERO, true);
    body.set_angvel(Vector::ZERO, true);
}
