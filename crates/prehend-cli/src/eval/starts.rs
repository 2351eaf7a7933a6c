//! Starts of the whole graph, one after the other: how long each took until it was ready, and in which the middleware hung.
//!
//! Each is a `prehend up` of its own, as a user has it, and ends before the next begins.

use crate::args::StartsArgs;
use crate::outcome::exit;
use crate::run_folder::RunFolder;
use crate::screen::{Paint, Screen, print_json};
use prehend_geometry::stats::percentile;
use prehend_ros::shutdown_signal;
use serde::Serialize;
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, BufReader};
use tokio::process::Command;

/// Longest time until a start counts as failed: longer than `up` itself waits, also when it starts once more.
const DEADLINE: Duration = Duration::from_secs(60);
/// Longest time for a graph to end.
const END: Duration = Duration::from_secs(10);
/// What `up` prints when its graph is ready.
const READY: &str = "ready in ";
/// What every report of a hang in the middleware has.
const HUNG: &str = "in the middleware";

/// What `eval starts --json` prints.
#[derive(Debug, Default, Serialize)]
struct Report {
    /// Starts that were made.
    starts: usize,
    /// Of them, those that became ready.
    ready: usize,
    /// Of them, those in which a process hung in the middleware and was started again.
    hung: usize,
    /// Wall seconds from the start of the process until it was ready: median, 90th percentile, longest.
    seconds: [f64; 3],
}

/// How one start went.
struct Start {
    ready: Option<Duration>,
    hung: bool,
    /// What it said on stderr.
    complaints: String,
    /// It was asked for something that cannot be started, whatever the middleware does.
    bad_input: bool,
}

/// Makes starts; gives the exit code.
pub async fn starts(args: StartsArgs) -> u8 {
    let screen = Screen::new(args.json);
    let folder = match RunFolder::named_or_dated(args.out.as_deref(), 0) {
        Ok(folder) => folder,
        Err(error) => {
            eprintln!("{error}");
            return exit::BAD_INPUT;
        }
    };
    let mut report = Report::default();
    let mut times: Vec<f64> = Vec::new();
    let mut end = std::pin::pin!(shutdown_signal(false));
    let mut code = exit::DONE;
    for number in 1..=args.starts {
        let logs = folder.file(&format!("start{number:04}"));
        let start = tokio::select! {
            start = one(&args, &logs) => start,
            _ = &mut end => {
                code = exit::INTERRUPTED;
                break;
            }
        };
        let start = match start {
            Ok(start) => start,
            Err(error) => {
                eprintln!("cannot start a graph: {error}");
                return exit::NOT_READY;
            }
        };
        if start.bad_input {
            eprint!("{}", start.complaints);
            return exit::BAD_INPUT;
        }
        report.starts += 1;
        report.hung += usize::from(start.hung);
        let hung =
            if start.hung { screen.paint(Paint::Red, ", hung in the middleware") } else { String::new() };
        match start.ready {
            Some(took) => {
                report.ready += 1;
                times.push(took.as_secs_f64());
                screen.line(format!("{number:5}  ready in {:.2} s{hung}", took.as_secs_f64()));
            }
            None => {
                let failed = screen.paint(Paint::Red, "not ready");
                screen.line(format!("{number:5}  {failed}{hung}\n{}", start.complaints.trim_end()));
            }
        }
    }
    report.seconds = [0.5, 0.9, 1.0].map(|share| percentile(&times, share).unwrap_or_default());
    let [median, most, longest] = report.seconds;
    screen.line(format!(
        "{} of {} ready; hung {}; ready in {median:.2} s (median), {most:.2} s (90 %), {longest:.2} s (longest)",
        report.ready, report.starts, report.hung
    ));
    if let Err(error) = folder.write_json("report.json", &report) {
        eprintln!("{error}");
    }
    if args.json {
        print_json(&report);
    }
    if code == exit::DONE && report.ready < report.starts { exit::FAILED } else { code }
}

/// One start, until it is ready or has failed; it has ended afterwards. What it leaves is kept when something was wrong.
async fn one(args: &StartsArgs, folder: &Path) -> std::io::Result<Start> {
    let began = Instant::now();
    let mut child = Command::new(std::env::current_exe()?)
        .args(["up", "--supervised", "--out"])
        .arg(folder)
        .arg("--scene")
        .arg(&args.scene)
        .arg("--robot")
        .arg(&args.robot)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true)
        .spawn()?;
    let stdin = child.stdin.take();
    let mut told = BufReader::new(child.stdout.take().ok_or_else(no_pipe)?).lines();
    let mut errors = child.stderr.take().ok_or_else(no_pipe)?;
    let complaining = tokio::spawn(async move {
        let mut text = Vec::new();
        // What was read until a pipe broke is what there is to tell.
        let _ = errors.read_to_end(&mut text).await;
        String::from_utf8_lossy(&text).into_owned()
    });
    let is_ready = async {
        while let Ok(Some(line)) = told.next_line().await {
            if line.contains(READY) {
                return true;
            }
        }
        false
    };
    let ready = tokio::time::timeout(DEADLINE, is_ready).await.unwrap_or(false).then(|| began.elapsed());
    drop(stdin);
    // A pipe that nobody empties would keep it.
    let emptying = tokio::spawn(async move { while let Ok(Some(_)) = told.next_line().await {} });
    let ended = tokio::time::timeout(END, child.wait()).await;
    if ended.is_err() {
        child.kill().await?;
    }
    let bad_input = matches!(ended, Ok(Ok(status)) if status.code() == Some(i32::from(exit::BAD_INPUT)));
    emptying.abort();
    let complaints = complaining.await.unwrap_or_default();
    let hung = complaints.contains(HUNG);
    if ready.is_some() && !hung {
        // A thousand folders that say nothing are of no use; that one stays behind costs no more than its room.
        let _ = std::fs::remove_dir_all(folder);
    }
    Ok(Start { ready, hung, complaints, bad_input })
}

fn no_pipe() -> std::io::Error {
    std::io::Error::other("a process without pipes")
}
