//! `prehend eval`: many runs of the whole graph, each judged by physics.
//!
//! A run is a `prehend demo` process of its own, so that nothing of one run reaches the next; it leaves a run folder,
//! and the run is judged from what is in it. The judgement is kept there as `run.json`: an evaluation that was
//! interrupted goes on where it was.

mod affordance;
mod articulated;
mod day;
mod job;
mod map;
mod memory;
mod reading;
mod run;
mod starts;
mod words;

use crate::args::{AspMobileArgs, AspTabletopArgs, LanguageArgs, LiberoArgs, RunArgs, TabletopArgs};
use crate::outcome::exit;
use crate::run_folder::{REPORT, RunFolder};
use crate::screen::{Paint, Screen, print_json};
use futures::StreamExt;
use job::Job;
use prehend_eval::{Report, Run, html, json_lines};
use prehend_ros::shutdown_signal;
use std::cell::Cell;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use tokio::sync::watch;

/// Title of the evaluation of sentence sets.
const LANGUAGE: &str = "language";

pub use affordance::affordance;
pub use articulated::articulated;
pub use day::day;
pub use map::map;
pub use memory::memory;
pub use reading::reading;
pub use starts::starts;
pub use words::words;

/// The lines of files of one JSON object a line. Errors: which file, which line and why, for a person.
fn lines_of<T: serde::de::DeserializeOwned>(files: &[PathBuf]) -> Result<Vec<T>, String> {
    let mut all = Vec::new();
    for file in files {
        let text = std::fs::read_to_string(file).map_err(|error| error.to_string());
        let lines = text.and_then(|text| json_lines(&text));
        all.extend(lines.map_err(|why| format!("{}: {why}", file.display()))?);
    }
    Ok(all)
}

/// Runs random tables; gives the exit code.
pub async fn tabletop(args: TabletopArgs) -> u8 {
    let conditions = args.scene_conditions();
    let first = args.runs_made.seed;
    let job = if args.crowded { Job::crowded } else { Job::tabletop };
    let jobs = (first..first.saturating_add(args.runs)).map(|seed| job(seed, conditions)).collect();
    evaluate("tabletop", jobs, &args.runs_made).await
}

/// Runs sentence sets; gives the exit code.
pub async fn language(args: LanguageArgs) -> u8 {
    match job::language(&args) {
        Ok(jobs) => evaluate(LANGUAGE, jobs, &args.runs_made).await,
        Err(message) => {
            eprintln!("{message}");
            exit::BAD_INPUT
        }
    }
}

/// Runs LIBERO's tasks; gives the exit code.
pub async fn libero(args: LiberoArgs) -> u8 {
    match job::libero(&args) {
        Ok(jobs) => evaluate("libero", jobs, &args.runs_made).await,
        Err(message) => {
            eprintln!("{message}");
            exit::BAD_INPUT
        }
    }
}

/// Runs the tabletop benchmark after ASP; gives the exit code.
pub async fn asp_tabletop(args: AspTabletopArgs) -> u8 {
    match job::asp_tabletop(&args) {
        Ok(jobs) => evaluate("asp-tabletop", jobs, &args.runs_made).await,
        Err(message) => {
            eprintln!("{message}");
            exit::BAD_INPUT
        }
    }
}

/// Runs the mobile benchmark after ASP; gives the exit code.
pub async fn asp_mobile(args: AspMobileArgs) -> u8 {
    match job::asp_mobile(&args) {
        Ok(jobs) => evaluate("asp-mobile", jobs, &args.runs_made).await,
        Err(message) => {
            eprintln!("{message}");
            exit::BAD_INPUT
        }
    }
}

async fn evaluate(title: &str, jobs: Vec<Job>, args: &RunArgs) -> u8 {
    let screen = Screen::new(args.json);
    let folder = match RunFolder::named_or_dated(args.out.as_deref(), args.seed) {
        Ok(folder) => folder,
        Err(error) => {
            eprintln!("{error}");
            return exit::BAD_INPUT;
        }
    };
    screen.line(format!("{} runs from seed {} into {}", jobs.len(), args.seed, folder.path().display()));
    let started = Instant::now();
    let (runs, interrupted) = collect(jobs, args, folder.path(), &screen).await;
    let report = Report::new(args.seed, &runs);
    if let Err(error) = folder.write_json("report.json", &report) {
        eprintln!("{error}");
    }
    let table = report.table();
    if let Err(error) = std::fs::write(folder.file("report.txt"), &table) {
        eprintln!("cannot write the report: {error}");
    }
    let room = Cell::new(IN_THE_PAGE);
    let page = html::page(title, &report, &runs, &|run| kept(folder.path(), run, &room));
    if let Err(error) = std::fs::write(folder.file("report.html"), page) {
        eprintln!("cannot write the report: {error}");
    }
    screen.line("");
    screen.line(table.trim_end());
    screen.line(format!(
        "\n{} runs in {}; folders: {}; pictures and causes: {}",
        runs.len(),
        duration(started.elapsed()),
        folder.path().display(),
        folder.file("report.html").display()
    ));
    if args.json {
        let mut report = serde_json::json!(report);
        if title == LANGUAGE {
            // What runs are grouped by are constructions here.
            report["by_construction"] = report["by_kind"].take();
        }
        print_json(&report);
    }
    if interrupted { exit::INTERRUPTED } else { exit::DONE }
}

/// Pictures that go into the page itself, bytes: those of runs that were not right come first.
const IN_THE_PAGE: usize = 24_000_000;

/// What a run has kept: paths from the evaluation's folder, and of a run that was not right the pictures themselves while there is `room`.
fn kept(folder: &Path, run: &Run, room: &Cell<usize>) -> html::Kept {
    const PICTURES: [(&str, &str); 5] = [
        ("scene before", "scene_before.png"),
        ("scene after", "scene_after.png"),
        ("camera before", "camera_before.png"),
        ("object map over the camera", "map_over_camera.png"),
        ("camera after", "camera_after.png"),
    ];
    let is_kept = |path: &String| !run.folder.is_empty() && folder.join(path).is_file();
    let pictures =
        PICTURES.iter().map(|(caption, file)| ((*caption).to_owned(), format!("{}/{file}", run.folder)));
    let placed = |(caption, path): (String, String)| {
        let file = (!run.right).then(|| std::fs::read(folder.join(&path)).ok()).flatten();
        match file.and_then(|png| Some((room.get().checked_sub(png.len())?, png))) {
            Some((left, png)) => {
                room.set(left);
                (caption, html::data_uri(&png))
            }
            None => (caption, path),
        }
    };
    html::Kept {
        pictures: pictures.filter(|(_, path)| is_kept(path)).map(placed).collect(),
        explained: Some(format!("{}/{REPORT}", run.folder)).filter(is_kept),
    }
}

/// The runs that were finished, in the order of the jobs, and whether the user ended it.
async fn collect(jobs: Vec<Job>, args: &RunArgs, folder: &Path, screen: &Screen) -> (Vec<Run>, bool) {
    let (cancel, cancelled) = watch::channel(false);
    let mut progress = Progress::new(jobs.len() as u64);
    let runs_made = jobs.into_iter().enumerate().map(|(place, job)| {
        let (folder, cancelled) = (folder.join(&job.name), cancelled.clone());
        async move { (place, run::one(args, &job, folder, cancelled).await) }
    });
    let at_once = match prehend_ros::BACKEND {
        prehend_ros::Backend::Embedded => args.jobs as usize,
        // An installed ROS 2 has one domain for the process: two graphs in it would hear each other.
        prehend_ros::Backend::Ros2 { .. } => 1,
    };
    let mut results = std::pin::pin!(futures::stream::iter(runs_made).buffer_unordered(at_once));
    let mut interrupt = std::pin::pin!(shutdown_signal(false));
    let mut interrupted = false;
    let mut runs = Vec::new();
    loop {
        tokio::select! {
            _ = &mut interrupt, if !interrupted => {
                interrupted = true;
                cancel.send_replace(true);
                screen.line("interrupted: ending the runs under way");
            }
            next = results.next() => match next {
                Some((place, Ok(done))) => {
                    screen.line(progress.line(&done, screen));
                    runs.push((place, done.run));
                }
                Some((_, Err(run::RunError::Cancelled))) => {}
                Some((_, Err(error))) => screen.line(screen.paint(Paint::Red, &error.to_string())),
                None => break,
            },
        }
    }
    runs.sort_by_key(|(place, _)| *place);
    (runs.into_iter().map(|(_, run)| run).collect(), interrupted)
}

struct Progress {
    total: u64,
    done: u64,
    /// Runs that were taken over from an earlier evaluation: they tell nothing about the time that is left.
    kept: u64,
    right: u64,
    started: Instant,
}

impl Progress {
    fn new(total: u64) -> Self {
        Self { total, done: 0, kept: 0, right: 0, started: Instant::now() }
    }

    fn line(&mut self, done: &run::Done, screen: &Screen) -> String {
        self.done += 1;
        self.kept += u64::from(done.kept);
        self.right += u64::from(done.run.right);
        let run = &done.run;
        let made = self.done - self.kept;
        let left = match made {
            0 => String::new(),
            _ => {
                let each = self.started.elapsed().as_secs_f64() / made as f64;
                let rest = each * self.total.saturating_sub(self.done) as f64;
                format!(", {} left", duration(Duration::from_secs_f64(rest)))
            }
        };
        let verdict = match (run.right, run.cause) {
            (true, _) => screen.paint(Paint::Green, "right"),
            (false, Some(cause)) => screen.paint(Paint::Red, &format!("wrong: {cause}")),
            (false, None) => screen.paint(Paint::Red, "wrong"),
        };
        let percent = 100.0 * self.right as f64 / self.done as f64;
        let mut line = format!(
            "[{:>4}/{}] {percent:5.1} % right{left}  seed {} {:<10} {verdict}  \"{}\"",
            self.done, self.total, run.seed, run.kind, run.goal
        );
        if !run.right && !run.note.is_empty() {
            line.push_str(&format!("  ({})", run.note));
        }
        line
    }
}

/// As a person says it.
fn duration(time: Duration) -> String {
    let seconds = time.as_secs();
    match seconds {
        0..=99 => format!("{seconds} s"),
        100..=5999 => format!("{} min", (seconds + 30) / 60),
        _ => format!("{} h {} min", seconds / 3600, seconds / 60 % 60),
    }
}
