//! Voxel hashing: down-sampling, neighbours within a radius, overlap of two clouds; all linear in the number of points.

use crate::PointCloud;
use nalgebra::{Point3, Vector3};
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// Integer coordinates of a voxel.
pub type Voxel = [i32; 3];

/// A multiplicative hasher for small integer keys; the standard one costs more than the geometry.
#[derive(Clone, Copy, Debug, Default)]
pub struct VoxelHasher(u64);

impl Hasher for VoxelHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.write_u64(u64::from(*byte));
        }
    }

    fn write_i32(&mut self, value: i32) {
        self.write_u64(u64::from(value as u32));
    }

    fn write_u64(&mut self, value: u64) {
        self.0 = (self.0.rotate_left(23) ^ value).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    }

    fn write_usize(&mut self, value: usize) {
        self.write_u64(value as u64);
    }
}

/// A map from voxels to anything, whose iteration order depends on nothing but what was inserted.
pub type VoxelMap<T> = HashMap<Voxel, T, BuildHasherDefault<VoxelHasher>>;

/// The voxel of edge `leaf` (metres, positive) that holds a point. Coordinates beyond `i32` saturate.
pub fn voxel_of(point: &Point3<f64>, leaf: f64) -> Voxel {
    [(point.x / leaf).floor() as i32, (point.y / leaf).floor() as i32, (point.z / leaf).floor() as i32]
}

/// One mean point (and mean colour) per occupied voxel, in the order the voxels were first met.
/// A leaf that is not positive gives the cloud itself.
pub fn downsample(cloud: &PointCloud, leaf: f64) -> PointCloud {
    if !(leaf.is_finite() && leaf > 0.0) {
        return cloud.clone();
    }
    struct Sum {
        point: Vector3<f64>,
        color: [u32; 3],
        count: u32,
    }
    let colored = cloud.colors.len() == cloud.points.len();
    let mut place: VoxelMap<usize> = VoxelMap::default();
    let mut sums: Vec<Sum> = Vec::new();
    for (index, point) in cloud.points.iter().enumerate() {
        let at = *place.entry(voxel_of(point, leaf)).or_insert_with(|| {
            sums.push(Sum { point: Vector3::zeros(), color: [0; 3], count: 0 });
            sums.len() - 1
        });
        let sum = &mut sums[at];
        sum.point += point.coords;
        sum.count += 1;
        if colored {
            for (total, channel) in sum.color.iter_mut().zip(cloud.colors[index]) {
                *total += u32::from(channel);
            }
        }
    }
    PointCloud {
        points: sums.iter().map(|sum| Point3::from(sum.point / f64::from(sum.count))).collect(),
        colors: if colored {
            sums.iter()
                .map(|sum| sum.color.map(|total| ((total + sum.count / 2) / sum.count) as u8))
                .collect()
        } else {
            Vec::new()
        },
    }
}

/// Points sorted into voxels, for neighbour queries up to one voxel edge away.
#[derive(Clone, Debug)]
pub struct VoxelGrid<'a> {
    points: &'a [Point3<f64>],
    leaf: f64,
    /// Indices of the points, grouped by voxel.
    order: Vec<u32>,
    /// Voxel to its range in `order`.
    cells: VoxelMap<(u32, u32)>,
}

impl<'a> VoxelGrid<'a> {
    /// Sorts the points into voxels of edge `leaf` (metres; not positive counts as 1 mm).
    pub fn new(points: &'a [Point3<f64>], leaf: f64) -> Self {
        let leaf = if leaf.is_finite() && leaf > 0.0 { leaf } else { 1e-3 };
        let keys: Vec<Voxel> = points.iter().map(|p| voxel_of(p, leaf)).collect();
        let mut cells: VoxelMap<(u32, u32)> = VoxelMap::default();
        for key in &keys {
            cells.entry(*key).or_insert((0, 0)).1 += 1;
        }
        let mut start = 0;
        for (first, count) in cells.values_mut() {
            *first = start;
            start += *count;
            *count = 0;
        }
        let mut order = vec![0; points.len()];
        for (index, key) in keys.iter().enumerate() {
            if let Some((first, count)) = cells.get_mut(key) {
                order[(*first + *count) as usize] = index as u32;
                *count += 1;
            }
        }
        Self { points, leaf, order, cells }
    }

    /// Calls `visit` with the index of every point within `radius` of `center`, itself included; the radius is
    /// clipped to the voxel edge.
    pub fn for_each_within(&self, center: &Point3<f64>, radius: f64, mut visit: impl FnMut(usize)) {
        let radius = radius.min(self.leaf);
        let limit = radius * radius;
        let [x, y, z] = voxel_of(center, self.leaf);
        for dx in -1..=1 {
            for dy in -1..=1 {
                for dz in -1..=1 {
                    let key = [x.saturating_add(dx), y.saturating_add(dy), z.saturating_add(dz)];
                    let Some((first, count)) = self.cells.get(&key) else { continue };
                    for slot in *first..*first + *count {
                        let index = self.order[slot as usize] as usize;
                        if (self.points[index] - center).norm_squared() <= limit {
                            visit(index);
                        }
                    }
                }
            }
        }
    }

    /// Indices of the points within `radius` (at most the voxel edge) of `center`.
    pub fn within(&self, center: &Point3<f64>, radius: f64) -> Vec<usize> {
        let mut found = Vec::new();
        self.for_each_within(center, radius, |index| found.push(index));
        found
    }

    /// Whether any point is within `radius` (at most the voxel edge) of `center`; stops at the first.
    pub fn any_within(&self, center: &Point3<f64>, radius: f64) -> bool {
        let radius = radius.min(self.leaf);
        let limit = radius * radius;
        let [x, y, z] = voxel_of(center, self.leaf);
        // The own voxel first: it holds the answer most of the time.
        const STEPS: [i32; 3] = [0, -1, 1];
        STEPS.iter().any(|dx| {
            STEPS.iter().any(|dy| {
                STEPS.iter().any(|dz| {
                    let key = [x.saturating_add(*dx), y.saturating_add(*dy), z.saturating_add(*dz)];
                    self.cells.get(&key).is_some_and(|(first, count)| {
                        self.order[*first as usize..(*first + *count) as usize]
                            .iter()
                            .any(|index| (self.points[*index as usize] - center).norm_squared() <= limit)
                    })
                })
            })
        })
    }

    /// Index and distance of the nearest point within the voxel edge of `center`.
    pub fn nearest(&self, center: &Point3<f64>) -> Option<(usize, f64)> {
        let mut best: Option<(usize, f64)> = None;
        self.for_each_within(center, self.leaf, |index| {
            let distance = (self.points[index] - center).norm();
            if best.is_none_or(|(_, least)| distance < least) {
                best = Some((index, distance));
            }
        });
        best
    }
}

/// Share of the points of `a` that have a point of `b` within `distance`, in [0, 1]; 0 when either is empty.
/// The geometric similarity of ASP IV-A (the nearest-neighbour ratio of its source), and not symmetric.
pub fn overlap_ratio(a: &[Point3<f64>], b: &[Point3<f64>], distance: f64) -> f64 {
    if a.is_empty() || b.is_empty() {
        return 0.0;
    }
    let grid = VoxelGrid::new(b, distance);
    let near = a.iter().filter(|p| grid.any_within(p, distance)).count();
    near as f64 / a.len() as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn points() -> impl Strategy<Value = Vec<Point3<f64>>> {
        prop::collection::vec((-0.2..0.2, -0.2..0.2, -0.2..0.2), 1..200)
            .prop_map(|v| v.into_iter().map(|(x, y, z)| Point3::new(x, y, z)).collect())
    }

    proptest! {
        #[test]
        fn neighbours_equal_brute_force(points in points(), radius in 0.005..0.1_f64) {
            let grid = VoxelGrid::new(&points, radius);
            for center in &points {
                let mut found = grid.within(center, radius);
                found.sort_unstable();
                let brute: Vec<usize> =
                    (0..points.len()).filter(|i| (points[*i] - center).norm() <= radius).collect();
                prop_assert_eq!(&found, &brute);
                let moved = center + nalgebra::Vector3::repeat(radius * 0.9);
                let any = points.iter().any(|p| (p - moved).norm() <= radius);
                prop_assert_eq!(grid.any_within(&moved, radius), any);
            }
        }

        #[test]
        fn downsampling_keeps_every_voxel_once(points in points(), leaf in 0.01..0.1_f64) {
            let cloud = PointCloud::from_points(points);
            let small = downsample(&cloud, leaf);
            let voxels = |c: &PointCloud| {
                let mut v: Vec<Voxel> = c.points.iter().map(|p| voxel_of(p, leaf)).collect();
                v.sort_unstable();
                v.dedup();
                v
            };
            prop_assert_eq!(small.len(), voxels(&cloud).len());
        }
    }

    #[test]
    fn overlap_is_the_share_of_covered_points() {
        let line = |from: f64, n: usize| -> Vec<Point3<f64>> {
            (0..n).map(|i| Point3::new(from + i as f64 * 0.01, 0.0, 0.0)).collect()
        };
        assert_eq!(overlap_ratio(&line(0.0, 10), &line(0.0, 10), 0.004), 1.0);
        assert_eq!(overlap_ratio(&line(0.0, 10), &line(0.05, 10), 0.004), 0.5);
        assert_eq!(overlap_ratio(&line(0.0, 5), &line(0.0, 10), 0.004), 1.0);
        assert_eq!(overlap_ratio(&line(0.0, 10), &line(1.0, 10), 0.004), 0.0);
        assert_eq!(overlap_ratio(&[], &line(1.0, 10), 0.004), 0.0);
    }

    #[test]
    fn mean_colours_survive() {
        let cloud = PointCloud {
            points: vec![Point3::new(0.001, 0.0, 0.0), Point3::new(0.002, 0.0, 0.0)],
            colors: vec![[10, 20, 30], [20, 40, 60]],
        };
        let small = downsample(&cloud, 0.01);
        assert_eq!((small.len(), small.colors.as_slice()), (1, [[15, 30, 45]].as_slice()));
    }
}
