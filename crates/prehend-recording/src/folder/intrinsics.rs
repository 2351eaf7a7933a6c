//! The camera's calibration in `intrinsics.json`.

use super::FrameError;
use prehend_geometry::Intrinsics;
use serde::Deserialize;
use serde_json::Value;
use std::path::Path;

/// Millimetres.
const DEFAULT_SCALE: f64 = 0.001;

/// What `intrinsics.json` says.
pub(super) struct CameraFile {
    pub(super) intrinsics: Intrinsics,
    /// Metres of a step of the depth picture.
    pub(super) depth_scale: f64,
}

#[derive(Deserialize)]
struct Extras {
    #[serde(default)]
    depth_scale_m_per_unit: Option<f64>,
    /// Coefficients, or a remark in words.
    #[serde(default)]
    distortion: Value,
}

impl CameraFile {
    pub(super) fn read(path: &Path) -> Result<Self, FrameError> {
        let text = std::fs::read_to_string(path)
            .map_err(|error| FrameError::Read { path: path.to_owned(), error })?;
        let wrong = |error: String| FrameError::IntrinsicsFile { path: path.to_owned(), error };
        let value: Value = serde_json::from_str(&text).map_err(|error| wrong(error.to_string()))?;
        let intrinsics = Intrinsics::deserialize(&value).map_err(|error| wrong(error.to_string()))?;
        let extras = Extras::deserialize(&value).map_err(|error| wrong(error.to_string()))?;
        intrinsics.validate().map_err(|error| FrameError::Intrinsics { path: path.to_owned(), error })?;
        let coefficients: Vec<f64> =
            extras.distortion.as_array().into_iter().flatten().filter_map(Value::as_f64).collect();
        if coefficients.iter().any(|coefficient| *coefficient != 0.0) {
            return Err(FrameError::Distorted { path: path.to_owned(), coefficients });
        }
        let depth_scale = extras.depth_scale_m_per_unit.unwrap_or(DEFAULT_SCALE);
        if !(depth_scale.is_finite() && depth_scale > 0.0) {
            return Err(wrong(format!("depth_scale_m_per_unit is {depth_scale}")));
        }
        Ok(Self { intrinsics, depth_scale })
    }
}
