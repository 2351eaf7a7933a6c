//! Requests and answers as bytes.

use super::courier::Outbox;
use super::endpoint::rcl_qos;
use super::layout;
use super::participant::{NodeKey, Participant};
use super::spin::{Attended, Spinner};
use super::twin;
use super::wire::{Sample, serialized};
use crate::backend::EndpointName;
use crate::sync::lock;
use crate::{QosProfile, RosError, ServiceMapping};
use bytes::Bytes;
use futures::FutureExt;
use futures::future::BoxFuture;
use r2r::{WrappedServiceTypeSupport, WrappedTypesupport};
use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tokio::sync::oneshot;
use tracing::{debug, warn};

/// Requests or answers that may be unread at once without loss.
const BURST: usize = 512;

/// Time between two looks whether a server that was there still is.
const LOOK: Duration = Duration::from_millis(20);

fn reading(qos: QosProfile) -> r2r::QosProfile {
    rcl_qos(qos.depth(qos.depth.max(BURST)))
}

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

/// The calling end of a service.
pub(crate) struct Caller {
    name: String,
    type_name: String,
    participant: Arc<Participant>,
    _spinner: Arc<Spinner>,
    outbox: Outbox,
    link: Arc<dyn Link>,
}

/// Whoever offers the service: rcl does not tell them apart.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(in crate::backend) struct Somebody;

impl Caller {
    /// `name` is for people; the middleware chooses the mapping.
    pub(crate) fn new(
        participant: &Arc<Participant>,
        node: NodeKey,
        name: String,
        named: &EndpointName,
        qos: QosProfile,
        _: ServiceMapping,
    ) -> Result<Self, RosError> {
        let spinner = participant.spinner(node)?;
        let wanted = named.clone();
        let what = format!("a client of {}", named.name);
        layout::check(&what, named)?;
        let link = participant.make(&spinner, &what, move |spun| {
            let link = twin::link(&mut spun.node, &wanted, reading(qos))?;
            let attended: Arc<dyn Attended> = link.clone();
            spun.attend(Arc::downgrade(&attended));
            Ok(link)
        })?;
        Ok(Self {
            name,
            type_name: named.type_name.clone(),
            participant: participant.clone(),
            _spinner: spinner,
            outbox: participant.outbox(),
            link,
        })
    }

    /// Name of the service or action, for people.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    pub(in crate::backend) fn participant(&self) -> &Participant {
        &self.participant
    }

    pub(in crate::backend) fn servers(&self) -> HashSet<Somebody> {
        self.link.is_available().then_some(Somebody).into_iter().collect()
    }

    /// Sends `request` now, whoever listens; the answer comes through the receiver.
    pub(crate) fn send_now(&self, request: Bytes) -> Result<oneshot::Receiver<Sample>, RosError> {
        if self.participant.is_closed() {
            return Err(RosError::Closed);
        }
        let (sender, receiver) = oneshot::channel();
        let work = self.link.clone().prepare(&serialized(&request), sender);
        self.outbox.hand_over(work.map_err(|error| refused(&self.type_name, &error))?);
        Ok(receiver)
    }
}

/// The middleware does not take the bytes for what they should be.
fn refused(type_name: &str, error: &r2r::Error) -> RosError {
    RosError::Encode { type_name: "bytes", reason: format!("they are no {type_name} of this ROS 2: {error}") }
}

/// Takes the requests of a service; called on the node's thread.
pub(super) type RequestSink = Box<dyn Fn(Incoming) + Send + Sync>;

/// The work that sends an answer made of bytes.
type Reply = dyn Fn(&[u8]) -> r2r::Result<Box<dyn FnOnce() + Send>> + Send;

/// One request as it came in.
pub(crate) struct Incoming {
    pub(crate) sample: Sample,
    reply: Box<Reply>,
}

impl Incoming {
    pub(super) fn of<S>(request: r2r::ServiceRequest<S>) -> r2r::Result<Self>
    where
        S: WrappedServiceTypeSupport + 'static,
        S::Request: Send,
        S::Response: Send,
    {
        let bytes = request.message.to_serialized_bytes()?;
        let sample = Sample::of(bytes).ok_or(r2r::Error::RCL_RET_UNSUPPORTED)?;
        let reply = move |answer: &[u8]| -> r2r::Result<Box<dyn FnOnce() + Send>> {
            let answer = S::Response::from_serialized_bytes(answer)?;
            let request = request.clone();
            Ok(Box::new(move || {
                if let Err(error) = request.respond(answer) {
                    debug!(%error, "an answer was not sent");
                }
            }))
        };
        Ok(Self { sample, reply: Box::new(reply) })
    }
}

/// The answering end of a service.
pub(crate) struct Responder {
    participant: Arc<Participant>,
    spinner: Arc<Spinner>,
    outbox: Outbox,
    type_name: String,
    id: u64,
}

impl Responder {
    /// `sink` takes every request; it must not hold the participant.
    pub(crate) fn new(
        participant: &Arc<Participant>,
        node: NodeKey,
        named: &EndpointName,
        qos: QosProfile,
        _: ServiceMapping,
        sink: impl Fn(Incoming) + Send + Sync + 'static,
    ) -> Result<Self, RosError> {
        let spinner = participant.spinner(node)?;
        let id = spinner.new_id();
        let wanted = named.clone();
        let what = format!("a service at {}", named.name);
        layout::check(&what, named)?;
        participant.make(&spinner, &what, move |spun| {
            let source = twin::service(&mut spun.node, wanted, reading(qos), Box::new(sink))?;
            spun.add_source(id, source);
            Ok(())
        })?;
        let type_name = named.type_name.clone();
        Ok(Self { participant: participant.clone(), spinner, outbox: participant.outbox(), type_name, id })
    }

    /// Answers `request`.
    pub(crate) fn respond(&self, request: &Incoming, answer: Bytes) -> Result<(), RosError> {
        if self.participant.is_closed() {
            return Err(RosError::Closed);
        }
        let work = (request.reply)(&serialized(&answer)).map_err(|error| refused(&self.type_name, &error))?;
        self.outbox.hand_over(work);
        Ok(())
    }
}

impl Drop for Responder {
    fn drop(&mut self) {
        let id = self.id;
        self.spinner.tell(move |spun| spun.remove_source(id));
    }
}
