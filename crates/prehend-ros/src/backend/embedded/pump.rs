//! The one thread that takes samples and events out of RustDDS and hands them on.
//!
//! One owner for every reader is the cure for lost answers: nobody else takes samples, so none goes to the wrong call.

use super::matches::{Matches, News, Prefix, prefix};
use super::wire::{Raw, RawAdapter, Sample, Sink};
use bytes::Bytes;
use futures::Stream;
use futures::task::ArcWake;
use rustdds::dds::result::ReadError;
use rustdds::no_key::SimpleDataReader;
use rustdds::{DomainParticipant, GUID, SampleIdentity, StatusEvented};
use std::collections::HashMap;
use std::pin::pin;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Weak};
use std::task::{Context, Poll};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use tracing::{debug, warn};

/// Work for the pump.
pub(super) enum Work {
    /// A reader has news.
    Reader(GUID),
    /// The participant has news.
    Status,
    /// A sample of this process for readers of this process.
    Local(Vec<Sink>, Sample),
    AddReader(Box<PumpedReader>),
    RemoveReader(GUID),
    /// Calls the function about every period as long as it lives.
    Tick(Duration, Weak<dyn Fn() + Send + Sync>),
    /// An answer whose receiver is not matched yet.
    Deferred(DeferredAnswer),
    Stop,
}

pub(super) struct PumpedReader {
    pub(super) guid: GUID,
    pub(super) dds: SimpleDataReader<Raw, RawAdapter>,
    pub(super) sink: Sink,
}

/// A writer of answers.
pub(super) trait Answering: Send + Sync {
    fn topic_name(&self) -> &str;
    /// Whether a reader in process `peer` is matched.
    fn is_matched_to(&self, peer: Prefix) -> bool;
    /// Sends bytes to other processes and this one; `None` when the send window is full and nothing was sent.
    fn write(&self, payload: Bytes, related: Option<SampleIdentity>) -> Option<SampleIdentity>;
}

/// An answer that waits until its writer has matched a reader of the asking process.
pub(super) struct DeferredAnswer {
    pub(super) writer: Arc<dyn Answering>,
    pub(super) payload: Bytes,
    pub(super) related: Option<SampleIdentity>,
    pub(super) asker: Prefix,
    pub(super) until: Instant,
}

/// Handle on the pump's thread.
pub(super) struct Pump {
    pub(super) work: Sender<Work>,
    thread: Option<JoinHandle<()>>,
}

struct Wakeup {
    work: Sender<Work>,
    /// `None`: the participant itself.
    reader: Option<GUID>,
}

impl ArcWake for Wakeup {
    fn wake_by_ref(arc_self: &Arc<Self>) {
        // The pump is gone only when the participant is closing.
        let _ = arc_self.work.send(match arc_self.reader {
            Some(guid) => Work::Reader(guid),
            None => Work::Status,
        });
    }
}

impl Pump {
    /// `back` is told of each process that fell silent and is heard of again.
    pub(super) fn start(
        dds: &DomainParticipant,
        matches: Arc<Matches>,
        own: Prefix,
        back: Sender<Prefix>,
    ) -> std::io::Result<Self> {
        let (work, inbox) = channel();
        let listener = dds.status_listener();
        let sender = work.clone();
        let thread = std::thread::Builder::new().name("ros-pump".to_owned()).spawn(move || {
            let status = listener.as_async_status_stream();
            let mut state =
                State { work: sender, readers: HashMap::new(), ticks: Vec::new(), deferred: Vec::new() };
            state.run(&inbox, status, &matches, own, &back);
        })?;
        Ok(Self { work, thread: Some(thread) })
    }

    /// Stops the thread and waits for it, unless called from it.
    pub(super) fn stop(&mut self) {
        let _ = self.work.send(Work::Stop);
        if let Some(thread) = self.thread.take()
            && thread.thread().id() != std::thread::current().id()
            && thread.join().is_err()
        {
            warn!("the thread that reads from DDS had panicked");
        }
    }
}

struct Ticker {
    period: Duration,
    next: Instant,
    call: Weak<dyn Fn() + Send + Sync>,
}

struct State {
    work: Sender<Work>,
    readers: HashMap<GUID, Box<PumpedReader>>,
    ticks: Vec<Ticker>,
    deferred: Vec<DeferredAnswer>,
}

impl State {
    fn run(
        &mut self,
        inbox: &Receiver<Work>,
        status: impl Stream<Item = rustdds::DomainParticipantStatusEvent>,
        matches: &Matches,
        own: Prefix,
        back: &Sender<Prefix>,
    ) {
        let mut status = pin!(status);
        let waker = futures::task::waker(Arc::new(Wakeup { work: self.work.clone(), reader: None }));
        let mut poll_status = || {
            let mut changed = false;
            while let Poll::Ready(Some(event)) = status.as_mut().poll_next(&mut Context::from_waker(&waker)) {
                match matches.apply(&event) {
                    News::Nothing => {}
                    News::Changed => changed = true,
                    // Nobody listens only while the participant is being made.
                    News::Back(process) => drop(back.send(process)),
                }
            }
            changed
        };
        poll_status();
        loop {
            let work = match self.next_due() {
                None => inbox.recv().map_err(|_| RecvTimeoutError::Disconnected),
                Some(due) => inbox.recv_timeout(due.saturating_duration_since(Instant::now())),
            };
            match work {
                Ok(Work::Reader(guid)) => self.drain(guid, own),
                Ok(Work::Local(sinks, sample)) => {
                    for sink in sinks {
                        sink(sample.clone());
                    }
                }
                Ok(Work::Status) => {
                    if poll_status() {
                        self.send_deferred();
                    }
                }
                Ok(Work::AddReader(reader)) => {
                    let guid = reader.guid;
                    self.readers.insert(guid, reader);
                    self.drain(guid, own);
                }
                Ok(Work::RemoveReader(guid)) => {
                    self.readers.remove(&guid);
                }
                Ok(Work::Tick(period, call)) => {
                    self.ticks.push(Ticker { period, next: Instant::now() + period, call });
                }
                Ok(Work::Deferred(answer)) => {
                    self.deferred.push(answer);
                    self.send_deferred();
                }
                Err(RecvTimeoutError::Timeout) => {
                    poll_status();
                    self.send_deferred();
                }
                Ok(Work::Stop) | Err(RecvTimeoutError::Disconnected) => return,
            }
            self.tick();
        }
    }

    fn next_due(&self) -> Option<Instant> {
        let ticks = self.ticks.iter().map(|ticker| ticker.next);
        ticks.chain(self.deferred.iter().map(|answer| answer.until)).min()
    }

    fn drain(&mut self, guid: GUID, own: Prefix) {
        if let Some(reader) = self.readers.get(&guid) {
            // The waker is used up by each notification; it must stand before the last look.
            let wakeup = Wakeup { work: self.work.clone(), reader: Some(guid) };
            reader.dds.set_waker(Some(futures::task::waker(Arc::new(wakeup))));
            drain(reader, own);
        }
    }

    fn tick(&mut self) {
        let now = Instant::now();
        self.ticks.retain_mut(|ticker| {
            if ticker.next > now {
                return true;
            }
            ticker.next = now + ticker.period;
            match ticker.call.upgrade() {
                Some(call) => {
                    call();
                    true
                }
                None => false,
            }
        });
    }

    /// Sends the answers whose asker is matched by now; gives the others up at their time.
    fn send_deferred(&mut self) {
        let now = Instant::now();
        self.deferred.retain(|answer| {
            if answer.writer.is_matched_to(answer.asker) {
                if answer.writer.write(answer.payload.clone(), answer.related).is_none() {
                    warn!(
                        topic = answer.writer.topic_name(),
                        "an answer was dropped: the send window is full"
                    );
                }
                return false;
            }
            let keep = now < answer.until;
            if !keep {
                debug!(topic = answer.writer.topic_name(), "an answer was dropped: its asker is gone");
            }
            keep
        });
    }
}

/// Hands every sample that has arrived to the sink; samples of our own process came another way.
fn drain(reader: &PumpedReader, own: Prefix) {
    reader.dds.drain_read_notifications();
    loop {
        match reader.dds.try_take_one() {
            Ok(None) => return,
            Ok(Some(change)) if prefix(change.writer_guid()) == own => {}
            Ok(Some(change)) => {
                let identity = SampleIdentity {
                    writer_guid: change.writer_guid(),
                    sequence_number: change.sequence_number,
                };
                let related = change.related_sample_identity();
                let raw = change.into_value();
                (reader.sink)(Sample { payload: raw.payload, encoding: raw.encoding, identity, related });
            }
            // The read position has moved past the sample: go on with the next.
            Err(error @ (ReadError::Deserialization { .. } | ReadError::UnknownKey { .. })) => {
                debug!(%error, "a sample was left out");
            }
            Err(error) => {
                debug!(%error, "reading stopped");
                return;
            }
        }
    }
}
