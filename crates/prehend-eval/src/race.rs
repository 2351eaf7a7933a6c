//! A map of frames in a folder by the clock: time of each keyframe, memory, and how good the map is when the truth is there.
//!
//! Pictures, masks and feature vectors are decoded before the clock starts; it runs while the map takes a keyframe in. Feature
//! vectors that are given beside the masks are used instead of an embedder's.

use crate::clutter::{Truth, TruthError};
use crate::mapped::{Counts, boxes};
use nalgebra::Point3;
use prehend_geometry::OrientedBox;
use prehend_geometry::stats::median;
use prehend_perception::{
    Embedder, InferenceError, Keyframe, KeyframeError, LabelImage, MapBuilder, MapSettings,
};
use prehend_recording::{FrameError, find_frames};
use prehend_scene::Object;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Why there is no time.
#[derive(Debug, thiserror::Error)]
pub enum RaceError {
    /// The frames cannot be read.
    #[error(transparent)]
    Frame(#[from] FrameError),
    /// A frame without a pose cannot be merged with others.
    #[error("{frame} has no pose.json; only frames with poses are merged into one map")]
    NoPose {
        /// Name of the frame.
        frame: String,
    },
    /// A frame cannot be used.
    #[error("{frame}: {error}")]
    Keyframe {
        /// Name of the frame.
        frame: String,
        /// Why not.
        error: KeyframeError,
    },
    /// The truth is there and cannot be read.
    #[error(transparent)]
    Truth(#[from] TruthError),
    /// There is no truth to hold boxes against.
    #[error("{} has no truth.json", folder.display())]
    NoTruth {
        /// The folder.
        folder: PathBuf,
    },
    /// The file of boxes cannot be used.
    #[error("{}: {error}; expected a list of {{\"footprint\": [[x, y], ...], \"z\": [low, high]}}", path.display())]
    Boxes {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        error: String,
    },
}

/// What the clock said.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Lap {
    /// Keyframes.
    pub keyframes: usize,
    /// Masks in all of them.
    pub masks: usize,
    /// Objects on the map in the end.
    pub objects: usize,
    /// Points of all objects in the end.
    pub points: usize,
    /// Milliseconds of each keyframe, in their order.
    pub milliseconds: Vec<f64>,
    /// Median of them.
    pub median_ms: f64,
    /// Greatest of them.
    pub max_ms: f64,
    /// Median of the last tenth of them: what a keyframe costs when the map is full.
    pub last_ms: f64,
    /// Their sum, seconds.
    pub total_s: f64,
    /// Processor time of all threads for all keyframes, seconds; `None` where the system does not tell.
    pub cpu_s: Option<f64>,
    /// Memory of the process when the frames were loaded, and at most, MiB; `None` where the system does not tell.
    pub memory_mib: Option<[f64; 2]>,
    /// How much of what stands there was found, when the truth is there.
    pub counts: Option<Counts>,
}

/// Builds the map of the frames in a folder by the clock.
///
/// Errors: [`RaceError`].
pub fn run(folder: &Path, settings: MapSettings, seed: u64) -> Result<Lap, RaceError> {
    let mut features = GivenFeatures::default();
    let mut keyframes: Vec<Keyframe> = Vec::new();
    for (number, files) in find_frames(folder)?.iter().enumerate() {
        let frame = files.read()?;
        let Some(pose) = frame.map_from_camera else { return Err(RaceError::NoPose { frame: frame.name }) };
        if let Some(instances) = frame.instances.as_ref().filter(|instances| !instances.features.is_empty()) {
            let labels = instances.detections.iter().map(|detection| detection.label);
            let vectors = labels.zip(instances.features.iter().cloned()).collect();
            features.views.insert(frame.name.clone(), (instances.labels.clone(), vectors));
        }
        keyframes.push(frame.into_keyframe(pose, number as f64));
    }
    let mut builder = if features.views.is_empty() {
        MapBuilder::new("map", settings)
    } else {
        MapBuilder::with_embedder("map", settings, Box::new(features))
    };
    let (loaded, before) = (memory_of_process("VmRSS:"), processor_seconds());
    let mut milliseconds = Vec::new();
    for keyframe in &keyframes {
        let started = Instant::now();
        builder
            .update(keyframe, None, false, seed)
            .map_err(|error| RaceError::Keyframe { frame: keyframe.view.clone(), error })?;
        milliseconds.push(started.elapsed().as_secs_f64() * 1e3);
    }
    let cpu_s = processor_seconds().zip(before).map(|(after, before)| after - before);
    let objects = &builder.map().objects;
    let last = milliseconds.len() - milliseconds.len().div_ceil(10);
    Ok(Lap {
        keyframes: keyframes.len(),
        masks: keyframes.iter().map(|keyframe| keyframe.detections.len()).sum(),
        objects: objects.len(),
        points: objects.iter().map(|object| object.cloud.len()).sum(),
        median_ms: median(&milliseconds).unwrap_or(0.0),
        max_ms: milliseconds.iter().copied().fold(0.0, f64::max),
        last_ms: median(&milliseconds[last..]).unwrap_or(0.0),
        total_s: milliseconds.iter().sum::<f64>() / 1e3,
        cpu_s,
        memory_mib: loaded.zip(memory_of_process("VmHWM:")).map(|(loaded, most)| [loaded, most]),
        counts: Truth::read(folder)?.map(|truth| Counts::of(&truth, &boxes(objects))),
        milliseconds,
    })
}

#[derive(Deserialize)]
struct Footprint {
    footprint: Vec<[f64; 2]>,
    z: [f64; 2],
}

/// Holds the objects of another program against the truth beside the frames: a file with what each covers of the ground, as points, and
/// between which heights it is. Its boxes are made as those of a map are.
///
/// Errors: [`RaceError`].
pub fn judge(folder: &Path, objects: &Path) -> Result<Counts, RaceError> {
    let truth = Truth::read(folder)?.ok_or_else(|| RaceError::NoTruth { folder: folder.to_owned() })?;
    let wrong = |error: String| RaceError::Boxes { path: objects.to_owned(), error };
    let text = std::fs::read_to_string(objects).map_err(|error| wrong(error.to_string()))?;
    let found: Vec<Footprint> = serde_json::from_str(&text).map_err(|error| wrong(error.to_string()))?;
    let upright = |Footprint { footprint, z }: &Footprint| {
        let points: Vec<Point3<f64>> =
            footprint.iter().flat_map(|[x, y]| z.map(|height| Point3::new(*x, *y, height))).collect();
        OrientedBox::upright_around(&points)
    };
    let boxes: Option<Vec<OrientedBox>> = found.iter().map(upright).collect();
    let boxes = boxes.ok_or_else(|| wrong("a footprint without points".to_owned()))?;
    Ok(Counts::of(&truth, &boxes))
}

/// Vectors that were given beside the masks, by view and label.
#[derive(Default)]
struct GivenFeatures {
    views: BTreeMap<String, (LabelImage, BTreeMap<u16, Vec<f32>>)>,
}

impl GivenFeatures {
    fn of(&self, object: &Object) -> Option<&Vec<f32>> {
        // An object that is embedded has one view, and the mask of a detection is that of its label.
        let crop = object.crops.first()?;
        let (labels, vectors) = self.views.get(&crop.view)?;
        let first = crop.mask.bits.iter().position(|bit| *bit)?;
        let (u, v) = (crop.mask.x + first % crop.mask.width, crop.mask.y + first / crop.mask.width);
        vectors.get(labels.labels.get(v * labels.width + u)?)
    }
}

impl Embedder for GivenFeatures {
    fn name(&self) -> &str {
        "given"
    }

    fn embed(&self, objects: &[Object]) -> Result<Vec<Vec<f32>>, InferenceError> {
        Ok(objects.iter().map(|object| self.of(object).cloned().unwrap_or_default()).collect())
    }
}

/// A line of the kernel's account of this process, MiB (proc(5)).
pub(crate) fn memory_of_process(line: &str) -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let rest = status.lines().find_map(|text| text.strip_prefix(line))?;
    rest.trim().strip_suffix("kB")?.trim().parse::<f64>().ok().map(|kib| kib / 1024.0)
}

/// Processor time that this process has had, in user and in system mode, seconds (proc(5); a tick is 10 ms for programs).
fn processor_seconds() -> Option<f64> {
    let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
    // The second field is the name in brackets, which may hold anything.
    let mut fields = stat.rsplit_once(')')?.1.split_whitespace().skip(11);
    let mut ticks = || fields.next()?.parse::<f64>().ok();
    Some((ticks()? + ticks()?) / 100.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clutter::{Clutter, Masks, Settings, Shot, shots};

    #[test]
    fn given_features_are_on_the_map_and_the_true_boxes_are_all_found() {
        let settings =
            Settings { objects: 6, views: 2, masks: Masks::Truth, features: 8, ..Settings::default() };
        let clutter = Clutter::new(&settings).unwrap();
        let taken: Vec<Shot> = shots(&clutter, &settings).unwrap().map(Result::unwrap).collect();
        let folder = tempfile::tempdir().unwrap();
        for shot in &taken {
            shot.frame.write(&folder.path().join(&shot.frame.name)).unwrap();
        }
        let boxes = folder.path().join("objects.json");
        assert!(matches!(judge(folder.path(), &boxes), Err(RaceError::NoTruth { .. })));
        let truth = Truth::of(1, &clutter, &taken);
        truth.write(folder.path()).unwrap();
        let lap = run(folder.path(), MapSettings::recorded(), 1).unwrap();
        assert_eq!((lap.keyframes, lap.milliseconds.len()), (2, 2));
        assert!(lap.cpu_s.is_none_or(|seconds| seconds < 2.0 * lap.total_s + 0.1), "one thread: {lap:?}");
        assert!(lap.median_ms > 0.0 && lap.max_ms <= lap.total_s * 1e3 + 1e-9);
        assert!(lap.counts.is_some_and(|counts| counts.found[0] >= 4), "{lap:?}");

        assert!(matches!(judge(folder.path(), &boxes), Err(RaceError::Boxes { .. })));
        let corners = |thing: &crate::clutter::TrueThing| {
            let bounds = thing.bounds();
            let footprint: Vec<[f64; 2]> = [(-0.5, -0.5), (0.5, -0.5), (0.5, 0.5), (-0.5, 0.5)]
                .map(|(x, y)| bounds.pose * Point3::new(x * bounds.size.x, y * bounds.size.y, 0.0))
                .map(|corner| [corner.x, corner.y])
                .to_vec();
            let middle = thing.center[2];
            let z = [middle - thing.size[2] / 2.0, middle + thing.size[2] / 2.0];
            serde_json::json!({ "footprint": footprint, "z": z })
        };
        let list: Vec<_> = truth.things.iter().map(corners).collect();
        std::fs::write(&boxes, serde_json::to_vec(&list).unwrap()).unwrap();
        let counts = judge(folder.path(), &boxes).unwrap();
        assert_eq!(counts.found, [counts.things; 2]);
        assert_eq!(counts.objects, [counts.things; 2]);
    }

    #[test]
    fn the_embedder_finds_the_vector_of_a_mask() {
        let settings =
            Settings { objects: 4, views: 1, masks: Masks::Truth, features: 4, ..Settings::default() };
        let clutter = Clutter::new(&settings).unwrap();
        let shot = shots(&clutter, &settings).unwrap().next().unwrap().unwrap();
        let instances = shot.frame.instances.clone().unwrap();
        let vectors: BTreeMap<u16, Vec<f32>> =
            instances.detections.iter().map(|d| d.label).zip(instances.features.iter().cloned()).collect();
        let mut features = GivenFeatures::default();
        features.views.insert("view_000".to_owned(), (instances.labels.clone(), vectors));
        let keyframe = shot.frame.into_keyframe(Default::default(), 0.0);
        let pose =
            shots(&clutter, &settings).unwrap().next().unwrap().unwrap().frame.map_from_camera.unwrap();
        let mut builder = MapBuilder::with_embedder("map", MapSettings::recorded(), Box::new(features));
        builder.update(&Keyframe { map_from_camera: pose, ..keyframe }, None, false, 1).unwrap();
        let objects = &builder.map().objects;
        assert!(!objects.is_empty());
        for object in objects.iter().filter(|object| !object.class_name.is_empty()) {
            let given = instances.detections.iter().zip(&instances.features);
            let mut of_class = given.filter(|(d, _)| d.class_name == object.class_name);
            assert!(of_class.any(|(_, vector)| *vector == object.features), "{}", object.key);
        }
    }
}
