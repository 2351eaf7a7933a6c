//! A part of what things stand on.

use serde::{Deserialize, Serialize};

/// A rectangle of the support, sides along x and y of the map frame, metres: where the middle of something shall come to stand.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Area {
    /// Least x and y.
    pub low: [f64; 2],
    /// Greatest x and y; not less than `low`.
    pub high: [f64; 2],
}

impl Area {
    /// A square around a place, `reach` to each side.
    pub fn around(place: [f64; 2], reach: f64) -> Self {
        Self { low: place.map(|value| value - reach), high: place.map(|value| value + reach) }
    }

    /// The corners as `[least x, least y, greatest x, greatest y]`, and back: `None` when a number is not finite or the least is
    /// greater.
    pub fn from_corners(corners: [f64; 4]) -> Option<Self> {
        let [low_x, low_y, high_x, high_y] = corners;
        let is_area = corners.iter().all(|value| value.is_finite()) && low_x <= high_x && low_y <= high_y;
        is_area.then_some(Self { low: [low_x, low_y], high: [high_x, high_y] })
    }

    /// See [`Area::from_corners`].
    pub fn corners(&self) -> [f64; 4] {
        [self.low[0], self.low[1], self.high[0], self.high[1]]
    }

    /// Its middle.
    pub fn middle(&self) -> [f64; 2] {
        [0, 1].map(|axis| (self.low[axis] + self.high[axis]) / 2.0)
    }

    /// Whether a place is in it, or at most `slack` beyond its edge.
    pub fn contains(&self, place: [f64; 2], slack: f64) -> bool {
        (0..2).all(|axis| (self.low[axis] - slack..=self.high[axis] + slack).contains(&place[axis]))
    }

    /// How far a place is from the middle: 0 there, 1 at the nearest edge in its direction, more outside.
    pub fn offset(&self, place: [f64; 2]) -> f64 {
        let middle = self.middle();
        let share = |axis: usize| {
            let half = ((self.high[axis] - self.low[axis]) / 2.0).max(1e-6);
            (place[axis] - middle[axis]).abs() / half
        };
        share(0).max(share(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_area_knows_what_is_in_it_and_refuses_numbers_that_are_none() {
        let area = Area::from_corners([0.2, -0.1, 0.4, 0.1]).expect("an area");
        assert_eq!(Area::from_corners(area.corners()), Some(area));
        assert!(area.contains([0.3, 0.0], 0.0) && area.contains([0.41, 0.0], 0.02));
        assert!(!area.contains([0.41, 0.0], 0.0));
        assert!((area.offset([0.35, 0.0]) - 0.5).abs() < 1e-9 && area.offset([0.3, 0.0]) < 1e-9);
        for bad in [[0.4, 0.0, 0.2, 0.1], [f64::NAN, 0.0, 1.0, 1.0], [0.0, 0.0, f64::INFINITY, 1.0]] {
            assert_eq!(Area::from_corners(bad), None, "{bad:?}");
        }
    }
}
