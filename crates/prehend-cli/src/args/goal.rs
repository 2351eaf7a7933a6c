//! Commands that speak to a graph that runs.

use super::values::positive;
use super::{DEFAULT_ROBOT, RosOptions};
use clap::Args;
use std::path::PathBuf;

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
