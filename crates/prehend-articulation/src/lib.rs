//! Articulated things described: from what was seen of a thing and how its parts moved, a model of links and joints as URDF or SDFormat,
//! judged by critics before it is believed (articulate-anything's critics and verifiers, `articulated-object-critics.md`).
//!
//! For: proposing a model from clouds, fitting joints to looks and tracks, judging joints, links and whole models, deciding when to stop.
//! Not for: taking the looks, moving anything, drawing, files.
//! Read [`Model`] and [`Observation`] first, then [`describe`], which drives the loop.
//!
//! Everything is a function of its arguments: no clock, no randomness. Frames: `map` is that of the observation; a model has its own,
//! `map_from_model`. Units: metres, radians. Scores: 0 to 10, as the document has them.

pub mod critic;
mod describe;
mod evidence;
mod field;
mod fit;
mod inertia;
mod mesh;
mod model;
mod observation;
mod propose;
mod screw;
mod sdf;
mod search;
mod urdf;
mod verifier;

pub use describe::{Described, Iteration, Outcome, Wish, describe};
pub use fit::Fitted;
pub use mesh::{MeshFile, meshes};
pub use model::{Joint, JointKind, Link, Model, ModelError, Shape, Solid, Uncertainty};
pub use observation::{Look, Observation, ObservationError, Part, Track};
pub use screw::Screw;
pub use sdf::to_sdf;
pub use urdf::{UrdfError, from_urdf, to_urdf, to_urdf_with_meshes};
pub use verifier::{Decision, Rating, Thresholds, Verifier};
