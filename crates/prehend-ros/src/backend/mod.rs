//! The middleware below the facade; the only place that names one.
//!
//! The rest of the crate speaks in [`Participant`], [`Writer`], [`Reader`], [`Caller`] and [`Responder`]: named endpoints that
//! carry CDR bytes. A second backend stands beside `embedded` and offers the same five.

mod embedded;

pub(crate) use embedded::{
    Caller, Discovered, Incoming, NodeKey, Participant, Reader, Responder, Sample, Sink, TopicType, Writer,
    check_node_name, dds_name, decode, encode,
};
pub use embedded::{STUCK_EXIT_CODE, when_stuck};
