//! Arguments of `prehend map`, `prehend eval map` and `prehend scene frames`.

use super::bag::BagArgs;
use super::{DEFAULT_ROBOT, ModelArgs, ROOM_ROBOT, ShowArgs, SightArgs};
use clap::{ArgGroup, Args, Subcommand, ValueEnum};
use prehend_eval::cameras::Kind;
use prehend_eval::clutter::{Masks, Settings};
use prehend_perception::{Cut, MapSettings, MaskUse};
use prehend_scene::merge::{MergeMethod, MergeRule};
use std::path::PathBuf;

const AFTER: &str = "\
Examples:
  prehend map                                  the map of the running graph
  prehend map build --frames DIR --out map/    a map from recorded frames
  prehend map build --frames BAG --out map/    the same from a rosbag2 (MCAP or SQLite), poses by tf
  prehend map build --live --seconds 10 --out map/   the same from the camera of a running graph
  prehend map show map/                        pictures and a table of it, with what was left out and why
  prehend map query map/ \"the red bowl\"

A frame is color.png, depth.png (16 bit, millimetres, aligned with colour), intrinsics.json (fx, fy, cx, cy, width, height)
and, when it is known, pose.json (map_from_camera: 4 x 4, or position and quaternion x y z w; z up, metres). DIR is one frame, or has a
folder for each, or folders color/, depth/ and pose/. Without poses every frame is a scene of its own, upright on the plane
that carries the things. Masks of any segmenter may be given: instances.png (16 bit, a label for each) with instances.json,
[{\"label\", \"class_name\", \"score\", \"feature\"}, ...]; instances.png alone is what people marked.";

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
    Build(Box<BuildArgs>),
    /// Draw a map, and print a table of its objects
    Show(ShowMapArgs),
    /// Find what a text means in a map
    Query(QueryArgs),
}

/// Arguments of `map build`.
#[derive(Clone, Debug, Args)]
pub struct BuildArgs {
    /// Recorded frames: a folder of pictures, or a rosbag (.mcap, .db3, or its folder)
    #[arg(long, value_name = "PATH", required_unless_present = "live")]
    pub frames: Option<PathBuf>,
    /// The topics of a running graph instead: the robot's camera, or those that are named
    #[arg(long, conflicts_with = "frames")]
    pub live: bool,
    /// How long topics are listened to, seconds
    #[arg(long, value_name = "S", default_value_t = 10.0, requires = "live")]
    pub seconds: f64,
    /// Robot file: names of the camera's topics and of the map's frame
    #[arg(long, value_name = "FILE", default_value = DEFAULT_ROBOT, requires = "live")]
    pub robot: PathBuf,
    /// Folder of the map; a map that is there is replaced when the new one is whole
    #[arg(long, value_name = "DIR")]
    pub out: PathBuf,
    /// How the things of a frame are merged with the map.
    #[command(flatten)]
    pub merge: MergeArgs,
    /// Seed of the plane searches
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// Who looks at the frames.
    #[command(flatten)]
    pub sight: SightArgs,
    /// Print one JSON object on stdout, and everything else on stderr
    #[arg(long)]
    pub json: bool,
    /// How a bag or topics are read; last, since its heading in the help holds for what follows it.
    #[command(flatten)]
    pub bag: BagArgs,
}

/// Arguments of merging.
#[derive(Clone, Copy, Debug, Default, Args)]
pub struct MergeArgs {
    /// Rule of merging across frames: prehend, asp, conceptgraphs or off
    #[arg(long = "merge", value_name = "RULE", default_value = "prehend", value_parser = method)]
    pub method: MergeMethod,
    /// Similarity above which two sightings are one object, 0 to 2 [default: that of the rule, 1.1]
    #[arg(long = "merge-threshold", value_name = "SUM", value_parser = threshold)]
    pub threshold: Option<f64>,
    /// Distance up to which two points are the same place, metres [default: that of the rule, 0.012 or 0.025]
    #[arg(long = "merge-distance", value_name = "M", value_parser = length)]
    pub distance: Option<f64>,
    /// Voxel edge of merged clouds, metres [default: that of the rule, 0.003, asp 0.01, conceptgraphs 0.025]
    #[arg(long, value_name = "M", value_parser = length)]
    pub voxel: Option<f64>,
    /// How frames are cut into things: surfaces, or voxels (faster, for things that stand apart)
    #[arg(long, value_name = "HOW", default_value = "surfaces", value_parser = cut)]
    pub cut: Cut,
    /// Take masks as they were drawn, without a look at geometry; what has no mask is nothing
    #[arg(long)]
    pub masks_as_drawn: bool,
}

impl MergeArgs {
    /// Settings for recorded frames with what was asked for.
    pub fn settings(&self) -> MapSettings {
        let masks = if self.masks_as_drawn { MaskUse::AsDrawn } else { MaskUse::Checked };
        MapSettings { masks, ..self.settings_on_robot().anywhere() }
    }

    /// Settings of the node `object_map`, for the camera of our robot, with what was asked for.
    pub fn settings_on_robot(&self) -> MapSettings {
        MapSettings { merge: self.rule(), ..MapSettings::on_robot(self.cut) }
    }

    /// The rule with what was asked for.
    fn rule(&self) -> MergeRule {
        let rule = self.method.rule();
        MergeRule {
            threshold: self.threshold.unwrap_or(rule.threshold),
            distance: self.distance.unwrap_or(rule.distance),
            leaf: self.voxel.unwrap_or(rule.leaf),
            ..rule
        }
    }
}

fn method(text: &str) -> Result<MergeMethod, String> {
    MergeMethod::parse(text).ok_or_else(|| {
        let names = MergeMethod::ALL.map(MergeMethod::name);
        format!("it is none of {}", names.join(", "))
    })
}

fn cut(text: &str) -> Result<Cut, String> {
    let found = Cut::ALL.into_iter().find(|(name, _)| *name == text);
    found
        .map(|(_, cut)| cut)
        .ok_or_else(|| format!("it is none of {}", Cut::ALL.map(|(name, _)| name).join(", ")))
}

fn threshold(text: &str) -> Result<f64, String> {
    number(text, 0.0, 2.0)
}

fn length(text: &str) -> Result<f64, String> {
    number(text, 0.001, 0.2)
}

fn number(text: &str, low: f64, high: f64) -> Result<f64, String> {
    let within = |number: &f64| (low..=high).contains(number);
    text.parse().ok().filter(within).ok_or_else(|| format!("it is no number from {low} to {high}"))
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
    /// The models, of which the one that made the features reads the text.
    #[command(flatten)]
    pub which: ModelArgs,
    /// Print one JSON object on stdout, and everything else on stderr
    #[arg(long)]
    pub json: bool,
}

/// Arguments of `eval map`.
#[derive(Clone, Debug, Args)]
#[command(group = ArgGroup::new("what").required(true).args(["frames", "sim", "cameras", "drawers", "rooms", "race"]))]
pub struct EvalMapArgs {
    /// Recorded frames with target_mask.png (one thing) or instances.png (16 bit, a number for each thing)
    #[arg(long, value_name = "DIR")]
    pub frames: Option<PathBuf>,
    /// Random tables of the simulator: objects by 3D boxes, merged, not merged, and from one keyframe
    #[arg(long)]
    pub sim: bool,
    /// One frame each of other cameras (structured light, stereo, time of flight, the same from straight above) over other tables, of one
    /// kind or of all: objects by their masks, and what is found on empty tables
    #[arg(long, value_name = "KIND", num_args = 0..=1, default_missing_value = "all")]
    pub cameras: Option<CameraKinds>,
    /// With --cameras: folder for a picture of each frame with what was found in it
    #[arg(long, value_name = "DIR", requires = "cameras")]
    pub out: Option<PathBuf>,
    /// A cabinet of this model in the simulator, whose drawers are opened and closed: is each one object in its row, as open as it is?
    #[arg(long, value_name = "MODEL")]
    pub drawers: Option<String>,
    /// With --drawers: changes of the scene for each seed
    #[arg(long, value_name = "N", default_value_t = 40, value_parser = clap::value_parser!(u16).range(1..))]
    pub moves: u16,
    /// With --drawers: begin a new map with each change, before a cabinet that stands elsewhere, as after a drive
    #[arg(long, requires = "drawers")]
    pub fresh: bool,
    /// Rooms of the simulator, of one kind or of all: is each thing that a tour shows one object of the room's map, by its name, where it
    /// is?
    #[arg(long, value_name = "KIND", num_args = 0..=1, default_missing_value = "all", conflicts_with = "sweep")]
    pub rooms: Option<RoomKinds>,
    /// With --rooms: robot file, or a name in config/robots
    #[arg(long, value_name = "FILE", default_value = ROOM_ROBOT)]
    pub robot: PathBuf,
    /// Time and memory of the map of these frames, keyframe by keyframe; masks are taken from instances.png and instances.json
    #[arg(long, value_name = "DIR")]
    pub race: Option<PathBuf>,
    /// With --race: hold these objects of another program against DIR/truth.json instead
    #[arg(long, value_name = "FILE", conflicts_with_all = ["frames", "sim"])]
    pub boxes: Option<PathBuf>,
    /// Show how the figures change when each number of the settings is halved, doubled, and so on: those whose names start with NAME
    /// (segment.surfaces), or all
    #[arg(long, value_name = "NAME", num_args = 0..=1, default_missing_value = "", conflicts_with = "race")]
    pub sweep: Option<String>,
    /// With --sim: tables; with --cameras: frames of each kind; with --drawers: cabinets; with --rooms: rooms of each kind
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u64).range(1..))]
    pub seeds: u64,
    /// How the tables of --sim look.
    #[command(flatten)]
    pub clutter: ClutterArgs,
    /// How the things of a frame are merged with the map.
    #[command(flatten)]
    pub merge: MergeArgs,
    /// Seed of the (first) table and of the plane searches
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// Print one JSON object on stdout, and everything else on stderr
    #[arg(long)]
    pub json: bool,
}

/// How a random table looks.
#[derive(Clone, Copy, Debug, Args)]
pub struct ClutterArgs {
    /// Things in all; more than thirty stand on several tables of a hall
    #[arg(long, value_name = "N", default_value_t = 30, value_parser = clap::value_parser!(u16).range(1..=20_000))]
    pub objects: u16,
    /// Keyframes around each table
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u8).range(1..))]
    pub views: u8,
    /// Who draws the masks
    #[arg(long, value_enum, default_value_t = MaskSource::Geometry)]
    pub masks: MaskSource,
}

/// Kinds of cameras.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum CameraKinds {
    /// Each of the others
    All,
    /// Structured light, 640 x 480, slanting
    StructuredLight,
    /// Stereo, 848 x 480 or 1280 x 720, slanting
    Stereo,
    /// Time of flight, 640 x 576 or 1280 x 720, slanting
    TimeOfFlight,
    /// Time of flight, 1280 x 720, from straight above
    Overhead,
}

impl CameraKinds {
    /// The kinds themselves.
    pub fn kinds(self) -> &'static [Kind] {
        match self {
            Self::All => &Kind::ALL,
            Self::StructuredLight => &[Kind::StructuredLight],
            Self::Stereo => &[Kind::Stereo],
            Self::TimeOfFlight => &[Kind::TimeOfFlight],
            Self::Overhead => &[Kind::Overhead],
        }
    }
}

/// Kinds of rooms.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum RoomKinds {
    /// Each of the others
    All,
    /// The rooms of eval asp-mobile
    Errands,
    /// Rooms of other sizes and furniture, with cabinets, pairs and more things
    Furnished,
}

impl RoomKinds {
    /// The kinds themselves, with their names.
    pub fn kinds(self) -> &'static [(prehend_eval::rooms::Kind, &'static str)] {
        let all = &prehend_eval::rooms::Kind::ALL;
        match self {
            Self::All => all,
            Self::Errands => &all[..1],
            Self::Furnished => &all[1..],
        }
    }
}

/// Who draws the masks of simulated frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum MaskSource {
    /// Nobody: the map cuts the frames by geometry
    Geometry,
    /// The imperfect detector of the simulator
    Detector,
    /// A detector without errors
    Truth,
}

impl ClutterArgs {
    /// As settings of the tables.
    pub fn settings(&self, seed: u64) -> Settings {
        let masks = match self.masks {
            MaskSource::Geometry => Masks::Geometry,
            MaskSource::Detector => Masks::Detector,
            MaskSource::Truth => Masks::Truth,
        };
        let (objects, views) = (usize::from(self.objects), usize::from(self.views));
        Settings { objects, views, masks, seed, ..Settings::default() }
    }
}

/// Arguments of `scene frames`.
#[derive(Clone, Debug, Args)]
pub struct FramesArgs {
    /// Folder of the frames; it must be empty or not there
    #[arg(long, value_name = "DIR")]
    pub out: PathBuf,
    /// Single frames of other cameras instead, each a scene of its own without a pose, with instances.png: for eval map --frames
    #[arg(long, value_name = "KIND", num_args = 0..=1, default_missing_value = "all", conflicts_with_all = ["objects", "views", "masks", "features"])]
    pub cameras: Option<CameraKinds>,
    /// With --cameras: frames of each kind
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u64).range(1..))]
    pub seeds: u64,
    /// How the tables look.
    #[command(flatten)]
    pub clutter: ClutterArgs,
    /// Numbers of the feature vector beside each mask; 0 writes none
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub features: u16,
    /// Seed of the tables, the cameras and the noise
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// Print one JSON object on stdout
    #[arg(long)]
    pub json: bool,
}
