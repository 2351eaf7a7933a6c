//! The one thread that takes samples and events out of RustDDS and hands them on.
//!
//! One owner for every reader is the cure for lost answers: nobody else takes samples, so none goes to the wrong call.

use super::endpoint::{WriterCore, drain};
use super::matches::{Matches, Prefix};
use super::settled::Settled;
use super::wire::{Raw, RawAdapter, Sample, Sink};
use bytes::Bytes;
use futures::Stream;
use futures::task::ArcWake;
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

/// Time between two attempts of a writer whose window is full; a reader acknowledges within milliseconds.
const RETRY: Duration = Duration::from_millis(5);

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
    /// A writer whose samples wait for room.
    Waiting(Weak<WriterCore>),
    Stop,
}

pub(super) struct PumpedReader {
    pub(super) guid: GUID,
    pub(super) dds: SimpleDataReader<Raw, RawAdapter>,
    pub(super) sink: Sink,
}

/// An answer that waits until its writer has matched a reader of the asking process.
pub(super) struct DeferredAnswer {
    pub(super) writer: Arc<WriterCore>,
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
    pub(super) fn start(
        dds: &DomainParticipant,
        matches: Arc<Matches>,
        settled: Arc<Settled>,
        own: Prefix,
    ) -> std::io::Result<Self> {
        let (work, inbox) = channel();
        let listener = dds.status_listener();
        let sender = work.clone();
        let thread = std::thread::Builder::new().name("ros-pump".to_owned()).spawn(move || {
            let status = listener.as_async_status_stream();
            let mut state = State {
                work: sender,
                readers: HashMap::new(),
                ticks: Vec::new(),
                deferred: Vec::new(),
                waiting: Vec::new(),
                retry: None,
            };
            state.run(&inbox, status, &matches, &settled, own);
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
    waiting: Vec<Weak<WriterCore>>,
    /// When those who wait are tried again.
    retry: Option<Instant>,
}

impl State {
    fn run(
        &mut self,
        inbox: &Receiver<Work>,
        status: impl Stream<Item = rustdds::DomainParticipantStatusEvent>,
        matches: &Matches,
        settled: &Settled,
        own: Prefix,
    ) {
        let mut status = pin!(status);
        let waker = futures::task::waker(Arc::new(Wakeup { work: self.work.clone(), reader: None }));
        let mut poll_status = || {
            let mut changed = false;
            while let Poll::Ready(Some(event)) = status.as_mut().poll_next(&mut Context::from_waker(&waker)) {
                settled.apply(&event);
                changed |= matches.apply(&event);
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
                Ok(Work::Waiting(writer)) => {
                    self.waiting.push(writer);
                    self.retry.get_or_insert_with(|| Instant::now() + RETRY);
                }
                Err(RecvTimeoutError::Timeout) => {
                    poll_status();
                    self.send_deferred();
                }
                Ok(Work::Stop) | Err(RecvTimeoutError::Disconnected) => return,
            }
            self.tick();
            self.send_waiting();
        }
    }

    fn next_due(&self) -> Option<Instant> {
        let ticks = self.ticks.iter().map(|ticker| ticker.next);
        ticks.chain(self.deferred.iter().map(|answer| answer.until)).chain(self.retry).min()
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

    /// Tries the writers whose samples wait, when it is time.
    fn send_waiting(&mut self) {
        if self.retry.is_some_and(|retry| retry <= Instant::now()) {
            self.waiting.retain(|writer| writer.upgrade().is_some_and(|writer| writer.send_waiting()));
            self.retry = (!self.waiting.is_empty()).then(|| Instant::now() + RETRY);
        }
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
