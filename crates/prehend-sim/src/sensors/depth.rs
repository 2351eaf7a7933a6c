//! What a stereo depth camera makes of true distances.

use super::dice::{self, NormalTable};
use super::render::Picture;
use crate::scene::DepthNoise;
use prehend_geometry::DepthImage;

/// Nearest distance that is measured, metres (D435i at 640 x 480; Intel RealSense D400 datasheet, "Min-Z").
pub const MIN_DEPTH: f64 = 0.11;
/// Farthest distance that is measured, metres ("ideal range .3 m to 3 m", the same datasheet).
pub const MAX_DEPTH: f64 = 3.0;

/// Turns the true distances of a picture into a depth image in millimetres; 0 is a hole.
///
/// `key` names the frame: the same key gives the same noise. Without `noise` only the range and the millimetre grid remain.
pub(super) fn measure(
    picture: &Picture,
    noise: Option<&DepthNoise>,
    table: &NormalTable,
    key: u64,
) -> DepthImage {
    let (width, height) = (picture.labels.width, picture.labels.height);
    let mut image = DepthImage { width, height, millimetres: vec![0; width * height] };
    let at_edge = noise.filter(|n| n.edge_px > 0 && n.edge_dropout > 0.0).map(|n| edges(picture, n.edge_px));
    let grazing = noise.map_or(0.0, |n| n.grazing.sin()) as f32;
    let sigma = noise.map_or(0.0, |n| n.sigma_at_1m) as f32;
    let (low, high) = (MIN_DEPTH as f32, MAX_DEPTH as f32);
    for (index, out) in image.millimetres.iter_mut().enumerate() {
        let true_depth = picture.depth[index];
        let mut depth = true_depth;
        if let Some(noise) = noise {
            let bits = dice::mix(key.wrapping_add(index as u64));
            let chance = (bits >> 40) as f64 / (1u64 << 24) as f64;
            let edge = at_edge.as_ref().is_some_and(|edges| edges[index]);
            let dropout = if edge { noise.edge_dropout.max(noise.dropout) } else { noise.dropout };
            if chance < dropout || picture.facing[index] < grazing {
                continue;
            }
            depth += sigma * true_depth * true_depth * table.at(bits);
        }
        if depth >= low && depth <= high {
            *out = (depth * 1000.0 + 0.5) as u16;
        }
    }
    image
}

/// Pixels within `reach` pixels of a jump in depth.
fn edges(picture: &Picture, reach: usize) -> Vec<bool> {
    let (width, height) = (picture.labels.width, picture.labels.height);
    let depth = &picture.depth;
    // A table seen at the grazing angle changes by about one hundredth of its distance from pixel to pixel.
    let jump = |a: f32, b: f32| (a - b).abs() > 0.010 + 0.012 * a.min(b);
    let mut edge = vec![false; width * height];
    let mut mark = |v: usize, u: usize, dv: usize, du: usize| {
        for k in 0..reach {
            let before = (v as isize - (k * dv) as isize, u as isize - (k * du) as isize);
            if before.0 >= 0 && before.1 >= 0 {
                edge[before.0 as usize * width + before.1 as usize] = true;
            }
            let after = (v + (k + 1) * dv, u + (k + 1) * du);
            if after.0 < height && after.1 < width {
                edge[after.0 * width + after.1] = true;
            }
        }
    };
    for v in 0..height {
        for u in 0..width {
            let here = depth[v * width + u];
            if u + 1 < width && jump(here, depth[v * width + u + 1]) {
                mark(v, u, 0, 1);
            }
            if v + 1 < height && jump(here, depth[(v + 1) * width + u]) {
                mark(v, u, 1, 0);
            }
        }
    }
    edge
}
