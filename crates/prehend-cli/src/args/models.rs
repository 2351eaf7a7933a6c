//! Arguments of the commands about network models.

use super::{DEFAULT_ROBOT, RosOptions};
use clap::Args;
use std::path::PathBuf;

/// File of the models.
pub const DEFAULT_MODELS: &str = "config/models.yaml";

/// Which models there are, and what runs them.
#[derive(Clone, Debug, Args)]
pub struct ModelArgs {
    /// File of the models
    #[arg(long, value_name = "FILE", default_value = DEFAULT_MODELS)]
    pub config: PathBuf,
    /// Library of ONNX Runtime, or the folder it is in [default: ORT_DYLIB_PATH, else it is searched]
    #[arg(long, value_name = "LIB")]
    pub runtime: Option<PathBuf>,
}

/// The models that look at frames.
#[derive(Clone, Debug, Args)]
pub struct SightArgs {
    /// Models that look at the frames: a detector, a segmenter and an embedder, or some of them
    #[arg(long = "model", value_name = "NAME[,NAME...]", value_delimiter = ',')]
    pub models: Vec<String>,
    /// What a detector with text prompts looks for, such as "red mug, bowl" [default: as in the file of the models]
    #[arg(long, value_name = "TEXT")]
    pub prompt: Option<String>,
    /// Which models.
    #[command(flatten)]
    pub which: ModelArgs,
}

/// Arguments of `doctor`.
#[derive(Clone, Debug, Args)]
pub struct DoctorArgs {
    /// Say which network models are there and whether they fit, instead of everything else
    #[arg(long)]
    pub models: bool,
    /// Say who of the graph and of the robot side is found in the ROS domain, instead of everything else
    #[arg(long, conflicts_with = "models")]
    pub graph: bool,
    /// Try the language model of the agent with one harmless tool call, instead of everything else
    #[arg(long, conflicts_with_all = ["models", "graph"])]
    pub llm: bool,
    /// Settings of the node agent, for --llm
    #[arg(long, value_name = "FILE", default_value = "config/nodes/agent.yaml")]
    pub agent: PathBuf,
    /// Print one JSON object on stdout: checks, each with what was found (ok, note, missing) and a text
    #[arg(long)]
    pub json: bool,
    /// Robot file, or a name in config/robots, for --graph
    #[arg(long, value_name = "FILE", default_value = DEFAULT_ROBOT)]
    pub robot: PathBuf,
    /// Which graph.
    #[command(flatten)]
    pub ros: RosOptions,
    /// Which models.
    #[command(flatten)]
    pub which: ModelArgs,
}

const AFTER_DETECT: &str = "\
The JSON object of --json: model, image, width, height, milliseconds {load, detect}, detections: a list of
{class, score, box: [left, top, right, bottom]}, best first, in pixels of the picture.";

/// Arguments of `detect`.
#[derive(Clone, Debug, Args)]
#[command(after_help = AFTER_DETECT)]
pub struct DetectArgs {
    /// Name of the model in the file of the models
    #[arg(long, value_name = "NAME", default_value = "fastestdet")]
    pub model: String,
    /// Picture to look at
    #[arg(long, value_name = "PNG")]
    pub image: PathBuf,
    /// What a detector with text prompts looks for, such as "red mug, bowl" [default: as in the file of the models]
    #[arg(long, value_name = "TEXT")]
    pub prompt: Option<String>,
    /// Picture to write, with the boxes drawn in
    #[arg(long, value_name = "PNG")]
    pub out: Option<PathBuf>,
    /// Least score of a box [default: as in the file of the models]
    #[arg(long, value_name = "X", value_parser = super::values::share)]
    pub score: Option<f64>,
    /// Look so many times; the time that is told is the median
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub repeat: u32,
    /// Print one JSON object on stdout, and everything else on stderr
    #[arg(long)]
    pub json: bool,
    /// Which models.
    #[command(flatten)]
    pub which: ModelArgs,
}
