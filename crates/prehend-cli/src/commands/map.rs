//! `prehend map`: the map of the running graph, or maps of recordings in folders.

mod build;
mod growing;
mod live;
mod query;
mod show;
mod sight;
mod text;

use super::ask;
use crate::args::map::{MapArgs, MapCommand};
use crate::outcome::exit;
use prehend_perception::segment::{self, Reason};

pub(super) async fn run(args: MapArgs) -> u8 {
    let done = match args.command {
        None => return ask::map(args).await,
        Some(MapCommand::Build(args)) => build::run(&args).await,
        Some(MapCommand::Show(args)) => show::run(&args),
        Some(MapCommand::Query(args)) => return query::run(&args),
    };
    match done {
        Ok(()) => exit::DONE,
        Err(Failure { message, code }) => {
            eprintln!("{message}");
            code
        }
    }
}

/// How many things are none for each reason; empty when there are none.
fn counted(reasons: impl Iterator<Item = Reason>) -> String {
    segment::counted(reasons)
        .iter()
        .map(|(reason, count)| format!("{count} {reason}"))
        .collect::<Vec<_>>()
        .join(", ")
}

/// What went wrong, for the user and for scripts.
struct Failure {
    message: String,
    code: u8,
}

impl Failure {
    /// A file is wrong.
    fn input(error: impl ToString) -> Self {
        Self { message: error.to_string(), code: exit::BAD_INPUT }
    }

    /// A model is missing, or what runs it.
    fn not_ready(error: impl ToString) -> Self {
        Self { message: error.to_string(), code: exit::NOT_READY }
    }

    /// The result cannot be written.
    fn output(error: impl ToString) -> Self {
        Self { message: error.to_string(), code: exit::FAILED }
    }
}
