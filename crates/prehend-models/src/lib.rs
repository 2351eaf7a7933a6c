//! Network models behind the traits of perception: ONNX Runtime, and what happens before and after it.
//!
//! For: what turns pictures and words into a model's numbers, and those back into boxes, masks and features, as the model's
//! own authors do it. Not for: training, downloading weights, or deciding what to believe (that is perception and the
//! verifier). Read [`runtime`] first (where the library comes from), then [`session::Session`] (one model), then a kind of
//! model.
//!
//! The arithmetic before and after a model is plain functions on slices and needs no runtime. The only global state is the
//! runtime itself, of which a process can have one.

pub mod config;
pub mod detector;
pub mod embedder;
pub mod picture;
pub mod runtime;
pub mod segmenter;
pub mod session;
pub mod sight;
pub mod signature;

pub use config::ModelsConfig;
pub use runtime::{Runtime, RuntimeError};
pub use session::{ModelError, Session};
