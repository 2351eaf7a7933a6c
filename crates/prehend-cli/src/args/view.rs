//! Arguments of `view`.

use super::{DEFAULT_ROBOT, RosOptions};
use clap::Args;
use std::path::PathBuf;

const AFTER_VIEW: &str = "\
What it shows: the robot, the object map (points, boxes that are the greener the surer their name is, names, parts with the way out of
them), the box that the tool does not leave, and in words the sentence, the robot's state, the evidence as it grows, the verdict, the
permit and what moves. What happened before it joined is not shown.

In the window: drag with the left button to look around, with the right one to move, scroll to come nearer; click a thing to read what the
robot knows of it; F shows everything again, Escape closes. A recording is held and goes on with the space bar, the arrows step, and the
digits go to tenths of its length.

This command needs a program that was built with it: cargo build --release --features viewer. Without a screen --out writes a picture;
without a graphics card it is drawn in software (Debian: apt install mesa-vulkan-drivers).

Examples:
  prehend view                                 a window on the running graph
  prehend view --out now.png                   a picture of it, without a window
  prehend view --map map/ --out map.png        a map of `prehend map build`, without a graph
  prehend view --recording runs/X/recording    plays what was recorded
  prehend view --recording runs/X/recording --at 4.5 --out then.png
  prehend view --map map/ --select red_mug_0   what is known of one thing";

/// Arguments of `view`.
#[derive(Clone, Debug, Args)]
#[command(after_help = AFTER_VIEW)]
pub struct ViewArgs {
    /// Show a map that `prehend map build` wrote, instead of a graph that runs
    #[arg(long, value_name = "DIR")]
    pub map: Option<PathBuf>,
    /// With --map: which of its scenes, from 0; frames without poses are a scene each
    #[arg(long, value_name = "N", default_value_t = 0, requires = "map")]
    pub number: usize,
    /// Show a recording of `prehend record` or `prehend demo --record`: a rosbag2 (MCAP or SQLite), or its folder
    #[arg(long, value_name = "PATH", conflicts_with = "map")]
    pub recording: Option<PathBuf>,
    /// With --recording: begin so long after its beginning, seconds; with --out it is the time of the picture
    #[arg(long, value_name = "SECONDS", default_value_t = 0.0, value_parser = super::waiting, requires = "recording")]
    pub at: f64,
    /// Write a picture instead of opening a window
    #[arg(long, value_name = "FILE.png")]
    pub out: Option<PathBuf>,
    /// With --out: listen for so long before the picture is drawn, seconds; the panel tells what was heard
    #[arg(long, value_name = "SECONDS", default_value_t = 0.0, value_parser = super::waiting, requires = "out", conflicts_with_all = ["map", "recording"])]
    pub after: f64,
    /// Width of the window or picture, pixels
    #[arg(long, value_name = "PIXELS", default_value_t = 1280)]
    pub width: u32,
    /// Height of the window or picture, pixels
    #[arg(long, value_name = "PIXELS", default_value_t = 800)]
    pub height: u32,
    /// Tell what is known of this thing: its key in the map
    #[arg(long, value_name = "KEY")]
    pub select: Option<String>,
    /// Robot file
    #[arg(long, value_name = "FILE", default_value = DEFAULT_ROBOT)]
    pub robot: PathBuf,
    /// Which graph.
    #[command(flatten)]
    pub ros: RosOptions,
}
