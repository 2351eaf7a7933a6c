//! How points spread in the level plane: the principal axes of what is seen from above.

use nalgebra::{Point3, Vector3};

/// Principal axes of points seen from above.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LevelSpread {
    /// Level unit vector along which they spread most.
    pub along: Vector3<f64>,
    /// Level unit vector across it, a quarter turn counterclockwise: the normal of an upright face.
    pub across: Vector3<f64>,
    /// Sum of the squared deviations along it, square metres.
    pub most: f64,
    /// Sum of the squared deviations across it, square metres.
    pub least: f64,
}

impl LevelSpread {
    /// The axes of points in a frame whose z points up, metres; `None` without points or when a coordinate is not finite.
    pub fn of<'p>(points: impl Iterator<Item = &'p Point3<f64>> + Clone) -> Option<Self> {
        let (count, x, y) =
            points.clone().fold((0.0, 0.0, 0.0), |(count, x, y), p| (count + 1.0, x + p.x, y + p.y));
        let (mx, my) = (x / count, y / count);
        let (mut xx, mut xy, mut yy) = (0.0, 0.0, 0.0);
        for p in points {
            let (x, y) = (p.x - mx, p.y - my);
            xx += x * x;
            xy += x * y;
            yy += y * y;
        }
        let (sum, difference) = (xx + yy, (xx - yy).hypot(2.0 * xy));
        if count == 0.0 || !sum.is_finite() {
            return None;
        }
        let (sin, cos) = (0.5 * (2.0 * xy).atan2(xx - yy)).sin_cos();
        Some(Self {
            along: Vector3::new(cos, sin, 0.0),
            across: Vector3::new(-sin, cos, 0.0),
            most: (sum + difference) / 2.0,
            least: (sum - difference) / 2.0,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_turned_bar_spreads_along_itself() {
        let (sin, cos) = 0.6_f64.sin_cos();
        let bar: Vec<Point3<f64>> = (0..50)
            .flat_map(|i| [-0.01, 0.01].map(|w| (0.01 * f64::from(i), w)))
            .map(|(l, w)| Point3::new(1.0 + l * cos - w * sin, l * sin + w * cos, 0.3 * l))
            .collect();
        let spread = LevelSpread::of(bar.iter()).expect("points");
        assert!((spread.along.dot(&Vector3::new(cos, sin, 0.0)).abs() - 1.0).abs() < 1e-9);
        assert!(spread.along.dot(&spread.across).abs() < 1e-12);
        // 100 points, each 10 mm from the axis.
        assert!((spread.least - 0.01).abs() < 1e-9 && spread.most > 2.0, "{spread:?}");
        assert_eq!(LevelSpread::of([].iter()), None);
        assert_eq!(LevelSpread::of([Point3::new(f64::NAN, 0.0, 0.0)].iter()), None);
    }
}
