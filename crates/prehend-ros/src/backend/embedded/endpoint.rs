//! Writers and readers of bytes.

use super::matches::{Prefix, prefix};
use super::names::{NodeKey, TopicType};
use super::participant::Participant;
use super::pump::{Answering, Work};
use super::wire::{RawAdapter, Sample, Sink};
use crate::backend::{Encoding, EndpointName};
use crate::{QosProfile, RosError};
use bytes::Bytes;
use rustdds::no_key::DataWriter;
use rustdds::{GUID, RTPSEntity, SampleIdentity, Timestamp, WriteOptionsBuilder};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use tracing::debug;

/// A writer; clones share the endpoint, which goes with the last of them.
#[derive(Clone)]
pub(crate) struct Writer(pub(super) Arc<WriterCore>);

pub(super) struct WriterCore {
    participant: Arc<Participant>,
    node: NodeKey,
    topic: TopicType,
    qos: QosProfile,
    guid: GUID,
    dds: DataWriter<Bytes, RawAdapter>,
    dropped: AtomicU64,
    /// Numbers the samples that DDS refused and the process itself still gets: from -1 downwards.
    refused: AtomicI64,
}

impl Writer {
    pub(super) fn new(
        participant: Arc<Participant>,
        node: NodeKey,
        topic: TopicType,
        qos: QosProfile,
        guid: GUID,
        dds: DataWriter<Bytes, RawAdapter>,
    ) -> Self {
        let refused = AtomicI64::new(0);
        Self(Arc::new(WriterCore {
            participant,
            node,
            topic,
            qos,
            guid,
            dds,
            dropped: AtomicU64::new(0),
            refused,
        }))
    }

    /// Sends bytes at once or drops and counts them.
    pub(crate) fn publish(&self, payload: Bytes) -> Result<(), RosError> {
        if self.0.participant.is_closed() {
            return Err(RosError::Closed);
        }
        if self.0.write(payload.clone(), None).is_none() {
            self.0.dropped.fetch_add(1, Ordering::Relaxed);
            // A dead peer's full window must not cut off this process.
            let number = self.0.refused.fetch_sub(1, Ordering::Relaxed) - 1;
            let identity = SampleIdentity { writer_guid: self.0.guid, sequence_number: number.into() };
            self.0.deliver_locally(payload, identity, None);
        }
        Ok(())
    }

    /// Samples dropped so far.
    pub(crate) fn dropped(&self) -> u64 {
        self.0.dropped.load(Ordering::Relaxed)
    }

    /// Readers that receive what is sent.
    pub(crate) fn matched(&self) -> usize {
        let core = &self.0;
        core.participant.matches.count(core.guid)
            + core.participant.locals.reader_count(&core.topic, &core.qos)
    }
}

impl WriterCore {
    pub(super) fn guid(&self) -> GUID {
        self.guid
    }

    pub(super) fn participant(&self) -> &Arc<Participant> {
        &self.participant
    }

    fn deliver_locally(&self, payload: Bytes, identity: SampleIdentity, related: Option<SampleIdentity>) {
        let sample = Sample { payload, encoding: Encoding::Little, identity, related };
        let pass_on = |sinks, sample| self.participant.send(Work::Local(sinks, sample));
        self.participant.locals.deliver(&self.topic, &self.qos, &sample, pass_on);
    }
}

impl Answering for WriterCore {
    fn topic_name(&self) -> &str {
        &self.topic.name
    }

    fn write(&self, payload: Bytes, related: Option<SampleIdentity>) -> Option<SampleIdentity> {
        let options = WriteOptionsBuilder::new()
            .source_timestamp(Timestamp::now())
            .related_sample_identity_opt(related)
            .build();
        match self.dds.write_with_options(payload.clone(), options) {
            Ok(identity) => {
                self.deliver_locally(payload, identity, related);
                Some(identity)
            }
            Err(error) => {
                debug!(topic = self.topic.name, %error, "not sent");
                None
            }
        }
    }

    fn is_matched_to(&self, peer: Prefix) -> bool {
        peer == prefix(self.guid) || self.participant.matches.peers(self.guid).contains(&peer)
    }
}

impl Drop for WriterCore {
    fn drop(&mut self) {
        self.participant.forget(self.node, &self.topic, self.guid);
    }
}

/// A reader; its sink is called until it is dropped.
pub(crate) struct Reader {
    participant: Arc<Participant>,
    node: NodeKey,
    topic: TopicType,
    qos: QosProfile,
    guid: GUID,
}

impl Reader {
    pub(super) fn new(
        participant: Arc<Participant>,
        node: NodeKey,
        topic: TopicType,
        qos: QosProfile,
        guid: GUID,
    ) -> Self {
        Self { participant, node, topic, qos, guid }
    }

    pub(super) fn guid(&self) -> GUID {
        self.guid
    }

    /// Writers whose samples arrive.
    pub(crate) fn matched(&self) -> usize {
        self.participant.matches.count(self.guid)
            + self.participant.locals.writer_count(&self.topic, &self.qos)
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        self.participant.forget(self.node, &self.topic, self.guid);
        self.participant.send(Work::RemoveReader(self.guid));
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
        self.dds_writer(node, TopicType::of_topic(named), qos)
    }

    pub(super) fn dds_writer(
        self: &Arc<Self>,
        node: NodeKey,
        topic: TopicType,
        qos: QosProfile,
    ) -> Result<Writer, RosError> {
        let dds = self.raw_writer(&topic, qos)?;
        let guid = dds.guid();
        self.locals.add_writer(&topic, guid, qos);
        self.roster.add_writer(node, guid);
        self.matches.touch();
        Ok(Writer::new(self.clone(), node, topic, qos, guid, dds))
    }

    /// A reader of `node` on the topic `named` that calls `sink`, which must not hold this participant.
    pub(crate) fn reader(
        self: &Arc<Self>,
        node: NodeKey,
        named: &EndpointName,
        qos: QosProfile,
        sink: Sink,
    ) -> Result<Reader, RosError> {
        self.dds_reader(node, TopicType::of_topic(named), qos, sink)
    }

    pub(super) fn dds_reader(
        self: &Arc<Self>,
        node: NodeKey,
        topic: TopicType,
        qos: QosProfile,
        sink: Sink,
    ) -> Result<Reader, RosError> {
        let guid = self.raw_reader(&topic, qos, sink.clone())?;
        self.locals
            .add_reader(&topic, guid, qos, sink, |sinks, sample| self.send(Work::Local(sinks, sample)));
        self.roster.add_reader(node, guid);
        self.matches.touch();
        Ok(Reader::new(self.clone(), node, topic, qos, guid))
    }
}
