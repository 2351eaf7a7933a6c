//! Weights of evidence, written by `crates/prehend-eval/examples/learn_cutting.rs`. Do not edit.

/// See [`super::patches`].
#[rustfmt::skip]
pub(super) const PATCHES: [f64; 16] = [
    3.189, -0.437, 1.459, -1.598, -2.376, -3.850, -0.029, 0.568,
    0.255, -1.407, -2.072, -2.735, -0.862, -2.338, 0.421, -3.604,
];

/// See [`super::things`].
#[rustfmt::skip]
pub(super) const SURFACES: [f64; 32] = [
    -3.029, 3.144, -0.336, -0.118, 2.534, 3.264, 0.816, -0.531,
    1.406, -0.074, -0.216, 0.359, 2.839, -0.407, -0.271, -0.241,
    -1.505, -1.416, 1.771, 1.683, 0.208, -0.042, -1.718, 3.222,
    -0.274, 0.069, 0.962, 3.456, -4.085, 1.621, -0.132, -0.256,
];
