//! From folders of frames to maps: small pictures that the test draws, and the real frames when they are there.

#![expect(clippy::unwrap_used, reason = "a test may fail")]

use image::{ImageBuffer, Luma, Rgb};
use nalgebra::{Isometry3, Point3, Rotation3, Translation3, UnitQuaternion, Vector3};
use prehend_geometry::Intrinsics;
use prehend_perception::{MapSettings, Sight};
use prehend_recording::{BuildError, MapOfFrames, SavedMap, build, find_frames, read_labels};
use prehend_testing::{Needs, skipped};
use std::path::{Path, PathBuf};

const CAMERA: Intrinsics = Intrinsics { fx: 300.0, fy: 300.0, cx: 159.5, cy: 119.5, width: 320, height: 240 };

/// Looks from (x, 0, 0.5) towards (0.45, 0, 0); the table is z = 0.
fn camera(x: f64) -> Isometry3<f64> {
    let eye = Point3::new(x, 0.0, 0.5);
    let ahead = (Point3::new(0.45, 0.0, 0.0) - eye).normalize();
    let right = -Vector3::y();
    let axes = nalgebra::Matrix3::from_columns(&[right, ahead.cross(&right), ahead]);
    let turn = UnitQuaternion::from_rotation_matrix(&Rotation3::from_matrix_unchecked(axes));
    Isometry3::from_parts(Translation3::from(eye.coords), turn)
}

/// Upright blocks as (x, y, half of the sides, height, colour).
type Block = (f64, f64, f64, f64, [u8; 3]);
const BLOCKS: [Block; 2] = [(0.4, -0.1, 0.03, 0.08, [200, 30, 30]), (0.5, 0.1, 0.04, 0.05, [30, 60, 200])];

/// Distance along a ray to the first block or to the table, and the colour there.
fn hit(eye: &Point3<f64>, ray: &Vector3<f64>) -> Option<(f64, [u8; 3])> {
    let mut best = (ray.z < 0.0).then(|| (-eye.z / ray.z, [170, 140, 100]));
    for (x, y, half, height, color) in BLOCKS {
        let (low, high) = ([x - half, y - half, 0.0], [x + half, y + half, height]);
        let (mut near, mut far) = (0.0_f64, f64::MAX);
        for axis in 0..3 {
            let (a, b) = ((low[axis] - eye[axis]) / ray[axis], (high[axis] - eye[axis]) / ray[axis]);
            (near, far) = (near.max(a.min(b)), far.min(a.max(b)));
        }
        if near < far && best.is_none_or(|(distance, _)| near < distance) {
            best = Some((near, color));
        }
    }
    best
}

/// Writes a frame; the pose too when `posed`.
fn write(folder: &Path, pose: &Isometry3<f64>, posed: bool) {
    std::fs::create_dir_all(folder).unwrap();
    let eye = Point3::from(pose.translation.vector);
    let (mut color, mut depth) = (ImageBuffer::new(320, 240), ImageBuffer::new(320, 240));
    for (u, v, pixel) in color.enumerate_pixels_mut() {
        let ray = pose * CAMERA.unproject(f64::from(u), f64::from(v), 1.0) - eye;
        let Some((z, shade)) = hit(&eye, &ray) else { continue };
        *pixel = Rgb(shade);
        // A fixed pattern of noise of 1 mm.
        let noise = i64::from((u * 7 + v * 13) % 3) - 1;
        depth.put_pixel(u, v, Luma([((z * 1e3).round() as i64 + noise) as u16]));
    }
    color.save(folder.join("color.png")).unwrap();
    depth.save(folder.join("depth.png")).unwrap();
    std::fs::write(folder.join("intrinsics.json"), serde_json::to_vec(&CAMERA).unwrap()).unwrap();
    if posed {
        let rows: Vec<Vec<f64>> =
            pose.to_homogeneous().row_iter().map(|row| row.iter().copied().collect()).collect();
        std::fs::write(folder.join("pose.json"), serde_json::to_vec(&rows).unwrap()).unwrap();
    }
}

fn map_of(folder: &Path) -> Result<SavedMap, BuildError> {
    build(&find_frames(folder)?, MapSettings::recorded(), 1).map(|(saved, _)| saved)
}

#[test]
fn views_with_poses_become_one_map_in_their_frame() {
    let folder = tempfile::tempdir().unwrap();
    for (name, x) in [("a", 0.1), ("b", -0.05)] {
        write(&folder.path().join(name), &camera(x), true);
    }
    let saved = map_of(folder.path()).unwrap();
    assert_eq!((saved.scenes.len(), saved.scenes[0].views.len()), (1, 2));
    let map = &saved.scenes[0].map;
    assert_eq!(map.objects.len(), 2);
    for (x, y, _, height, _) in BLOCKS {
        let near = map
            .objects
            .iter()
            .find(|o| (o.bounds.pose.translation.vector.xy() - Vector3::new(x, y, 0.0).xy()).norm() < 0.02);
        let object = near.unwrap_or_else(|| panic!("nothing at {x} {y}"));
        assert_eq!(object.view_count, 2);
        assert!((object.bounds.top() - height).abs() < 0.006, "{}", object.bounds.top());
    }
    let place = folder.path().join("map");
    saved.save(&place).unwrap();
    assert_eq!(SavedMap::load(&place).unwrap().scenes[0].map.objects.len(), 2);
}

#[test]
fn views_without_poses_stand_upright_on_their_support_each_on_its_own() {
    let folder = tempfile::tempdir().unwrap();
    for (name, x) in [("a", 0.1), ("b", -0.05)] {
        write(&folder.path().join(name), &camera(x), false);
    }
    let saved = map_of(folder.path()).unwrap();
    assert_eq!(saved.scenes.len(), 2);
    for (scene, x) in saved.scenes.iter().zip([0.1, -0.05]) {
        assert_eq!(scene.map.objects.len(), 2, "{}", scene.name);
        // The origin is below the camera, x is where it looks.
        assert!(
            (scene.views[0].map_from_camera.translation.vector - Vector3::new(0.0, 0.0, 0.5)).norm() < 0.004
        );
        let [red, _] = BLOCKS;
        let tall = scene.map.objects.iter().max_by(|a, b| a.bounds.top().total_cmp(&b.bounds.top())).unwrap();
        let at = tall.bounds.pose.translation.vector;
        assert!((at.x - (red.0 - x)).abs() < 0.015 && (at.y - red.1).abs() < 0.015, "{at}");
        assert!((tall.bounds.top() - red.3).abs() < 0.006);
    }
    let mut keys: Vec<_> = saved.all().objects.iter().map(|object| object.key.clone()).collect();
    keys.dedup();
    assert_eq!(keys.len(), 4, "keys are unique over the scenes");
}

#[test]
fn frames_that_do_not_belong_together_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    write(&folder.path().join("a"), &camera(0.1), true);
    write(&folder.path().join("b"), &camera(0.1), false);
    let error = map_of(folder.path()).unwrap_err();
    assert!(
        matches!(&error, BuildError::MixedPoses { with, without } if with == "a" && without == "b"),
        "{error}"
    );
}

/// Where one frame shows nothing that could be a table, the others still become scenes.
#[test]
fn a_frame_without_a_table_does_not_spoil_the_map_of_the_others() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["a", "b", "c"] {
        write(&folder.path().join(name), &camera(0.1), false);
    }
    let mut map = MapOfFrames::new(MapSettings::recorded(), 1, Sight::default());
    for files in find_frames(folder.path()).unwrap() {
        let mut frame = files.read().unwrap();
        let is_bad = frame.name == "b";
        if is_bad {
            // Distances from 0.4 to 2 m in no order.
            let shuffled =
                (0..320 * 240_u32).map(|index| 400 + (index.wrapping_mul(2_654_435_761) >> 16) % 1600);
            frame.depth.millimetres = shuffled.map(|mm| mm as u16).collect();
        }
        match map.take(frame) {
            Ok(report) => assert_eq!((report.update.added.len(), is_bad), (2, false)),
            Err(BuildError::NoSupport { frame }) => assert_eq!(frame, "b"),
            Err(error) => panic!("{error}"),
        }
    }
    let scenes: Vec<String> = map.finish().scenes.into_iter().map(|scene| scene.name).collect();
    assert_eq!(scenes, ["a", "c"]);
}

fn data() -> Option<PathBuf> {
    let named = std::env::var_os("PREHEND_SHARED_DATA").map(PathBuf::from);
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    named.into_iter().chain([beside]).map(|d| d.join("rgbd_tabletop")).find(|d| d.is_dir())
}

#[test]
fn the_front_object_of_each_real_frame_is_one_object() {
    let Some(data) = data() else {
        skipped(Needs::Shared, "no rgbd_tabletop; set PREHEND_SHARED_DATA to the folder that holds it");
        return;
    };
    let frames = find_frames(&data).unwrap();
    let saved = map_of(&data).unwrap();
    assert_eq!((frames.len(), saved.scenes.len()), (4, 4));
    for (files, scene) in frames.iter().zip(&saved.scenes) {
        let labels = read_labels(files.color.parent().unwrap()).unwrap();
        assert_eq!(scene.map.objects.len(), 1, "{}", scene.name);
        let mask = &scene.map.objects[0].crops[0].mask;
        let iou = mask.iou(&labels[0].mask);
        assert!(iou > 0.95, "{}: {iou}", scene.name);
        for (part, [u, v]) in &labels[0].parts {
            assert!(mask.contains(*u, *v), "{}: the {part} is missing", scene.name);
        }
    }
}
