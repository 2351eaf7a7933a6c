//! Upright oriented boxes around clouds.

use crate::OrientedBox;
use nalgebra::{Isometry3, Point2, Point3, Translation3, UnitQuaternion, Vector3};

/// Counter-clockwise convex hull of points in the plane (Andrew's monotone chain); fewer than three points come back as they are.
pub fn convex_hull(points: &[Point2<f64>]) -> Vec<Point2<f64>> {
    let mut sorted = outer(points);
    sorted.sort_unstable_by(|a, b| a.x.total_cmp(&b.x).then(a.y.total_cmp(&b.y)));
    sorted.dedup();
    if sorted.len() < 3 {
        return sorted;
    }
    let turn = |o: &Point2<f64>, a: &Point2<f64>, b: &Point2<f64>| (a - o).perp(&(b - o));
    let mut hull: Vec<Point2<f64>> = Vec::new();
    let chain = |hull: &mut Vec<Point2<f64>>, iter: &mut dyn Iterator<Item = &Point2<f64>>| {
        let start = hull.len();
        for point in iter {
            while hull.len() >= start + 2 && turn(&hull[hull.len() - 2], &hull[hull.len() - 1], point) <= 0.0
            {
                hull.pop();
            }
            hull.push(*point);
        }
        hull.pop();
    };
    chain(&mut hull, &mut sorted.iter());
    chain(&mut hull, &mut sorted.iter().rev());
    hull
}

/// Whether a point is inside a counter-clockwise convex polygon, or on its border; nothing is inside fewer than three corners.
pub fn is_inside(hull: &[Point2<f64>], point: &Point2<f64>) -> bool {
    hull.len() >= 3
        && (0..hull.len()).all(|i| {
            let (a, b) = (hull[i], hull[(i + 1) % hull.len()]);
            (b - a).perp(&(point - a)) >= 0.0
        })
}

/// Fewest points of which it pays to leave out the inner ones before they are sorted.
const MANY: usize = 64;
/// Directions whose outermost points span what lies inside, counter-clockwise.
const DIRECTIONS: [[f64; 2]; 8] =
    [[1.0, 0.0], [1.0, 1.0], [0.0, 1.0], [-1.0, 1.0], [-1.0, 0.0], [-1.0, -1.0], [0.0, -1.0], [1.0, -1.0]];

/// The points that may be corners of the hull: those inside the octagon of the outermost ones are none (Akl and Toussaint 1978).
fn outer(points: &[Point2<f64>]) -> Vec<Point2<f64>> {
    if points.len() < MANY {
        return points.to_vec();
    }
    // First by some of them: what lies inside of those lies inside of all.
    let few: Vec<Point2<f64>> = points.iter().step_by(SOME).copied().collect();
    let rest = outside(points, &few);
    outside(&rest, &rest)
}

/// One point in how many is looked at first.
const SOME: usize = 8;

/// The points that do not lie inside the octagon of the outermost of `some` of them.
fn outside(points: &[Point2<f64>], some: &[Point2<f64>]) -> Vec<Point2<f64>> {
    let mut most = [(f64::NEG_INFINITY, points[0]); 8];
    for point in some {
        for ([x, y], best) in DIRECTIONS.iter().zip(&mut most) {
            let reach = x * point.x + y * point.y;
            if reach > best.0 {
                *best = (reach, *point);
            }
        }
    }
    // What lies between the outermost points of the diagonals is quickest found to be inside.
    let [north_east, north_west, south_west, south_east] = [1, 3, 5, 7].map(|side: usize| most[side].1);
    let x = [north_west.x.max(south_west.x), north_east.x.min(south_east.x)];
    let y = [south_west.y.max(south_east.y), north_west.y.min(north_east.y)];
    let is_amid =
        |point: &Point2<f64>| (x[0] < point.x) & (point.x < x[1]) & (y[0] < point.y) & (point.y < y[1]);
    let sides = (0..8).map(|side| (most[side].1, most[(side + 1) % 8].1)).filter(|(a, b)| a != b);
    let edges: Vec<_> = sides.map(|(a, b)| (a, b - a)).collect();
    // A point that is no number is inside of nothing.
    let is_within = |point: &Point2<f64>| {
        !edges.is_empty() && edges.iter().all(|(a, edge)| edge.perp(&(point - a)) > 0.0)
    };
    points.iter().filter(|point| !is_amid(point) && !is_within(point)).copied().collect()
}

impl OrientedBox {
    /// The box around the points, turned about z so that its footprint has the least area; the longer horizontal side is
    /// along its own x, and yaw is in (-pi/2, pi/2]. `None` when there are no points or one is not finite.
    pub fn upright_around(points: &[Point3<f64>]) -> Option<Self> {
        if points.is_empty() || points.iter().any(|p| !p.coords.iter().all(|c| c.is_finite())) {
            return None;
        }
        let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
        for point in points {
            low = low.min(point.z);
            high = high.max(point.z);
        }
        let hull = convex_hull(&points.iter().map(|p| p.xy()).collect::<Vec<_>>());
        let mut best: Option<(f64, f64, [f64; 4])> = None;
        for (index, a) in hull.iter().enumerate() {
            let b = &hull[(index + 1) % hull.len()];
            let edge = b - a;
            if hull.len() > 1 && edge.norm() < 1e-12 {
                continue;
            }
            let yaw = if hull.len() > 1 { edge.y.atan2(edge.x) } else { 0.0 };
            let (s, c) = yaw.sin_cos();
            let mut span = [f64::INFINITY, f64::NEG_INFINITY, f64::INFINITY, f64::NEG_INFINITY];
            for p in &hull {
                let (along, across) = (c * p.x + s * p.y, -s * p.x + c * p.y);
                span = [span[0].min(along), span[1].max(along), span[2].min(across), span[3].max(across)];
            }
            let area = (span[1] - span[0]) * (span[3] - span[2]);
            if best.is_none_or(|(least, _, _)| area < least) {
                best = Some((area, yaw, span));
            }
        }
        let (_, yaw, [a0, a1, b0, b1]) = best?;
        let (s, c) = yaw.sin_cos();
        let (along, across) = ((a0 + a1) / 2.0, (b0 + b1) / 2.0);
        let center = Vector3::new(c * along - s * across, s * along + c * across, (low + high) / 2.0);
        let (mut size, mut yaw) = (Vector3::new(a1 - a0, b1 - b0, high - low), yaw);
        if size.y > size.x {
            size.swap_rows(0, 1);
            yaw += std::f64::consts::FRAC_PI_2;
        }
        yaw = yaw.rem_euclid(std::f64::consts::PI);
        if yaw > std::f64::consts::FRAC_PI_2 {
            yaw -= std::f64::consts::PI;
        }
        let rotation = UnitQuaternion::from_axis_angle(&Vector3::z_axis(), yaw);
        Some(Self { pose: Isometry3::from_parts(Translation3::from(center), rotation), size })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use approx::assert_relative_eq;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_turned_box_is_found_again(
            yaw in -1.5..1.5_f64, x in -1.0..1.0_f64, y in -1.0..1.0_f64,
            long in 0.06..0.2_f64, short in 0.01..0.05_f64, tall in 0.01..0.2_f64,
        ) {
            let pose = Isometry3::new(Vector3::new(x, y, tall / 2.0), Vector3::z() * yaw);
            let size = Vector3::new(long, short, tall);
            let points: Vec<Point3<f64>> = (0..8)
                .map(|i| {
                    let sign = |bit: i32| if i & bit == 0 { -0.5 } else { 0.5 };
                    pose * Point3::new(long * sign(1), short * sign(2), tall * sign(4))
                })
                .collect();
            let found = OrientedBox::upright_around(&points).unwrap();
            prop_assert!((found.size - size).norm() < 1e-9);
            prop_assert!(found.pose.rotation.angle_to(&pose.rotation) < 1e-7);
            for p in &points {
                prop_assert!(found.contains(p, 1e-9));
            }
        }
    }

    proptest! {
        /// The hull of many points is that of the points that are left when some inner ones are taken away.
        #[test]
        fn inner_points_are_no_corners(
            raw in prop::collection::vec((-3i32..4, -3i32..4, 0.0..1.0_f64), 64..200),
            on_grid in proptest::bool::ANY,
        ) {
            let shift = |fine: f64| if on_grid { 0.0 } else { fine };
            let points: Vec<Point2<f64>> =
                raw.iter().map(|(x, y, fine)| Point2::new(f64::from(*x) + shift(*fine), f64::from(*y))).collect();
            let hull = convex_hull(&points);
            let few: Vec<Point2<f64>> = points.chunks(MANY - 1).flat_map(convex_hull).collect();
            prop_assert_eq!(&hull, &convex_hull(&few));
            for point in &points {
                for (index, a) in hull.iter().enumerate().filter(|_| hull.len() > 2) {
                    let b = hull[(index + 1) % hull.len()];
                    prop_assert!((b - a).perp(&(point - a)) > -1e-9);
                }
            }
        }
    }

    #[test]
    fn all_in_one_place_or_line_have_no_inside() {
        assert_eq!(convex_hull(&vec![Point2::new(0.1, 0.2); 100]).len(), 1);
        let line: Vec<Point2<f64>> =
            (0..100).map(|i| Point2::new(f64::from(i), 2.0 * f64::from(i))).collect();
        assert_eq!(convex_hull(&line), [line[0], line[99]]);
    }

    #[test]
    fn degenerate_clouds() {
        let same = vec![Point3::new(1.0, 2.0, 3.0); 100];
        assert_eq!(OrientedBox::upright_around(&same).unwrap().size, Vector3::zeros());
        assert_eq!(OrientedBox::upright_around(&[]), None);
        assert_eq!(OrientedBox::upright_around(&[Point3::new(f64::NAN, 0.0, 0.0)]), None);
        let one = OrientedBox::upright_around(&[Point3::new(1.0, 2.0, 3.0)]).unwrap();
        assert_relative_eq!(one.pose.translation.vector, Vector3::new(1.0, 2.0, 3.0));
        assert_eq!(one.size, Vector3::zeros());
        let two =
            OrientedBox::upright_around(&[Point3::new(0.0, 0.0, 0.0), Point3::new(0.0, 1.0, 0.0)]).unwrap();
        assert_relative_eq!(two.size, Vector3::new(1.0, 0.0, 0.0), epsilon = 1e-9);
    }
}
