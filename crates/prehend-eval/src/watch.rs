//! The wrist camera over a scene of the simulator, with the imperfect detectors, and the object map it makes: everything but motion.

use nalgebra::{Isometry3, Point3, Translation3, Vector3};
use prehend_geometry::{Intrinsics, OrientedBox};
use prehend_perception::map::Tool;
use prehend_perception::{Detection, Keyframe, LabelImage, MapBuilder, MapSettings, PartLabels};
use prehend_scene::ObjectMap;
use prehend_sim::scene::{PlacedScene, Scene};
use prehend_sim::sensors::{Capture, Detections, Detector, RgbdCamera, Stage, wrist_camera_intrinsics};
use prehend_sim::world::{ArmModel, World};
use std::path::Path;

/// Frames of one look.
const FRAMES: u64 = 3;
/// Steps in which things come to rest.
const SETTLING: usize = 60;
/// The survey poses of the arm, radians: home, the upright faces, then the others.
pub(crate) const POSES: [(&str, [f64; 6]); 5] = [
    ("home", [0.0, -0.5081, -1.9857, 0.0, 2.1098, 0.0]),
    ("front", [0.0, -1.5688, 0.0671, 0.0, 0.3309, 0.0]),
    ("near", [0.0, -0.9394, -1.0648, 0.0, 1.725, 0.0]),
    ("far", [0.0, -0.1078, -1.6548, 0.0, 1.7627, 0.0]),
    ("left", [0.6268, -0.3997, -1.3211, -0.1527, 1.5078, 0.6201]),
];

/// The camera and what it makes of the scene.
pub(crate) struct Watch<'a> {
    arm: &'a ArmModel,
    path: &'a Path,
    seed: u64,
    frame: u64,
    settings: MapSettings,
    builder: MapBuilder,
}

/// What the camera saw in truth.
pub(crate) struct Looked {
    /// The last frame.
    pub(crate) drawn: Capture,
    /// Where it was taken from.
    pub(crate) base_from_camera: Isometry3<f64>,
    /// The camera.
    pub(crate) intrinsics: Intrinsics,
    /// Class of each named region; region `i` has the label `i + 1` in the frame's parts.
    pub(crate) region_classes: Vec<String>,
}

pub(crate) fn labels_of(found: &Detections) -> (LabelImage, Vec<Detection>) {
    let (width, height) = (found.labels.width, found.labels.height);
    let labels = LabelImage { width, height, labels: found.labels.labels.clone() };
    let detections = (1..=u16::MAX).zip(&found.items).map(|(label, item)| Detection {
        label,
        class_name: item.class_name.clone(),
        score: item.score,
    });
    (labels, detections.collect())
}

impl<'a> Watch<'a> {
    /// With an empty map. `path` names the scene in findings, and is beside the models.
    pub(crate) fn new(arm: &'a ArmModel, path: &'a Path, seed: u64, map: MapSettings) -> Self {
        Self { arm, path, seed, frame: 0, settings: map, builder: MapBuilder::new("link_base", map) }
    }

    /// Begins the map anew.
    pub(crate) fn forget(&mut self) {
        self.builder = MapBuilder::new("link_base", self.settings);
    }

    /// What was made of it so far.
    pub(crate) fn map(&self) -> &ObjectMap {
        self.builder.map()
    }

    /// The scene at rest, with the arm at a pose.
    pub(crate) fn world(&self, text: &str, pose: &[f64; 6]) -> Result<(PlacedScene, World), String> {
        let scene = Scene::parse(&self.path.to_string_lossy(), text).map_err(|error| error.to_string())?;
        let placed = scene.instantiate(self.seed).map_err(|error| error.to_string())?;
        let mut world = World::new(&placed, self.arm, pose).map_err(|error| error.to_string())?;
        (0..SETTLING).for_each(|_| world.step());
        Ok((placed, world))
    }

    /// Takes frames into the map.
    pub(crate) fn look(&mut self, placed: &PlacedScene, world: &World, view: &str) -> Result<Looked, String> {
        let error = |error: &dyn std::fmt::Display| error.to_string();
        let stage = Stage::new(&world.render_items()).map_err(|e| error(&e))?;
        let spec = &placed.scene;
        let classes = world.entities().iter().map(|entity| entity.class.clone()).collect();
        let mut camera = RgbdCamera::new(wrist_camera_intrinsics(), spec.camera.clone(), self.seed);
        let detector = Detector::new(spec.detector.clone(), classes, self.seed);
        let region_classes = stage.region_classes();
        let parts =
            Detector::new(spec.part_detector.clone(), region_classes.clone(), self.seed.wrapping_add(7));
        let moment = world.frame();
        let pose = moment.base_from_camera;
        let tcp = world.model().tcp_pose(world.arm_joints());
        let drawables = stage.drawables(&moment).map_err(|e| error(&e))?;
        let mut last = None;
        for _ in 0..FRAMES {
            self.frame += 1;
            let drawn = camera.capture(&pose, &drawables, self.frame).map_err(|e| error(&e))?;
            let (labels, detections) = labels_of(&detector.detect(&drawn, &pose, self.frame));
            let (part_labels, part_detections) = labels_of(&parts.detect_parts(&drawn, &pose, self.frame));
            let keyframe = Keyframe {
                view: view.to_owned(),
                stamp: 0.1 * self.frame as f64,
                color: drawn.color.clone(),
                depth: drawn.depth.clone(),
                labels,
                detections,
                parts: Some(PartLabels { labels: part_labels, detections: part_detections }),
                intrinsics: camera.intrinsics(),
                map_from_camera: pose,
                // The hand, between camera and tool.
                robot: vec![OrientedBox {
                    pose: tcp * Translation3::new(0.0, 0.0, -0.085),
                    size: Vector3::new(0.08, 0.20, 0.20),
                }],
            };
            let tool = Tool { position: Point3::from(tcp.translation.vector), radius: 0.12, holds: None };
            self.builder.update(&keyframe, Some(&tool), false, 0).map_err(|e| error(&e))?;
            last = Some(drawn);
        }
        let drawn = last.ok_or("a look takes at least one frame")?;
        Ok(Looked { drawn, base_from_camera: pose, intrinsics: camera.intrinsics(), region_classes })
    }
}
