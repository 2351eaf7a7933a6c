//! Publishers and subscriptions.

use crate::backend::{Reader, Sample, Sink, Writer, decode, encode};
use crate::health::Counter;
use crate::sync::{Queue, lock};
use crate::{Durability, QosProfile, RosError};
use futures::Stream;
use prehend_msgs::Message;
use std::collections::HashMap;
use std::fmt;
use std::marker::PhantomData;
use std::pin::Pin;
use std::sync::atomic::AtomicUsize;
use std::sync::{Arc, Mutex};
use std::task::{Context as TaskContext, Poll};
use tracing::warn;

/// Sends samples to a topic; never blocks. Clones share one endpoint.
pub struct Publisher<T: Message> {
    writer: Writer,
    counter: Arc<Counter>,
    size_hint: Arc<AtomicUsize>,
    message: PhantomData<fn(&T)>,
}

impl<T: Message> Clone for Publisher<T> {
    fn clone(&self) -> Self {
        Self {
            writer: self.writer.clone(),
            counter: self.counter.clone(),
            size_hint: self.size_hint.clone(),
            message: PhantomData,
        }
    }
}

impl<T: Message> fmt::Debug for Publisher<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Publisher").field("topic", &self.counter.topic()).finish_non_exhaustive()
    }
}

impl<T: Message> Publisher<T> {
    pub(crate) fn new(topic: &str, writer: Writer) -> Self {
        let counter = Arc::new(Counter::publisher(topic));
        let below = writer.clone();
        counter.drops_are(move || below.dropped());
        Self { writer, counter, size_hint: Arc::default(), message: PhantomData }
    }

    /// Counts what is sent.
    pub(crate) fn counter(&self) -> &Arc<Counter> {
        &self.counter
    }

    /// Sends `message`; when the send window is full the sample is dropped and counted, see [`dropped`](Self::dropped).
    ///
    /// Errors: [`RosError::Encode`], [`RosError::Closed`].
    pub fn publish(&self, message: &T) -> Result<(), RosError> {
        self.writer.publish(encode(message, &self.size_hint)?)?;
        self.counter.count();
        Ok(())
    }

    /// Samples that other processes missed because the send window was full.
    pub fn dropped(&self) -> u64 {
        self.writer.dropped()
    }

    /// Subscriptions matched, those of this process included.
    pub fn subscriber_count(&self) -> usize {
        self.writer.matched()
    }
}

/// A stream of the samples of a topic; it never ends.
///
/// Keeps the newest [`QosProfile::depth`] samples for a slow reader. Samples that are no `T` are logged, counted in
/// [`dropped`](Self::dropped) and left out.
pub struct Subscription<T: Message> {
    reader: Reader,
    counter: Arc<Counter>,
    queue: Arc<Queue<Sample>>,
    message: PhantomData<fn() -> T>,
}

impl<T: Message> fmt::Debug for Subscription<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Subscription").field("topic", &self.counter.topic()).finish_non_exhaustive()
    }
}

/// A sink that hands samples on; a late repetition never replaces the newer latched sample of the same publisher.
pub(crate) fn queueing(qos: QosProfile, push: impl Fn(Sample) + Send + Sync + 'static) -> Sink {
    let newest: Mutex<HashMap<[u8; 16], i64>> = Mutex::default();
    Arc::new(move |sample: Sample| {
        if qos.durability == Durability::TransientLocal
            && let Some((writer, number)) = sample.origin()
        {
            let mut newest = lock(&newest);
            let last = newest.entry(writer).or_insert(0);
            if (1..=*last).contains(&number) {
                return;
            }
            *last = number.max(*last);
        }
        push(sample);
    })
}

impl<T: Message> Subscription<T> {
    pub(crate) fn new(
        topic: &str,
        qos: QosProfile,
        connect: impl FnOnce(Sink) -> Result<Reader, RosError>,
    ) -> Result<Self, RosError> {
        let queue = Arc::new(Queue::new(qos.depth));
        let counter = Arc::new(Counter::subscription(topic, qos));
        let (below, filled, counted) = (queue.clone(), queue.clone(), counter.clone());
        counter.drops_are(move || below.dropped());
        let reader = connect(queueing(qos, move |sample| {
            counted.count();
            filled.push(sample);
        }))?;
        Ok(Self { reader, counter, queue, message: PhantomData })
    }

    fn decode(&self, sample: &Sample) -> Option<T> {
        match decode(&sample.payload, sample.encoding) {
            Ok(message) => Some(message),
            Err(error) => {
                self.counter.count_undecodable();
                warn!(topic = self.counter.topic(), %error, "a sample was left out");
                None
            }
        }
    }

    /// Counts what arrives.
    pub(crate) fn counter(&self) -> &Arc<Counter> {
        &self.counter
    }

    /// The newest sample that has arrived and was not read yet; older ones are thrown away.
    pub fn take_newest(&mut self) -> Option<T> {
        let mut newest = None;
        while let Some(sample) = self.queue.pop() {
            newest = Some(sample);
        }
        newest.and_then(|sample| self.decode(&sample))
    }

    /// Publishers matched, those of this process included. After a publisher was killed it still counts for about 50 s; one of Cyclone DDS for up to 20 s.
    pub fn publisher_count(&self) -> usize {
        self.reader.matched()
    }

    /// Samples that fell out unread, and samples that could not be decoded.
    pub fn dropped(&self) -> u64 {
        self.counter.dropped()
    }
}

impl<T: Message> Stream for Subscription<T> {
    type Item = T;

    fn poll_next(self: Pin<&mut Self>, cx: &mut TaskContext<'_>) -> Poll<Option<T>> {
        loop {
            match self.queue.poll_pop(cx) {
                Poll::Ready(Some(sample)) => {
                    if let Some(message) = self.decode(&sample) {
                        return Poll::Ready(Some(message));
                    }
                }
                Poll::Ready(None) => return Poll::Ready(None),
                Poll::Pending => return Poll::Pending,
            }
        }
    }
}
