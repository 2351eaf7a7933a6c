//! `prehend memory`: what is remembered of buildings, read from its store.

use crate::args::{MemoryArgs, MemoryCommand};
use crate::outcome::exit;
use crate::screen::{Paint, Progress, Screen, print_json};
use prehend_agent::language::Lexicon;
use prehend_config::share;
use prehend_memory::ask::Asker;
use prehend_memory::store::{self, EpisodeFilter, Forget};
use prehend_memory::{Action, Asked, Found, Memory, MemoryError, Settings, StoreError};
use prehend_nodes::memory::encoder;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

/// Vectors that go into the index at a time.
const INDEXED: usize = 2_000;
/// Most episodes of an export.
const ALL: usize = 1_000_000;

pub(super) fn run(args: &MemoryArgs) -> u8 {
    match carry_out(args) {
        Ok(code) => code,
        Err(message) => {
            eprintln!("{message}");
            exit::BAD_INPUT
        }
    }
}

fn now() -> f64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, |since| since.as_secs_f64())
}

fn carry_out(args: &MemoryArgs) -> Result<u8, String> {
    let is_file = !args.store.starts_with("postgres");
    if is_file && !Path::new(&args.store).exists() {
        return Err(format!(
            "there is no memory {}; `prehend demo --memory {}` in a room makes one, --store names another",
            args.store, args.store
        ));
    }
    let mut language = Lexicon::built_in();
    language.tables_are_things = true;
    let mut memory = open(args, &language)?;
    let screen = Screen::new(args.json);
    let said = |error: MemoryError| error.to_string();
    match &args.command {
        MemoryCommand::Query { text, action, k, pictures } => {
            let action =
                action.as_deref().map(Action::parse).transpose().map_err(|error| error.to_string())?;
            let asker = Asker {
                building: args.building.clone(),
                robot: String::new(),
                now: now(),
                action,
                k: *k as usize,
            };
            let answers = memory.ask(text, &language, &asker, &Settings::default()).map_err(said)?;
            query(&mut memory, &answers, *k as usize, pictures.as_deref(), args, screen)
        }
        MemoryCommand::List => list(&mut memory, args, screen).map_err(said),
        MemoryCommand::Episodes { most } => {
            let filter =
                EpisodeFilter { building: args.building.clone(), most: *most, ..EpisodeFilter::default() };
            let episodes = memory.episodes(&filter).map_err(said)?;
            for episode in &episodes {
                let how =
                    if episode.done { "went well".to_owned() } else { format!("failed: {}", episode.reason) };
                let onto = if episode.target.is_empty() {
                    String::new()
                } else {
                    format!(" on the {}", episode.target)
                };
                let what = format!("{} {}{onto}", episode.action.name(), episode.object);
                screen.line(format!("{}  {}  {what}  {how}", ago(episode.at), episode.robot));
            }
            if args.json {
                print_json(&episodes);
            } else if episodes.is_empty() {
                screen.line("nothing was done yet");
            }
            Ok(exit::DONE)
        }
        MemoryCommand::Forget { thing, all, robot, older_than } => {
            let what = match (thing, *all, robot, older_than) {
                (Some(thing), ..) => Forget::Thing(*thing),
                (_, true, ..) => Forget::Building(args.building.clone().unwrap_or_default()),
                (_, _, Some(robot), _) => Forget::Robot(robot.clone()),
                (_, _, _, Some(days)) if days.is_finite() && *days >= 0.0 => {
                    Forget::Before(now() - days * 86_400.0)
                }
                _ => {
                    return Err(
                        "say what: --thing ID, --all --building NAME, --robot NAME or --older-than DAYS"
                            .to_owned(),
                    );
                }
            };
            let gone = memory.forget(&what).map_err(said)?;
            screen.line(format!("{gone} records are forgotten"));
            if args.json {
                print_json(&json!({ "forgotten": gone }));
            }
            Ok(if gone > 0 { exit::DONE } else { exit::FAILED })
        }
        MemoryCommand::Index => {
            let mut left = memory.index(INDEXED).map_err(said)?;
            if left > 0 {
                let progress = Progress::new("vector", left);
                let all = left;
                while left > 0 {
                    left = memory.index(INDEXED).map_err(said)?;
                    progress.show(all - left.min(all));
                }
                progress.end();
            }
            screen.line("everything is in the index, or needs none");
            if args.json {
                print_json(&json!({ "left": 0 }));
            }
            Ok(exit::DONE)
        }
        MemoryCommand::Export => {
            print_json(&export(&mut memory, args).map_err(said)?);
            Ok(exit::DONE)
        }
    }
}

fn open(args: &MemoryArgs, language: &Lexicon) -> Result<Memory, String> {
    let words = share::resolve(Path::new("config/language/synonyms.yaml"));
    let names = prehend_perception::Lexicon::load(&words).map_err(|findings| findings.to_string())?;
    let store = store::open(&args.store).map_err(|error| error.to_string())?;
    let models = share::resolve(Path::new("config/models.yaml"));
    let encoder = encoder::open(&args.encoder, &models, names.clone()).map_err(|error| error.to_string())?;
    Memory::new(store, Box::new(encoder), names, language.rooms.clone()).map_err(|error| match error {
        StoreError::OtherSpace { .. } => format!("{error} (--encoder names one)"),
        error => error.to_string(),
    })
}

/// How long ago something was, for people.
fn ago(at: f64) -> String {
    let seconds = (now() - at).max(0.0);
    match seconds {
        ..90.0 => format!("{seconds:.0} s ago"),
        ..5_400.0 => format!("{:.0} min ago", seconds / 60.0),
        ..129_600.0 => format!("{:.0} h ago", seconds / 3_600.0),
        _ => format!("{:.0} days ago", seconds / 86_400.0),
    }
}

fn query(
    memory: &mut Memory,
    answers: &[Asked],
    k: usize,
    pictures: Option<&Path>,
    args: &MemoryArgs,
    screen: Screen,
) -> Result<u8, String> {
    let mut told: Vec<Value> = Vec::new();
    let mut is_found = !answers.is_empty();
    for asked in answers {
        let role = if asked.is_receptacle { "receptacle" } else { "target" };
        screen.line(screen.paint(Paint::Cyan, &format!("{role}: {}", asked.what.words)));
        let things: Vec<&Found> =
            asked.answer.things.iter().filter(|found| found.is_answer()).take(k).collect();
        if things.is_empty() {
            is_found = false;
            screen.line("  nothing that is remembered fits");
        }
        for found in things {
            let [x, y, z] = found.thing.place.center;
            let room = found.room.as_deref().map_or(String::new(), |room| format!(", {room}"));
            screen.line(format!(
                "  {:.2}  {} (thing {}) at [{x:.2}, {y:.2}, {z:.2}] in {}{room}, seen {}",
                found.fits,
                found.thing.words(),
                found.thing.id,
                found.thing.building,
                ago(found.thing.last_seen)
            ));
            screen.line(screen.paint(Paint::Dim, &format!("        {}", found.why)));
            let picture = match pictures {
                Some(folder) => picture(memory, found, folder, screen)?,
                None => None,
            };
            told.push(json!({
                "role": role, "id": found.thing.id, "words": found.thing.words(), "building": found.thing.building,
                "room": found.room, "center": found.thing.place.center, "size": found.thing.place.size,
                "fits": found.fits, "can": found.can, "still_there": found.still_there,
                "last_seen": found.thing.last_seen, "why": found.why, "views": found.views, "picture": picture,
            }));
        }
    }
    if args.json {
        print_json(&told);
    }
    Ok(if is_found { exit::DONE } else { exit::FAILED })
}

/// Writes the best view that has a picture; where.
fn picture(
    memory: &mut Memory,
    found: &Found,
    folder: &Path,
    screen: Screen,
) -> Result<Option<String>, String> {
    for view in &found.views {
        let Some(bytes) = memory.store().picture(*view).map_err(|error| error.to_string())? else { continue };
        let path = folder.join(format!("thing_{}_view_{view}.png", found.thing.id));
        let written = std::fs::create_dir_all(folder).and_then(|()| std::fs::write(&path, bytes));
        written.map_err(|error| format!("cannot write {}: {error}", path.display()))?;
        screen.line(format!("        {}", path.display()));
        return Ok(Some(path.display().to_string()));
    }
    Ok(None)
}

/// Names of the buildings that are asked for.
fn buildings(memory: &mut Memory, args: &MemoryArgs) -> Result<Vec<String>, MemoryError> {
    for building in memory.store().unsummarised()? {
        memory.summarise(&building)?;
    }
    let all = memory.store().buildings()?.into_iter().map(|area| area.building);
    Ok(all.filter(|name| args.building.as_ref().is_none_or(|wanted| wanted == name)).collect())
}

fn list(memory: &mut Memory, args: &MemoryArgs, screen: Screen) -> Result<u8, MemoryError> {
    let counts = memory.counts()?;
    screen.line(format!(
        "{} buildings, {} views, {} things, {} episodes",
        counts.buildings, counts.views, counts.things, counts.episodes
    ));
    let mut told = Vec::new();
    for building in buildings(memory, args)? {
        screen.line(screen.paint(Paint::Cyan, &building));
        let areas = memory.store().areas_of(&building)?;
        for area in areas.iter().filter(|area| area.level == 5) {
            screen.line(format!(
                "  {} views around [{:.1}, {:.1}]: {}",
                area.views, area.center[0], area.center[1], area.summary
            ));
            told.push(json!({ "building": building, "room": area.room, "views": area.views, "center": area.center, "summary": area.summary }));
        }
    }
    if args.json {
        print_json(&json!({
            "buildings": counts.buildings, "views": counts.views, "things": counts.things,
            "episodes": counts.episodes, "areas": told,
        }));
    }
    Ok(exit::DONE)
}

fn export(memory: &mut Memory, args: &MemoryArgs) -> Result<Value, MemoryError> {
    let mut all = BTreeMap::new();
    for building in buildings(memory, args)? {
        let store = memory.store();
        let things = store.things_of(&building)?;
        let mut sightings = Vec::new();
        for thing in &things {
            sightings.extend(store.sightings_of(thing.id)?);
        }
        let (areas, views) = (store.areas_of(&building)?, store.views_of(&building)?);
        all.insert(
            building,
            json!({ "areas": areas, "views": views, "things": things, "sightings": sightings }),
        );
    }
    let filter = EpisodeFilter { building: args.building.clone(), most: ALL, ..EpisodeFilter::default() };
    Ok(json!({ "buildings": all, "episodes": memory.episodes(&filter)? }))
}
