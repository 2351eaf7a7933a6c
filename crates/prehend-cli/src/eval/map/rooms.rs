//! `prehend eval map --rooms`: the map that a tour makes of a room, thing by thing, against the truth.

use crate::args::map::EvalMapArgs;
use crate::screen::{Screen, print_json};
use prehend_config::share;
use prehend_eval::rooms::{Explorer, Figures, Found, Kind, tour};
use prehend_geometry::stats::wilson95;
use prehend_perception::RoomSettings;
use prehend_robots::RobotConfig;
use prehend_sim::world::ArmModel;
use serde_json::json;

/// The pose of the arm from which the robot looks into a room.
const LEVEL: &str = "tour";

pub(super) fn run(kinds: &[(Kind, &str)], args: &EvalMapArgs, screen: &Screen) -> Result<(), String> {
    let explorer = explorer(args)?;
    let scenes = share::share_dir().join("config/scenes");
    let mut all = Vec::new();
    for (kind, name) in kinds {
        let mut sum = Figures::default();
        let mut rooms = Vec::new();
        for seed in args.seed..args.seed.saturating_add(args.seeds) {
            let toured = tour(&explorer, &scenes, *kind, seed)?;
            let found = toured.judge(&toured.map(RoomSettings::default())?);
            show(name, seed, &found, screen);
            sum = sum.plus(found.figures);
            rooms.push(json!({ "seed": seed, "found": found }));
        }
        all.push((*name, sum, rooms));
    }
    screen.line("");
    let mut rows = vec![
        ["rooms", "things right", "missing", "twice", "other name", "of nothing", "drawers", "rooms right"]
            .map(str::to_owned),
    ];
    rows.extend(all.iter().map(|(name, sum, _)| row(name, sum)));
    screen.table(&rows);
    screen.line(format!(
        "{} rooms of each kind, seeds from {}, {}; asked for is what a stop of the tour shows with {} pixels; Wilson 95 %",
        args.seeds,
        args.seed,
        args.robot.display(),
        prehend_eval::rooms::SEEN
    ));
    if args.json {
        let kinds: Vec<_> = all
            .iter()
            .map(|(name, sum, rooms)| json!({ "kind": name, "sum": sum, "rooms": rooms }))
            .collect();
        print_json(&json!({ "seed": args.seed, "robot": args.robot, "kinds": kinds }));
    }
    Ok(())
}

/// The robot that looks.
fn explorer(args: &EvalMapArgs) -> Result<Explorer, String> {
    let robot = RobotConfig::load(&args.robot).map_err(|error| error.to_string())?;
    let stays = || format!("`{}` does not drive: name a robot that does", args.robot.display());
    let navigation = robot.navigation.as_ref().ok_or_else(stays)?;
    let text =
        std::fs::read_to_string(&robot.urdf).map_err(|error| format!("{}: {error}", robot.urdf.display()))?;
    let arm = ArmModel::from_urdf_with(&text, &prehend_sim_node::link_names(&robot))
        .map_err(|error| format!("{}: {error}", robot.urdf.display()))?;
    let level = robot.looks.iter().find(|(name, _)| name == LEVEL).map(|(_, joints)| joints);
    Ok(Explorer {
        arm,
        level: level.unwrap_or(&robot.home).clone(),
        footprint: navigation.footprint.clone(),
        facing: navigation.facing,
    })
}

/// What is not right in a room.
fn show(kind: &str, seed: u64, found: &Found, screen: &Screen) {
    let Figures { things, right, .. } = found.figures;
    screen.line(format!("{kind} {seed}: {right} of {things} right, {} stops", found.stops));
    for fate in found.fates.iter().filter(|fate| !(fate.placed && fate.named)) {
        let objects: Vec<String> =
            fate.objects.iter().map(|(key, off)| format!("{key} ({:.0} mm off)", off * 1e3)).collect();
        let what = if objects.is_empty() { "nothing".to_owned() } else { objects.join(", ") };
        screen.line(format!("  {}, {} pixels: {what}", fate.name, fate.pixels));
    }
    for (key, near) in &found.extra {
        let near = if near.is_empty() { "nothing" } else { near };
        screen.line(format!("  {key}: of {near}"));
    }
}

fn row(name: &str, figures: &Figures) -> [String; 8] {
    let Figures { things, missing, twice, right, misnamed, extra, panels, panels_right, rooms, whole } =
        *figures;
    let [low, high] = wilson95(right, things).map(|share| share * 100.0);
    let percent = 100.0 * right as f64 / things.max(1) as f64;
    [
        name.to_owned(),
        format!("{right} of {things}, {percent:.1} % ({low:.1} to {high:.1})"),
        missing.to_string(),
        twice.to_string(),
        misnamed.to_string(),
        extra.to_string(),
        format!("{panels_right} of {panels}"),
        format!("{whole} of {rooms}"),
    ]
}
