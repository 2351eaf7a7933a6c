//! After a motion that was cut short, or a start with the arm or the hand anywhere: home, feel, look, and know again.
//!
//! Whether something is held is felt with the pads, not remembered, and the map is taken anew. Something of which this
//! process does not know how it lies in the hand, because it was started since, is put on the table.

use crate::course::Course;
use crate::fault::SkillFault;
use crate::grasp::LIFTS;
use crate::hand::EMPTY_OPENING;
use crate::robot::{Motion as _, Robot};
use crate::view::THERE;
use nalgebra::{Isometry3, Translation3};
use prehend_scene::{ObjectMap, Skill};
use prehend_skills::plan::view_plan;

/// Pads this near to fully open hold nothing, metres: what is grasped is narrower.
const OPEN_SLACK: f64 = 0.006;
/// Height of the tool above the table below which the arm moves away straight before anything else, metres.
const LOW: f64 = 0.30;

impl<R: Robot> Course<'_, R> {
    /// Makes arm, hand and map known again, unless they are. Every motion is gated like any other.
    pub(crate) fn recover(&self) -> Result<(), SkillFault> {
        if self.is_settled()? {
            return Ok(());
        }
        self.map_is_stale();
        self.tell("recover", "begun", "arm, hand and map are not as a skill leaves them: home, feel, look");
        if !self.is_at_home()? {
            self.move_clear()?;
            self.home()?;
        }
        let holds = self.feel_for_it()?;
        let map = self.update_map("home", true)?;
        if holds {
            match self.held()? {
                Some(held) if !held.unknown => {
                    self.tell("recover", "held", &format!("{} is in the gripper", held.object.key));
                }
                Some(_) | None => self.put_down_unknown(&map)?,
            }
        }
        self.hand().settle(true);
        self.tell("recover", "done", "arm, hand and map are known again");
        Ok(())
    }

    /// Whether arm, hand and map are as a skill left them. A process that was just started asks the arm: at home, with the
    /// pads open or together, nothing was cut short.
    fn is_settled(&self) -> Result<bool, SkillFault> {
        let known = self.hand().settled();
        match known {
            Some(settled) => Ok(settled),
            None => {
                let opening = self.robot.joints()?.opening;
                let settled = self.is_at_home()? && !self.may_hold(opening);
                self.hand().settle(settled);
                Ok(settled)
            }
        }
    }

    fn is_at_home(&self) -> Result<bool, SkillFault> {
        let arm = self.robot.joints()?.arm;
        Ok(arm.iter().zip(&self.robot.body().home).all(|(a, b)| (a - b).abs() < THERE))
    }

    /// Whether pads this far apart can have something between them.
    fn may_hold(&self, opening: f64) -> bool {
        (EMPTY_OPENING..self.gripper().max_opening - OPEN_SLACK).contains(&opening)
    }

    /// Away from the table and what stands on it: straight up with what may be between the pads, else back as the pads came.
    fn move_clear(&self) -> Result<(), SkillFault> {
        let tool = self.tool_pose()?;
        let map = self.robot.newest_map().unwrap_or_default();
        if tool.translation.z - self.table_height(&map) > LOW {
            return Ok(());
        }
        // What may be in the hand stands on something, and touches it: it is no obstacle to its own way up.
        let world = self.world(&map)?.holding(&[]);
        let slow = self.robot.body().contact_velocity_scaling * 2.0;
        let engaged = self.hand().is_engaged() || self.hand().settled().is_none();
        let opening = self.robot.joints()?.opening;
        let closed = self.hand().command(opening) < EMPTY_OPENING;
        if !engaged && closed && self.may_hold(opening) {
            // A part that is pulled, not something that is lifted: nothing can fall.
            let motion = self.commit(self.arm_plan(tool, &map)?)?;
            self.grip(&motion, "open", self.gripper().max_opening)?;
        }
        let lift = self.standoff().lift;
        let mut last = "outside the workspace".to_owned();
        for share in LIFTS {
            let away = if engaged {
                Translation3::new(0.0, 0.0, lift * share) * tool
            } else {
                tool * Translation3::new(0.0, 0.0, -lift * share)
            };
            if !self.in_workspace(&away) {
                continue;
            }
            match self.line_away(&world, &[away], slow.min(1.0))? {
                Ok(line) => {
                    let motion = self.commit(self.arm_plan(away, &map)?)?;
                    return motion.execute("clear", line);
                }
                Err(miss) => last = miss.to_string(),
            }
        }
        // The way home is planned around what is known; it may still be found.
        self.tell("clear", "skipped", &last);
        Ok(())
    }

    /// A plan that moves the arm or the fingers at one tool pose.
    fn arm_plan(
        &self,
        tool: Isometry3<f64>,
        map: &ObjectMap,
    ) -> Result<prehend_scene::SkillPlan, SkillFault> {
        let opening = self.robot.joints()?.opening.clamp(0.0, self.gripper().max_opening);
        let held = self.held()?.map(|held| held.object.key);
        Ok(view_plan(Skill::Home, held.as_ref(), tool, opening, map.version))
    }

    /// Whether something is between the pads: they are closed on it, and opened again when they meet.
    fn feel_for_it(&self) -> Result<bool, SkillFault> {
        let opening = self.robot.joints()?.opening;
        if !self.may_hold(opening) {
            self.hand().release();
            return Ok(false);
        }
        let map = self.robot.newest_map().unwrap_or_default();
        let motion = self.commit(self.arm_plan(self.tool_pose()?, &map)?)?;
        let felt = self.grip(&motion, "feel", 0.0)?;
        if felt >= EMPTY_OPENING {
            self.hand().felt();
            return Ok(true);
        }
        self.hand().release();
        self.grip(&motion, "open", self.gripper().max_opening)?;
        Ok(false)
    }
}
