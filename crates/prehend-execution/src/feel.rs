//! The force on the hand, from the torques of the arm's joints.

use crate::robot::Joints;
use nalgebra::Vector3;
use prehend_motion::RobotModel;

/// Damping of the inverse, so that a stretched arm does not feel forces that are not there.
const DAMPING: f64 = 0.02;

/// What the joints bore before the contact: gravity and friction are in it, a contact is what is added.
#[derive(Clone, Debug)]
pub(crate) struct Feel<'a> {
    model: &'a RobotModel,
    before: Vec<f64>,
}

impl<'a> Feel<'a> {
    /// Takes the torques of an arm that touches nothing; `None` when the robot reports none.
    pub(crate) fn new(model: &'a RobotModel, free: &Joints) -> Option<Self> {
        (free.torques.len() == model.dof()).then(|| Self { model, before: free.torques.clone() })
    }

    /// Force on the hand, base frame, newtons: the torque an actuator adds holds against it, `tau = -J^T F`.
    /// `None` when this joint state has no torques.
    pub(crate) fn force(&self, now: &Joints) -> Option<Vector3<f64>> {
        self.wrench(now).map(|(force, _)| force)
    }

    /// Force on the hand and moment about its tool, base frame, newtons and newton metres; `None` as for
    /// [`force`](Self::force).
    pub(crate) fn wrench(&self, now: &Joints) -> Option<(Vector3<f64>, Vector3<f64>)> {
        if now.torques.len() != self.before.len() {
            return None;
        }
        let jacobian = self.model.jacobian(&now.arm).ok()?;
        let added = nalgebra::DVector::from_iterator(
            self.before.len(),
            now.torques.iter().zip(&self.before).map(|(now, before)| before - now),
        );
        // Damped least squares of J^T w = added, with w the force and the torque at the tool.
        let damped = &jacobian * jacobian.transpose() + nalgebra::Matrix6::identity() * (DAMPING * DAMPING);
        let wrench = damped.lu().solve(&(&jacobian * added))?;
        let force = Vector3::new(wrench[0], wrench[1], wrench[2]);
        let moment = Vector3::new(wrench[3], wrench[4], wrench[5]);
        force.iter().chain(moment.iter()).all(|f| f.is_finite()).then_some((force, moment))
    }

    /// How hard the contact holds against a motion along `direction`, newtons; not negative.
    ///
    /// Drivers differ in the sign of their torques; a contact that is moved against resists, so its size is what counts.
    pub(crate) fn resistance(&self, now: &Joints, direction: &Vector3<f64>) -> f64 {
        self.force(now).map_or(0.0, |force| force.dot(direction).abs())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use prehend_motion::RobotGroup;

    #[test]
    fn a_force_at_the_tool_is_found_from_the_torques_it_causes() {
        let text = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../urdf/xarm6.urdf"))
            .expect("urdf");
        let model = RobotModel::from_urdf(&text, RobotGroup::xarm6()).expect("model");
        let mut joints = Joints {
            arm: vec![0.1, -0.3, -1.2, 0.2, 1.4, 0.3],
            opening: 0.0,
            effort: 0.0,
            torques: vec![1.0, -20.0, 8.0, 0.1, 0.5, 0.0],
            stamp: 0.0,
        };
        let feel = Feel::new(&model, &joints).expect("torques");
        for force in [Vector3::new(-12.0, 3.0, 1.0), Vector3::new(0.0, 0.0, 25.0)] {
            let jacobian = model.jacobian(&joints.arm).expect("joints");
            let wrench = nalgebra::Vector6::new(force.x, force.y, force.z, 0.0, 0.0, 0.0);
            let caused = jacobian.transpose() * wrench;
            joints.torques = feel.before.iter().zip(caused.iter()).map(|(b, c)| b - c).collect();
            let found = feel.force(&joints).expect("torques");
            assert!((found - force).norm() < 0.5, "{found} for {force}");
            assert!((feel.resistance(&joints, &-force.normalize()) - force.norm()).abs() < 0.5);
        }
        joints.torques.clear();
        assert_eq!(feel.force(&joints), None);
        assert!(Feel::new(&model, &joints).is_none());
    }
}
