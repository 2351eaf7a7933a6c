//! Publishers and subscriptions.

use crate::{RosError, stub::Message};
use futures::Stream;
use std::marker::PhantomData;
use std::pin::Pin;
use std::task::{Context as TaskContext, Poll};

/// Sends samples to a topic; never blocks.
#[derive(Clone, Debug)]
pub struct Publisher<T: Message>(PhantomData<fn() -> T>);

impl<T: Message> Publisher<T> {
    /// Sends `message`; a sample that cannot be sent at once is dropped and counted.
    pub fn publish(&self, _message: &T) -> Result<(), RosError> {
        Err(RosError::Closed)
    }
    /// Samples dropped because the send window was full.
    pub fn dropped(&self) -> u64 {
        0
    }
    /// Subscriptions matched, those of this process included.
    pub fn subscriber_count(&self) -> usize {
        0
    }
}

/// A stream of the samples of a topic; those that do not decode are logged and left out. Never ends.
#[derive(Debug)]
pub struct Subscription<T: Message>(PhantomData<fn() -> T>);

impl<T: Message> Subscription<T> {
    /// The next sample.
    pub async fn next_message(&mut self) -> Result<T, RosError> {
        Err(RosError::Closed)
    }
    /// The newest sample that has arrived since the last call, if any; older ones are thrown away.
    pub fn take_newest(&mut self) -> Option<T> {
        None
    }
    /// Publishers matched, those of this process included.
    pub fn publisher_count(&self) -> usize {
        0
    }
    /// Samples dropped because they were not read in time, and samples that did not decode.
    pub fn dropped(&self) -> u64 {
        0
    }
}

impl<T: Message> Stream for Subscription<T> {
    type Item = T;
    fn poll_next(self: Pin<&mut Self>, _cx: &mut TaskContext<'_>) -> Poll<Option<T>> {
        Poll::Pending
    }
}
