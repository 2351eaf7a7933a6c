//! Arguments of `bag`: recordings by the names that `ros2 bag` gives to what is done with them.

use super::record::RecordArgs;
use super::values::positive;
use clap::{Args, Subcommand};
use std::path::PathBuf;

/// What `bag` can do.
#[derive(Clone, Debug, Subcommand)]
pub enum BagCommand {
    /// Write the topics of a graph that runs into a rosbag2 recording (the same as `prehend record`)
    Record(RecordArgs),
    /// Say what a recording holds: files, time, topics and how many messages of each
    Info(BagInfoArgs),
    /// Publish what was recorded, at the pace of its recording, in a ROS domain where nobody else publishes it
    Play(BagPlayArgs),
}

const AFTER_INFO: &str = "\
Reads rosbag2 in MCAP (also without metadata.yaml: a recording that was killed) and in SQLite where that is built in.

The JSON object of --json: path, storage, files [{path, bytes}], bytes, messages, start, end (seconds since the epoch), seconds,
topics [{name, type, messages, latched, known}], damage (null, or what ends the reading early).

Exit codes:
  0  read to its end
  1  damaged: what comes before the damage is told
  3  no recording";

/// Arguments of `bag info`.
#[derive(Clone, Debug, Args)]
#[command(after_help = AFTER_INFO)]
pub struct BagInfoArgs {
    /// The recording: a folder, a file, or the folder of a run that has one
    #[arg(value_name = "RECORDING")]
    pub recording: PathBuf,
    /// Print one JSON object on stdout
    #[arg(long)]
    pub json: bool,
}

const AFTER_PLAY: &str = "\
A node that hears a recording believes it, and a controller does what it hears. So nothing is played where anybody publishes one of
the recording's topics (but for /rosout and /parameter_events, which every node has), /tf or /joint_states: without ROS_DOMAIN_ID it
takes a free domain and says which; another command finds it there. To ask the nodes whether they would decide the same again, use
`prehend replay`, which starts them itself.

Examples:
  prehend bag play runs/TIME-SEED/recording           and in another terminal:
  prehend view                                        what the robot saw and did, as it happened
  prehend bag play run7 -r 4 --loop --topics /tf /tf_static /joint_states

Exit codes:
  0  played to its end
  1  the recording is damaged: what comes before the damage was played
  3  the command line is wrong, there is no recording, or none of it can be played
  4  the domain cannot be joined, or somebody publishes a topic of the recording there
  130  stopped by Ctrl-C or SIGTERM";

/// Arguments of `bag play`.
#[derive(Clone, Debug, Args)]
#[command(after_help = AFTER_PLAY)]
pub struct BagPlayArgs {
    /// The recording: a folder, a file, or the folder of a run that has one
    #[arg(value_name = "RECORDING")]
    pub recording: PathBuf,
    /// Seconds of the recording per wall second
    #[arg(short, long, value_name = "X", default_value_t = 1.0, value_parser = positive)]
    pub rate: f64,
    /// Begin again at the end, until Ctrl-C
    #[arg(short, long = "loop")]
    pub again: bool,
    /// Only these topics
    #[arg(long, value_name = "TOPIC", num_args = 1..)]
    pub topics: Vec<String>,
    /// Leave out the first seconds of the recording, but for the last message of each latched topic
    #[arg(long, value_name = "S", value_parser = positive)]
    pub start_offset: Option<f64>,
    /// End when stdin ends: the parent is gone.
    #[arg(long, hide = true)]
    pub supervised: bool,
}
