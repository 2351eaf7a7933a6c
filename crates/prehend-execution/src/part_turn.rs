//! Turning a knob that is held: the hand turns about the knob's axis until it has turned far enough or is held against.

use crate::course::Course;
use crate::fault::SkillFault;
use crate::feel::Feel;
use crate::part_contact::Done;
use crate::robot::{Joints, Motion as _, Robot};
use nalgebra::{Isometry3, Point3, Translation3, Vector3};
use prehend_scene::Felt;
use prehend_skills::PartCandidate;
use prehend_skills::part::Pivot;

/// Angle turned at a time, radians.
const STEP: f64 = 0.15;
/// A step that got less far than this share met a stop, or something that pushes the hand aside; so many of them end it.
const STALLED: f64 = 0.4;
const STUCK: usize = 3;
/// Greatest moment about the axis, newton metres, and force across it, newtons.
const MOMENT: f64 = 0.8;
const FORCE: f64 = 40.0;
/// A knob that is held beside its axis pushes the hand aside. The hand bears so much force across the axis, newtons, and gives way to
/// more.
const SLACK: f64 = 10.0;
/// How often the hand gives way.
const TIMES: usize = 3;
/// How far the hand gives way beyond where it was pushed to: metres for each newton, and at most, metres.
const YIELDS: [f64; 2] = [1.0e-5, 0.0005];
/// Speed as a share of the joints' limits.
const SPEED: f64 = 0.08;

impl<R: Robot> Course<'_, R> {
    /// Turns what is held about its axis; errors as for every motion in contact.
    pub(crate) fn turn_knob(
        &self,
        motion: &R::Motion<'_>,
        candidate: &PartCandidate,
        (pivot, feel): (&Pivot, Option<&Feel<'_>>),
    ) -> Result<Done, SkillFault> {
        let bounds = candidate.motion;
        let first = self.tool_pose()?;
        self.led(first);
        let (goal, mut turned) = (bounds.extent / pivot.arm, 0.0);
        let (mut stopped, mut stuck, mut force) = (false, 0, 0.0_f64);
        self.give_way(motion, &first, (feel, pivot))?;
        while !stopped && turned < goal - 0.03 {
            let here = self.tool_pose()?;
            let step = STEP.min(goal - turned);
            // The pads hold the ridge, which tells more of the axis than the look of the knob.
            let about = Pivot { foot: Point3::from(here.translation.vector), ..*pivot };
            let next = about.advance(&here, step * pivot.arm, true);
            match self.twist_step(motion, &first, &next, (feel, pivot), FORCE) {
                Ok((held_against, felt)) => {
                    force = force.max(felt);
                    let here = self.tool_pose()?;
                    self.led(here);
                    let now = angle(pivot, &first, &here, turned);
                    stuck = if now - turned < STALLED * step { stuck + 1 } else { 0 };
                    stopped = held_against || stuck >= STUCK;
                    turned = now;
                }
                // Out of reach: as far as it went is as far as it goes.
                Err(SkillFault::NoPlan { detail, .. }) => {
                    self.tell("turn", "reach", &detail);
                    break;
                }
                Err(fault) => return Err(fault),
            }
            if !stopped {
                self.give_way(motion, &first, (feel, pivot))?;
            }
        }
        self.tell("turn", "turned", &format!("turned by {:.0} degrees", turned.to_degrees()));
        let displacement = self.tool_pose()?.translation.vector - first.translation.vector;
        let travel = (turned * pivot.arm).max(0.0);
        Ok(Done { felt: Felt { travel, returned: 0.0, displacement, force, stopped } })
    }

    /// Has the hand stay where it was pushed to across the axis, until little pushes it.
    fn give_way(
        &self,
        motion: &R::Motion<'_>,
        first: &Isometry3<f64>,
        (feel, pivot): (Option<&Feel<'_>>, &Pivot),
    ) -> Result<(), SkillFault> {
        for _ in 0..TIMES {
            let force = self.across(feel, &pivot.axis)?;
            if force.norm() < SLACK {
                return Ok(());
            }
            let aside = (force * YIELDS[0]).cap_magnitude(YIELDS[1]);
            let next = Translation3::from(aside) * self.tool_pose()?;
            // It may push as hard as it does already.
            match self.twist_step(motion, first, &next, (feel, pivot), force.norm() + FORCE / 2.0) {
                Ok(_) => {}
                Err(SkillFault::NoPlan { .. }) => return Ok(()),
                Err(fault) => return Err(fault),
            }
        }
        Ok(())
    }

    /// Force on the hand across the axis, newtons; none when none is measured.
    fn across(&self, feel: Option<&Feel<'_>>, axis: &Vector3<f64>) -> Result<Vector3<f64>, SkillFault> {
        let now = self.robot.joints()?;
        let force = feel.and_then(|feel| feel.force(&now)).unwrap_or_default();
        Ok(force - axis * force.dot(axis))
    }

    /// One motion of the hand; whether a moment held against it, and the greatest force across the axis on the way, which ends it
    /// beyond `limit`.
    fn twist_step(
        &self,
        motion: &R::Motion<'_>,
        first: &Isometry3<f64>,
        next: &Isometry3<f64>,
        (feel, pivot): (Option<&Feel<'_>>, &Pivot),
        limit: f64,
    ) -> Result<(bool, f64), SkillFault> {
        let now = self.robot.joints()?;
        let goal = [*next];
        let line = self.robot.line(&now.arm, &goal, now.opening, SPEED.into());
        let line = match line? {
            Ok(line) => line,
            Err(miss) => {
                return Err(SkillFault::NoPlan { phase: "turn", tried: 1, detail: miss.to_string() });
            }
        };
        let path = self.tool_path(&line)?;
        let mut greatest = 0.0_f64;
        let start = Point3::from(first.translation.vector);
        let mut held_against = false;
        motion.press_on("turn", line, (&start, &path), &mut |joints: &Joints| {
            let Some((force, moment)) = feel.and_then(|feel| feel.wrench(joints)) else { return false };
            let across = (force - pivot.axis.into_inner() * force.dot(&pivot.axis)).norm();
            greatest = greatest.max(across);
            held_against |= moment.dot(&pivot.axis).abs() > MOMENT;
            held_against || across > limit
        })?;
        Ok((held_against, greatest))
    }
}

/// Angle that the hand has turned by about the axis since `first`, near the angle it had turned by before, radians.
fn angle(pivot: &Pivot, first: &Isometry3<f64>, now: &Isometry3<f64>, before: f64) -> f64 {
    let turn = now.rotation * first.rotation.inverse();
    let about = turn.scaled_axis().dot(&pivot.axis);
    // Beyond half a turn the axis is the other one.
    let whole = std::f64::consts::TAU;
    about + whole * ((before - about) / whole).round()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_angle_goes_on_beyond_half_a_turn() {
        let pivot = Pivot { foot: Point3::new(0.4, 0.1, 0.05), axis: -Vector3::z_axis(), arm: 0.02 };
        let first = Isometry3::translation(0.4, 0.1, 0.08);
        let mut turned = 0.0;
        for step in 1..=12 {
            let now = pivot.advance(&first, 0.02 * 0.4 * f64::from(step), true);
            turned = angle(&pivot, &first, &now, turned);
            assert!((turned - 0.4 * f64::from(step)).abs() < 1e-9, "{turned}");
        }
    }
}
