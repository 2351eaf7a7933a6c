//! Makes endpoints one after the other, each only once discovery is through with the one before.
//!
//! RustDDS 0.15.1 can lock itself up while endpoints are made. Its discovery thread keeps the database locked for reading while it
//! sends one notice for every known counterpart of a new endpoint (`add_local_writer`, `add_local_reader`), and waits when 32 are
//! unread. Meanwhile the application waits to write (`create_datawriter`, `create_datareader`), and behind this writer the event
//! loop, which would take the notices, waits to read (`update_participant`). Each notice comes out as a status event of the
//! participant. So whoever makes an endpoint waits here until the notices of all known counterparts have come: then discovery has
//! let go, nobody waits to write while it sends, and the circle cannot close.

use crate::sync::lock;
use rustdds::{DomainParticipantStatusEvent, GUID};
use std::collections::HashMap;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Notices come within milliseconds. One may be lost (their queue is bounded), or its endpoint may have left unheard: then making
/// endpoints goes on after this time, as it did without waiting.
const PATIENCE: Duration = Duration::from_millis(200);

/// An end of a topic that discovery told of.
struct Known {
    topic: String,
    writes: bool,
    /// Notices so far.
    notices: u64,
}

/// Who makes endpoints, and which notices discovery has sent.
#[derive(Default)]
pub(super) struct Settled {
    making: Mutex<()>,
    known: Mutex<HashMap<GUID, Known>>,
    news: Condvar,
}

/// The right to make one endpoint; [`wait`](Self::wait) before the next.
pub(super) struct Making<'a> {
    settled: &'a Settled,
    counterparts: HashMap<GUID, u64>,
    _only: MutexGuard<'a, ()>,
}

impl Settled {
    /// Takes in one event of the participant.
    pub(super) fn apply(&self, event: &DomainParticipantStatusEvent) {
        use DomainParticipantStatusEvent::{
            ParticipantLost, ReaderDetected, ReaderLost, WriterDetected, WriterLost,
        };
        match event {
            ReaderDetected { reader } => self.notice(reader.guid, &reader.topic_name, false),
            WriterDetected { writer } => self.notice(writer.guid, &writer.topic_name, true),
            ReaderLost { guid, .. } | WriterLost { guid, .. } => self.forget(*guid),
            ParticipantLost { id, .. } => {
                lock(&self.known).retain(|guid, _| guid.prefix != *id);
                self.news.notify_all();
            }
            _ => {}
        }
    }

    fn notice(&self, guid: GUID, topic: &str, writes: bool) {
        let known = || Known { topic: topic.to_owned(), writes, notices: 0 };
        lock(&self.known).entry(guid).or_insert_with(known).notices += 1;
        self.news.notify_all();
    }

    /// The endpoint is gone; one of our own, too.
    pub(super) fn forget(&self, guid: GUID) {
        lock(&self.known).remove(&guid);
        self.news.notify_all();
    }

    /// Before an endpoint on `topic` is made, one that `writes` or one that reads. Waits for others who make one.
    pub(super) fn begin(&self, topic: &str, writes: bool) -> Making<'_> {
        let only = lock(&self.making);
        let counterparts = lock(&self.known)
            .iter()
            .filter(|(_, known)| known.topic == topic && known.writes != writes)
            .map(|(guid, known)| (*guid, known.notices))
            .collect();
        Making { settled: self, counterparts, _only: only }
    }
}

impl Making<'_> {
    /// After the endpoint was made: waits until discovery has told of all counterparts anew. Whether it has.
    pub(super) fn wait(self) -> bool {
        self.wait_for(PATIENCE)
    }

    fn wait_for(mut self, patience: Duration) -> bool {
        let until = Instant::now() + patience;
        let mut known = lock(&self.settled.known);
        loop {
            self.counterparts
                .retain(|guid, before| known.get(guid).is_some_and(|now| now.notices == *before));
            let left = until.saturating_duration_since(Instant::now());
            if self.counterparts.is_empty() || left.is_zero() {
                return self.counterparts.is_empty();
            }
            known = self.settled.news.wait_timeout(known, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    fn guid(number: u8) -> GUID {
        GUID::from_bytes([number; 16])
    }

    const SOON: Duration = Duration::from_millis(20);
    const LONG: Duration = Duration::from_secs(30);

    #[test]
    fn who_has_no_counterpart_waits_for_nobody() {
        let settled = Settled::default();
        settled.notice(guid(1), "rt/tf", false);
        settled.notice(guid(2), "rt/map", true);
        assert!(settled.begin("rt/clock", true).wait_for(LONG));
        assert!(settled.begin("rt/tf", false).wait_for(LONG), "readers are no counterparts of a reader");
        assert!(!settled.begin("rt/tf", true).wait_for(SOON), "the reader was not told of again");
    }

    #[test]
    fn every_counterpart_is_told_of_again_or_gone() {
        let settled = Arc::new(Settled::default());
        for number in 1..=3 {
            settled.notice(guid(number), "rt/tf", false);
        }
        let discovery = settled.clone();
        let making = settled.begin("rt/tf", true);
        let told = std::thread::spawn(move || {
            discovery.notice(guid(1), "rt/tf", false);
            discovery.forget(guid(2));
            discovery.notice(guid(3), "rt/tf", false);
        });
        assert!(making.wait_for(LONG));
        told.join().unwrap();
        let making = settled.begin("rt/tf", true);
        settled.notice(guid(1), "rt/tf", false);
        assert!(!making.wait_for(SOON), "the third is missing");
    }
}
