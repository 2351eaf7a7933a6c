//! How a call waits for its server and its answer, the same over every middleware.

use super::Sample;
use super::service::Caller;
use crate::RosError;
use bytes::Bytes;
use futures::StreamExt;
use futures::stream::FuturesUnordered;
use std::time::{Duration, Instant};

/// How long an answer may take once its server has left: it may be on the way.
pub(crate) const LAST_WORDS: Duration = Duration::from_millis(300);
/// When what may be asked twice is asked again. RustDDS sends a datagram that got lost anew after up to a second, which is long for a word to
/// stop.
const AGAIN: Duration = Duration::from_millis(200);

impl Caller {
    /// Sends `request` and waits for its answer.
    ///
    /// Errors: `Unavailable` when no server shows up in time, `PeerLost` when the servers there at sending have left, `Timeout`,
    /// `WouldBlock`, `Closed`.
    pub(crate) async fn call(&self, request: Bytes, deadline: Duration) -> Result<Sample, RosError> {
        let start = Instant::now();
        let mut changes = self.participant().changes();
        let servers = loop {
            self.wait_available(deadline.saturating_sub(start.elapsed())).await.map_err(
                |error| match error {
                    RosError::Unavailable { peer, .. } => RosError::Unavailable { peer, waited: deadline },
                    other => other,
                },
            )?;
            let servers = self.servers();
            // It may have left in between.
            if !servers.is_empty() {
                break servers;
            }
        };
        let mut answer = self.send_now(request)?;
        let timeout = tokio::time::sleep(deadline.saturating_sub(start.elapsed()));
        tokio::pin!(timeout);
        loop {
            tokio::select! {
                biased;
                answered = &mut answer => return answered.map_err(|_| RosError::Closed),
                () = &mut timeout => {
                    return Err(RosError::Timeout { peer: self.name().to_owned(), deadline });
                }
                changed = changes.changed() => {
                    if changed.is_err() || self.participant().is_closed() {
                        return Err(RosError::Closed);
                    }
                    if self.servers().is_disjoint(&servers) {
                        let silent = start.elapsed();
                        // Its answer may be on the way, and so may the news of a server that the same process made anew.
                        if let Ok(answered) = tokio::time::timeout(LAST_WORDS, &mut answer).await {
                            return answered.map_err(|_| RosError::Closed);
                        }
                        if self.servers().is_disjoint(&servers) {
                            return Err(RosError::PeerLost { peer: self.name().to_owned(), silent });
                        }
                    }
                }
            }
        }
    }

    /// As [`call`](Self::call), of what may be asked twice: asked again and again until somebody answers.
    ///
    /// Errors: those of [`call`](Self::call), of the last call that could be answered.
    pub(crate) async fn insist(&self, request: Bytes, deadline: Duration) -> Result<Sample, RosError> {
        let start = Instant::now();
        let mut calls = FuturesUnordered::from_iter([self.call(request.clone(), deadline)]);
        let mut again = tokio::time::interval_at(tokio::time::Instant::now() + AGAIN, AGAIN);
        loop {
            tokio::select! {
                biased;
                Some(answer) = calls.next() => {
                    if answer.is_ok() || calls.is_empty() {
                        return answer.map_err(|error| match error {
                            RosError::Timeout { peer, .. } => RosError::Timeout { peer, deadline },
                            other => other,
                        });
                    }
                }
                _ = again.tick() => {
                    // Of a server that is waited for, the calls under way will do.
                    let left = deadline.saturating_sub(start.elapsed());
                    if self.is_available() && !left.is_zero() {
                        calls.push(self.call(request.clone(), left));
                    }
                }
            }
        }
    }

    /// Whether a server is matched in both directions.
    pub(crate) fn is_available(&self) -> bool {
        !self.servers().is_empty()
    }

    /// Waits for a server; polls, for an event may be missed.
    pub(crate) async fn wait_available(&self, deadline: Duration) -> Result<(), RosError> {
        let start = Instant::now();
        let mut changes = self.participant().changes();
        loop {
            if self.participant().is_closed() {
                return Err(RosError::Closed);
            }
            if self.is_available() {
                return Ok(());
            }
            let left = deadline.saturating_sub(start.elapsed());
            if left.is_zero() {
                return Err(RosError::Unavailable { peer: self.name().to_owned(), waited: deadline });
            }
            // Either way the loop looks again.
            let _ = tokio::time::timeout(left.min(Duration::from_millis(50)), changes.changed()).await;
        }
    }
}
