//! What stands out of the support and is no thing, with the reason: so that a person sees what the robot does not.

use prehend_geometry::Mask;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;

/// Why it is no thing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    /// It may be no more than noise of the support.
    Noise,
    /// It is too small.
    Small,
    /// It is too large: furniture, a wall, a person.
    Large,
    /// It stands beyond the border of the support.
    Beyond,
    /// Its lowest points are above the support, and nothing hides what may be below them.
    Hangs,
    /// It is less probable than not that it is a thing, for several reasons together.
    Unlikely,
    /// It is of the robot.
    Robot,
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Noise => "noise",
            Self::Small => "too small",
            Self::Large => "too large",
            Self::Beyond => "beyond the table",
            Self::Hangs => "hangs",
            Self::Unlikely => "unlikely",
            Self::Robot => "robot",
        })
    }
}

/// A region of a picture that is no thing.
#[derive(Clone, PartialEq, Eq)]
pub struct LeftOut {
    /// Why not.
    pub reason: Reason,
    /// Its pixels.
    pub mask: Mask,
}

impl fmt::Debug for LeftOut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Mask { x, y, width, height, .. } = self.mask;
        write!(f, "{} ({} pixels of {width} x {height} at {x}, {y})", self.reason, self.mask.area())
    }
}

/// How much there is for each reason.
pub fn counted(reasons: impl Iterator<Item = Reason>) -> BTreeMap<Reason, usize> {
    let mut counts = BTreeMap::new();
    reasons.for_each(|reason| *counts.entry(reason).or_default() += 1);
    counts
}

/// The candidates for which there is no reason against; the others, with theirs, go to `left`.
pub(super) fn sifted(
    candidates: Vec<Vec<usize>>,
    reasons: Vec<Option<Reason>>,
    left: &mut Vec<(Reason, Vec<usize>)>,
) -> Vec<Vec<usize>> {
    let mut kept = Vec::new();
    for (pixels, reason) in candidates.into_iter().zip(reasons) {
        match reason {
            None => kept.push(pixels),
            Some(reason) => left.push((reason, pixels)),
        }
    }
    kept
}
