//! The command line.

pub mod bag;
mod eval;
mod explain;
pub mod gazebo;
mod goal;
mod graph;
pub mod map;
mod mcp;
mod memory;
mod models;
pub mod record;
mod ros;
mod rosbag;
mod scene;
mod serve;
mod setup;
mod values;
mod view;
mod words;

pub use eval::{
    AspMobileArgs, AspTabletopArgs, BuildingKinds, DayArgs, EarlierRoom, EvalAffordanceArgs,
    EvalArticulatedArgs, EvalCommand, EvalMemoryArgs, EvalReadingArgs, EvalWordsArgs, Kinds, LanguageArgs,
    LiberoArgs, RunArgs, Sentences, StartsArgs, TabletopArgs,
};
pub use explain::ExplainArgs;
pub use goal::{ApproveArgs, DescribeArgs, GoalArgs, ShowArgs, StopArgs};
pub use graph::{DEFAULT_GOAL, DemoArgs, GraphArgs, NodeArgs, UpArgs, with_node_of_name};
pub use mcp::McpArgs;
pub use memory::{MemoryArgs, MemoryCommand};
pub use models::{DEFAULT_MODELS, DetectArgs, DoctorArgs, ModelArgs, SightArgs};
pub use ros::{RosOptions, with_ros_words};
pub use rosbag::{BagCommand, BagInfoArgs, BagPlayArgs};
pub use scene::SceneCommand;
pub use serve::ServeArgs;
pub use setup::{CompletionsArgs, InitArgs, ManArgs};
pub use view::{HiddenLayer, ViewArgs};
pub use words::{WordsArgs, WordsCommand};

use clap::{Parser, Subcommand};
use map::MapArgs;
use record::{RecordArgs, ReplayArgs};

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

/// Scene of `demo` and `up`.
pub const DEFAULT_SCENE: &str = "config/scenes/tabletop.yaml";
/// Robot file of every command.
pub const DEFAULT_ROBOT: &str = "config/robots/xarm6.yaml";
/// Robot file for a scene with a room.
pub const ROOM_ROBOT: &str = "config/robots/ranger_xarm6.yaml";
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
}
