//! Arguments of `serve`.

use super::{DEFAULT_ROBOT, RosOptions};
use clap::Args;
use std::net::SocketAddr;
use std::path::PathBuf;

const AFTER: &str = "\
Examples:
  prehend up                                    the graph; then, in another terminal:
  prehend serve                                 prints the address of the page, which has its token
  ssh -L 8642:127.0.0.1:8642 robot              the page of a robot elsewhere, encrypted; open the same address here
  prehend serve --http 0.0.0.0:8642 --host robot.lab    for others in the network: nothing is encrypted then

The page has the camera's picture with the map over it, a box for sentences (plan them, or do them), what waits for approval, the state,
the things, the history, and the stop. The stop needs no script and no other part of the graph than the node skills. It is no emergency
stop: that is a button of the robot.";

/// Arguments of `serve`.
#[derive(Debug, Args)]
#[command(after_help = AFTER)]
pub struct ServeArgs {
    /// Where the page is served; port 0 takes a free one
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:8642")]
    pub http: SocketAddr,
    /// NAME of the environment variable that holds the token [default: a new one, printed with the address]
    #[arg(long, value_name = "NAME")]
    pub token_env: Option<String>,
    /// Name by which browsers reach this machine, besides localhost; may be repeated
    #[arg(long, value_name = "HOST")]
    pub host: Vec<String>,
    /// Robot file
    #[arg(long, value_name = "FILE", default_value = DEFAULT_ROBOT)]
    pub robot: PathBuf,
    /// Which graph.
    #[command(flatten)]
    pub ros: RosOptions,
}
