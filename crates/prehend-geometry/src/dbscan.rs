//! DBSCAN (Ester et al. 1996) on a voxel grid.

use crate::voxel::VoxelGrid;
use nalgebra::Point3;

/// Cluster of each point, numbered from 0 in the order of their first core point; `None` is noise.
///
/// A point with at least `min_points` points (itself included) within `radius` is a core point; cores within `radius`
/// of each other share a cluster, and border points join the first that reaches them. The number of points within
/// `radius` should be bounded (down-sample first): then the cost is linear.
pub fn dbscan(points: &[Point3<f64>], radius: f64, min_points: usize) -> Vec<Option<usize>> {
    let grid = VoxelGrid::new(points, radius);
    let mut labels: Vec<Option<usize>> = vec![None; points.len()];
    let mut visited = vec![false; points.len()];
    let mut clusters = 0;
    let mut queue = Vec::new();
    let mut neighbours = Vec::new();
    for seed in 0..points.len() {
        if visited[seed] {
            continue;
        }
        queue.push(seed);
        let mut grew = false;
        while let Some(index) = queue.pop() {
            if visited[index] {
                continue;
            }
            neighbours.clear();
            grid.for_each_within(&points[index], radius, |other| neighbours.push(other));
            if neighbours.len() < min_points {
                // A border point of this cluster keeps its label; a lone seed may become one of a later cluster.
                visited[index] = true;
                continue;
            }
            visited[index] = true;
            grew = true;
            labels[index] = Some(clusters);
            for other in &neighbours {
                if labels[*other].is_none() {
                    labels[*other] = Some(clusters);
                    if !visited[*other] {
                        queue.push(*other);
                    }
                }
            }
        }
        clusters += usize::from(grew);
    }
    labels
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

    proptest! {
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
