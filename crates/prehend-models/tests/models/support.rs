//! What the tests share: the runtime, where there is one, and small models.

pub(crate) mod onnx;

use prehend_geometry::ColorImage;
use prehend_models::{Runtime, RuntimeError};
use prehend_testing::{Needs, skipped};
use std::path::{Path, PathBuf};

/// The runtime; without one the test is skipped, with a line that says so.
pub(crate) fn runtime() -> Option<Runtime> {
    match Runtime::open(None) {
        Ok(runtime) => Some(runtime),
        Err(error @ RuntimeError::NotFound { .. }) => {
            skipped(Needs::OnnxRuntime, error);
            None
        }
        Err(error) => panic!("{error}"),
    }
}

/// The folder with models and frames that is not part of the repository: `PREHEND_SHARED`, else `../shared` beside it.
pub(crate) fn shared(below: &str) -> Option<PathBuf> {
    let named = std::env::var_os("PREHEND_SHARED").map(PathBuf::from);
    let beside =
        Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().skip(2).map(|folder| folder.join("shared"));
    let found =
        named.into_iter().chain(beside).map(|folder| folder.join(below)).find(|folder| folder.is_dir());
    if found.is_none() {
        skipped(Needs::Shared, format!("no {below}; set PREHEND_SHARED to the folder that holds it"));
    }
    found
}

/// A picture from a PNG file.
pub(crate) fn picture(file: &Path) -> ColorImage {
    let image = image::open(file).unwrap_or_else(|error| panic!("{}: {error}", file.display())).to_rgb8();
    ColorImage {
        width: image.width() as usize,
        height: image.height() as usize,
        pixels: image.pixels().map(|pixel| pixel.0).collect(),
    }
}

/// Paints the rectangle `[left, top, right, bottom)` of a picture.
pub(crate) fn paint(image: &mut ColorImage, [left, top, right, bottom]: [usize; 4], color: [u8; 3]) {
    for v in top..bottom {
        image.pixels[v * image.width + left..v * image.width + right].fill(color);
    }
}
