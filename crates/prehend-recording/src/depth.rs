//! Measured depths as depth images, with a check of their unit.

use prehend_geometry::DepthImage;

/// Least and greatest median depth of a camera that sees a scene, metres: time-of-flight and stereo cameras begin and end there.
pub const MEDIAN: [f64; 2] = [0.07, 15.0];

/// Why depths cannot be used.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum DepthError {
    /// Nothing was measured.
    #[error("no pixel has a depth")]
    Nothing,
    /// The depths cannot be in the unit that is given.
    #[error(
        "half of the measured pixels are nearer than {median} m; depth cameras see {} to {} m",
        MEDIAN[0], MEDIAN[1]
    )]
    Unit {
        /// Median of the measured pixels, metres.
        median: f64,
    },
}

/// The depth image of `[height, width]` depths in metres, row-major; what is not finite or not positive was not measured.
///
/// Errors: [`DepthError`]. Panics: never; the caller answers for the number of values.
pub fn depth_image(
    width: usize,
    height: usize,
    metres: impl Iterator<Item = f64> + Clone,
) -> Result<DepthImage, DepthError> {
    let is_measured = |metres: &f64| metres.is_finite() && *metres > 0.0;
    let mut measured: Vec<f64> = metres.clone().filter(is_measured).collect();
    if measured.is_empty() {
        return Err(DepthError::Nothing);
    }
    let middle = measured.len() / 2;
    let median = *measured.select_nth_unstable_by(middle, f64::total_cmp).1;
    if !(MEDIAN[0]..=MEDIAN[1]).contains(&median) {
        return Err(DepthError::Unit { median });
    }
    // What is too far for 16 bits of millimetres is as good as not measured.
    let millimetres = |metres: f64| {
        let rounded = (metres * 1e3).round();
        if is_measured(&metres) && rounded <= f64::from(u16::MAX) { rounded as u16 } else { 0 }
    };
    Ok(DepthImage { width, height, millimetres: metres.map(millimetres).collect() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metres_become_millimetres_and_holes_stay_holes() {
        let metres = [0.5, f64::NAN, f64::INFINITY, 0.0, -1.0, 0.7004, 0.7006, 70.0];
        let image = depth_image(4, 2, metres.into_iter()).unwrap();
        assert_eq!(image.millimetres, [500, 0, 0, 0, 0, 700, 701, 0]);
    }

    #[test]
    fn what_cannot_be_metres_is_refused() {
        let of = |metres: f64| depth_image(2, 1, [metres, 0.0].into_iter());
        assert_eq!(of(0.0), Err(DepthError::Nothing));
        assert_eq!(of(f64::NAN), Err(DepthError::Nothing));
        assert_eq!(of(600.0), Err(DepthError::Unit { median: 600.0 }));
        assert_eq!(of(0.0006), Err(DepthError::Unit { median: 0.0006 }));
    }
}
