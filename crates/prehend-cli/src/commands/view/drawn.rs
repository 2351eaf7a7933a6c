//! What is drawn at first, and why nothing is.

use crate::args::{HiddenLayer, ViewArgs};
use crate::outcome::exit;
use prehend_viewer::Layer;
use prehend_viewer::draw::DrawError;

/// What is left out at first.
pub(super) fn hidden(args: &ViewArgs) -> Vec<Layer> {
    let layer = |layer: &HiddenLayer| match layer {
        HiddenLayer::Shapes => Layer::Shapes,
        HiddenLayer::Box => Layer::Fence,
        HiddenLayer::Floor => Layer::Floor,
        HiddenLayer::Areas => Layer::Areas,
        HiddenLayer::Names => Layer::Names,
    };
    args.hide.iter().map(layer).collect()
}

/// Why nothing is drawn, with its exit code.
pub(super) fn undrawn(error: DrawError) -> (String, u8) {
    let code = match &error {
        DrawError::Size { .. } => exit::BAD_INPUT,
        DrawError::NoAdapter { .. } | DrawError::NoScreen => exit::NOT_READY,
    };
    (error.to_string(), code)
}
