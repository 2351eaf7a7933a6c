//! A client of a service, typed by r2r.

use super::spin::Attended;
use super::wire::Sample;
use crate::sync::lock;
use futures::FutureExt;
use futures::future::BoxFuture;
use r2r::{WrappedServiceTypeSupport, WrappedTypesupport};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tokio::sync::oneshot;
use tracing::{debug, warn};

/// Time between two looks whether a server that was there still is.
const LOOK: Duration = Duration::from_millis(20);

/// A client of r2r that takes and gives bytes.
pub(super) trait Link: Attended {
    /// The work that sends `request`; its answer comes through `answer`.
    fn prepare(
        self: Arc<Self>,
        request: &[u8],
        answer: oneshot::Sender<Sample>,
    ) -> r2r::Result<Box<dyn FnOnce() + Send>>;

    /// Whether a server was there when last looked.
    fn is_available(&self) -> bool;
}

/// A call under way.
struct Pending<S: WrappedServiceTypeSupport> {
    response: BoxFuture<'static, r2r::Result<S::Response>>,
    answer: oneshot::Sender<Sample>,
}

/// A question whether a server is there.
struct Probe {
    question: Option<BoxFuture<'static, r2r::Result<()>>>,
    next: Instant,
}

pub(super) struct TypedLink<S: WrappedServiceTypeSupport> {
    client: r2r::Client<S>,
    pending: Mutex<Vec<Pending<S>>>,
    probe: Mutex<Probe>,
    available: AtomicBool,
}

impl<S> TypedLink<S>
where
    S: WrappedServiceTypeSupport + 'static,
    S::Request: Send,
    S::Response: Send,
{
    pub(super) fn new(client: r2r::Client<S>) -> Self {
        let probe = Mutex::new(Probe { question: None, next: Instant::now() });
        Self { client, pending: Mutex::default(), probe, available: AtomicBool::new(false) }
    }

    fn send(&self, request: &S::Request, answer: oneshot::Sender<Sample>) {
        // Locked until the call is known: its answer may come at once.
        let mut pending = lock(&self.pending);
        pending.retain(|call| !call.answer.is_closed());
        let response = match self.client.request(request) {
            Ok(response) => response.boxed(),
            Err(error) => {
                warn!(%error, "a request was not sent");
                // Whoever waits runs into the deadline.
                futures::future::pending().boxed()
            }
        };
        pending.push(Pending { response, answer });
    }
}

impl<S> Link for TypedLink<S>
where
    S: WrappedServiceTypeSupport + 'static,
    S::Request: Send,
    S::Response: Send,
{
    fn prepare(
        self: Arc<Self>,
        request: &[u8],
        answer: oneshot::Sender<Sample>,
    ) -> r2r::Result<Box<dyn FnOnce() + Send>> {
        let request = S::Request::from_serialized_bytes(request)?;
        Ok(Box::new(move || self.send(&request, answer)))
    }

    fn is_available(&self) -> bool {
        self.available.load(Ordering::SeqCst)
    }
}

impl<S> Attended for TypedLink<S>
where
    S: WrappedServiceTypeSupport + 'static,
    S::Request: Send,
    S::Response: Send,
{
    fn before(&self) {
        let mut probe = lock(&self.probe);
        if probe.question.is_none() && probe.next <= Instant::now() {
            // r2r answers within the next turn, or not before a server comes.
            probe.question = r2r::Node::is_available(&self.client).ok().map(FutureExt::boxed);
        }
    }

    fn after(&self) -> (bool, bool) {
        let available = {
            let mut probe = lock(&self.probe);
            match probe.question.as_mut().map(|question| question.now_or_never()) {
                None => self.is_available(),
                Some(None) => false,
                Some(Some(found)) => {
                    *probe = Probe { question: None, next: Instant::now() + LOOK };
                    found.is_ok()
                }
            }
        };
        let changed = self.available.swap(available, Ordering::SeqCst) != available;
        let mut answered = Vec::new();
        let mut pending = lock(&self.pending);
        let mut index = 0;
        while let Some(call) = pending.get_mut(index) {
            match (&mut call.response).now_or_never() {
                None => index += 1,
                Some(response) => answered.push((response, pending.swap_remove(index).answer)),
            }
        }
        drop(pending);
        let any = !answered.is_empty();
        for (response, answer) in answered {
            match response.and_then(|response| response.to_serialized_bytes()).map(Sample::of) {
                // A caller that has stopped waiting is no error.
                Ok(Some(sample)) => drop(answer.send(sample)),
                Ok(None) => debug!("an answer in an unknown encoding was left out"),
                Err(error) => debug!(%error, "an answer was left out"),
            }
        }
        (any, changed)
    }
}
