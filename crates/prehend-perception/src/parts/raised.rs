//! What rises from a top at a place: a knob among other things that stand on it.

use super::mechanism::Mechanism;
use nalgebra::{Point3, Vector3};
use prehend_geometry::dbscan::clusters;

/// Margin within which the part's own points lie, and width of what is looked at around it, metres.
const OWN: f64 = 0.004;
const AROUND: f64 = 0.02;
/// Least height above what is around it, metres.
const RISE: f64 = 0.006;
/// Gap within it, metres.
const GAP: f64 = 0.008;
/// Fewest points of it and around it.
const POINTS: (usize, usize) = (12, 20);

/// What rises from the level around a place that `low` and `high` bound; `None` when nothing does, or what rises there is wider.
pub(crate) fn raised(points: &[Point3<f64>], low: &Point3<f64>, high: &Point3<f64>) -> Option<Mechanism> {
    let within = |p: &Point3<f64>, margin: f64| {
        p.coords.iter().all(|c| c.is_finite())
            && (0..2).all(|axis| p[axis] > low[axis] - margin && p[axis] < high[axis] + margin)
    };
    let near: Vec<usize> = (0..points.len()).filter(|i| within(&points[*i], AROUND)).collect();
    let mut around: Vec<f64> =
        near.iter().map(|i| &points[*i]).filter(|p| !within(p, OWN)).map(|p| p.z).collect();
    around.sort_by(f64::total_cmp);
    if around.len() < POINTS.1 {
        return None;
    }
    let level = around[around.len() / 2];
    let up: Vec<usize> = near.into_iter().filter(|i| points[*i].z > level + RISE).collect();
    let places: Vec<Point3<f64>> = up.iter().map(|i| points[*i]).collect();
    let middle = nalgebra::center(low, high).xy();
    // The group that stands at the place; what is beside it is something else.
    let offset = |group: &Vec<usize>| {
        let sum = group.iter().fold(Vector3::zeros(), |sum, i| sum + places[*i].coords);
        (sum / group.len() as f64).xy().metric_distance(&middle.coords)
    };
    let group = clusters(&places, GAP, 3)
        .into_iter()
        .filter(|group| group.len() >= POINTS.0)
        .min_by(|a, b| offset(a).total_cmp(&offset(b)))?;
    let mut indices: Vec<usize> = group.into_iter().map(|i| up[i]).collect();
    indices.sort_unstable();
    let outside = indices.iter().filter(|i| !within(&points[**i], 2.0 * OWN)).count();
    if outside * 4 > indices.len() {
        return None;
    }
    let count = indices.len() as f64;
    let sum = indices.iter().fold(Vector3::zeros(), |sum, i| sum + points[*i].coords);
    let score = 0.6 + 0.3 * (1.0 - 4.0 * outside as f64 / count).clamp(0.0, 1.0);
    let centroid = Point3::from(sum / count);
    Some(Mechanism { kind: "knob", indices, centroid, normal: Vector3::z(), is_level: false, score })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A plate at z 0.03 seen from above, 2 mm apart, with a knob of radius 20 mm at (0.1, 0.1) and a disc of radius 70 mm beside it.
    fn stove(rise: f64) -> Vec<Point3<f64>> {
        (0..150)
            .flat_map(|i| (0..100).map(move |j| (f64::from(i) * 2e-3, f64::from(j) * 2e-3)))
            .map(|(x, y)| {
                let knob = (x - 0.1_f64).hypot(y - 0.1) < 0.02;
                let burner = (x - 0.21_f64).hypot(y - 0.1) < 0.07;
                Point3::new(x, y, 0.03 + if knob { rise } else { f64::from(u8::from(burner)) * 0.01 })
            })
            .collect()
    }

    #[test]
    fn a_knob_beside_a_burner_is_found_and_a_print_is_not() {
        let (low, high) = (Point3::new(0.081, 0.079, 0.03), Point3::new(0.12, 0.121, 0.06));
        let found = raised(&stove(0.03), &low, &high).expect("a knob");
        assert!((found.centroid.xy() - nalgebra::Point2::new(0.1, 0.1)).norm() < 0.003, "{found:?}");
        assert!((280..340).contains(&found.indices.len()), "{}", found.indices.len());
        assert_eq!(raised(&stove(0.0), &low, &high), None);
        assert_eq!(raised(&[], &low, &high), None);
        // Where something wider rises there is no knob.
        let (low, high) = (Point3::new(0.19, 0.08, 0.03), Point3::new(0.23, 0.12, 0.05));
        assert_eq!(raised(&stove(0.03), &low, &high), None);
    }
}
