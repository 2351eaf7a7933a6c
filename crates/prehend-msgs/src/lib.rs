//! Rust types of every ROS 2 interface Prehend speaks, and the names of its topics, services and actions.
//!
//! The types are made by the build script from the interface files in `../prehend_interfaces/` (ours) and `standard/` (the
//! layouts of the public packages, ROS 2 Jazzy): [`sensor_msgs::msg::Image`], [`prehend_interfaces::srv::Gate`] with its
//! `Request`, `Response` and `Service`, [`prehend_interfaces::action::ExecuteSkill`] with its `Goal`, `Result`, `Feedback`
//! and `Action`. Their shape is r2r's: field names as in the file (a Rust keyword gets a trailing `_`), every array a
//! `Vec`, constants as associated constants. Serde gives them the wire form of real ROS 2 under a CDR serializer;
//! `Default` is the default of the interface file, with fixed arrays at their length. Build values with
//! `..Default::default()`. [`ros2msg`] has their definitions as text, [`type_hash`] their hashes.
//!
//! Not for: sending (that is `prehend-ros`), conversion to the types of the lower layers (that is `prehend-nodes`).
//!
//! Read first: [`Message`], then [`names`].

mod definitions;
mod fixed_array;
pub mod names;
#[cfg(feature = "ros2")]
pub mod ros2;
mod traits;

pub use definitions::{ros2msg, type_hash};
pub use traits::{Action, Message, Payload, Service};

include!(concat!(env!("OUT_DIR"), "/interfaces.rs"));
