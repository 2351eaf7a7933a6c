//! What rcl wants typed: bytes become r2r's types by the middleware's own decoder, so that they always are what they should be.

use super::link::{Link, TypedLink};
use super::request::{Incoming, RequestSink};
use super::spin::Source;
use super::wire::{Sample, Sink};
use crate::backend::EndpointName;
use futures::{FutureExt, Stream, StreamExt};
use prehend_msgs::ros2::{MessageVisitor, ServiceVisitor, visit_feedback, visit_service};
use r2r::{Node, Publisher, PublisherUntyped, QosProfile, WrappedServiceTypeSupport, WrappedTypesupport};
use std::sync::Arc;
use tracing::{debug, warn};

/// The error for a type that r2r was not made with.
fn unknown(type_name: &str) -> r2r::Error {
    r2r::Error::InvalidMessageType { msgtype: type_name.to_owned() }
}

/// A publisher of r2r that takes serialized bytes.
pub(super) trait Port: Send {
    fn publish(&self, serialized: &[u8]) -> r2r::Result<()>;
    fn matched(&self) -> usize;
    /// Another handle on the same publisher.
    fn another(&self) -> Box<dyn Port>;
    fn destroy(&self, node: &mut Node);
}

impl Port for PublisherUntyped {
    fn publish(&self, serialized: &[u8]) -> r2r::Result<()> {
        self.publish_raw(serialized)
    }

    fn matched(&self) -> usize {
        self.get_inter_process_subscription_count().unwrap_or(0)
    }

    fn another(&self) -> Box<dyn Port> {
        Box::new(self.clone())
    }

    fn destroy(&self, node: &mut Node) {
        node.destroy_publisher_untyped(self.clone());
    }
}

impl<T: WrappedTypesupport + Send + 'static> Port for Publisher<T> {
    fn publish(&self, serialized: &[u8]) -> r2r::Result<()> {
        Self::publish(self, &T::from_serialized_bytes(serialized)?)
    }

    fn matched(&self) -> usize {
        self.get_inter_process_subscription_count().unwrap_or(0)
    }

    fn another(&self) -> Box<dyn Port> {
        Box::new(self.clone())
    }

    fn destroy(&self, node: &mut Node) {
        node.destroy_publisher(self.clone());
    }
}

/// Whether r2r knows the type by no name: it leaves out those that belong to actions.
fn is_feedback(named: &EndpointName) -> bool {
    named.type_name.contains("/action/")
}

/// Makes a publisher.
pub(super) fn port(node: &mut Node, named: &EndpointName, qos: QosProfile) -> r2r::Result<Box<dyn Port>> {
    struct Make<'a>(&'a mut Node, &'a str, QosProfile);

    impl MessageVisitor for Make<'_> {
        type Output = r2r::Result<Box<dyn Port>>;

        fn visit<T: WrappedTypesupport + Send + 'static>(self) -> Self::Output {
            Ok(Box::new(self.0.create_publisher::<T>(self.1, self.2)?))
        }
    }

    if is_feedback(named) {
        return visit_feedback(&named.type_name, Make(node, &named.name, qos))
            .unwrap_or_else(|| Err(unknown(&named.type_name)));
    }
    Ok(Box::new(node.create_publisher_untyped(&named.name, &named.type_name, qos)?))
}

/// Gives on what `stream` has; whether it had anything.
fn drain<T>(stream: &mut (impl Stream<Item = T> + Unpin), mut each: impl FnMut(T)) -> bool {
    let mut any = false;
    while let Some(Some(item)) = stream.next().now_or_never() {
        each(item);
        any = true;
    }
    any
}

/// Gives serialized bytes to `sink`.
fn give(sink: &Sink, topic: &str, bytes: Vec<u8>) {
    match Sample::of(bytes) {
        Some(sample) => sink(sample),
        None => debug!(topic, "a sample in an unknown encoding was left out"),
    }
}

/// Makes a subscription that gives to `sink`.
pub(super) fn source(
    node: &mut Node,
    named: EndpointName,
    qos: QosProfile,
    sink: Sink,
) -> r2r::Result<Source> {
    struct Make<'a>(&'a mut Node, String, QosProfile, Sink);

    impl MessageVisitor for Make<'_> {
        type Output = r2r::Result<Source>;

        fn visit<T: WrappedTypesupport + Send + 'static>(self) -> Self::Output {
            let Self(node, topic, qos, sink) = self;
            let mut samples = node.subscribe::<T>(&topic, qos)?;
            let give_on = move |sample: T| match sample.to_serialized_bytes() {
                Ok(bytes) => give(&sink, &topic, bytes),
                Err(error) => warn!(topic, %error, "a sample was left out"),
            };
            Ok(Box::new(move || drain(&mut samples, &give_on)))
        }
    }

    if is_feedback(&named) {
        return visit_feedback(&named.type_name, Make(node, named.name, qos, sink))
            .unwrap_or_else(|| Err(unknown(&named.type_name)));
    }
    let mut samples = node.subscribe_raw(&named.name, &named.type_name, qos)?;
    Ok(Box::new(move || drain(&mut samples, |bytes| give(&sink, &named.name, bytes))))
}

/// Makes a client.
pub(super) fn link(node: &mut Node, named: &EndpointName, qos: QosProfile) -> r2r::Result<Arc<dyn Link>> {
    struct Make<'a>(&'a mut Node, &'a str, QosProfile);

    impl ServiceVisitor for Make<'_> {
        type Output = r2r::Result<Arc<dyn Link>>;

        fn visit<S>(self) -> Self::Output
        where
            S: WrappedServiceTypeSupport + 'static,
            S::Request: Send,
            S::Response: Send,
        {
            Ok(Arc::new(TypedLink::new(self.0.create_client::<S>(self.1, self.2)?)))
        }
    }

    visit_service(&named.type_name, Make(node, &named.name, qos))
        .unwrap_or_else(|| Err(unknown(&named.type_name)))
}

/// Makes a service whose requests go to `sink`.
pub(super) fn service(
    node: &mut Node,
    named: EndpointName,
    qos: QosProfile,
    sink: RequestSink,
) -> r2r::Result<Source> {
    struct Make<'a>(&'a mut Node, String, QosProfile, RequestSink);

    impl ServiceVisitor for Make<'_> {
        type Output = r2r::Result<Source>;

        fn visit<S>(self) -> Self::Output
        where
            S: WrappedServiceTypeSupport + 'static,
            S::Request: Send,
            S::Response: Send,
        {
            let Self(node, service, qos, sink) = self;
            let mut requests = node.create_service::<S>(&service, qos)?;
            let take = move |request| match Incoming::of::<S>(request) {
                Ok(incoming) => sink(incoming),
                Err(error) => warn!(service, %error, "a request was left out"),
            };
            Ok(Box::new(move || drain(&mut requests, &take)))
        }
    }

    let type_name = named.type_name.clone();
    visit_service(&type_name, Make(node, named.name, qos, sink)).unwrap_or_else(|| Err(unknown(&type_name)))
}
