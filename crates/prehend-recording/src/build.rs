//! From recorded frames to maps.

use crate::folder::{FrameError, FrameFiles, RecordedFrame};
use crate::saved::{SavedMap, SavedScene, SavedView};
use nalgebra::Isometry3;
use prehend_perception::{KeyframeError, MapBuilder, MapSettings, UpdateReport, upright};

/// Frame of the maps of recordings.
pub const FRAME: &str = "map";

/// Why frames do not become a map.
#[derive(Debug, thiserror::Error)]
pub enum BuildError {
    /// A frame cannot be read.
    #[error(transparent)]
    Frame(#[from] FrameError),
    /// A frame cannot be used.
    #[error("{frame}: {error}")]
    Keyframe {
        /// Its name.
        frame: String,
        /// Why not.
        error: KeyframeError,
    },
    /// Nothing tells where up is.
    #[error(
        "{frame}: it has no pose.json, and no plane is seen that could be the table; \
         write the camera's pose (map_from_camera, z up)"
    )]
    NoSupport {
        /// Name of the frame.
        frame: String,
    },
    /// Frames with and without poses.
    #[error("{with} has a pose and {without} has none; give all of them one, or build two maps")]
    MixedPoses {
        /// A frame with a pose.
        with: String,
        /// A frame without.
        without: String,
    },
}

/// What became of one frame.
#[derive(Clone, Debug, PartialEq)]
pub struct FrameReport {
    /// Its name.
    pub frame: String,
    /// What it changed.
    pub update: UpdateReport,
}

/// Builds the maps of frames: one scene of all when they have poses, else a scene of each, upright on its support (see
/// [`upright::map_from_camera`]). The frames' times are their places in the list, seconds. `seed` drives the plane searches.
///
/// Errors: [`BuildError`], the first in the order of the frames.
pub fn build(
    frames: &[FrameFiles],
    settings: MapSettings,
    seed: u64,
) -> Result<(SavedMap, Vec<FrameReport>), BuildError> {
    let mut builder = MapBuilder::new(FRAME, settings);
    let mut saved = SavedMap { settings, scenes: Vec::new() };
    let mut reports = Vec::new();
    let mut is_posed: Option<(bool, String)> = None;
    for (number, files) in frames.iter().enumerate() {
        let frame = files.read()?;
        let posed = frame.map_from_camera.is_some();
        let (first, name) = is_posed.get_or_insert_with(|| (posed, frame.name.clone()));
        if *first != posed {
            let (with, without) = if posed { (frame.name, name.clone()) } else { (name.clone(), frame.name) };
            return Err(BuildError::MixedPoses { with, without });
        }
        let map_from_camera = pose_of(&frame, &settings, seed)?;
        let view = SavedView {
            name: frame.name.clone(),
            stamp: number as f64,
            color: frame.color.clone(),
            intrinsics: frame.intrinsics,
            map_from_camera,
        };
        if !posed {
            builder.forget();
        }
        let keyframe = frame.into_keyframe(map_from_camera, view.stamp);
        let update = builder
            .update(&keyframe, None, false, seed)
            .map_err(|error| BuildError::Keyframe { frame: view.name.clone(), error })?;
        reports.push(FrameReport { frame: view.name.clone(), update });
        match saved.scenes.last_mut().filter(|_| posed) {
            Some(scene) => {
                scene.map = builder.map().clone();
                scene.views.push(view);
            }
            None => {
                let name = view.name.clone();
                saved.scenes.push(SavedScene { name, map: builder.map().clone(), views: vec![view] });
            }
        }
    }
    Ok((saved, reports))
}

fn pose_of(frame: &RecordedFrame, settings: &MapSettings, seed: u64) -> Result<Isometry3<f64>, BuildError> {
    frame
        .map_from_camera
        .or_else(|| upright::map_from_camera(&frame.depth, &frame.intrinsics, &settings.segment, seed))
        .ok_or_else(|| BuildError::NoSupport { frame: frame.name.clone() })
}
