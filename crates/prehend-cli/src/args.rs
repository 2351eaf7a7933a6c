//! The command line.

pub mod bag;
mod eval;
mod explain;
pub mod gazebo;
pub mod map;
mod mcp;
mod memory;
mod models;
pub mod record;
mod ros;
mod rosbag;
mod serve;
mod setup;
mod view;
mod words;

pub use eval::{
    AspMobileArgs, AspTabletopArgs, BuildingKinds, DayArgs, EarlierRoom, EvalAffordanceArgs,
    EvalArticulatedArgs, EvalCommand, EvalMemoryArgs, EvalReadingArgs, EvalWordsArgs, Kinds, LanguageArgs,
    LiberoArgs, RunArgs, Sentences, StartsArgs, TabletopArgs,
};
pub use explain::ExplainArgs;
pub use mcp::McpArgs;
pub use memory::{MemoryArgs, MemoryCommand};
pub use models::{DEFAULT_MODELS, DetectArgs, DoctorArgs, ModelArgs, SightArgs};
pub use ros::{RosOptions, with_ros_words};
pub use rosbag::{BagCommand, BagInfoArgs, BagPlayArgs};
pub use serve::ServeArgs;
pub use setup::{CompletionsArgs, InitArgs, ManArgs};
pub use view::{HiddenLayer, ViewArgs};
pub use words::{WordsArgs, WordsCommand};

use crate::disturb::Disturbance;
use crate::node::NodeName;
use clap::{Args, Parser, Subcommand, ValueEnum};
use gazebo::ToSdfArgs;
use map::{FramesArgs, MapArgs};
use record::{RecordArgs, ReplayArgs};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

const AFTER: &str = "\
Examples:
  prehend demo                                        a red mug into a bowl, on the embedded robot
  prehend demo --plan-only                            what it would do, with a picture; nothing moves
  prehend demo --scene my.yaml --goal \"put the apple on the plate\" --seed 3 --json
  prehend up                                          the graph, until Ctrl-C; then, in another terminal:
  prehend goal \"where is the apple?\"
  prehend scene check my.yaml && prehend scene show my.yaml --out my.png
  prehend eval tabletop --runs 20 --seed 1
  prehend map build --frames DIR --out map/           a map from recorded frames
  prehend explain runs/TIME-SEED \"why did you not take the blue one?\"
  prehend demo --record && prehend replay runs/*/recording
  prehend doctor --models && prehend detect --image table.png --out boxes.png

Exit codes:
  0  done (and physics does not object), or the command did what it says
  1  the goal failed, or physics says that it was not reached; a check found something wrong
  2  the goal was refused: nothing moved for it
  3  the command line or a file is wrong; nothing was started
  4  the graph could not be started or reached
  130  stopped by Ctrl-C or SIGTERM

Environment:
  ROS_DOMAIN_ID  the ROS domain; when it is not set, demo, eval and up take a free one each
  PREHEND_SHARE  folder with config/ and urdf/
  PREHEND_MODELS folder of network models; when it is not set, models/ beside config/
  ORT_DYLIB_PATH library of ONNX Runtime; when it is not set, it is searched
  RUST_LOG       log filter of the processes
  NO_COLOR       no colours";

/// Language-driven mobile manipulation on ROS 2: a sentence moves the robot.
#[derive(Debug, Parser)]
#[command(name = "prehend", version, after_help = AFTER)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// What `prehend` can do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Start the whole graph on the embedded robot, give it one goal, let physics judge
    Demo(DemoArgs),
    /// Start the whole graph on the embedded robot and keep it until Ctrl-C
    Up(UpArgs),
    /// Give a goal to a graph that runs, and follow it to its end
    Goal(GoalArgs),
    /// Show the plans that wait for a person's word, and say yes or no
    Approve(ApproveArgs),
    /// Show what the agent holds and knows
    State(ShowArgs),
    /// Show the object map, or build and ask one from recordings
    Map(Box<MapArgs>),
    /// Show what the robot knows and does in space: a window on a graph that runs or a saved map, or a picture
    View(ViewArgs),
    /// Describe a thing with moving parts as URDF, from what the robot has seen of it
    Describe(DescribeArgs),
    /// Stop all motion at once; latched until --clear
    Stop(StopArgs),
    /// Serve a page of a graph that runs: camera, sentences, approval, history, stop
    Serve(ServeArgs),
    /// Serve a graph that runs to programs that speak the Model Context Protocol
    Mcp(McpArgs),
    /// Check or draw scene files, make frames of random tables or worlds for Gazebo
    #[command(subcommand)]
    Scene(SceneCommand),
    /// Measure how good it is
    #[command(subcommand)]
    Eval(EvalCommand),
    /// Find and name things in a picture with a network model
    Detect(DetectArgs),
    /// Write the topics of a graph that runs into a rosbag2 recording (MCAP)
    Record(RecordArgs),
    /// Record, show and play recordings, by the names of `ros2 bag`
    #[command(subcommand)]
    Bag(BagCommand),
    /// Say why a run went as it did, from what it recorded, and answer questions about it
    Explain(ExplainArgs),
    /// Play a recording to the nodes again: would they decide the same? Nothing moves
    Replay(ReplayArgs),
    /// Ask what was seen of a building over all sessions, list, forget or export it
    Memory(MemoryArgs),
    /// List, teach and forget words that no table knows, or ask what one means
    Words(WordsArgs),
    /// Say what is missing on this machine, and how to get it
    Doctor(DoctorArgs),
    /// Make a folder for a robot of your own, to begin from
    Init(InitArgs),
    /// Print completions for a shell
    Completions(CompletionsArgs),
    /// Write manual pages
    Man(ManArgs),
    /// Run one node of the graph in this process
    Node(NodeArgs),
}

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

/// Scene of `demo` and `up`.
pub const DEFAULT_SCENE: &str = "config/scenes/tabletop.yaml";
/// Robot file of every command.
pub const DEFAULT_ROBOT: &str = "config/robots/xarm6.yaml";
/// Robot file for a scene with a room.
pub const ROOM_ROBOT: &str = "config/robots/ranger_xarm6.yaml";
/// Goal of `demo`.
pub const DEFAULT_GOAL: &str = "put the red mug in the bowl";
/// There is nothing to watch but lines, and a machine of two processors keeps up.
const DEMO_SPEED: f64 = 3.0;
const UP_SPEED: f64 = 1.0;

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

const AFTER_GOAL: &str = "\
Examples:
  prehend goal \"put the apple in the bowl\"
  prehend goal --plan-only \"put the apple in the bowl\"                    what would be done; nothing moves
  prehend goal --plan-only --out plan.png \"open the top drawer\"          the same, drawn over the camera's picture
  prehend goal --plan-only --json \"put the apple in the bowl\" | jq '.steps[0].skills[0].evidence'
  prehend goal \"why did you not take the blue one?\"                      why its last goal went as it did; nothing moves

With --plan-only the first thing that would be moved is planned to its end; what comes after it depends on what is seen then, and is
told in words. The exit code is that of the goal as far as it can be told: 0 it would be done, 2 it would be refused.

A question about the last goal is answered from what was done, also while the robot works or is stopped; `prehend explain --help` says
what can be asked.";

/// Arguments of `goal`.
#[derive(Debug, Args)]
#[command(after_help = AFTER_GOAL)]
pub struct GoalArgs {
    /// The goal, in words
    pub text: String,
    /// Print one JSON object on stdout, and everything else on stderr
    #[arg(long)]
    pub json: bool,
    /// Say what would be done, and do nothing: steps, grasps, ways, evidence, what the verifier would say
    #[arg(long)]
    pub plan_only: bool,
    /// Draw the plan over what the camera sees
    #[arg(long, value_name = "FILE.png", requires = "plan_only")]
    pub out: Option<PathBuf>,
    /// Longest time for the goal, wall seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 300.0, value_parser = positive)]
    pub timeout: f64,
    /// Play a recorded conversation with a language model instead of asking one: a run's trace.jsonl
    #[arg(long, value_name = "FILE")]
    pub replay_model: Option<PathBuf>,
    /// Robot file
    #[arg(long, value_name = "FILE", default_value = DEFAULT_ROBOT)]
    pub robot: PathBuf,
    /// Which graph.
    #[command(flatten)]
    pub ros: RosOptions,
}

const AFTER_APPROVE: &str = "\
The verifier asks a person before it permits a plan when `approval` in config/nodes/verifier.yaml, or `limits.approval` of the robot
file, says so: never, unsure, first (the first plan of a goal that touches something or drives) or each. No answer in time is a no.

Examples:
  prehend up --param verifier:approval:=first        ask before the first touch of each goal; then, in another terminal:
  prehend goal \"put the apple in the bowl\"          it says what it waits for, and under which id
  prehend approve                                    what waits
  prehend approve a3f1-a1 --out plan.png             draw it, and say yes
  prehend approve a3f1-a1 --no --who anna            say no; the goal ends with not_approved";

/// Arguments of `approve`.
#[derive(Debug, Args)]
#[command(after_help = AFTER_APPROVE)]
pub struct ApproveArgs {
    /// Which question is answered; without it what waits is listed
    pub id: Option<String>,
    /// Say no
    #[arg(long, requires = "id")]
    pub no: bool,
    /// Who says so; it stands in the trace
    #[arg(long, value_name = "NAME", default_value_t = user())]
    pub who: String,
    /// Draw the plan over what the camera sees, before it is answered
    #[arg(long, value_name = "FILE.png")]
    pub out: Option<PathBuf>,
    /// How it is shown, and of which graph.
    #[command(flatten)]
    pub show: ShowArgs,
}

/// Who is logged in.
fn user() -> String {
    std::env::var("USER").ok().filter(|name| !name.is_empty()).unwrap_or_else(|| "somebody".to_owned())
}

/// Arguments of `state`.
#[derive(Debug, Args)]
pub struct ShowArgs {
    /// Print one JSON object on stdout
    #[arg(long)]
    pub json: bool,
    /// Robot file
    #[arg(long, value_name = "FILE", default_value = DEFAULT_ROBOT)]
    pub robot: PathBuf,
    /// Which graph.
    #[command(flatten)]
    pub ros: RosOptions,
}

const AFTER_DESCRIBE: &str = "\
Examples:
  prehend up --scene config/scenes/drawers.yaml       a robot before a cabinet; then, in another terminal:
  prehend goal \"where is the cabinet?\"                it looks
  prehend describe cabinet --out cabinet/             what its kind usually is: nothing has moved yet
  prehend goal \"open the top drawer\"                  its parts move
  prehend describe cabinet --out cabinet/             the same thing, with what this look adds
  prehend up --scene cabinet/scene.yaml               the described thing, before a simulated robot

Each call adds what is seen now to DIR/observation.json and describes the thing again from all of it: DIR/model.urdf with DIR/meshes,
DIR/model.sdf for Gazebo, DIR/scene.yaml for the embedded robot, verdicts of the critics in DIR/description.json, pictures, and a page,
DIR/index.html. Look before a part moves and after it: from that its joint is known. A graph that was started with --describer knows the
ways of the hand as well, needs no look by you, and opens things by what it has learned.";

/// Arguments of `describe`.
#[derive(Debug, Args)]
#[command(after_help = AFTER_DESCRIBE)]
pub struct DescribeArgs {
    /// The thing: a key or a class of the object map; not needed with --again
    #[arg(value_name = "OBJECT", required_unless_present = "again")]
    pub object: Option<String>,
    /// Folder of the description; it may hold earlier looks at the same thing
    #[arg(long, value_name = "DIR")]
    pub out: PathBuf,
    /// Ask no robot: describe once more what DIR/observation.json holds
    #[arg(long, conflicts_with = "object")]
    pub again: bool,
    /// Lower the threshold while it does not get better (adaptive verifier)
    #[arg(long)]
    pub adaptive: bool,
    /// Ask a vision-language model for a second opinion, the one that FILE names (keys: config/nodes/describe.yaml)
    #[arg(long, value_name = "FILE")]
    pub opinion: Option<PathBuf>,
    /// How it is shown, and which graph.
    #[command(flatten)]
    pub show: ShowArgs,
}

/// Arguments of `stop`.
#[derive(Debug, Args)]
pub struct StopArgs {
    /// Clear the latch, so that the robot may move again
    #[arg(long)]
    pub clear: bool,
    /// How it is shown, and which graph.
    #[command(flatten)]
    pub show: ShowArgs,
}

/// What `scene` can do.
#[derive(Debug, Subcommand)]
pub enum SceneCommand {
    /// Say everything that is wrong in scene files
    Check {
        /// Scene files
        #[arg(required = true, value_name = "FILE")]
        files: Vec<PathBuf>,
        /// Print one JSON object on stdout: files, each with valid, objects and the error
        #[arg(long)]
        json: bool,
    },
    /// Draw a scene from outside
    Show {
        /// Scene file
        #[arg(value_name = "FILE")]
        file: PathBuf,
        /// Picture to write
        #[arg(long, value_name = "PNG")]
        out: PathBuf,
        /// Seed of the places drawn at random
        #[arg(long, value_name = "N", default_value_t = 1)]
        seed: u64,
        /// Print one JSON object on stdout
        #[arg(long)]
        json: bool,
    },
    /// Write keyframes of a random table with their truth, as recordings are kept
    Frames(FramesArgs),
    /// Write a scene as a world for Gazebo, with its robot when that is asked for
    ToSdf(ToSdfArgs),
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

fn number(text: &str) -> Result<f64, String> {
    text.parse::<f64>().ok().filter(|number| number.is_finite()).ok_or_else(|| "expected a number".to_owned())
}

fn speed(text: &str) -> Result<f64, String> {
    number(text).and_then(|speed| {
        if (0.0..=1000.0).contains(&speed) {
            Ok(speed)
        } else {
            Err("expected a number from 0 to 1000".to_owned())
        }
    })
}

fn share(text: &str) -> Result<f64, String> {
    number(text).and_then(|share| {
        if (0.0..=1.0).contains(&share) { Ok(share) } else { Err("expected a number from 0 to 1".to_owned()) }
    })
}

fn positive(text: &str) -> Result<f64, String> {
    number(text).and_then(|seconds| {
        if (0.1..=1e6).contains(&seconds) { Ok(seconds) } else { Err("expected a number above 0".to_owned()) }
    })
}

fn waiting(text: &str) -> Result<f64, String> {
    number(text).and_then(|seconds| {
        if (0.0..=3600.0).contains(&seconds) {
            Ok(seconds)
        } else {
            Err("expected a number from 0 to 3600".to_owned())
        }
    })
}

fn node_parameter(text: &str) -> Result<(NodeName, String), String> {
    let expected = || "expected NODE:NAME:=VALUE, such as verifier:enforce:=false".to_owned();
    let (node, parameter) = text.split_once(':').ok_or_else(expected)?;
    let node =
        <NodeName as clap::ValueEnum>::from_str(node, false).map_err(|_| format!("no node `{node}`"))?;
    if parameter.contains(":=") { Ok((node, parameter.to_owned())) } else { Err(expected()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn values_that_are_wrong_are_refused() {
        for line in [
            "prehend demo --speed -1",
            "prehend demo --speed NaN",
            "prehend demo --timeout 0",
            "prehend demo --param enforce:=false",
            "prehend demo --param nobody:enforce:=false",
            "prehend eval tabletop --jobs 0",
            "prehend node nothing",
            "prehend scene check",
            "prehend detect --image a.png --score 1.5",
            "prehend detect --image a.png --repeat 0",
            "prehend eval map",
            "prehend eval map --sim --frames a",
            "prehend eval map --sim --objects 0",
            "prehend eval map --race a --sweep",
            "prehend eval map --sim --boxes a",
            "prehend scene frames",
            "prehend view --number 1",
            "prehend view --out a.png --after -1",
            "prehend view --out a.png --map b --after 1",
            "prehend bag play",
            "prehend bag play a --rate 0",
            "prehend bag play a --rate NaN",
            "prehend bag record /tf --all",
            "prehend bag record /tf --topics /clock",
        ] {
            assert!(Cli::try_parse_from(line.split(' ')).is_err(), "{line}");
        }
        assert!(Cli::try_parse_from(["prehend", "demo", "--param", "verifier:enforce:=false"]).is_ok());
    }

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
