//! Arguments of `eval`.

use super::graph::node_parameter;
use super::map::EvalMapArgs;
use super::values::{domain, share, speed};
use super::{DEFAULT_ROBOT, DEFAULT_SCENE};
use crate::node::NodeName;
use clap::{Args, Subcommand, ValueEnum};
use prehend_eval::scenario::Conditions;
use std::path::PathBuf;

/// What `eval` can measure.
#[derive(Debug, Subcommand)]
pub enum EvalCommand {
    /// Random tabletop scenes and goals, judged by physics
    Tabletop(TabletopArgs),
    /// Fifteen tabletop tasks after ASP's experiments: bells, drawers, plugs, toys, handles
    AspTabletop(AspTabletopArgs),
    /// Mobile manipulation after ASP's experiments: sides to come from, double picks, spatial references
    AspMobile(AspMobileArgs),
    /// A set of sentences: a file of one JSON object a line, with scene, goal and what is right, judged by physics
    Language(LanguageArgs),
    /// What unknown words are taken for: a file of words, what is seen, and pages, some of which lie
    Words(EvalWordsArgs),
    /// How sentences are read: a file of sentences and what they mean, without a robot
    Reading(EvalReadingArgs),
    /// Where parts are that actions work on: the harness against fixed chains of the same skills, on simulated tables
    Affordance(EvalAffordanceArgs),
    /// How well articulated things are described, and whether critics notice planted faults
    Articulated(EvalArticulatedArgs),
    /// What a memory of whole buildings finds: views of things and places that sentences speak of, against flat search
    Memory(EvalMemoryArgs),
    /// LIBERO's tasks in this world: files of one JSON object a line, judged by their goal predicates
    Libero(LiberoArgs),
    /// A day's work: random goals one after the other on one graph, judged by physics, with memory and files of each process
    Day(DayArgs),
    /// Starts of the whole graph one after the other: how long until each is ready, whether the middleware hung, and whether all nodes hear
    Starts(StartsArgs),
    /// Object maps against labels of recorded frames, against the simulator's truth, or by the clock
    Map(EvalMapArgs),
}

/// Arguments of `eval tabletop`.
#[derive(Clone, Debug, Args)]
pub struct TabletopArgs {
    /// Number of runs
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub runs: u64,
    /// Ablation: the detector makes no errors
    #[arg(long)]
    pub perfect_detector: bool,
    /// The same tables with a detector three times as bad, and things so smooth that they slip
    #[arg(long, conflicts_with = "perfect_detector")]
    pub hard: bool,
    /// Other tables: what is wanted stands between four others, most of the time too close for a hand
    #[arg(long)]
    pub crowded: bool,
    /// How runs are made.
    #[command(flatten)]
    pub runs_made: RunArgs,
}

/// Arguments of `eval day`.
#[derive(Clone, Debug, Args)]
pub struct DayArgs {
    /// Goals of the day
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = clap::value_parser!(u64).range(1..))]
    pub goals: u64,
    /// Seed of the table and of the goals
    #[arg(long, value_name = "S", default_value_t = 1)]
    pub seed: u64,
    /// Scene file, such as config/scenes/drawers.yaml or config/scenes/room_two_tables.yaml [default: a random table]
    #[arg(long, value_name = "FILE")]
    pub scene: Option<PathBuf>,
    /// Robot file, or a name in config/robots [default: one that drives in a room, else the arm]
    #[arg(long, value_name = "FILE", default_value = DEFAULT_ROBOT)]
    pub robot: PathBuf,
    /// Kill a random node, though not the simulator, during every N-th goal; 0 = never
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub kill_every: u64,
    /// Somebody interferes in every N-th goal: push, slip and take by turns; 0 = never
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub disturb_every: u64,
    /// Share of the goals that name a place on the table itself: a side of it, so far from here, where another thing stands
    #[arg(long, value_name = "SHARE", default_value_t = 0.0, value_parser = share)]
    pub places: f64,
    /// Print one JSON object on stdout, and everything else on stderr
    #[arg(long)]
    pub json: bool,
    /// Folder of the day [default: runs/UTC-TIME-SEED]
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Simulated seconds per wall second; 0 = as fast as the machine can, 10 at most
    #[arg(long, value_name = "X", default_value_t = 0.0, value_parser = speed)]
    pub speed: f64,
    /// Longest time for one goal, wall seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 240.0, value_parser = speed)]
    pub timeout: f64,
}

/// Arguments of `eval starts`.
#[derive(Clone, Debug, Args)]
pub struct StartsArgs {
    /// Number of starts
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u64).range(1..))]
    pub starts: u64,
    /// Scene file
    #[arg(long, value_name = "FILE", default_value = DEFAULT_SCENE)]
    pub scene: PathBuf,
    /// Robot file
    #[arg(long, value_name = "FILE", default_value = DEFAULT_ROBOT)]
    pub robot: PathBuf,
    /// Print one JSON object on stdout, and everything else on stderr
    #[arg(long)]
    pub json: bool,
    /// Folder of what went wrong [default: runs/UTC-TIME-0]
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
}

/// Arguments of `eval asp-tabletop`.
#[derive(Clone, Debug, Args)]
pub struct AspTabletopArgs {
    /// Tables of each task
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub seeds: u64,
    /// Only tasks whose name contains this text; may be repeated. Doors, knobs, levers and switches are run only when named
    #[arg(long, value_name = "TEXT")]
    pub task: Vec<String>,
    /// Ablation No Aff: every affordance has the cloud of the whole object
    #[arg(long)]
    pub no_aff: bool,
    /// Ablation: the detector makes no errors
    #[arg(long)]
    pub perfect_detector: bool,
    /// How runs are made.
    #[command(flatten)]
    pub runs_made: RunArgs,
}

/// Arguments of `eval asp-mobile`.
#[derive(Clone, Debug, Args)]
pub struct AspMobileArgs {
    /// Rooms of each task
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub seeds: u64,
    /// Only tasks whose name contains this text; may be repeated
    #[arg(long, value_name = "TEXT")]
    pub task: Vec<String>,
    /// Robot file, or a name in config/robots
    #[arg(long, value_name = "FILE", default_value = "config/robots/ranger_xarm6.yaml")]
    pub robot: PathBuf,
    /// Ablation No Aff: go_to does not ask from which side to come (lambda_aff = 0)
    #[arg(long, visible_alias = "no-preference")]
    pub no_aff: bool,
    /// Ablation: the detector makes no errors
    #[arg(long)]
    pub perfect_detector: bool,
    /// Each run has the memory of an earlier session, in which the robot looked round the room
    #[arg(long, value_enum, value_name = "WHICH")]
    pub memory: Option<EarlierRoom>,
    /// How runs are made.
    #[command(flatten)]
    pub runs_made: RunArgs,
}

/// The room that a robot remembers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum EarlierRoom {
    /// As it is now
    Same,
    /// With everything but the furniture elsewhere, as a room of another seed
    Changed,
}

const AFTER_LANGUAGE: &str = "\
A line: {\"scene\": FILE, \"goal\": TEXT, \"want\": {\"outcome\": \"done\"|\"refused\", \"reason\": CODE?, \"facts\": [[\"on\", \"red apple\", \"plate\"]]?,
\"says\": [WORDS]?, \"count\": N?, \"yes\": BOOL?}, \"construction\": NAME?, \"seed\": N?}. Facts are in the names of the scene file: on, in, next_to, left_of, right_of,
in_front_of, behind, between, held, on_table, moved, unmoved, away, open, closed, on_state, off_state, pressed.

The JSON object of --json: runs, right, false_success, ungated_motions, by_construction, and all that `eval tabletop --json` has.";

/// Arguments of `eval language`.
#[derive(Clone, Debug, Args)]
#[command(after_help = AFTER_LANGUAGE)]
pub struct LanguageArgs {
    /// Sentence sets, such as tests/language/seen.jsonl
    #[arg(value_name = "FILE", required = true)]
    pub files: Vec<PathBuf>,
    /// Only lines whose construction contains this text
    #[arg(long, value_name = "TEXT")]
    pub only: Option<String>,
    /// How runs are made.
    #[command(flatten)]
    pub runs_made: RunArgs,
}

const AFTER_EVAL_WORDS: &str = "\
A line: {\"query\": TEXT, \"seen\": [{\"class\": NAME, \"colors\": [WORD]}], \"pages\": [{\"host\": HOST, \"title\": TEXT, \"text\": TEXT}], \"model\": CLASS?,
\"want\": CLASS|null, \"group\": NAME}. No robot and no network: what the witnesses would say stands in the file.

The JSON object of --json: n, right, refused, wrong, groups {NAME: {n, right, refused, wrong}}. Refused is what should have been found and was
not; wrong is a thing that was not meant.";

/// Arguments of `eval words`.
#[derive(Clone, Debug, Args)]
#[command(after_help = AFTER_EVAL_WORDS)]
pub struct EvalWordsArgs {
    /// Files of words, such as tests/language/words_seen.jsonl
    #[arg(value_name = "FILE", required = true)]
    pub files: Vec<PathBuf>,
    /// Ablation: no page and no model is heard
    #[arg(long)]
    pub without_witnesses: bool,
    /// Print one JSON object on stdout, and everything else on stderr
    #[arg(long)]
    pub json: bool,
}

const AFTER_EVAL_READING: &str = "\
Each line is one JSON object:
  {\"goal\": \"take the apple\", \"means\": [\"pick(the apple)\"], \"group\": \"lift\"}
`means` lists the readings that are right, in the notation of the trace (event `understood`); none: the sentence asks for what the
robot cannot do. What is not understood, or refused as something it cannot do, costs nothing; `otherwise` are the sentences for which it
would do something that was not said.";

/// Arguments of `eval reading`.
#[derive(Clone, Debug, Args)]
#[command(after_help = AFTER_EVAL_READING)]
pub struct EvalReadingArgs {
    /// Files of sentences, such as tests/language/calvin.jsonl
    #[arg(value_name = "FILE", required = true)]
    pub files: Vec<PathBuf>,
    /// Print one JSON object on stdout, and everything else on stderr
    #[arg(long)]
    pub json: bool,
}

const AFTER_EVAL_AFFORDANCE: &str = "\
Each sample is a table with one thing that has a part (a bar, knob, button, lever, plug, handle, edge), seen from three poses of the wrist
camera by the imperfect detectors of the simulator; the part's own pixels are the truth. Kinds of things and the three subsets (plain,
hidden, lying) take turns. `sure` is the share that the verifier accepted. A look at another view counts as two calls.";

/// Arguments of `eval affordance`.
#[derive(Clone, Debug, Args)]
#[command(after_help = AFTER_EVAL_AFFORDANCE)]
pub struct EvalAffordanceArgs {
    /// Samples
    #[arg(long, value_name = "N", default_value_t = 84, value_parser = at_least_one)]
    pub samples: usize,
    /// Which kinds of things the samples are about
    #[arg(long, value_enum, default_value_t = Kinds::Known)]
    pub kinds: Kinds,
    /// Samples of known kinds and other seeds that the common-sense bank is made of
    #[arg(long, value_name = "N", default_value_t = 42)]
    pub common: usize,
    /// Seed of the samples
    #[arg(long, value_name = "S", default_value_t = 1)]
    pub seed: u64,
    /// Threads that make samples
    #[arg(long, value_name = "J", default_value_t = 2, value_parser = clap::value_parser!(u32).range(1..=32))]
    pub jobs: u32,
    /// Sweep the verifier's thresholds, the memory's size and the budget, too
    #[arg(long)]
    pub sweep: bool,
    /// Print one JSON object on stdout, and everything else on stderr
    #[arg(long)]
    pub json: bool,
}

const AFTER_EVAL_ARTICULATED: &str = "\
Each thing is drawn by a generator (drawers, doors, chests, knobs; kept back: microwaves, ovens, sliding doors, folding tables, taps). A
simulated depth camera looks at it; then all its parts are moved, three times, with a look after each. The camera does not know exactly
where it is, masks are wrong at their edges, the hand slips. Nothing is pulled in physics: joints are put to positions. After the second
motion the critics judge the right model and ten models with one fault each.";

/// Arguments of `eval articulated`.
#[derive(Clone, Debug, Args)]
#[command(after_help = AFTER_EVAL_ARTICULATED)]
pub struct EvalArticulatedArgs {
    /// Things, the kinds in turn
    #[arg(long, value_name = "N", default_value_t = 36, value_parser = at_least_one)]
    pub things: usize,
    /// Which kinds of things; both when it is not given
    #[arg(long, value_enum)]
    pub kinds: Option<Kinds>,
    /// Seed of the things
    #[arg(long, value_name = "S", default_value_t = 1)]
    pub seed: u64,
    /// Things at a time
    #[arg(long, value_name = "J", default_value_t = 2, value_parser = clap::value_parser!(u32).range(1..=32))]
    pub jobs: u32,
    /// Besides, open so many drawers and doors on the embedded robot, each twice: from scratch, and by a new robot from the description
    /// that the first one kept; takes a minute each
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub reopen: u64,
    /// Speed of those: simulated seconds per wall second; 0 = as fast as the machine can, 10 at most
    #[arg(long, value_name = "X", default_value_t = 3.0, value_parser = super::values::speed)]
    pub speed: f64,
    /// Write each described thing here: NUMBER.urdf, NUMBER.sdf, and NUMBER.json with poses of its links
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Print one JSON object on stdout, and everything else on stderr
    #[arg(long)]
    pub json: bool,
}

const AFTER_EVAL_MEMORY: &str = "\
Each building is drawn by a generator: rooms with furniture and things. A camera is carried through all rooms (six headings at each place);
the imperfect detector of the simulator names what it sees. Sentences tell a thing and a place by colour, room and what is near. R@K is the
share of the views that really show what is meant among the first K; SR@K counts sentences of which both are right among the first K.
Kept-back kinds are another generator (offices with a workshop), another camera and another speaker.";

/// Arguments of `eval memory`.
#[derive(Clone, Debug, Args)]
#[command(after_help = AFTER_EVAL_MEMORY)]
pub struct EvalMemoryArgs {
    /// Buildings
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = at_least_one)]
    pub buildings: usize,
    /// Rooms of each
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = at_least_one)]
    pub rooms: usize,
    /// Views of each, about
    #[arg(long, value_name = "N", default_value_t = 540, value_parser = at_least_one)]
    pub views: usize,
    /// Sentences about each
    #[arg(long, value_name = "N", default_value_t = 84, value_parser = at_least_one)]
    pub instructions: usize,
    /// Which buildings, camera and speaker
    #[arg(long, value_enum, default_value_t = BuildingKinds::Known)]
    pub kinds: BuildingKinds,
    /// The detector makes no errors
    #[arg(long)]
    pub perfect_detector: bool,
    /// Seed of the first building
    #[arg(long, value_name = "S", default_value_t = 1)]
    pub seed: u64,
    /// Buildings at a time
    #[arg(long, value_name = "J", default_value_t = 2, value_parser = clap::value_parser!(u32).range(1..=32))]
    pub jobs: u32,
    /// Show the sentences of which the memory's first view of the target or the place is wrong
    #[arg(long)]
    pub misses: bool,
    /// Then whole errands in rooms, so many seeds of two tasks, without a memory and with that of an earlier session
    #[arg(long, value_name = "SEEDS", conflicts_with = "scale", value_parser = clap::value_parser!(u64).range(1..))]
    pub errands: Option<u64>,
    /// With --errands, simulated seconds per wall second; 0 = as fast as the machine can, 10 at most
    #[arg(long, value_name = "X", default_value_t = 0.0, value_parser = speed, requires = "errands")]
    pub speed: f64,
    /// With --errands, folder of the runs; runs that are finished in it are not repeated [default: runs/UTC-TIME-SEED]
    #[arg(long, value_name = "DIR", requires = "errands")]
    pub out: Option<PathBuf>,
    /// In place of all that, how a store bears so many things: writing, the index, a start, questions, questions beside a writer
    #[arg(long, value_name = "THINGS", value_parser = at_least_one)]
    pub scale: Option<usize>,
    /// With --scale, the store, which must be empty: a file, or postgres://USER@HOST/DATABASE [default: a file that goes with the run]
    #[arg(long, value_name = "STORE", requires = "scale")]
    pub store: Option<String>,
    /// With --scale, questions; each is asked about all buildings and about one
    #[arg(long, value_name = "N", default_value_t = 500, requires = "scale")]
    pub questions: usize,
    /// With --scale, things that are written while others ask
    #[arg(long, value_name = "N", default_value_t = 10_000, requires = "scale")]
    pub writes: usize,
    /// With --scale, write the vectors into this folder, for tests/peers/memory_index.py
    #[arg(long, value_name = "DIR", requires = "scale")]
    pub vectors: Option<PathBuf>,
    /// Print one JSON object on stdout, and everything else on stderr
    #[arg(long)]
    pub json: bool,
}

/// Kinds of buildings, cameras and speakers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum BuildingKinds {
    /// Homes, a head camera, plain commands: those that the memory was made with
    Known,
    /// Offices, a low camera with a wide field, a talkative speaker: those that it was not
    KeptBack,
}

/// Kinds of things with a part to act on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Kinds {
    /// The 14 that the harness was made with
    Known,
    /// Pot, keyboard and pot lid, which it was not
    KeptBack,
}

/// Arguments of `eval libero`.
#[derive(Clone, Debug, Args)]
pub struct LiberoArgs {
    /// Files of tasks, such as libero_object.jsonl
    #[arg(value_name = "FILE", required = true)]
    pub files: Vec<PathBuf>,
    /// Layouts of each task and sentence
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub layouts: u64,
    /// Which sentences are given to the robot
    #[arg(long, value_enum, default_value_t = Sentences::Both)]
    pub language: Sentences,
    /// Only tasks whose file name contains this text
    #[arg(long, value_name = "TEXT")]
    pub only: Option<String>,
    /// How runs are made.
    #[command(flatten)]
    pub runs_made: RunArgs,
}

/// Sentences of a LIBERO task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Sentences {
    /// That of the file
    File,
    /// That which the benchmark shows to a policy
    Benchmark,
    /// Each on its own, where they differ
    Both,
}

/// How the runs of an evaluation are made.
#[derive(Clone, Debug, Args)]
pub struct RunArgs {
    /// Seed of the first run; the next ones have the seeds after it
    #[arg(long, value_name = "S", default_value_t = 1)]
    pub seed: u64,
    /// Graphs that run at once, each in its own ROS domain
    #[arg(long, value_name = "J", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=32))]
    pub jobs: u32,
    /// ROS domain of all runs, one after the other, in which something of your own stands beside them: a real MoveIt with
    /// `--param sim:moveit:=off`, a real Nav2 with `--param sim:nav2:=map`. ROS_DOMAIN_ID is not read: it may be that of a robot
    #[arg(long, value_name = "N", conflicts_with = "jobs", value_parser = domain)]
    pub domain: Option<u16>,
    /// Print one JSON object on stdout, and everything else on stderr
    #[arg(long)]
    pub json: bool,
    /// Folder of the runs; runs that are finished in it are not repeated [default: runs/UTC-TIME-SEED]
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Ablation: the first evidence suffices, every plan is permitted, every outcome is believed
    #[arg(long)]
    pub no_verifier: bool,
    /// Ablation: no second look and no second try
    #[arg(long)]
    pub no_retries: bool,
    /// Somebody interferes in every run, as `demo --disturb` does: push, slip and take by turns
    #[arg(long)]
    pub disturb: bool,
    /// In every run a plan is made first, and counted is whether it foretold how the goal ends, and what it took
    #[arg(long)]
    pub plan_first: bool,
    /// ROS parameter of a node in every run, as `agent:settings:=FILE`; may be repeated
    #[arg(long = "param", value_name = "NODE:NAME:=VALUE", value_parser = node_parameter)]
    pub params: Vec<(NodeName, String)>,
    /// Keep pictures and logs only of runs that went wrong
    #[arg(long)]
    pub keep_failures: bool,
    /// Simulated seconds per wall second; 0 = as fast as the machine can, 10 at most
    #[arg(long, value_name = "X", default_value_t = 0.0, value_parser = speed)]
    pub speed: f64,
}

impl RunArgs {
    /// One graph at a time, nothing left out, for an evaluation that names no folder itself.
    pub fn plain(seed: u64, speed: f64, json: bool) -> Self {
        Self {
            seed,
            jobs: 1,
            domain: None,
            json,
            out: None,
            no_verifier: false,
            no_retries: false,
            disturb: false,
            plan_first: false,
            params: Vec::new(),
            keep_failures: false,
            speed,
        }
    }
}

impl TabletopArgs {
    /// How hard the scenes are.
    pub fn scene_conditions(&self) -> Conditions {
        match (self.perfect_detector, self.hard) {
            (true, _) => Conditions::Perfect,
            (false, true) => Conditions::Hard,
            (false, false) => Conditions::Imperfect,
        }
    }
}

fn at_least_one(text: &str) -> Result<usize, String> {
    text.parse()
        .ok()
        .filter(|number| *number > 0)
        .ok_or_else(|| "a whole number from 1 on is needed".to_owned())
}
