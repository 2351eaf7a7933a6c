//! `prehend serve`: a page of a graph that runs.

use super::ask::{FIND_DEADLINE, absent, fail, join};
use crate::args::ServeArgs;
use crate::outcome::exit;
use crate::screen::Screen;
use crate::serve::{Live, PageOptions, serve};
use crate::token;
use prehend_robots::RobotConfig;
use prehend_ros::shutdown_signal;
use std::net::SocketAddr;

pub(super) async fn run(args: ServeArgs) -> u8 {
    match served(&args).await {
        Ok(code) => code,
        Err(error) => fail(error),
    }
}

async fn served(args: &ServeArgs) -> Result<u8, (String, u8)> {
    let input = |message: String| (message, exit::BAD_INPUT);
    let token = token::named(args.token_env.as_deref()).map_err(input)?.unwrap_or_else(token::made);
    let robot = RobotConfig::load(&args.robot).map_err(|error| input(error.to_string()))?;
    let observer = join(&args.robot, &args.ros)?;
    if observer.goal.wait_available(FIND_DEADLINE).await.is_err() {
        // The page is of use all the same: it can stop the robot, and shows who is missing.
        eprintln!("{}; the page shows who comes", absent("no agent", &observer));
    }
    let live = Live::start(observer, robot).map_err(|error| (error.to_string(), exit::NOT_READY))?;
    let screen = Screen::new(false);
    let ready = |at: SocketAddr| {
        screen.line(format!("http://{at}/?token={token}"));
        screen.line(
            "open it in a browser; whoever has the address can move and stop the robot. Ctrl-C ends it",
        );
        if !at.ip().is_loopback() {
            eprintln!("WARNING: others in the network reach it, and nothing is encrypted");
        }
    };
    let options = PageOptions { address: args.http, token: token.clone(), hosts: args.host.clone() };
    tokio::select! {
        ended = serve(live, options, ready) => match ended {
            Ok(()) => Ok(exit::DONE),
            Err(error) => Err((format!("cannot serve at {}: {error}", args.http), exit::BAD_INPUT)),
        },
        _ = shutdown_signal(false) => Ok(exit::INTERRUPTED),
    }
}
