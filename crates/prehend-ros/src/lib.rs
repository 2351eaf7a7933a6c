//! The one door to ROS 2: node, publisher, subscription, service, action, parameters, clock, transforms.
//!
//! For: nodes, which speak only this surface (r2r's idiom) whatever middleware is below.
//! Not for: anything that decides something; core crates know no ROS.
//! Read [`Node`] first.

mod action;
mod backend;
mod clock;
mod context;
mod domain;
mod error;
mod graph;
mod logging;
mod node;
mod params;
mod qos;
mod service;
mod shutdown;
mod sync;
mod tf;
mod topic;

pub use action::{
    ActionClient, ActionServer, ExecutingGoal, FeedbackStream, GoalCanceller, GoalHandle, GoalRequest, GoalStatus,
};
pub use clock::{Clock, nanoseconds, time_from_nanoseconds};
pub use context::Context;
pub use domain::DomainLease;
pub use error::{CancelRejection, RosError};
pub use graph::TopicInfo;
pub use logging::{Severity, init_logging};
pub use node::{Node, NodeOptions, ServiceMapping};
pub use params::{ParameterError, Parameters, UnknownParameter};
pub use qos::{Durability, QosProfile, Reliability};
pub use service::{Client, Responding, ServiceRequest, ServiceServer};
pub use shutdown::{Shutdown, shutdown_signal};
pub use tf::{TfBuffer, TfError, Transform};
pub use topic::{Publisher, Subscription};
