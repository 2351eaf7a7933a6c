//! `prehend view`: what the robot knows and does, in space.

#[cfg(feature = "viewer")]
mod approval;
#[cfg(feature = "viewer")]
mod areas;
mod beside;
#[cfg(feature = "viewer")]
mod drawn;
#[cfg(feature = "viewer")]
mod event;
#[cfg(feature = "viewer")]
mod graph;
#[cfg(feature = "viewer")]
mod moment;
#[cfg(feature = "viewer")]
mod place;
#[cfg(feature = "viewer")]
mod recorded;
#[cfg(feature = "viewer")]
mod robot;
#[cfg(feature = "viewer")]
mod run;
#[cfg(feature = "viewer")]
mod show;
#[cfg(feature = "viewer")]
mod steps;

use crate::args::{GraphArgs, ViewArgs};
use crate::outcome::exit;
pub(super) use beside::Beside;

/// What to do when the viewer is asked for and is not there.
const HOW_TO_BUILD: &str =
    "this `prehend` was built without its viewer: cargo build --release --features viewer";

/// Whether the viewer can be had when a graph is started with it.
///
/// Errors: how to get a program that has one.
pub(super) fn check(args: &GraphArgs) -> Result<(), &'static str> {
    if args.view && !cfg!(feature = "viewer") { Err(HOW_TO_BUILD) } else { Ok(()) }
}

/// Shows a graph that runs, a recording, a run or a saved map.
#[cfg(feature = "viewer")]
pub(super) async fn run(args: ViewArgs) -> u8 {
    match show::run(&args).await {
        Ok(()) => exit::DONE,
        Err((message, code)) => {
            eprintln!("{message}");
            code
        }
    }
}

/// Says how to get a program that can.
#[cfg(not(feature = "viewer"))]
pub(super) async fn run(_: ViewArgs) -> u8 {
    eprintln!("{HOW_TO_BUILD}");
    exit::BAD_INPUT
}
