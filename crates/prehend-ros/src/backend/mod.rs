//! The middleware below the facade; the only place that names one.
//!
//! The rest of the crate speaks in [`Participant`], [`Writer`], [`Reader`], [`Caller`] and [`Responder`]: endpoints that are
//! named as ROS names them ([`EndpointName`]) and carry CDR bytes. Two backends carry them: `embedded`, pure Rust on
//! RustDDS, and `ros2`, r2r on an installed ROS 2, which wins when the features of both are on. What is no matter of the
//! middleware is shared: names, the coding of messages, the ends of a service and how a call waits for its answer, the watchdog.

mod call;
#[cfg(not(feature = "ros2"))]
mod embedded;
mod name;
#[cfg(feature = "ros2")]
mod ros2;
mod service;
mod watchdog;
mod wire;

#[cfg(not(any(feature = "ros2", feature = "embedded")))]
compile_error!("prehend-ros needs one of the features `embedded` and `ros2`");

#[cfg(not(feature = "ros2"))]
use embedded as chosen;
#[cfg(feature = "ros2")]
use ros2 as chosen;

pub(crate) use call::LAST_WORDS;
pub use chosen::BACKEND;
pub(crate) use chosen::{
    Discovered, Incoming, NodeKey, Participant, Reader, Sample, Server, Sink, Writer,
    check_interfaces as report,
};
pub(crate) use name::{EndpointName, check_node_name};
pub(crate) use service::{Caller, Responder};
pub use watchdog::{STUCK_EXIT_CODE, when_stuck};
pub(crate) use wire::{Encoding, decode, encode};

/// The middleware a binary was built with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Backend {
    /// Pure Rust: nothing of ROS 2 need be installed.
    Embedded,
    /// r2r on the ROS 2 that was installed where the binary was built; the distribution, such as `jazzy`.
    Ros2 {
        /// The distribution of that ROS 2.
        distro: &'static str,
    },
}

impl Backend {
    /// The distribution of ROS 2 around this process, such as `humble`: that of the backend `ros2`; with `embedded`, the one that is sourced
    /// (`ROS_DISTRO`).
    pub fn distro(self) -> Option<String> {
        match self {
            Self::Ros2 { distro } => Some(distro.to_owned()),
            Self::Embedded => std::env::var("ROS_DISTRO").ok().filter(|distro| !distro.is_empty()),
        }
    }
}

/// What an installed ROS 2 has of the interfaces that Prehend speaks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct InterfaceReport {
    /// Interfaces it has.
    pub known: usize,
    /// Packages with interfaces it had not where this program was compiled; their endpoints cannot be made.
    pub missing: Vec<String>,
    /// Interfaces with other fields there; their endpoints are refused.
    pub differing: Vec<String>,
}

/// Compares the interfaces of the installed ROS 2 with those of this program. Nothing to compare with [`Backend::Embedded`],
/// which brings its own.
pub fn check_interfaces() -> InterfaceReport {
    report()
}
