//! The joint a part hangs on, estimated from how it has moved, and how to follow it.
//!
//! The hand holds the part, so its track is the part's track (up to slip). A straight track is a slide (drawer); one that
//! bends is a turn (door, lever). What the first centimetres do not show is not claimed: a joint counts as a turn only
//! when a circle explains the track clearly better than a line. Map frame, metres, radians.

mod circle;
#[cfg(test)]
mod tests;

use circle::Circle;
use nalgebra::{Isometry3, Point3, Translation3, Unit, UnitQuaternion, Vector3};
use prehend_scene::furniture::Usual;
use serde::{Deserialize, Serialize};

/// Shortest track from which anything is estimated, metres.
pub const SHORTEST: f64 = 0.008;
/// Residual below which a difference between line and circle is noise, metres: of a part that may turn, of one of which
/// nothing is known, of one that slides by its kind.
const NOISE: [f64; 3] = [0.000_4, 0.000_8, 0.003];
/// A circle must leave at most this share of the line's residual.
const CLEARLY_BETTER: f64 = 0.6;
/// Radii of parts that people build, metres: from a lever to a wide door.
const RADII: [f64; 2] = [0.03, 1.5];
/// Turn of the observed poses from which their axis is trusted, radians.
const TURNED: f64 = 0.12;

/// What the kind of a thing says about its joint before it has moved.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Expected {
    /// It turns: a door, a lid, a lever.
    Turn,
    /// Nothing is known.
    #[default]
    Unknown,
    /// It slides: a drawer.
    Slide,
}

impl Expected {
    /// What things of a class do. A detector may have misnamed it: a track that contradicts it plainly is believed all the same.
    pub fn of(class: &str) -> Self {
        Usual::of(class).into()
    }

    fn noise(self) -> f64 {
        match self {
            Self::Turn => NOISE[0],
            Self::Unknown => NOISE[1],
            Self::Slide => NOISE[2],
        }
    }
}

impl From<Usual> for Expected {
    fn from(usual: Usual) -> Self {
        match usual.turns() {
            Some(true) => Self::Turn,
            Some(false) => Self::Slide,
            None => Self::Unknown,
        }
    }
}

/// How a part moves.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Joint {
    /// Along a line.
    Prismatic {
        /// Unit direction of travel.
        axis: Unit<Vector3<f64>>,
    },
    /// About an axis.
    Revolute {
        /// Unit axis; the part moves counterclockwise about it.
        axis: Unit<Vector3<f64>>,
        /// Foot of the tracked point on the axis.
        centre: Point3<f64>,
        /// Distance of the tracked point from the axis, metres.
        radius: f64,
    },
}

/// An estimated joint and how well it explains the track.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct JointFit {
    /// The joint.
    pub joint: Joint,
    /// Root mean square distance of the track from the joint's path, metres.
    pub residual: f64,
    /// The same for the best line, metres: how much the track bends.
    pub line_residual: f64,
    /// Distance from the first to the last point of the track, metres.
    pub travel: f64,
}

/// Why there is no estimate.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum JointError {
    /// A number that is not finite.
    #[error("pose {index} of the track is not finite")]
    NotFinite {
        /// Which pose.
        index: usize,
    },
    /// Too little motion to say anything.
    #[error("the part moved {:.1} mm only", travel * 1e3)]
    TooShort {
        /// Distance from the first to the last pose, metres.
        travel: f64,
    },
}

/// Estimates the joint from the track of a body that moves with the part: the hand that holds it, or the part itself as
/// it was seen. Poses in order, `map_from_body`; only their positions count when their rotations do not change (a hand
/// that is held straight), else their common axis is used as well. `expected` is what the kind of thing says: the hand
/// strays by a little, and of a drawer that is no turn.
///
/// Errors: [`JointError::NotFinite`]; [`JointError::TooShort`] for a track under [`SHORTEST`] or of fewer than 2 poses.
pub fn estimate(track: &[Isometry3<f64>], expected: Expected) -> Result<JointFit, JointError> {
    for (index, pose) in track.iter().enumerate() {
        let numbers = pose.translation.vector.iter().chain(pose.rotation.coords.iter());
        if numbers.copied().any(|n| !n.is_finite()) {
            return Err(JointError::NotFinite { index });
        }
    }
    let points: Vec<Point3<f64>> = track.iter().map(|pose| Point3::from(pose.translation.vector)).collect();
    let (first, last) = match (points.first(), points.last()) {
        (Some(first), Some(last)) if points.len() > 1 => (*first, *last),
        _ => return Err(JointError::TooShort { travel: 0.0 }),
    };
    let travel = (last - first).norm();
    let length: f64 = points.windows(2).map(|pair| (pair[1] - pair[0]).norm()).sum();
    let along = Unit::try_new(last - first, 1e-9);
    let Some(along) = along.filter(|_| travel >= SHORTEST && length >= SHORTEST) else {
        return Err(JointError::TooShort { travel });
    };
    let (axis, line_residual) = line(&points, &along);
    let prismatic =
        JointFit { joint: Joint::Prismatic { axis }, residual: line_residual, line_residual, travel };
    let Some(circle) = Circle::fit(&points, turn_axis(track)) else { return Ok(prismatic) };
    let bends = line_residual > expected.noise() && circle.residual < CLEARLY_BETTER * line_residual;
    if !bends || !(RADII[0]..=RADII[1]).contains(&circle.radius) {
        return Ok(prismatic);
    }
    let joint = Joint::Revolute { axis: circle.axis, centre: circle.centre, radius: circle.radius };
    Ok(JointFit { joint, residual: circle.residual, line_residual, travel })
}

impl JointFit {
    /// Where a body that moves with the part is after `step` metres more along the path; it turns with the part.
    pub fn advance(&self, map_from_body: &Isometry3<f64>, step: f64) -> Isometry3<f64> {
        match self.joint {
            Joint::Prismatic { axis } => Translation3::from(axis.into_inner() * step) * map_from_body,
            Joint::Revolute { axis, centre, radius } => {
                let turn = UnitQuaternion::from_axis_angle(&axis, step / radius.max(RADII[0]));
                let about = Translation3::from(centre.coords);
                about * turn * about.inverse() * map_from_body
            }
        }
    }

    /// Unit direction in which a point that moves with the part goes next.
    pub fn tangent(&self, at: &Point3<f64>) -> Unit<Vector3<f64>> {
        match self.joint {
            Joint::Prismatic { axis } => axis,
            Joint::Revolute { axis, centre, .. } => {
                Unit::try_new(axis.cross(&(at - centre)), 1e-9).unwrap_or(axis)
            }
        }
    }

    /// Angle the part has turned by after `path` metres, radians; 0 for a slide.
    pub fn angle(&self, path: f64) -> f64 {
        match self.joint {
            Joint::Prismatic { .. } => 0.0,
            Joint::Revolute { radius, .. } => path / radius.max(RADII[0]),
        }
    }
}

/// Least-squares direction of travel and the root mean square distance from that line.
fn line(points: &[Point3<f64>], along: &Unit<Vector3<f64>>) -> (Unit<Vector3<f64>>, f64) {
    let n = points.len() as f64;
    let mean = points.iter().map(|p| p.coords).sum::<Vector3<f64>>() / n;
    let mut covariance = nalgebra::Matrix3::zeros();
    for point in points {
        let d = point.coords - mean;
        covariance += d * d.transpose();
    }
    let eigen = nalgebra::SymmetricEigen::new(covariance / n);
    let most = eigen.eigenvalues.imax();
    let axis = Unit::try_new(eigen.eigenvectors.column(most).into_owned(), 1e-12).unwrap_or(*along);
    let axis = if axis.dot(along) < 0.0 { -axis } else { axis };
    let off = |p: &Point3<f64>| {
        let d = p.coords - mean;
        (d - axis.into_inner() * axis.dot(&d)).norm_squared()
    };
    (axis, (points.iter().map(off).sum::<f64>() / n).sqrt())
}

/// Axis the observed rotations turn about, when they turn enough to tell.
fn turn_axis(track: &[Isometry3<f64>]) -> Option<Unit<Vector3<f64>>> {
    let (first, last) = (track.first()?, track.last()?);
    let (axis, angle) = (last.rotation * first.rotation.inverse()).axis_angle()?;
    (angle >= TURNED).then_some(axis)
}
