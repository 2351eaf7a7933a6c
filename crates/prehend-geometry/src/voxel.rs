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
        // Slices of integers come as bytes: eight at a time.
        let (words, rest) = bytes.as_chunks::<8>();
        words.iter().for_each(|word| self.write_u64(u64::from_ne_bytes(*word)));
        let (halves, rest) = rest.as_chunks::<4>();
        halves.iter().for_each(|half| self.write_u64(u64::from(u32::from_ne_bytes(*half))));
        rest.iter().for_each(|byte| self.write_u64(u64::from(*byte)));
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
#[inline]
pub fn voxel_of(point: &Point3<f64>, leaf: f64) -> Voxel {
    [floor(point.x / leaf), floor(point.y / leaf), floor(point.z / leaf)]
}

/// `f64::floor` as `i32`, without the call that it is on processors that are not newer than the compiler's baseline.
#[inline]
fn floor(x: f64) -> i32 {
    let toward_zero = x as i32;
    toward_zero.saturating_sub(i32::from(f64::from(toward_zero) > x))
}

/// What a squared distance to a voxel is taken with, so that rounding never hides a neighbour.
const ROUNDING: f64 = 1.0 - 1e-9;

/// Voxels of a listed box for each point, at most: what is more is hashed.
const LISTED: usize = 24;

/// A box of voxels that is small enough to list every one of them; things are, rooms are not.
#[derive(Clone, Copy, Debug)]
pub(crate) struct VoxelBox {
    low: Voxel,
    /// Number of voxels along each axis, at least 1.
    counts: [usize; 3],
}

impl VoxelBox {
    /// The box around the voxels of these points; `None` when it holds too many to list, or there are no points.
    pub(crate) fn around(points: &[Point3<f64>], leaf: f64) -> Option<Self> {
        let (mut least, mut most, mut sum) = (*points.first()?, *points.first()?, 0.0);
        for point in points {
            for axis in 0..3 {
                least[axis] = if point[axis] < least[axis] { point[axis] } else { least[axis] };
                most[axis] = if point[axis] > most[axis] { point[axis] } else { most[axis] };
            }
            sum += point.x + point.y + point.z;
        }
        // What is not finite has no place in a list.
        if !f64::is_finite(sum) {
            return None;
        }
        let (low, high) = (voxel_of(&least, leaf), voxel_of(&most, leaf));
        let counts = [0, 1, 2].map(|axis| (i64::from(high[axis]) - i64::from(low[axis]) + 1) as usize);
        let all = counts.iter().try_fold(1_usize, |all, count| all.checked_mul(*count))?;
        (all <= points.len().saturating_mul(LISTED).max(LISTED)).then_some(Self { low, counts })
    }

    /// How many voxels it holds.
    pub(crate) fn len(&self) -> usize {
        self.counts.iter().product()
    }

    /// Place of a voxel in the list, in the order of voxels; only for voxels of the box.
    #[inline]
    pub(crate) fn place(&self, voxel: Voxel) -> usize {
        let [x, y, z] = [0, 1, 2].map(|axis| (voxel[axis] - self.low[axis]) as usize);
        (x * self.counts[1] + y) * self.counts[2] + z
    }

    /// The voxels of the box on a row along z that are no more than `reach` from a place on it, as a range of places; empty when there
    /// are none.
    #[inline]
    pub(crate) fn row(&self, [x, y]: [i32; 2], z: i32, reach: i32) -> std::ops::Range<usize> {
        let [x, y, z] = [
            i64::from(x) - i64::from(self.low[0]),
            i64::from(y) - i64::from(self.low[1]),
            i64::from(z) - i64::from(self.low[2]),
        ];
        let counts = self.counts.map(|count| count as i64);
        if x < 0 || y < 0 || x >= counts[0] || y >= counts[1] {
            return 0..0;
        }
        let (low, high) = ((z - i64::from(reach)).max(0), (z + i64::from(reach) + 1).min(counts[2]));
        let start = (x * counts[1] + y) * counts[2];
        if low < high { (start + low) as usize..(start + high) as usize } else { 0..0 }
    }
}

/// Numbers voxels in the order in which they are met.
pub(crate) enum Numbering {
    /// One more than the number of each voxel of a box, 0 for none yet; and how many have one.
    Listed(VoxelBox, Vec<u32>, u32),
    Hashed(VoxelMap<u32>),
}

impl Numbering {
    /// For the voxels of these points.
    pub(crate) fn new(points: &[Point3<f64>], leaf: f64) -> Self {
        match VoxelBox::around(points, leaf) {
            Some(all) => Self::Listed(all, vec![0; all.len()], 0),
            None => Self::Hashed(VoxelMap::with_capacity_and_hasher(points.len() / 2, Default::default())),
        }
    }

    /// The number of a voxel, which is one more than the last when it is new.
    #[inline]
    pub(crate) fn number(&mut self, voxel: Voxel) -> u32 {
        match self {
            Self::Listed(all, numbers, count) => {
                let slot = &mut numbers[all.place(voxel)];
                if *slot == 0 {
                    *count += 1;
                    *slot = *count;
                }
                *slot - 1
            }
            Self::Hashed(numbers) => {
                let next = numbers.len() as u32;
                *numbers.entry(voxel).or_insert(next)
            }
        }
    }
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
    let mut numbering = Numbering::new(&cloud.points, leaf);
    // Clouds of pixels and of two sightings have some points in each voxel.
    let mut sums: Vec<Sum> = Vec::with_capacity(cloud.len() / 2);
    for (index, point) in cloud.points.iter().enumerate() {
        let at = numbering.number(voxel_of(point, leaf)) as usize;
        if at == sums.len() {
            sums.push(Sum { point: Vector3::zeros(), color: [0; 3], count: 0 });
        }
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

/// Points sorted into voxels, for neighbour queries up to one voxel edge away. It holds a copy of the points, so it may be kept
/// as long as the cloud stays what it is.
#[derive(Clone, Debug)]
pub struct VoxelGrid {
    leaf: f64,
    /// The points, grouped by voxel.
    points: Vec<Point3<f64>>,
    /// Their indices in the cloud.
    order: Vec<u32>,
    cells: Cells,
}

/// Where the points of each voxel are.
#[derive(Clone, Debug)]
enum Cells {
    /// First point of each voxel of a box, in their order, and the end: voxels of a row are beside each other.
    Listed(VoxelBox, Vec<u32>),
    /// First point of a voxel, and how many it has.
    Hashed(VoxelMap<(u32, u32)>),
}

impl VoxelGrid {
    /// Sorts the points into voxels of edge `leaf` (metres; not positive counts as 1 mm).
    pub fn new(points: &[Point3<f64>], leaf: f64) -> Self {
        let leaf = if leaf.is_finite() && leaf > 0.0 { leaf } else { 1e-3 };
        // Which cell each point is in: one look-up per point.
        let mut cell_of: Vec<u32> = Vec::with_capacity(points.len());
        let (mut cells, mut starts) = match VoxelBox::around(points, leaf) {
            Some(all) => {
                let mut counts = vec![0_u32; all.len() + 1];
                for point in points {
                    let cell = all.place(voxel_of(point, leaf));
                    counts[cell] += 1;
                    cell_of.push(cell as u32);
                }
                (Cells::Listed(all, Vec::new()), firsts(&counts))
            }
            None => {
                let mut cells: VoxelMap<(u32, u32)> =
                    VoxelMap::with_capacity_and_hasher(points.len() / 4, BuildHasherDefault::default());
                let mut counts: Vec<u32> = Vec::new();
                for point in points {
                    let cell = cells.entry(voxel_of(point, leaf)).or_insert_with(|| {
                        counts.push(0);
                        (counts.len() as u32 - 1, 0)
                    });
                    counts[cell.0 as usize] += 1;
                    cell_of.push(cell.0);
                }
                let starts = firsts(&counts);
                for (first, count) in cells.values_mut() {
                    let cell = *first as usize;
                    (*first, *count) = (starts[cell], counts[cell]);
                }
                (Cells::Hashed(cells), starts)
            }
        };
        if let Cells::Listed(_, listed) = &mut cells {
            listed.clone_from(&starts);
        }
        let mut order = vec![0; points.len()];
        let mut sorted = vec![Point3::origin(); points.len()];
        for (index, cell) in cell_of.iter().enumerate() {
            let slot = &mut starts[*cell as usize];
            order[*slot as usize] = index as u32;
            sorted[*slot as usize] = points[index];
            *slot += 1;
        }
        Self { points: sorted, leaf, order, cells }
    }

    /// Calls `visit` with the places of the points of a voxel and its neighbours on a row along z; stops when it says so.
    #[inline]
    fn any_row(&self, row: [i32; 2], z: i32, visit: &mut impl FnMut(std::ops::Range<usize>) -> bool) -> bool {
        match &self.cells {
            Cells::Listed(all, starts) => {
                let places = all.row(row, z, 1);
                !places.is_empty() && visit(starts[places.start] as usize..starts[places.end] as usize)
            }
            Cells::Hashed(cells) => [0, -1, 1].into_iter().any(|dz| {
                let cell = cells.get(&[row[0], row[1], z.saturating_add(dz)]);
                cell.is_some_and(|(first, count)| visit(*first as usize..(*first + *count) as usize))
            }),
        }
    }

    /// Whether it holds no points.
    pub fn is_empty(&self) -> bool {
        self.points.is_empty()
    }

    /// Calls `visit` with the index of every point within `radius` of `center`, itself included; the radius is
    /// clipped to the voxel edge.
    pub fn for_each_within(&self, center: &Point3<f64>, radius: f64, mut visit: impl FnMut(usize)) {
        self.for_each_slot(center, radius, |slot| visit(self.order[slot] as usize));
    }

    fn for_each_slot(&self, center: &Point3<f64>, radius: f64, mut visit: impl FnMut(usize)) {
        let radius = radius.min(self.leaf);
        let limit = radius * radius;
        let [x, y, z] = voxel_of(center, self.leaf);
        for dx in -1..=1 {
            for dy in -1..=1 {
                self.any_row([x.saturating_add(dx), y.saturating_add(dy)], z, &mut |slots| {
                    for slot in slots {
                        if (self.points[slot] - center).norm_squared() <= limit {
                            visit(slot);
                        }
                    }
                    false
                });
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
        let voxel = voxel_of(center, self.leaf);
        // Squared distance to the neighbour on either side of each axis: what is farther than the radius is not looked up.
        let side = |axis: usize| {
            let low = center[axis] - f64::from(voxel[axis]) * self.leaf;
            let high = self.leaf - low;
            [(0, 0.0), (-1, low * low * ROUNDING), (1, high * high * ROUNDING)]
        };
        let sides = [side(0), side(1)];
        // The own row first: it holds the answer most of the time.
        sides[0].iter().any(|(dx, x)| {
            sides[1].iter().filter(|(_, y)| x + y <= limit).any(|(dy, _)| {
                let row = [voxel[0].saturating_add(*dx), voxel[1].saturating_add(*dy)];
                self.any_row(row, voxel[2], &mut |slots| {
                    self.points[slots].iter().any(|point| (point - center).norm_squared() <= limit)
                })
            })
        })
    }

    /// Share of these points that have one of the grid's within `radius` (at most the voxel edge), [0, 1]; 0 when either is
    /// empty.
    pub fn share_within<'p>(&self, points: impl IntoIterator<Item = &'p Point3<f64>>, radius: f64) -> f64 {
        let (mut near, mut all) = (0_usize, 0_usize);
        for point in points {
            all += 1;
            near += usize::from(self.any_within(point, radius));
        }
        near as f64 / all.max(1) as f64
    }

    /// Index and distance of the nearest point within the voxel edge of `center`.
    pub fn nearest(&self, center: &Point3<f64>) -> Option<(usize, f64)> {
        let mut best: Option<(usize, f64)> = None;
        self.for_each_slot(center, self.leaf, |slot| {
            let distance = (self.points[slot] - center).norm();
            if best.is_none_or(|(_, least)| distance < least) {
                best = Some((self.order[slot] as usize, distance));
            }
        });
        best
    }
}

/// Where each of a list of groups begins when they are put behind each other.
fn firsts(counts: &[u32]) -> Vec<u32> {
    let mut next = 0;
    let first = |count: &u32| {
        let first = next;
        next += count;
        first
    };
    counts.iter().map(first).collect()
}

/// Share of the points of `a` that have a point of `b` within `distance`, in [0, 1]; 0 when either is empty.
/// The geometric similarity of ASP IV-A (the nearest-neighbour ratio of its source), and not symmetric.
pub fn overlap_ratio(a: &[Point3<f64>], b: &[Point3<f64>], distance: f64) -> f64 {
    if a.is_empty() || b.is_empty() {
        return 0.0;
    }
    VoxelGrid::new(b, distance).share_within(a, distance)
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
    fn voxels_are_those_of_floor() {
        for x in [-2.5, -2.0, -0.0, 0.0, 0.3, 1.0, 1.999, -1e-12, 1e12, -1e12, f64::NAN, f64::INFINITY] {
            assert_eq!(floor(x), x.floor() as i32, "{x}");
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
