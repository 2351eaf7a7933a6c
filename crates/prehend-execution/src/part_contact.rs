//! In contact with a part: push until it stops, pull along the joint that its motion shows.

use crate::course::Course;
use crate::fault::SkillFault;
use crate::feel::Feel;
use crate::hand::{EMPTY_OPENING, Held};
use crate::part_joint::{NEXT_STEP, ahead, guessed, inside, is_like, joint_words, straight};
use crate::robot::{Joints, Motion as _, Planned as _, Robot, SpeedLimits};
use crate::world::World;
use nalgebra::{Isometry3, Point3, Translation3, Vector3};
use prehend_scene::{Affordance, Felt, Object, PartEffect, PartMotion};
use prehend_skills::joint::{self, Expected, JointFit};
use prehend_skills::{HeldShape, PartCandidate, solids};

/// What is closed is pushed this much farther than it was seen to stand open, metres: it ends at its own stop.
pub(crate) const PAST_THE_STOP: f64 = 0.03;
/// Speeds near and in contact: the arm is stiff, and goes on for as long as a force takes to be heard of. At the tip's speed that way
/// must be short beside the travel of a key.
const TOUCH: SpeedLimits = SpeedLimits { velocity_scaling: 0.03, tool: Some(0.015) };
const PRESS: SpeedLimits = SpeedLimits { velocity_scaling: 0.03, tool: Some(0.006) };
const PUSH: SpeedLimits = SpeedLimits { velocity_scaling: 0.06, tool: None };
const PULL: SpeedLimits = SpeedLimits { velocity_scaling: 0.10, tool: None };
/// Speed where the end stop of what is closed is expected, and how far before it that begins, metres: what it meets there is stiff.
const STOP: SpeedLimits = SpeedLimits { velocity_scaling: 0.03, tool: Some(0.005) };
const BEFORE_THE_STOP: f64 = 0.025;
/// Distance before the expected contact at which feeling begins, metres; and how far beyond it is searched.
const FEEL_FROM: f64 = 0.008;
const SEARCHED: f64 = 0.014;
/// How far the tips go back slowly to feel whether the part follows, metres; within the corridor of every plan.
const BACK: f64 = 0.018;
/// Force from which something is touched, newtons.
const TOUCHED: f64 = 2.5;
/// Greatest force of a press, of a push that closes or turns, and of a pull, newtons.
const PRESS_FORCE: f64 = 20.0;
const PUSH_FORCE: f64 = 35.0;
const PULL_FORCE: f64 = 45.0;
/// Greatest force in any direction, newtons: less than what a guard of the arm stops at, which the hand could not leave any more.
const WEDGED: f64 = 60.0;
/// Steps of a press, of a push, and of a pull before the joint is known, metres.
const PRESS_STEP: f64 = 0.004;
const PUSH_STEP: f64 = 0.03;
const FIRST_STEP: f64 = 0.010;
/// Longest step of a pull along a joint that was measured before, metres: all of it at once, for a force ends it at any time; and how
/// far before its end it is slow.
const MEASURED_STEP: f64 = 0.5;
const BEFORE_THE_END: f64 = 0.03;
/// Path after which a hinge that was guessed from its looks is judged by how the part has moved, metres.
const GUESSED: f64 = 0.06;
/// A step that got less far than this share met an end stop.
const STALLED: f64 = 0.35;
/// Sideways compliance in a pull: metres for each newton, and at most so much a step.
const YIELDS: f64 = 2.0e-4;
const YIELDS_MOST: f64 = 0.003;
/// Sideways force that is friction, newtons; and that is not yet a reason to leave the line of what slides.
const SIDEWAYS: f64 = 4.0;
const SLIDES_BY: f64 = 12.0;
/// A part that came no farther than this did not move, metres: pads and links give that much.
const DID_NOT_MOVE: f64 = 0.012;

/// A candidate with the motions that lead to it.
pub(crate) struct PlannedContact<T> {
    pub(crate) candidate: PartCandidate,
    pub(crate) transit: T,
    pub(crate) approach: T,
}

/// How a contact ended.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Done {
    pub(crate) felt: Felt,
}

impl<R: Robot> Course<'_, R> {
    pub(crate) fn feel(&self) -> Result<Option<Feel<'_>>, SkillFault> {
        Ok(Feel::new(&self.robot.body().model, &self.robot.joints()?))
    }

    /// Where a planned motion takes the tool.
    pub(crate) fn tool_path(&self, planned: &R::Planned) -> Result<Vec<Point3<f64>>, SkillFault> {
        let point = |arm: &Vec<f64>| Ok(Point3::from(self.tool_at(arm)?.translation.vector));
        planned.positions().iter().map(point).collect()
    }

    /// One motion of the tool in contact, over one or more poses. Whether it ended early by resistance, and the greatest force on the way.
    fn contact_step(
        &self,
        motion: &R::Motion<'_>,
        phase: &'static str,
        (start, way): (&Point3<f64>, &[Isometry3<f64>]),
        (feel, limit, speed): (Option<&Feel<'_>>, f64, SpeedLimits),
    ) -> Result<(bool, f64), SkillFault> {
        let now = self.robot.joints()?;
        let here = self.tool_pose()?;
        let to = way.last().unwrap_or(&here);
        let line = self.robot.line(&now.arm, way, now.opening, speed);
        let line = match line? {
            Ok(line) => line,
            Err(miss) => return Err(SkillFault::NoPlan { phase, tried: 1, detail: miss.to_string() }),
        };
        let path = self.tool_path(&line)?;
        let mut greatest = 0.0_f64;
        let along = (to.translation.vector - here.translation.vector).try_normalize(1e-9).unwrap_or_default();
        let stopped = motion.press_on(phase, line, (start, &path), &mut |joints: &Joints| {
            let force = feel.map_or(0.0, |feel| feel.resistance(joints, &along));
            greatest = greatest.max(force);
            // A tip that is wedged in presses sideways.
            force > limit || feel.and_then(|feel| feel.force(joints)).is_some_and(|f| f.norm() > WEDGED)
        })?;
        Ok((stopped, greatest))
    }

    /// The first of several motions in contact that the arm can make.
    fn first_step(
        &self,
        motion: &R::Motion<'_>,
        phase: &'static str,
        (start, ways): (&Point3<f64>, &[Vec<Isometry3<f64>>]),
        limits: (Option<&Feel<'_>>, f64, SpeedLimits),
    ) -> Result<(bool, f64), SkillFault> {
        let mut missed = SkillFault::NoPlan { phase, tried: 0, detail: "no way".to_owned() };
        for way in ways {
            match self.contact_step(motion, phase, (start, way), limits) {
                Err(fault @ SkillFault::NoPlan { .. }) => missed = fault,
                other => return other,
            }
        }
        Err(missed)
    }

    /// Pushes the part with the tips until it stops, or as far as is permitted.
    pub(crate) fn push(
        &self,
        motion: &R::Motion<'_>,
        way: &PlannedContact<R::Planned>,
        open: &World,
    ) -> Result<Done, SkillFault> {
        let bounds = way.candidate.motion;
        let contact = way.candidate.contact;
        let shifted = |pose: &Isometry3<f64>, by: f64| Translation3::from(bounds.direction * by) * pose;
        // Freely to just before the part; from there on by feeling.
        let slow = self.robot.body().contact_velocity_scaling;
        match self.line_away(open, &[shifted(&contact, -FEEL_FROM)], slow)? {
            Ok(line) => motion.execute("approach", line)?,
            Err(miss) => {
                return Err(SkillFault::NoPlan { phase: "approach", tried: 1, detail: miss.to_string() });
            }
        }
        let feel = self.feel()?;
        let feel = feel.as_ref();
        let before = Point3::from(self.tool_pose()?.translation.vector);
        let search = shifted(&contact, SEARCHED);
        let (touched, mut force) =
            self.contact_step(motion, "touch", (&before, &[search]), (feel, TOUCHED, TOUCH))?;
        let touch = self.tool_pose()?;
        // Light things give way without being felt: what stood in the way is then pushed all the same.
        let start = if touched { touch } else { contact };
        if !touched && feel.is_some() && bounds.effect == PartEffect::Press {
            return Err(SkillFault::NoContact { phase: "touch", searched: SEARCHED });
        }
        let start_point = Point3::from(start.translation.vector);
        self.led(start);
        let (step, limit, speed) = match bounds.effect {
            PartEffect::Press => (PRESS_STEP, PRESS_FORCE, PRESS),
            _ => (PUSH_STEP, PUSH_FORCE, PUSH),
        };
        let gone = |pose: &Isometry3<f64>| {
            way.candidate.progress(&start_point, &Point3::from(pose.translation.vector))
        };
        let mut stopped = false;
        while !stopped && gone(&self.tool_pose()?) < bounds.extent - 1e-3 {
            let here = self.tool_pose()?;
            let left = bounds.extent - gone(&here);
            // How far it is to where the end stop is expected; pressed things are slow already.
            let free = left - PAST_THE_STOP - BEFORE_THE_STOP;
            let (step, speed) = match bounds.effect {
                PartEffect::Close if free < 2e-3 => (step, STOP),
                PartEffect::Close => (step.min(free), speed),
                _ => (step, speed),
            };
            let next = way.candidate.advance(&here, step.min(left));
            let ways = ahead(&here, &[next], way.candidate.pivot.is_some());
            let (end, felt) =
                match self.first_step(motion, "push", (&start_point, &ways), (feel, limit, speed)) {
                    Ok(step) => step,
                    // Out of reach: as far as it went is as far as it goes.
                    Err(SkillFault::NoPlan { detail, .. }) => {
                        self.tell("push", "reach", &detail);
                        break;
                    }
                    Err(fault) => return Err(fault),
                };
            force = force.max(felt);
            let now = self.tool_pose()?;
            self.led(now);
            let moved = gone(&now) - gone(&here);
            stopped = end || moved < STALLED * step.min(left);
        }
        let end = self.tool_pose()?;
        let travel = gone(&end).max(0.0);
        let is_judged = matches!(bounds.effect, PartEffect::Press | PartEffect::Open | PartEffect::Close);
        if stopped && travel < bounds.least && !is_judged {
            return Err(SkillFault::Immovable { phase: "push", moved: travel, force });
        }
        let returned = match (bounds.effect, feel) {
            (PartEffect::Press, Some(feel)) => self.let_back(motion, &start_point, &end, &bounds, feel)?,
            _ => 0.0,
        };
        // A weak spring is felt only near its end: what followed the tips back had given way before.
        let travel = if stopped { travel.max(returned) } else { travel };
        let displacement = end.translation.vector - start.translation.vector;
        Ok(Done { felt: Felt { travel, returned, displacement, force, stopped } })
    }

    /// Goes back slowly while the part follows; how far it did.
    fn let_back(
        &self,
        motion: &R::Motion<'_>,
        start: &Point3<f64>,
        end: &Isometry3<f64>,
        bounds: &PartMotion,
        feel: &Feel<'_>,
    ) -> Result<f64, SkillFault> {
        let along = bounds.direction;
        let back = [Translation3::from(along * -BACK) * end];
        let now = self.robot.joints()?;
        let line = self.robot.line(&now.arm, &back, now.opening, TOUCH);
        let Ok(line) = line? else { return Ok(0.0) };
        let mut last_felt = end.translation.vector;
        let model = &self.robot.body().model;
        let path = self.tool_path(&line)?;
        motion.press_on("let back", line, (start, &path), &mut |joints: &Joints| {
            let Ok(tool) = model.tip_pose(&joints.arm) else { return false };
            if feel.resistance(joints, &along) > TOUCHED / 2.0 {
                last_felt = tool.translation.vector;
            }
            false
        })?;
        Ok((end.translation.vector - last_felt).dot(&along).max(0.0))
    }

    /// Closes on the part and pulls it along its joint; `swept` is the world in which the part goes with the hand.
    pub(crate) fn pull(
        &self,
        motion: &R::Motion<'_>,
        way: &PlannedContact<R::Planned>,
        (open, swept): (&World, Option<&World>),
        (object, affordance): (&Object, &Affordance),
    ) -> Result<Done, SkillFault> {
        motion.execute("approach", way.approach.clone())?;
        let free = self.feel()?;
        let closed = self.grip(motion, "close", 0.0)?;
        if closed < EMPTY_OPENING {
            return Err(SkillFault::Slipped { phase: "close", opening: closed });
        }
        if let Some(swept) = swept {
            self.robot.apply_scene(swept)?;
        }
        let in_place = way.candidate.pivot.filter(|pivot| pivot.foot == way.candidate.motion.anchor);
        let done = match in_place {
            Some(pivot) => self.turn_knob(motion, &way.candidate, (&pivot, free.as_ref()))?,
            None => self.follow(motion, &way.candidate, Expected::of(&object.class_name))?,
        };
        // What was held against before it went as far as counts is locked, blocked, or at its end; what is taken out holds on.
        // Whether what is opened or closed is at its end, an image shows.
        let bounds = way.candidate.motion;
        let enough = if bounds.effect.ends_held() { DID_NOT_MOVE } else { bounds.least };
        let is_shown = matches!(bounds.effect, PartEffect::Open | PartEffect::Close);
        if done.felt.stopped && done.felt.travel < enough && !is_shown {
            return Err(SkillFault::Immovable {
                phase: "pull",
                moved: done.felt.travel,
                force: done.felt.force,
            });
        }
        if way.candidate.motion.effect.ends_held() {
            self.hold_part(object, affordance, &way.candidate, closed);
            self.lift_part(motion, open)?;
        } else {
            self.grip(motion, "release", self.released(&way.candidate))?;
        }
        Ok(done)
    }

    /// Pulls in steps and follows the joint as it shows.
    fn follow(
        &self,
        motion: &R::Motion<'_>,
        candidate: &PartCandidate,
        expected: Expected,
    ) -> Result<Done, SkillFault> {
        let bounds = candidate.motion;
        let feel = self.feel()?;
        let feel = feel.as_ref();
        let first = self.tool_pose()?;
        let start = Point3::from(first.translation.vector);
        let mut track = vec![first];
        self.led(first);
        let (mut travel, mut force, mut stopped) = (0.0_f64, 0.0_f64, false);
        // What was measured of the joint before is believed until the part holds against it. What was seen of a hinge is the first
        // guess; what is felt of it counts from where it tells.
        let mut measured = candidate.measured;
        let mut guess = match candidate.pivot {
            Some(pivot) => Some(guessed(pivot)),
            None => measured.and_then(|_| straight(&bounds.direction)),
        };
        let mut fit = guess;
        let mut stride = MEASURED_STEP;
        let swift = SpeedLimits::from(self.robot.body().contact_velocity_scaling.max(PULL.velocity_scaling));
        while travel < bounds.extent - 2e-3 {
            let here = self.tool_pose()?;
            let is_known = fit.is_some() && (guess.is_none() || travel > GUESSED);
            let left = bounds.extent - travel;
            let (step, speed) = match (measured, is_known) {
                // All of it at once, but slowly to where the end is.
                (Some(end), _) => match end.min(bounds.extent) - BEFORE_THE_END - travel {
                    quick if quick > NEXT_STEP => (quick.min(stride), swift),
                    _ => (left.min(stride), PULL),
                },
                (None, true) => (NEXT_STEP.min(left), PULL),
                (None, false) => (FIRST_STEP.min(left), PULL),
            };
            let sideways = self.sideways(feel, &here, &bounds, fit.as_ref(), expected)?;
            let Some(next) = inside(&bounds, &start, &here, fit.as_ref(), step, &sideways) else {
                self.tell(
                    "pull",
                    "corridor",
                    "the part leaves the corridor that was permitted; letting go here",
                );
                break;
            };
            let limits = (feel, PULL_FORCE, speed);
            let ways = ahead(&here, &next, candidate.pivot.is_some());
            let ways = if candidate.turning { ways } else { ways.into_iter().rev().collect() };
            let (end, felt) = match self.first_step(motion, "pull", (&start, &ways), limits) {
                Ok(step) => step,
                // The whole way may be out of reach where a part of it is not.
                Err(SkillFault::NoPlan { .. }) if measured.is_some() && step > FIRST_STEP => {
                    stride = step / 2.0;
                    continue;
                }
                Err(SkillFault::NoPlan { detail, .. }) => {
                    self.tell("pull", "reach", &detail);
                    break;
                }
                Err(fault) => return Err(fault),
            };
            force = force.max(felt);
            let opening = self.robot.joints()?.opening;
            if opening < EMPTY_OPENING {
                return Err(SkillFault::Slipped { phase: "pull", opening });
            }
            let now = self.tool_pose()?;
            let point = |pose: &Isometry3<f64>| Point3::from(pose.translation.vector);
            let moved = match measured {
                Some(_) => candidate.progress(&point(&here), &point(&now)),
                None => (point(&now) - point(&here)).norm(),
            };
            travel += moved;
            track.push(now);
            self.led(now);
            if end || moved < STALLED * step {
                if measured.is_some() && travel < bounds.least {
                    // It may be another thing, or have been changed: as from the beginning.
                    self.tell(
                        "pull",
                        "unlike",
                        "it holds against the joint that was measured; feeling for it",
                    );
                    (measured, guess, fit) = (None, None, None);
                    continue;
                }
                stopped = true;
                break;
            }
            if measured.is_some() {
                continue;
            }
            let found = joint::estimate(&track, expected).ok().filter(|_| track.len() > 3);
            fit = match (guess, found) {
                (Some(guess), Some(found)) if travel > GUESSED && is_like(&guess, &found) => Some(found),
                (Some(_), _) => fit,
                (None, found) => found.or(fit),
            };
            if let Some(fit) = &fit {
                self.tell("pull", "joint", &joint_words(fit, travel));
            }
        }
        let displacement = self.tool_pose()?.translation.vector - first.translation.vector;
        Ok(Done { felt: Felt { travel, returned: 0.0, displacement, force, stopped } })
    }

    /// How far to give way sideways: a part that is held off its path pushes the hand towards it.
    fn sideways(
        &self,
        feel: Option<&Feel<'_>>,
        here: &Isometry3<f64>,
        bounds: &PartMotion,
        fit: Option<&JointFit>,
        expected: Expected,
    ) -> Result<Vector3<f64>, SkillFault> {
        let friction = if expected == Expected::Slide { SLIDES_BY } else { SIDEWAYS };
        let now = self.robot.joints()?;
        let Some(on_hand) = feel.and_then(|feel| feel.force(&now)) else { return Ok(Vector3::zeros()) };
        let at = Point3::from(here.translation.vector);
        let along = fit.map_or(bounds.direction, |fit| fit.tangent(&at).into_inner());
        // The part holds against the motion: should the torques say the contrary, their sign is the other one.
        let drag = on_hand.dot(&along);
        let on_hand = if drag > friction { -on_hand } else { on_hand };
        let across = on_hand - along * on_hand.dot(&along);
        let excess = (across.norm() - friction).max(0.0);
        Ok(across.try_normalize(1e-9).map_or(Vector3::zeros(), |d| d * (excess * YIELDS).min(YIELDS_MOST)))
    }

    /// Notes that the part is in the hand, as it was seen.
    fn hold_part(&self, object: &Object, affordance: &Affordance, candidate: &PartCandidate, closed: f64) {
        let points = &affordance.cloud.points;
        let bottom = points.iter().map(|p| p.z).fold(f64::INFINITY, f64::min);
        let Some(shape) = HeldShape::new(points, &candidate.contact, bottom, closed) else { return };
        let boxes = solids::attached_boxes(points, &candidate.contact, bottom, 0.0);
        let held = Held { object: object.clone(), shape, boxes, unknown: false };
        self.hand().take(held);
    }

    /// Away from what the part was in, with the part.
    fn lift_part(&self, motion: &R::Motion<'_>, open: &World) -> Result<(), SkillFault> {
        let here = self.tool_pose()?;
        let speed = self.robot.body().velocity_scaling.min(0.3);
        for height in [0.08, 0.04] {
            let up = Translation3::new(0.0, 0.0, height) * here;
            if let Ok(line) = self.line_away(open, &[up], speed)? {
                motion.execute("lift", line)?;
                break;
            }
        }
        let opening = self.robot.joints()?.opening;
        if opening < EMPTY_OPENING {
            self.hand().release();
            return Err(SkillFault::Slipped { phase: "lift", opening });
        }
        Ok(())
    }
}
