//! Both ends of a service, the same over every middleware; what each needs of it is the backend's.

use super::chosen::{AnswerEnd, CallEnd, Incoming, NodeKey, Participant, Sample, Server};
use super::name::EndpointName;
use crate::{QosProfile, RosError, ServiceMapping};
use bytes::Bytes;
use std::collections::HashSet;
use std::sync::Arc;
use tokio::sync::oneshot;

/// The calling end of a service.
pub(crate) struct Caller {
    name: String,
    participant: Arc<Participant>,
    end: CallEnd,
}

impl Caller {
    /// `name` is for people; a middleware that chooses the mapping itself does not heed `mapping`.
    pub(crate) fn new(
        participant: &Arc<Participant>,
        node: NodeKey,
        name: String,
        named: &EndpointName,
        qos: QosProfile,
        mapping: ServiceMapping,
    ) -> Result<Self, RosError> {
        let end = CallEnd::new(participant, node, named, qos, mapping)?;
        Ok(Self { name, participant: participant.clone(), end })
    }

    /// Name of the service or action, for people.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    pub(super) fn participant(&self) -> &Participant {
        &self.participant
    }

    /// Sends `request` now, whoever listens; the answer comes through the receiver.
    pub(crate) fn send_now(&self, request: Bytes) -> Result<oneshot::Receiver<Sample>, RosError> {
        if self.participant.is_closed() {
            return Err(RosError::Closed);
        }
        self.end.send(&self.name, request)
    }

    /// Who offers the service and can be asked.
    pub(super) fn servers(&self) -> HashSet<Server> {
        self.end.servers()
    }
}

/// The answering end of a service.
pub(crate) struct Responder {
    // It goes before what it belongs to.
    end: AnswerEnd,
    participant: Arc<Participant>,
}

impl Responder {
    /// `sink` takes every request; it must not hold the participant.
    pub(crate) fn new(
        participant: &Arc<Participant>,
        node: NodeKey,
        named: &EndpointName,
        qos: QosProfile,
        mapping: ServiceMapping,
        sink: impl Fn(Incoming) + Send + Sync + 'static,
    ) -> Result<Self, RosError> {
        let end = AnswerEnd::new(participant, node, named, qos, mapping, sink)?;
        Ok(Self { end, participant: participant.clone() })
    }

    /// Answers `request`.
    pub(crate) fn respond(&self, request: &Incoming, answer: Bytes) -> Result<(), RosError> {
        if self.participant.is_closed() {
            return Err(RosError::Closed);
        }
        self.end.answer(request, answer)
    }
}
