//! `prehend scene`: says what is wrong in scene files, draws them, and makes frames of random tables and worlds for Gazebo.

mod frames;
mod sdf;

use crate::args::{DEFAULT_ROBOT, SceneCommand};
use crate::inputs::robot_for;
use crate::outcome::exit;
use crate::screen::{Screen, print_json};
use prehend_config::share;
use prehend_robots::RobotConfig;
use prehend_sim::sensors::{Stage, overview_view_of, view_png};
use prehend_sim::world::ArmModel;
use prehend_sim::{PlacedScene, Scene, World};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// Why a scene cannot be used.
#[derive(Debug, thiserror::Error)]
pub(super) enum SceneError {
    /// The file is wrong.
    #[error("{0}")]
    File(#[from] prehend_config::Findings),
    /// Its objects find no room.
    #[error("{}: {error}", path.display())]
    Place {
        /// The scene file.
        path: PathBuf,
        /// Which object.
        error: prehend_sim::scene::PlaceError,
    },
}

pub(super) fn run(command: SceneCommand) -> u8 {
    match command {
        SceneCommand::Check { files, json } => check(&files, json),
        SceneCommand::Frames(args) => told(frames::run(&args), args.json),
        SceneCommand::ToSdf(args) => told(sdf::run(&args), args.json),
        SceneCommand::Show { file, out, seed, json } => told(show(&file, &out, seed), json),
    }
}

/// What was made, in words and as a JSON object.
struct Made {
    words: String,
    json: Value,
}

fn told(made: Result<Made, String>, json: bool) -> u8 {
    match made {
        Ok(made) => {
            if json {
                print_json(&made.json);
            } else {
                Screen::new(false).line(made.words);
            }
            exit::DONE
        }
        Err(message) => {
            eprintln!("{message}");
            exit::FAILED
        }
    }
}

/// Reads a scene and places its objects as the sim will.
pub(super) fn load(path: &Path, seed: u64) -> Result<PlacedScene, SceneError> {
    let path = share::resolve(path);
    let scene = Scene::load(&path)?;
    scene.instantiate(seed).map_err(|error| SceneError::Place { path, error })
}

fn check(files: &[PathBuf], json: bool) -> u8 {
    let checked: Vec<_> = files.iter().map(|file| (file, load(file, 1))).collect();
    for (file, loaded) in &checked {
        match loaded {
            Ok(_) if json => {}
            Ok(placed) => Screen::new(false).line(format!(
                "{}: valid, {} objects",
                file.display(),
                placed.objects.len()
            )),
            Err(error) => eprintln!("{error}"),
        }
    }
    if json {
        let rows = checked.iter().map(|(file, loaded)| {
            json!({
                "file": file,
                "valid": loaded.is_ok(),
                "objects": loaded.as_ref().ok().map(|placed| placed.objects.len()),
                "error": loaded.as_ref().err().map(ToString::to_string),
            })
        });
        print_json(&json!({ "files": rows.collect::<Vec<_>>() }));
    }
    if checked.iter().all(|(_, loaded)| loaded.is_ok()) { exit::DONE } else { exit::FAILED }
}

fn show(file: &Path, out: &Path, seed: u64) -> Result<Made, String> {
    let placed = load(file, seed).map_err(|error| error.to_string())?;
    let png = draw(&placed)?;
    std::fs::write(out, png).map_err(|error| format!("cannot write {}: {error}", out.display()))?;
    let json = json!({ "out": out, "scene": placed.scene.name, "objects": placed.objects.len() });
    Ok(Made { words: out.display().to_string(), json })
}

/// The scene from outside, with the robot at home and everything at rest.
fn draw(placed: &PlacedScene) -> Result<Vec<u8>, String> {
    let robot = RobotConfig::load(&robot_for(Path::new(DEFAULT_ROBOT), placed.scene.room.is_some()))
        .map_err(|error| error.to_string())?;
    let world = world_of(placed, &robot)?;
    let stage = Stage::new(&world.render_items()).map_err(|error| error.to_string())?;
    let drawables = stage.drawables(&world.frame()).map_err(|error| error.to_string())?;
    view_png(&drawables, &overview_view_of(&placed.scene)).map_err(|error| error.to_string())
}

/// The scene with a robot at home, at rest.
fn world_of(placed: &PlacedScene, robot: &RobotConfig) -> Result<World, String> {
    let urdf = std::fs::read_to_string(&robot.urdf)
        .map_err(|error| format!("cannot read {}: {error}", robot.urdf.display()))?;
    let model = ArmModel::from_urdf_with(&urdf, &prehend_sim_node::link_names(robot))
        .map_err(|error| error.to_string())?;
    World::new(placed, &model, &robot.home).map_err(|error| error.to_string())
}
