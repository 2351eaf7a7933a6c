//! A slide or a turn: how a part moves, without how far.

use nalgebra::{Isometry3, Point3, Translation3, Unit, UnitQuaternion, Vector3};
use serde::{Deserialize, Serialize};

/// A slide or a turn, in the frame of the observation.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Screw {
    /// Along an axis.
    Slide {
        /// Direction.
        axis: Unit<Vector3<f64>>,
    },
    /// About an axis through a point.
    Turn {
        /// Direction.
        axis: Unit<Vector3<f64>>,
        /// A point on it.
        origin: Point3<f64>,
    },
}

impl Screw {
    /// What it does to the frame of the observation at a position, metres or radians.
    pub fn at(&self, position: f64) -> Isometry3<f64> {
        match self {
            Self::Slide { axis } => Translation3::from(axis.into_inner() * position).into(),
            Self::Turn { axis, origin } => {
                let about = Translation3::from(origin.coords);
                about * UnitQuaternion::from_axis_angle(axis, position) * about.inverse()
            }
        }
    }

    /// Its direction.
    pub fn axis(&self) -> Unit<Vector3<f64>> {
        match self {
            Self::Slide { axis } | Self::Turn { axis, .. } => *axis,
        }
    }

    /// Whether it turns.
    pub fn turns(&self) -> bool {
        matches!(self, Self::Turn { .. })
    }

    /// The same the other way round: positions change their signs.
    pub fn reversed(&self) -> Self {
        match *self {
            Self::Slide { axis } => Self::Slide { axis: -axis },
            Self::Turn { axis, origin } => Self::Turn { axis: -axis, origin },
        }
    }

    /// Position at which it brings one point nearest to another.
    pub(crate) fn position(&self, from: &Point3<f64>, to: &Point3<f64>) -> f64 {
        match self {
            Self::Slide { axis } => axis.dot(&(to - from)),
            Self::Turn { axis, origin } => {
                let (a, b) = (across(axis, from - origin), across(axis, to - origin));
                a.cross(&b).dot(axis).atan2(a.dot(&b))
            }
        }
    }

    /// Distance of a point from the axis of a turn, metres; 0 for slides.
    pub(crate) fn arm(&self, point: &Point3<f64>) -> f64 {
        match self {
            Self::Slide { .. } => 0.0,
            Self::Turn { axis, origin } => across(axis, point - origin).norm(),
        }
    }

    /// Angle between its axis and another one's, whichever way they point, radians.
    pub(crate) fn angle_to(&self, other: &Self) -> f64 {
        self.axis().dot(&other.axis()).abs().min(1.0).acos()
    }

    /// How far its axis is from another one's that is parallel, metres; 0 for slides.
    pub(crate) fn offset_to(&self, other: &Self) -> f64 {
        match other {
            Self::Slide { .. } => 0.0,
            Self::Turn { origin, .. } => self.arm(origin),
        }
    }

    /// Whether it is the same as another, of one direction, but for rounding.
    pub(crate) fn is(&self, other: &Self) -> bool {
        self.turns() == other.turns()
            && (self.axis().into_inner() - other.axis().into_inner()).norm() < 1e-6
            && self.offset_to(other) < 1e-6
    }

    /// The same about, or along, another axis.
    pub(crate) fn along(&self, axis: Unit<Vector3<f64>>) -> Self {
        match *self {
            Self::Slide { .. } => Self::Slide { axis },
            Self::Turn { origin, .. } => Self::Turn { axis, origin },
        }
    }
}

/// What of a vector is across an axis.
fn across(axis: &Unit<Vector3<f64>>, vector: Vector3<f64>) -> Vector3<f64> {
    vector - axis.into_inner() * axis.dot(&vector)
}
