//! From which side an object is to be come to: where its affordance faces (ASP IV-C).

use super::Course;
use super::base::{Base, Facing};
use super::fault::ErrandFault;
use super::stand::{Remote, is_at_hand};
use nalgebra::{Isometry3, Vector3};
use prehend_scene::{Object, Scope, spatial};

/// Part of a normal that is horizontal from which it says from where to come.
const LEVEL: f64 = 0.35;
/// Distance of a part's middle from that of its object from which it says from where to come, metres.
const OFF_CENTRE: f64 = 0.02;
/// Greatest distance of an object from where the map of the room has it, metres.
const NEAR: f64 = 0.2;

/// An affordance of the object, in a map that shows it.
struct Shown {
    facing: Facing,
    /// Where the middle of the object is in that map.
    centre: Vector3<f64>,
    map_from_shown: Isometry3<f64>,
}

impl<B: Base> Course<'_, B> {
    /// Where the object's affordance faces, seen from above: its normal away from the centroid, or the side its part is on when that
    /// faces up; `None` when nothing says from where to come. What nobody saw from afar may be seen by who stands before it.
    pub(super) fn preferred(&self, object: &Remote) -> Result<Option<[f64; 2]>, ErrandFault> {
        let found = match self.base.affordance(&object.key, Scope::Room)? {
            Some(facing) => {
                Some(Shown { facing, centre: object.centre.coords, map_from_shown: Isometry3::identity() })
            }
            None => self.facing_here(object)?,
        };
        // Else every side is as good.
        let Some(Shown { facing, centre, map_from_shown }) = found else { return Ok(None) };
        let side = preferred_side(
            &(map_from_shown.rotation * facing.normal),
            &(map_from_shown.rotation * (facing.centroid - centre)),
        );
        let words = match side {
            Some([x, y]) => format!("{} faces {:.0} degrees", facing.part, y.atan2(x).to_degrees()),
            None => format!("{} faces no side", facing.part),
        };
        self.tell("affordance", "done", &words);
        Ok(side)
    }

    /// What the local map shows of an object that is at hand; its frame is that of the arm.
    fn facing_here(&self, object: &Remote) -> Result<Option<Shown>, ErrandFault> {
        let map_from_arm = self.base.arm()?;
        let expected = map_from_arm.inverse() * object.centre;
        let Some(map) = self.base.local_map().filter(|_| is_at_hand(&expected)) else {
            return Ok(None);
        };
        let away = |seen: &Object| (spatial::centre(seen) - expected).norm();
        let same = map.objects.iter().filter(|seen| seen.class_name == object.class && away(seen) <= NEAR);
        let Some(seen) = same.min_by(|a, b| away(a).total_cmp(&away(b))) else { return Ok(None) };
        let centre = spatial::centre(seen).coords;
        let facing = self.base.affordance(&seen.key, Scope::Local)?;
        Ok(facing.map(|facing| Shown { facing, centre, map_from_shown: map_from_arm }))
    }
}

/// The direction in the plane from which a part should be come to: its normal, turned away from the object's middle; the side it is
/// on when it faces up.
fn preferred_side(normal: &Vector3<f64>, from_centre: &Vector3<f64>) -> Option<[f64; 2]> {
    let outward = if normal.dot(from_centre) < 0.0 { -normal } else { *normal };
    let level = outward.xy();
    if outward.iter().all(|number| number.is_finite()) && level.norm() >= LEVEL * outward.norm().max(1e-6) {
        return Some([level.x, level.y]);
    }
    let side = from_centre.xy();
    (side.norm() >= OFF_CENTRE).then_some([side.x, side.y])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_is_come_to_from_where_it_faces() {
        let front = preferred_side(&Vector3::new(-1.0, 0.0, 0.0), &Vector3::new(-0.2, 0.0, 0.1));
        assert_eq!(front, Some([-1.0, 0.0]));
        // A normal that was fitted the wrong way round points into the object.
        let turned = preferred_side(&Vector3::new(1.0, 0.0, 0.0), &Vector3::new(-0.2, 0.0, 0.1));
        assert_eq!(turned, Some([-1.0, 0.0]));
        // Keys face up: the side they are on decides; in the middle, nothing does.
        let keypad = preferred_side(&Vector3::z(), &Vector3::new(0.0, -0.06, 0.02));
        assert_eq!(keypad, Some([0.0, -0.06]));
        assert_eq!(preferred_side(&Vector3::z(), &Vector3::new(0.004, 0.0, 0.03)), None);
        assert_eq!(preferred_side(&Vector3::new(f64::NAN, 0.0, 0.0), &Vector3::zeros()), None);
    }
}
