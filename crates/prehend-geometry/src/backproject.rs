//! From depth pixels to points in another frame, pixel by pixel.

use crate::{DepthImage, Intrinsics};
use nalgebra::{Isometry3, Point2, Point3};
use rayon::prelude::*;

/// The points of an image, still on its grid: one optional point per pixel.
#[derive(Clone, Debug, PartialEq)]
pub struct PointGrid {
    /// Width, pixels.
    pub width: usize,
    /// Height, pixels.
    pub height: usize,
    /// `[height, width]` points in the target frame, metres; `None` where nothing was measured or the pixel is flying.
    pub points: Vec<Option<Point3<f64>>>,
}

impl PointGrid {
    /// The points of pixels, by their row-major indices, in their order; where nothing was measured there is none.
    pub fn of(&self, pixels: &[usize]) -> Vec<Point3<f64>> {
        let mut points = Vec::with_capacity(pixels.len());
        points.extend(pixels.iter().filter_map(|index| self.points[*index]));
        points
    }

    /// As [`PointGrid::of`], only where they are on the ground.
    pub fn ground(&self, pixels: &[usize]) -> Vec<Point2<f64>> {
        let mut points = Vec::with_capacity(pixels.len());
        points.extend(pixels.iter().filter_map(|index| self.points[*index]).map(|point| point.xy()));
        points
    }
}

/// The depth image lifted by the intrinsics and moved by `target_from_camera`; depths beyond `max_depth` metres and flying
/// pixels are left out. The images' sizes must be equal, otherwise the grid is empty.
pub fn point_grid(
    depth: &DepthImage,
    intrinsics: &Intrinsics,
    target_from_camera: &Isometry3<f64>,
    max_depth: f64,
) -> PointGrid {
    point_grid_where(depth, intrinsics, target_from_camera, max_depth, |_| true)
}

/// As [`point_grid`]; pixels that are not wanted, by their row-major indices, are left out too.
pub fn point_grid_where(
    depth: &DepthImage,
    intrinsics: &Intrinsics,
    target_from_camera: &Isometry3<f64>,
    max_depth: f64,
    is_wanted: impl Fn(usize) -> bool + Sync,
) -> PointGrid {
    let (width, height) = (depth.width, depth.height);
    let sizes_agree = (width, height) == (intrinsics.width, intrinsics.height);
    if !sizes_agree || depth.millimetres.len() != width * height {
        return PointGrid { width: 0, height: 0, points: Vec::new() };
    }
    let rotation = target_from_camera.rotation.to_rotation_matrix();
    let shift = target_from_camera.translation.vector;
    let limit = (max_depth * 1e3).clamp(0.0, f64::from(u16::MAX)) as u16;
    let across: Vec<f64> = (0..width).map(|u| (u as f64 - intrinsics.cx) / intrinsics.fx).collect();
    let mut points = vec![None; width * height];
    points.par_chunks_mut((ROWS * width).max(1)).enumerate().for_each(|(band, rows)| {
        for (v, row) in rows.chunks_mut(width).enumerate().map(|(v, row)| (band * ROWS + v, row)) {
            let y = (v as f64 - intrinsics.cy) / intrinsics.fy;
            let around = Around::of(depth, v);
            for (u, (slot, mm)) in row.iter_mut().zip(around.here).enumerate() {
                if *mm == 0 || *mm > limit || !is_wanted(v * width + u) || around.is_flying(u) {
                    continue;
                }
                let z = f64::from(*mm) * 1e-3;
                let local = nalgebra::Vector3::new(across[u] * z, y * z, z);
                *slot = Some(Point3::from(rotation * local + shift));
            }
        }
    });
    PointGrid { width, height, points }
}

/// Rows that a thread takes at once.
const ROWS: usize = 24;

/// A row of a depth image with the one above and the one below; at the picture's border the row itself.
struct Around<'a> {
    above: &'a [u16],
    here: &'a [u16],
    below: &'a [u16],
}

impl<'a> Around<'a> {
    fn of(depth: &'a DepthImage, v: usize) -> Self {
        let row = |v: usize| &depth.millimetres[v * depth.width..(v + 1) * depth.width];
        Self { above: row(v.saturating_sub(1)), here: row(v), below: row((v + 1).min(depth.height - 1)) }
    }

    /// See [`is_flying`]. What is the pixel itself, for want of a neighbour, is on no other side of a jump.
    #[inline]
    fn is_flying(&self, u: usize) -> bool {
        let here = i32::from(self.here[u]);
        let jump = 8 + here / 100;
        let between = |a: u16, b: u16| {
            let (a, b) = (i32::from(a), i32::from(b));
            a > 0 && b > 0 && ((here - a > jump && b - here > jump) || (a - here > jump && here - b > jump))
        };
        between(self.here[u.saturating_sub(1)], self.here[(u + 1).min(self.here.len() - 1)])
            || between(self.above[u], self.below[u])
    }
}

/// Whether the pixel hangs between two surfaces: along a row or a column its depth jumps the same way on both sides by more
/// than 8 mm + 1 % of the depth. Stereo and structured light cameras smear edges so.
pub fn is_flying(depth: &DepthImage, u: usize, v: usize) -> bool {
    Around::of(depth, v).is_flying(u)
}

#[cfg(test)]
mod tests {
    use super::*;
    use approx::assert_relative_eq;
    use nalgebra::Vector3;

    const CAMERA: Intrinsics = Intrinsics { fx: 10.0, fy: 10.0, cx: 2.0, cy: 0.0, width: 5, height: 1 };

    #[test]
    fn points_stand_where_the_camera_saw_them() {
        let depth = DepthImage { width: 5, height: 1, millimetres: vec![1000, 0, 1000, 1004, 5000] };
        let pose = Isometry3::new(Vector3::new(1.0, 2.0, 3.0), Vector3::zeros());
        let grid = point_grid(&depth, &CAMERA, &pose, 2.0);
        assert_relative_eq!(grid.points[0].unwrap(), Point3::new(0.8, 2.0, 4.0), epsilon = 1e-12);
        assert_relative_eq!(grid.points[2].unwrap(), Point3::new(1.0, 2.0, 4.0), epsilon = 1e-12);
        assert_eq!((grid.points[1], grid.points[4]), (None, None));
        let back = pose.inverse() * grid.points[3].unwrap();
        assert_eq!(CAMERA.pixel_index(&back), Some(3));
    }

    #[test]
    fn flying_pixels_are_left_out() {
        let depth = DepthImage { width: 5, height: 1, millimetres: vec![500, 500, 600, 700, 700] };
        let grid = point_grid(&depth, &CAMERA, &Isometry3::identity(), 2.0);
        let seen: Vec<bool> = grid.points.iter().map(Option::is_some).collect();
        assert_eq!(seen, [true, true, false, true, true]);
    }

    #[test]
    fn sizes_that_disagree_give_nothing() {
        let depth = DepthImage { width: 4, height: 1, millimetres: vec![500; 4] };
        assert!(point_grid(&depth, &CAMERA, &Isometry3::identity(), 2.0).points.is_empty());
    }
}
