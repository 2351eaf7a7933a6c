//! A request to a service, typed by r2r.

use super::wire::Sample;
use r2r::{WrappedServiceTypeSupport, WrappedTypesupport};
use tracing::debug;

/// Takes the requests of a service; called on the node's thread.
pub(super) type RequestSink = Box<dyn Fn(Incoming) + Send + Sync>;

/// The work that sends an answer made of bytes.
pub(super) type Reply = dyn Fn(&[u8]) -> r2r::Result<Box<dyn FnOnce() + Send>> + Send;

/// One request as it came in.
pub(crate) struct Incoming {
    pub(crate) sample: Sample,
    pub(super) reply: Box<Reply>,
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
