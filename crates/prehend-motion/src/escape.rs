//! Out of a contact in which the arm stands, as after a motion that the force guard stopped.

use crate::CollisionWorld;
use crate::collision_check::Scratch;
use crate::straight::interpolate;
use rand::{Rng, RngExt};

/// Greatest change of a joint that is tried, smallest first, rad or m.
const REACHES: [f64; 5] = [0.02, 0.04, 0.07, 0.1, 0.15];
/// Samples of each reach.
const SAMPLES: usize = 40;
/// Where on the way out the depth is looked at, as fractions of it.
const CHECKS: [f64; 3] = [0.25, 0.5, 0.75];
/// By how much the way out may lead deeper than the arm stands already, m.
const DEEPER: f64 = 5e-4;

impl CollisionWorld {
    /// A configuration near `start` that touches nothing and is in the fence, when the straight way there leads into nothing deeper; `None` when
    /// none is found. `start` are good joint values. The counterpart in MoveIt is `FixStartStateCollision`.
    pub(crate) fn escape(
        &self,
        start: &[f64],
        rng: &mut impl Rng,
        scratch: &mut Scratch,
    ) -> Option<Vec<f64>> {
        let depth = |joints: &[f64], scratch: &mut Scratch| {
            self.all_contacts(joints, scratch).iter().map(|contact| contact.depth).fold(0.0, f64::max)
        };
        let allowed = depth(start, scratch) + DEEPER;
        let mut at = vec![0.0; start.len()];
        for reach in REACHES {
            for _ in 0..SAMPLES {
                let mut moved = |(value, limit): (&f64, &crate::JointLimits)| {
                    (value + reach * (2.0 * rng.random::<f64>() - 1.0)).clamp(limit.lower, limit.upper)
                };
                let out: Vec<f64> = start.iter().zip(self.model.limits()).map(&mut moved).collect();
                if !self.is_clear(&out, scratch) {
                    continue;
                }
                let leads_out = CHECKS.iter().all(|fraction| {
                    interpolate(start, &out, *fraction, &mut at);
                    depth(&at, scratch) <= allowed && self.beyond(&at, scratch).is_none()
                });
                if leads_out {
                    return Some(out);
                }
            }
        }
        None
    }
}
