//! DBSCAN (Ester et al. 1996) on cells so small that all points of one are neighbours (Gunawan 2013).

use crate::voxel::{Voxel, VoxelBox, VoxelMap, voxel_of};
use nalgebra::Point3;

/// Cells of a point's neighbourhood along an axis, to either side: a cell's edge is the radius over the root of 3.
const REACH: i32 = 2;

/// Cluster of each point, numbered from 0 in the order of their first core point; `None` is noise.
///
/// A point with at least `min_points` points (itself included) within `radius` is a core point; cores within `radius`
/// of each other share a cluster, and a border point is of the first cluster that has a core within `radius` of it. Points of one
/// cell are never compared when the cell alone makes them cores, and cells that are known to be of one cluster neither, so the
/// cost is about linear in the points however dense they are.
pub fn dbscan(points: &[Point3<f64>], radius: f64, min_points: usize) -> Vec<Option<usize>> {
    let cells = Cells::new(points, radius);
    let is_core = cells.cores(min_points);
    let groups = cells.groups(&is_core);
    let mut numbers: Vec<Option<usize>> = vec![None; cells.voxels.len()];
    let mut clusters = 0;
    let mut labels: Vec<Option<usize>> = vec![None; points.len()];
    for index in (0..points.len()).filter(|index| is_core[*index]) {
        let group = groups[cells.cell_of[index] as usize] as usize;
        labels[index] = Some(*numbers[group].get_or_insert_with(|| {
            clusters += 1;
            clusters - 1
        }));
    }
    let mut sweep = Sweep::new(&cells, REACH);
    for cell in 0..cells.voxels.len() {
        for index in cells.members(cell).filter(|index| !is_core[*index]) {
            let mut first: Option<usize> = None;
            sweep.visit(cell, |other| {
                let label = numbers[groups[other] as usize];
                if label.is_some_and(|label| first.is_none_or(|first| label < first))
                    && cells.members(other).any(|core| is_core[core] && cells.are_near(index, core))
                {
                    first = label;
                }
            });
            labels[index] = first;
        }
    }
    labels
}

/// Points in cells in which all are within the radius of each other; cells in the order of their voxels.
struct Cells<'a> {
    points: &'a [Point3<f64>],
    limit: f64,
    cell_of: Vec<u32>,
    voxels: Vec<Voxel>,
    /// The box of all voxels with the number of cells before each of its voxels, and the end; `None` when it is too large to list.
    listed: Option<(VoxelBox, Vec<u32>)>,
    /// First place of each cell in `order`, and the end.
    starts: Vec<u32>,
    /// Indices of the points, grouped by cell.
    order: Vec<u32>,
}

impl<'a> Cells<'a> {
    fn new(points: &'a [Point3<f64>], radius: f64) -> Self {
        let radius = if radius.is_finite() && radius > 0.0 { radius } else { 1e-3 };
        // A hair smaller, so that rounding keeps the diagonal within the radius.
        let edge = radius / 3.0_f64.sqrt() * (1.0 - 1e-9);
        let listed = VoxelBox::around(points, edge);
        let (cell_of, voxels, listed) = match listed {
            Some(all) => {
                let (cell_of, voxels, before) = list(points, edge, &all);
                (cell_of, voxels, Some((all, before)))
            }
            None => {
                let (cell_of, voxels) = hash(points, edge);
                (cell_of, voxels, None)
            }
        };
        let mut starts = vec![0; voxels.len() + 1];
        cell_of.iter().for_each(|cell| starts[*cell as usize + 1] += 1);
        for cell in 1..starts.len() {
            starts[cell] += starts[cell - 1];
        }
        let mut next = starts.clone();
        let mut order = vec![0; points.len()];
        for (index, cell) in cell_of.iter().enumerate() {
            let slot = &mut next[*cell as usize];
            order[*slot as usize] = index as u32;
            *slot += 1;
        }
        Self { points, limit: radius * radius, cell_of, voxels, listed, starts, order }
    }

    fn members(&self, cell: usize) -> impl Iterator<Item = usize> + '_ {
        let range = self.starts[cell] as usize..self.starts[cell + 1] as usize;
        self.order[range].iter().map(|index| *index as usize)
    }

    fn are_near(&self, a: usize, b: usize) -> bool {
        (self.points[a] - self.points[b]).norm_squared() <= self.limit
    }

    /// Whether each point is a core point.
    fn cores(&self, min_points: usize) -> Vec<bool> {
        let mut is_core = vec![false; self.points.len()];
        let mut around: Vec<usize> = Vec::new();
        // The cells that touch hold enough most of the time.
        let mut sweeps = [Sweep::new(self, 1), Sweep::new(self, REACH)];
        for cell in 0..self.voxels.len() {
            if self.members(cell).count() >= min_points {
                self.members(cell).for_each(|index| is_core[index] = true);
                continue;
            }
            for sweep in &mut sweeps {
                around.clear();
                sweep.visit(cell, |other| around.extend(self.members(other)));
                let mut all = true;
                for index in self.members(cell) {
                    let near = around.iter().filter(|other| self.are_near(index, **other));
                    is_core[index] = is_core[index] || near.take(min_points).count() >= min_points;
                    all &= is_core[index];
                }
                if all {
                    break;
                }
            }
        }
        is_core
    }

    /// The group of each cell that has core points: cells are of one group when cores of theirs are near each other.
    fn groups(&self, is_core: &[bool]) -> Vec<u32> {
        let mut groups: Vec<u32> = (0..self.voxels.len() as u32).collect();
        let has_core: Vec<bool> =
            (0..self.voxels.len()).map(|cell| self.members(cell).any(|index| is_core[index])).collect();
        let with_cores = || (0..self.voxels.len()).filter(|cell| has_core[*cell]);
        let join = |groups: &mut Vec<u32>, cell: usize, other: usize| {
            let (a, b) = (root(groups, cell as u32), root(groups, other as u32));
            if has_core[other] && a != b && self.have_near_cores(cell, other, is_core) {
                groups[a.max(b) as usize] = a.min(b);
            }
        };
        let mut near = Sweep::after(self, 1);
        for cell in with_cores() {
            near.visit(cell, |other| join(&mut groups, cell, other));
        }
        // Two cells of the largest group need not be compared: what is not in it looks farther.
        let mut sizes = vec![0_u32; self.voxels.len()];
        for cell in with_cores() {
            sizes[root(&mut groups, cell as u32) as usize] += 1;
        }
        let largest = (0..sizes.len()).max_by_key(|group| sizes[*group]).unwrap_or(0) as u32;
        let mut far = Sweep::new(self, REACH);
        for cell in with_cores() {
            if root(&mut groups, cell as u32) != root(&mut groups, largest) {
                far.visit(cell, |other| join(&mut groups, cell, other));
            }
        }
        (0..self.voxels.len() as u32).map(|cell| root(&mut groups, cell)).collect()
    }

    fn have_near_cores(&self, a: usize, b: usize, is_core: &[bool]) -> bool {
        self.members(a)
            .filter(|index| is_core[*index])
            .any(|one| self.members(b).any(|other| is_core[other] && self.are_near(one, other)))
    }
}

/// The cell of each point, the voxels of the cells, and how many cells come before each voxel of their box, and the end.
fn list(points: &[Point3<f64>], edge: f64, all: &VoxelBox) -> (Vec<u32>, Vec<Voxel>, Vec<u32>) {
    let places: Vec<usize> = points.iter().map(|point| all.place(voxel_of(point, edge))).collect();
    let mut before = vec![0_u32; all.len() + 1];
    places.iter().for_each(|place| before[*place] = 1);
    let mut count = 0;
    for slot in &mut before {
        let is_met = std::mem::replace(slot, count);
        count += is_met;
    }
    let cell_of: Vec<u32> = places.iter().map(|place| before[*place]).collect();
    let mut voxels = vec![[0; 3]; count as usize];
    for (cell, point) in cell_of.iter().zip(points) {
        voxels[*cell as usize] = voxel_of(point, edge);
    }
    (cell_of, voxels, before)
}

/// The cell of each point, and the voxels of the cells.
fn hash(points: &[Point3<f64>], edge: f64) -> (Vec<u32>, Vec<Voxel>) {
    let mut met: VoxelMap<u32> = VoxelMap::with_capacity_and_hasher(points.len() / 2, Default::default());
    let mut voxels: Vec<(Voxel, u32)> = Vec::new();
    let mut cell_of = Vec::with_capacity(points.len());
    for point in points {
        let voxel = voxel_of(point, edge);
        cell_of.push(*met.entry(voxel).or_insert_with(|| {
            voxels.push((voxel, voxels.len() as u32));
            voxels.len() as u32 - 1
        }));
    }
    voxels.sort_unstable();
    let mut place = vec![0; voxels.len()];
    voxels.iter().enumerate().for_each(|(sorted, (_, cell))| place[*cell as usize] = sorted as u32);
    cell_of.iter_mut().for_each(|cell| *cell = place[*cell as usize]);
    (cell_of, voxels.into_iter().map(|(voxel, _)| voxel).collect())
}

/// A look at the cells around one and the next: those of a row along z are beside each other in the order of voxels, and each row's place
/// only moves on, so that nothing is searched.
struct Sweep<'a> {
    cells: &'a Cells<'a>,
    reach: i32,
    /// Steps along x and y to each row, and the first cell that may be in it.
    rows: Vec<([i32; 2], usize)>,
    only_after: bool,
}

impl<'a> Sweep<'a> {
    /// Visits the occupied cells up to `reach` cells away along each axis, the cell itself among them.
    fn new(cells: &'a Cells<'a>, reach: i32) -> Self {
        let steps = (-reach..=reach).flat_map(|x| (-reach..=reach).map(move |y| ([x, y], 0)));
        Self { cells, reach, rows: steps.collect(), only_after: false }
    }

    /// Visits those of them that come after the cell: each pair of cells once.
    fn after(cells: &'a Cells<'a>, reach: i32) -> Self {
        let mut sweep = Self { only_after: true, ..Self::new(cells, reach) };
        sweep.rows.retain(|(step, _)| *step >= [0, 0]);
        sweep
    }

    /// Cells must come in their order; one may come several times.
    fn visit(&mut self, cell: usize, mut visit: impl FnMut(usize)) {
        let voxels = &self.cells.voxels;
        let [x, y, z] = voxels[cell];
        for ([dx, dy], first) in &mut self.rows {
            let row = [x.saturating_add(*dx), y.saturating_add(*dy)];
            if let Some((all, before)) = &self.cells.listed {
                let places = all.row(row, z, self.reach);
                if !places.is_empty() {
                    let cells = before[places.start] as usize..before[places.end] as usize;
                    cells.filter(|other| !self.only_after || *other > cell).for_each(&mut visit);
                }
                continue;
            }
            let low = [row[0], row[1], z.saturating_sub(self.reach)];
            let high = [row[0], row[1], z.saturating_add(self.reach)];
            while *first < voxels.len() && voxels[*first] < low {
                *first += 1;
            }
            let mut other = *first;
            while other < voxels.len() && voxels[other] <= high {
                if !self.only_after || other > cell {
                    visit(other);
                }
                other += 1;
            }
        }
    }
}

/// The least cell that a cell is of one group with, so far; halves the path on its way.
fn root(groups: &mut [u32], mut cell: u32) -> u32 {
    while groups[cell as usize] != cell {
        let above = groups[groups[cell as usize] as usize];
        groups[cell as usize] = above;
        cell = above;
    }
    cell
}

/// Point indices of each cluster of [`dbscan`], largest cluster first.
pub fn clusters(points: &[Point3<f64>], radius: f64, min_points: usize) -> Vec<Vec<usize>> {
    let labels = dbscan(points, radius, min_points);
    let count = labels.iter().flatten().max().map_or(0, |last| last + 1);
    let mut groups = vec![Vec::new(); count];
    for (index, label) in labels.iter().enumerate() {
        if let Some(label) = label {
            groups[*label].push(index);
        }
    }
    groups.sort_by_key(|group: &Vec<usize>| std::cmp::Reverse(group.len()));
    groups
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn patch(x: f64, n: usize) -> Vec<Point3<f64>> {
        (0..n * n).map(|i| Point3::new(x + (i % n) as f64 * 0.005, (i / n) as f64 * 0.005, 0.0)).collect()
    }

    #[test]
    fn two_patches_and_noise() {
        let mut points = patch(0.0, 8);
        points.extend(patch(0.2, 5));
        points.push(Point3::new(0.1, 0.1, 0.1));
        let groups = clusters(&points, 0.008, 3);
        assert_eq!(groups.iter().map(Vec::len).collect::<Vec<_>>(), [64, 25]);
        assert_eq!(dbscan(&points, 0.008, 3).last(), Some(&None));
        assert_eq!(clusters(&points, 0.3, 3).len(), 1);
        assert!(clusters(&[], 0.1, 3).is_empty());
    }

    /// The definition, point by point.
    fn brute(points: &[Point3<f64>], radius: f64, min_points: usize) -> Vec<Option<usize>> {
        let near = |a: usize, b: usize| (points[a] - points[b]).norm_squared() <= radius * radius;
        let all = 0..points.len();
        let is_core: Vec<bool> =
            all.clone().map(|a| all.clone().filter(|b| near(a, *b)).count() >= min_points).collect();
        let mut labels: Vec<Option<usize>> = vec![None; points.len()];
        let mut clusters = 0;
        for seed in all.clone().filter(|seed| is_core[*seed]) {
            if labels[seed].is_some() {
                continue;
            }
            let mut stack = vec![seed];
            labels[seed] = Some(clusters);
            while let Some(one) = stack.pop() {
                for other in all.clone().filter(|other| is_core[*other] && near(one, *other)) {
                    if labels[other].is_none() {
                        labels[other] = Some(clusters);
                        stack.push(other);
                    }
                }
            }
            clusters += 1;
        }
        let cores = labels.clone();
        for border in all.clone().filter(|border| !is_core[*border]) {
            labels[border] =
                all.clone().filter(|core| near(border, *core)).filter_map(|core| cores[core]).min();
        }
        labels
    }

    proptest! {
        #[test]
        fn it_is_what_the_definition_says(
            raw in prop::collection::vec((0.0..0.1_f64, 0.0..0.1_f64, 0.0..0.03_f64), 0..150),
            radius in 0.004..0.03_f64, min_points in 1_usize..8,
        ) {
            let points: Vec<Point3<f64>> = raw.iter().map(|(x, y, z)| Point3::new(*x, *y, *z)).collect();
            prop_assert_eq!(dbscan(&points, radius, min_points), brute(&points, radius, min_points));
        }

        /// Clusters are the connected components of the core points, however the points are ordered.
        #[test]
        fn number_of_clusters_does_not_depend_on_order(
            raw in prop::collection::vec((0.0..0.1_f64, 0.0..0.1_f64, 0.0..0.1_f64), 0..120),
            turn in 0usize..120,
        ) {
            let points: Vec<Point3<f64>> = raw.iter().map(|(x, y, z)| Point3::new(*x, *y, *z)).collect();
            let mut turned = points.clone();
            if !turned.is_empty() { let by = turn % turned.len(); turned.rotate_left(by); }
            let count = |p: &[Point3<f64>]| clusters(p, 0.015, 4).len();
            prop_assert_eq!(count(&points), count(&turned));
            let noise = |p: &[Point3<f64>]| dbscan(p, 0.015, 4).iter().filter(|l| l.is_none()).count();
            prop_assert_eq!(noise(&points), noise(&turned));
        }
    }
}
