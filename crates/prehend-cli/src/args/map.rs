//! Arguments of `prehend map` and `prehend eval map`.

use super::ShowArgs;
use clap::{Args, Subcommand};
use std::path::PathBuf;

const AFTER: &str = "\
Examples:
  prehend map                                  the map of the running graph
  prehend map build --frames DIR --out map/    a map from recorded frames
  prehend map show map/                        pictures and a table of it
  prehend map query map/ \"the red bowl\"

A frame is color.png, depth.png (16 bit, millimetres, aligned with colour), intrinsics.json (fx, fy, cx, cy, width, height)
and, when it is known, pose.json (map_from_camera: 4 x 4, or position and quaternion x y z w; z up, metres). DIR is one frame, or has a
folder for each, or folders color/, depth/ and pose/. Without poses every frame is a scene of its own, upright on the plane
that carries the things.";

/// Arguments of `map`.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true, after_help = AFTER)]
pub struct MapArgs {
    /// What is done with a map in a folder; without it the map of the running graph is shown
    #[command(subcommand)]
    pub command: Option<MapCommand>,
    /// How it is shown.
    #[command(flatten)]
    pub show: ShowArgs,
    /// Show every new version until Ctrl-C
    #[arg(long)]
    pub watch: bool,
}

/// What `map` can do with recordings.
#[derive(Debug, Subcommand)]
pub enum MapCommand {
    /// Build a map from recorded frames
    Build(BuildArgs),
    /// Draw a map, and print a table of its objects
    Show(ShowMapArgs),
    /// Find what a text means in a map
    Query(QueryArgs),
}

/// Arguments of `map build`.
#[derive(Clone, Debug, Args)]
pub struct BuildArgs {
    /// Recorded frames
    #[arg(long, value_name = "DIR")]
    pub frames: PathBuf,
    /// Folder of the map; a map that is there is replaced when the new one is whole
    #[arg(long, value_name = "DIR")]
    pub out: PathBuf,
    /// Seed of the plane searches
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// Print one JSON object on stdout, and everything else on stderr
    #[arg(long)]
    pub json: bool,
}

/// Arguments of `map show`.
#[derive(Clone, Debug, Args)]
pub struct ShowMapArgs {
    /// Folder of the map
    #[arg(value_name = "MAP")]
    pub map: PathBuf,
    /// Folder for the pictures [default: MAP-pictures, beside the map]
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Print one JSON object on stdout, and everything else on stderr
    #[arg(long)]
    pub json: bool,
}

/// Arguments of `map query`.
#[derive(Clone, Debug, Args)]
pub struct QueryArgs {
    /// Folder of the map
    #[arg(value_name = "MAP")]
    pub map: PathBuf,
    /// What is looked for, in words
    pub text: String,
    /// Candidates that are looked at
    #[arg(short, value_name = "N", default_value_t = prehend_perception::retrieve::DEFAULT_K)]
    pub k: usize,
    /// Print one JSON object on stdout, and everything else on stderr
    #[arg(long)]
    pub json: bool,
}

/// Arguments of `eval map`.
#[derive(Clone, Debug, Args)]
pub struct EvalMapArgs {
    /// Recorded frames with target_mask.png (one thing) or instances.png (16 bit, a number for each thing)
    #[arg(long, value_name = "DIR")]
    pub frames: PathBuf,
    /// Show how the figures change when each parameter is halved, doubled, and so on
    #[arg(long)]
    pub sweep: bool,
    /// Seed of the plane searches
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// Print one JSON object on stdout, and everything else on stderr
    #[arg(long)]
    pub json: bool,
}
