//! New observations after a motion, and what the verifier makes of them.

use super::fault::SkillFault;
use super::job::Job;
use super::view::HOME;
use crate::convert;
use prehend_msgs::prehend_interfaces::msg::ErrorCode;
use prehend_msgs::prehend_interfaces::srv::{CheckOutcome, UpdateMap};
use prehend_ros::RosError;
use prehend_scene::{Object, ObjectMap, Observation, SkillPlan};
use prehend_verify::keep_needed;
use std::sync::{Arc, PoisonError};
use std::time::Duration;

/// Longest wait of the map for a new frame, seconds.
const FRAME_PATIENCE: f64 = 3.0;
/// Deadline of a map update, the frame included.
const UPDATE_DEADLINE: Duration = Duration::from_secs(6);
/// Stamps this close are of one frame, seconds.
const SAME_FRAME: f64 = 1e-3;
/// The name of the view from where the arm stands.
const HERE: &str = "here";
/// Deadline of an outcome check.
const CHECK_DEADLINE: Duration = Duration::from_secs(3);

impl Job<'_> {
    /// What is observed now; `map` is what the camera saw, if it looked.
    pub(super) fn observation(&self, map: Option<&ObjectMap>) -> Result<Observation, SkillFault> {
        let joints = self.skills.arm.joints()?;
        let command = self.skills.arm.hand().command(joints.opening);
        Ok(Observation {
            stamp: joints.stamp,
            gripper_opening: joints.opening,
            gripper_command: command,
            gripper_effort: joints.effort,
            tool_pose: self.tool_at(&joints.arm)?,
            objects: map.map(|map| map.objects.clone()),
            map_version: map.map_or(0, |map| map.version),
            felt: *self.felt.lock().unwrap_or_else(PoisonError::into_inner),
        })
    }

    /// Takes a new frame into the map and returns the new map; a frame that does not come is waited for once more. With
    /// `reset`, what was known before is forgotten.
    pub(super) async fn update_map(&self, view: &str, reset: bool) -> Result<Arc<ObjectMap>, SkillFault> {
        match self.update_map_once(view, reset).await {
            Err(SkillFault::Sensor { detail, .. }) => {
                self.tell("map", "again", &format!("no new map, asking again: {detail}"));
                self.update_map_once(view, reset).await
            }
            other => other,
        }
    }

    async fn update_map_once(&self, view: &str, reset: bool) -> Result<Arc<ObjectMap>, SkillFault> {
        let opening = self.skills.arm.joints()?.opening;
        let gripped = self.skills.arm.hand().known(opening);
        let request = UpdateMap::Request {
            reset,
            view: view.to_owned(),
            timeout: FRAME_PATIENCE,
            gripped: gripped.map(|key| key.0).unwrap_or_default(),
            ..Default::default()
        };
        let answer =
            self.skills.update.request(request, UPDATE_DEADLINE).await.map_err(|error| match error {
                RosError::PeerLost { .. } | RosError::Unavailable { .. } => {
                    SkillFault::PeerLost { peer: "object_map".to_owned(), phase: "map update" }
                }
                slow => SkillFault::Sensor { what: "object map", detail: slow.to_string() },
            })?;
        if answer.error_code != ErrorCode::SUCCESS {
            return Err(SkillFault::Sensor { what: "camera frame", detail: answer.error_message });
        }
        self.map_is_taken(answer.version);
        let map = self.map(answer.version).await?;
        if map.version < answer.version {
            let detail = format!("version {} was announced but did not arrive", answer.version);
            return Err(SkillFault::Sensor { what: "object map", detail });
        }
        Ok(map)
    }

    /// Goes home, looks, and lets the verifier judge the plan's outcome. A placed object that was not seen from home is
    /// looked for once more from nearer by. What is held may leave no way home: then it is judged from where the arm stands.
    pub(super) async fn confirm(
        &self,
        plan: &SkillPlan,
        before: Observation,
        seen_before: Option<&Object>,
    ) -> Result<String, SkillFault> {
        let tell = |fault: &SkillFault| self.tell("home", fault.reason().code(), &fault.to_string());
        let view = view_after(self.home().await, || Ok(self.held()?.is_some()), tell)?;
        let mut before = before;
        // What is in the hand may have left the map; the check must know what it looked like.
        if let (Some(objects), Some(object)) = (before.objects.as_mut(), seen_before)
            && objects.iter().all(|o| o.key != object.key)
        {
            objects.push(object.clone());
        }
        let first = self.look_and_check(plan, &before, view).await?;
        let again = match first {
            Ok(because) => return Ok(because),
            Err(because) if plan.relation.is_none() && !plan.skill.acts_on_part() => {
                return Err(SkillFault::Outcome(because));
            }
            Err(because) => because,
        };
        self.tell("check", "again", &format!("looking again: {again}"));
        let at = plan.pose_goals.get(1).map(|pose| pose.translation.vector);
        let (name, joints) = match self.level_look(plan).await? {
            Some(look) => look,
            None => self.survey_pose(at, None),
        };
        self.view_from(&name, &joints).await?;
        let second = self.look_and_check(plan, &before, &name).await?;
        self.home().await?;
        second.map_err(SkillFault::Outcome)
    }

    /// One frame and one verdict: what shows success, or what does not.
    async fn look_and_check(
        &self,
        plan: &SkillPlan,
        before: &Observation,
        view: &str,
    ) -> Result<Result<String, String>, SkillFault> {
        let frame = &self.skills.shell.robot.frames.base;
        let map = self.interrupt.guard(self.update_map(view, false)).await?;
        self.map_is_fresh();
        let mut after = self.observation(Some(&map))?;
        // Only what this frame shows counts: the map also remembers what is hidden now, behind the hand for instance.
        if let Some(objects) = &mut after.objects {
            objects.retain(|object| object.last_seen + SAME_FRAME >= map.stamp);
        }
        let mut before = before.clone();
        keep_needed(plan, &mut before, &mut after);
        let request = CheckOutcome::Request {
            plan: convert::plan_to_msg(plan, frame),
            before: convert::observation_to_msg(&before, frame),
            after: convert::observation_to_msg(&after, frame),
            assessment_id: self.assessment_of(plan.skill).to_owned(),
        };
        let checked = async {
            self.skills
                .check
                .request(request, CHECK_DEADLINE)
                .await
                .map_err(|error| SkillFault::VerifierLost(error.to_string()))
        };
        let answer = self.interrupt.guard(checked).await?;
        if answer.error_code != ErrorCode::SUCCESS && !answer.succeeded {
            let why = if answer.reason.is_empty() { answer.error_message } else { answer.reason };
            return Ok(Err(why));
        }
        Ok(if answer.succeeded { Ok(answer.reason) } else { Err(answer.reason) })
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

    /// The view and whether it was told why, or the code of the fault.
    fn check(way_home: Result<(), SkillFault>, is_holding: bool, expected: Result<(&str, bool), i32>) {
        let mut told = false;
        let view = view_after(way_home, || Ok(is_holding), |_| told = true);
        assert_eq!(view.map(|view| (view, told)).map_err(|fault| fault.code()), expected);
    }

    #[test]
    fn what_is_held_and_leaves_no_way_home_is_judged_from_here() {
        let no_way = || SkillFault::NoPlan { phase: "survey pose", tried: 2, detail: String::new() };
        check(Ok(()), true, Ok(("home", false)));
        check(Err(no_way()), true, Ok(("here", true)));
        check(Err(no_way()), false, Err(ErrorCode::SKILL_NO_PLAN));
        check(Err(SkillFault::Stopped(String::new())), true, Err(ErrorCode::SKILL_STOPPED));
        check(Err(SkillFault::Canceled), true, Err(ErrorCode::SKILL_CANCELED));
        check(Err(SkillFault::Refused(String::new())), true, Err(ErrorCode::SKILL_REFUSED));
        let failed = SkillFault::ControlFailed { phase: "home", detail: String::new() };
        check(Err(failed), true, Err(ErrorCode::SKILL_CONTROL_FAILED));
        // Nobody says what is in the hand: nothing is judged.
        let silent = || Err(SkillFault::Sensor { what: "joint states", detail: String::new() });
        let view = view_after(Err(no_way()), silent, |_| panic!("nothing to tell"));
        assert_eq!(view.map_err(|fault| fault.code()), Err(ErrorCode::SKILL_SENSOR));
        // What broke the motion is the fault, not that the hand is silent, too.
        let view = view_after(Err(SkillFault::Canceled), || panic!("the hand was asked"), |_| ());
        assert_eq!(view.map_err(|fault| fault.code()), Err(ErrorCode::SKILL_CANCELED));
    }
}
