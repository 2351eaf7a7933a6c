//! `prehend scene`: says what is wrong in scene files, and draws them.

use crate::args::SceneCommand;
use crate::outcome::exit;
use crate::screen::Screen;
use prehend_nodes::share;
use prehend_sim::Scene;
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
pub(super) fn load(path: &Path, seed: u64) -> Result<prehend_sim::PlacedScene, SceneError> {
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

fn draw(_placed: &prehend_sim::PlacedScene) -> Result<Vec<u8>, String> {
    Err("not there yet".to_owned())
}
