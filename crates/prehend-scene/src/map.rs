//! The object map (ASP III-A).

use crate::{Object, ObjectKey};
use serde::{Deserialize, Serialize};

/// All objects known, with a version that grows with every change.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ObjectMap {
    /// Frame of everything in the map.
    pub frame: String,
    /// Grows by one with every update; 0 = never updated.
    pub version: u64,
    /// Time of the newest keyframe, seconds.
    pub stamp: f64,
    /// Objects in the order they were first seen.
    pub objects: Vec<Object>,
    /// The plane `a x + b y + c z + d = 0` (unit normal, up) that carries the objects, when one was seen.
    pub support_plane: Option<[f64; 4]>,
}

impl ObjectMap {
    /// The object with this key.
    pub fn get(&self, key: &ObjectKey) -> Option<&Object> {
        self.objects.iter().find(|object| object.key == *key)
    }

    /// Height of the supporting plane at (x, y), metres; 0 when no plane is known.
    pub fn support_height(&self, x: f64, y: f64) -> f64 {
        match self.support_plane {
            Some([a, b, c, d]) if c.abs() > 1e-6 => -(a * x + b * y + d) / c,
            _ => 0.0,
        }
    }
}
