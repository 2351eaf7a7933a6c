//! One child: started, logged, restarted, ended.

use super::{Event, GRACE, Pipes, SupervisorError};
use std::fs::{File, OpenOptions};
use std::path::PathBuf;
use std::process::Stdio;
use std::time::{Duration, Instant};
use tokio::process::{Child, ChildStdin, Command};
use tokio::sync::{mpsc, watch};

/// Pause before the first restart; it doubles with each death soon after a start.
const FIRST_BACKOFF: Duration = Duration::from_millis(100);
/// Longest pause before a restart.
const LONGEST_BACKOFF: Duration = Duration::from_secs(5);
/// A child that ran longer starts over with the shortest pause.
const STEADY: Duration = Duration::from_secs(10);

/// Whether a child that died is started again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Restart {
    /// After a pause that grows while it keeps dying.
    Always,
    /// Never; its death is only told.
    Never,
}

/// Where a child's stdout goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Output {
    /// To its log file, after what it writes to stderr; the supervisor keeps its stdin.
    Logged,
    /// To the caller, who gets both pipes once, at the first start.
    Piped,
}

/// What a child is.
#[derive(Clone, Debug)]
pub struct ProcessSpec {
    /// Its name, unique among the children of a supervisor.
    pub name: String,
    /// Arguments of the program.
    pub arguments: Vec<String>,
    /// Whether it is started again.
    pub restart: Restart,
    /// Where its stdout goes.
    pub output: Output,
}

/// Keeps one child; see [`keep`](Self::keep).
#[derive(Debug)]
pub(super) struct Keeper {
    pub(super) spec: ProcessSpec,
    pub(super) program: PathBuf,
    pub(super) environment: Vec<(String, String)>,
    pub(super) log: PathBuf,
    pub(super) events: mpsc::UnboundedSender<Event>,
}

impl Keeper {
    fn open_log(&self) -> Result<File, SupervisorError> {
        OpenOptions::new()
            .create(true)
            .append(true)
            .open(&self.log)
            .map_err(|error| SupervisorError::Log { path: self.log.clone(), error })
    }

    pub(super) fn spawn(&mut self) -> Result<Child, SupervisorError> {
        let log = self.open_log()?;
        let output = match self.spec.output {
            Output::Piped => Stdio::piped(),
            Output::Logged => Stdio::from(self.open_log()?),
        };
        let child = Command::new(&self.program)
            .args(&self.spec.arguments)
            .envs(self.environment.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::piped())
            .stdout(output)
            .stderr(Stdio::from(log))
            .process_group(0)
            .kill_on_drop(true)
            .spawn()
            .map_err(|error| SupervisorError::Spawn { name: self.spec.name.clone(), error })?;
        if let Some(pid) = child.id() {
            self.tell(Event::Started { name: self.spec.name.clone(), pid });
        }
        Ok(child)
    }

    /// The pipes the caller keeps, when the child's output is piped.
    pub(super) fn take_pipes(&self, child: &mut Child) -> Option<Pipes> {
        if self.spec.output != Output::Piped {
            return None;
        }
        let stdout = child.stdout.take()?;
        let stdin = child.stdin.take()?;
        Some(Pipes { stdin, stdout })
    }

    fn tell(&self, event: Event) {
        // Nobody listens when the supervisor is being dropped.
        let _ = self.events.send(event);
    }

    /// Waits for the child's death or the wish to end it, and starts it again after a death that nobody wished.
    pub(super) async fn keep(
        mut self,
        mut child: Child,
        mut stop: watch::Receiver<bool>,
        mut kill: mpsc::Receiver<()>,
        pid: watch::Sender<Option<u32>>,
    ) {
        let mut backoff = FIRST_BACKOFF;
        loop {
            let started = Instant::now();
            // tokio closes the stdin of a child that is waited for; the child would take that for our end.
            let stdin = child.stdin.take();
            let status = loop {
                tokio::select! {
                    status = child.wait() => break status,
                    () = asked(&mut stop) => return end(child, stdin).await,
                    wish = kill.recv() => match wish {
                        Some(()) => drop(child.start_kill()),
                        None => return end(child, stdin).await,
                    },
                }
            };
            drop(stdin);
            pid.send_replace(None);
            if started.elapsed() > STEADY {
                backoff = FIRST_BACKOFF;
            }
            let restart_in = (self.spec.restart == Restart::Always).then_some(backoff);
            self.tell(Event::Died {
                name: self.spec.name.clone(),
                status: status.map_or_else(|error| error.to_string(), |status| status.to_string()),
                restart_in,
            });
            if restart_in.is_none() {
                return;
            }
            child = loop {
                tokio::select! {
                    () = tokio::time::sleep(backoff) => {}
                    () = asked(&mut stop) => return,
                }
                backoff = (backoff * 2).min(LONGEST_BACKOFF);
                match self.spawn() {
                    Ok(child) => break child,
                    Err(error) => self
                        .tell(Event::NotStarted { name: self.spec.name.clone(), error: error.to_string() }),
                }
            };
            pid.send_replace(child.id());
        }
    }
}

/// Completes when the end is asked for, or nobody is left who could.
async fn asked(stop: &mut watch::Receiver<bool>) {
    let _ = stop.wait_for(|stop| *stop).await;
}

/// Asks a child to exit by closing its stdin, kills it after [`GRACE`], reaps it.
async fn end(mut child: Child, stdin: Option<ChildStdin>) {
    drop(stdin);
    if tokio::time::timeout(GRACE, child.wait()).await.is_err() {
        // `kill` reaps, too; it fails only for a child that has exited by itself.
        let _ = child.kill().await;
    }
}
