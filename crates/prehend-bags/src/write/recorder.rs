//! Topics of a running graph into a bag, as they come and as they are.
//!
//! Three steps that do not wait for each other: the middleware fills a short queue for each topic; a task for each moves its messages
//! into the cache, which has a bound in bytes; a thread writes. Whatever is too fast for the next step is dropped and counted, so
//! nothing that is recorded ever waits.

use super::{BagOptions, BagWriter, NewTopic, TopicId, WriteError, Written};
use futures::StreamExt;
use prehend_ros::{Durability, Node, QosProfile, RawMessage, RawSubscription, Reliability, RosError};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant, UNIX_EPOCH};
use tokio::task::JoinSet;

/// How often it is looked for new topics.
const LOOK: Duration = Duration::from_millis(200);
/// At least so often what is gathered goes to the operating system: a kill costs no more than this.
const FLUSH: Duration = Duration::from_millis(500);
/// Bytes of messages that may wait for the disk when nobody says otherwise.
const CACHE: usize = 256 << 20;
/// Messages of a topic that wait for their task: small ones come in bursts.
const SMALL: usize = 1000;
/// The same for pictures and clouds.
const LARGE: usize = 30;

/// Why nothing is recorded.
#[derive(Debug, thiserror::Error)]
pub enum RecordError {
    /// The bag.
    #[error(transparent)]
    Write(#[from] WriteError),
    /// The middleware.
    #[error(transparent)]
    Ros(#[from] RosError),
    /// The thread that writes.
    #[error("the thread that writes the bag cannot be started or broke: {0}")]
    Thread(String),
}

/// Which topics are recorded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Topics {
    /// These, whenever they appear.
    Named(BTreeSet<String>),
    /// Every one that is published, without those whose names have a part that begins with `_`: inner ones of actions.
    All,
}

impl Topics {
    fn has(&self, topic: &str) -> bool {
        match self {
            Self::Named(names) => names.contains(topic),
            Self::All => topic.starts_with('/') && !topic.contains("/_"),
        }
    }
}

/// How topics are recorded.
#[derive(Clone, Debug, PartialEq)]
pub struct RecordOptions {
    /// Which.
    pub topics: Topics,
    /// The bag.
    pub bag: BagOptions,
    /// Bytes of messages that may wait for the disk; more are dropped.
    pub cache: usize,
}

impl RecordOptions {
    /// These topics into one file.
    pub fn new(topics: Topics) -> Self {
        Self { topics, bag: BagOptions::default(), cache: CACHE }
    }
}

/// How far a recording is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// Messages handed to the bag.
    pub messages: u64,
    /// Bytes of the files.
    pub bytes: u64,
    /// Messages that were lost: by the middleware, because they came too fast, or because the disk refused them.
    pub dropped: u64,
    /// Topics.
    pub topics: usize,
}

/// What a recording came to.
#[derive(Clone, Debug)]
pub struct Recorded {
    /// The bag.
    pub written: Written,
    /// How far it came.
    pub progress: Progress,
    /// Losses by topic.
    pub dropped: BTreeMap<String, u64>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// One message on its way to the disk.
enum Work {
    Topic(Box<NewTopic>),
    /// The number of the topic, in the order of their announcement.
    Message(usize, RawMessage),
    End,
}

/// What the steps share.
#[derive(Default)]
struct Shared {
    waiting: AtomicUsize,
    messages: AtomicU64,
    bytes: AtomicU64,
    refused: AtomicU64,
    has_failed: AtomicBool,
    failure: Mutex<Option<WriteError>>,
    remarks: Mutex<Vec<String>>,
    /// Losses by topic, of the first two steps.
    dropped: Mutex<BTreeMap<String, u64>>,
    matched: Mutex<BTreeMap<String, bool>>,
}

/// Records until it is told to end. Dropped, it leaves a bag without its ends.
pub struct Recorder {
    shared: Arc<Shared>,
    work: Sender<Work>,
    tasks: JoinSet<()>,
    thread: Option<JoinHandle<Result<Written, WriteError>>>,
    end: tokio::sync::watch::Sender<bool>,
}

impl std::fmt::Debug for Recorder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Recorder").field("progress", &self.progress()).finish_non_exhaustive()
    }
}

impl Recorder {
    /// Begins to record into `folder`; topics that appear later are joined later.
    ///
    /// Errors: [`RecordError`].
    pub fn start(node: &Node, folder: &Path, options: RecordOptions) -> Result<Self, RecordError> {
        let writer = BagWriter::create(folder, options.bag.clone())?;
        let shared = Arc::new(Shared::default());
        let (work, inbox) = channel();
        let told = shared.clone();
        let thread = std::thread::Builder::new()
            .name("bag-writer".to_owned())
            .spawn(move || write(writer, &inbox, &told))
            .map_err(|error| RecordError::Thread(error.to_string()))?;
        let (end, ended) = tokio::sync::watch::channel(false);
        let finder = Finder {
            node: node.clone(),
            topics: options.topics,
            cache: options.cache,
            shared: shared.clone(),
            work: work.clone(),
            known: BTreeMap::new(),
            refused: BTreeSet::new(),
            ended,
        };
        let mut tasks = JoinSet::new();
        tasks.spawn(finder.run());
        Ok(Self { shared, work, tasks, thread: Some(thread), end })
    }

    /// Waits until every topic that was found is connected, for at most `patience`: what is published afterwards is in the bag. Whether
    /// they are.
    pub async fn connected(&self, patience: Duration) -> bool {
        let until = Instant::now() + patience;
        loop {
            {
                let matched = lock(&self.shared.matched);
                if !matched.is_empty() && matched.values().all(|matched| *matched) {
                    return true;
                }
            }
            if Instant::now() >= until {
                return false;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    /// How far it is.
    pub fn progress(&self) -> Progress {
        let load = |number: &AtomicU64| number.load(Ordering::Relaxed);
        let lost: u64 = lock(&self.shared.dropped).values().sum();
        Progress {
            messages: load(&self.shared.messages),
            bytes: load(&self.shared.bytes),
            dropped: lost + load(&self.shared.refused),
            topics: lock(&self.shared.matched).len(),
        }
    }

    /// What a person should know and was not told yet.
    pub fn remarks(&self) -> Vec<String> {
        std::mem::take(&mut *lock(&self.shared.remarks))
    }

    /// Whether nothing is written any more, as when the disk is full.
    pub fn has_failed(&self) -> bool {
        self.shared.has_failed.load(Ordering::Relaxed)
    }

    /// Ends the recording: writes what waits, the end of the file and `metadata.yaml`.
    ///
    /// Errors: [`RecordError::Write`] when the disk refused at any time; what was written before is kept and can be read.
    pub async fn finish(mut self) -> Result<Recorded, RecordError> {
        self.end.send_replace(true);
        while self.tasks.join_next().await.is_some() {}
        // The thread is gone only when it broke.
        let _ = self.work.send(Work::End);
        let Some(thread) = self.thread.take() else {
            return Err(RecordError::Thread("it was ended before".to_owned()));
        };
        let joined = tokio::task::spawn_blocking(move || thread.join()).await;
        let written = match joined {
            Ok(Ok(written)) => written,
            _ => return Err(RecordError::Thread("it panicked".to_owned())),
        };
        if let Some(error) = lock(&self.shared.failure).take() {
            return Err(error.into());
        }
        let dropped = lock(&self.shared.dropped).clone();
        Ok(Recorded { progress: self.progress(), dropped, written: written? })
    }
}

/// Looks for topics and joins them.
struct Finder {
    node: Node,
    topics: Topics,
    cache: usize,
    shared: Arc<Shared>,
    work: Sender<Work>,
    known: BTreeMap<String, usize>,
    refused: BTreeSet<String>,
    ended: tokio::sync::watch::Receiver<bool>,
}

/// A topic that can be joined.
struct Found {
    name: String,
    type_name: String,
    definition: String,
    offered: Vec<QosProfile>,
    is_latched: bool,
}

impl Finder {
    async fn run(mut self) {
        let mut listening = JoinSet::new();
        let mut ended = self.ended.clone();
        let mut look = tokio::time::interval(LOOK);
        loop {
            tokio::select! {
                _ = look.tick() => {}
                _ = ended.wait_for(|ended| *ended) => break,
            }
            let mut found = self.look();
            // What was said before the recording began comes first.
            found.sort_by_key(|topic| !topic.is_latched);
            for topic in found {
                self.join(topic, &mut listening);
            }
        }
        while listening.join_next().await.is_some() {}
    }

    fn remark(&self, remark: String) {
        tracing::warn!("{remark}");
        lock(&self.shared.remarks).push(remark);
    }

    /// Topics that are wanted and published and were not joined yet.
    fn look(&mut self) -> Vec<Found> {
        let mut found = Vec::new();
        for topic in self.node.topics() {
            let name = topic.name;
            let is_new = !self.known.contains_key(&name) && !self.refused.contains(&name);
            if topic.publishers.is_empty() || !is_new || !self.topics.has(&name) {
                continue;
            }
            let [type_name] = topic.types.as_slice() else {
                self.remark(format!(
                    "{name} is not recorded: nodes disagree about its type ({})",
                    topic.types.join(", ")
                ));
                self.refused.insert(name);
                continue;
            };
            let Some(definition) = prehend_msgs::ros2msg(type_name) else {
                self.remark(format!(
                    "{name} is not recorded: its type {type_name} is not among the interfaces of this program"
                ));
                self.refused.insert(name);
                continue;
            };
            let offered = match self.node.offered_qos(&name) {
                Ok(offered) if !offered.is_empty() => offered,
                // It has just gone, or is not known in full yet.
                Ok(_) => continue,
                Err(error) => {
                    self.remark(format!("{name} is not recorded: {error}"));
                    self.refused.insert(name);
                    continue;
                }
            };
            let is_latched = offered.iter().all(|qos| qos.durability == Durability::TransientLocal);
            found.push(Found { name, type_name: type_name.clone(), definition, offered, is_latched });
        }
        found
    }

    fn join(&mut self, found: Found, listening: &mut JoinSet<()>) {
        let Found { name, type_name, definition, offered, is_latched } = found;
        let is_large = ["/Image", "/PointCloud2", "/CompressedImage", "/OccupancyGrid"]
            .iter()
            .any(|end| type_name.ends_with(end));
        let is_reliable = offered.iter().all(|qos| qos.reliability == Reliability::Reliable);
        let qos = QosProfile {
            // Nothing that is large is asked for again: it would hold up who publishes it.
            reliability: match is_reliable && (is_latched || !is_large) {
                true => Reliability::Reliable,
                false => Reliability::BestEffort,
            },
            durability: if is_latched { Durability::TransientLocal } else { Durability::Volatile },
            depth: if is_large { LARGE } else { SMALL },
        };
        let subscription = match self.node.subscribe_raw(&name, &type_name, qos) {
            Ok(subscription) => subscription,
            Err(error) => {
                self.remark(format!("{name} is not recorded: {error}"));
                self.refused.insert(name);
                return;
            }
        };
        let number = self.known.len();
        self.known.insert(name.clone(), number);
        // The thread is gone only when it broke.
        let _ = self.work.send(Work::Topic(Box::new(NewTopic {
            name: name.clone(),
            type_name,
            definition,
            offered,
        })));
        lock(&self.shared.matched).insert(name.clone(), false);
        let listener = Listener {
            name,
            number,
            subscription,
            cache: self.cache,
            shared: self.shared.clone(),
            work: self.work.clone(),
            overflown: 0,
        };
        listening.spawn(listener.run(self.ended.clone()));
    }
}

/// Moves the messages of one topic into the cache.
struct Listener {
    name: String,
    number: usize,
    subscription: RawSubscription,
    cache: usize,
    shared: Arc<Shared>,
    work: Sender<Work>,
    overflown: u64,
}

impl Listener {
    async fn run(mut self, mut ended: tokio::sync::watch::Receiver<bool>) {
        let mut count = tokio::time::interval(Duration::from_millis(50));
        count.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                Some(message) = self.subscription.next() => self.pass_on(message),
                _ = count.tick() => self.count(),
                _ = ended.wait_for(|ended| *ended) => break,
            }
        }
        // What has arrived is recorded, too.
        while let Some(Some(message)) = futures::FutureExt::now_or_never(self.subscription.next()) {
            self.pass_on(message);
        }
        self.count();
    }

    fn count(&self) {
        let dropped = self.subscription.dropped() + self.overflown;
        if dropped > 0 {
            lock(&self.shared.dropped).insert(self.name.clone(), dropped);
        }
        if self.subscription.publisher_count() > 0 {
            lock(&self.shared.matched).insert(self.name.clone(), true);
        }
    }

    fn pass_on(&mut self, message: RawMessage) {
        let size = message.data.len();
        if self.shared.waiting.fetch_add(size, Ordering::Relaxed) + size > self.cache {
            self.shared.waiting.fetch_sub(size, Ordering::Relaxed);
            self.overflown += 1;
            return;
        }
        // The thread is gone only when it broke.
        let _ = self.work.send(Work::Message(self.number, message));
    }
}

/// The thread that writes. After a failure it throws away what comes, and ends the bag as well as the disk allows.
fn write(mut writer: BagWriter, inbox: &Receiver<Work>, shared: &Shared) -> Result<Written, WriteError> {
    let mut topics: Vec<TopicId> = Vec::new();
    let mut flushed = Instant::now();
    loop {
        let work = match inbox.recv_timeout(FLUSH) {
            Ok(Work::End) | Err(RecvTimeoutError::Disconnected) => return writer.finish(),
            Ok(work) => Some(work),
            Err(RecvTimeoutError::Timeout) => None,
        };
        let failed = shared.has_failed.load(Ordering::Relaxed);
        let done = match work {
            None => Ok(()),
            Some(Work::Topic(topic)) => {
                topics.push(writer.add_topic(*topic));
                Ok(())
            }
            Some(Work::Message(number, message)) => {
                shared.waiting.fetch_sub(message.data.len(), Ordering::Relaxed);
                match topics.get(number) {
                    Some(topic) if !failed => {
                        let received = message.received.duration_since(UNIX_EPOCH).unwrap_or_default();
                        let received = i64::try_from(received.as_nanos()).unwrap_or(i64::MAX);
                        writer.write(*topic, received, &message.data)
                    }
                    _ => {
                        shared.refused.fetch_add(1, Ordering::Relaxed);
                        Ok(())
                    }
                }
            }
            Some(Work::End) => return writer.finish(),
        };
        let done = match flushed.elapsed() >= FLUSH && !failed {
            true => {
                flushed = Instant::now();
                done.and_then(|()| writer.flush())
            }
            false => done,
        };
        if let Err(error) = done {
            shared.has_failed.store(true, Ordering::Relaxed);
            lock(&shared.remarks)
                .push(format!("{error}; nothing more is recorded, what was recorded before is kept"));
            *lock(&shared.failure) = Some(error);
        }
        shared.messages.store(writer.messages(), Ordering::Relaxed);
        shared.bytes.store(writer.bytes(), Ordering::Relaxed);
    }
}
