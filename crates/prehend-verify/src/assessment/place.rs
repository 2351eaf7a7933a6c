//! Whether a region of an image lies where an object is in it.

use nalgebra::Point3;
use prehend_geometry::{Mask, PointCloud};
use prehend_scene::{Region, Sighting};
use std::collections::HashSet;

/// Distance that a point of the cloud stands for, metres: clouds have one point every few millimetres.
const POINT_REACH: f64 = 0.01;
/// Least share, of the region on the object or of the object in the region. A third, because one of two things that a region
/// merges, or a part of a thing, must pass: how well regions agree is for omega to say, here it is only told what they are of.
const LEAST_SHARE: f64 = 1.0 / 3.0;
/// Most pixels of a region that are tested; the share of some thousand is exact to a per cent.
const MOST_PIXELS: usize = 4096;

/// Whether the region is of the object with this cloud (map frame): at least a third of the region lies on the object, or at least
/// a third of the object's points lie in the region. False when the region is of an image of another size.
pub(super) fn lies_on(region: &Region, cloud: &PointCloud, seen: &Sighting) -> bool {
    let mask = region.mask();
    let camera = &seen.intrinsics;
    if (mask.image_width, mask.image_height) != (camera.width, camera.height) {
        return false;
    }
    let camera_from_map = seen.map_from_camera.inverse();
    let shown: Vec<(usize, f64)> = cloud
        .points
        .iter()
        .filter(|point| point.coords.iter().all(|number| number.is_finite()))
        .filter_map(|point| {
            let local: Point3<f64> = camera_from_map * point;
            Some((camera.pixel_index(&local)?, local.z))
        })
        .collect();
    if shown.is_empty() {
        return false;
    }
    let within = shown.iter().filter(|(pixel, _)| holds(mask, *pixel, camera.width)).count();
    within as f64 >= LEAST_SHARE * shown.len() as f64 || share_on(mask, &shown, seen) >= LEAST_SHARE
}

fn holds(mask: &Mask, pixel: usize, width: usize) -> bool {
    mask.contains(pixel % width, pixel / width)
}

/// Share of the mask's pixels that are within [`POINT_REACH`] of a point that is shown. Told by cells of that size, so that no
/// pixel is compared with every point.
fn share_on(mask: &Mask, shown: &[(usize, f64)], seen: &Sighting) -> f64 {
    let nearest = shown.iter().map(|(_, z)| *z).fold(f64::INFINITY, f64::min);
    let cell = (POINT_REACH * seen.intrinsics.fx / nearest.max(POINT_REACH)).ceil().max(1.0) as usize;
    let width = seen.intrinsics.width;
    let cell_of = |pixel: usize| (pixel % width / cell, pixel / width / cell);
    let taken: HashSet<(usize, usize)> = shown.iter().map(|(pixel, _)| cell_of(*pixel)).collect();
    let pixels = mask.indices();
    let step = pixels.len().div_ceil(MOST_PIXELS).max(1);
    let tested: Vec<usize> = pixels.into_iter().step_by(step).collect();
    let on = tested.iter().filter(|pixel| taken.contains(&cell_of(**pixel))).count();
    if tested.is_empty() { 0.0 } else { on as f64 / tested.len() as f64 }
}
