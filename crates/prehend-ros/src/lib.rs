//! The one door to ROS 2: node, publisher, subscription, service, action, parameters, clock, transforms.
//!
//! For: nodes, which speak only this surface (r2r's idiom) whatever middleware is below.
//! Not for: anything that decides something; core crates know no ROS.
//! Read [`Node`] first.
//!
//! Every call has a deadline, and a dead peer is a typed error ([`RosError`]). Nothing that publishes blocks. Endpoints are
//! made once and cloned. Call [`shutdown_signal`] first thing, and return from `main` when it completes, so that peers see
//! the process leave. All of it runs under a multi-threaded tokio runtime.
//!
//! ```
//! use futures::StreamExt;
//! use prehend_msgs::std_srvs::srv::Trigger;
//! use prehend_ros::{Context, Node, NodeOptions, QosProfile, RosError};
//! use std::time::Duration;
//!
//! # fn main() -> Result<(), RosError> {
//! # tokio::runtime::Runtime::new().expect("a runtime").block_on(async {
//! # let lease = prehend_ros::DomainLease::take().expect("a domain is free");
//! # let context = Context::create_in_domain(lease.domain_id())?;
//! # #[cfg(any())]
//! let context = Context::create()?; // ROS_DOMAIN_ID
//! let options = NodeOptions { overrides: vec!["greeting:=hello".to_owned()], ..Default::default() };
//! let node = Node::create(&context, "greeter", "/prehend", options)?;
//! let greeting = node.parameters().string("greeting")?;
//! node.parameters().finish()?; // a misspelt parameter is an error
//!
//! let mut server = node.create_service::<Trigger::Service>("~/greet", QosProfile::services())?;
//! tokio::spawn(async move {
//!     while let Some(request) = server.next().await {
//!         let answer = Trigger::Response { success: true, message: greeting.clone() };
//!         if let Err(error) = request.respond(answer) {
//!             tracing::warn!(%error, "not answered");
//!         }
//!     }
//! });
//!
//! let client = node.create_client::<Trigger::Service>("/prehend/greeter/greet", QosProfile::services())?;
//! let answer = client.request(Trigger::Request::default(), Duration::from_secs(5)).await?;
//! assert_eq!(answer.message, "hello");
//! # Ok(())
//! # })
//! # }
//! ```

mod action;
mod arguments;
mod backend;
mod cdr;
mod clock;
mod context;
mod domain;
mod error;
mod graph;
mod health;
mod lifecycle;
mod logging;
mod names;
mod node;
mod params;
mod qos;
mod raw;
mod service;
mod service_mapping;
mod severity;
mod shutdown;
mod sync;
mod tf;
mod topic;

pub use action::{
    ActionClient, ActionServer, ExecutingGoal, FeedbackStream, GoalCanceller, GoalHandle, GoalRequest,
    GoalStatus, Occupied, Pulse,
};
pub use arguments::{ArgumentError, Remap, RemapTarget, RosArguments};
pub use backend::{BACKEND, Backend, InterfaceReport, STUCK_EXIT_CODE, check_interfaces, when_stuck};
pub use cdr::{from_cdr, to_cdr};
pub use clock::{Clock, nanoseconds, time_from_nanoseconds};
pub use context::Context;
pub use domain::DomainLease;
pub use error::{CancelRejection, RosError};
pub use graph::TopicInfo;
pub use health::{TopicEnd, TopicHealth};
pub use lifecycle::{Lifecycle, LifecycleState, LifecycleTransition, Perform, TransitionOutcome};
pub use logging::{init_logging, last_error};
pub use node::{Node, NodeOptions};
pub use params::{Live, ParameterError, ParameterValue, Parameters, UnknownParameter};
pub use qos::{Durability, QosProfile, Reliability};
pub use raw::{RawMessage, RawPublisher, RawSubscription};
pub use service::{Client, Responding, ServiceRequest, ServiceServer};
pub use service_mapping::ServiceMapping;
pub use severity::Severity;
pub use shutdown::{Shutdown, shutdown_signal};
pub use tf::{TfBuffer, TfError, TfTree, Transform};
pub use topic::{Publisher, Subscription};
