//! How well a memory of whole buildings finds what people speak of (Affordance RAG V): buildings from a generator, views of a tour
//! through them as the simulated detector sees them, sentences with referring expressions, and which views show what is meant.

mod baseline;
mod building;
mod run;
mod scale;
mod score;
mod speaker;
mod tour;

pub use baseline::Bm25;
pub use building::{Building, BuildingError, Generator, TrueThing};
pub use run::{Method, Run, RunError, Setting, Words, run, tally};
pub use scale::{Scale, Scaled, Times, Vectors, scale};
pub use score::{Ranked, Recall, Tally};
pub use speaker::{Instruction, Speaker};
pub use tour::{Camera, Tour, TourError, View};
