//! New observations after a motion, and what the verifier makes of them.

use crate::course::Course;
use crate::fault::SkillFault;
use crate::robot::Robot;
use crate::view::HOME;
use prehend_scene::{Object, ObjectMap, Observation, SkillPlan};
use prehend_verify::keep_needed;

/// Stamps this close are of one frame, seconds.
const SAME_FRAME: f64 = 1e-3;
/// The name of the view from where the arm stands.
const HERE: &str = "here";

impl<R: Robot> Course<'_, R> {
    /// What is observed now; `map` is what the camera saw, if it looked.
    pub(crate) fn observation(&self, map: Option<&ObjectMap>) -> Result<Observation, SkillFault> {
        let joints = self.robot.joints()?;
        let command = self.hand().command(joints.opening);
        Ok(Observation {
            stamp: joints.stamp,
            gripper_opening: joints.opening,
            gripper_command: command,
            gripper_effort: joints.effort,
            tool_pose: self.tool_at(&joints.arm)?,
            objects: map.map(|map| map.objects.clone()),
            map_version: map.map_or(0, |map| map.version),
            felt: self.felt.get(),
        })
    }

    /// Goes home, looks, and lets the verifier judge the plan's outcome. A placed object that was not seen from home is
    /// looked for once more from nearer by. What is held may leave no way home: then it is judged from where the arm stands.
    pub(crate) fn confirm(
        &self,
        plan: &SkillPlan,
        before: Observation,
        seen_before: Option<&Object>,
    ) -> Result<String, SkillFault> {
        let tell = |fault: &SkillFault| self.tell("home", fault.reason().code(), &fault.to_string());
        let view = view_after(self.home(), || Ok(self.held()?.is_some()), tell)?;
        let mut before = before;
        // What is in the hand may have left the map; the check must know what it looked like.
        if let (Some(objects), Some(object)) = (before.objects.as_mut(), seen_before)
            && objects.iter().all(|o| o.key != object.key)
        {
            objects.push(object.clone());
        }
        let first = self.look_and_check(plan, &before, view)?;
        let again = match first {
            Ok(because) => return Ok(because),
            Err(because) if plan.relation.is_none() && !plan.skill.acts_on_part() => {
                return Err(SkillFault::Outcome(because));
            }
            Err(because) => because,
        };
        self.tell("check", "again", &format!("looking again: {again}"));
        let at = plan.pose_goals.get(1).map(|pose| pose.translation.vector);
        let (name, joints) = match self.level_look(plan)? {
            Some(look) => look,
            None => self.survey_pose(at, None),
        };
        self.view_from(&name, &joints)?;
        let second = self.look_and_check(plan, &before, &name)?;
        self.home()?;
        second.map_err(SkillFault::Outcome)
    }

    /// One frame and one verdict: what shows success, or what does not.
    fn look_and_check(
        &self,
        plan: &SkillPlan,
        before: &Observation,
        view: &str,
    ) -> Result<Result<String, String>, SkillFault> {
        let map = self.update_map(view, false)?;
        let mut after = self.observation(Some(&map))?;
        // Only what this frame shows counts: the map also remembers what is hidden now, behind the hand for instance.
        if let Some(objects) = &mut after.objects {
            objects.retain(|object| object.last_seen + SAME_FRAME >= map.stamp);
        }
        let mut before = before.clone();
        keep_needed(plan, &mut before, &mut after);
        self.robot.check_outcome(plan, &before, &after, self.assessment_of(plan.skill))
    }
}

/// The view from which an outcome is judged, by how the way home ended. It is home if the arm got there. If no way was found while
/// something is held, it is where the arm stands, since the held thing may leave no way; `tell` hears why. Every other fault stays a
/// fault, and then the hand is not asked.
fn view_after(
    way_home: Result<(), SkillFault>,
    is_holding: impl FnOnce() -> Result<bool, SkillFault>,
    tell: impl FnOnce(&SkillFault),
) -> Result<&'static str, SkillFault> {
    match way_home {
        Ok(()) => Ok(HOME),
        Err(fault @ SkillFault::NoPlan { .. }) if is_holding()? => {
            tell(&fault);
            Ok(HERE)
        }
        Err(fault) => Err(fault),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::forbidden::Forbidden;
    use prehend_scene::Reason;

    /// The view and whether it was told why, or the reason of the fault.
    fn check(way_home: Result<(), SkillFault>, is_holding: bool, expected: Result<(&str, bool), Reason>) {
        let mut told = false;
        let view = view_after(way_home, || Ok(is_holding), |_| told = true);
        assert_eq!(view.map(|view| (view, told)).map_err(|fault| fault.reason()), expected);
    }

    #[test]
    fn what_is_held_and_leaves_no_way_home_is_judged_from_here() {
        let no_way = || SkillFault::NoPlan { phase: "survey pose", tried: 2, detail: String::new() };
        check(Ok(()), true, Ok(("home", false)));
        check(Err(no_way()), true, Ok(("here", true)));
        check(Err(no_way()), false, Err(Reason::NoPlan));
        check(Err(Forbidden::Stopped(String::new()).into()), true, Err(Reason::Stopped));
        check(Err(Forbidden::Canceled.into()), true, Err(Reason::Canceled));
        check(Err(Forbidden::Refused(String::new()).into()), true, Err(Reason::VerifierRefused));
        let failed = SkillFault::ControlFailed { phase: "home", detail: String::new() };
        check(Err(failed), true, Err(Reason::ControlFailed));
        // Nobody says what is in the hand: nothing is judged.
        let silent = || Err(SkillFault::Sensor { what: "joint states", detail: String::new() });
        let view = view_after(Err(no_way()), silent, |_| panic!("nothing to tell"));
        assert_eq!(view.map_err(|fault| fault.reason()), Err(Reason::SensorFault));
        // What broke the motion is the fault, not that the hand is silent, too.
        let view = view_after(Err(Forbidden::Canceled.into()), || panic!("the hand was asked"), |_| ());
        assert_eq!(view.map_err(|fault| fault.reason()), Err(Reason::Canceled));
    }
}
