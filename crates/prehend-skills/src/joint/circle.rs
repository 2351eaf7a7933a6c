//! A circle in space: plane first, then the circle in it (Taubin 1991), refined by Gauss-Newton on true distances.

use nalgebra::{Matrix3, Point3, SymmetricEigen, Unit, Vector3};

/// Refinement steps; three suffice from an algebraic start.
const STEPS: usize = 8;

/// A circle through a track, the track running counterclockwise about `axis`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Circle {
    pub(super) axis: Unit<Vector3<f64>>,
    pub(super) centre: Point3<f64>,
    pub(super) radius: f64,
    /// Root mean square distance of the points from the circle, in and out of its plane, metres.
    pub(super) residual: f64,
}

impl Circle {
    /// The circle through at least four points; `axis` is that of its plane, when it is known. `None` when the points are
    /// on a line.
    pub(super) fn fit(points: &[Point3<f64>], axis: Option<Unit<Vector3<f64>>>) -> Option<Self> {
        if points.len() < 4 {
            return None;
        }
        let n = points.len() as f64;
        let mean = points.iter().map(|p| p.coords).sum::<Vector3<f64>>() / n;
        let axis = match axis {
            Some(axis) => axis,
            None => plane_normal(points, &mean)?,
        };
        let u = Unit::try_new(any_across(&axis), 1e-9)?;
        let v = axis.cross(&u);
        let flat: Vec<[f64; 2]> = points
            .iter()
            .map(|p| {
                let d = p.coords - mean;
                [u.dot(&d), v.dot(&d)]
            })
            .collect();
        let [mut a, mut b, mut r] = taubin(&flat)?;
        for _ in 0..STEPS {
            [a, b, r] = gauss_newton(&flat, [a, b, r]).unwrap_or([a, b, r]);
        }
        if ![a, b, r].iter().all(|x| x.is_finite()) || r <= 0.0 {
            return None;
        }
        let centre = Point3::from(mean + u.into_inner() * a + v * b);
        let off = |(p, q): (&Point3<f64>, &[f64; 2])| {
            let out_of_plane = axis.dot(&(p.coords - mean));
            ((q[0] - a).hypot(q[1] - b) - r).powi(2) + out_of_plane.powi(2)
        };
        let residual = (points.iter().zip(&flat).map(off).sum::<f64>() / n).sqrt();
        let (first, last) = (points.first()?, points.last()?);
        let turned = (first - centre).cross(&(last - centre)).dot(&axis);
        let axis = if turned < 0.0 { -axis } else { axis };
        Some(Self { axis, centre, radius: r, residual })
    }
}

/// Normal of the plane the points are spread in least; `None` when they are on a line.
fn plane_normal(points: &[Point3<f64>], mean: &Vector3<f64>) -> Option<Unit<Vector3<f64>>> {
    let mut covariance = Matrix3::zeros();
    for point in points {
        let d = point.coords - mean;
        covariance += d * d.transpose();
    }
    let eigen = SymmetricEigen::new(covariance);
    let mut order = [0, 1, 2];
    order.sort_by(|a, b| eigen.eigenvalues[*a].total_cmp(&eigen.eigenvalues[*b]));
    let spread = eigen.eigenvalues[order[1]];
    // Of a track that hardly bends the plane is all noise: furniture turns about an upright axis, or lies.
    if spread < 1e-14 {
        return None;
    }
    let free = Unit::try_new(eigen.eigenvectors.column(order[0]).into_owned(), 1e-12)?;
    let along = eigen.eigenvectors.column(order[2]).into_owned();
    let certain = spread > 9.0 * eigen.eigenvalues[order[0]].max(1e-16);
    if certain {
        return Some(free);
    }
    let up = Vector3::z() - along * along.z;
    Unit::try_new(up, 0.3)
}

fn any_across(axis: &Vector3<f64>) -> Vector3<f64> {
    let least = axis.iamin();
    let mut unit = Vector3::zeros();
    unit[least] = 1.0;
    axis.cross(&unit)
}

/// Algebraic fit of Taubin (1991), which is nearly unbiased on short arcs: centre and radius.
fn taubin(points: &[[f64; 2]]) -> Option<[f64; 3]> {
    let n = points.len() as f64;
    let mean = points.iter().fold([0.0, 0.0], |m, p| [m[0] + p[0] / n, m[1] + p[1] / n]);
    let (mut mxx, mut myy, mut mxy, mut mxz, mut myz, mut mzz) = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0);
    for p in points {
        let (x, y) = (p[0] - mean[0], p[1] - mean[1]);
        let z = x * x + y * y;
        mxx += x * x / n;
        myy += y * y / n;
        mxy += x * y / n;
        mxz += x * z / n;
        myz += y * z / n;
        mzz += z * z / n;
    }
    let mz = mxx + myy;
    let cov = mxx * myy - mxy * mxy;
    let var = mzz - mz * mz;
    let a3 = 4.0 * mz;
    let a2 = -3.0 * mz * mz - mzz;
    let a1 = var * mz + 4.0 * cov * mz - mxz * mxz - myz * myz;
    let a0 = mxz * (mxz * myy - myz * mxy) + myz * (myz * mxx - mxz * mxy) - var * cov;
    // Newton from 0 finds the least root.
    let (mut x, mut y) = (0.0, a0);
    for _ in 0..40 {
        let slope = a1 + x * (2.0 * a2 + 3.0 * a3 * x);
        let next = x - y / slope;
        if !next.is_finite() || (next - x).abs() < 1e-15 {
            break;
        }
        let value = a0 + next * (a1 + next * (a2 + next * a3));
        if value.abs() >= y.abs() {
            break;
        }
        (x, y) = (next, value);
    }
    let det = x * x - x * mz + cov;
    if det.abs() < 1e-18 {
        return None;
    }
    let a = (mxz * (myy - x) - myz * mxy) / det / 2.0;
    let b = (myz * (mxx - x) - mxz * mxy) / det / 2.0;
    Some([a + mean[0], b + mean[1], (a * a + b * b + mz).sqrt()])
}

/// One step towards the least sum of squared distances from the circle.
fn gauss_newton(points: &[[f64; 2]], [a, b, r]: [f64; 3]) -> Option<[f64; 3]> {
    let (mut jtj, mut jtr) = (Matrix3::zeros(), Vector3::zeros());
    for p in points {
        let (dx, dy) = (p[0] - a, p[1] - b);
        let d = dx.hypot(dy);
        if d < 1e-9 {
            return None;
        }
        let row = Vector3::new(-dx / d, -dy / d, -1.0);
        jtj += row * row.transpose();
        jtr += row * (d - r);
    }
    let step = jtj.cholesky()?.solve(&jtr);
    let next = [a - step.x, b - step.y, r - step.z];
    let cost =
        |[a, b, r]: [f64; 3]| points.iter().map(|p| ((p[0] - a).hypot(p[1] - b) - r).powi(2)).sum::<f64>();
    (cost(next) <= cost([a, b, r])).then_some(next)
}
