//! Where a part is that an action works on, by evidence that is gathered until it is enough, and by fixed chains of the same skills
//! (AAH 4 and appendix 0.B): simulated tables, the wrist camera with imperfect detectors, and the parts' own pixels as truth.

mod methods;
mod sample;
mod scenes;
mod score;

pub use methods::{Answer, Method, Setting};
pub use sample::{Sample, sample};
pub use scenes::{KEPT_BACK, KINDS, Kind, Subset};
pub use score::Score;

#[cfg(test)]
mod tests;
