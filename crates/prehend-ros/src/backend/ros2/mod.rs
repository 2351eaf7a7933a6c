//! r2r on an installed ROS 2.
//!
//! rcl does what `embedded` does by itself: discovery, matching, delivery within the process, the tie between a request and
//! its answer, `ROS_DOMAIN_ID` and the other variables of discovery. Messages pass as bytes: r2r takes and gives those of
//! topics raw; services and the feedback of actions are typed there, so those are made from bytes by the middleware's own
//! decoder (`twin`), which refuses what the r2r types would panic at. Actions stay ours, as three services and two topics.
//!
//! An r2r node can do nothing while it waits, so each has a thread of its own that waits a few milliseconds at most and
//! then does what others asked for (`spin`). `rcl_publish` may wait for a slow reader, so one thread sends for the whole
//! process what is reliable (`courier`): nothing here blocks who publishes, calls or answers. A reader that dies with much of
//! a topic unread holds the others up until rmw has given it up. In reading order: `wire`, `spin`, `courier`,
//! `participant`, `link`, `request`, `twin`, `layout`, `endpoint`, `service`, `discovery`.
//!
//! What r2r cannot do: a client, and a service or subscription to which nothing comes any more, stays in the graph until its
//! node goes; there is one domain for a process, that of its environment; of the graph it tells topics and who publishes
//! on them. And rcl reads `--ros-args` too: names that the facade has remapped are remapped by it once more, so that with
//! `a:=b` and `b:=c` what was `a` ends as `c`.

mod courier;
mod discovery;
mod endpoint;
mod layout;
mod link;
mod participant;
mod qos;
mod request;
mod sample;
mod service;
mod spin;
mod twin;
mod wire;

pub(crate) use discovery::Discovered;
pub(crate) use endpoint::{Reader, Writer};
pub(crate) use layout::check_interfaces;
pub(crate) use participant::{NodeKey, Participant};
pub(crate) use request::Incoming;
pub(crate) use service::{AnswerEnd, CallEnd};
pub(crate) use wire::{Sample, Server, Sink};

/// What this is.
pub const BACKEND: super::Backend = super::Backend::Ros2 { distro: r2r::ROS_DISTRO };
