//! Where up is when nobody knows the camera's pose: what carries things is level.

use crate::segment::{SegmentSettings, depth_sigma, sample};
use nalgebra::{Isometry3, Matrix3, Rotation3, Translation3, Unit, UnitQuaternion, Vector3};
use prehend_geometry::backproject::point_grid;
use prehend_geometry::plane::{Plane, PlaneSearch, ransac};
use prehend_geometry::{DepthImage, Intrinsics};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

/// Greatest angle between the normal of the support and the picture's upward direction of a camera that is held upright, radians.
const UPRIGHT: f64 = 1.3;
/// Greatest angle between the normal and the way back to the camera when it looks straight down, radians.
const DOWN: f64 = 0.7;
/// Samples of three points: one plane in four of the points is found in 0.999 of all cases with 450.
const ITERATIONS: usize = 800;
/// Least share of a plane's points that lie within half the allowed distance. It is one half if the plane only cuts through a surface,
/// and four fifths if it lies on one; this is the middle.
const CLOSE: f64 = 0.65;
/// How much farther from a plane its points may be where none is flat: wide-field cameras bend a table by a centimetre to either side.
const BENT: f64 = 2.5;
/// Greatest distance of points from the plane that they lie on, metres, however noisy the camera: things are as high.
const FARTHEST: f64 = 0.03;
/// Least length of the part of the viewing direction that is level; the picture's upward direction serves below it.
const LEVEL_PART: f64 = 0.3;

/// The camera's pose in a frame that lies on the support. z is the plane's normal. The origin is on the plane, right below the camera. x
/// points where the camera looks, made level; if it looks straight down, x is the picture's upward direction, made level.
///
/// `None` if no plane has `plane_share` of the measured points. A wall is taken only if nothing in the picture is level: the camera must
/// not be rolled over by more than 70 degrees. `seed` drives the search.
pub fn map_from_camera(
    depth: &DepthImage,
    intrinsics: &Intrinsics,
    settings: &SegmentSettings,
    seed: u64,
) -> Option<Isometry3<f64>> {
    let grid = point_grid(depth, intrinsics, &Isometry3::identity(), settings.max_depth);
    let points = sample(&grid);
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let (up, back) = (-Vector3::y_axis(), -Vector3::z_axis());
    let mut depths: Vec<f64> = points.iter().map(|point| point.z).collect();
    depths.sort_by(f64::total_cmp);
    let sigma = depth_sigma(depth, settings) * depths.get(depths.len() / 2)?.powi(2);
    let distance = settings.plane_distance.max(2.5 * sigma);
    // A level plane first, then a wall; each plane flat, or, if there is no such one, bent.
    let searches = [1.0, BENT].into_iter().flat_map(|wider| [(up, UPRIGHT, wider), (back, DOWN, wider)]);
    let plane = searches.into_iter().find_map(|(direction, angle, wider)| {
        let (prior, distance) = ((direction, angle), (distance * wider).min(FARTHEST));
        let search = PlaneSearch { prior: Some(prior), distance, iterations: ITERATIONS };
        let (plane, inliers) = ransac(&points, &search, &mut rng)?;
        let close =
            inliers.iter().filter(|index| plane.distance(&points[**index]).abs() <= distance / 2.0).count();
        let is_large = inliers.len() as f64 >= settings.plane_share * points.len() as f64;
        // The camera is above what carries things.
        (plane.offset > 0.0 && is_large && close as f64 >= CLOSE * inliers.len() as f64).then_some(plane)
    })?;
    on_plane(&plane)
}

/// The frame on a plane of the camera frame whose normal points to the camera's side.
fn on_plane(plane: &Plane) -> Option<Isometry3<f64>> {
    let z = plane.normal.into_inner();
    let level = |direction: Vector3<f64>| direction - z * z.dot(&direction);
    let ahead = level(Vector3::z());
    let ahead = if ahead.norm() < LEVEL_PART { level(-Vector3::y()) } else { ahead };
    let x = Unit::try_new(ahead, 1e-6)?.into_inner();
    let turn = Matrix3::from_rows(&[x.transpose(), z.cross(&x).transpose(), z.transpose()]);
    let rotation = UnitQuaternion::from_rotation_matrix(&Rotation3::from_matrix_unchecked(turn));
    Some(Isometry3::from_parts(Translation3::new(0.0, 0.0, plane.offset), rotation))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::{VGA, home, looking, render, ten};
    use rand::RngExt;

    /// The pose without what no picture can show: where on the plane, and which way around.
    fn check(map_from_camera: Isometry3<f64>) {
        let frame = render(&ten(), &VGA, &map_from_camera, 0.002, 1);
        let found = super::map_from_camera(&frame.depth, &VGA, &SegmentSettings::default(), 0).unwrap();
        let height = map_from_camera.translation.z;
        assert!((found.translation.vector - Vector3::new(0.0, 0.0, height)).norm() < 0.005, "{found}");
        let up = |pose: &Isometry3<f64>| pose.inverse_transform_vector(&Vector3::z());
        assert!(up(&found).angle(&up(&map_from_camera)) < 0.01, "{found}");
        let ahead = found * Vector3::z();
        assert!(ahead.y.abs() < 0.01 && ahead.x > -0.01, "{ahead}");
    }

    #[test]
    fn the_table_is_level_from_wherever_it_is_seen() {
        check(home());
        for eye in [[0.0, 0.0, 0.6], [-0.1, 0.3, 0.3], [0.4, 0.05, 0.9], [0.399, 0.0, 0.6]] {
            check(looking(eye, [0.4, 0.0, 0.0]));
        }
    }

    #[test]
    fn the_camera_is_above_the_table_also_when_it_is_held_upside_down() {
        // It leans over the table so that the picture's upper border shows what is nearest.
        let around = UnitQuaternion::from_axis_angle(&Vector3::z_axis(), std::f64::consts::PI);
        for x in [0.15, 0.1] {
            check(looking([x, 0.0, 0.6], [0.4, 0.0, 0.0]) * around);
        }
    }

    #[test]
    fn a_noisy_or_a_bent_table_is_level_too() {
        let pose = looking([-0.2, 0.0, 0.9], [0.5, 0.0, 0.0]);
        let up = |pose: &Isometry3<f64>| pose.inverse_transform_vector(&Vector3::z());
        let frame = render(&ten(), &VGA, &pose, 0.014, 1);
        let noisy = super::map_from_camera(&frame.depth, &VGA, &SegmentSettings::default(), 0).unwrap();
        assert!(up(&noisy).angle(&up(&pose)) < 0.03, "{noisy}");
        let mut depth = render(&ten(), &VGA, &pose, 0.001, 1).depth;
        for (index, mm) in depth.millimetres.iter_mut().enumerate().filter(|(_, mm)| **mm > 0) {
            let (u, v) = ((index % VGA.width) as f64 / 320.0 - 1.0, (index / VGA.width) as f64 / 240.0 - 1.0);
            *mm = (f64::from(*mm) + 20.0 * (u * u + v * v - 0.66)) as u16;
        }
        let bent = super::map_from_camera(&depth, &VGA, &SegmentSettings::default(), 0).unwrap();
        assert!(up(&bent).angle(&up(&pose)) < 0.03, "{bent}");
    }

    #[test]
    fn without_a_plane_there_is_no_frame() {
        let mut rng = ChaCha8Rng::seed_from_u64(3);
        let millimetres = (0..VGA.width * VGA.height).map(|_| rng.random_range(500..2000)).collect();
        let depth = DepthImage { width: VGA.width, height: VGA.height, millimetres };
        assert_eq!(map_from_camera(&depth, &VGA, &SegmentSettings::default(), 0), None);
    }
}
