//! A straight motion of the joints, and where on it to look.

use crate::RobotModel;

/// How many samples keep every point of the robot within `step` (m) between two of them; at least 1.
pub(crate) fn sample_count(model: &RobotModel, from: &[f64], to: &[f64], step: f64) -> usize {
    let moved: f64 = from
        .iter()
        .zip(to)
        .zip(&model.joint_reach)
        .map(|((from, to), reach)| (to - from).abs() * reach)
        .sum();
    (moved / step.max(1e-4)).ceil().clamp(1.0, 1e5) as usize
}

/// Where to look on the straight joint motion so that no point of the robot moves more than `step` (m) in between, ends included.
pub(crate) fn fractions(
    model: &RobotModel,
    from: &[f64],
    to: &[f64],
    step: f64,
) -> impl Iterator<Item = f64> + use<> {
    let samples = sample_count(model, from, to, step);
    (0..=samples).map(move |sample| sample as f64 / samples as f64)
}

/// The point at `fraction` on the straight joint motion.
pub(crate) fn interpolate(from: &[f64], to: &[f64], fraction: f64, into: &mut [f64]) {
    for ((into, from), to) in into.iter_mut().zip(from).zip(to) {
        *into = from + (to - from) * fraction;
    }
}
