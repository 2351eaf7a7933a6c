//! From recorded frames to maps.

use crate::folder::{FrameError, FrameFiles, RecordedFrame};
use crate::saved::{SavedMap, SavedScene, SavedView};
use nalgebra::Isometry3;
use prehend_perception::segment::Reason;
use prehend_perception::{KeyframeError, MapBuilder, MapSettings, Sight, UpdateReport, upright};

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
        "{frame}: it has no pose, and no plane is seen that could be the table; \
         give the camera's pose (pose.json in a folder, tf in a bag; z up)"
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
    /// Why each of the things that are none is none; their masks are in its view, and no more in `update`.
    pub left_out: Vec<Reason>,
}

/// As [`build_seen`], with what geometry finds alone.
///
/// Errors: [`BuildError`], the first in the order of the frames.
pub fn build(
    frames: &[FrameFiles],
    settings: MapSettings,
    seed: u64,
) -> Result<(SavedMap, Vec<FrameReport>), BuildError> {
    build_seen(frames, settings, seed, &Sight::default())
}

/// Builds the maps of frames that models have looked at: one scene of all when they have poses, else a scene of each, upright on its support (see
/// [`upright::map_from_camera`]). The frames' times are their places in the list, seconds. `seed` drives the plane searches.
///
/// Errors: [`BuildError`], the first in the order of the frames.
pub fn build_seen(
    frames: &[FrameFiles],
    settings: MapSettings,
    seed: u64,
    sight: &Sight,
) -> Result<(SavedMap, Vec<FrameReport>), BuildError> {
    let mut map = MapOfFrames::new(settings, seed, sight.clone());
    let reports = frames.iter().map(|files| map.take(files.read()?)).collect::<Result<_, BuildError>>()?;
    Ok((map.finish(), reports))
}

/// A map that grows frame by frame, so that only one frame needs to be in memory. The same as [`build_seen`].
pub struct MapOfFrames {
    builder: MapBuilder,
    sight: Sight,
    seed: u64,
    saved: SavedMap,
    /// Whether the first frame had a pose, and its name.
    first: Option<(bool, String)>,
    /// Frames taken so far.
    taken: usize,
}

impl MapOfFrames {
    /// A map without frames; `seed` drives the plane searches, `sight` looks at each frame.
    pub fn new(settings: MapSettings, seed: u64, sight: Sight) -> Self {
        let embedder = sight.embedder();
        let saved = SavedMap { settings, embedder: embedder.name().to_owned(), scenes: Vec::new() };
        Self {
            builder: MapBuilder::with_embedder(FRAME, settings, Box::new(embedder)),
            sight,
            seed,
            saved,
            first: None,
            taken: 0,
        }
    }

    /// Takes the next frame.
    ///
    /// Errors: every variant of [`BuildError`] but [`BuildError::Frame`]. After [`BuildError::NoSupport`] the map is as it was before, after
    /// another it is of no use.
    pub fn take(&mut self, frame: RecordedFrame) -> Result<FrameReport, BuildError> {
        let posed = frame.map_from_camera.is_some();
        let (first, name) = self.first.get_or_insert_with(|| (posed, frame.name.clone()));
        if *first != posed {
            let (with, without) = if posed { (frame.name, name.clone()) } else { (name.clone(), frame.name) };
            return Err(BuildError::MixedPoses { with, without });
        }
        let map_from_camera = pose_of(&frame, &self.saved.settings, self.seed)?;
        let mut view = SavedView {
            name: frame.name.clone(),
            stamp: self.taken as f64,
            color: frame.color.clone(),
            intrinsics: frame.intrinsics,
            map_from_camera,
            left_out: Vec::new(),
        };
        self.taken += 1;
        if !posed {
            self.builder.forget();
        }
        let mut keyframe = frame.into_keyframe(map_from_camera, view.stamp);
        let mut update = self
            .sight
            .look(&mut keyframe)
            .map_err(KeyframeError::from)
            .and_then(|seen| self.builder.update_named(&keyframe, &seen, None, false, self.seed))
            .map_err(|error| BuildError::Keyframe { frame: view.name.clone(), error })?;
        view.left_out = std::mem::take(&mut update.left_out);
        let left_out = view.left_out.iter().map(|left| left.reason).collect();
        let report = FrameReport { frame: view.name.clone(), update, left_out };
        match self.saved.scenes.last_mut().filter(|_| posed) {
            Some(scene) => scene.views.push(view),
            None => {
                let name = view.name.clone();
                let map = self.builder.map().clone();
                self.saved.scenes.push(SavedScene { name, map, views: vec![view] });
            }
        }
        Ok(report)
    }

    /// The scenes of all frames that were taken.
    pub fn finish(mut self) -> SavedMap {
        if let Some(scene) = self.saved.scenes.last_mut() {
            scene.map = self.builder.map().clone();
        }
        self.saved
    }
}

fn pose_of(frame: &RecordedFrame, settings: &MapSettings, seed: u64) -> Result<Isometry3<f64>, BuildError> {
    frame
        .map_from_camera
        .or_else(|| upright::map_from_camera(&frame.depth, &frame.intrinsics, &settings.segment, seed))
        .ok_or_else(|| BuildError::NoSupport { frame: frame.name.clone() })
}
