//! Surface normals from neighbours.

use crate::plane::Plane;
use crate::voxel::VoxelGrid;
use nalgebra::{Point3, Unit, Vector3};

/// Normal of each point: the least axis of its neighbours within `radius`, turned to the side of `viewpoint` (same frame);
/// `None` with fewer than three neighbours or collinear ones.
pub fn estimate(
    points: &[Point3<f64>],
    radius: f64,
    viewpoint: &Point3<f64>,
) -> Vec<Option<Unit<Vector3<f64>>>> {
    let grid = VoxelGrid::new(points, radius);
    points
        .iter()
        .map(|point| {
            let near = grid.within(point, radius);
            Plane::fit(near.iter().map(|i| &points[*i]), &(viewpoint - point)).map(|plane| plane.normal)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn normals_of_a_sphere_point_outward_when_seen_from_outside() {
        let golden = std::f64::consts::PI * (3.0 - 5.0_f64.sqrt());
        let points: Vec<Point3<f64>> = (0..2000)
            .map(|i| {
                let z = 1.0 - 2.0 * (f64::from(i) + 0.5) / 2000.0;
                let (s, c) = (golden * f64::from(i)).sin_cos();
                Point3::from(Vector3::new((1.0 - z * z).sqrt() * c, (1.0 - z * z).sqrt() * s, z) * 0.05)
            })
            .collect();
        let eye = Point3::new(0.0, 0.0, 1.0);
        for (point, normal) in points.iter().zip(estimate(&points, 0.008, &eye)) {
            let normal = normal.unwrap();
            assert!(normal.dot(&point.coords.normalize()).abs() > 0.98);
            assert!(normal.dot(&(eye - point)) >= 0.0);
        }
        assert_eq!(estimate(&points[..2], 0.008, &eye), [None, None]);
    }
}
