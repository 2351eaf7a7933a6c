//! Service clients and servers.

use crate::RosError;
use crate::backend::{Caller, Incoming, Responder, Server, decode, encode};
use crate::sync::Queue;
use futures::Stream;
use prehend_msgs::Service;
use std::fmt;
use std::marker::PhantomData;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::task::{Context as TaskContext, Poll};
use std::time::Duration;
use tracing::warn;

/// Requests a server keeps while it is busy; the oldest falls out, and its caller runs into its deadline.
const REQUEST_BACKLOG: usize = 4096;

/// Calls a service; clones share one endpoint, and concurrent calls each get their own answer.
pub struct Client<S: Service> {
    caller: Arc<Caller>,
    service: PhantomData<fn() -> S>,
}

impl<S: Service> Clone for Client<S> {
    fn clone(&self) -> Self {
        Self { caller: self.caller.clone(), service: PhantomData }
    }
}

impl<S: Service> fmt::Debug for Client<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client").field("service", &self.caller.name()).finish_non_exhaustive()
    }
}

impl<S: Service> Client<S> {
    pub(crate) fn new(caller: Caller) -> Self {
        Self { caller: Arc::new(caller), service: PhantomData }
    }

    /// Sends `request` and waits for the answer, all within `deadline`; a server that is not there yet is waited for.
    ///
    /// Errors: [`RosError::Unavailable`] (no server within the deadline), [`RosError::PeerLost`] (it left during the call),
    /// [`RosError::Timeout`] (it did not answer; also when it was killed), [`RosError::WouldBlock`], [`RosError::Encode`],
    /// [`RosError::Decode`], [`RosError::Closed`].
    pub async fn request(&self, request: S::Request, deadline: Duration) -> Result<S::Response, RosError> {
        let payload = encode(&request, &AtomicUsize::new(256))?;
        let answer = self.caller.call(payload, deadline).await?;
        decode(&answer.payload, answer.encoding)
    }

    /// As [`request`](Self::request), of what may be asked twice, such as to stop: asked again five times a second until somebody answers.
    ///
    /// Errors: as [`request`](Self::request).
    pub async fn insist(&self, request: S::Request, deadline: Duration) -> Result<S::Response, RosError> {
        let payload = encode(&request, &AtomicUsize::new(256))?;
        let answer = self.caller.insist(payload, deadline).await?;
        decode(&answer.payload, answer.encoding)
    }

    /// Sends `request`; gives who answered it.
    pub(crate) async fn answering(
        &self,
        request: S::Request,
        deadline: Duration,
    ) -> Result<Server, RosError> {
        let payload = encode(&request, &AtomicUsize::new(256))?;
        Ok(self.caller.call(payload, deadline).await?.server())
    }

    /// Whether a server is matched now. After a server was killed it still counts for about 50 s; one of Cyclone DDS for up to 20 s.
    pub fn is_available(&self) -> bool {
        self.caller.is_available()
    }

    /// Waits for a server.
    ///
    /// Errors: [`RosError::Unavailable`], [`RosError::Closed`].
    pub async fn wait_available(&self, deadline: Duration) -> Result<(), RosError> {
        self.caller.wait_available(deadline).await
    }
}

/// A stream of the requests to a service; it never ends. Requests that do not decode are logged and left out.
pub struct ServiceServer<S: Service> {
    responder: Arc<Responder>,
    name: Arc<str>,
    queue: Arc<Queue<Incoming>>,
    service: PhantomData<fn() -> S>,
}

impl<S: Service> fmt::Debug for ServiceServer<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ServiceServer").field("service", &self.name).finish_non_exhaustive()
    }
}

impl<S: Service> ServiceServer<S> {
    pub(crate) fn new(
        name: &str,
        connect: impl FnOnce(Box<dyn Fn(Incoming) + Send + Sync>) -> Result<Responder, RosError>,
    ) -> Result<Self, RosError> {
        let queue = Arc::new(Queue::new(REQUEST_BACKLOG));
        let sink = queue.clone();
        let service: Arc<str> = name.into();
        let logged = service.clone();
        let responder = connect(Box::new(move |incoming| {
            if sink.push(incoming).is_some() {
                warn!(service = &*logged, "a request was dropped: the server is too busy");
            }
        }))?;
        Ok(Self { responder: Arc::new(responder), name: service, queue, service: PhantomData })
    }
}

impl<S: Service> Stream for ServiceServer<S> {
    type Item = ServiceRequest<S>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut TaskContext<'_>) -> Poll<Option<ServiceRequest<S>>> {
        loop {
            let incoming = match self.queue.poll_pop(cx) {
                Poll::Ready(Some(incoming)) => incoming,
                Poll::Ready(None) => return Poll::Ready(None),
                Poll::Pending => return Poll::Pending,
            };
            match decode(&incoming.sample.payload, incoming.sample.encoding) {
                Ok(message) => {
                    let open = Open {
                        responder: self.responder.clone(),
                        name: self.name.clone(),
                        incoming,
                        answered: false,
                    };
                    return Poll::Ready(Some(ServiceRequest { message, open }));
                }
                Err(error) => warn!(service = &*self.name, %error, "a request was left out"),
            }
        }
    }
}

/// One request; dropping it unanswered is logged, and its caller runs into its deadline.
pub struct ServiceRequest<S: Service> {
    /// What is asked.
    pub message: S::Request,
    open: Open,
}

impl<S: Service> fmt::Debug for ServiceRequest<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ServiceRequest").field("message", &self.message).finish_non_exhaustive()
    }
}

/// The way back to the caller.
struct Open {
    responder: Arc<Responder>,
    name: Arc<str>,
    incoming: Incoming,
    answered: bool,
}

impl Drop for Open {
    fn drop(&mut self) {
        if !self.answered {
            warn!(service = &*self.name, "a request was dropped without an answer");
        }
    }
}

impl<S: Service> ServiceRequest<S> {
    /// Sends the answer.
    ///
    /// Errors: [`RosError::Encode`], [`RosError::AnswerTooLong`], [`RosError::WouldBlock`], [`RosError::Closed`]; the caller runs
    /// into its deadline then.
    pub fn respond(mut self, response: S::Response) -> Result<(), RosError> {
        let payload = encode(&response, &AtomicUsize::new(256))?;
        self.open.answered = true;
        self.open.responder.respond(&self.open.incoming, payload)
    }

    /// Splits the request from the way to answer it, so that the message can be moved.
    pub fn into_parts(self) -> (S::Request, Responding<S>) {
        (self.message, Responding { open: self.open, service: PhantomData })
    }
}

/// The way to answer a request whose message was taken out.
pub struct Responding<S: Service> {
    open: Open,
    service: PhantomData<fn(S)>,
}

impl<S: Service> fmt::Debug for Responding<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Responding").field("service", &self.open.name).finish_non_exhaustive()
    }
}

impl<S: Service> Responding<S> {
    /// As [`ServiceRequest::respond`].
    pub fn respond(mut self, response: S::Response) -> Result<(), RosError> {
        let payload = encode(&response, &AtomicUsize::new(256))?;
        self.open.answered = true;
        self.open.responder.respond(&self.open.incoming, payload)
    }
}
