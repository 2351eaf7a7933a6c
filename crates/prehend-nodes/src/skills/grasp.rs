//! Grasp: candidates from the observed cloud, the first that the arm reaches, and whether the pads hold something.

use super::arm::Motion;
use super::fault::SkillFault;
use super::hand::{EMPTY_OPENING, Held};
use super::job::{Asked, Job, support};
use super::misses::Misses;
use super::planning::Planned;
use super::prospect::Chosen;
use super::scene::World;
use super::shown::ToolPose;
use crate::convert;
use nalgebra::{Isometry3, Point3, Vector3};
use prehend_scene::{Object, ObjectMap, PartEffect, PartMotion, Skill, SkillPlan};
use prehend_skills::grasp::grasp_candidates;
use prehend_skills::plan::{Standoff, grasp_plan};
use prehend_skills::{GraspCandidate, GraspError, GraspRequest, HeldShape, solids};

/// Candidates asked for.
const CANDIDATES: usize = 30;
/// Reachable candidates that are planned for, as in ASP IV-C.
const TRIED: usize = 10;
/// Candidates whose reach is asked before their motions are planned.
const BATCH: usize = 3;
/// Lifts tried after the pads closed, as shares of the planned one.
pub(super) const LIFTS: [f64; 3] = [1.0, 0.6, 0.3];
/// Greatest share of the joint velocity limits while something is lifted.
const LIFT_SPEED: f64 = 0.3;
/// Height above the support at which the held object's boxes begin, metres.
const HELD_CLEARANCE: f64 = 0.004;

/// A candidate with its motions.
struct Way {
    candidate: GraspCandidate,
    transit: Planned,
    approach: Planned,
}

impl Job<'_> {
    pub(super) async fn grasp(&self, asked: &Asked) -> Result<String, SkillFault> {
        let map = self.map(asked.map_version).await?;
        self.check_contract(asked, &map)?;
        let object = map.get(&asked.object).ok_or_else(|| SkillFault::UnknownObject(asked.object.clone()))?;
        let candidates = self.candidates(asked, object, &map)?;
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
        let way = self.reach_one(&candidates, &world, object, &mut misses).await;
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
        let mut plan = grasp_plan(&object.key, &asked.part, &way.candidate, &self.standoff(), map.version);
        if asked.skill == Skill::GraspPart {
            plan.skill = Skill::GraspPart;
            plan.motion = Some(lifted_by_part(&way.candidate, &self.standoff()));
        }
        if self.goal.plan_only {
            return self.foresee_grasp(&plan, chosen, &way, (object, &world)).await;
        }
        let motion = self.commit(plan.clone()).await?;
        let closed = self.approach_and_close(&motion, &way, &world, (object, &map)).await?;
        let open = world.without(&[object.key.0.as_str()]);
        self.lift(&motion, &way.candidate, (object, &map), &open, closed).await?;
        drop(motion);
        self.confirm(&plan, before, Some(object)).await
    }

    /// What the grasp would be, its lift included.
    async fn foresee_grasp(
        &self,
        plan: &SkillPlan,
        chosen: Chosen<'_>,
        way: &Way,
        (object, world): (&Object, &World),
    ) -> Result<String, SkillFault> {
        let open = world.without(&[object.key.0.as_str()]);
        self.interrupt.guard(self.skills.scene.apply(&open)).await?;
        let speed = self.skills.shell.robot.arm.velocity_scaling.min(LIFT_SPEED);
        let up = [way.candidate.lift(self.standoff().lift)];
        let lift = match self.skills.planner.end_of(&way.approach.trajectory.joint_trajectory) {
            Some(below) => {
                let line = self.skills.planner.line(&below, &up, way.candidate.width, speed);
                self.interrupt.guard(line).await?.ok()
            }
            None => None,
        };
        let motions = chosen.motions.iter().copied().chain(lift.as_ref().map(|lift| ("lift", lift)));
        let chosen = Chosen { motions: motions.collect(), ..chosen };
        self.foresee(plan, chosen).await
    }

    fn candidates(
        &self,
        asked: &Asked,
        object: &Object,
        map: &ObjectMap,
    ) -> Result<Vec<GraspCandidate>, SkillFault> {
        let neighbours: Vec<&[Point3<f64>]> =
            map.objects.iter().filter(|o| o.key != object.key).map(|o| o.cloud.points.as_slice()).collect();
        let request = GraspRequest {
            object: &object.cloud.points,
            part: None,
            neighbours: &neighbours,
            support_height: support(map, &object.cloud.points),
            gripper: self.gripper(),
            reach: self.reach(),
            limit: CANDIDATES,
        };
        let mut found = Vec::new();
        for affordance in
            self.goal.affordances.iter().filter(|a| !asked.part.is_empty() && a.part == asked.part)
        {
            let part = convert::affordance_from_msg(affordance)
                .map_err(|error| SkillFault::BadRequest(error.to_string()))?;
            match grasp_candidates(&GraspRequest { part: Some(&part.cloud.points), ..request }) {
                Ok(on_part) => found.extend(on_part),
                Err(cause) => {
                    self.tell("candidates", "no_part", &format!("no grasp on the {}: {cause}", part.part))
                }
            }
        }
        // Who asks for the part means the part: nothing else will do.
        if asked.skill == Skill::GraspPart {
            let cause = GraspError::NoContact;
            return if found.is_empty() {
                Err(SkillFault::NoGrasp { object: object.key.clone(), cause })
            } else {
                Ok(found)
            };
        }
        match grasp_candidates(&request) {
            Ok(anywhere) => found.extend(anywhere),
            Err(cause) if found.is_empty() => {
                return Err(SkillFault::NoGrasp { object: object.key.clone(), cause });
            }
            Err(_) => {}
        }
        Ok(found)
    }

    /// The first candidate that the arm reaches without collision.
    async fn reach_one(
        &self,
        candidates: &[GraspCandidate],
        world: &World,
        object: &Object,
        misses: &mut Misses,
    ) -> Result<Way, SkillFault> {
        let start = self.joints()?.arm;
        // The pads go around the object: on the last stretch its own boxes would be in the way.
        let open = world.without(&[object.key.0.as_str()]);
        let (mut tried, mut rest) = (0, candidates.iter().enumerate());
        loop {
            self.interrupt.guard(self.skills.scene.apply(&open)).await?;
            let mut batch = Vec::new();
            for (index, candidate) in rest.by_ref() {
                match self.interrupt.guard(self.reach_pregrasp(candidate, &start)).await? {
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
            self.interrupt.guard(self.skills.scene.apply(world)).await?;
            for (index, (candidate, joints, approach)) in batch {
                tried += 1;
                let velocity = self.skills.shell.robot.arm.velocity_scaling;
                match self
                    .interrupt
                    .guard(self.skills.planner.plan(&start, &joints, candidate.opening, velocity))
                    .await?
                {
                    Ok(transit) => return Ok(Way { candidate, transit, approach }),
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
    async fn reach_pregrasp(
        &self,
        candidate: &GraspCandidate,
        start: &[f64],
    ) -> Result<Result<(GraspCandidate, Vec<f64>, Planned), String>, SkillFault> {
        let standoff = self.standoff();
        let slow = self.skills.shell.robot.arm.contact_velocity_scaling;
        let mut last = String::new();
        for candidate in [*candidate, candidate.flipped()] {
            let before = candidate.pregrasp(standoff.approach);
            if ![before, candidate.lift(standoff.lift)].iter().all(|pose| self.in_workspace(pose)) {
                last = "outside the workspace".to_owned();
                continue;
            }
            let joints = match self.skills.planner.ik(&before, start, candidate.opening).await? {
                Ok(joints) => joints,
                Err(miss) => {
                    last = miss.to_string();
                    continue;
                }
            };
            match self
                .skills
                .planner
                .line(&joints, &[candidate.map_from_tool], candidate.opening, slow)
                .await?
            {
                Ok(approach) => return Ok(Ok((candidate, joints, approach))),
                Err(miss) => last = miss.to_string(),
            }
        }
        Ok(Err(last))
    }

    /// To the object and around it; the opening after closing.
    async fn approach_and_close(
        &self,
        motion: &Motion<'_>,
        way: &Way,
        world: &World,
        (object, map): (&Object, &ObjectMap),
    ) -> Result<f64, SkillFault> {
        let opening = self.skills.arm.joints()?.opening;
        if (opening - way.candidate.opening).abs() > 0.004 {
            motion.grip("open", way.candidate.opening).await?;
        }
        motion.execute("transit", way.transit.trajectory.clone()).await?;
        let open = world.without(&[object.key.0.as_str()]);
        if let Err(fault) = motion.execute("approach", way.approach.trajectory.clone()).await {
            // The pads met something on the way: withdraw as they came, if nothing else stopped the arm.
            if matches!(fault, SkillFault::ControlFailed { .. }) {
                self.withdraw(motion, &open, &way.candidate.pregrasp(self.standoff().approach)).await;
            }
            return Err(fault);
        }
        let (tool, width) = (&way.candidate.map_from_tool, way.candidate.width);
        self.skills.arm.hand().expect(held_after(object, map, tool, width));
        motion.grip("close", 0.0).await
    }

    async fn withdraw(&self, motion: &Motion<'_>, world: &World, to: &Isometry3<f64>) {
        let moved = async {
            let slow = self.skills.shell.robot.arm.contact_velocity_scaling;
            match self.line_away(world, &[*to], slow).await? {
                Ok(line) => motion.execute("withdraw", line.trajectory).await,
                Err(miss) => {
                    Err(SkillFault::NoPlan { phase: "withdraw", tried: 1, detail: miss.to_string() })
                }
            }
        };
        if let Err(fault) = moved.await {
            self.tell("withdraw", fault.reason().code(), &fault.to_string());
        }
    }

    /// Straight up, with or without the object; notes what is held.
    async fn lift(
        &self,
        motion: &Motion<'_>,
        candidate: &GraspCandidate,
        (object, map): (&Object, &ObjectMap),
        world: &World,
        closed: f64,
    ) -> Result<(), SkillFault> {
        let holds = closed >= EMPTY_OPENING;
        if holds && let Some(held) = held_after(object, map, &candidate.map_from_tool, closed) {
            self.skills.arm.hand().take(held);
        }
        let speed = self.skills.shell.robot.arm.velocity_scaling.min(LIFT_SPEED);
        let mut last = String::new();
        for share in LIFTS {
            let up = candidate.lift(self.standoff().lift * share);
            match self.line_away(world, &[up], speed).await? {
                Ok(line) => {
                    motion.execute("lift", line.trajectory).await?;
                    let opening = self.skills.arm.joints()?.opening;
                    if opening >= EMPTY_OPENING {
                        return Ok(());
                    }
                    // Nothing is between the pads, so opening them lets nothing fall.
                    self.skills.arm.hand().release();
                    motion.grip("open", self.gripper().max_opening).await?;
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

/// The object as it is held after a grasp with the tool at `tool`, when its shape is known.
pub(super) fn held_after(
    object: &Object,
    map: &ObjectMap,
    tool: &Isometry3<f64>,
    opening: f64,
) -> Option<Held> {
    let (points, stands_on) = (&object.cloud.points, stood_on(object, map));
    let shape = HeldShape::new(points, tool, stands_on, opening)?;
    let boxes = solids::attached_boxes(points, tool, stands_on, HELD_CLEARANCE);
    Some(Held { object: object.clone(), shape, boxes, unknown: false })
}

/// Height of what an object stands on: the table, or the top of another object right under its middle.
fn stood_on(object: &Object, map: &ObjectMap) -> f64 {
    let middle = object.bounds.pose.translation.vector;
    let table = support(map, &object.cloud.points);
    let lowest = object.cloud.points.iter().map(|p| p.z).fold(f64::INFINITY, f64::min);
    map.objects
        .iter()
        .filter(|other| other.key != object.key)
        .flat_map(|other| &other.cloud.points)
        .filter(|p| (p.x - middle.x).hypot(p.y - middle.y) < 0.012 && p.z < lowest + 0.01)
        .map(|p| p.z)
        .fold(table, f64::max)
}
