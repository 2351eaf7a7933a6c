//! How the ends of a node's topics are doing.

use crate::{QosProfile, Reliability};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock};
use std::time::{Duration, Instant};

/// Which end of a topic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TopicEnd {
    /// It sends.
    Publisher,
    /// It receives, reliably.
    Subscription,
    /// It receives a stream of which samples may be lost: a sensor.
    Sensor,
}

/// One end of a topic as it is doing now.
#[derive(Clone, Debug, PartialEq)]
pub struct TopicHealth {
    /// Absolute name of the topic.
    pub topic: String,
    /// Which end.
    pub end: TopicEnd,
    /// Samples sent or received.
    pub samples: u64,
    /// Samples dropped: not sent because the window was full, fallen out unread, or undecodable.
    pub dropped: u64,
    /// Time since the last sample; `None` before the first.
    pub age: Option<Duration>,
}

/// Gives the drops of the endpoint below.
type Drops = Box<dyn Fn() -> u64 + Send + Sync>;

/// Counts what goes through one endpoint.
pub(crate) struct Counter {
    topic: String,
    end: TopicEnd,
    samples: AtomicU64,
    undecodable: AtomicU64,
    last: Mutex<Option<Instant>>,
    drops: OnceLock<Drops>,
}

impl Counter {
    pub(crate) fn publisher(topic: &str) -> Self {
        Self::new(topic, TopicEnd::Publisher)
    }

    pub(crate) fn subscription(topic: &str, qos: QosProfile) -> Self {
        let lossy = qos.reliability == Reliability::BestEffort;
        Self::new(topic, if lossy { TopicEnd::Sensor } else { TopicEnd::Subscription })
    }

    fn new(topic: &str, end: TopicEnd) -> Self {
        Self {
            topic: topic.to_owned(),
            end,
            samples: AtomicU64::new(0),
            undecodable: AtomicU64::new(0),
            last: Mutex::new(None),
            drops: OnceLock::new(),
        }
    }

    /// Where the drops below are counted; set once.
    pub(crate) fn drops_are(&self, drops: impl Fn() -> u64 + Send + Sync + 'static) {
        // A second call says the same.
        let _ = self.drops.set(Box::new(drops));
    }

    pub(crate) fn count(&self) {
        self.samples.fetch_add(1, Ordering::Relaxed);
        *crate::sync::lock(&self.last) = Some(Instant::now());
    }

    pub(crate) fn count_undecodable(&self) {
        self.undecodable.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn dropped(&self) -> u64 {
        self.drops.get().map_or(0, |drops| drops()) + self.undecodable.load(Ordering::Relaxed)
    }

    pub(crate) fn topic(&self) -> &str {
        &self.topic
    }

    pub(crate) fn health(&self) -> TopicHealth {
        TopicHealth {
            topic: self.topic.clone(),
            end: self.end,
            samples: self.samples.load(Ordering::Relaxed),
            dropped: self.dropped(),
            age: crate::sync::lock(&self.last).map(|at| at.elapsed()),
        }
    }
}
