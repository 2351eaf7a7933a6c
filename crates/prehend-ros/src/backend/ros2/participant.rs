//! The process's membership in a ROS domain, and its nodes.

use super::courier::{Courier, Outbox};
use super::spin::{Spinner, Spun, words_of};
use crate::RosError;
use crate::backend::watchdog::Watchdog;
use crate::sync::lock;
use r2r::Context;
use std::collections::BTreeMap;
use std::panic::catch_unwind;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, Weak};
use std::time::Duration;
use tokio::sync::watch;

/// A node of this participant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct NodeKey(u64);

/// Membership in a domain; closed when the last handle goes, or on [`close`](Self::close).
pub(crate) struct Participant {
    context: Context,
    domain_id: u16,
    nodes: Mutex<BTreeMap<NodeKey, Arc<Spinner>>>,
    /// Every node that may still have endpoints, those that left the graph of the facade too.
    spinners: Mutex<Vec<Weak<Spinner>>>,
    courier: Courier,
    changes: watch::Sender<u64>,
    closed: Arc<AtomicBool>,
    next_node: AtomicU64,
    watchdog: Watchdog,
}

/// The domain rcl reads from the environment.
fn domain_of_environment() -> u16 {
    let value = std::env::var("ROS_DOMAIN_ID").ok();
    value.and_then(|value| value.trim().parse().ok()).unwrap_or(0)
}

impl Participant {
    /// Joins domain `domain_id`, which has to be that of the environment: rcl takes it from there.
    pub(crate) fn create(domain_id: u16) -> Result<Arc<Self>, RosError> {
        let failed = |reason: String| RosError::Create { what: "the ROS 2 context".to_owned(), reason };
        let environment = domain_of_environment();
        if domain_id != environment {
            return Err(failed(format!(
                "domain {domain_id} is wanted, but ROS 2 takes the domain from ROS_DOMAIN_ID, which means {environment}"
            )));
        }
        // r2r panics when rcl refuses, as it does at `--ros-args` it cannot read or without a middleware.
        let context = catch_unwind(Context::create)
            .map_err(|panic| failed(words_of(&*panic)))?
            .map_err(|error| failed(error.to_string()))?;
        Ok(Arc::new(Self {
            context,
            domain_id,
            nodes: Mutex::default(),
            spinners: Mutex::default(),
            courier: Courier::start().map_err(|error| failed(error.to_string()))?,
            changes: watch::Sender::new(0),
            closed: Arc::default(),
            next_node: AtomicU64::new(1),
            watchdog: Watchdog::start().map_err(|error| failed(error.to_string()))?,
        }))
    }

    pub(crate) fn domain_id(&self) -> u16 {
        self.domain_id
    }

    /// Leaves the graph now, telling the peers; endpoints that are left fail with [`RosError::Closed`].
    pub(crate) fn close(&self) {
        if self.closed.swap(true, Ordering::SeqCst) {
            return;
        }
        self.courier.stop();
        lock(&self.nodes).clear();
        let left: Vec<_> = lock(&self.spinners).drain(..).filter_map(|spinner| spinner.upgrade()).collect();
        for spinner in left {
            spinner.stop();
        }
        self.changes.send_modify(|count| *count += 1);
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.closed.load(Ordering::SeqCst)
    }

    /// Changes whenever who is connected may have changed.
    pub(crate) fn changes(&self) -> watch::Receiver<u64> {
        self.changes.subscribe()
    }

    /// Calls `tick` about every `period` as long as it lives.
    pub(crate) fn tick(&self, period: Duration, tick: Weak<dyn Fn() + Send + Sync>) {
        self.courier.outbox.tick(period, tick);
    }

    pub(super) fn outbox(&self) -> Outbox {
        self.courier.outbox.clone()
    }

    /// A node under its fully qualified name.
    pub(crate) fn add_node(&self, name: &str) -> Result<NodeKey, RosError> {
        if self.is_closed() {
            return Err(RosError::Closed);
        }
        let (closed, changes) = (self.closed.clone(), self.changes.clone());
        let died = move || {
            closed.store(true, Ordering::SeqCst);
            changes.send_modify(|count| *count += 1);
        };
        let _watched = self.watchdog.watch(format!("node {name}"));
        let spinner = Spinner::start(&self.context, name, self.changes.clone(), died)?;
        let key = NodeKey(self.next_node.fetch_add(1, Ordering::Relaxed));
        let mut spinners = lock(&self.spinners);
        spinners.retain(|spinner| spinner.strong_count() > 0);
        spinners.push(Arc::downgrade(&spinner));
        lock(&self.nodes).insert(key, spinner);
        Ok(key)
    }

    /// Takes the node off the graph, once its endpoints are gone too.
    pub(crate) fn remove_node(&self, node: NodeKey) {
        // Its thread ends here, or with the last endpoint: not under the lock.
        let spinner = lock(&self.nodes).remove(&node);
        drop(spinner);
    }

    /// The node of `node`.
    pub(super) fn spinner(&self, node: NodeKey) -> Result<Arc<Spinner>, RosError> {
        if self.is_closed() {
            return Err(RosError::Closed);
        }
        lock(&self.nodes).get(&node).cloned().ok_or(RosError::Closed)
    }

    /// Any node, to ask about the graph; and the names of all.
    pub(super) fn nodes(&self) -> (Option<Arc<Spinner>>, Vec<String>) {
        let nodes = lock(&self.nodes);
        let names = nodes.values().map(|spinner| spinner.name.clone()).collect();
        (nodes.values().next().cloned(), names)
    }

    /// Has `spinner` make `what`; a middleware that hangs at it ends the process, see [`crate::when_stuck`].
    pub(super) fn make<T: Send + 'static>(
        &self,
        spinner: &Spinner,
        what: &str,
        act: impl FnOnce(&mut Spun) -> r2r::Result<T> + Send + 'static,
    ) -> Result<T, RosError> {
        let _watched = self.watchdog.watch(what.to_owned());
        spinner.ask(what, act)
    }
}

impl Drop for Participant {
    fn drop(&mut self) {
        self.close();
    }
}
