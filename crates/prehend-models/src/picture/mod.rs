//! Pictures on their way into a model: size, channels, numbers, batches.

mod batch;
mod letterbox;
mod numbers;
mod resample;

pub use batch::{at_once, run_pictures};
pub use letterbox::{Letterbox, letterbox};
pub use numbers::{Channels, Normalisation};
pub use resample::{Filter, resample};

use prehend_geometry::ColorImage;
use prehend_perception::InferenceError;

/// Checks that a picture has pixels, and as many as its size says.
///
/// Errors: [`InferenceError::Image`].
pub fn check(image: &ColorImage) -> Result<(), InferenceError> {
    let ColorImage { width, height, pixels } = image;
    if pixels.is_empty() || pixels.len() != width * height {
        return Err(InferenceError::Image { width: *width, height: *height, pixels: pixels.len() });
    }
    Ok(())
}
