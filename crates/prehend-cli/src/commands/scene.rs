//! `prehend scene`: says what is wrong in scene files, draws them, and makes frames of random tables and worlds for Gazebo.

mod frames;
mod sdf;

use super::robot_for;
use crate::args::{DEFAULT_ROBOT, SceneCommand};
use crate::outcome::exit;
use crate::screen::Screen;
use prehend_nodes::{RobotConfig, share};
use prehend_sim::sensors::{Stage, overview_view_of, view_png};
use prehend_sim::world::ArmModel;
use prehend_sim::{PlacedScene, Scene, World};
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
        SceneCommand::Check { files } => {
            let wrong = files.iter().filter(|file| !is_valid(file)).count();
            if wrong == 0 { exit::DONE } else { exit::FAILED }
        }
        SceneCommand::Frames(args) => match frames::run(&args) {
            Ok(()) => exit::DONE,
            Err(message) => {
                eprintln!("{message}");
                exit::FAILED
            }
        },
        SceneCommand::ToSdf(args) => match sdf::run(&args) {
            Ok(()) => exit::DONE,
            Err(message) => {
                eprintln!("{message}");
                exit::FAILED
            }
        },
        SceneCommand::Show { file, out, seed } => match show(&file, &out, seed) {
            Ok(()) => {
                Screen::new(false).line(format!("{}", out.display()));
                exit::DONE
            }
            Err(message) => {
                eprintln!("{message}");
                exit::FAILED
            }
        },
    }
}

/// Reads a scene and places its objects as the sim will.
pub(super) fn load(path: &Path, seed: u64) -> Result<PlacedScene, SceneError> {
    let path = share::resolve(path);
    let scene = Scene::load(&path)?;
    scene.instantiate(seed).map_err(|error| SceneError::Place { path, error })
}

fn is_valid(file: &Path) -> bool {
    match load(file, 1) {
        Ok(placed) => {
            Screen::new(false).line(format!("{}: valid, {} objects", file.display(), placed.objects.len()));
            true
        }
        Err(error) => {
            eprintln!("{error}");
            false
        }
    }
}

fn show(file: &Path, out: &Path, seed: u64) -> Result<(), String> {
    let placed = load(file, seed).map_err(|error| error.to_string())?;
    let png = draw(&placed)?;
    std::fs::write(out, png).map_err(|error| format!("cannot write {}: {error}", out.display()))
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
    let model = ArmModel::from_urdf_with(&urdf, &robot.link_names()).map_err(|error| error.to_string())?;
    World::new(placed, &model, &robot.home).map_err(|error| error.to_string())
}
