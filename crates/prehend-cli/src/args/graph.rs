//! Commands that start a graph, or a node of one.

use super::values::{positive, speed};
use super::{DEFAULT_ROBOT, DEFAULT_SCENE, RosOptions};
use crate::disturb::Disturbance;
use crate::node::NodeName;
use clap::{Args, ValueEnum};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// Goal of `demo`.
pub const DEFAULT_GOAL: &str = "put the red mug in the bowl";
/// There is nothing to watch but lines, and a machine of two processors keeps up.
const DEMO_SPEED: f64 = 3.0;
const UP_SPEED: f64 = 1.0;

/// What a graph is started with.
#[derive(Clone, Debug, Args)]
pub struct GraphArgs {
    /// Scene file
    #[arg(long, value_name = "FILE", default_value = DEFAULT_SCENE)]
    pub scene: PathBuf,
    /// Robot file, or a name in config/robots; in a scene with a room the default is one that drives
    #[arg(long, value_name = "FILE", default_value = DEFAULT_ROBOT)]
    pub robot: PathBuf,
    /// Seed of everything random: places, sensor noise, detector errors
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// Switch the detector's errors off
    #[arg(long)]
    pub perfect_detector: bool,
    /// ROS parameter of a node, as `verifier:enforce:=false`; may be repeated
    #[arg(long = "param", value_name = "NODE:NAME:=VALUE", value_parser = node_parameter)]
    pub params: Vec<(NodeName, String)>,
    /// Remember what is seen, over all sessions: a file, or postgres://USER@HOST/DATABASE (see `prehend memory --help`)
    #[arg(long, value_name = "STORE")]
    pub memory: Option<String>,
    /// Learn how drawers and doors move while they are opened, and keep that in a folder: from then on they are opened by what is known
    #[arg(long, value_name = "DIR")]
    pub describer: Option<PathBuf>,
    /// Show it all in a window meanwhile (see `prehend view --help`)
    #[arg(long)]
    pub view: bool,
    /// The graph's place among others.
    #[command(flatten)]
    pub ros: RosOptions,
}

const AFTER_DEMO: &str = "\
The JSON object of --json: goal, outcome (done | refused | failed), reason (a code, or null), message,
physics_ok (true | false | null where the goal asks for no change), permits {asked, granted, refused},
seconds {ready, first_motion, total}, run_dir, planner (builtin | model), model ({calls, tokens_in, tokens_out, seconds} of a
language model, or null), question (what the person is asked, or null).

Reasons: not_understood, not_found, ambiguous, infeasible, unsafe, busy, stopped, not_armed, verifier_refused, not_approved,
verifier_lost, peer_lost, no_grasp, no_place, no_plan, slipped, outcome_not_observed, control_failed, canceled, timeout,
sensor_fault, internal; and, when no goal was given, bad_arguments, bad_scene or not_ready.

Exit codes: see `prehend --help`.";

/// Arguments of `demo`.
#[derive(Debug, Args)]
#[command(after_help = AFTER_DEMO)]
pub struct DemoArgs {
    /// What is started.
    #[command(flatten)]
    pub graph: GraphArgs,
    /// Simulated seconds per wall second; 0 = as fast as the machine can, 10 at most
    #[arg(long, value_name = "X", default_value_t = DEMO_SPEED, value_parser = speed)]
    pub speed: f64,
    /// The goal, in words
    #[arg(long, value_name = "TEXT", default_value = DEFAULT_GOAL)]
    pub goal: String,
    /// Print one JSON object on stdout, and everything else on stderr
    #[arg(long)]
    pub json: bool,
    /// Folder for the trace and the pictures [default: runs/UTC-TIME-SEED]
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Only say what would be done: the steps, grasps and ways, and a picture of them, plan.png; nothing moves
    #[arg(long, conflicts_with_all = ["plan_first", "record", "disturb"])]
    pub plan_only: bool,
    /// Say what would be done, then do it; the result tells whether the plan had foretold it
    #[arg(long)]
    pub plan_first: bool,
    /// Longest time for the goal, wall seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 300.0, value_parser = positive)]
    pub timeout: f64,
    /// Play a recorded conversation with a language model instead of asking one: a run's trace.jsonl
    #[arg(long, value_name = "FILE")]
    pub replay_model: Option<PathBuf>,
    /// Somebody interferes once: pushes what the gripper approaches, takes what it carries, or what it has put down
    #[arg(long, value_name = "HOW")]
    pub disturb: Option<Disturbance>,
    /// Record what a replay needs into the folder, as rosbag2 (see `prehend record --help`)
    #[arg(long)]
    pub record: bool,
    /// End when stdin ends: the parent is gone.
    #[arg(long, hide = true)]
    pub supervised: bool,
    /// No pictures.
    #[arg(long, hide = true)]
    pub no_pictures: bool,
}

/// Arguments of `up`.
#[derive(Debug, Args)]
pub struct UpArgs {
    /// What is started.
    #[command(flatten)]
    pub graph: GraphArgs,
    /// Simulated seconds per wall second; 0 = as fast as the machine can, 10 at most
    #[arg(long, value_name = "X", default_value_t = UP_SPEED, value_parser = speed)]
    pub speed: f64,
    /// Folder for the trace and the logs [default: runs/UTC-TIME-SEED]
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Record what a replay needs into the folder, as rosbag2 (see `prehend record --help`)
    #[arg(long)]
    pub record: bool,
    /// End when stdin ends: the parent is gone.
    #[arg(long, hide = true)]
    pub supervised: bool,
}

/// Under the name of a node the executable is that node: a link `object_map` to `prehend` is what `ros2 run` starts.
pub fn with_node_of_name(arguments: Vec<OsString>) -> Vec<OsString> {
    let called = arguments.first().map(Path::new).and_then(Path::file_stem);
    let node = called.and_then(|name| NodeName::from_str(name.to_str()?, false).ok());
    match node {
        Some(node) => {
            let own = ["prehend", "node", node.name()].map(OsString::from);
            own.into_iter().chain(arguments.into_iter().skip(1)).collect()
        }
        None => arguments,
    }
}

/// Arguments of `node`.
#[derive(Debug, Args)]
pub struct NodeArgs {
    /// The node
    pub name: NodeName,
    /// Robot file
    #[arg(long, value_name = "FILE", default_value = DEFAULT_ROBOT)]
    pub robot: PathBuf,
    /// Scene file, for the sim
    #[arg(long, value_name = "FILE")]
    pub scene: Option<PathBuf>,
    /// Seed, for the sim and the planner of move_group
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// Simulated seconds per wall second, for the sim; 0 = as fast as the machine can, 10 at most
    #[arg(long, value_name = "X", default_value_t = 1.0, value_parser = speed)]
    pub speed: f64,
    /// ROS parameter file; may be repeated, later ones win
    #[arg(long, value_name = "FILE")]
    pub params_file: Vec<PathBuf>,
    /// ROS parameter; may be repeated, each wins over every file
    #[arg(short, long = "param", value_name = "NAME:=VALUE")]
    pub params: Vec<String>,
    /// Take time from the wall instead of /clock, as the ROS parameter use_sim_time:=false does
    #[arg(long)]
    pub wall_time: bool,
    /// End when stdin ends: the parent is gone.
    #[arg(long, hide = true)]
    pub supervised: bool,
    /// Its place in the graph.
    #[command(flatten)]
    pub ros: RosOptions,
}

/// A parameter of a node, as `verifier:enforce:=false`.
pub(super) fn node_parameter(text: &str) -> Result<(NodeName, String), String> {
    let expected = || "expected NODE:NAME:=VALUE, such as verifier:enforce:=false".to_owned();
    let (node, parameter) = text.split_once(':').ok_or_else(expected)?;
    let node =
        <NodeName as clap::ValueEnum>::from_str(node, false).map_err(|_| format!("no node `{node}`"))?;
    if parameter.contains(":=") { Ok((node, parameter.to_owned())) } else { Err(expected()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_with_the_name_of_a_node_is_that_node() {
        let called = |list: &[&str]| with_node_of_name(list.iter().map(OsString::from).collect());
        assert_eq!(
            called(&["/opt/lib/prehend/object_map", "--supervised"]),
            ["prehend", "node", "object_map", "--supervised"]
        );
        for others in [&["/usr/bin/prehend", "demo"][..], &["objects"], &[]] {
            assert_eq!(called(others), others);
        }
    }
}
