//! What `prehend` can do, one file each.

mod approve;
mod ask;
mod bag;
mod demo;
mod describe;
mod detect;
mod doctor;
mod explain;
mod init;
mod map;
mod mcp;
mod memory;
mod models;
mod node;
mod pages;
mod plan;
mod record;
mod replay;
mod scene;
mod serve;
mod up;
mod view;
mod words;

use crate::args::{Cli, Command, EvalCommand, GraphArgs};
use crate::domain::Purpose;
use crate::graph::{GraphError, GraphOptions};
use crate::inputs::{absolute, has_room, robot_file, robot_for};
use crate::node::NodeName;
use crate::outcome::exit;
use prehend_config::Findings;
use prehend_scene::furniture::{self, Vocabulary};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// Words for drawers and doors, below the share folder.
const VOCABULARY: &str = "config/language/furniture.yaml";

/// Makes the deployment's words for drawers and doors those of this process; without the file the built-in ones are.
fn take_vocabulary() -> Result<(), Findings> {
    let path = prehend_config::share::share_dir().join(VOCABULARY);
    if path.is_file() && !furniture::install(Vocabulary::load(&path)?) {
        tracing::warn!("{} came too late: other words for drawers and doors are in use", path.display());
    }
    Ok(())
}

/// Runs the command; gives the exit code of the process.
pub async fn run(cli: Cli) -> u8 {
    if let Err(findings) = take_vocabulary() {
        eprintln!("{findings}");
        return exit::BAD_INPUT;
    }
    match cli.command {
        Command::Demo(args) => demo::run(args).await,
        Command::Up(args) => up::run(args).await,
        Command::Goal(args) => ask::goal(args).await,
        Command::Approve(args) => approve::run(args).await,
        Command::State(args) => ask::state(args).await,
        Command::Map(args) => map::run(*args).await,
        Command::View(args) => view::run(args).await,
        Command::Describe(args) => describe::run(args).await,
        Command::Stop(args) => ask::stop(args).await,
        Command::Scene(command) => scene::run(command),
        Command::Eval(EvalCommand::Tabletop(args)) => crate::eval::tabletop(args).await,
        Command::Eval(EvalCommand::AspTabletop(args)) => crate::eval::asp_tabletop(args).await,
        Command::Eval(EvalCommand::AspMobile(args)) => crate::eval::asp_mobile(args).await,
        Command::Eval(EvalCommand::Libero(args)) => crate::eval::libero(args).await,
        Command::Eval(EvalCommand::Day(args)) => crate::eval::day(args).await,
        Command::Eval(EvalCommand::Language(args)) => crate::eval::language(args).await,
        Command::Eval(EvalCommand::Words(args)) => crate::eval::words(&args),
        Command::Eval(EvalCommand::Affordance(args)) => crate::eval::affordance(&args),
        Command::Eval(EvalCommand::Articulated(args)) => crate::eval::articulated(&args).await,
        Command::Eval(EvalCommand::Memory(args)) => crate::eval::memory(args).await,
        Command::Eval(EvalCommand::Reading(args)) => crate::eval::reading(&args),
        Command::Eval(EvalCommand::Starts(args)) => crate::eval::starts(args).await,
        Command::Eval(EvalCommand::Map(args)) => crate::eval::map(args),
        Command::Detect(args) => detect::run(&args),
        Command::Memory(args) => memory::run(&args),
        Command::Words(args) => words::run(args).await,
        Command::Doctor(args) if args.models => models::run(&args.which, args.json),
        Command::Doctor(args) if args.graph => doctor::graph::run(&args).await,
        Command::Doctor(args) if args.llm => doctor::llm::run(&args).await,
        Command::Doctor(args) => doctor::run(args.json),
        Command::Record(args) => record::run(args).await,
        Command::Bag(command) => bag::run(command).await,
        Command::Explain(args) => explain::run(&args),
        Command::Init(args) => init::run(&args),
        Command::Completions(args) => pages::completions(&args),
        Command::Man(args) => pages::man(&args),
        Command::Replay(args) => replay::run(args).await,
        Command::Mcp(args) => mcp::run(args).await,
        Command::Serve(args) => serve::run(args).await,
        Command::Node(args) => node::run(args).await,
    }
}

/// The parameters that switch the detector's errors off.
fn perfect_detector() -> (NodeName, String) {
    (NodeName::Sim, "detector:=perfect".to_owned())
}

fn graph_options(
    args: &GraphArgs,
    speed: f64,
    purpose: Purpose,
    logs: PathBuf,
) -> std::io::Result<GraphOptions> {
    let mut overrides: BTreeMap<NodeName, Vec<String>> = BTreeMap::new();
    let perfect = args.perfect_detector.then(perfect_detector);
    let memory =
        args.memory.iter().map(|store| (NodeName::Memory, format!("store:={}", absolute_store(store))));
    let describer = args.describer.as_ref().map(|folder| {
        let folder = std::path::absolute(folder).unwrap_or_else(|_| folder.clone());
        (NodeName::Describer, format!("store:={}", folder.display()))
    });
    for (node, parameter) in args.params.iter().cloned().chain(perfect).chain(memory).chain(describer) {
        overrides.entry(node).or_default().push(parameter);
    }
    Ok(GraphOptions {
        program: std::env::current_exe()?,
        robot: robot_file(&robot_for(&args.robot, has_room(&args.scene))),
        scene: absolute(&args.scene),
        seed: args.seed,
        speed,
        overrides,
        arguments: args.ros.arguments().map_err(std::io::Error::other)?,
        purpose,
        without: Vec::new(),
        also: [
            args.memory.as_ref().map(|_| NodeName::Memory),
            args.describer.as_ref().map(|_| NodeName::Describer),
        ]
        .into_iter()
        .flatten()
        .collect(),
        restart: true,
        logs,
    })
}

/// The store of a memory as a child finds it, whatever its working folder.
fn absolute_store(store: &str) -> String {
    match store.starts_with("postgres") {
        true => store.to_owned(),
        false => {
            std::path::absolute(store).map_or_else(|_| store.to_owned(), |path| path.display().to_string())
        }
    }
}

/// Exit code for a graph that did not come up.
fn start_code(error: &GraphError) -> u8 {
    match error {
        GraphError::Domain(_) | GraphError::Robot(_) => exit::BAD_INPUT,
        GraphError::Interrupted => exit::INTERRUPTED,
        GraphError::Supervisor(_)
        | GraphError::Ros(_)
        | GraphError::NoJudge
        | GraphError::NotReady { .. }
        | GraphError::Died { .. } => exit::NOT_READY,
    }
}
