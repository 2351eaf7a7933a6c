//! Arguments of `view`.

use super::{DEFAULT_ROBOT, RosOptions};
use clap::{Args, ValueEnum};
use std::path::PathBuf;

const AFTER_VIEW: &str = "\
What it shows: the robot, the object map (points, boxes that are the greener the surer their name is, names, parts with the way out of
them), what it holds, what its planner keeps clear of, the box that the tool does not leave, and in words the sentence, the robot's state,
the evidence as it grows, the verdict, the permit and what moves. Of a robot that drives also the costmap, the base, its way, the places of
a tour and, with --memory, the areas of the building. What happened before it joined is not shown.

In the window: drag with the left button to look around, with the right one to move, scroll to come nearer; click a thing to read what the
robot knows of it; F shows everything again, Escape closes. C, B, M, A and T leave out what the planner keeps clear of, the box of the tool,
the map of the floor, areas and names, or show them again. A recording is held and goes on with the space bar, the arrows step, and the
digits go to tenths of its length. When a plan waits for a person's word, Y twice says yes and N twice says no.

This command needs a program that was built with it: cargo build --release --features viewer. Without a screen --out writes a picture;
without a graphics card it is drawn in software (Debian: apt install mesa-vulkan-drivers).

Examples:
  prehend view                                 a window on the running graph
  prehend view --out now.png                   a picture of it, without a window
  prehend view --robot config/robots/ranger_xarm6.yaml --memory home.db   in rooms, with the areas that are remembered
  prehend view --map map/ --out map.png        a map of `prehend map build`, without a graph
  prehend view --run runs/X                    what a run has left, step by step
  prehend view --run runs/X --out steps/       a picture of each step
  prehend view --recording runs/X/recording    plays what was recorded
  prehend view --recording runs/X/recording --at 4.5 --out then.png
  prehend view --map map/ --select red_mug_0   what is known of one thing";

/// What can be left out of a picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum HiddenLayer {
    /// What the planner keeps clear of
    Shapes,
    /// The box that the tool does not leave
    Box,
    /// The map of the floor
    Floor,
    /// Areas of the building
    Areas,
    /// Names
    Names,
}

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
    /// Show what a run of `prehend demo` has left: its recording, or, where there is none, its trace and its maps
    #[arg(long, value_name = "DIR", conflicts_with_all = ["map", "recording"])]
    pub run: Option<PathBuf>,
    /// With --recording or --run: begin so long after its beginning, seconds; with --out it is the time of the picture [default: 0; of a
    /// picture of a run its end]
    #[arg(long, value_name = "SECONDS", value_parser = super::values::waiting, conflicts_with = "map")]
    pub at: Option<f64>,
    /// Write a picture instead of opening a window; into a folder (one that is there, or a name that ends with /) one of each step of a
    /// recording or run
    #[arg(long, value_name = "FILE.png|DIR/")]
    pub out: Option<PathBuf>,
    /// With --out: listen for so long before the picture is drawn, seconds; the panel tells what was heard
    #[arg(long, value_name = "SECONDS", default_value_t = 0.0, value_parser = super::values::waiting, requires = "out", conflicts_with_all = ["map", "recording", "run"])]
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
    /// Leave something out at first
    #[arg(long, value_name = "LAYER", value_delimiter = ',')]
    pub hide: Vec<HiddenLayer>,
    /// Show the areas of the building that are remembered here: a file, or postgres://USER@HOST/DATABASE
    #[arg(long, value_name = "STORE", conflicts_with = "map")]
    pub memory: Option<String>,
    /// With --memory: which building, when it knows several
    #[arg(long, value_name = "NAME", requires = "memory")]
    pub building: Option<String>,
    /// Robot file
    #[arg(long, value_name = "FILE", default_value = DEFAULT_ROBOT)]
    pub robot: PathBuf,
    /// Which graph.
    #[command(flatten)]
    pub ros: RosOptions,
}
