//! Delivery within the process.
//!
//! A participant without a multicast interface (only `lo` up) matches itself but receives nothing of its own. So samples go
//! to the readers of the same participant here, and those readers ignore what DDS brings from their own participant.
//! The pump calls the sinks: a sink that ran inside `publish` could come back to a lock its own thread holds.

use super::names::TopicType;
use super::wire::{Sample, Sink};
use crate::sync::lock;
use crate::{Durability, QosProfile, Reliability};
use rustdds::GUID;
use std::collections::{HashMap, VecDeque};
use std::sync::Mutex;

/// Endpoints of this participant by topic.
#[derive(Default)]
pub(super) struct Locals {
    topics: Mutex<HashMap<TopicType, LocalTopic>>,
}

#[derive(Default)]
struct LocalTopic {
    readers: Vec<(GUID, QosProfile, Sink)>,
    writers: Vec<(GUID, QosProfile, VecDeque<Sample>)>,
}

/// The DDS rule: a reader may ask for no more than the writer offers.
fn compatible(offered: &QosProfile, requested: &QosProfile) -> bool {
    (offered.reliability == Reliability::Reliable || requested.reliability == Reliability::BestEffort)
        && (offered.durability == Durability::TransientLocal || requested.durability == Durability::Volatile)
}

impl Locals {
    /// Adds a reader; `pass_on` gets what transient-local writers hold for it.
    pub(super) fn add_reader(
        &self,
        topic: &TopicType,
        guid: GUID,
        qos: QosProfile,
        sink: Sink,
        pass_on: impl Fn(Vec<Sink>, Sample),
    ) {
        let mut topics = lock(&self.topics);
        let local = topics.entry(topic.clone()).or_default();
        if qos.durability == Durability::TransientLocal {
            for (_, offered, samples) in &local.writers {
                for sample in samples.iter().filter(|_| compatible(offered, &qos)) {
                    pass_on(vec![sink.clone()], sample.clone());
                }
            }
        }
        local.readers.push((guid, qos, sink));
    }

    pub(super) fn add_writer(&self, topic: &TopicType, guid: GUID, qos: QosProfile) {
        lock(&self.topics).entry(topic.clone()).or_default().writers.push((guid, qos, VecDeque::new()));
    }

    pub(super) fn remove(&self, topic: &TopicType, guid: GUID) {
        // A sink may own the last handle of another endpoint, whose end comes back here: it is dropped after the lock.
        let _removed = {
            let mut topics = lock(&self.topics);
            let Some(local) = topics.get_mut(topic) else { return };
            let (removed, kept): (Vec<_>, Vec<_>) =
                std::mem::take(&mut local.readers).into_iter().partition(|(reader, _, _)| *reader == guid);
            local.readers = kept;
            local.writers.retain(|(writer, _, _)| *writer != guid);
            if local.readers.is_empty() && local.writers.is_empty() {
                topics.remove(topic);
            }
            removed
        };
    }

    /// Hands `sample` and the sinks of every compatible reader of this participant to `pass_on`.
    pub(super) fn deliver(
        &self,
        topic: &TopicType,
        qos: &QosProfile,
        sample: &Sample,
        pass_on: impl Fn(Vec<Sink>, Sample),
    ) {
        let mut topics = lock(&self.topics);
        let Some(local) = topics.get_mut(topic) else { return };
        if qos.durability == Durability::TransientLocal {
            for (writer, _, samples) in &mut local.writers {
                if *writer == sample.identity.writer_guid {
                    samples.push_back(sample.clone());
                    while samples.len() > qos.depth {
                        samples.pop_front();
                    }
                }
            }
        }
        let readers = local.readers.iter().filter(|(_, requested, _)| compatible(qos, requested));
        let sinks: Vec<Sink> = readers.map(|(_, _, sink)| sink.clone()).collect();
        if !sinks.is_empty() {
            // Under the lock, so that samples keep their order.
            pass_on(sinks, sample.clone());
        }
    }

    /// Readers of this participant that receive what a writer of `qos` sends.
    pub(super) fn reader_count(&self, topic: &TopicType, qos: &QosProfile) -> usize {
        lock(&self.topics).get(topic).map_or(0, |local| {
            local.readers.iter().filter(|(_, requested, _)| compatible(qos, requested)).count()
        })
    }

    /// Writers of this participant whose samples a reader of `qos` receives.
    pub(super) fn writer_count(&self, topic: &TopicType, qos: &QosProfile) -> usize {
        lock(&self.topics).get(topic).map_or(0, |local| {
            local.writers.iter().filter(|(_, offered, _)| compatible(offered, qos)).count()
        })
    }

    /// What the writers of this participant on a topic offer.
    pub(super) fn offered(&self, topic: &str) -> Vec<QosProfile> {
        let topics = lock(&self.topics);
        let of_topic = topics.iter().filter(|(known, _)| known.name == topic);
        of_topic.flat_map(|(_, local)| local.writers.iter().map(|(_, offered, _)| *offered)).collect()
    }

    /// Name and type, readers and writers of every topic with an end in this participant.
    pub(super) fn endpoints(&self) -> Vec<(TopicType, Vec<GUID>, Vec<GUID>)> {
        lock(&self.topics)
            .iter()
            .map(|(topic, local)| {
                (
                    topic.clone(),
                    local.readers.iter().map(|(guid, _, _)| *guid).collect(),
                    local.writers.iter().map(|(guid, _, _)| *guid).collect(),
                )
            })
            .collect()
    }
}
