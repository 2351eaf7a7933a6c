//! One number for the whole state of a world.

use super::World;

impl World {
    /// A hash of every bit that the future depends on: equal for equal runs.
    pub fn state_hash(&self) -> u64 {
        let mut hash = Fnv::new();
        hash.add(self.steps);
        for (_, body) in self.physics.bodies.iter() {
            let (pose, linear, angular) = (body.position(), body.linvel(), body.angvel());
            let r = pose.rotation;
            for part in [pose.translation, linear, angular] {
                part.to_array().iter().for_each(|number| hash.add(u64::from(number.to_bits())));
            }
            [r.x, r.y, r.z, r.w].iter().for_each(|number| hash.add(u64::from(number.to_bits())));
        }
        let controller = self.arm_joints().iter().chain(self.arm_velocities());
        controller.chain(&self.gripper.state()).for_each(|number| hash.add(number.to_bits()));
        if let Some(base) = &self.base {
            base.state().iter().for_each(|number| hash.add(number.to_bits()));
        }
        hash.0
    }
}

/// FNV-1a, 64 bits: the same on every machine.
struct Fnv(u64);

impl Fnv {
    fn new() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }

    fn add(&mut self, word: u64) {
        for byte in word.to_le_bytes() {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
}
