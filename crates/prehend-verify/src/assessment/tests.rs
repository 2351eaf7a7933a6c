use super::place::lies_on;
use super::*;
use nalgebra::{Isometry3, Point3, Translation3, UnitQuaternion, Vector3};
use prehend_geometry::{Intrinsics, Mask, PointCloud};
use prehend_scene::Region;

/// A camera 0.6 m above the table that looks straight down; one pixel is a millimetre there.
fn from_above() -> Sighting {
    let down = UnitQuaternion::from_axis_angle(&Vector3::x_axis(), std::f64::consts::PI);
    Sighting {
        view: "home".to_owned(),
        stamp: 1.0,
        intrinsics: Intrinsics { fx: 600.0, fy: 600.0, cx: 320.0, cy: 240.0, width: 640, height: 480 },
        map_from_camera: Isometry3::from_parts(Translation3::new(0.0, 0.0, 0.6), down),
    }
}

/// A row of points along x, metres, one every 4 mm: a pen.
fn pen(from: f64, to: f64) -> PointCloud {
    let count = ((to - from) / 0.004) as usize;
    PointCloud::from_points((0..=count).map(|i| Point3::new(from + 0.004 * i as f64, 0.0, 0.0)).collect())
}

fn mask(x: usize, y: usize, width: usize, height: usize) -> Region {
    Region::Mask(Mask::filled_box(640, 480, x, y, width, height))
}

#[test]
fn a_region_is_of_what_it_covers_or_lies_on() {
    let (seen, pen) = (from_above(), pen(-0.1, 0.1));
    let check = |name: &str, region: Region, on: bool| {
        assert_eq!(lies_on(&region, &pen, &seen), on, "{name}");
    };
    check("the whole", mask(220, 236, 201, 8), true);
    check("its tip", mask(400, 236, 20, 8), true);
    check("half of it and much more", mask(320, 100, 200, 300), true);
    check("beside it", mask(220, 300, 200, 40), false);
    check("its shadow, with a corner on it", mask(400, 232, 200, 200), false);
    check("nothing", mask(0, 0, 0, 0), false);
    check("of an image of another size", Region::Mask(Mask::filled_box(320, 240, 110, 118, 100, 4)), false);
    // A box is of what it holds, although most of it is empty.
    let turned = Isometry3::rotation(Vector3::z() * 0.8);
    let diagonal = PointCloud::from_points(pen.points.iter().map(|point| turned * point).collect());
    assert!(lies_on(&Region::Box(Mask::filled_box(640, 480, 248, 168, 145, 145)), &diagonal, &seen));
    // Behind the camera, or nowhere.
    let behind = PointCloud::from_points(vec![Point3::new(0.0, 0.0, 2.0), Point3::new(f64::NAN, 0.0, 0.0)]);
    assert!(!lies_on(&mask(0, 0, 640, 480), &behind, &seen));
}

#[test]
fn only_the_newest_assessments_are_kept() {
    let mut assessments = Assessments::new(1);
    let sightings = Sightings::new();
    let scene = Scene { map: None, sightings: &sightings, now: 2.0 };
    let key = ObjectKey::from("mug_0");
    let mut keep = || {
        let judged = assess(&key, &[], &scene, &CommitRule::default());
        assessments.keep(&key, &[], judged, &scene)
    };
    let first = keep();
    let ids: Vec<String> = (0..KEPT).map(|_| keep()).collect();
    assert!(assessments.get(&first).is_none());
    assert!(ids.iter().all(|id| assessments.get(id).is_some()));
    assert!(Assessments::new(2).get(&ids[0]).is_none(), "another life knows none of them");
}
