//! Which way a part faces, and how it lies.

use super::{LEAST_POINTS, PartError, PartRequest, finite};
use nalgebra::{Matrix3, Point3, SymmetricEigen, Unit, Vector3};
use prehend_geometry::LevelSpread;

/// How far around the part its object's face is looked for, metres.
const CONTEXT: f64 = 0.10;
/// Fewest points of a face, and the share of the context that must lie on it.
const FACE_POINTS: usize = 25;
const FACE_SHARE: f64 = 0.3;
/// Distance of a point from the face it belongs to, metres.
const FACE_THICKNESS: f64 = 0.004;
/// Depth of a part's front, in which a bar lies, metres.
const FRONT: f64 = 0.016;
/// Directions tried for the face in half a turn.
const DIRECTIONS: usize = 90;
/// A part is flat when its least spread is at most this share of the next, and a bar when its greatest is this multiple.
const FLAT: f64 = 0.45;
const BAR: f64 = 1.9;
/// A normal this near to the vertical or the horizontal is taken as such, radians.
const SNAP: f64 = 0.30;

/// How a part lies. Map frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PartFrame {
    /// Middle of the part.
    pub anchor: Point3<f64>,
    /// Outward normal of the part, away from the object's centroid (ASP IV-C).
    pub normal: Unit<Vector3<f64>>,
    /// The horizontal axis along which it is pulled (ASP IV-C).
    pub pull: Unit<Vector3<f64>>,
    /// Direction of a bar; `None` for parts about as long as wide.
    pub long: Option<Unit<Vector3<f64>>>,
    /// Offset along `pull` of the face the part stands on, when it was seen, metres.
    pub face: Option<f64>,
}

impl PartFrame {
    /// Finds it from the clouds, then from the affordance's normal.
    ///
    /// Errors: [`PartError::TooFewPoints`], [`PartError::Unusable`], [`PartError::NoNormal`].
    pub fn find(request: &PartRequest<'_>) -> Result<Self, PartError> {
        if !request.support_height.is_finite() {
            return Err(PartError::Unusable { what: "the support's height" });
        }
        let part = finite(request.part);
        if part.len() < LEAST_POINTS {
            return Err(PartError::TooFewPoints { points: part.len() });
        }
        let object = finite(request.object);
        let anchor = middle(&part);
        let body = if object.is_empty() { anchor } else { middle(&object) };
        let spread = Spread::of(&part);
        let hint = request.normal.try_normalize(1e-6).filter(|n| n.iter().all(|c| c.is_finite()));
        let outward = |v: Vector3<f64>| {
            // Away from the object's centroid; a part in its middle faces as the affordance says, or up.
            let away = anchor - body;
            let side = if away.norm() > 0.005 { v.dot(&away) } else { hint.map_or(v.z, |h| v.dot(&h)) };
            if side < 0.0 { -v } else { v }
        };
        // A part that is all that was seen of its object may be its face.
        let face = face(&part, &object, &anchor, hint).or_else(|| face(&[], &part, &anchor, hint));
        let long = bar(&part, face.as_ref().map(|(out, _)| out));
        let flat = spread.as_ref().and_then(Spread::flat).map(outward);
        let normal = match (flat, hint, &face) {
            // A bar's or knob's own least axis says little: the face it stands on does.
            (Some(flat), Some(hint), _) if flat.dot(&hint).abs() > 0.6 => flat,
            (_, Some(hint), _) => hint,
            (Some(flat), None, _) => flat,
            (None, None, Some((out, _))) => out.into_inner(),
            (None, None, None) => (anchor - body).try_normalize(0.005).ok_or(PartError::NoNormal)?,
        };
        let normal = Unit::try_new(snap(normal), 1e-9).ok_or(PartError::NoNormal)?;
        let pull = match &face {
            Some((out, _)) => Some(*out),
            None => level(normal.into_inner())
                .or_else(|| level(long?.cross(&Vector3::z())).map(|v| Unit::new_unchecked(outward(*v))))
                .or_else(|| level(anchor - body))
                // A part on top of something is pulled towards the robot.
                .or_else(|| level(-anchor.coords)),
        };
        let pull = pull.ok_or(PartError::NoNormal)?;
        let long = long.map(|l| lie(l, &pull));
        Ok(Self { anchor, normal, pull, long, face: face.map(|(_, offset)| offset) })
    }
}

/// Direction of a bar. Posts that carry it reach back to the face and would hide it: where the face is known, only what
/// stands out most counts.
fn bar(part: &[Point3<f64>], out: Option<&Unit<Vector3<f64>>>) -> Option<Unit<Vector3<f64>>> {
    let front = out.and_then(|out| {
        let foremost = part.iter().map(|p| out.dot(&p.coords)).fold(f64::NEG_INFINITY, f64::max);
        let front: Vec<Point3<f64>> =
            part.iter().filter(|p| out.dot(&p.coords) > foremost - FRONT).copied().collect();
        (front.len() >= LEAST_POINTS).then_some(front)
    });
    Spread::of(front.as_deref().unwrap_or(part)).as_ref().and_then(Spread::bar)
}

/// Middle of the box around the points, which a side that was seen better does not pull.
fn middle(points: &[Point3<f64>]) -> Point3<f64> {
    let (mut low, mut high) = (points[0], points[0]);
    for p in points {
        (low, high) = (low.inf(p), high.sup(p));
    }
    nalgebra::center(&low, &high)
}

fn level(v: Vector3<f64>) -> Option<Unit<Vector3<f64>>> {
    let flat = Vector3::new(v.x, v.y, 0.0);
    (flat.norm() > 0.3 * v.norm()).then(|| Unit::try_new(flat, 1e-9)).flatten()
}

fn snap(v: Vector3<f64>) -> Vector3<f64> {
    let tilt = v.z.clamp(-1.0, 1.0).asin().abs();
    if tilt < SNAP {
        Vector3::new(v.x, v.y, 0.0)
    } else if tilt > std::f64::consts::FRAC_PI_2 - SNAP {
        Vector3::z() * v.z.signum()
    } else {
        v
    }
}

/// A bar's direction, level or upright when it nearly is, and across the pull.
fn lie(long: Unit<Vector3<f64>>, pull: &Unit<Vector3<f64>>) -> Unit<Vector3<f64>> {
    let across = Unit::new_normalize(Vector3::z().cross(pull));
    if long.z.abs() > 0.9 {
        Vector3::z_axis()
    } else if long.z.abs() < 0.4 {
        across
    } else {
        let v = long.into_inner() - pull.into_inner() * long.dot(pull);
        Unit::try_new(v, 1e-6).unwrap_or(across)
    }
}

/// Principal axes with standard deviations, least first.
struct Spread {
    axes: [Vector3<f64>; 3],
    sizes: [f64; 3],
}

impl Spread {
    fn of(points: &[Point3<f64>]) -> Option<Self> {
        let n = points.len() as f64;
        let mean = points.iter().map(|p| p.coords).sum::<Vector3<f64>>() / n;
        let mut covariance = Matrix3::zeros();
        for p in points {
            let d = p.coords - mean;
            covariance += d * d.transpose();
        }
        let eigen = SymmetricEigen::new(covariance / n);
        let mut order = [0, 1, 2];
        order.sort_by(|a, b| eigen.eigenvalues[*a].total_cmp(&eigen.eigenvalues[*b]));
        let sizes = order.map(|i| eigen.eigenvalues[i].max(0.0).sqrt());
        (sizes[2] > 1e-5)
            .then(|| Self { axes: order.map(|i| eigen.eigenvectors.column(i).into_owned()), sizes })
    }

    fn flat(&self) -> Option<Vector3<f64>> {
        (self.sizes[0] < FLAT * self.sizes[1]).then_some(self.axes[0])
    }

    fn bar(&self) -> Option<Unit<Vector3<f64>>> {
        (self.sizes[2] > BAR * self.sizes[1]).then(|| Unit::new_normalize(self.axes[2]))
    }
}

/// The upright face of the object around the part: its horizontal outward normal and its offset along it.
///
/// All horizontal directions are tried; the one along which most points fall on one offset is a face.
fn face(
    part: &[Point3<f64>],
    object: &[Point3<f64>],
    anchor: &Point3<f64>,
    hint: Option<Vector3<f64>>,
) -> Option<(Unit<Vector3<f64>>, f64)> {
    let of_part = |p: &Point3<f64>| part.iter().any(|q| (p - q).norm_squared() < 0.006 * 0.006);
    let near: Vec<&Point3<f64>> =
        object.iter().filter(|p| (*p - anchor).norm() < CONTEXT && !of_part(p)).collect();
    if near.len() < FACE_POINTS {
        return None;
    }
    let mut best: (usize, f64, f64) = (0, 0.0, 0.0);
    for i in 0..DIRECTIONS {
        let angle = std::f64::consts::PI * i as f64 / DIRECTIONS as f64;
        let n = Vector3::new(angle.cos(), angle.sin(), 0.0);
        let mut offsets: Vec<f64> = near.iter().map(|p| n.dot(&p.coords)).collect();
        offsets.sort_by(f64::total_cmp);
        let mut from = 0;
        for to in 0..offsets.len() {
            while offsets[to] - offsets[from] > 2.0 * FACE_THICKNESS {
                from += 1;
            }
            if to + 1 - from > best.0 {
                best = (to + 1 - from, angle, (offsets[to] + offsets[from]) / 2.0);
            }
        }
    }
    let (count, angle, offset) = best;
    if count < FACE_POINTS || (count as f64) < FACE_SHARE * near.len() as f64 {
        return None;
    }
    let n = Vector3::new(angle.cos(), angle.sin(), 0.0);
    let on: Vec<&Point3<f64>> =
        near.iter().filter(|p| (n.dot(&p.coords) - offset).abs() <= FACE_THICKNESS).copied().collect();
    // A level board seen edge-on is as good as a face to the vote: a face also rises.
    let rises = on.iter().map(|p| p.z).fold(f64::NEG_INFINITY, f64::max)
        - on.iter().map(|p| p.z).fold(f64::INFINITY, f64::min);
    if rises < 0.015 {
        return None;
    }
    let n = refined(&on).unwrap_or(n);
    let offset = on.iter().map(|p| n.dot(&p.coords)).sum::<f64>() / on.len() as f64;
    // The part stands in front of its face; a part that is the face itself looks as its hint does.
    let ahead = n.dot(&anchor.coords) - offset;
    let side =
        if ahead.abs() > FACE_THICKNESS { ahead } else { hint.map_or(-n.dot(&anchor.coords), |h| n.dot(&h)) };
    let sign = if side < 0.0 { -1.0 } else { 1.0 };
    Some((Unit::try_new(n * sign, 1e-9)?, offset * sign))
}

/// Horizontal least-squares normal.
fn refined(on: &[&Point3<f64>]) -> Option<Vector3<f64>> {
    let spread = LevelSpread::of(on.iter().copied())?;
    // The direction of most spread lies along the face.
    (spread.most - spread.least >= 1e-9).then_some(spread.across)
}
