//! Who is connected to our endpoints.

use crate::sync::lock;
use rustdds::{DomainParticipantStatusEvent, GUID, LostReason};
use std::collections::{HashMap, HashSet};
use std::sync::Mutex;
use std::time::{Duration, Instant};
use tokio::sync::watch;

/// A process that was met is known when it told of no endpoint for so long, and at last after [`INTRODUCTION`].
///
/// Who comes late is told first of endpoints that were given back and then that they are gone, as long as somebody has not acknowledged
/// the latter: a process that was killed never does. What is sent to them is lost.
const QUIET: Duration = Duration::from_millis(100);
const INTRODUCTION: Duration = Duration::from_secs(1);

/// Prefix of a GUID: the participant, which is the process.
pub(super) type Prefix = [u8; 12];

/// The participant of `guid`.
pub(super) fn prefix(guid: GUID) -> Prefix {
    let mut bytes = [0; 12];
    bytes.copy_from_slice(&guid.to_bytes()[..12]);
    bytes
}

/// What an event of the participant comes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum News {
    Nothing,
    /// Who is connected has changed.
    Changed,
    /// A process that fell silent is heard of again.
    Back(Prefix),
}

/// Remote endpoints matched to each local one. Endpoints of our own participant do not count.
pub(super) struct Matches {
    own: Prefix,
    remote_of_local: Mutex<HashMap<GUID, HashSet<GUID>>>,
    met: Mutex<HashMap<Prefix, Met>>,
    /// Processes that were not heard of for as long as they had said they would be.
    silent: Mutex<HashSet<Prefix>>,
    generation: watch::Sender<u64>,
}

/// A process as it was met: when first, and when it last told something of its endpoints.
#[derive(Clone, Copy, Debug)]
struct Met {
    first: Instant,
    last: Instant,
}

impl Met {
    fn is_known(&self, now: Instant) -> bool {
        now.duration_since(self.last) >= QUIET || self.last.duration_since(self.first) >= INTRODUCTION
    }
}

impl Matches {
    pub(super) fn new(own: Prefix) -> Self {
        let (remote_of_local, met, silent) = (Mutex::default(), Mutex::default(), Mutex::default());
        Self { own, remote_of_local, met, silent, generation: watch::Sender::new(0) }
    }

    /// Takes in one event of the participant.
    pub(super) fn apply(&self, event: &DomainParticipantStatusEvent) -> News {
        let changed = match event {
            DomainParticipantStatusEvent::RemoteReaderMatched {
                local_writer: local,
                remote_reader: remote,
            }
            | DomainParticipantStatusEvent::RemoteWriterMatched {
                local_reader: local,
                remote_writer: remote,
            } => {
                self.meet(*remote);
                prefix(*remote) != self.own
                    && lock(&self.remote_of_local).entry(*local).or_default().insert(*remote)
            }
            DomainParticipantStatusEvent::ReaderLost { guid, .. }
            | DomainParticipantStatusEvent::WriterLost { guid, .. } => {
                self.meet(*guid);
                self.retain(|remote| remote != guid)
            }
            DomainParticipantStatusEvent::ParticipantLost { id, reason } => {
                let lost = prefix(GUID { prefix: *id, ..GUID::GUID_UNKNOWN });
                lock(&self.met).remove(&lost);
                if matches!(reason, LostReason::Timeout { .. }) {
                    lock(&self.silent).insert(lost);
                }
                self.retain(|remote| remote.prefix != *id)
            }
            DomainParticipantStatusEvent::ParticipantDiscovered { dpd } => {
                let heard = prefix(dpd.guid);
                if lock(&self.silent).remove(&heard) {
                    return News::Back(heard);
                }
                false
            }
            _ => false,
        };
        if changed {
            self.touch();
        }
        if changed { News::Changed } else { News::Nothing }
    }

    /// Notes that a process told something of an endpoint. Once it is known it stays so.
    fn meet(&self, remote: GUID) {
        let now = Instant::now();
        let mut met = lock(&self.met);
        let process = met.entry(prefix(remote)).or_insert(Met { first: now, last: now });
        if !process.is_known(now) {
            process.last = now;
        }
    }

    fn retain(&self, keep: impl Fn(&GUID) -> bool) -> bool {
        let mut changed = false;
        for remotes in lock(&self.remote_of_local).values_mut() {
            let before = remotes.len();
            remotes.retain(&keep);
            changed |= remotes.len() != before;
        }
        changed
    }

    /// Wakes everyone who waits for a change; also called when local endpoints come and go.
    pub(super) fn touch(&self) {
        self.generation.send_modify(|generation| *generation += 1);
    }

    pub(super) fn changes(&self) -> watch::Receiver<u64> {
        self.generation.subscribe()
    }

    pub(super) fn forget(&self, local: GUID) {
        lock(&self.remote_of_local).remove(&local);
    }

    pub(super) fn count(&self, local: GUID) -> usize {
        lock(&self.remote_of_local).get(&local).map_or(0, HashSet::len)
    }

    /// Processes with an endpoint matched to `local`.
    pub(super) fn peers(&self, local: GUID) -> HashSet<Prefix> {
        lock(&self.remote_of_local).get(&local).into_iter().flatten().map(|guid| prefix(*guid)).collect()
    }

    /// Whether what a process told of its endpoints can be gone by: not while it is just being met.
    pub(super) fn is_known(&self, process: &Prefix) -> bool {
        lock(&self.met).get(process).is_some_and(|met| met.is_known(Instant::now()))
    }
}
