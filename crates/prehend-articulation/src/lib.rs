//! Articulated things described: from what was seen of a thing and how its parts moved, a model of links and joints as URDF or SDFormat,
//! judged by critics before it is believed (articulate-anything's critics and verifiers, `articulated-object-critics.md`).
//!
//! For: looks from the object map, proposing a model from clouds, fitting joints to looks and tracks, judging joints, links and whole
//! models, deciding when to stop, finding a described thing again. Not for: moving anything, drawing, files.
//! Read [`Model`] and [`Observation`] first, then [`describe`], which drives the loop, and [`Catalogue`], which keeps what it came to.
//!
//! Everything is a function of its arguments: no clock, no randomness. Frames: `map` is that of the observation; a model has its own,
//! `map_from_model`. Units: metres, radians. Scores: 0 to 10, as the document has them.

pub mod critic;
mod describe;
mod evidence;
mod field;
mod fit;
mod fitted;
pub mod gather;
mod inertia;
mod known;
mod mesh;
mod model;
mod motions;
mod observation;
mod place;
mod propose;
mod screw;
mod sdf;
mod search;
mod urdf;
mod verifier;

pub use describe::{Described, Iteration, Outcome, Wish, describe};
pub use fitted::Fitted;
pub use known::{Catalogue, HandWay, Known, KnownError};
pub use mesh::{MeshFile, meshes};
pub use model::{Joint, JointKind, Link, Model, ModelError, Shape, Solid, Uncertainty};
pub use motions::Motions;
pub use observation::{Look, MovablePart, Observation, ObservationError, Track};
pub use place::{Mechanism, Placed};
pub use screw::Screw;
pub use sdf::to_sdf;
pub use urdf::{UrdfError, from_urdf, to_urdf, to_urdf_with_meshes};
pub use verifier::{Decision, Rating, Thresholds, Verifier};
