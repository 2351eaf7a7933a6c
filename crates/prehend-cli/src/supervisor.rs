//! The children of a graph: one OS process each, never left behind.
//!
//! A child's stdin is a pipe whose other end is here: when this process ends, however it ends, the child reads end of
//! file and exits. Children are in process groups of their own, so that Ctrl-C reaches this process alone, which stops
//! the robot first and the children then.

mod child;

pub use child::{Output, ProcessSpec, Restart};

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tokio::process::{ChildStdin, ChildStdout};
use tokio::sync::{mpsc, watch};
use tokio::task::JoinHandle;

/// How long a child may take to exit after its stdin was closed; it is killed then.
pub const GRACE: Duration = Duration::from_secs(2);

/// What happened to a child.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// It runs.
    Started {
        /// Name of the child.
        name: String,
        /// Its process id.
        pid: u32,
    },
    /// It ended although nobody asked for it.
    Died {
        /// Name of the child.
        name: String,
        /// How it ended, as the operating system says.
        status: String,
        /// Pause before it is started again; `None` when it is not.
        restart_in: Option<Duration>,
    },
    /// It could not be started.
    NotStarted {
        /// Name of the child.
        name: String,
        /// What the operating system said.
        error: String,
    },
}

/// Why a supervisor could not begin.
#[derive(Debug, thiserror::Error)]
pub enum SupervisorError {
    /// A child could not be started.
    #[error("cannot start {name}: {error}")]
    Spawn {
        /// Name of the child.
        name: String,
        /// What the operating system said.
        error: std::io::Error,
    },
    /// The log file of a child could not be made.
    #[error("cannot write {}: {error}", path.display())]
    Log {
        /// The file.
        path: PathBuf,
        /// What the operating system said.
        error: std::io::Error,
    },
}

/// Ends of a child's pipes that the caller keeps; see [`Output::Piped`].
#[derive(Debug)]
pub struct Pipes {
    /// To the child; dropping it asks the child to exit.
    pub stdin: ChildStdin,
    /// From the child.
    pub stdout: ChildStdout,
}

#[derive(Debug)]
struct Handle {
    task: JoinHandle<()>,
    kill: mpsc::Sender<()>,
    pid: watch::Receiver<Option<u32>>,
}

/// Keeps children running until [`stop`](Self::stop); dropping it kills them.
#[derive(Debug)]
pub struct Supervisor {
    children: BTreeMap<String, Handle>,
    stop: watch::Sender<bool>,
    events: mpsc::UnboundedReceiver<Event>,
    sender: mpsc::UnboundedSender<Event>,
    program: PathBuf,
    environment: Vec<(String, String)>,
    logs: PathBuf,
}

impl Supervisor {
    /// A supervisor without children, which will run `program` with `environment` added; logs go to the folder `logs`.
    pub fn new(program: &Path, environment: Vec<(String, String)>, logs: &Path) -> Self {
        let (sender, events) = mpsc::unbounded_channel();
        Self {
            children: BTreeMap::new(),
            stop: watch::channel(false).0,
            events,
            sender,
            program: program.to_owned(),
            environment,
            logs: logs.to_owned(),
        }
    }

    /// Starts a child; gives its pipes when the child's output is [`Output::Piped`].
    ///
    /// Errors: [`SupervisorError`]; nothing runs then.
    pub fn start(&mut self, spec: ProcessSpec) -> Result<Option<Pipes>, SupervisorError> {
        let name = spec.name.clone();
        let mut keeper = child::Keeper {
            log: self.log_path(&name),
            spec,
            program: self.program.clone(),
            environment: self.environment.clone(),
            events: self.sender.clone(),
        };
        let mut child = keeper.spawn()?;
        let pipes = keeper.take_pipes(&mut child);
        let (pid_sender, pid) = watch::channel(child.id());
        let (kill, kill_receiver) = mpsc::channel(1);
        let task = tokio::spawn(keeper.keep(child, self.stop.subscribe(), kill_receiver, pid_sender));
        self.children.insert(name, Handle { task, kill, pid });
        Ok(pipes)
    }

    /// What happened next; never ends.
    pub async fn event(&mut self) -> Event {
        match self.events.recv().await {
            Some(event) => event,
            None => std::future::pending().await,
        }
    }

    /// What has happened and was not read yet.
    pub fn try_event(&mut self) -> Option<Event> {
        self.events.try_recv().ok()
    }

    /// Process id of a child that runs.
    pub fn pid(&self, name: &str) -> Option<u32> {
        self.children.get(name).and_then(|handle| *handle.pid.borrow())
    }

    /// Names of the children, running or not.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.children.keys().map(String::as_str)
    }

    /// Kills a child as `kill -9` does; it is started again when its [`Restart`] says so.
    pub fn kill(&self, name: &str) {
        if let Some(handle) = self.children.get(name) {
            // A full channel holds the same wish already.
            let _ = handle.kill.try_send(());
        }
    }

    /// Log file of a child.
    pub fn log_path(&self, name: &str) -> PathBuf {
        self.logs.join(format!("{name}.log"))
    }

    /// Ends one child for good: asks it, kills it after [`GRACE`], and reaps it.
    pub async fn remove(&mut self, name: &str) {
        if let Some(handle) = self.children.remove(name) {
            // Its keeper ends a child without being asked again when nobody can kill it any more.
            drop(handle.kill);
            let _ = handle.task.await;
        }
    }

    /// Ends every child: asks all at once, kills those that are left after [`GRACE`], and reaps each.
    pub async fn stop(&mut self) {
        self.stop.send_replace(true);
        for (_, handle) in std::mem::take(&mut self.children) {
            let _ = handle.task.await;
        }
    }
}

#[cfg(test)]
mod tests;
