//! Real RGB-D frames of a table: geometric segmentation must find the front object that people have marked.
//!
//! The frames are not part of the repository: `PREHEND_SHARED_DATA`, else `../shared/data` beside the repository.

#![expect(clippy::unwrap_used, reason = "a test may fail")]

use nalgebra::{Isometry3, Point3, Translation3, UnitQuaternion, Vector3};
use prehend_geometry::backproject::point_grid;
use prehend_geometry::plane::{PlaneSearch, ransac};
use prehend_geometry::{ColorImage, DepthImage, Intrinsics, Mask};
use prehend_perception::segment::SegmentSettings;
use prehend_perception::{Keyframe, LabelImage, MapBuilder, MapSettings};
use prehend_testing::{Needs, skipped};
use rand::SeedableRng;
use std::path::{Path, PathBuf};

fn data() -> Option<PathBuf> {
    let named = std::env::var_os("PREHEND_SHARED_DATA").map(PathBuf::from);
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    named.into_iter().chain([beside]).map(|d| d.join("rgbd_tabletop")).find(|d| d.is_dir())
}

/// Numbers of `"key": number` in a flat JSON text.
fn number(text: &str, key: &str) -> f64 {
    let rest = text.split(&format!("\"{key}\":")).nth(1).unwrap_or_else(|| panic!("no {key}"));
    rest.split([',', '}', '\n']).next().unwrap().trim().parse().unwrap()
}

fn load(folder: &Path) -> (Keyframe, Mask) {
    let text = std::fs::read_to_string(folder.join("intrinsics.json")).unwrap();
    let intrinsics = Intrinsics {
        fx: number(&text, "fx"),
        fy: number(&text, "fy"),
        cx: number(&text, "cx"),
        cy: number(&text, "cy"),
        width: 640,
        height: 480,
    };
    let color = image::open(folder.join("color.png")).unwrap().to_rgb8();
    let depth = image::open(folder.join("depth.png")).unwrap().to_luma16();
    let target = image::open(folder.join("target_mask.png")).unwrap().to_luma8();
    let marked: Vec<usize> =
        target.pixels().enumerate().filter(|(_, p)| p.0[0] > 127).map(|(i, _)| i).collect();
    let depth = DepthImage { width: 640, height: 480, millimetres: depth.pixels().map(|p| p.0[0]).collect() };
    let map_from_camera = upright(&depth, &intrinsics);
    let frame = Keyframe {
        view: "real".to_owned(),
        stamp: 1.0,
        color: ColorImage { width: 640, height: 480, pixels: color.pixels().map(|p| p.0).collect() },
        depth,
        labels: LabelImage { width: 640, height: 480, labels: vec![0; 640 * 480] },
        detections: Vec::new(),
        parts: None,
        intrinsics,
        map_from_camera,
        robot: Vec::new(),
    };
    (frame, Mask::from_indices(640, 480, &marked))
}

/// The frames have no camera pose: the table's plane gives the direction of gravity, its height is 0.
fn upright(depth: &DepthImage, intrinsics: &Intrinsics) -> Isometry3<f64> {
    let grid = point_grid(depth, intrinsics, &Isometry3::identity(), 2.0);
    let points: Vec<Point3<f64>> = grid.points.iter().flatten().copied().step_by(37).collect();
    let search = PlaneSearch { prior: Some((-Vector3::y_axis(), 1.2)), distance: 0.006, iterations: 400 };
    let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(1);
    let (plane, _) = ransac(&points, &search, &mut rng).expect("a table");
    let turn =
        UnitQuaternion::rotation_between_axis(&plane.normal, &Vector3::z_axis()).expect("not upside down");
    Isometry3::from_parts(Translation3::new(0.0, 0.0, plane.offset), turn)
}

#[test]
fn the_front_object_of_real_frames_is_found_by_geometry_alone() {
    let Some(data) = data() else {
        skipped(Needs::Shared, "no rgbd_tabletop; set PREHEND_SHARED_DATA to the folder that holds it");
        return;
    };
    // The bowl that people called green is teal: its median hue is 183 degrees.
    let wide = Vector3::repeat(3.0);
    for (name, color) in [("blue_mug", "blue"), ("cheezit", "red"), ("cylinder", ""), ("green_bowl", "cyan")]
    {
        let (frame, target) = load(&data.join(name));
        let settings = MapSettings {
            segment: SegmentSettings { region_low: -wide, region_high: wide, ..Default::default() },
            ..Default::default()
        };
        let mut builder = MapBuilder::new("map", settings);
        builder.update(&frame, None, false, 0).unwrap_or_else(|e| panic!("{name}: {e}"));
        let map = builder.map();
        let found: Vec<f64> = map.objects.iter().map(|o| o.crops[0].mask.iou(&target)).collect();
        let best = (0..found.len()).max_by(|a, b| found[*a].total_cmp(&found[*b])).expect("an object");
        let object = &map.objects[best];
        eprintln!(
            "{name}: IoU {:.3} of {} objects, size {:.3?}, {:?}",
            found[best],
            found.len(),
            object.bounds.size,
            object.color_fractions
        );
        assert!(found[best] > 0.8, "{name}: {found:?}");
        assert!(found.len() <= 3, "{name}: {} objects where one has depth", found.len());
        if !color.is_empty() {
            assert!(
                object.color_fractions.iter().any(|(word, share)| word == color && *share > 0.3),
                "{name}: {:?}",
                object.color_fractions
            );
        }
    }
}
