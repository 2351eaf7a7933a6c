//! `prehend mcp`: serves a graph that runs to programs that speak the Model Context Protocol.

use super::ask::{FIND_DEADLINE, absent};
use crate::args::McpArgs;
use crate::domain::Domain;
use crate::mcp::{HttpOptions, Robot, Server, serve_http};
use crate::outcome::exit;
use crate::token;
use prehend_robots::RobotConfig;
use prehend_ros::shutdown_signal;
use rmcp::ServiceExt;
use std::sync::Arc;

pub(super) async fn run(args: McpArgs) -> u8 {
    match serve(&args).await {
        Ok(code) => code,
        Err((message, code)) => {
            eprintln!("{message}");
            code
        }
    }
}

async fn serve(args: &McpArgs) -> Result<u8, (String, u8)> {
    let input = |message: String| (message, exit::BAD_INPUT);
    let token = token::named(args.token_env.as_deref()).map_err(input)?;
    let arguments = args.ros.arguments().map_err(|error| input(error.to_string()))?;
    let robot = RobotConfig::load(&args.robot).map_err(|error| input(error.to_string()))?;
    let domain = Domain::find().map_err(|error| input(error.to_string()))?;
    let robot =
        Robot::join(domain.id, &robot, &arguments).map_err(|error| (error.to_string(), exit::NOT_READY))?;
    if robot.watcher().goal.wait_available(FIND_DEADLINE).await.is_err() {
        let message = absent("no agent", robot.watcher());
        return Err((message, exit::NOT_READY));
    }
    let robot = Arc::new(robot);
    let Some(address) = args.http else {
        let transport = rmcp::transport::stdio();
        let server = Server::new(robot).serve(transport).await;
        let server = server.map_err(|error| (format!("the client did not begin: {error}"), exit::FAILED))?;
        let ended = tokio::select! {
            ended = server.waiting() => ended.map_err(|error| error.to_string()),
            _ = shutdown_signal(false) => return Ok(exit::INTERRUPTED),
        };
        return ended.map(|_| exit::DONE).map_err(|error| (error, exit::FAILED));
    };
    let made = token.is_none();
    let token = token.unwrap_or_else(token::made);
    let ready = |at: std::net::SocketAddr| {
        eprintln!("serving at http://{at}/mcp, for requests with the header Authorization: Bearer TOKEN");
        if made {
            eprintln!("TOKEN is {token}; `--token-env NAME` takes one of yours");
        }
        if !at.ip().is_loopback() {
            eprintln!("WARNING: others in the network reach it, and nothing is encrypted");
        }
    };
    let options = HttpOptions { address, token: token.clone(), hosts: args.host.clone() };
    tokio::select! {
        ended = serve_http(robot, options, ready) => match ended {
            Ok(()) => Ok(exit::DONE),
            Err(error) => Err((format!("cannot serve at {address}: {error}"), exit::BAD_INPUT)),
        },
        _ = shutdown_signal(false) => Ok(exit::INTERRUPTED),
    }
}
