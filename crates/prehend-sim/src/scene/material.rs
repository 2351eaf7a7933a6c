//! What things are made of that the scene file does not tell it of.

use super::{Color, Shape};
use crate::body::object_parts;

/// Friction coefficient of things that name none. Two surfaces rub with the smaller of theirs.
pub const DEFAULT_FRICTION: f64 = 0.7;
/// Density of things that name no mass, of the solid volume, in kg per cubic metre.
pub const DEFAULT_DENSITY: f64 = 600.0;
/// Least default mass, kg; of a ball, that a pad touches in one point: contacts give way by `F / (m w^2)`, and fingers that press with
/// 30 N go 11 mm deep, on either side, into a ball of 27 g. It is squeezed out of them.
const LEAST_MASS: f64 = 0.02;
const LEAST_BALL: f64 = 0.06;

/// Mass of a thing that names none: solid things as light wood, thin walls as light ceramics, with a least one.
pub(super) fn default_mass(shape: &Shape) -> f64 {
    let parts = object_parts(shape, Color([0; 3]), None);
    let volume: f64 = parts.iter().filter(|part| !part.only_seen).map(|part| part.shape.volume()).sum();
    let density = if shape.hollow().is_some() { 2.5 * DEFAULT_DENSITY } else { DEFAULT_DENSITY };
    (volume * density).max(if matches!(shape, Shape::Sphere { .. }) { LEAST_BALL } else { LEAST_MASS })
}
