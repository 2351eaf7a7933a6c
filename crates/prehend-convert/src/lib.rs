//! Between messages and the types of the core: the only place where wire types end.
//!
//! Everything that comes from the wire is validated here (finite numbers, lengths that agree), so that the core sees
//! only sound values.

mod articulated;
mod cloud;
mod error;
mod evidence;
mod image;
mod intent;
mod named;
mod object;
mod plan;
mod pose;

pub use articulated::*;
pub use cloud::*;
pub use error::ConvertError;
pub use evidence::*;
pub use image::*;
pub use intent::*;
pub use named::*;
pub use object::*;
pub use plan::*;
pub use pose::*;

#[cfg(test)]
mod tests;
