//! What the gate judges by.

use crate::{Assessments, Ground, Settings};
use prehend_scene::ObjectMap;

/// What the verifier knows by itself when it is asked.
#[derive(Clone, Copy)]
pub struct GateContext<'a> {
    /// The newest map the verifier received.
    pub map: Option<&'a ObjectMap>,
    /// The newest map of the room it received; only mobile robots have one.
    pub room: Option<&'a ObjectMap>,
    /// The newest costmap it received, with the base's outline.
    pub ground: Option<&'a Ground>,
    /// The verifier's own assessments of evidence.
    pub assessments: &'a Assessments,
    /// Whether two class names mean the same.
    pub same_name: &'a dyn Fn(&str, &str) -> bool,
    /// Thresholds and limits.
    pub settings: &'a Settings,
    /// The time, seconds.
    pub now: f64,
}
