//! Service clients and servers.

use crate::{RosError, stub::Service};
use futures::Stream;
use std::marker::PhantomData;
use std::pin::Pin;
use std::task::{Context as TaskContext, Poll};
use std::time::Duration;

/// Calls a service; clones share one endpoint, concurrent calls are fine.
#[derive(Debug)]
pub struct Client<S: Service>(PhantomData<fn() -> S>);

impl<S: Service> Clone for Client<S> {
    fn clone(&self) -> Self {
        Self(PhantomData)
    }
}

impl<S: Service> Client<S> {
    /// Sends `request` and waits for the answer, all within `deadline`.
    pub async fn request(&self, _request: S::Request, _deadline: Duration) -> Result<S::Response, RosError> {
        Err(RosError::Closed)
    }
    /// Whether a server is matched now.
    pub fn is_available(&self) -> bool {
        false
    }
    /// Waits for a server.
    pub async fn wait_available(&self, _deadline: Duration) -> Result<(), RosError> {
        Err(RosError::Closed)
    }
}

/// A stream of the requests to a service. Never ends.
#[derive(Debug)]
pub struct ServiceServer<S: Service>(PhantomData<fn() -> S>);

impl<S: Service> Stream for ServiceServer<S> {
    type Item = ServiceRequest<S>;
    fn poll_next(self: Pin<&mut Self>, _cx: &mut TaskContext<'_>) -> Poll<Option<ServiceRequest<S>>> {
        Poll::Pending
    }
}

/// One request; dropping it unanswered is logged, and its caller runs into its deadline.
#[derive(Debug)]
pub struct ServiceRequest<S: Service> {
    /// What is asked.
    pub message: S::Request,
}

impl<S: Service> ServiceRequest<S> {
    /// Sends the answer.
    pub fn respond(self, _response: S::Response) -> Result<(), RosError> {
        Err(RosError::Closed)
    }
}
