//! Starts of the whole graph, one after the other: how long each took until it was ready, in which the middleware hung, and which nodes
//! heard nothing of something that they listen to.
//!
//! Each is a `prehend up` of its own, as a user has it, and ends before the next begins.

mod hearing;

use crate::args::StartsArgs;
use crate::outcome::exit;
use crate::run_folder::RunFolder;
use crate::screen::{Paint, Screen, print_json};
use hearing::{Hearing, hearing};
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
/// What `up` prints before the number of its domain.
const DOMAIN: &str = "ROS_DOMAIN_ID is ";
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
    /// Of those that became ready, those in which a node heard nothing of something within six seconds.
    deaf: usize,
    /// Wall seconds from the start of the process until it was ready: median, 90th percentile, longest.
    seconds: [f64; 3],
    /// Wall seconds from then until every node had told that it heard everything: the same.
    hearing_seconds: [f64; 3],
}

/// How one start went.
struct Start {
    ready: Option<Duration>,
    hearing: Hearing,
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
    let (mut times, mut hearing_times): (Vec<f64>, Vec<f64>) = (Vec::new(), Vec::new());
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
                hearing_times.extend(start.hearing.took.map(|took| took.as_secs_f64()));
                screen.line(format!("{number:5}  ready in {:.2} s{hung}", took.as_secs_f64()));
                report.deaf += usize::from(!start.hearing.deaf.is_empty());
                for deaf in &start.hearing.deaf {
                    screen.line(format!("       {}", screen.paint(Paint::Red, deaf)));
                }
            }
            None => {
                let failed = screen.paint(Paint::Red, "not ready");
                screen.line(format!("{number:5}  {failed}{hung}\n{}", start.complaints.trim_end()));
            }
        }
    }
    let shares = |times: &[f64]| [0.5, 0.9, 1.0].map(|share| percentile(times, share).unwrap_or_default());
    (report.seconds, report.hearing_seconds) = (shares(&times), shares(&hearing_times));
    let in_words = |[median, most, longest]: [f64; 3]| {
        format!("in {median:.2} s (median), {most:.2} s (90 %), {longest:.2} s (longest)")
    };
    screen.line(format!(
        "{} of {} ready; hung {}; deaf {}; ready {}; all heard, after that, {}",
        report.ready,
        report.starts,
        report.hung,
        report.deaf,
        in_words(report.seconds),
        in_words(report.hearing_seconds)
    ));
    if let Err(error) = folder.write_json("report.json", &report) {
        eprintln!("{error}");
    }
    if args.json {
        print_json(&report);
    }
    if code == exit::DONE && (report.ready < report.starts || report.deaf > 0) { exit::FAILED } else { code }
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
                return Some(line);
            }
        }
        None
    };
    let line = tokio::time::timeout(DEADLINE, is_ready).await.unwrap_or_default();
    let ready = line.is_some().then(|| began.elapsed());
    let domain = line.as_deref().and_then(domain);
    let heard = match domain {
        Some(domain_id) => hearing(domain_id).await.map_err(std::io::Error::other)?,
        None => Hearing::default(),
    };
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
    if ready.is_some() && !hung && heard.deaf.is_empty() {
        // A thousand folders that say nothing are of no use; that one stays behind costs no more than its room.
        let _ = std::fs::remove_dir_all(folder);
    }
    Ok(Start { ready, hearing: heard, hung, complaints, bad_input })
}

/// The domain that `up` has told.
fn domain(line: &str) -> Option<u16> {
    let (_, rest) = line.split_once(DOMAIN)?;
    rest.split(|letter: char| !letter.is_ascii_digit()).next()?.parse().ok()
}

fn no_pipe() -> std::io::Error {
    std::io::Error::other("a process without pipes")
}
