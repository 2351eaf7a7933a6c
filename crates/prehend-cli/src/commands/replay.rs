//! `prehend replay`: would the nodes decide the same again?

use crate::args::record::ReplayArgs;
use crate::inputs::robot_file;
use crate::interrupt::Interrupt;
use crate::node::NodeName;
use crate::outcome::exit;
use crate::recording;
use crate::replay::compare::{self, Row};
use crate::replay::story::Story;
use crate::replay::{self, Options, ReplayError};
use crate::run_folder::{recording_at, utc};
use crate::screen::{Paint, Screen, print_json};
use prehend_robots::RobotConfig;
use serde_json::json;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

pub(super) async fn run(args: ReplayArgs) -> u8 {
    let screen = Screen::new(args.json);
    let mut interrupt = Interrupt::new(args.supervised);
    let played = tokio::select! {
        played = play(&args, &screen) => played,
        () = interrupt.raised() => return exit::INTERRUPTED,
    };
    match played {
        Ok(is_same) => {
            if is_same {
                exit::DONE
            } else {
                exit::FAILED
            }
        }
        Err(error) => {
            eprintln!("{error}");
            match error {
                ReplayError::Container(_) | ReplayError::Nothing(_) | ReplayError::Robot(_) => {
                    exit::BAD_INPUT
                }
                _ => exit::NOT_READY,
            }
        }
    }
}

/// Whether everything came out the same.
async fn play(args: &ReplayArgs, screen: &Screen) -> Result<bool, ReplayError> {
    let bag = recording_at(&args.recording).map_err(|error| ReplayError::Nothing(error.to_string()))?;
    let notes = prehend_bags::notes(&bag)?;
    let noted = notes.get(recording::ROBOT).map(PathBuf::from);
    let file = args.robot.clone().or(noted).unwrap_or_else(|| PathBuf::from(crate::args::DEFAULT_ROBOT));
    let robot_file = robot_file(&file);
    let robot = RobotConfig::load(&robot_file)?;
    let (path, partial) = (bag.clone(), args.partial);
    let reading =
        tokio::task::spawn_blocking(move || Story::read(&path, &robot, partial).map(|story| (story, robot)));
    let (story, robot) = reading.await.map_err(|error| ReplayError::Nothing(error.to_string()))??;
    if let Some(damage) = &story.damage {
        screen.line(screen.paint(Paint::Yellow, &format!("only a part is replayed: {damage}")));
    }
    let lacks = story.lacks();
    if !lacks.is_empty() {
        return Err(ReplayError::Nothing(format!(
            "{} cannot be replayed: it has {} (see `prehend record --help` for what a replay needs)",
            bag.display(),
            lacks.join(", ")
        )));
    }
    if story.torn > 0 {
        let line = format!(
            "{} of the {} frames that were taken were not recorded whole and are left out: what comes after them may differ for that reason",
            story.torn,
            story.torn + story.frames.len()
        );
        screen.line(screen.paint(Paint::Yellow, &line));
    }
    let logs = logs_of(args)?;
    let program = std::env::current_exe().map_err(|error| ReplayError::Nothing(error.to_string()))?;
    let mut parameters: BTreeMap<NodeName, Vec<String>> = BTreeMap::new();
    for (node, parameter) in args.params.iter().cloned() {
        parameters.entry(node).or_default().push(parameter);
    }
    let options = Options { program, robot: robot_file, parameters, logs };
    let mut all: Vec<Row> = Vec::new();
    screen.line("perception: the frames that were taken into the map, one by one");
    let rows = replay::perception(&story, &options).await?;
    compare::tell(&rows, screen);
    all.extend(rows);
    if robot.navigation.is_some() {
        screen.line("the goal is not replayed: on a robot that drives only perception is");
    } else {
        match replay::goal(&story, &options).await? {
            Some(played) => {
                screen.line(format!("goal: {}, up to the first motion", played.goal));
                compare::tell(&played.rows, screen);
                screen.line(format!("{} motion(s) asked for in the replay and refused", played.refused));
                all.extend(played.rows);
            }
            None => screen.line("no goal was recorded from its beginning"),
        }
    }
    let [same, different, missing, new] = compare::counts(&all);
    let is_same = different + missing + new == 0;
    let word = if is_same { "same" } else { "not the same" };
    let paint = if is_same { Paint::Green } else { Paint::Red };
    screen.line(format!(
        "{}: {same} decisions the same, {different} different, {missing} missing, {new} new; logs: {}",
        screen.paint(paint, word),
        options.logs.display()
    ));
    if args.json {
        print_json(&json!({
            "same": same,
            "different": different,
            "missing": missing,
            "new": new,
            "decisions": all.iter().map(compare::as_json).collect::<Vec<_>>(),
            "logs": options.logs,
        }));
    }
    Ok(is_same)
}

/// Where the nodes of the replay write their logs.
fn logs_of(args: &ReplayArgs) -> Result<PathBuf, ReplayError> {
    let folder = match &args.logs {
        Some(folder) => folder.clone(),
        None => Path::new("runs").join(format!("{}-replay", utc(SystemTime::now()))),
    };
    let failed = |error: std::io::Error| ReplayError::Nothing(format!("{}: {error}", folder.display()));
    let folder = std::path::absolute(&folder).map_err(failed)?;
    std::fs::create_dir_all(&folder).map_err(failed)?;
    Ok(folder)
}
