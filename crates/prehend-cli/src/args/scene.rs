//! `prehend scene`.

use super::gazebo::ToSdfArgs;
use super::map::FramesArgs;
use clap::Subcommand;
use std::path::PathBuf;

/// What `scene` can do.
#[derive(Debug, Subcommand)]
pub enum SceneCommand {
    /// Say everything that is wrong in scene files
    Check {
        /// Scene files
        #[arg(required = true, value_name = "FILE")]
        files: Vec<PathBuf>,
        /// Print one JSON object on stdout: files, each with valid, objects and the error
        #[arg(long)]
        json: bool,
    },
    /// Draw a scene from outside
    Show {
        /// Scene file
        #[arg(value_name = "FILE")]
        file: PathBuf,
        /// Picture to write
        #[arg(long, value_name = "PNG")]
        out: PathBuf,
        /// Seed of the places drawn at random
        #[arg(long, value_name = "N", default_value_t = 1)]
        seed: u64,
        /// Print one JSON object on stdout
        #[arg(long)]
        json: bool,
    },
    /// Write keyframes of a random table with their truth, as recordings are kept
    Frames(FramesArgs),
    /// Write a scene as a world for Gazebo, with its robot when that is asked for
    ToSdf(ToSdfArgs),
}
