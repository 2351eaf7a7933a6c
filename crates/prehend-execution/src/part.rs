//! Push and pull: a way to the part that the arm reaches, the contact, and what became of the part.

use crate::course::{Course, Order, Reached};
use crate::fault::SkillFault;
use crate::misses::Misses;
use crate::part_contact::{Done, PAST_THE_STOP, PlannedContact};
use crate::part_known::with_part;
use crate::prospect::{Chosen, ToolPose};
use crate::robot::{Motion, Robot};
use crate::world::{TABLE, World, support};
use nalgebra::{Isometry3, Point3, Translation3, UnitQuaternion, Vector3};
use prehend_geometry::OrientedBox;
use prehend_scene::{Affordance, Felt, Object, ObjectMap, PartEffect, PartMotion, Skill, furniture};
use prehend_skills::part::{KnownJoint, part_candidates};
use prehend_skills::plan::part_plan;
use prehend_skills::{PartCandidate, PartError, PartRequest, solids};

/// Candidates asked for, and those whose motions are planned.
const CANDIDATES: usize = 24;
const TRIED: usize = 8;
/// What stands nearer to the part than this may be touched by the hand's box in the planning scene, metres: the room there
/// was checked against the points themselves.
const AT_THE_PART: f64 = 0.11;
/// Points this near to the part go with it, metres.
const GOES_ALONG: f64 = 0.16;
/// Sine of the greatest slope of the line between the pads at which the hand leaves a part upwards.
const LEVEL_PADS: f64 = 0.5;
/// A way to close must reach so far short of where it was seen to be closed, metres.
const SHORT_OF_IT: f64 = 0.008;
/// Farthest a panel goes in, metres.
const LONGEST_PUSH: f64 = 0.13;
/// How far something must be seen to stand open for that to say how far to push, metres.
const SEEN_OPEN: f64 = 0.03;
/// Shares of the extent tried when its end is out of the workspace.
const SHORTER: [f64; 5] = [1.0, 0.85, 0.7, 0.6, 0.5];
/// Straight pieces an arc is tried in.
const ARC_STOPS: u32 = 5;
/// How far the hand goes back after it let go, metres; the rest is for narrow places.
const RETREATS: [f64; 3] = [0.09, 0.06, 0.04];
/// How far tips that pushed go back against the push before they leave the part, metres: along a face they press on, friction holds
/// a stiff arm.
const EASED: f64 = 0.004;

impl<R: Robot> Course<'_, R> {
    /// `tip_push`, `pinch_pull`, `hook_pull` (ASP IV-C).
    pub(crate) fn act_on_part(&self, order: &Order) -> Result<String, SkillFault> {
        let map = self.robot.map(order.map_version)?;
        self.check_contract(order, &map)?;
        let object = map.get(&order.object).ok_or_else(|| SkillFault::UnknownObject(order.object.clone()))?;
        let affordance = self.affordance(order)?;
        let known = self.known_joint(object, &map)?;
        let candidates = self.part_candidates(order, (object, affordance, known), &map)?;
        let motion = candidates[0].motion;
        self.tell(
            "candidates",
            "found",
            &format!(
                "{} ways to {} the {} of {} along ({:.2}, {:.2}, {:.2})",
                candidates.len(),
                motion.effect.name(),
                affordance.part,
                object.key,
                motion.direction.x,
                motion.direction.y,
                motion.direction.z
            ),
        );
        let world = self.world(&map)?;
        let mut own = vec![object.key.0.as_str()];
        // A door swings back into what it belongs to.
        let whole = candidates[0].pivot.and_then(|_| furniture::whole_of(object, &map));
        own.extend(whole.map(|whole| whole.key.0.as_str()));
        let open = at_part(&world, &motion, &own, candidates[0].pivot.is_some());
        let poses: Vec<ToolPose> = candidates.iter().map(|one| (one.contact, one.opening)).collect();
        let mut misses = Misses::default();
        let way = self.reach_part(&candidates, (&world, &open), (object, &map), &mut misses);
        let way = way.inspect_err(|fault| self.tell_no_plan(fault, &poses, &misses))?;
        let chosen = Chosen {
            candidates: poses,
            misses,
            taken: (way.candidate.contact, way.candidate.opening),
            grip_width: 0.0,
            motions: vec![("transit", &way.transit), ("approach", &way.approach)],
        };
        self.tell_plan(&chosen);
        let before = self.observation(Some(&map))?;
        let plan = part_plan(order.skill, &object.key, &affordance.part, &way.candidate, map.version);
        if self.order.plan_only {
            return self.foresee(&plan, &chosen);
        }
        let motion = self.commit(plan.clone())?;
        let opening = self.robot.joints()?.opening;
        if (opening - way.candidate.opening).abs() > 0.004 {
            let phase = if way.candidate.opening > opening { "open" } else { "close" };
            self.grip(&motion, phase, way.candidate.opening)?;
        }
        motion.execute("transit", way.transit.clone())?;
        self.robot.apply_scene(&open)?;
        let done = match order.skill {
            Skill::TipPush => self.push(&motion, &way, &open),
            _ => {
                let swept = with_part(&open, &way.candidate, object, &map);
                self.pull(&motion, &way, (&open, swept.as_ref()), (object, affordance))
            }
        };
        self.tell_way(&way.candidate.motion, done.as_ref().is_ok_and(|done| done.felt.stopped), &map);
        let done = match done {
            Ok(done) => done,
            Err(fault) => {
                self.leave_part(&motion, &fault, &way, &open);
                return Err(fault);
            }
        };
        self.note(&done, object, &way.candidate);
        if !way.candidate.motion.effect.ends_held() {
            self.retreat_from_part(&motion, &way.candidate, &open)?;
        }
        drop(motion);
        match self.confirm(&plan, before, Some(object)) {
            // It was held against, and no image shows it at its end: more force would be needed.
            Err(SkillFault::Outcome(because)) if held_up(&done.felt, &way.candidate.motion) => {
                self.tell("check", "held up", &because);
                let phase = way.candidate.motion.effect.name();
                Err(SkillFault::Immovable { phase, moved: done.felt.travel, force: done.felt.force })
            }
            verdict => verdict,
        }
    }

    /// The affordance meant: of the part and the skill that were asked for, else of the part, else of the skill.
    fn affordance<'o>(&self, order: &'o Order) -> Result<&'o Affordance, SkillFault> {
        let of_part = |a: &&Affordance| a.part == order.part;
        let of_skill = |a: &&Affordance| a.skill == order.skill;
        let all = &order.affordances;
        let found = if order.part.is_empty() {
            all.iter().find(of_skill)
        } else {
            all.iter().find(|a| of_part(a) && of_skill(a)).or_else(|| all.iter().find(of_part))
        };
        found.ok_or_else(|| SkillFault::NoPart {
            object: order.object.clone(),
            cause: PartError::TooFewPoints { points: 0 },
        })
    }

    fn part_candidates(
        &self,
        order: &Order,
        (object, affordance, known): (&Object, &Affordance, Option<KnownJoint>),
        map: &ObjectMap,
    ) -> Result<Vec<PartCandidate>, SkillFault> {
        let effect = order.effect.or(PartEffect::usual(order.skill));
        let effect = effect.ok_or_else(|| SkillFault::BadRequest("no effect".to_owned()))?;
        let neighbours: Vec<&[Point3<f64>]> =
            map.objects.iter().filter(|o| o.key != object.key).map(|o| o.cloud.points.as_slice()).collect();
        let request = PartRequest {
            skill: order.skill,
            effect,
            part: &affordance.cloud.points,
            object: &object.cloud.points,
            neighbours: &neighbours,
            normal: affordance.normal,
            direction: order.direction,
            extent: match (effect, order.extent) {
                (PartEffect::Close, None) => stands_open(object, map),
                (_, said) => said,
            },
            hinge: furniture::hinge(object, map),
            known,
            is_knob: effect == PartEffect::Turn && affordance.part == "knob",
            is_lever: effect == PartEffect::Turn && matches!(affordance.part.as_str(), "lever" | "switch"),
            support_height: support(map, &affordance.cloud.points),
            gripper: self.gripper(),
            reach: self.reach(),
            limit: CANDIDATES,
        };
        part_candidates(&request).map_err(|cause| SkillFault::NoPart { object: object.key.clone(), cause })
    }

    /// The first candidate that the arm reaches, and from which it can move the part.
    fn reach_part(
        &self,
        candidates: &[PartCandidate],
        (world, open): (&World, &World),
        (object, map): (&Object, &ObjectMap),
        misses: &mut Misses,
    ) -> Result<PlannedContact<R::Planned>, SkillFault> {
        let start = self.joints()?.arm;
        let mut tried = 0;
        for (index, candidate) in candidates.iter().enumerate() {
            let Some(candidate) = self.shortened(candidate) else {
                misses.add(index, "outside the workspace");
                continue;
            };
            let reached = self.reach_contact(&candidate, &start, open, (object, map));
            let Reached { candidate, joints, approach } = match reached? {
                Ok(found) => found,
                Err(miss) => {
                    misses.add(index, miss);
                    continue;
                }
            };
            self.robot.apply_scene(world)?;
            tried += 1;
            let velocity = self.robot.body().velocity_scaling;
            let transit = self.robot.plan(&start, &joints, candidate.opening, velocity);
            match transit? {
                Ok(transit) => return Ok(PlannedContact { candidate, transit, approach }),
                Err(miss) => misses.add(index, miss.to_string()),
            }
            if tried >= TRIED {
                break;
            }
        }
        Err(SkillFault::NoPlan { phase: "part", tried: candidates.len(), detail: misses.summary() })
    }

    /// The candidate with its motion cut to what the workspace holds; `None` when that is too little.
    fn shortened(&self, candidate: &PartCandidate) -> Option<PartCandidate> {
        if ![candidate.before, candidate.contact].iter().all(|pose| self.in_workspace(pose)) {
            return None;
        }
        SHORTER.iter().find_map(|share| {
            let shorter = candidate.shortened(*share);
            let is_enough = shorter.motion.extent >= candidate.motion.least;
            (is_enough && self.in_workspace(&shorter.end())).then_some(shorter)
        })
    }

    /// Joints before the part, and the straight line to it, from which the part can be moved.
    fn reach_contact(
        &self,
        candidate: &PartCandidate,
        start: &[f64],
        open: &World,
        (object, map): (&Object, &ObjectMap),
    ) -> Result<Result<Reached<PartCandidate, R::Planned>, String>, SkillFault> {
        let slow = self.robot.body().contact_velocity_scaling;
        let mut last = String::new();
        let still = |way: &PartCandidate| PartCandidate { turning: false, ..*way };
        let mut ways = vec![*candidate, turned_over(candidate)];
        if candidate.pivot.is_some() {
            // Better with the hand turned along; a bar also turns between the pads.
            ways.extend([still(&ways[0]), still(&ways[1])]);
        }
        for candidate in ways {
            self.robot.apply_scene(open)?;
            let joints = match self.robot.ik(&candidate.before, start, candidate.opening)? {
                Ok(joints) => joints,
                Err(miss) => {
                    last = miss.to_string();
                    continue;
                }
            };
            // What ends at a stop of its own need not be reached to its very end.
            let PartMotion { effect, extent, least, .. } = candidate.motion;
            let turns = candidate.pivot.is_some();
            let far = match effect {
                _ if turns => least.max(0.8 * extent),
                PartEffect::Close => least.max((extent - PAST_THE_STOP - SHORT_OF_IT).min(LONGEST_PUSH)),
                _ => least.max(0.6 * extent),
            };
            let stops = if turns { ARC_STOPS } else { 1 };
            let moved = (1..=stops).map(|stop| far * f64::from(stop) / f64::from(stops));
            let moved = moved.map(|distance| candidate.advance(&candidate.contact, distance));
            let all: Vec<Isometry3<f64>> = std::iter::once(candidate.contact).chain(moved).collect();
            let swept = with_part(open, &candidate, object, map);
            if let Some(swept) = &swept {
                self.robot.apply_scene(swept)?;
            }
            let whole = self.robot.line(&joints, &all, candidate.opening, slow.into())?;
            if let Err(miss) = whole {
                last = format!("with the part {miss}");
                continue;
            }
            self.robot.apply_scene(open)?;
            match self.robot.line(&joints, &[candidate.contact], candidate.opening, slow.into())? {
                Ok(approach) => return Ok(Ok(Reached { candidate, joints, approach })),
                Err(miss) => last = miss.to_string(),
            }
        }
        Ok(Err(last))
    }

    /// Notes what was felt, and where what went with the part is now.
    fn note(&self, done: &Done, object: &Object, candidate: &PartCandidate) {
        let motion = &candidate.motion;
        self.felt.set(Some(done.felt));
        if done.felt.displacement.norm() < 0.01 || motion.effect.ends_held() {
            return;
        }
        let points = object.cloud.points.iter();
        let along: Vec<Point3<f64>> = if candidate.measured.is_some() {
            // All of it, along its joint.
            let moved = candidate.moved(done.felt.travel);
            points.map(|p| moved * p).collect()
        } else {
            let near = points.filter(|p| (*p - motion.anchor).norm() < GOES_ALONG);
            near.map(|p| p + done.felt.displacement).collect()
        };
        let low = along.iter().map(|p| p.z).fold(f64::INFINITY, f64::min);
        let boxes: Vec<OrientedBox> = solids::collision_boxes(&along, low);
        *self.displaced.borrow_mut() = boxes;
    }

    /// Back along the hand's own approach, away from the part. A way on which the arm is stopped is left for the next one.
    pub(crate) fn retreat_from_part(
        &self,
        motion: &R::Motion<'_>,
        candidate: &PartCandidate,
        open: &World,
    ) -> Result<(), SkillFault> {
        let here = self.tool_pose()?;
        let slow = (self.robot.body().contact_velocity_scaling * 2.0).min(1.0);
        let mut last = String::new();
        let backs = RETREATS.map(|distance| PartCandidate::withdrawn(&here, distance));
        let ups = upwards(&here, RETREATS);
        let eased = candidate.is_push().then(|| candidate.advance(&here, -EASED));
        let mut stopped = None;
        for to in backs.into_iter().chain(ups) {
            let way: Vec<Isometry3<f64>> = eased.into_iter().chain([to]).collect();
            match self.line_away(open, &way, slow)? {
                Ok(line) => match motion.execute("retreat", line) {
                    Err(fault @ SkillFault::ControlFailed { .. }) => {
                        self.tell("retreat", fault.reason().code(), &fault.to_string());
                        stopped = Some(fault);
                    }
                    ended => return ended,
                },
                Err(miss) => last = miss.to_string(),
            }
        }
        match stopped {
            Some(fault) => Err(fault),
            None => {
                self.tell("retreat", "skipped", &last);
                Ok(())
            }
        }
    }

    /// The opening with which a part is let go of: a bar that turned between the pads needs more room than it was taken with.
    pub(crate) fn released(&self, candidate: &PartCandidate) -> f64 {
        let widest = self.robot.body().max_opening;
        candidate.pivot.map_or(candidate.opening, |_| widest)
    }

    /// After a fault of the world's, not of the robot's: lets go and goes back, so that the arm does not stay in contact.
    fn leave_part(
        &self,
        motion: &R::Motion<'_>,
        fault: &SkillFault,
        way: &PlannedContact<R::Planned>,
        open: &World,
    ) {
        let of_the_world = matches!(
            fault,
            SkillFault::Immovable { .. }
                | SkillFault::NoContact { .. }
                | SkillFault::ControlFailed { .. }
                | SkillFault::Slipped { .. }
                | SkillFault::NoPlan { .. }
                | SkillFault::Corridor { .. }
        );
        if !of_the_world {
            return;
        }
        let leave = || {
            if !way.candidate.is_push() {
                self.grip(motion, "release", self.released(&way.candidate))?;
            }
            self.retreat_from_part(motion, &way.candidate, open)
        };
        if let Err(fault) = leave() {
            self.tell("retreat", fault.reason().code(), &fault.to_string());
        }
    }
}

/// Whether something that is opened or closed stopped before it went as far as was wanted.
fn held_up(felt: &Felt, motion: &PartMotion) -> bool {
    matches!(motion.effect, PartEffect::Open | PartEffect::Close)
        && felt.stopped
        && felt.travel < motion.least
}

/// How far to push what stands open; `None` when the map does not show that it does.
fn stands_open(object: &Object, map: &ObjectMap) -> Option<f64> {
    let offset = furniture::opening(object, map)?.offset;
    (SEEN_OPEN..0.4).contains(&offset).then_some(offset + PAST_THE_STOP)
}

/// The world without what is meant to be touched and what stands at the part, where it is and where it goes: the hand goes in
/// between there. What `swings` goes past things without the hand.
fn at_part(world: &World, motion: &PartMotion, own: &[&str], swings: bool) -> World {
    let far = match motion.effect {
        PartEffect::Close => motion.extent.min(LONGEST_PUSH),
        PartEffect::Open if !swings => motion.extent,
        PartEffect::Open | PartEffect::Press | PartEffect::Turn | PartEffect::TakeOut | PartEffect::Hold => {
            0.0
        }
    };
    let near = |b: &OrientedBox| {
        [0.0, 0.5, 1.0].iter().any(|share| {
            let at = motion.anchor + motion.direction * (far * share);
            let local = b.pose.inverse_transform_point(&at);
            let gap = Vector3::from_fn(|i, _| (local[i].abs() - b.size[i] / 2.0).max(0.0));
            gap.norm() < AT_THE_PART
        })
    };
    let keys: Vec<&str> = world
        .objects
        .iter()
        .filter(|(key, boxes)| own.contains(&key.as_str()) || (*key != TABLE && boxes.iter().any(near)))
        .map(|(key, _)| key.as_str())
        .collect();
    world.without(&keys)
}

/// The same with the pads exchanged.
fn turned_over(candidate: &PartCandidate) -> PartCandidate {
    let half: Isometry3<f64> = Isometry3::from_parts(
        Translation3::identity(),
        UnitQuaternion::from_axis_angle(&Vector3::z_axis(), std::f64::consts::PI),
    );
    PartCandidate { before: candidate.before * half, contact: candidate.contact * half, ..*candidate }
}

/// Straight up from where the hand let go, by these distances, metres; nowhere when the pads stand above and below what was between them.
pub(crate) fn upwards(here: &Isometry3<f64>, distances: [f64; 3]) -> Vec<Isometry3<f64>> {
    let closing = here.rotation * Vector3::y();
    let ups = distances.map(|distance| Translation3::new(0.0, 0.0, distance) * here);
    ups.into_iter().filter(|_| closing.z.abs() < LEVEL_PADS).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    #[test]
    fn pads_above_and_below_a_thing_do_not_leave_it_upwards() {
        let ahead = nalgebra::Rotation3::from_axis_angle(&Vector3::y_axis(), std::f64::consts::FRAC_PI_2);
        for (roll, ways) in [(0.0, 3), (std::f64::consts::FRAC_PI_2, 0)] {
            let turned = ahead * nalgebra::Rotation3::from_axis_angle(&Vector3::z_axis(), roll);
            let here = Isometry3::from_parts(Translation3::new(0.5, 0.0, 0.3), turned.into());
            let up = upwards(&here, RETREATS);
            assert_eq!(up.len(), ways, "{roll}");
            assert!(up.iter().all(|to| to.translation.z > 0.3), "{up:?}");
        }
    }

    #[test]
    fn what_stands_at_the_part_is_left_out_and_the_table_never_is() {
        let cube = |x: f64| {
            vec![OrientedBox { pose: Isometry3::translation(x, 0.0, 0.2), size: Vector3::repeat(0.1) }]
        };
        let world = World {
            objects: BTreeMap::from([
                ("table".to_owned(), cube(0.5)),
                ("cabinet_0".to_owned(), cube(0.6)),
                ("drawer_0".to_owned(), cube(0.9)),
                ("mug_0".to_owned(), cube(0.2)),
            ]),
            held: Vec::new(),
        };
        let motion = |effect, x| PartMotion {
            effect,
            anchor: Point3::new(x, 0.0, 0.2),
            direction: if effect == PartEffect::Open { -Vector3::x() } else { Vector3::x() },
            extent: 0.2,
            least: 0.02,
            corridor: 0.05,
        };
        let left = at_part(&world, &motion(PartEffect::Turn, 0.5), &["drawer_0"], false);
        assert_eq!(left.objects.keys().collect::<Vec<_>>(), ["mug_0", "table"]);
        // What is pulled out comes to the mug, what is pushed in goes to the cabinet.
        let left = at_part(&world, &motion(PartEffect::Open, 0.42), &["drawer_0"], false);
        assert_eq!(left.objects.keys().collect::<Vec<_>>(), ["cabinet_0", "table"]);
        let left = at_part(&world, &motion(PartEffect::Close, 0.42), &["drawer_0"], false);
        assert_eq!(left.objects.keys().collect::<Vec<_>>(), ["mug_0", "table"]);
        // A door that swings out sweeps past what stands there: the hand must not.
        let left = at_part(&world, &motion(PartEffect::Open, 0.42), &["drawer_0"], true);
        assert_eq!(left.objects.keys().collect::<Vec<_>>(), ["cabinet_0", "mug_0", "table"]);
    }
}
