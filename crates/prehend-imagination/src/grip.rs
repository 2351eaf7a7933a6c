//! Where a hand may take hold of a part, and whether its open fingers get around it.

use crate::Hand;
use nalgebra::{Isometry3, Matrix3, Point3, Rotation3, Translation3, UnitQuaternion, Vector3};

/// How far the tips reach beyond the middle of the part, metres.
const BEYOND: f64 = 0.008;
/// Depth of the hand behind its fingers, metres.
const PALM: f64 = 0.06;
/// Room that is left on each side when the fingers open around something, metres.
pub(crate) const ROOM: f64 = 0.004;

/// A hand at a part: z the approach, y the closing direction, its origin between the tips.
pub(crate) struct Grip {
    pub(crate) map_from_hand: Isometry3<f64>,
    /// Distance between the pads before they close, metres.
    pub(crate) opening: f64,
}

/// Middle of points; they are not empty.
pub(crate) fn middle(points: &[Point3<f64>]) -> Point3<f64> {
    let sum: Vector3<f64> = points.iter().map(|point| point.coords).sum();
    Point3::from(sum / points.len().max(1) as f64)
}

/// The direction in which points reach farthest.
fn longest(points: &[Point3<f64>]) -> Vector3<f64> {
    let middle = middle(points);
    let spread: Matrix3<f64> = points.iter().map(|p| (p - middle) * (p - middle).transpose()).sum();
    let eigen = spread.symmetric_eigen();
    let place = eigen.eigenvalues.imax();
    eigen.eigenvectors.column(place).into_owned()
}

/// Ways to take hold: along the part's normal and from above, closing across its length and along it.
pub(crate) fn ways(part: &[Point3<f64>], outward: Vector3<f64>) -> Vec<Isometry3<f64>> {
    let (middle, along) = (middle(part), longest(part));
    let mut ways: Vec<Isometry3<f64>> = Vec::new();
    for approach in [-outward, -Vector3::z()] {
        if ways.iter().any(|way: &Isometry3<f64>| (way.rotation * Vector3::z()).dot(&approach) > 0.95) {
            continue;
        }
        let flat = along - approach * along.dot(&approach);
        // A part that points at the hand is as long across it in any direction.
        let flat = flat.try_normalize(1e-3).or_else(|| approach.cross(&Vector3::z()).try_normalize(1e-3));
        let Some(x) = flat.or_else(|| approach.cross(&Vector3::x()).try_normalize(1e-3)) else { continue };
        for x in [x, approach.cross(&x)] {
            let y = approach.cross(&x);
            let turned = Rotation3::from_basis_unchecked(&[x, y, approach]);
            let at = middle + approach * BEYOND;
            ways.push(Isometry3::from_parts(
                Translation3::from(at.coords),
                UnitQuaternion::from_rotation_matrix(&turned),
            ));
        }
    }
    ways
}

/// The grip of a way, when the open fingers get around what is between them. `thing` is in the map's frame.
pub(crate) fn around(
    thing: &[Point3<f64>],
    part: &[Point3<f64>],
    way: &Isometry3<f64>,
    support: f64,
    hand: &Hand,
) -> Option<Grip> {
    let local = |point: &Point3<f64>| way.inverse_transform_point(point);
    let in_reach =
        |p: &Point3<f64>| p.x.abs() < hand.pad_width / 2.0 && p.z < 0.0 && p.z > -hand.finger_length;
    let own: Vec<f64> = part.iter().map(local).filter(in_reach).map(|p| p.y).collect();
    let low = own.iter().copied().fold(f64::INFINITY, f64::min);
    let high = own.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if low > high {
        return None;
    }
    let opening = high - low + 2.0 * ROOM;
    if opening > hand.max_opening {
        return None;
    }
    let shift = (low + high) / 2.0;
    let map_from_hand = way * Translation3::new(0.0, shift, 0.0);
    let is_in_hand = |p: &Point3<f64>| {
        let p = map_from_hand.inverse_transform_point(p);
        let beside = p.y.abs() - opening / 2.0;
        let behind = -hand.finger_length - p.z;
        let in_palm = (0.0..PALM).contains(&behind)
            && p.x.abs() < hand.pad_width / 2.0
            && p.y.abs() < hand.max_opening / 2.0;
        in_palm || in_reach(&p) && beside > 0.0 && beside < hand.finger_thickness
    };
    let corner = |sign: f64| {
        let y = sign * (opening / 2.0 + hand.finger_thickness);
        (map_from_hand * Point3::new(0.0, y, 0.0)).z
    };
    let lowest = corner(1.0).min(corner(-1.0)).min(map_from_hand.translation.vector.z);
    let is_free = !thing.iter().any(is_in_hand) && lowest > support;
    is_free.then_some(Grip { map_from_hand, opening })
}
