//! Where to touch a part and which way to move it: pose goals of `tip_push`, `pinch_pull` and `hook_pull` from the
//! affordance's own cloud (ASP IV-C).
//!
//! As in ASP the end effector's rotations are predefined and the pulling axis is horizontal, inferred from the normal.
//! Beyond it: several rotations are tried and ranked, the bar's own direction decides how the pads close, and the gripper
//! is kept clear of everything that was seen. `grasp_part` uses [`grasp_candidates`](crate::grasp::grasp_candidates).

mod clear;
mod frame;
mod knob;
mod known;
mod lever;
mod pivot;
mod pull;
mod push;
#[cfg(test)]
mod tests;

pub use frame::PartFrame;
pub use known::KnownJoint;
pub use pivot::Pivot;

use crate::grasp::Reach;
use crate::gripper::GripperModel;
use clear::Surroundings;
use nalgebra::{Isometry3, Matrix3, Point3, Rotation3, Translation3, UnitQuaternion, Vector3};
use prehend_scene::furniture::Hinge;
use prehend_scene::{PartEffect, PartMotion, Skill};
use serde::{Deserialize, Serialize};

/// Fewest points that say anything about a part.
pub(crate) const LEAST_POINTS: usize = 5;
/// How far the part is moved when nothing is said, and the least that counts, metres.
const OPEN: [f64; 2] = [0.16, 0.09];
const CLOSE: [f64; 2] = [0.30, 0.02];
const PRESS: [f64; 2] = [0.025, 0.002];
const TURN: [f64; 2] = [0.10, 0.03];
const TAKE_OUT: [f64; 2] = [0.08, 0.04];
const HOLD: [f64; 2] = [0.12, 0.03];
/// Share of an extent that was asked for which must be reached.
const REACHED: f64 = 0.8;
/// How far the tool may stray from a straight path, metres.
const STRAIGHT: f64 = 0.02;
/// How far the path of a hinged part leaves the line, as a share of its length: a door opened by 60 degrees.
const BENT: f64 = 0.5;
/// Cosine of the angle within which two directions are the same way.
const SAME_WAY: f64 = 0.85;
/// Longest motion of a part, metres: the arm's reach ends there.
const LONGEST: f64 = 0.5;
/// Cosine of the angle within which two approaches of the hand are one (14 degrees: half of what the tilts are apart).
const ALIKE: f64 = 0.97;

/// A part, and what stands around it. Map frame, metres.
#[derive(Clone, Copy, Debug)]
pub struct PartRequest<'a> {
    /// `TipPush`, `PinchPull` or `HookPull`.
    pub skill: Skill,
    /// What shall become of the part.
    pub effect: PartEffect,
    /// Points of the part.
    pub part: &'a [Point3<f64>],
    /// Points of the object it belongs to, the part's among them.
    pub object: &'a [Point3<f64>],
    /// Points of every other object.
    pub neighbours: &'a [&'a [Point3<f64>]],
    /// Outward normal as the affordance has it; used when the cloud does not tell. Zero = unknown.
    pub normal: Vector3<f64>,
    /// Direction in which the part shall move; `None` = from the normal.
    pub direction: Option<Vector3<f64>>,
    /// How far the part shall move; `None` = as is usual for the effect.
    pub extent: Option<f64>,
    /// Where the part turns when it is a door that is opened or closed; then `direction` and `extent` follow from it.
    pub hinge: Option<Hinge>,
    /// Its joint, when it was measured before: then nothing of the above but the clouds counts for opening and closing it.
    pub known: Option<KnownJoint>,
    /// Whether the part is a knob, which is turned in place about its normal.
    pub is_knob: bool,
    /// Whether the part is a lever or a toggle, which is turned about its inner end or thrown over.
    pub is_lever: bool,
    /// Height of the support in front of the part.
    pub support_height: f64,
    /// The gripper.
    pub gripper: GripperModel,
    /// Reach of the arm, whose base is the origin of the map frame.
    pub reach: Reach,
    /// Most candidates to return.
    pub limit: usize,
}

/// One way to act on a part.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct PartCandidate {
    /// Tool pose before the contact, at a distance.
    pub before: Isometry3<f64>,
    /// Tool pose at which the tips touch the part, or the pads close on it.
    pub contact: Isometry3<f64>,
    /// Opening on the way there, metres.
    pub opening: f64,
    /// Thickness of the part between the pads, metres; 0 for a push.
    pub width: f64,
    /// The motion of the part.
    pub motion: PartMotion,
    /// The axis it is thought to turn about; `None` when it goes straight.
    pub pivot: Option<Pivot>,
    /// Whether the hand turns with the part; else it only follows its path.
    pub turning: bool,
    /// When the motion is that of a joint that was measured, how far it goes until the part is at its end as far as that is known,
    /// metres; `None` when it is guessed from looks.
    pub measured: Option<f64>,
    /// Rank, higher is better.
    pub score: f64,
}

impl PartCandidate {
    /// Whether closed tips push the part; else the pads take it.
    pub fn is_push(&self) -> bool {
        self.width == 0.0
    }

    /// Where the tool ends when the part moves as it is thought to, and all the way.
    pub fn end(&self) -> Isometry3<f64> {
        self.advance(&self.contact, self.motion.extent)
    }

    /// Where a tool at `map_from_tool` is after `distance` metres more of the motion.
    pub fn advance(&self, map_from_tool: &Isometry3<f64>, distance: f64) -> Isometry3<f64> {
        match &self.pivot {
            Some(pivot) => pivot.advance(map_from_tool, distance, self.turning),
            None => Translation3::from(self.motion.direction * distance) * map_from_tool,
        }
    }

    /// What `distance` metres of the motion do to the part.
    pub fn moved(&self, distance: f64) -> Isometry3<f64> {
        match &self.pivot {
            Some(pivot) => pivot.advance(&Isometry3::identity(), distance, true),
            None => Translation3::from(self.motion.direction * distance).into(),
        }
    }

    /// How far the motion has come from one place of the tool to another, metres; negative the other way.
    pub fn progress(&self, from: &Point3<f64>, to: &Point3<f64>) -> f64 {
        match &self.pivot {
            Some(pivot) => pivot.swept(from, to) * pivot.arm,
            None => (to - from).dot(&self.motion.direction),
        }
    }

    /// The same with a share of its motion, and of the room its motion may take.
    #[must_use]
    pub fn shortened(&self, share: f64) -> Self {
        let PartMotion { extent, corridor, .. } = self.motion;
        let corridor = STRAIGHT + (corridor - STRAIGHT).max(0.0) * share;
        Self { motion: PartMotion { extent: extent * share, corridor, ..self.motion }, ..*self }
    }

    /// The pose `distance` metres back along the approach from `map_from_tool`.
    pub fn withdrawn(map_from_tool: &Isometry3<f64>, distance: f64) -> Isometry3<f64> {
        map_from_tool * Translation3::new(0.0, 0.0, -distance)
    }
}

/// Why a part cannot be acted on.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum PartError {
    /// Another skill's business.
    #[error("{} does not {} a part", skill.name(), effect.name())]
    WrongSkill {
        /// The skill.
        skill: Skill,
        /// The effect.
        effect: PartEffect,
    },
    /// Too few points to know the part.
    #[error("only {points} points of the part were seen")]
    TooFewPoints {
        /// Number of points.
        points: usize,
    },
    /// A number that is not finite where one is needed, or an extent that is none.
    #[error("{what} is not usable")]
    Unusable {
        /// Which input.
        what: &'static str,
    },
    /// Neither the cloud nor the request says which way the part faces.
    #[error("which way the part faces was not seen")]
    NoNormal,
    /// The pads do not go around it.
    #[error("the part is {:.0} mm thick, the gripper takes {:.0} mm", thickness * 1e3, usable * 1e3)]
    TooThick {
        /// Least thickness over the ways to hold it, metres.
        thickness: f64,
        /// Widest that can be held, metres.
        usable: f64,
    },
    /// Out of the arm's reach.
    #[error("it is {distance:.2} m from the base; the arm reaches from {min:.2} to {max:.2} m")]
    OutOfReach {
        /// Horizontal distance from the base, metres.
        distance: f64,
        /// Least reach, metres.
        min: f64,
        /// Greatest reach, metres.
        max: f64,
    },
    /// The gripper would touch something else in every pose.
    #[error("there is no room for the gripper at the part ({tried} poses tried)")]
    NoRoom {
        /// Number of poses tried.
        tried: usize,
    },
}

/// The best ways, best first, at most `request.limit`.
///
/// Deterministic. Errors: see [`PartError`]; points that are not finite are left out.
pub fn part_candidates(request: &PartRequest<'_>) -> Result<Vec<PartCandidate>, PartError> {
    // Who says that it shall go the other way may know better.
    let agrees = |known: &KnownJoint| match (known.way(request.effect), request.direction) {
        (Some(way), Some(asked)) => asked.dot(&way) > 0.0,
        (None, _) | (_, None) => true,
    };
    let known = request.known.filter(|known| known.tells(request.effect) && agrees(known));
    let informed = known.map(|known| PartRequest {
        hinge: known.hinge(request.object),
        direction: known.way(request.effect),
        ..*request
    });
    let request = &PartRequest { known, ..informed.unwrap_or(*request) };
    let frame = PartFrame::find(request)?;
    let distance = frame.anchor.x.hypot(frame.anchor.y);
    let Reach { min, max, .. } = request.reach;
    // The hand stands off the part by its own length at most.
    if !(min..=max + 0.10).contains(&distance) {
        return Err(PartError::OutOfReach { distance, min, max });
    }
    if request.is_knob {
        return knob_candidates(request, &frame);
    }
    if request.is_lever {
        return Ok(best(lever::candidates(request, &frame)?, request.limit));
    }
    let mut motion = motion(request, &frame)?;
    let mut pivot = pivot::find(request, &frame);
    if let (Some(about), Some(hinge)) = (pivot, &request.hinge) {
        let swing = pivot::swing(&motion, &about, hinge, &frame.anchor)?;
        (motion, pivot) = (swing.0, Some(swing.1));
    }
    let around = Surroundings::new(request, &behind(&frame, &motion));
    let mut found = match request.skill {
        Skill::TipPush => push::poses(request, &motion, pivot.as_ref(), &around)?,
        Skill::PinchPull | Skill::HookPull => pull::poses(request, &frame, &motion, &around)?,
        Skill::Look
        | Skill::Home
        | Skill::Grasp
        | Skill::Place
        | Skill::Drop
        | Skill::GraspPart
        | Skill::GoTo => {
            return Err(PartError::WrongSkill { skill: request.skill, effect: request.effect });
        }
    };
    if request.skill != Skill::TipPush {
        found.iter_mut().for_each(|candidate| candidate.pivot = pivot);
    }
    let left = known.map(|known| known.left(request.effect, pivot.map_or(1.0, |pivot| pivot.arm)));
    found.iter_mut().for_each(|candidate| candidate.measured = left);
    Ok(best(found, request.limit))
}

/// The best ways of each approach of the hand, in turn: the best of all first, then the best that comes from elsewhere. Where the arm does
/// not get to with one approach, it seldom does with the hand turned about it.
fn best(mut found: Vec<PartCandidate>, limit: usize) -> Vec<PartCandidate> {
    found.sort_by(|a, b| b.score.total_cmp(&a.score));
    let approach = |way: &PartCandidate| way.contact.rotation * Vector3::z();
    let mut approaches: Vec<(Vector3<f64>, usize)> = Vec::new();
    let mut ranked: Vec<(usize, usize, PartCandidate)> = Vec::with_capacity(found.len());
    for way in found {
        let from = approach(&way);
        let known = approaches.iter().position(|(other, _)| from.dot(other) > ALIKE);
        let index = known.unwrap_or_else(|| {
            approaches.push((from, 0));
            approaches.len() - 1
        });
        ranked.push((approaches[index].1, index, way));
        approaches[index].1 += 1;
    }
    ranked.sort_by_key(|(round, approach, _)| (*round, *approach));
    ranked.into_iter().map(|(_, _, way)| way).take(limit).collect()
}

/// Ways to hold a knob straight from outside and turn it.
fn knob_candidates(request: &PartRequest<'_>, frame: &PartFrame) -> Result<Vec<PartCandidate>, PartError> {
    let (motion, pivot) = knob::turn(request, frame)?;
    let held = knob::held(request.part, &frame.normal);
    let ridge = PartRequest { part: &held, ..*request };
    let long = PartFrame::find(&ridge)?.long.filter(|long| long.dot(&frame.normal).abs() < 0.3);
    let frame = PartFrame { long, ..*frame };
    let around = Surroundings::new(&ridge, &frame);
    let mut found = pull::poses(&ridge, &frame, &motion, &around)?;
    found.iter_mut().for_each(|candidate| candidate.pivot = Some(pivot));
    Ok(best(found, request.limit))
}

/// The frame as its surroundings see it: a part that is pushed from behind what was seen of it has no wall there.
fn behind(frame: &PartFrame, motion: &PartMotion) -> PartFrame {
    let from_behind = motion.effect == PartEffect::Close && frame.pull.dot(&motion.direction) > 0.0;
    PartFrame { face: frame.face.filter(|_| !from_behind), ..*frame }
}

/// The motion that the request means for a part that faces this way.
///
/// Errors: [`PartError::WrongSkill`], [`PartError::Unusable`].
pub fn motion(request: &PartRequest<'_>, frame: &PartFrame) -> Result<PartMotion, PartError> {
    let (skill, effect) = (request.skill, request.effect);
    if !effect.fits(skill) {
        return Err(PartError::WrongSkill { skill, effect });
    }
    let unusable = |what| PartError::Unusable { what };
    let [usual, least] = match effect {
        PartEffect::Open => OPEN,
        PartEffect::Close => CLOSE,
        PartEffect::Press => PRESS,
        PartEffect::Turn => TURN,
        PartEffect::TakeOut => TAKE_OUT,
        PartEffect::Hold => HOLD,
    };
    let (extent, least) = match request.extent {
        None => (usual, least),
        Some(extent) if extent > 0.0 && extent <= LONGEST => match effect {
            // They end where they stop, however far that was thought to be.
            PartEffect::Close | PartEffect::Press => (extent, least.min(extent)),
            _ => (extent, REACHED * extent),
        },
        Some(_) => return Err(unusable("the extent")),
    };
    let direction = match request.direction {
        Some(direction) => {
            let asked = direction.try_normalize(1e-6).ok_or(unusable("the direction"))?;
            let usual = usual_direction(skill, effect, frame);
            // Who asks for nearly the usual way means it, and the cloud shows it better than a word does.
            if request.known.is_none() && asked.dot(&usual) > SAME_WAY { usual } else { asked }
        }
        None => usual_direction(skill, effect, frame),
    };
    if !direction.iter().all(|n| n.is_finite()) {
        return Err(unusable("the direction"));
    }
    let bends = matches!(effect, PartEffect::Open | PartEffect::Close | PartEffect::Turn);
    let corridor = STRAIGHT + if bends { BENT * extent } else { 0.0 };
    Ok(PartMotion { effect, anchor: frame.anchor, direction, extent, least, corridor })
}

fn usual_direction(skill: Skill, effect: PartEffect, frame: &PartFrame) -> Vector3<f64> {
    match effect {
        PartEffect::Open => frame.pull.into_inner(),
        PartEffect::Close => -frame.pull.into_inner(),
        PartEffect::Press => -frame.normal.into_inner(),
        PartEffect::TakeOut => frame.normal.into_inner(),
        PartEffect::Hold => Vector3::z(),
        PartEffect::Turn if skill == Skill::TipPush => -Vector3::z(),
        PartEffect::Turn => frame.pull.into_inner(),
    }
}

/// Rotation of a tool that approaches along `approach` and whose pads close along `closing`, made perpendicular.
pub(crate) fn rotation(approach: &Vector3<f64>, closing: &Vector3<f64>) -> Option<UnitQuaternion<f64>> {
    let z = approach.try_normalize(1e-9)?;
    let y = (closing - z * closing.dot(&z)).try_normalize(1e-6)?;
    let matrix = Matrix3::from_columns(&[y.cross(&z), y, z]);
    Some(UnitQuaternion::from_rotation_matrix(&Rotation3::from_matrix_unchecked(matrix)))
}

pub(crate) fn finite(points: &[Point3<f64>]) -> Vec<Point3<f64>> {
    points.iter().filter(|p| p.coords.iter().all(|c| c.is_finite())).copied().collect()
}

/// Least, greatest and middle of what the points cover along a direction, without the outermost 3 %.
pub(crate) fn span(points: &[Point3<f64>], along: &Vector3<f64>) -> Option<[f64; 2]> {
    let mut values: Vec<f64> = points.iter().map(|p| along.dot(&p.coords)).collect();
    values.sort_by(f64::total_cmp);
    let last = values.len().checked_sub(1)?;
    let cut = (last as f64 * 0.03).round() as usize;
    Some([values[cut], values[last - cut]])
}
