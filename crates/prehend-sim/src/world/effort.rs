//! What contacts do to the joints: the torques that the motors need against them.

use super::{JointVector, LinkJoint, Motion, World};
use nalgebra::{Unit, Vector3};

impl World {
    /// Torque of each arm joint's motor against the contacts of the arm, low-passed over 30 ms, N m (N for a slide): minus J^T f.
    /// Weight and inertia are not in it, as a controller that compensates them reports it.
    pub fn arm_efforts(&self) -> JointVector {
        let poses = self.link_poses();
        let links = self.model().links();
        let mut efforts = vec![0.0; self.model().joints().len()];
        for (touched, wrench) in self.contacts.wrenches() {
            // Every joint between the base and the touched link feels it.
            let mut at = Some(touched);
            while let Some(index) = at {
                let link = &links[index];
                if let LinkJoint::Arm(joint, motion) = link.joint {
                    let turn = |axis: Unit<Vector3<f64>>| poses[index].rotation * axis.into_inner();
                    let origin = poses[index].translation.vector;
                    efforts[joint] -= match motion {
                        Motion::Turn(axis) => turn(axis).dot(&(wrench.moment - origin.cross(&wrench.force))),
                        Motion::Slide(axis) => turn(axis).dot(&wrench.force),
                    };
                }
                at = link.parent;
            }
        }
        efforts
    }

    /// Torque of the gripper's drive against what it holds, low-passed over 30 ms, N m.
    pub fn drive_effort(&self) -> f64 {
        // Each finger moves half of it.
        self.contacts.grip_force() * self.model().opening_rate() / 2.0
    }
}
