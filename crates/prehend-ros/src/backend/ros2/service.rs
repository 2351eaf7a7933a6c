//! Requests and answers as bytes.

use super::courier::Outbox;
use super::layout;
use super::link::Link;
use super::participant::{NodeKey, Participant};
use super::qos::rcl_qos;
use super::request::Incoming;
use super::spin::{Attended, Spinner};
use super::twin;
use super::wire::{Sample, Server, serialized};
use crate::backend::EndpointName;
use crate::{QosProfile, RosError, ServiceMapping};
use bytes::Bytes;
use std::collections::HashSet;
use std::sync::Arc;
use tokio::sync::oneshot;

/// Requests or answers that may be unread at once without loss.
const BURST: usize = 512;

fn reading(qos: QosProfile) -> r2r::QosProfile {
    rcl_qos(qos.depth(qos.depth.max(BURST)))
}

/// What a caller needs of the middleware.
pub(crate) struct CallEnd {
    type_name: String,
    _spinner: Arc<Spinner>,
    outbox: Outbox,
    link: Arc<dyn Link>,
}

impl CallEnd {
    /// The middleware chooses the mapping.
    pub(in crate::backend) fn new(
        participant: &Arc<Participant>,
        node: NodeKey,
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
        Ok(Self { type_name: named.type_name.clone(), _spinner: spinner, outbox: participant.outbox(), link })
    }

    pub(in crate::backend) fn servers(&self) -> HashSet<Server> {
        self.link.is_available().then_some(Server).into_iter().collect()
    }

    /// Hands `request` over; the answer comes through the receiver.
    pub(in crate::backend) fn send(
        &self,
        _name: &str,
        request: Bytes,
    ) -> Result<oneshot::Receiver<Sample>, RosError> {
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

/// What a responder needs of the middleware.
pub(crate) struct AnswerEnd {
    spinner: Arc<Spinner>,
    outbox: Outbox,
    type_name: String,
    id: u64,
}

impl AnswerEnd {
    /// The middleware chooses the mapping.
    pub(in crate::backend) fn new(
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
        Ok(Self { spinner, outbox: participant.outbox(), type_name, id })
    }

    pub(in crate::backend) fn answer(&self, request: &Incoming, answer: Bytes) -> Result<(), RosError> {
        let work = (request.reply)(&serialized(&answer)).map_err(|error| refused(&self.type_name, &error))?;
        self.outbox.hand_over(work);
        Ok(())
    }
}

impl Drop for AnswerEnd {
    fn drop(&mut self) {
        let id = self.id;
        self.spinner.tell(move |spun| spun.remove_source(id));
    }
}
