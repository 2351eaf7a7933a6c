//! What an object with a model is made from: the model, and what the scene changes in it.

use super::Color;
use super::placement::Placement;
use prehend_config::Document;

/// What an object with a model is made from, again for each seed.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Template {
    pub(super) document: Document,
    /// Name and range of every parameter.
    pub(super) ranges: Vec<(String, [f64; 2])>,
    pub(super) name: String,
    pub(super) class: Option<String>,
    pub(super) paint: Paint,
    pub(super) fixed: Option<bool>,
    pub(super) friction: Option<f64>,
    pub(super) joints: Vec<JointChange>,
    pub(super) placement: Placement,
}

/// What a scene says about one joint of a model.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct JointChange {
    pub(super) joint: String,
    pub(super) position: Option<[f64; 2]>,
    pub(super) locked: Option<bool>,
}

/// Colours that the scene gives instead of the model's.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Paint {
    pub(super) color: Option<(Color, Option<String>)>,
    pub(super) second: Option<Color>,
}
