//! What contacts do to the joints: the torques that the motors need against them.

use super::{JOINTS, JointVector, LinkJoint, World};
use nalgebra::Vector3;

impl World {
    /// Torque of each arm joint's motor against the contacts of the arm, low-passed over 30 ms, N m: minus J^T f.
    /// Weight and inertia are not in it, as a controller that compensates them reports it.
    pub fn arm_efforts(&self) -> JointVector {
        let poses = self.link_poses();
        let links = self.model().links();
        let mut efforts = [0.0; JOINTS];
        for (touched, wrench) in self.contacts.wrenches() {
            // Every joint between the base and the touched link feels it.
            let mut at = Some(touched);
            while let Some(index) = at {
                let link = &links[index];
                if let LinkJoint::Arm(joint, axis) = link.joint {
                    let axis: Vector3<f64> = poses[index].rotation * axis.into_inner();
                    let origin = poses[index].translation.vector;
                    efforts[joint] -= axis.dot(&(wrench.moment - origin.cross(&wrench.force)));
                }
                at = link.parent;
            }
        }
        efforts
    }

    /// Torque of the gripper's drive against what it holds, low-passed over 30 ms, N m.
    pub fn drive_effort(&self) -> f64 {
        // The drive moves the opening by this many metres a radian; half of it each finger.
        let rate = (self.model().max_opening() / self.model().drive_from_opening(0.0)).abs();
        self.contacts.grip_force() * rate / 2.0
    }
}
