//! What a robot has seen and done in whole buildings, and how it is found again (Affordance RAG, IV).
//!
//! For: the levels of the memory (what can be done with a thing, the thing in a view, the view, zones, areas, the building),
//! their retrieval by a described wish, and what outcomes teach. Not for: seeing (perception), deciding what to look for (agent),
//! evidence for one motion (harness). Read [`Memory`] first, then [`record`] for what it keeps and [`recall`] for how it finds.
//!
//! Frames: each building has one frame, that of its map, z up. Metres, radians, seconds since 1970.

pub mod areas;
pub mod ask;
pub mod encode;
mod error;
pub mod learn;
pub mod memory;
pub mod nouns;
pub mod propose;
pub mod recall;
pub mod record;
pub mod request;
pub mod store;

pub use ask::{Asked, Asker};
pub use encode::{Encoder, WordEncoder};
pub use error::MemoryError;
pub use memory::{Memory, Outcome};
pub use nouns::Nouns;
pub use recall::{Answer, Found, Settings};
pub use record::{Action, Episode, Look, Seen, Thing};
pub use request::{Described, Request};
pub use store::{Store, StoreError};
