//! Where the tip may be: a box that no motion leaves.

use crate::straight::{fractions, interpolate};
use crate::{JointError, RobotModel};
use nalgebra::Point3;

/// An upright box that the tip stays in. Frame: the robot's base; metres.
///
/// It is convex: a straight line of the tip between two places in it stays in it, a straight motion of the joints need not.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fence {
    low: [f64; 3],
    high: [f64; 3],
}

impl Fence {
    /// From the least and the greatest x, y, z. Where one of them is no number, or a least one is above its greatest, nothing is in it.
    pub fn new(low: [f64; 3], high: [f64; 3]) -> Self {
        Self { low, high }
    }

    /// Least x, y, z.
    pub fn low(&self) -> [f64; 3] {
        self.low
    }

    /// Greatest x, y, z.
    pub fn high(&self) -> [f64; 3] {
        self.high
    }

    /// Whether a place is in it; one that is no number is not.
    pub fn contains(&self, place: &Point3<f64>) -> bool {
        (0..3).all(|i| self.low[i] <= place[i] && place[i] <= self.high[i])
    }

    /// As much farther out on every side, m; what is negative or no number changes nothing.
    #[must_use]
    pub fn grown(&self, by: f64) -> Self {
        let by = if by.is_finite() { by.max(0.0) } else { 0.0 };
        Self { low: self.low.map(|low| low - by), high: self.high.map(|high| high + by) }
    }

    /// The least one that holds this and a place: what an arm that stands outside comes back within. A place that is no number
    /// changes nothing.
    #[must_use]
    pub fn holding(&self, place: &Point3<f64>) -> Self {
        if !place.iter().all(|number| number.is_finite()) {
            return *self;
        }
        Self {
            low: std::array::from_fn(|i| self.low[i].min(place[i])),
            high: std::array::from_fn(|i| self.high[i].max(place[i])),
        }
    }

    /// What is in both.
    #[must_use]
    pub fn and(&self, other: &Self) -> Self {
        Self::new(
            std::array::from_fn(|i| self.low[i].max(other.low[i])),
            std::array::from_fn(|i| self.high[i].min(other.high[i])),
        )
    }
}

impl RobotModel {
    /// The first place of the tip beyond `fence` on the straight joint motion from `from` to `to`, both ends included; `None` when
    /// there is none. The tip moves no more than `step` (m) between two samples, so that what is between them is beyond by less
    /// than half of it.
    ///
    /// Errors: [`JointError::Count`], [`JointError::NotFinite`]; limits are not checked.
    pub fn first_beyond(
        &self,
        fence: &Fence,
        from: &[f64],
        to: &[f64],
        step: f64,
    ) -> Result<Option<Point3<f64>>, JointError> {
        self.check_numbers(from)?;
        self.check_numbers(to)?;
        let mut at = vec![0.0; from.len()];
        let mut axes = Vec::with_capacity(from.len());
        Ok(fractions(self, from, to, step).find_map(|fraction| {
            interpolate(from, to, fraction, &mut at);
            let tip = Point3::from(self.tip_and_axes(&at, &mut axes).translation.vector);
            (!fence.contains(&tip)).then_some(tip)
        }))
    }
}
