//! Who is connected to our endpoints.

use crate::sync::lock;
use rustdds::{DomainParticipantStatusEvent, GUID};
use std::collections::{HashMap, HashSet};
use std::sync::Mutex;
use tokio::sync::watch;

/// Prefix of a GUID: the participant, which is the process.
pub(super) type Prefix = [u8; 12];

/// The participant of `guid`.
pub(super) fn prefix(guid: GUID) -> Prefix {
    let mut bytes = [0; 12];
    bytes.copy_from_slice(&guid.to_bytes()[..12]);
    bytes
}

/// Remote endpoints matched to each local one. Endpoints of our own participant do not count.
pub(super) struct Matches {
    own: Prefix,
    remote_of_local: Mutex<HashMap<GUID, HashSet<GUID>>>,
    generation: watch::Sender<u64>,
}

impl Matches {
    pub(super) fn new(own: Prefix) -> Self {
        Self { own, remote_of_local: Mutex::default(), generation: watch::Sender::new(0) }
    }

    /// Takes in one event of the participant; whether it changed anything.
    pub(super) fn apply(&self, event: &DomainParticipantStatusEvent) -> bool {
        let changed = match event {
            DomainParticipantStatusEvent::RemoteReaderMatched {
                local_writer: local,
                remote_reader: remote,
            }
            | DomainParticipantStatusEvent::RemoteWriterMatched {
                local_reader: local,
                remote_writer: remote,
            } => {
                prefix(*remote) != self.own
                    && lock(&self.remote_of_local).entry(*local).or_default().insert(*remote)
            }
            DomainParticipantStatusEvent::ReaderLost { guid, .. }
            | DomainParticipantStatusEvent::WriterLost { guid, .. } => self.retain(|remote| remote != guid),
            DomainParticipantStatusEvent::ParticipantLost { id, .. } => {
                self.retain(|remote| remote.prefix != *id)
            }
            _ => false,
        };
        if changed {
            self.touch();
        }
        changed
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
}
