//! The thread that owns an r2r node.

use crate::RosError;
use crate::sync::lock;
use r2r::{Context, Node};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, Weak};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use tokio::sync::watch;
use tracing::{debug, error};

/// Longest wait of rcl, in which nothing else can be done with the node.
const PERIOD: Duration = Duration::from_millis(10);

/// The same while endpoints are being made.
const BRISK: Duration = Duration::from_millis(1);

/// Waits that end at once and bring nothing, before the thread rests: rcl does not wait when it has nothing to wait for.
const IDLE_TURNS: u32 = 4;

/// Something that is to be done with the node.
type Command = Box<dyn FnOnce(&mut Spun) + Send>;

/// Gives on what has arrived for one endpoint; whether anything had.
pub(super) type Source = Box<dyn FnMut() -> bool>;

/// What is looked after at every turn.
pub(super) trait Attended: Send + Sync {
    /// Before rcl waits.
    fn before(&self);
    /// After it: whether answers had arrived, and whether the server came or went.
    fn after(&self) -> (bool, bool);
}

/// What the thread owns.
pub(super) struct Spun {
    pub(super) node: Node,
    sources: Vec<(u64, Source)>,
    attended: Vec<Weak<dyn Attended>>,
}

impl Spun {
    pub(super) fn add_source(&mut self, id: u64, source: Source) {
        self.sources.push((id, source));
    }

    pub(super) fn remove_source(&mut self, id: u64) {
        self.sources.retain(|(other, _)| *other != id);
    }

    pub(super) fn attend(&mut self, link: Weak<dyn Attended>) {
        self.attended.push(link);
    }

    /// One wait of rcl and what came of it: whether anything arrived, and whether a server came or went.
    fn turn(&mut self, period: Duration) -> (bool, bool) {
        self.attended.retain(|link| link.strong_count() > 0);
        let links: Vec<_> = self.attended.iter().filter_map(Weak::upgrade).collect();
        for link in &links {
            link.before();
        }
        self.node.spin_once(period);
        let (mut arrived, mut changed) = (false, false);
        for (_, source) in &mut self.sources {
            arrived |= source();
        }
        for link in links {
            let (answered, came_or_went) = link.after();
            arrived |= answered;
            changed |= came_or_went;
        }
        (arrived, changed)
    }

    fn has_nothing_to_wait_for(&self) -> bool {
        self.sources.is_empty() && self.attended.is_empty()
    }
}

/// Handle on the thread of one node, which leaves the graph with the last handle.
pub(super) struct Spinner {
    /// Fully qualified.
    pub(super) name: String,
    commands: Sender<Command>,
    stop: Arc<AtomicBool>,
    next_id: AtomicU64,
    thread: Mutex<Option<JoinHandle<()>>>,
}

impl Spinner {
    /// Makes node `name` (fully qualified) and its thread. `changes` is bumped when a server comes or goes, and `died` called
    /// when the thread ends without having been told to.
    pub(super) fn start(
        context: &Context,
        name: &str,
        changes: watch::Sender<u64>,
        died: impl FnOnce() + Send + 'static,
    ) -> Result<Arc<Self>, RosError> {
        let what = format!("node {name}");
        let failed = |reason: String| RosError::Create { what: what.clone(), reason };
        let (namespace, own_name) = name.rsplit_once('/').unwrap_or(("", name));
        let namespace = if namespace.is_empty() { "/" } else { namespace };
        let made = catch_unwind(AssertUnwindSafe(|| Node::create(context.clone(), own_name, namespace)));
        let node = match made {
            Ok(Ok(node)) => node,
            Ok(Err(error)) => return Err(failed(error.to_string())),
            Err(panic) => return Err(failed(words_of(&*panic))),
        };
        let (commands, inbox) = channel();
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = stop.clone();
        let thread = std::thread::Builder::new()
            .name("ros-spin".to_owned())
            .spawn(move || {
                let mut spun = Spun { node, sources: Vec::new(), attended: Vec::new() };
                let spinning = AssertUnwindSafe(|| run(&mut spun, &inbox, &stopped, &changes));
                if let Err(panic) = catch_unwind(spinning) {
                    error!("the thread of the ROS node has panicked: {}", words_of(&*panic));
                    died();
                }
                // rcl may not like the end of a node it has failed at, and nothing follows.
                if catch_unwind(AssertUnwindSafe(|| drop(spun))).is_err() {
                    debug!("a ROS node ended with a panic");
                }
            })
            .map_err(|error| failed(error.to_string()))?;
        Ok(Arc::new(Self {
            name: name.to_owned(),
            commands,
            stop,
            next_id: AtomicU64::new(1),
            thread: Mutex::new(Some(thread)),
        }))
    }

    /// A number nothing else of this node has.
    pub(super) fn new_id(&self) -> u64 {
        self.next_id.fetch_add(1, Ordering::Relaxed)
    }

    /// Has `act` done soon, on the thread.
    pub(super) fn tell(&self, act: impl FnOnce(&mut Spun) + Send + 'static) {
        // Without the thread there is no node to do anything with.
        let _ = self.commands.send(Box::new(act));
    }

    /// Has `act` done on the thread and waits for what comes of it, some milliseconds.
    ///
    /// Errors: `Closed`; `Create` when `act` fails, which concerned `what`.
    pub(super) fn ask<T: Send + 'static>(
        &self,
        what: &str,
        act: impl FnOnce(&mut Spun) -> r2r::Result<T> + Send + 'static,
    ) -> Result<T, RosError> {
        let failed = |reason| RosError::Create { what: what.to_owned(), reason };
        let (sender, receiver) = channel();
        self.tell(move |spun| {
            let outcome = catch_unwind(AssertUnwindSafe(|| act(spun)));
            // Who asked waits.
            let _ = sender.send(match outcome {
                Ok(Ok(made)) => Ok(made),
                Ok(Err(error)) => Err(error.to_string()),
                Err(panic) => Err(words_of(&*panic)),
            });
        });
        receiver.recv().map_err(|_| RosError::Closed)?.map_err(failed)
    }

    /// Ends the thread, and the node with it.
    pub(super) fn stop(&self) {
        self.stop.store(true, Ordering::SeqCst);
        self.tell(|_| {});
        let thread = lock(&self.thread).take();
        if let Some(thread) = thread
            && thread.thread().id() != std::thread::current().id()
            && thread.join().is_err()
        {
            debug!("the thread of a ROS node had panicked");
        }
    }
}

impl Drop for Spinner {
    fn drop(&mut self) {
        self.stop();
    }
}

fn run(spun: &mut Spun, inbox: &Receiver<Command>, stop: &AtomicBool, changes: &watch::Sender<u64>) {
    let mut brisk_until = Instant::now();
    let mut idle_turns = 0;
    while !stop.load(Ordering::SeqCst) {
        let rests = spun.has_nothing_to_wait_for() || idle_turns > IDLE_TURNS;
        let first = if rests { inbox.recv_timeout(PERIOD).ok() } else { inbox.try_recv().ok() };
        if let Some(command) = first {
            command(spun);
            while let Ok(command) = inbox.try_recv() {
                command(spun);
            }
            brisk_until = Instant::now() + 100 * BRISK;
        }
        if stop.load(Ordering::SeqCst) {
            return;
        }
        let began = Instant::now();
        let period = if began < brisk_until { BRISK } else { PERIOD };
        let (arrived, changed) = spun.turn(period);
        if changed {
            changes.send_modify(|count| *count += 1);
        }
        let at_once = began.elapsed() < BRISK / 2;
        idle_turns = if !arrived && at_once { idle_turns + 1 } else { 0 };
    }
}

/// What a panic said.
pub(super) fn words_of(panic: &(dyn std::any::Any + Send)) -> String {
    let words = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    words.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "a panic".to_owned())
}
