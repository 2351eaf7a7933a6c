//! What bodies and joints of objects are made of, as physics has them: for whoever builds the same world elsewhere.

use super::World;
use super::mechanism::{JointProperties, Mechanism};
use crate::body::Owner;
use crate::body::collider::{from_pose, from_vector};
use nalgebra::{Isometry3, Matrix3, Vector3};
use rapier3d::prelude::{Collider, RigidBody};

/// A body of an object. Frame: the link's own, with its origin where the model has it.
#[derive(Clone, Debug, PartialEq)]
pub struct BodyProperties {
    /// Index of the object in the scene, and of the link in its model (0 without a model).
    pub object: usize,
    /// See `object`.
    pub link: usize,
    /// `base_from_body` now (in a room `map_from_body`).
    pub pose: Isometry3<f64>,
    /// Does not move.
    pub fixed: bool,
    /// Mass, kg.
    pub mass: f64,
    /// Centre of mass, metres.
    pub center: Vector3<f64>,
    /// Inertia about the centre of mass along the body's axes, kg m².
    pub inertia: Matrix3<f64>,
    /// Coulomb friction coefficient; two surfaces rub with the smaller of theirs.
    pub friction: f64,
    /// Restitution, [0, 1].
    pub restitution: f64,
    /// Angular damping, 1/s.
    pub angular_damping: f64,
}

impl World {
    /// Every body of every object: the objects' roots in the scene's order, then the other links, as [`Frame`](crate::body::Frame) has
    /// them behind the links of the robot.
    pub fn object_bodies(&self) -> Vec<BodyProperties> {
        let objects = &self.scene.objects;
        let roots = (0..objects.len()).map(|object| (object, 0));
        let others = objects.iter().enumerate().flat_map(|(object, placed)| {
            let count = placed.spec.model.as_ref().map_or(1, |model| model.links.len());
            (1..count).map(move |link| (object, link))
        });
        let bodies = self.objects.iter().filter_map(|handle| self.physics.bodies.get(*handle));
        roots.chain(others).zip(bodies).map(|(which, body)| self.properties(which, body)).collect()
    }

    fn properties(&self, (object, link): (usize, usize), body: &RigidBody) -> BodyProperties {
        let of_mass = &body.mass_properties().local_mprops;
        let collider = body.colliders().first().and_then(|handle| self.physics.colliders.get(*handle));
        let turn = of_mass.principal_inertia_local_frame;
        let columns = [Vector3::x(), Vector3::y(), Vector3::z()]
            .map(|axis| from_vector(turn * crate::body::collider::to_vector(&axis)));
        let body_from_principal = Matrix3::from_columns(&columns);
        let principal = Matrix3::from_diagonal(&from_vector(of_mass.principal_inertia()));
        BodyProperties {
            object,
            link,
            pose: from_pose(body.position()),
            fixed: body.is_fixed(),
            mass: f64::from(of_mass.mass()),
            center: from_vector(of_mass.local_com),
            inertia: body_from_principal * principal * body_from_principal.transpose(),
            friction: collider.map_or(0.0, |collider| f64::from(collider.friction())),
            restitution: collider.map_or(0.0, |collider| f64::from(collider.restitution())),
            angular_damping: f64::from(body.angular_damping()),
        }
    }

    /// Every joint of every object, by object and then in the order of its model.
    pub fn object_joints(&self) -> Vec<JointProperties> {
        self.mechanisms.iter().map(Mechanism::properties).collect()
    }

    /// Friction coefficient of the floor, the table or a piece of furniture; `None` for what is not in this world.
    pub fn fixture_friction(&self, owner: Owner) -> Option<f64> {
        let (handle, _) = self.owners.iter().find(|(_, known)| *known == owner)?;
        self.physics.colliders.get(*handle).map(|collider: &Collider| f64::from(collider.friction()))
    }
}
