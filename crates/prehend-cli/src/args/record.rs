//! Arguments of `record` and `replay`.

use super::DEFAULT_ROBOT;
use super::graph::node_parameter;
use super::values::positive;
use crate::node::NodeName;
use clap::Args;
use prehend_bags::{BagOptions, RecordOptions, Topics};
use std::path::PathBuf;
use std::time::Duration;

const AFTER_RECORD: &str = "\
Without topics and --all it records what a replay needs: the cameras, the detectors, /tf, /tf_static, /clock and the joint
states of the robot file, and of Prehend the trace, the state, the maps and the stop.

What is written is what `ros2 bag record -s mcap` writes: a folder with NAME_0.mcap and metadata.yaml. Messages are stored as
they came, chunks are compressed (lz4) and indexed. `prehend map build --frames DIR`, `ros2 bag info DIR`, and readers of MCAP
such as those of PyPI's `mcap` and `rosbags` open it.

Ended by Ctrl-C or --seconds. A recording that was killed or whose disk was full can be read up to its last half second: with
--partial by Prehend, and by every reader that does not need the index; it has no metadata.yaml then.

Messages that come faster than the disk takes them wait in the cache (--cache-mb); beyond that they are dropped and counted.
Nothing that is recorded waits for the recording.

Examples:
  prehend record                                      the graph of `prehend up`, until Ctrl-C
  prehend record -o run7 --max-size 2000              a file every 2 GB
  prehend record --topics /tf /tf_static /joint_states
  ROS_DOMAIN_ID=0 prehend record --all                whatever is published in domain 0
  prehend demo --record                               one run of the embedded robot
  prehend replay run7                                 would it decide the same again?

Exit codes:
  0  recorded
  1  the disk refused something; what was written before is kept
  3  the command line is wrong, or the folder is not empty
  4  nothing is published, or the domain cannot be joined";

/// Arguments of `record`.
#[derive(Clone, Debug, Args)]
#[command(after_help = AFTER_RECORD)]
pub struct RecordArgs {
    /// Folder to make [default: recordings/UTC-TIME]
    #[arg(short, long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Only these topics, whenever they appear
    #[arg(long, value_name = "TOPIC", num_args = 1.., conflicts_with = "all")]
    pub topics: Vec<String>,
    /// The same, as `ros2 bag record /tf /tf_static` has it
    #[arg(value_name = "TOPIC", conflicts_with_all = ["all", "topics"])]
    pub named: Vec<String>,
    /// Every topic whose type is known
    #[arg(short, long)]
    pub all: bool,
    /// End by itself after this time, wall seconds
    #[arg(long, value_name = "S", value_parser = positive)]
    pub seconds: Option<f64>,
    /// How the bag is written.
    #[command(flatten)]
    pub bag: BagFileArgs,
    /// Robot file, whose topics are recorded
    #[arg(long, value_name = "FILE", default_value = DEFAULT_ROBOT)]
    pub robot: PathBuf,
    /// Print one JSON object on stdout: messages, bytes, dropped, files, topics
    #[arg(long)]
    pub json: bool,
    /// End when stdin ends: the parent is gone.
    #[arg(long, hide = true)]
    pub supervised: bool,
}

/// How the files of a recording are written.
#[derive(Clone, Debug, Args)]
pub struct BagFileArgs {
    /// Begin another file when one has so many megabytes
    #[arg(long, value_name = "MB", value_parser = positive)]
    pub max_size: Option<f64>,
    /// Begin another file after so many seconds
    #[arg(long, alias = "max-bag-duration", value_name = "S", value_parser = positive)]
    pub max_duration: Option<f64>,
    /// Megabytes of messages that may wait for the disk
    #[arg(long, value_name = "MB", default_value_t = 256.0, value_parser = positive)]
    pub cache_mb: f64,
    /// Leave chunks uncompressed
    #[arg(long)]
    pub no_compression: bool,
}

/// Bytes of megabytes.
fn bytes(megabytes: f64) -> u64 {
    (megabytes * 1e6) as u64
}

impl BagFileArgs {
    /// The same as the recorder has it.
    pub fn options(&self, topics: Topics) -> RecordOptions {
        RecordOptions {
            bag: BagOptions {
                split_bytes: self.max_size.map(bytes),
                split_after: self.max_duration.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok()),
                plain: self.no_compression,
                ..BagOptions::default()
            },
            cache: usize::try_from(bytes(self.cache_mb)).unwrap_or(usize::MAX),
            ..RecordOptions::new(topics)
        }
    }
}

const AFTER_REPLAY: &str = "\
Starts nodes in a free ROS domain, gives them what the recorded ones saw, and compares what they decide by what it means: a table
of same, different, missing and new, with the first difference explained. Nothing can move: there is no robot.

Perception: every frame that was taken into the map goes to object_map again, one by one, and so does every retrieval. Which frame
is taken does not depend on the speed of the machine.

Goal: object_map, affordance, verifier, skills and agent get the first goal, and the frames before its first motion. Plans are made anew,
by Prehend's own planner; motions are refused, and what was decided after the first one is compared in perception only. On a robot that
drives the goal is not replayed.

The recording must hold the trace and what the robot side published, as `prehend record` and `prehend demo --record` write it, and
begin before the first look: a map that was known before is not in it.

Exit codes:
  0  every decision is the same
  1  something is different, missing or new
  3  the recording cannot be replayed
  4  the nodes could not be started";

/// Arguments of `replay`.
#[derive(Clone, Debug, Args)]
#[command(after_help = AFTER_REPLAY)]
pub struct ReplayArgs {
    /// The recording: a folder, a file that ends in .mcap, or the folder of a run that has one
    #[arg(value_name = "RECORDING")]
    pub recording: PathBuf,
    /// Robot file [default: that of the recording]
    #[arg(long, value_name = "FILE")]
    pub robot: Option<PathBuf>,
    /// ROS parameter of a node, as `affordance:whole_object:=true`: what would have been decided then? May be repeated
    #[arg(long = "param", value_name = "NODE:NAME:=VALUE", value_parser = node_parameter)]
    pub params: Vec<(NodeName, String)>,
    /// Use what is before the damage of a recording that is cut off or broken
    #[arg(long)]
    pub partial: bool,
    /// Folder for the logs of the nodes [default: runs/UTC-TIME-replay]
    #[arg(long, value_name = "DIR")]
    pub logs: Option<PathBuf>,
    /// Print one JSON object on stdout: each decision, and whether it is the same, different, missing or new
    #[arg(long)]
    pub json: bool,
    /// End when stdin ends: the parent is gone.
    #[arg(long, hide = true)]
    pub supervised: bool,
}
