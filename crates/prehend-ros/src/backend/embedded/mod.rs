//! Pure Rust backend: `rustdds` endpoints under the names, types and discovery messages of ROS 2.
//!
//! Endpoints are made on RustDDS itself and carry bytes, for three reasons: the client and action types of the
//! crate `ros2-client` lose answers under concurrent calls, samples to one's own process need a way of their own (`local`),
//! and one non-generic path keeps forty message types cheap to compile. In reading order: `names`, `wire` (bytes), `local`
//! (delivery within the process), `matches` (who is connected), `pump` (the one thread that reads), `roster` (which node has
//! which endpoint), `participant`, `announcements` (who is there), `rejoin` (who fell silent and is back), `endpoint`, `service`, `discovery`.

mod announcements;
mod discovery;
mod endpoint;
mod local;
mod matches;
mod names;
mod participant;
mod pump;
mod range;
mod rejoin;
mod roster;
mod service;
mod wire;

pub(crate) use discovery::Discovered;
pub(crate) use endpoint::{Reader, Writer};
pub(crate) use names::NodeKey;
pub(crate) use participant::Participant;
pub(crate) use service::{AnswerEnd, CallEnd, Incoming, Server};
pub(crate) use wire::{Sample, Sink};

/// It brings its interfaces.
pub(crate) fn check_interfaces() -> super::InterfaceReport {
    super::InterfaceReport::default()
}

/// What this is.
pub const BACKEND: super::Backend = super::Backend::Embedded;
