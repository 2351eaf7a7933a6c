//! The newest message of a topic and when it came; calls with typed failures.

use super::fault::ArmingFault;
use futures::StreamExt;
use prehend_msgs::{Message, Service};
use prehend_ros::{Client, Node, QosProfile, RosError};
use std::time::{Duration, Instant};
use tokio::sync::watch;

/// Longest wait for a service to be there.
const THERE: Duration = Duration::from_secs(3);
/// Longest wait for an answer; an arm's controller answers within some hundredths of a second.
const ANSWER: Duration = Duration::from_secs(3);

/// The newest message of a topic.
#[derive(Debug)]
pub(super) struct Heard<T> {
    topic: String,
    newest: watch::Receiver<Option<(T, Instant)>>,
    silence: Duration,
}

impl<T: Message + Clone> Heard<T> {
    /// Follows a topic; silent for longer than `silence`, seconds, it is lost.
    pub(super) fn new(node: &Node, topic: &str, silence: f64) -> Result<Self, RosError> {
        let mut messages = node.subscribe::<T>(topic, QosProfile::sensor_data())?;
        let (sender, newest) = watch::channel(None);
        tokio::spawn(async move {
            loop {
                let message = tokio::select! {
                    () = sender.closed() => return,
                    message = messages.next() => message,
                };
                let Some(message) = message else { return };
                sender.send_replace(Some((message, Instant::now())));
            }
        });
        Ok(Self { topic: topic.to_owned(), newest, silence: Duration::from_secs_f64(silence) })
    }

    pub(super) fn silent(&self) -> ArmingFault {
        ArmingFault::Silent { topic: self.topic.clone() }
    }

    /// The newest message.
    ///
    /// Errors: [`ArmingFault::Silent`] when there is none, or none since long.
    pub(super) fn now(&self) -> Result<T, ArmingFault> {
        match &*self.newest.borrow() {
            Some((message, at)) if at.elapsed() < self.silence => Ok(message.clone()),
            _ => Err(self.silent()),
        }
    }

    /// A message that comes from now on.
    pub(super) async fn next(&self) -> Result<T, ArmingFault> {
        let mut newest = self.newest.clone();
        newest.mark_unchanged();
        match tokio::time::timeout(self.silence, newest.changed()).await {
            Ok(Ok(())) => self.now(),
            Ok(Err(_)) | Err(_) => Err(self.silent()),
        }
    }

    /// Waits for a message that comes from now on in which nothing is unmet.
    ///
    /// Errors: what was unmet in the last one; [`ArmingFault::Silent`].
    pub(super) async fn until(
        &self,
        patience: Duration,
        unmet: impl Fn(&T) -> Option<ArmingFault>,
    ) -> Result<(), ArmingFault> {
        let end = Instant::now() + patience;
        loop {
            let found = unmet(&self.next().await?);
            match found {
                None => return Ok(()),
                Some(fault) if Instant::now() >= end => return Err(fault),
                Some(_) => {}
            }
        }
    }

    /// Completes with what is unmet in a message, or when none comes.
    pub(super) async fn violated(&self, unmet: impl Fn(&T) -> Option<ArmingFault>) -> ArmingFault {
        loop {
            match self.next().await {
                Ok(message) => {
                    if let Some(fault) = unmet(&message) {
                        return fault;
                    }
                }
                Err(silent) => return silent,
            }
        }
    }
}

/// Calls a service of the vendor's driver.
pub(super) async fn call<S: Service>(
    client: &Client<S>,
    name: &str,
    request: S::Request,
    remedy: &'static str,
) -> Result<S::Response, ArmingFault> {
    let service = || name.to_owned();
    if client.wait_available(THERE).await.is_err() {
        return Err(ArmingFault::NoService { service: service(), remedy });
    }
    client.request(request, ANSWER).await.map_err(|error| match error {
        RosError::Unavailable { .. } => ArmingFault::NoService { service: service(), remedy },
        other => ArmingFault::NoAnswer { service: service(), detail: other.to_string() },
    })
}
