//! From RGB-D frames and detections to the object map, its words, and the parts one can act on.
//!
//! For: what can be known about objects from pixels, points and words. Not for: where the pixels come from, judging
//! whether it suffices, or acting on it. Read [`map::MapBuilder`] first, then [`retrieve()`] and [`parts`].
//!
//! Synchronous and deterministic: time and seeds are arguments. Everything is in the map frame, metres.

pub mod affordances;
pub mod color;
pub mod confirm;
pub mod evidence;
pub mod hypothesis;
pub mod keyframe;
pub mod lexicon;
pub mod map;
pub mod names;
pub mod parts;
pub mod query;
pub mod recall;
pub mod retrieve;
pub mod room;
pub mod segment;
pub mod sight;
pub mod summaries;
pub mod traits;
pub mod upright;

pub use affordances::{AffordanceProposer, MarkedView, Proposals, Triplet};
pub use confirm::{Confirmer, Judgement, Question};
pub use hypothesis::Skipped;
pub use keyframe::{Detection, ImageTurn, Keyframe, KeyframeError, LabelImage, PartLabels};
pub use lexicon::Lexicon;
pub use map::{Cut, MapBuilder, MapSettings, MaskUse, UpdateReport};
pub use recall::Recall;
pub use retrieve::{Retrieval, retrieve};
pub use room::{RoomBuilder, RoomSettings};
pub use sight::Sight;
pub use summaries::{AreaQuestion, Summariser, Summary};
pub use traits::{
    Detector, Embedder, InferenceError, Instance, PictureReader, Prompt, ScoredMask, Segmenter, TextReader,
};

#[cfg(test)]
extern crate self as prehend_perception;
#[cfg(test)]
#[allow(unreachable_pub, reason = "shared with the bench, where everything must be public")]
#[path = "../tests/support/render.rs"]
mod render;
