//! Planes: RANSAC (Fischler and Bolles 1981) with a prior on the normal, and least squares.

use nalgebra::{Matrix3, Point3, SymmetricEigen, U3, Unit, Vector3};
use rand::{Rng, RngExt};
use serde::{Deserialize, Serialize};

/// A plane `normal . p + offset = 0`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Plane {
    /// Unit normal.
    pub normal: Unit<Vector3<f64>>,
    /// Signed distance of the origin from the plane, metres.
    pub offset: f64,
}

/// What [`ransac`] looks for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PlaneSearch {
    /// Direction the normal should have (gravity's opposite), with the greatest angle from it; `None` = any.
    pub prior: Option<(Unit<Vector3<f64>>, f64)>,
    /// Greatest distance of an inlier, metres.
    pub distance: f64,
    /// Number of samples of three points.
    pub iterations: usize,
}

impl Plane {
    /// The plane through a point.
    pub fn through(point: &Point3<f64>, normal: Unit<Vector3<f64>>) -> Self {
        Self { normal, offset: -normal.dot(&point.coords) }
    }

    /// Signed distance of a point, metres; positive on the normal's side.
    #[inline]
    pub fn distance(&self, point: &Point3<f64>) -> f64 {
        self.normal.dot(&point.coords) + self.offset
    }

    /// The coefficients `[a, b, c, d]` of `a x + b y + c z + d = 0`.
    pub fn coefficients(&self) -> [f64; 4] {
        [self.normal.x, self.normal.y, self.normal.z, self.offset]
    }

    /// The least-squares plane of the points; `None` for fewer than three or collinear ones. The normal points to the
    /// side of `toward`.
    pub fn fit<'a>(
        points: impl Iterator<Item = &'a Point3<f64>> + Clone,
        toward: &Vector3<f64>,
    ) -> Option<Self> {
        let (mean, eigen) = spread(points)?;
        let mut order = [0, 1, 2];
        order.sort_by(|a, b| eigen.eigenvalues[*a].total_cmp(&eigen.eigenvalues[*b]));
        if eigen.eigenvalues[order[1]] <= 1e-14 {
            return None;
        }
        let normal = Unit::try_new(eigen.eigenvectors.column(order[0]).into_owned(), 1e-12)?;
        let normal = if normal.dot(toward) < 0.0 { -normal } else { normal };
        Some(Self::through(&mean, normal))
    }
}

/// The mean of points and the variances along their principal axes, square metres; `None` for fewer than three, or when one is not finite.
pub fn spread<'a>(
    points: impl Iterator<Item = &'a Point3<f64>> + Clone,
) -> Option<(Point3<f64>, SymmetricEigen<f64, U3>)> {
    let (mut sum, mut count) = (Vector3::zeros(), 0.0);
    for point in points.clone() {
        sum += point.coords;
        count += 1.0;
    }
    if count < 3.0 {
        return None;
    }
    let mean = sum / count;
    let mut covariance = Matrix3::zeros();
    for point in points {
        let d = point.coords - mean;
        covariance += d * d.transpose();
    }
    if !covariance.iter().all(|value| value.is_finite()) {
        return None;
    }
    Some((Point3::from(mean), SymmetricEigen::new(covariance / count)))
}

/// The plane with the most inliers and their indices, refined by least squares; `None` when no sample fits the prior.
/// The normal points to the prior's side (or up).
pub fn ransac(
    points: &[Point3<f64>],
    search: &PlaneSearch,
    rng: &mut impl Rng,
) -> Option<(Plane, Vec<usize>)> {
    if points.len() < 3 {
        return None;
    }
    let up = search.prior.map_or(Vector3::z(), |(direction, _)| direction.into_inner());
    let fits = |normal: &Unit<Vector3<f64>>| {
        search.prior.is_none_or(|(direction, angle)| normal.dot(&direction) >= angle.cos())
    };
    let mut best: Option<(Plane, usize)> = None;
    for _ in 0..search.iterations {
        let [a, b, c] = [0; 3].map(|_: i32| points[rng.random_range(0..points.len())]);
        let Some(normal) = Unit::try_new((b - a).cross(&(c - a)), 1e-10) else { continue };
        let normal = if normal.dot(&up) < 0.0 { -normal } else { normal };
        if !fits(&normal) {
            continue;
        }
        let plane = Plane::through(&a, normal);
        let most = best.map(|(_, most)| most);
        if let Some(inliers) = more_inliers(points, &plane, search.distance, most) {
            best = Some((plane, inliers));
        }
    }
    let (mut plane, _) = best?;
    for _ in 0..2 {
        let near = points.iter().filter(|p| plane.distance(p).abs() <= search.distance);
        if let Some(refined) = Plane::fit(near, &up)
            && fits(&refined.normal)
        {
            plane = refined;
        }
    }
    let inliers =
        (0..points.len()).filter(|i| plane.distance(&points[*i]).abs() <= search.distance).collect();
    Some((plane, inliers))
}

/// Points that are looked at before it is asked whether the others can still be enough.
const AT_ONCE: usize = 512;

/// Number of inliers of a plane, or `None` when they are not more than `most`.
fn more_inliers(points: &[Point3<f64>], plane: &Plane, distance: f64, most: Option<usize>) -> Option<usize> {
    let (mut inliers, mut left) = (0, points.len());
    for some in points.chunks(AT_ONCE) {
        inliers += some.iter().map(|p| usize::from(plane.distance(p).abs() <= distance)).sum::<usize>();
        left -= some.len();
        if most.is_some_and(|most| inliers + left <= most) {
            return None;
        }
    }
    Some(inliers)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;

    fn scene(rng: &mut ChaCha8Rng) -> Vec<Point3<f64>> {
        let mut points = Vec::new();
        for _ in 0..400 {
            let (x, y) = (rng.random_range(-0.5..0.5), rng.random_range(-0.5..0.5));
            points.push(Point3::new(x, y, 0.1 + 0.02 * x + rng.random_range(-0.002..0.002)));
        }
        // A wall with more points than the table.
        for _ in 0..900 {
            points.push(Point3::new(0.5, rng.random_range(-0.5..0.5), rng.random_range(0.0..1.0)));
        }
        points
    }

    #[test]
    fn the_prior_chooses_the_table_and_not_the_wall() {
        let mut rng = ChaCha8Rng::seed_from_u64(3);
        let points = scene(&mut rng);
        let search = PlaneSearch { prior: Some((Vector3::z_axis(), 0.2)), distance: 0.006, iterations: 300 };
        let (plane, inliers) = ransac(&points, &search, &mut rng).unwrap();
        assert!(inliers.len() >= 380, "{}", inliers.len());
        let expected = Unit::new_normalize(Vector3::new(-0.02, 0.0, 1.0));
        assert!(plane.normal.angle(&expected) < 0.01, "{plane:?}");
        assert!(plane.distance(&Point3::new(0.0, 0.0, 0.1)).abs() < 0.002);
        let (wall, _) = ransac(&points, &PlaneSearch { prior: None, ..search }, &mut rng).unwrap();
        assert!(wall.normal.x.abs() > 0.99, "{wall:?}");
    }

    #[test]
    fn the_same_seed_gives_the_same_plane() {
        let points = scene(&mut ChaCha8Rng::seed_from_u64(1));
        let search = PlaneSearch { prior: None, distance: 0.006, iterations: 50 };
        let run = || ransac(&points, &search, &mut ChaCha8Rng::seed_from_u64(7));
        assert_eq!(run(), run());
    }

    #[test]
    fn too_few_or_collinear_points_have_no_plane() {
        let line: Vec<Point3<f64>> = (0..20).map(|i| Point3::new(f64::from(i), 0.0, 0.0)).collect();
        let search = PlaneSearch { prior: None, distance: 0.01, iterations: 50 };
        let mut rng = ChaCha8Rng::seed_from_u64(7);
        assert_eq!(ransac(&line, &search, &mut rng), None);
        assert_eq!(ransac(&line[..2], &search, &mut rng), None);
        assert_eq!(Plane::fit(line.iter(), &Vector3::z()), None);
    }
}
