//! A viewer beside a graph that this process has started: `demo --view`, `up --view`.

use crate::graph::{Graph, GraphOptions};
use crate::screen::{Paint, Screen};
use std::process::Stdio;
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};

/// Longest time until its window is there; drawing in software takes a while to begin.
const WINDOW_DEADLINE: Duration = Duration::from_secs(30);

/// A process with the window, which ends with this value.
#[derive(Debug)]
pub(in crate::commands) struct Beside {
    /// Killed when it is dropped.
    _child: Child,
}

impl Beside {
    /// Opens it and waits until it hears the graph, so that it misses nothing of the goal that comes next; when it cannot be opened, says
    /// why and gives nothing: the graph is worth having without it.
    pub(in crate::commands) async fn open(
        graph: &Graph,
        options: &GraphOptions,
        memory: Option<&str>,
        screen: &Screen,
    ) -> Option<Self> {
        match start(graph, options, memory).await {
            Ok(child) => Some(Self { _child: child }),
            Err(why) => {
                screen.line(screen.paint(Paint::Yellow, &format!("no viewer: {why}")));
                None
            }
        }
    }
}

async fn start(graph: &Graph, options: &GraphOptions, memory: Option<&str>) -> Result<Child, String> {
    let mut child = Command::new(&options.program)
        .arg("view")
        .arg("--robot")
        .arg(&options.robot)
        .args(memory.iter().flat_map(|memory| ["--memory", memory]))
        .args(options.arguments.words())
        .env("ROS_DOMAIN_ID", graph.domain.id.to_string())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .map_err(|error| error.to_string())?;
    let output = child.stdout.take().ok_or_else(|| "its process has no pipe".to_owned())?;
    let mut lines = BufReader::new(output).lines();
    match tokio::time::timeout(WINDOW_DEADLINE, lines.next_line()).await {
        Ok(Ok(Some(_))) => Ok(child),
        Ok(Ok(None) | Err(_)) => Err("it ended, for the reason above".to_owned()),
        Err(_) => Err(format!("it has no window after {} s", WINDOW_DEADLINE.as_secs())),
    }
}
