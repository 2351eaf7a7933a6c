//! Scenes as data: what stands where, how it is seen, and how badly the detector sees it.
//!
//! A scene file (`config/scenes/*.yaml`, schema in `config/scenes/README.md`) is read into a [`Scene`];
//! [`Scene::instantiate`] draws everything random from a seed and gives a [`PlacedScene`], in which every object
//! has a pose. All poses are in `link_base`: z up, x forward from the robot to the table, y left; in a scene with a room they are in
//! `map`. Metres, radians.

mod check;
mod color;
mod detector;
mod fixture;
mod library;
mod material;
mod model;
mod object;
mod place;
mod placement;
mod read;
mod room;
mod shape;
mod template;

pub use color::{Color, ColorName, named_color, named_colors};
pub use detector::{CameraSpec, DepthNoise, DetectorSpec};
pub use fixture::{FurnitureSpec, TableSpec};
pub use library::{Library, objects_folder};
pub use material::{DEFAULT_DENSITY, DEFAULT_FRICTION};
pub use model::{Joint, JointKind, Latch, Link, Model, Spring, StateRule};
pub use object::ObjectSpec;
pub use place::{PlaceError, PlacedObject, PlacedScene};
pub use placement::{Placement, Support};
pub use room::{LocalisationSpec, RoomSpec, WallSpec};
pub use shape::{Hollow, Shape};

use serde::Serialize;

/// One scene file: furniture, camera, detector and objects, of which some are placed at random.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Scene {
    /// Name of the scene.
    pub name: String,
    /// Robot of the scene: `xarm6`, or `mobile` in a room.
    pub robot: String,
    /// The table the objects stand on; in a room its floor.
    pub table: TableSpec,
    /// Fixed boxes beside or on the table.
    pub furniture: Vec<FurnitureSpec>,
    /// The camera on the wrist.
    pub camera: CameraSpec,
    /// How imperfect the simulated detector is.
    pub detector: DetectorSpec,
    /// How imperfect the simulated detector of parts is: as the detector, unless the scene says otherwise.
    pub part_detector: DetectorSpec,
    /// Objects, in file order; names are unique.
    pub objects: Vec<ObjectSpec>,
    /// The room, for a robot that drives; everything is in the frame `map` then.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub room: Option<RoomSpec>,
}

#[cfg(test)]
mod tests;
