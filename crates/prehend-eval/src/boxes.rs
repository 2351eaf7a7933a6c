//! Upright boxes held against each other.

use nalgebra::{Point2, Point3};
use prehend_geometry::OrientedBox;

/// Intersection over union of the volumes of two upright boxes, exact, [0, 1]; 0 when one of them has no volume. Tilts are left out of
/// account: only the turn about z counts.
pub fn upright_iou(a: &OrientedBox, b: &OrientedBox) -> f64 {
    let span = |bounds: &OrientedBox| {
        let (middle, half) = (bounds.pose.translation.z, bounds.size.z / 2.0);
        (middle - half, middle + half)
    };
    let ((a0, a1), (b0, b1)) = (span(a), span(b));
    let height = a1.min(b1) - a0.max(b0);
    if height <= 0.0 {
        return 0.0;
    }
    let mut shared = corners(a).to_vec();
    let cutter = corners(b);
    for (from, to) in cutter.iter().zip(cutter.iter().cycle().skip(1)) {
        shared = cut(&shared, from, to);
    }
    let both = area(&shared) * height;
    let union = a.volume() + b.volume() - both;
    if union > 0.0 { (both / union).clamp(0.0, 1.0) } else { 0.0 }
}

/// Corners of the footprint, counter-clockwise.
fn corners(bounds: &OrientedBox) -> [Point2<f64>; 4] {
    let half = bounds.size / 2.0;
    [(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)]
        .map(|(x, y)| (bounds.pose * Point3::new(x * half.x, y * half.y, 0.0)).xy())
}

/// What of a convex polygon is left of the line (Sutherland and Hodgman 1974).
fn cut(polygon: &[Point2<f64>], from: &Point2<f64>, to: &Point2<f64>) -> Vec<Point2<f64>> {
    let side = |point: &Point2<f64>| (to - from).perp(&(point - from));
    let mut kept = Vec::with_capacity(polygon.len() + 1);
    for (point, next) in polygon.iter().zip(polygon.iter().cycle().skip(1)) {
        let (here, there) = (side(point), side(next));
        if here >= 0.0 {
            kept.push(*point);
        }
        if (here >= 0.0) != (there >= 0.0) {
            kept.push(point + (next - point) * (here / (here - there)));
        }
    }
    kept
}

/// Area of a counter-clockwise polygon.
fn area(polygon: &[Point2<f64>]) -> f64 {
    let sides = polygon.iter().zip(polygon.iter().cycle().skip(1));
    sides.map(|(a, b)| a.coords.perp(&b.coords)).sum::<f64>() / 2.0
}

/// For each true box the found one that it is paired with: as many pairs as there can be with at least this intersection over union, each
/// box in one of them (augmenting paths, Berge 1957).
pub fn assign(ious: &[Vec<f64>], least: f64) -> Vec<Option<usize>> {
    let count = ious.iter().map(Vec::len).max().unwrap_or(0);
    let mut truth_of: Vec<Option<usize>> = vec![None; count];
    for truth in 0..ious.len() {
        augment(truth, ious, least, &mut truth_of, &mut vec![false; count]);
    }
    let mut found_of = vec![None; ious.len()];
    for (found, truth) in truth_of.iter().enumerate() {
        if let Some(truth) = truth {
            found_of[*truth] = Some(found);
        }
    }
    found_of
}

fn augment(
    truth: usize,
    ious: &[Vec<f64>],
    least: f64,
    truth_of: &mut [Option<usize>],
    tried: &mut [bool],
) -> bool {
    let mut fits: Vec<usize> = (0..ious[truth].len()).filter(|found| ious[truth][*found] >= least).collect();
    fits.sort_by(|a, b| ious[truth][*b].total_cmp(&ious[truth][*a]));
    for found in fits {
        if std::mem::replace(&mut tried[found], true) {
            continue;
        }
        let is_free = match truth_of[found] {
            None => true,
            Some(other) => augment(other, ious, least, truth_of, tried),
        };
        if is_free {
            truth_of[found] = Some(truth);
            return true;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;
    use nalgebra::{Isometry3, Vector3};

    fn upright(at: [f64; 3], yaw: f64, size: [f64; 3]) -> OrientedBox {
        OrientedBox { pose: Isometry3::new(at.into(), Vector3::z() * yaw), size: size.into() }
    }

    #[test]
    fn overlaps_that_are_known() {
        let cube = upright([1.0, 2.0, 3.0], 0.0, [1.0; 3]);
        let check = |other: OrientedBox, expected: f64| {
            for (a, b) in [(&cube, &other), (&other, &cube)] {
                let found = upright_iou(a, b);
                assert!((found - expected).abs() < 1e-12, "{found}, expected {expected}");
            }
        };
        check(cube, 1.0);
        check(upright([1.0, 2.0, 3.0], std::f64::consts::FRAC_PI_2, [1.0; 3]), 1.0);
        check(upright([1.5, 2.0, 3.0], 0.0, [1.0; 3]), 1.0 / 3.0);
        check(upright([1.0, 2.0, 3.5], 0.0, [1.0; 3]), 1.0 / 3.0);
        check(upright([1.0, 2.0, 3.0], 0.4, [0.5; 3]), 0.125);
        check(upright([2.5, 2.0, 3.0], 0.0, [1.0; 3]), 0.0);
        check(upright([1.0, 2.0, 4.5], 0.0, [1.0; 3]), 0.0);
        check(upright([1.0, 2.0, 3.0], 0.0, [0.0; 3]), 0.0);
        // Two unit squares, one turned by 45 degrees, share a regular octagon of area 2 (sqrt 2 - 1).
        let octagon = 2.0 * (2.0_f64.sqrt() - 1.0);
        check(upright([1.0, 2.0, 3.0], std::f64::consts::FRAC_PI_4, [1.0; 3]), octagon / (2.0 - octagon));
    }

    #[test]
    fn as_many_pairs_as_there_can_be() {
        // The first true box could take either found one, the second only the first.
        let ious = [vec![0.9, 0.6], vec![0.7, 0.1], vec![0.0, 0.55]];
        assert_eq!(assign(&ious, 0.5), [Some(1), Some(0), None]);
        assert_eq!(assign(&ious, 0.8), [Some(0), None, None]);
        assert_eq!(assign(&[], 0.5), []);
        assert_eq!(assign(&[Vec::new()], 0.5), [None]);
    }
}
