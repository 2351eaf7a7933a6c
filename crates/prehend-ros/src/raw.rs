//! Topics as bytes: for whoever keeps or repeats messages without looking into them.

use crate::backend::{Encoding, Reader, Sample, Sink, Writer};
use crate::sync::{Queue, lock};
use crate::topic::queueing;
use crate::{QosProfile, RosError};
use futures::Stream;
use std::collections::HashMap;
use std::fmt;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context as TaskContext, Poll};
use std::time::SystemTime;

/// Bytes before the message that tell its encoding.
const HEAD: usize = 4;

/// A message as rosbag2 stores it: four bytes that tell the encoding, then its CDR bytes as they came.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RawMessage {
    /// The stored bytes; [`from_cdr`](crate::from_cdr) reads them.
    pub data: Vec<u8>,
    /// When it arrived, by the wall.
    pub received: SystemTime,
}

/// A stream of the messages of a topic as bytes; it never ends.
pub struct RawSubscription {
    reader: Reader,
    topic: Arc<str>,
    queue: Arc<Queue<(Sample, SystemTime)>>,
    gaps: Arc<Mutex<Gaps>>,
}

/// What the middleware lost: publishers number their samples.
#[derive(Default)]
struct Gaps {
    newest: HashMap<[u8; 16], i64>,
    lost: u64,
}

impl Gaps {
    fn note(&mut self, sample: &Sample) {
        let Some((writer, number)) = sample.origin() else { return };
        // Those below zero were refused by the middleware and came within the process.
        if number < 1 {
            return;
        }
        let newest = self.newest.entry(writer).or_insert(number);
        self.lost += u64::try_from(number - *newest - 1).unwrap_or(0);
        *newest = number.max(*newest);
    }
}

impl fmt::Debug for RawSubscription {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RawSubscription").field("topic", &self.topic).finish_non_exhaustive()
    }
}

impl RawSubscription {
    pub(crate) fn new(
        topic: &str,
        qos: QosProfile,
        connect: impl FnOnce(Sink) -> Result<Reader, RosError>,
    ) -> Result<Self, RosError> {
        let queue = Arc::new(Queue::new(qos.depth));
        let gaps = Arc::new(Mutex::new(Gaps::default()));
        let (filled, noted) = (queue.clone(), gaps.clone());
        let sink = queueing(qos, move |sample| {
            lock(&noted).note(&sample);
            filled.push((sample, SystemTime::now()));
        });
        Ok(Self { reader: connect(sink)?, topic: topic.into(), queue, gaps })
    }

    /// Publishers matched, those of this process included.
    pub fn publisher_count(&self) -> usize {
        self.reader.matched()
    }

    /// Messages that fell out unread, and those whose numbers are missing: the middleware lost them.
    pub fn dropped(&self) -> u64 {
        self.queue.dropped() + lock(&self.gaps).lost
    }
}

fn stored(sample: &Sample) -> Vec<u8> {
    let little = sample.encoding == Encoding::Little;
    let mut data = Vec::with_capacity(HEAD + sample.payload.len());
    data.extend_from_slice(&[0, u8::from(little), 0, 0]);
    data.extend_from_slice(&sample.payload);
    data
}

impl Stream for RawSubscription {
    type Item = RawMessage;

    fn poll_next(self: Pin<&mut Self>, cx: &mut TaskContext<'_>) -> Poll<Option<RawMessage>> {
        self.queue
            .poll_pop(cx)
            .map(|item| item.map(|(sample, received)| RawMessage { data: stored(&sample), received }))
    }
}

/// Sends stored messages to a topic as they are; never blocks. Clones share one endpoint.
#[derive(Clone)]
pub struct RawPublisher {
    writer: Writer,
    topic: Arc<str>,
}

impl fmt::Debug for RawPublisher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RawPublisher").field("topic", &self.topic).finish_non_exhaustive()
    }
}

impl RawPublisher {
    pub(crate) fn new(topic: &str, writer: Writer) -> Self {
        Self { writer, topic: topic.into() }
    }

    /// Sends a message in stored bytes; when the send window is full it is dropped and counted, see [`dropped`](Self::dropped).
    ///
    /// Errors: [`RosError::Encode`] for bytes that are no little-endian CDR, [`RosError::Closed`].
    pub fn publish(&self, data: &[u8]) -> Result<(), RosError> {
        match data {
            [0, 1, _, _, payload @ ..] => self.writer.publish(payload.to_vec().into()),
            _ => Err(RosError::Encode {
                type_name: "stored bytes",
                reason: format!(
                    "they begin with {:?}; only little-endian CDR (0, 1) can be sent again",
                    &data[..data.len().min(HEAD)]
                ),
            }),
        }
    }

    /// Messages that other processes missed because the send window was full.
    pub fn dropped(&self) -> u64 {
        self.writer.dropped()
    }

    /// Subscriptions matched, those of this process included.
    pub fn subscriber_count(&self) -> usize {
        self.writer.matched()
    }
}
