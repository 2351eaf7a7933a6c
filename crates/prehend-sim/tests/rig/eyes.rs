//! Eyes for tests: the wrist camera at a pose, the imperfect detectors of a scene, and the object map made of it.

use super::{model, repository};
use nalgebra::{Point3, Translation3, Vector3};
use prehend_geometry::OrientedBox;
use prehend_perception::map::Tool;
use prehend_perception::{Detection, Keyframe, LabelImage, MapBuilder, PartLabels};
use prehend_scene::ObjectMap;
use prehend_sim::sensors::{Detections, Detector, RgbdCamera, Stage, wrist_camera_intrinsics};
use prehend_sim::{PlacedScene, Scene, World};

/// The poses `home` and `front` of the robot file.
pub(crate) const HOME: [f64; 6] = [0.0, -0.5081, -1.9857, 0.0, 2.1098, 0.0];
pub(crate) const FRONT: [f64; 6] = [0.0, -1.5688, 0.0671, 0.0, 0.3309, 0.0];

/// A camera that looks at one scene from several places.
pub(crate) struct Eyes {
    scene: PlacedScene,
    seed: u64,
    frame: u64,
    builder: MapBuilder,
}

fn placed(text: &str, seed: u64) -> PlacedScene {
    let path = repository().join("config/scenes/test.yaml");
    let scene = Scene::parse(&path.to_string_lossy(), text).unwrap_or_else(|findings| panic!("{findings}"));
    scene.instantiate(seed).expect("placed")
}

fn labels(found: &Detections) -> (LabelImage, Vec<Detection>) {
    let image = LabelImage {
        width: found.labels.width,
        height: found.labels.height,
        labels: found.labels.labels.clone(),
    };
    let items = found
        .items
        .iter()
        .enumerate()
        .map(|(i, item)| Detection {
            label: i as u16 + 1,
            class_name: item.class_name.clone(),
            score: item.score,
        })
        .collect();
    (image, items)
}

impl Eyes {
    /// Eyes on a scene file's text, placed under a seed.
    pub(crate) fn new(text: &str, seed: u64) -> Self {
        let builder = MapBuilder::new("link_base", Default::default());
        Self { scene: placed(text, seed), seed, frame: 0, builder }
    }

    /// The scene is another one now, of the same seed: a drawer was opened.
    pub(crate) fn scene_is(&mut self, text: &str) {
        self.scene = placed(text, self.seed);
    }

    /// Takes frames of the scene, at rest, into the map.
    pub(crate) fn look(&mut self, joints: &[f64], view: &str, frames: u64) {
        let mut world = World::new(&self.scene, &model(), joints).expect("world");
        for _ in 0..60 {
            world.step();
        }
        let stage = Stage::new(&world.render_items()).expect("stage");
        let spec = &self.scene.scene;
        let classes = world.entities().iter().map(|entity| entity.class.clone()).collect();
        let mut camera = RgbdCamera::new(wrist_camera_intrinsics(), spec.camera.clone(), self.seed);
        let detector = Detector::new(spec.detector.clone(), classes, self.seed);
        let parts =
            Detector::new(spec.part_detector.clone(), stage.region_classes(), self.seed.wrapping_add(0x9e37));
        let moment = world.frame();
        let pose = moment.base_from_camera;
        let tool = world.model().tcp_pose(world.arm_joints());
        for _ in 0..frames {
            self.frame += 1;
            let drawn =
                camera.capture(&pose, &stage.drawables(&moment).expect("bodies"), self.frame).expect("drawn");
            let (labels_, detections) = labels(&detector.detect(&drawn, &pose, self.frame));
            let (part_labels, part_detections) = labels(&parts.detect_parts(&drawn, &pose, self.frame));
            let keyframe = Keyframe {
                view: view.to_owned(),
                stamp: 1.0 + 0.1 * self.frame as f64,
                color: drawn.color.clone(),
                depth: drawn.depth.clone(),
                labels: labels_,
                detections,
                parts: Some(PartLabels { labels: part_labels, detections: part_detections }),
                intrinsics: camera.intrinsics(),
                map_from_camera: pose,
                robot: vec![OrientedBox {
                    pose: tool * Translation3::new(0.0, 0.0, -0.085),
                    size: Vector3::new(0.08, 0.20, 0.20),
                }],
            };
            let tool = Tool { position: Point3::from(tool.translation.vector), radius: 0.12, holds: None };
            self.builder.update(&keyframe, Some(&tool), false, 0).expect("frame");
        }
    }

    /// What the map holds.
    pub(crate) fn map(&self) -> &ObjectMap {
        self.builder.map()
    }
}
