//! The life of a node: when it has what it needs, when it works, when it ends.
//!
//! | state | what it means here |
//! |---|---|
//! | unconfigured | the process runs; no file was read, nothing of the graph is offered or heard |
//! | inactive | files are read, topics and services are there; requests are refused and nothing moves; no heartbeat |
//! | active | it works; a heartbeat says so, and others rely on it |
//! | finalized | as unconfigured, for good |
//!
//! Only an active node beats, so whoever needs it takes a deactivated one for lost: a motion that relies on it stops. Deactivating
//! a node that moves the robot stops the motion first and then answers. With `autostart` (the default) a node configures and
//! activates itself, and ends when it cannot; without, a lifecycle manager does.

use super::{NodeError, Shell, bond};
use futures::FutureExt;
use prehend_ros::{Lifecycle, LifecycleTransition, TransitionOutcome};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::{mpsc, oneshot, watch};

/// Longest wait for what is under way to end, the robot to stand, when the node is deactivated.
const REST: Duration = Duration::from_secs(10);
/// How long another node of the same name is listened for.
const ALONE: Duration = Duration::from_millis(800);
/// Longest wait for a node to give everything back.
const RELEASE: Duration = Duration::from_secs(10);

/// Answers a configuration.
type Configured = oneshot::Sender<TransitionOutcome>;

/// What the parts of a node agree on about its life.
#[derive(Debug)]
pub(super) struct Life {
    /// The process is to end.
    pub(super) ending: watch::Sender<bool>,
    /// The node works.
    pub(super) active: watch::Sender<bool>,
    /// Something was taken up that is not done.
    busy: watch::Sender<usize>,
    /// The node is to give everything back.
    release: watch::Sender<bool>,
    /// The node has something to give back.
    serving: watch::Sender<bool>,
    /// Who waits for the configuration that is under way.
    configuring: Mutex<Option<Configured>>,
    configure: mpsc::UnboundedSender<Configured>,
    asked: tokio::sync::Mutex<mpsc::UnboundedReceiver<Configured>>,
}

/// Something that was taken up; the node is not at rest while this lives.
#[derive(Debug)]
pub struct Work(Arc<Life>);

impl Drop for Work {
    fn drop(&mut self) {
        self.0.busy.send_modify(|count| *count -= 1);
    }
}

impl Life {
    pub(super) fn new() -> Arc<Self> {
        let (configure, asked) = mpsc::unbounded_channel();
        Arc::new(Self {
            ending: watch::Sender::new(false),
            active: watch::Sender::new(false),
            busy: watch::Sender::new(0),
            release: watch::Sender::new(false),
            serving: watch::Sender::new(false),
            configuring: Mutex::new(None),
            configure,
            asked: tokio::sync::Mutex::new(asked),
        })
    }

    fn configuring(&self) -> std::sync::MutexGuard<'_, Option<Configured>> {
        self.configuring.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Stops working and waits until nothing is under way.
    async fn rest(&self) -> bool {
        self.active.send_replace(false);
        let mut busy = self.busy.subscribe();
        matches!(tokio::time::timeout(REST, busy.wait_for(|count| *count == 0)).await, Ok(Ok(_)))
    }

    /// Has everything given back.
    async fn released(&self) -> bool {
        self.release.send_replace(true);
        let mut serving = self.serving.subscribe();
        matches!(tokio::time::timeout(RELEASE, serving.wait_for(|serving| !serving)).await, Ok(Ok(_)))
    }

    async fn perform(self: Arc<Self>, transition: LifecycleTransition) -> TransitionOutcome {
        let done = match transition {
            LifecycleTransition::Configure => {
                let (sender, outcome) = oneshot::channel();
                if self.configure.send(sender).is_err() {
                    return TransitionOutcome::Failure;
                }
                return outcome.await.unwrap_or(TransitionOutcome::Failure);
            }
            LifecycleTransition::Activate => {
                self.active.send_replace(true);
                true
            }
            LifecycleTransition::Deactivate => self.rest().await,
            LifecycleTransition::Cleanup => self.released().await,
            LifecycleTransition::Shutdown => self.rest().await && self.released().await,
        };
        if done {
            return TransitionOutcome::Success;
        }
        // What does not come to rest must not go on as if nothing were.
        self.released().await;
        TransitionOutcome::Error
    }
}

impl Shell {
    /// Runs the node until the process is to end: `serve` gets what it needs, says [`configured`](Self::configured), and returns
    /// when [`shutdown`](Self::shutdown) completes.
    ///
    /// Errors: those of `serve`; without `autostart` one of a configuration is only logged, and the node stays unconfigured.
    pub async fn live<F, W>(self, serve: F) -> Result<(), NodeError>
    where
        F: Fn(Self) -> W,
        W: Future<Output = Result<(), NodeError>>,
    {
        let parameters = self.node.parameters();
        let autostart = parameters.bool_or("autostart", true)?;
        let text = "Whether the node configures and activates itself; without, a lifecycle manager has to.";
        parameters.describe("autostart", text);
        let performing = Arc::clone(&self.life);
        let lifecycle = self.node.serve_lifecycle(Arc::new(move |transition| {
            let life = Arc::clone(&performing);
            async move { life.perform(transition).await }.boxed()
        }))?;
        if autostart {
            tokio::spawn(start(lifecycle));
        } else {
            bond::hold(&self.node, self.trace.name, self.activity())?;
        }
        let life = Arc::clone(&self.life);
        let mut asked = life.asked.lock().await;
        loop {
            let done = tokio::select! {
                () = self.process_ends() => return self.how_it_ends(),
                Some(done) = asked.recv() => done,
            };
            life.release.send_replace(false);
            *life.configuring() = Some(done);
            life.serving.send_replace(true);
            let outcome = serve(self.clone()).await;
            life.active.send_replace(false);
            life.serving.send_replace(false);
            let waiting = life.configuring().take();
            match (outcome, waiting) {
                (Err(error), Some(done)) if !autostart => {
                    tracing::error!("not configured: {error}");
                    // Nobody waits any more when the process ends.
                    let _ = done.send(TransitionOutcome::Failure);
                }
                (Err(error), _) => return Err(error),
                (Ok(()), _) => {}
            }
        }
    }

    /// Says that the node has what it needs.
    pub fn configured(&self) {
        if let Some(done) = self.life.configuring().take() {
            // Who waited has gone with the process.
            let _ = done.send(TransitionOutcome::Success);
        }
    }

    /// Completes when the node is to give back what it has: the process is to end, or the node is cleaned up.
    pub async fn shutdown(&self) {
        let mut release = self.life.release.subscribe();
        tokio::select! {
            () = self.process_ends() => {}
            _ = release.wait_for(|release| *release) => {}
        }
    }

    /// Completes when the process is to end.
    async fn process_ends(&self) {
        let mut ending = self.life.ending.subscribe();
        // The sender lives as long as the shell.
        let _ = ending.wait_for(|ending| *ending).await;
    }

    fn how_it_ends(&self) -> Result<(), NodeError> {
        match self.peers.twin() {
            Some(twin) => Err(NodeError::Twin { twin }),
            None => Ok(()),
        }
    }

    /// Whether the node is active. One that is not refuses what it is asked for.
    pub fn is_active(&self) -> bool {
        *self.life.active.borrow()
    }

    /// Whether the node is active, and its changes.
    pub fn activity(&self) -> watch::Receiver<bool> {
        self.life.active.subscribe()
    }

    /// Waits until another node of this name that was first would have been heard.
    ///
    /// Errors: [`NodeError::Twin`] when there is one.
    pub async fn alone(&self) -> Result<(), NodeError> {
        // It beats ten times a second, once it has found us.
        let _ = tokio::time::timeout_at((self.listening + ALONE).into(), self.process_ends()).await;
        self.how_it_ends()
    }

    /// Begins to work without a lifecycle: for what is no managed node.
    pub fn activate(&self) {
        self.life.active.send_replace(true);
    }

    /// Takes something up: deactivating the node waits for its end.
    pub fn work(&self) -> Work {
        self.life.busy.send_modify(|count| *count += 1);
        Work(Arc::clone(&self.life))
    }
}

/// Configures and activates.
async fn start(lifecycle: Lifecycle) {
    if lifecycle.change(LifecycleTransition::Configure).await {
        lifecycle.change(LifecycleTransition::Activate).await;
    }
}
