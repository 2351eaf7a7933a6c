//! Requests and answers as bytes.
//!
//! A caller has one dispatcher: the pump hands every answer to the call it belongs to, through a map that is locked across
//! "send" and "insert", so that no answer comes before its call is known. A responder answers once its writer is
//! matched with the asker: an answer sent earlier would be lost.
//!
//! Both mappings can be told from the peer: a GUID begins with its vendor's id, and only the ROS 2 middleware on Cyclone DDS writes
//! the header.
//!
//! RustDDS 0.15 writes a stray byte into fragments that have inline QoS (`Option` of the parameter list in `DataFrag`), so a
//! large answer in the enhanced mapping would never arrive, and its event loop would die of a debug assertion. Such
//! answers carry the identity of their request behind the payload instead, where no CDR decoder looks and only this backend does:
//! toward Fast DDS they are refused ([`RosError::AnswerTooLong`]).

use super::endpoint::{Reader, Writer};
use super::matches::{Prefix, prefix};
use super::names::{NodeKey, TopicType};
use super::participant::Participant;
use super::pump::{Answering, DeferredAnswer, Work};
use super::wire::{Sample, Sink};
use crate::backend::EndpointName;
use crate::sync::lock;
use crate::{QosProfile, RosError, ServiceMapping};
use bytes::{BufMut, Bytes, BytesMut};
use rustdds::{GUID, SampleIdentity};
use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tokio::sync::oneshot;
use tracing::debug;

/// Bytes of the header of rmw_cyclonedds: half a GUID and a sequence number. A server only returns them.
const CYCLONE_HEADER: usize = 16;

/// Longer answers might be fragmented; RustDDS's smallest datagram payload is about 1400 bytes.
const LONGEST_INLINE_ANSWER: usize = 1024;

/// Ends an answer that carries the identity of its request: this mark after GUID and sequence number.
const TRAILER_MARK: [u8; 8] = *b"\0answer\0";

/// Bytes of GUID, sequence number and mark.
const TRAILER: usize = 32;

/// How long an answer waits for its asker to be matched.
const ANSWER_PATIENCE: Duration = Duration::from_secs(2);

/// Requests or answers that may be unread at once without loss; see `reader_policies`. As many stay in memory, read or not.
const BURST: usize = 128;

fn reading(qos: QosProfile) -> QosProfile {
    qos.depth(qos.depth.max(BURST))
}

/// Names one call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum CallId {
    Enhanced(SampleIdentity),
    Cyclone([u8; CYCLONE_HEADER]),
}

/// First bytes of every GUID of Cyclone DDS.
const CYCLONE_VENDOR: [u8; 2] = [0x01, 0x10];

/// First bytes of every GUID of RustDDS: of this backend.
const OWN_VENDOR: [u8; 2] = [0x01, 0x12];

impl ServiceMapping {
    /// How requests to and from process `peer` are laid out; never [`ServiceMapping::Auto`].
    fn toward(self, peer: Prefix) -> Self {
        match self {
            Self::Auto if peer.starts_with(&CYCLONE_VENDOR) => Self::Cyclone,
            Self::Auto => Self::Enhanced,
            told => told,
        }
    }
}

/// Which of `own`'s calls `answer` belongs to; a header is taken off.
fn answered_call(mapping: ServiceMapping, answer: &mut Sample, own: GUID) -> Option<CallId> {
    match mapping.toward(prefix(answer.identity.writer_guid)) {
        ServiceMapping::Cyclone => split_header(answer).map(CallId::Cyclone),
        _ => answer
            .related
            .or_else(|| split_trailer(answer))
            .filter(|related| related.writer_guid == own)
            .map(CallId::Enhanced),
    }
}

/// The call that `request` makes; a header is taken off.
fn asked_call(mapping: ServiceMapping, request: &mut Sample) -> Option<CallId> {
    match mapping.toward(prefix(request.identity.writer_guid)) {
        ServiceMapping::Cyclone => split_header(request).map(CallId::Cyclone),
        _ => Some(CallId::Enhanced(enhanced_id(request))),
    }
}

type Pending = Arc<Mutex<HashMap<CallId, oneshot::Sender<Sample>>>>;

/// Who offers a service: a process.
pub(crate) type Server = Prefix;

/// What a caller needs of the middleware.
pub(crate) struct CallEnd {
    mapping: ServiceMapping,
    writer: Writer,
    reader: Reader,
    request_topic: TopicType,
    answer_topic: TopicType,
    qos: QosProfile,
    pending: Pending,
    next: AtomicI64,
}

impl CallEnd {
    pub(in crate::backend) fn new(
        participant: &Arc<Participant>,
        node: NodeKey,
        named: &EndpointName,
        qos: QosProfile,
        mapping: ServiceMapping,
    ) -> Result<Self, RosError> {
        let (request_topic, answer_topic) = TopicType::of_service(named);
        let pending = Pending::default();
        let writer = participant.dds_writer(node, request_topic.clone(), qos)?;
        let own = writer.0.guid();
        let sink: Sink = {
            let pending = pending.clone();
            Arc::new(move |mut sample: Sample| {
                let Some(id) = answered_call(mapping, &mut sample, own) else { return };
                match lock(&pending).remove(&id) {
                    // A caller that has stopped waiting is no error.
                    Some(answer) => drop(answer.send(sample)),
                    None => debug!("an answer came too late or to another client"),
                }
            })
        };
        let reader = participant.dds_reader(node, answer_topic.clone(), reading(qos), sink)?;
        let next = AtomicI64::new(1);
        Ok(Self { mapping, writer, reader, request_topic, answer_topic, qos, pending, next })
    }

    /// Sends `request` now to the service that people call `name`; the answer comes through the receiver.
    pub(in crate::backend) fn send(
        &self,
        name: &str,
        request: Bytes,
    ) -> Result<oneshot::Receiver<Sample>, RosError> {
        let would_block = || RosError::WouldBlock { peer: name.to_owned() };
        let (sender, receiver) = oneshot::channel();
        let mut pending = lock(&self.pending);
        pending.retain(|_, answer| !answer.is_closed());
        // A service has one server, whose kind decides.
        let mapping =
            self.servers().iter().next().map_or(self.mapping, |server| self.mapping.toward(*server));
        let id = match mapping {
            ServiceMapping::Enhanced | ServiceMapping::Auto => {
                CallId::Enhanced(self.writer.0.write(request, None).ok_or_else(would_block)?)
            }
            ServiceMapping::Cyclone => {
                let mut header = [0; CYCLONE_HEADER];
                header[..8].copy_from_slice(&self.writer.0.guid().to_bytes()[8..]);
                header[8..].copy_from_slice(&self.next.fetch_add(1, Ordering::Relaxed).to_le_bytes());
                self.writer.0.write(with_header(&header, &request), None).ok_or_else(would_block)?;
                CallId::Cyclone(header)
            }
        };
        pending.insert(id, sender);
        Ok(receiver)
    }

    /// Processes that have both ends of the service matched with us.
    pub(in crate::backend) fn servers(&self) -> HashSet<Server> {
        let participant = self.writer.0.participant();
        let matches = &participant.matches;
        let answering = matches.peers(self.reader.guid());
        let mut servers = matches.peers(self.writer.0.guid());
        servers.retain(|server| answering.contains(server) && matches.is_known(server));
        let locals = &participant.locals;
        if locals.reader_count(&self.request_topic, &self.qos) > 0
            && locals.writer_count(&self.answer_topic, &self.qos) > 0
        {
            servers.insert(participant.own());
        }
        servers
    }
}

/// The identity a client knows its request by: rmw_fastrtps gives the GUID of its answer reader beside the sample.
fn enhanced_id(sample: &Sample) -> SampleIdentity {
    let mut id = sample.identity;
    if let Some(related) = sample.related {
        if related.writer_guid != GUID::GUID_UNKNOWN {
            id.writer_guid = related.writer_guid;
        }
        if i64::from(related.sequence_number) > 0 {
            id.sequence_number = related.sequence_number;
        }
    }
    id
}

fn with_header(header: &[u8; CYCLONE_HEADER], payload: &Bytes) -> Bytes {
    let mut bytes = BytesMut::with_capacity(CYCLONE_HEADER + payload.len());
    bytes.put_slice(header);
    bytes.put_slice(payload);
    bytes.freeze()
}

fn split_header(sample: &mut Sample) -> Option<[u8; CYCLONE_HEADER]> {
    let header = sample.payload.get(..CYCLONE_HEADER)?.try_into().ok()?;
    sample.payload = sample.payload.slice(CYCLONE_HEADER..);
    Some(header)
}

fn with_trailer(payload: &Bytes, request: SampleIdentity) -> Bytes {
    let mut bytes = BytesMut::with_capacity(payload.len() + TRAILER);
    bytes.put_slice(payload);
    bytes.put_slice(&request.writer_guid.to_bytes());
    bytes.put_slice(&i64::from(request.sequence_number).to_le_bytes());
    bytes.put_slice(&TRAILER_MARK);
    bytes.freeze()
}

fn split_trailer(sample: &mut Sample) -> Option<SampleIdentity> {
    // DDS may have padded the end to a multiple of four.
    let end = sample.payload.windows(TRAILER_MARK.len()).rev().take(4).position(|end| end == TRAILER_MARK)?;
    let start = sample.payload.len().checked_sub(end + TRAILER)?;
    let guid: [u8; 16] = sample.payload.get(start..start + 16)?.try_into().ok()?;
    let number: [u8; 8] = sample.payload.get(start + 16..start + 24)?.try_into().ok()?;
    sample.payload.truncate(start);
    Some(SampleIdentity {
        writer_guid: GUID::from_bytes(guid),
        sequence_number: i64::from_le_bytes(number).into(),
    })
}

/// The bytes of an answer and what goes beside them, as `asker` understands it; else the size that is too much for it.
fn laid_out(id: CallId, asker: Prefix, answer: Bytes) -> Result<(Bytes, Option<SampleIdentity>), usize> {
    match id {
        CallId::Cyclone(header) => Ok((with_header(&header, &answer), None)),
        CallId::Enhanced(identity) if answer.len() <= LONGEST_INLINE_ANSWER => Ok((answer, Some(identity))),
        CallId::Enhanced(identity) if asker.starts_with(&OWN_VENDOR) => {
            Ok((with_trailer(&answer, identity), None))
        }
        CallId::Enhanced(_) => Err(answer.len()),
    }
}

/// One request as it came in.
pub(crate) struct Incoming {
    pub(crate) sample: Sample,
    id: CallId,
}

/// What a responder needs of the middleware.
pub(crate) struct AnswerEnd {
    writer: Writer,
    _reader: Reader,
}

impl AnswerEnd {
    pub(in crate::backend) fn new(
        participant: &Arc<Participant>,
        node: NodeKey,
        named: &EndpointName,
        qos: QosProfile,
        mapping: ServiceMapping,
        sink: impl Fn(Incoming) + Send + Sync + 'static,
    ) -> Result<Self, RosError> {
        let (request_topic, answer_topic) = TopicType::of_service(named);
        // First the writer: a client that has matched the reader may have its answer.
        let writer = participant.dds_writer(node, answer_topic, qos)?;
        let sink: Sink = Arc::new(move |mut sample: Sample| match asked_call(mapping, &mut sample) {
            Some(id) => sink(Incoming { sample, id }),
            None => debug!("a request without header"),
        });
        let reader = participant.dds_reader(node, request_topic, reading(qos), sink)?;
        Ok(Self { writer, _reader: reader })
    }

    pub(in crate::backend) fn answer(&self, request: &Incoming, answer: Bytes) -> Result<(), RosError> {
        let core = &self.writer.0;
        let asker = prefix(request.sample.identity.writer_guid);
        let (payload, related) =
            laid_out(request.id, asker, answer).map_err(|bytes| RosError::AnswerTooLong {
                peer: core.topic_name().to_owned(),
                bytes,
                limit: LONGEST_INLINE_ANSWER,
            })?;
        if !core.is_matched_to(asker) {
            let until = Instant::now() + ANSWER_PATIENCE;
            core.participant().send(Work::Deferred(DeferredAnswer {
                writer: core.clone(),
                payload,
                related,
                asker,
                until,
            }));
            return Ok(());
        }
        match core.write(payload, related) {
            Some(_) => Ok(()),
            None => Err(RosError::WouldBlock { peer: core.topic_name().to_owned() }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::Encoding;

    const FAST_DDS: [u8; 2] = [0x01, 0x0f];

    fn guid(vendor: [u8; 2]) -> GUID {
        let mut bytes = [7; 16];
        bytes[..2].copy_from_slice(&vendor);
        GUID::from_bytes(bytes)
    }

    fn sample(vendor: [u8; 2], payload: &'static [u8], related: Option<SampleIdentity>) -> Sample {
        let identity = SampleIdentity { writer_guid: guid(vendor), sequence_number: 5.into() };
        let encoding = Encoding::Little;
        Sample { payload: Bytes::from_static(payload), encoding, identity, related }
    }

    #[test]
    fn the_mapping_follows_the_vendor_of_the_peer_unless_it_is_told() {
        use ServiceMapping::{Auto, Cyclone, Enhanced};
        for (mapping, vendor, expected) in [
            (Auto, CYCLONE_VENDOR, Cyclone),
            (Auto, FAST_DDS, Enhanced),
            (Auto, OWN_VENDOR, Enhanced),
            (Enhanced, CYCLONE_VENDOR, Enhanced),
            (Cyclone, OWN_VENDOR, Cyclone),
        ] {
            assert_eq!(mapping.toward(prefix(guid(vendor))), expected, "{mapping:?} {vendor:?}");
        }
    }

    #[test]
    fn one_server_understands_requests_of_every_vendor() {
        let mut cyclone = sample(CYCLONE_VENDOR, b"client_1number_1request", None);
        let id = asked_call(ServiceMapping::Auto, &mut cyclone);
        assert_eq!(id, Some(CallId::Cyclone(*b"client_1number_1")));
        assert_eq!(&cyclone.payload[..], b"request");
        assert_eq!(asked_call(ServiceMapping::Auto, &mut sample(CYCLONE_VENDOR, b"short", None)), None);

        // rmw_fastrtps names the reader that waits for the answer.
        let asker = SampleIdentity { writer_guid: guid([9, 9]), sequence_number: 0.into() };
        let mut fast = sample(FAST_DDS, b"request", Some(asker));
        let expected = SampleIdentity { writer_guid: guid([9, 9]), sequence_number: 5.into() };
        assert_eq!(asked_call(ServiceMapping::Auto, &mut fast), Some(CallId::Enhanced(expected)));
        assert_eq!(&fast.payload[..], b"request");
    }

    #[test]
    fn one_client_understands_answers_of_every_vendor() {
        let own = guid(OWN_VENDOR);
        let mut cyclone = sample(CYCLONE_VENDOR, b"client_1number_1answer", None);
        let id = answered_call(ServiceMapping::Auto, &mut cyclone, own);
        assert_eq!(id, Some(CallId::Cyclone(*b"client_1number_1")));
        assert_eq!(&cyclone.payload[..], b"answer");

        let asked = SampleIdentity { writer_guid: own, sequence_number: 3.into() };
        let mut fast = sample(FAST_DDS, b"answer", Some(asked));
        assert_eq!(answered_call(ServiceMapping::Auto, &mut fast, own), Some(CallId::Enhanced(asked)));
        assert_eq!(answered_call(ServiceMapping::Auto, &mut fast, guid([9, 9])), None, "another's call");
    }

    #[test]
    fn what_a_vendor_does_not_understand_is_not_sent_to_it() {
        let long = Bytes::from_static(&[5; LONGEST_INLINE_ANSWER + 1]);
        let short = long.slice(1..);
        let identity = SampleIdentity { writer_guid: guid(FAST_DDS), sequence_number: 3.into() };
        let (asked, fast, own) =
            (CallId::Enhanced(identity), prefix(guid(FAST_DDS)), prefix(guid(OWN_VENDOR)));

        assert_eq!(laid_out(asked, fast, short.clone()), Ok((short, Some(identity))));
        assert_eq!(laid_out(asked, fast, long.clone()), Err(long.len()));
        let (payload, related) = laid_out(asked, own, long.clone()).expect("it knows the trailer");
        let encoding = Encoding::Little;
        let mut sample = Sample {
            payload,
            encoding,
            identity: SampleIdentity { writer_guid: guid(OWN_VENDOR), ..identity },
            related,
        };
        assert_eq!(
            answered_call(ServiceMapping::Auto, &mut sample, guid(FAST_DDS)),
            Some(CallId::Enhanced(identity))
        );
        assert_eq!(sample.payload, long);
    }
}
