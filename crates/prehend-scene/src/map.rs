//! The object map (ASP III-A).

use crate::{Object, ObjectKey};
use serde::{Deserialize, Serialize};

/// Which of the two maps of a mobile robot is meant (ASP III-D); a fixed arm has the local one alone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Scope {
    /// What the arm can reach from where the base stands: frame of the arm's base, forgotten when the base has moved.
    #[default]
    Local,
    /// The whole room: frame `map`, from the stops of a tour; tools never update it.
    Room,
}

impl Scope {
    /// The name on the wire.
    pub fn name(self) -> &'static str {
        match self {
            Self::Local => "local",
            Self::Room => "room",
        }
    }

    /// The scope with this name; the empty name is the local one.
    pub fn parse(name: &str) -> Option<Self> {
        match name {
            "" | "local" => Some(Self::Local),
            "room" => Some(Self::Room),
            _ => None,
        }
    }
}

/// What keys of the room map begin with, so that none is taken for a key of the local map.
pub const ROOM_PREFIX: &str = "room_";

impl ObjectKey {
    /// The map the key is of.
    pub fn scope(&self) -> Scope {
        if self.0.starts_with(ROOM_PREFIX) { Scope::Room } else { Scope::Local }
    }
}

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
