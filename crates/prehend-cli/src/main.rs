//! The `prehend` command.

use clap::Parser;
use prehend_cli::args::{Cli, Command, with_node_of_name, with_ros_words};
use prehend_cli::outcome::exit;
use std::os::unix::process::CommandExt;
use std::process::ExitCode;
use std::time::Duration;

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
    if matches!(cli.command, Command::Demo(_) | Command::Up(_)) {
        prehend_ros::when_stuck(start_anew);
    }
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

/// Starts this program anew in this process's place, once; its children end, because their pipes do. Only for commands
/// that bring their own graph: nothing is done twice to a robot.
fn start_anew() {
    const MARK: &str = "PREHEND_STARTED_ANEW";
    if std::env::var_os(MARK).is_some() {
        return;
    }
    let Ok(program) = std::env::current_exe() else { return };
    let error = std::process::Command::new(program).args(std::env::args_os().skip(1)).env(MARK, "1").exec();
    tracing::error!("cannot start anew: {error}");
}
