//! Grasp: candidates from the observed cloud, the first that the arm reaches, and whether the pads hold something.

use crate::course::{Course, Order, Reached};
use crate::fault::SkillFault;
use crate::hand::{EMPTY_OPENING, held_after};
use crate::misses::Misses;
use crate::prospect::{Chosen, ToolPose};
use crate::robot::{Motion as _, Planned as _, Robot};
use crate::world::{World, support};
use nalgebra::{Isometry3, Point3, Vector3};
use prehend_scene::{Object, ObjectMap, PartEffect, PartMotion, Skill, SkillPlan};
use prehend_skills::grasp::grasp_candidates;
use prehend_skills::plan::{Standoff, grasp_plan};
use prehend_skills::{GraspCandidate, GraspError, GraspRequest};

/// Candidates asked for.
const CANDIDATES: usize = 30;
/// Reachable candidates that are planned for, as in ASP IV-C.
const TRIED: usize = 10;
/// Candidates whose reach is asked before their motions are planned.
const BATCH: usize = 3;
/// Lifts tried after the pads closed, as shares of the planned one.
pub(crate) const LIFTS: [f64; 3] = [1.0, 0.6, 0.3];
/// Greatest share of the joint velocity limits while something is lifted.
const LIFT_SPEED: f64 = 0.3;

/// A candidate with its motions.
struct PlannedGrasp<T> {
    candidate: GraspCandidate,
    transit: T,
    approach: T,
}

impl<R: Robot> Course<'_, R> {
    pub(crate) fn grasp(&self, order: &Order) -> Result<String, SkillFault> {
        let map = self.robot.map(order.map_version)?;
        self.check_contract(order, &map)?;
        let object = map.get(&order.object).ok_or_else(|| SkillFault::UnknownObject(order.object.clone()))?;
        let candidates = self.candidates(order, object, &map)?;
        self.tell(
            "candidates",
            "found",
            &format!(
                "{} grasps on {}, the best {:?} at width {:.0} mm",
                candidates.len(),
                object.key,
                candidates[0].kind,
                candidates[0].width * 1e3
            ),
        );
        let world = self.world(&map)?;
        let poses: Vec<ToolPose> = candidates.iter().map(|one| (one.map_from_tool, one.opening)).collect();
        let mut misses = Misses::default();
        let way = self.reach_one(&candidates, &world, object, &mut misses);
        let way = way.inspect_err(|fault| self.tell_no_plan(fault, &poses, &misses))?;
        let chosen = Chosen {
            candidates: poses,
            misses,
            taken: (way.candidate.map_from_tool, way.candidate.opening),
            grip_width: way.candidate.width,
            motions: vec![("transit", &way.transit), ("approach", &way.approach)],
        };
        self.tell_plan(&chosen);
        let before = self.observation(Some(&map))?;
        let mut plan = grasp_plan(&object.key, &order.part, &way.candidate, &self.standoff(), map.version);
        if order.skill == Skill::GraspPart {
            plan.skill = Skill::GraspPart;
            plan.motion = Some(lifted_by_part(&way.candidate, &self.standoff()));
        }
        if self.order.plan_only {
            return self.foresee_grasp(&plan, chosen, &way, (object, &world));
        }
        let motion = self.commit(plan.clone())?;
        let closed = self.approach_and_close(&motion, &way, &world, (object, &map))?;
        let open = world.without(&[object.key.0.as_str()]);
        self.lift(&motion, &way.candidate, (object, &map), &open, closed)?;
        drop(motion);
        self.confirm(&plan, before, Some(object))
    }

    /// What the grasp would be, its lift included.
    fn foresee_grasp(
        &self,
        plan: &SkillPlan,
        chosen: Chosen<'_, R::Planned>,
        way: &PlannedGrasp<R::Planned>,
        (object, world): (&Object, &World),
    ) -> Result<String, SkillFault> {
        let open = world.without(&[object.key.0.as_str()]);
        self.robot.apply_scene(&open)?;
        let speed = self.robot.body().velocity_scaling.min(LIFT_SPEED);
        let up = [way.candidate.lift(self.standoff().lift)];
        let lift = match way.approach.positions().last() {
            Some(below) => self.robot.line(below, &up, way.candidate.width, speed.into())?.ok(),
            None => None,
        };
        let motions = chosen.motions.iter().copied().chain(lift.as_ref().map(|lift| ("lift", lift)));
        let chosen = Chosen { motions: motions.collect(), ..chosen };
        self.foresee(plan, &chosen)
    }

    fn candidates(
        &self,
        order: &Order,
        object: &Object,
        map: &ObjectMap,
    ) -> Result<Vec<GraspCandidate>, SkillFault> {
        let others: Vec<&Object> = map.objects.iter().filter(|other| other.key != object.key).collect();
        let neighbours: Vec<&[Point3<f64>]> = others.iter().map(|o| o.cloud.points.as_slice()).collect();
        let request = GraspRequest {
            object: &object.cloud.points,
            part: None,
            neighbours: &neighbours,
            support_height: support(map, &object.cloud.points),
            gripper: self.gripper(),
            reach: self.reach(),
            limit: CANDIDATES,
        };
        let none = |cause: GraspError| {
            let by: &[usize] = if let GraspError::Surrounded { by } = &cause { by } else { &[] };
            let in_the_way = by.iter().filter_map(|index| Some(others.get(*index)?.key.clone())).collect();
            SkillFault::NoGrasp { object: object.key.clone(), cause, in_the_way }
        };
        let mut found = Vec::new();
        let mut on_no_part = GraspError::NoContact;
        for part in order.affordances.iter().filter(|a| !order.part.is_empty() && a.part == order.part) {
            match grasp_candidates(&GraspRequest { part: Some(&part.cloud.points), ..request }) {
                Ok(on_part) => found.extend(on_part),
                Err(cause) => {
                    self.tell("candidates", "no_part", &format!("no grasp on the {}: {cause}", part.part));
                    on_no_part = cause;
                }
            }
        }
        // Who asks for the part means the part: nothing else will do.
        if order.skill == Skill::GraspPart {
            return if found.is_empty() { Err(none(on_no_part)) } else { Ok(found) };
        }
        match grasp_candidates(&request) {
            Ok(anywhere) => found.extend(anywhere),
            Err(cause) if found.is_empty() => return Err(none(cause)),
            Err(_) => {}
        }
        Ok(found)
    }

    /// The first candidate that the arm reaches without collision.
    fn reach_one(
        &self,
        candidates: &[GraspCandidate],
        world: &World,
        object: &Object,
        misses: &mut Misses,
    ) -> Result<PlannedGrasp<R::Planned>, SkillFault> {
        let start = self.joints()?.arm;
        // The pads go around the object: on the last stretch its own boxes would be in the way.
        let open = world.without(&[object.key.0.as_str()]);
        let (mut tried, mut rest) = (0, candidates.iter().enumerate());
        loop {
            self.robot.apply_scene(&open)?;
            let mut batch = Vec::new();
            for (index, candidate) in rest.by_ref() {
                match self.reach_pregrasp(candidate, &start)? {
                    Ok(reached) => batch.push((index, reached)),
                    Err(miss) => misses.add(index, miss),
                }
                if batch.len() == BATCH {
                    break;
                }
            }
            if batch.is_empty() {
                break;
            }
            self.robot.apply_scene(world)?;
            for (index, Reached { candidate, joints, approach }) in batch {
                tried += 1;
                let velocity = self.robot.body().velocity_scaling;
                match self.robot.plan(&start, &joints, candidate.opening, velocity)? {
                    Ok(transit) => return Ok(PlannedGrasp { candidate, transit, approach }),
                    Err(miss) => misses.add(index, miss.to_string()),
                }
            }
            if tried >= TRIED {
                break;
            }
        }
        Err(SkillFault::NoPlan { phase: "grasp", tried: candidates.len(), detail: misses.summary() })
    }

    /// Joints before the grasp and the straight line to it, with the pads either way round.
    fn reach_pregrasp(
        &self,
        candidate: &GraspCandidate,
        start: &[f64],
    ) -> Result<Result<Reached<GraspCandidate, R::Planned>, String>, SkillFault> {
        let standoff = self.standoff();
        let slow = self.robot.body().contact_velocity_scaling;
        let mut last = String::new();
        for candidate in [*candidate, candidate.flipped()] {
            let before = candidate.pregrasp(standoff.approach);
            if ![before, candidate.lift(standoff.lift)].iter().all(|pose| self.in_workspace(pose)) {
                last = "outside the workspace".to_owned();
                continue;
            }
            let joints = match self.robot.ik(&before, start, candidate.opening)? {
                Ok(joints) => joints,
                Err(miss) => {
                    last = miss.to_string();
                    continue;
                }
            };
            match self.robot.line(&joints, &[candidate.map_from_tool], candidate.opening, slow.into())? {
                Ok(approach) => return Ok(Ok(Reached { candidate, joints, approach })),
                Err(miss) => last = miss.to_string(),
            }
        }
        Ok(Err(last))
    }

    /// To the object and around it; the opening after closing.
    fn approach_and_close(
        &self,
        motion: &R::Motion<'_>,
        way: &PlannedGrasp<R::Planned>,
        world: &World,
        (object, map): (&Object, &ObjectMap),
    ) -> Result<f64, SkillFault> {
        let opening = self.robot.joints()?.opening;
        if (opening - way.candidate.opening).abs() > 0.004 {
            self.grip(motion, "open", way.candidate.opening)?;
        }
        motion.execute("transit", way.transit.clone())?;
        let open = world.without(&[object.key.0.as_str()]);
        if let Err(fault) = motion.execute("approach", way.approach.clone()) {
            // The pads met something on the way: withdraw as they came, if nothing else stopped the arm.
            if matches!(fault, SkillFault::ControlFailed { .. }) {
                self.withdraw(motion, &open, &way.candidate.pregrasp(self.standoff().approach));
            }
            return Err(fault);
        }
        let (tool, width) = (&way.candidate.map_from_tool, way.candidate.width);
        self.hand().expect(held_after(object, map, tool, width));
        self.grip(motion, "close", 0.0)
    }

    fn withdraw(&self, motion: &R::Motion<'_>, world: &World, to: &Isometry3<f64>) {
        let withdraw = || {
            let slow = self.robot.body().contact_velocity_scaling;
            match self.line_away(world, &[*to], slow)? {
                Ok(line) => motion.execute("withdraw", line),
                Err(miss) => {
                    Err(SkillFault::NoPlan { phase: "withdraw", tried: 1, detail: miss.to_string() })
                }
            }
        };
        if let Err(fault) = withdraw() {
            self.tell("withdraw", fault.reason().code(), &fault.to_string());
        }
    }

    /// Straight up, with or without the object; notes what is held.
    fn lift(
        &self,
        motion: &R::Motion<'_>,
        candidate: &GraspCandidate,
        (object, map): (&Object, &ObjectMap),
        world: &World,
        closed: f64,
    ) -> Result<(), SkillFault> {
        let holds = closed >= EMPTY_OPENING;
        if holds && let Some(held) = held_after(object, map, &candidate.map_from_tool, closed) {
            self.hand().take(held);
        }
        let speed = self.robot.body().velocity_scaling.min(LIFT_SPEED);
        let mut last = String::new();
        for share in LIFTS {
            let up = candidate.lift(self.standoff().lift * share);
            match self.line_away(world, &[up], speed)? {
                Ok(line) => {
                    motion.execute("lift", line)?;
                    let opening = self.robot.joints()?.opening;
                    if opening >= EMPTY_OPENING {
                        return Ok(());
                    }
                    // Nothing is between the pads, so opening them lets nothing fall.
                    self.hand().release();
                    self.grip(motion, "open", self.gripper().max_opening)?;
                    return Err(SkillFault::Slipped { phase: if holds { "lift" } else { "close" }, opening });
                }
                Err(miss) => last = miss.to_string(),
            }
        }
        Err(SkillFault::NoPlan { phase: "lift", tried: LIFTS.len(), detail: last })
    }
}

/// The motion of a part by which its object is lifted.
fn lifted_by_part(candidate: &GraspCandidate, standoff: &Standoff) -> PartMotion {
    let tool = candidate.map_from_tool;
    PartMotion {
        effect: PartEffect::Hold,
        anchor: Point3::from(tool.translation.vector),
        direction: Vector3::z(),
        extent: standoff.lift,
        least: LIFTS[2] * standoff.lift,
        corridor: 0.02,
    }
}
