//! Writers and readers of bytes.

use super::courier::Outbox;
use super::layout;
use super::participant::{NodeKey, Participant};
use super::qos::rcl_qos;
use super::spin::Spinner;
use super::twin::{self, Port};
use super::wire::{Sink, serialized};
use crate::backend::EndpointName;
use crate::sync::{Queue, lock};
use crate::{Durability, QosProfile, Reliability, RosError};
use bytes::Bytes;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use tracing::debug;

/// Samples that may wait to be sent, or for their acknowledgement, when the depth of the topic is not greater.
const WINDOW: usize = 512;

/// A writer; clones share the endpoint, which goes with the last of them.
#[derive(Clone)]
pub(crate) struct Writer(Arc<WriterCore>);

struct WriterCore {
    /// Of the process; held so that it lives as long as its endpoints.
    participant: Arc<Participant>,
    spinner: Arc<Spinner>,
    outbox: Outbox,
    topic: String,
    /// Whether rcl may wait for a reader.
    reliable: bool,
    /// Samples on their way to rcl.
    window: Arc<Queue<Bytes>>,
    failed: Arc<AtomicU64>,
    port: Arc<Mutex<Box<dyn Port>>>,
    /// As `port`, for the question who listens: a send may hold the other one for a while.
    counter: Mutex<Box<dyn Port>>,
}

fn send(port: &Mutex<Box<dyn Port>>, failed: &AtomicU64, payload: &[u8]) {
    let bytes = serialized(payload);
    // r2r panics at return codes it does not know.
    let sent = catch_unwind(AssertUnwindSafe(|| lock(port).publish(&bytes)));
    if !matches!(sent, Ok(Ok(()))) {
        failed.fetch_add(1, Ordering::Relaxed);
        // Not above debug: the line itself would be published.
        debug!(?sent, "not sent");
    }
}

impl Writer {
    /// Sends bytes to a topic that may lose them; hands those of a reliable one over, where the oldest sample is dropped and
    /// counted when the window is full.
    pub(crate) fn publish(&self, payload: Bytes) -> Result<(), RosError> {
        let core = &self.0;
        if core.participant.is_closed() {
            return Err(RosError::Closed);
        }
        if !core.reliable {
            send(&core.port, &core.failed, &payload);
            return Ok(());
        }
        if core.window.push(payload).is_some() {
            // The sample that fell out had its turn handed over already.
            return Ok(());
        }
        let (window, port, failed) = (core.window.clone(), core.port.clone(), core.failed.clone());
        core.outbox.hand_over(move || {
            if let Some(payload) = window.pop() {
                send(&port, &failed, &payload);
            }
        });
        Ok(())
    }

    /// Samples dropped so far.
    pub(crate) fn dropped(&self) -> u64 {
        self.0.window.dropped() + self.0.failed.load(Ordering::Relaxed)
    }

    /// Readers that receive what is sent.
    pub(crate) fn matched(&self) -> usize {
        lock(&self.0.counter).matched()
    }
}

impl Drop for WriterCore {
    fn drop(&mut self) {
        // What was handed over before is still sent.
        let (port, spinner, topic) =
            (self.port.clone(), self.spinner.clone(), std::mem::take(&mut self.topic));
        self.outbox.hand_over(move || {
            spinner.tell(move |spun| {
                debug!(topic, "a publisher goes");
                lock(&port).destroy(&mut spun.node);
            });
        });
    }
}

/// A reader; its sink is called until it is dropped.
pub(crate) struct Reader {
    _participant: Arc<Participant>,
    spinner: Arc<Spinner>,
    id: u64,
    topic: String,
}

impl Reader {
    /// Writers whose samples arrive.
    pub(crate) fn matched(&self) -> usize {
        let topic = self.topic.clone();
        let found = self.spinner.ask("the publishers", move |spun| {
            spun.node.get_publishers_info_by_topic(&topic, false).map(|found| found.len())
        });
        found.unwrap_or(0)
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        let id = self.id;
        self.spinner.tell(move |spun| spun.remove_source(id));
    }
}

impl Participant {
    /// A writer of `node` on the topic `named`.
    pub(crate) fn writer(
        self: &Arc<Self>,
        node: NodeKey,
        named: &EndpointName,
        qos: QosProfile,
    ) -> Result<Writer, RosError> {
        let spinner = self.spinner(node)?;
        let reliable = qos.reliability == Reliability::Reliable;
        let window = qos.depth.max(WINDOW);
        // A burst must not overwrite itself; what is latched is what the depth says.
        let history =
            if reliable && qos.durability == Durability::Volatile { qos.depth(window) } else { qos };
        let wanted = named.clone();
        let what = format!("a publisher on {}", named.name);
        layout::check(&what, named)?;
        let port =
            self.make(&spinner, &what, move |spun| twin::port(&mut spun.node, &wanted, rcl_qos(history)))?;
        Ok(Writer(Arc::new(WriterCore {
            participant: self.clone(),
            spinner,
            outbox: self.outbox(),
            topic: named.name.clone(),
            reliable,
            window: Arc::new(Queue::new(window)),
            failed: Arc::default(),
            counter: Mutex::new(port.another()),
            port: Arc::new(Mutex::new(port)),
        })))
    }

    /// A reader of `node` on the topic `named` that calls `sink`, which must not hold this participant.
    pub(crate) fn reader(
        self: &Arc<Self>,
        node: NodeKey,
        named: &EndpointName,
        qos: QosProfile,
        sink: Sink,
    ) -> Result<Reader, RosError> {
        let spinner = self.spinner(node)?;
        let id = spinner.new_id();
        let wanted = named.clone();
        let what = format!("a subscription of {}", named.name);
        layout::check(&what, named)?;
        self.make(&spinner, &what, move |spun| {
            let source = twin::source(&mut spun.node, wanted, rcl_qos(qos), sink)?;
            spun.add_source(id, source);
            Ok(())
        })?;
        Ok(Reader { _participant: self.clone(), spinner, id, topic: named.name.clone() })
    }
}
