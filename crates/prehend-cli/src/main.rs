//! The `prehend` command.

use clap::Parser;
use prehend_cli::args::{Cli, with_node_of_name, with_ros_words};
use prehend_cli::outcome::exit;
use std::os::unix::process::CommandExt;
use std::process::ExitCode;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

fn main() -> ExitCode {
    let (line, ros) = match with_ros_words(with_node_of_name(std::env::args_os().collect())) {
        Ok(split) => split,
        Err(error) => {
            eprintln!("{error}");
            return ExitCode::from(exit::BAD_INPUT);
        }
    };
    let cli = match Cli::try_parse_from(line) {
        Ok(cli) => cli,
        Err(error) => {
            // Help goes to stdout and is no error; what is wrong goes to stderr.
            let _ = error.print();
            if error.use_stderr()
                && let Some(report) =
                    prehend_cli::outcome::bad_arguments(std::env::args().skip(1), &error.to_string())
            {
                prehend_cli::screen::print_json(&report);
            }
            return ExitCode::from(if error.use_stderr() { exit::BAD_INPUT } else { exit::DONE });
        }
    };
    prehend_ros::init_logging(&ros);
    BEGAN.get_or_init(Instant::now);
    prehend_ros::when_stuck(start_anew);
    let runtime = match tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => {
            eprintln!("cannot start: {error}");
            return ExitCode::from(exit::NOT_READY);
        }
    };
    let code = runtime.block_on(prehend_cli::commands::run(cli));
    // Tasks hold endpoints: with them the process leaves the graph. A thread that reads stdin must not keep it for long.
    runtime.shutdown_timeout(Duration::from_millis(500));
    ExitCode::from(code)
}

/// When this program began.
static BEGAN: OnceLock<Instant> = OnceLock::new();
/// Age up to which a program has done nothing yet but join: what hangs then may be begun anew.
const JOINING: Duration = Duration::from_secs(10);

/// Starts this program anew in this process's place, once, when it hangs while it joins: nothing is done twice to a robot. Whoever
/// watches it sees the same process; its children end, because their pipes do.
fn start_anew() {
    const MARK: &str = "PREHEND_STARTED_ANEW";
    let own = std::process::id().to_string();
    let is_young = BEGAN.get().is_some_and(|began| began.elapsed() < JOINING);
    // Children inherit the mark: it is good for the process of that number only.
    if !is_young || std::env::var(MARK).is_ok_and(|mark| mark == own) {
        return;
    }
    let Ok(program) = std::env::current_exe() else { return };
    tracing::warn!("starting anew");
    let mut words = std::env::args_os();
    let mut again = std::process::Command::new(program);
    // The name may tell which node this is.
    if let Some(name) = words.next() {
        again.arg0(name);
    }
    let error = again.args(words).env(MARK, own).exec();
    tracing::error!("cannot start anew: {error}");
}
