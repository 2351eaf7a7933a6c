//! The joint that a hand follows while it pulls: guessed, measured or felt, and the next poses on its way.

use nalgebra::{Isometry3, Point3, Translation3, Unit, Vector3};
use prehend_scene::PartMotion;
use prehend_skills::joint::{Joint, JointFit};
use prehend_skills::part::Pivot;

/// Step of a pull along a joint that is known, and farthest between two poses of a longer one, metres.
pub(crate) const NEXT_STEP: f64 = 0.025;

/// Poses ahead with the hand turned as the part turns, and the same without turning the hand.
pub(crate) fn ahead(here: &Isometry3<f64>, next: &[Isometry3<f64>], turns: bool) -> Vec<Vec<Isometry3<f64>>> {
    let still = next.iter().map(|next| Isometry3::from_parts(next.translation, here.rotation)).collect();
    if turns { vec![next.to_vec(), still] } else { vec![next.to_vec()] }
}

/// The joint of a part that slides, as it was measured.
pub(crate) fn straight(direction: &Vector3<f64>) -> Option<JointFit> {
    let joint = Joint::Prismatic { axis: Unit::try_new(*direction, 1e-6)? };
    Some(JointFit { joint, residual: 0.0, line_residual: 0.0, travel: 0.0 })
}

/// The joint that a part is thought to hang on before it has moved.
pub(crate) fn guessed(pivot: Pivot) -> JointFit {
    let joint = Joint::Revolute { axis: pivot.axis, centre: pivot.foot, radius: pivot.arm };
    JointFit { joint, residual: 0.0, line_residual: 0.0, travel: 0.0 }
}

/// Whether what was felt of a joint can be the hinge that was seen.
pub(crate) fn is_like(guess: &JointFit, found: &JointFit) -> bool {
    match (guess.joint, found.joint) {
        (Joint::Revolute { axis, radius, .. }, Joint::Revolute { axis: other, radius: felt, .. }) => {
            axis.dot(&other) > 0.9 && (0.6..1.7).contains(&(felt / radius))
        }
        _ => false,
    }
}

/// The next poses on the way of the part, as far as the corridor holds them: a whole step, half of one, or none. On a long step the hand
/// goes over several poses.
pub(crate) fn inside(
    bounds: &PartMotion,
    start: &Point3<f64>,
    here: &Isometry3<f64>,
    fit: Option<&JointFit>,
    step: f64,
    sideways: &Vector3<f64>,
) -> Option<Vec<Isometry3<f64>>> {
    [1.0, 0.5].into_iter().find_map(|share| {
        let far = step * share;
        let pieces = (far / NEXT_STEP).ceil().max(1.0) as u32;
        let at = |piece: u32| {
            let distance = far * f64::from(piece) / f64::from(pieces);
            let ahead = match fit {
                Some(fit) => fit.advance(here, distance),
                None => Translation3::from(bounds.direction * distance) * here,
            };
            Translation3::from(*sideways) * ahead
        };
        let next: Vec<Isometry3<f64>> = (1..=pieces).map(at).collect();
        let holds = |next: &Isometry3<f64>| bounds.holds(start, &Point3::from(next.translation.vector));
        next.iter().all(holds).then_some(next)
    })
}

/// A joint in words, after the part has come so far, metres.
pub(crate) fn joint_words(fit: &JointFit, travel: f64) -> String {
    let residual = fit.residual * 1e3;
    match fit.joint {
        Joint::Prismatic { axis } => {
            format!("it slides along ({:.2}, {:.2}, {:.2}), {residual:.2} mm off", axis.x, axis.y, axis.z)
        }
        Joint::Revolute { radius, .. } => format!(
            "it turns at a radius of {radius:.2} m, {:.0} degrees so far, {residual:.2} mm off",
            fit.angle(travel).to_degrees()
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use prehend_scene::PartEffect;

    #[test]
    fn a_step_stays_in_the_corridor_or_is_not_made() {
        let bounds = PartMotion {
            effect: PartEffect::Open,
            anchor: Point3::new(0.5, 0.0, 0.2),
            direction: -Vector3::x(),
            extent: 0.10,
            least: 0.05,
            corridor: 0.02,
        };
        let start = Point3::new(0.5, 0.0, 0.2);
        let at = |x: f64, y: f64| Isometry3::translation(x, y, 0.2);
        let check = |here: Isometry3<f64>, sideways: Vector3<f64>, expected: Option<f64>| {
            let next = inside(&bounds, &start, &here, None, 0.02, &sideways);
            let last = next.and_then(|way| way.last().copied());
            assert_eq!(last.map(|pose| (pose.translation.x * 1e3).round()), expected);
        };
        check(at(0.5, 0.0), Vector3::zeros(), Some(480.0));
        check(at(0.395, 0.0), Vector3::zeros(), Some(385.0));
        check(at(0.381, 0.0), Vector3::zeros(), None);
        check(at(0.45, 0.019), Vector3::y() * 0.002, None);
        // A long step goes over several poses, none far from the next.
        let long = inside(&bounds, &start, &at(0.5, 0.0), None, 0.09, &Vector3::zeros()).expect("in it");
        let places: Vec<i32> = long.iter().map(|pose| (pose.translation.x * 1e4).round() as i32).collect();
        assert_eq!(places, [4775, 4550, 4325, 4100]);
        // A hinge that would carry the hand out of the corridor is not followed there.
        let turn = Joint::Revolute {
            axis: Unit::new_unchecked(Vector3::z()),
            centre: Point3::new(0.46, 0.015, 0.2),
            radius: 0.04,
        };
        let fit = JointFit { joint: turn, residual: 0.0, line_residual: 0.001, travel: 0.03 };
        assert!(
            inside(&bounds, &start, &at(0.46, -0.019), Some(&fit), 0.02, &Vector3::zeros())
                .iter()
                .flatten()
                .all(|p| bounds.holds(&start, &Point3::from(p.translation.vector)))
        );
    }
}
