//! Arguments of `mcp`.

use super::{DEFAULT_ROBOT, RosOptions};
use clap::Args;
use std::net::SocketAddr;
use std::path::PathBuf;

const AFTER: &str = "\
Without --http it speaks on stdin and stdout, as a client does that starts it itself:
  {\"mcpServers\": {\"prehend\": {\"command\": \"prehend\", \"args\": [\"mcp\"], \"env\": {\"ROS_DOMAIN_ID\": \"0\"}}}}

Tools: goal, stop, state, map, map_picture; and the agent's own, step by step: object_retrieval, the spatial tools, interact, go_to on a
robot that drives, finish. What a program asks for is judged like a sentence. It can stop the robot, and cannot clear the stop.";

/// Arguments of `mcp`.
#[derive(Debug, Args)]
#[command(after_help = AFTER)]
pub struct McpArgs {
    /// Serve streamable HTTP at this address instead of stdin and stdout, such as 127.0.0.1:8930
    #[arg(long, value_name = "ADDRESS:PORT")]
    pub http: Option<SocketAddr>,
    /// NAME of the environment variable that holds the token [default: a new one, printed at the start]
    #[arg(long, value_name = "NAME", requires = "http")]
    pub token_env: Option<String>,
    /// Name by which clients reach this machine, besides localhost; may be repeated
    #[arg(long, value_name = "HOST", requires = "http")]
    pub host: Vec<String>,
    /// Robot file
    #[arg(long, value_name = "FILE", default_value = DEFAULT_ROBOT)]
    pub robot: PathBuf,
    /// Which graph.
    #[command(flatten)]
    pub ros: RosOptions,
}
