//! The loop: propose, criticise, propose again, and stop with the best, not the latest, iteration.

use crate::critic::{self, Candidate, JointFailure, Verdicts};
use crate::fitted::Fitted;
use crate::model::Model;
use crate::motions::Motions;
use crate::observation::{LEAST, Observation, ObservationError, Track};
use crate::propose::{Proposal, propose};
use crate::verifier::{Decision, Rating, Thresholds, Verifier};
use nalgebra::Isometry3;
use serde::{Deserialize, Serialize};

/// Way of a hand that pulled in vain, metres.
const IN_VAIN: f64 = 0.01;
/// Root mean square distance of the hand from any joint's way, metres, and share of a part that moves together, at which it is whole.
const ASTRAY: f64 = 0.008;
const TOGETHER: f64 = 0.5;
/// How far back a part is that was led farther and is where it was, as a share of the way.
const BACK: f64 = 0.25;

/// One pass of the loop.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Iteration {
    /// The model.
    pub model: Model,
    /// Where it is.
    pub map_from_model: Isometry3<f64>,
    /// Its link for each part.
    pub links: Vec<Option<usize>>,
    /// What the critics said.
    pub verdicts: Verdicts,
    /// What that comes to.
    pub rating: Rating,
    /// What the verifier said.
    pub decision: Decision,
}

/// What would help.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Wish {
    /// This part should be moved, and looked at again.
    Move {
        /// Its name.
        part: String,
    },
    /// This part was hardly seen: look from elsewhere.
    Look {
        /// Its name.
        part: String,
    },
}

/// What became of one part.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// Its joint was seen, and the critics accept it.
    Known,
    /// It was not moved: its joint is what parts of its kind usually have.
    Assumed,
    /// It was hardly seen.
    HalfSeen {
        /// Points of it.
        points: usize,
    },
    /// A hand pulled and it did not move: locked, or held wrongly.
    Locked,
    /// It moved and went back by itself: a spring. Its joint is known from the hand's way.
    SpringsBack,
    /// It moved as no single joint does: broken, or two things.
    Broken {
        /// Share of what was seen of it that the best joint brings to where it was seen later.
        explained: f64,
        /// Root mean square distance of the hand's way from that of the best joint, metres.
        off: f64,
    },
    /// The critics do not accept any joint for it.
    Refused {
        /// What they say.
        reason: String,
    },
}

impl Outcome {
    /// The same as a word for programs: `known`, `assumed`, `half_seen`, `locked`, `springs_back`, `broken`, `refused`.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Known => "known",
            Self::Assumed => "assumed",
            Self::HalfSeen { .. } => "half_seen",
            Self::Locked => "locked",
            Self::SpringsBack => "springs_back",
            Self::Broken { .. } => "broken",
            Self::Refused { .. } => "refused",
        }
    }

    /// In words.
    pub fn say(&self) -> String {
        match self {
            Self::Known => "its joint was seen".to_owned(),
            Self::Assumed => "it was not moved: its joint is assumed from its kind".to_owned(),
            Self::HalfSeen { points } => format!("it was hardly seen ({points} points)"),
            Self::Locked => "it was pulled and did not move: it is locked, or held wrongly".to_owned(),
            Self::SpringsBack => "it goes back by itself: a spring".to_owned(),
            Self::Broken { explained, off } => format!(
                "no single joint explains how it moved ({:.0} % of it, the hand {:.0} mm off): it is broken, or two things",
                1e2 * explained,
                1e3 * off
            ),
            Self::Refused { reason } => format!("no joint was accepted: {reason}"),
        }
    }

    /// Whether its joint may be used to move it.
    pub fn is_usable(&self) -> bool {
        matches!(self, Self::Known | Self::SpringsBack)
    }
}

/// A description.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Described {
    /// All iterations, in order.
    pub iterations: Vec<Iteration>,
    /// Index of the best.
    pub best: usize,
    /// Why it stopped.
    pub stop: Decision,
    /// What became of each part.
    pub parts: Vec<Outcome>,
    /// What would help.
    pub wishes: Vec<Wish>,
}

impl Described {
    /// The best iteration.
    pub fn best(&self) -> &Iteration {
        &self.iterations[self.best]
    }
}

/// Describes what was observed.
///
/// Errors: [`ObservationError`].
pub fn describe(observation: &Observation, thresholds: Thresholds) -> Result<Described, ObservationError> {
    observation.check()?;
    let known = Motions::of(observation);
    let motions: Vec<Option<Fitted>> =
        (0..observation.parts.len()).map(|part| known.get(part).cloned()).collect();
    let mut verifier = Verifier::new(thresholds);
    let mut iterations: Vec<Iteration> = Vec::new();
    // First what things of its kind are; then, joint by joint, what the critics said of it.
    let mut fits: Vec<Option<Fitted>> = vec![None; observation.parts.len()];
    let stop = loop {
        let Some(Proposal { model, map_from_model, links }) = propose(observation, &fits, &known) else {
            let points = observation.looks.first().map_or(0, |look| look.body.len());
            return Err(ObservationError::TooFew { name: observation.name.clone(), points, least: LEAST });
        };
        let candidate = Candidate { model: &model, map_from_model: &map_from_model, links: &links };
        let verdicts = critic::judge(candidate, observation, &known);
        let rating = verdicts.rating();
        let decision = verifier.take(&rating);
        let mut next = fits.clone();
        let failed = |joint: &&critic::JointVerdict| joint.failure_reason != JointFailure::Success;
        for verdict in verdicts.joints.iter().filter(failed) {
            next[verdict.part].clone_from(&motions[verdict.part]);
        }
        // What was measured is better than what is usual, also where the critics do not object.
        if iterations.is_empty() {
            next.clone_from(&motions);
        }
        let is_last = iterations.len() + 1 >= thresholds.max_iterations;
        iterations.push(Iteration {
            model,
            map_from_model,
            links,
            verdicts,
            rating,
            decision: decision.clone(),
        });
        match (next == fits, decision) {
            (true, Decision::Continue) => break Decision::NothingElse,
            (true, decision) => break decision,
            (false, decision) if is_last => break decision,
            (false, _) => fits = next,
        }
    };
    // The best by how many joints the critics accept, then by its rating: what was measured is not given up for a link that lies better.
    // Of equals the later one, which rests on more measurement.
    let accepted = |iteration: &Iteration| {
        let joints = iteration.verdicts.joints.iter();
        joints.filter(|joint| joint.failure_reason == JointFailure::Success).count()
    };
    let better = |a: &usize, b: &usize| {
        let [one, other] = [a, b].map(|index| &iterations[*index]);
        let by_rating = one.rating.overall.total_cmp(&other.rating.overall);
        accepted(one).cmp(&accepted(other)).then(by_rating).then(a.cmp(b))
    };
    let best = (0..iterations.len()).max_by(better).unwrap_or_default();
    let parts: Vec<Outcome> = (0..observation.parts.len())
        .map(|part| outcome(observation, part, &known, &iterations[best]))
        .collect();
    let wishes = parts
        .iter()
        .zip(&observation.parts)
        .filter_map(|(outcome, part)| match outcome {
            Outcome::Assumed => Some(Wish::Move { part: part.name.clone() }),
            Outcome::HalfSeen { .. } => Some(Wish::Look { part: part.name.clone() }),
            _ => None,
        })
        .collect();
    Ok(Described { iterations, best, stop, parts, wishes })
}

fn outcome(observation: &Observation, part: usize, motions: &Motions, best: &Iteration) -> Outcome {
    let points = observation.looks.iter().map(|look| look.parts[part].len()).max().unwrap_or(0);
    if points < LEAST {
        return Outcome::HalfSeen { points };
    }
    let mut tracks = observation.tracks.iter().filter(|track| track.part == part).peekable();
    let pulled = tracks.peek().is_some();
    let Some(motion) = motions.get(part) else {
        let way = |track: &Track| match (track.poses.first(), track.poses.last()) {
            (Some(first), Some(last)) => (last.translation.vector - first.translation.vector).norm(),
            _ => 0.0,
        };
        return if pulled && tracks.all(|track| way(track) < IN_VAIN) {
            Outcome::Locked
        } else {
            Outcome::Assumed
        };
    };
    let off = motions.off_hand(part);
    if off > ASTRAY || motion.explained < TOGETHER {
        return Outcome::Broken { explained: motion.explained, off };
    }
    let verdict = best.verdicts.joints.iter().find(|verdict| verdict.part == part);
    if let Some(verdict) = verdict.filter(|verdict| verdict.failure_reason != JointFailure::Success) {
        return Outcome::Refused { reason: verdict.improvement_suggestion.clone() };
    }
    let led = motions.left_at(part).iter().map(|(position, _)| position.abs()).fold(0.0, f64::max);
    let later = motion.positions.iter().skip(1).flatten().map(|position| position.abs());
    match later.reduce(f64::max) {
        Some(seen) if pulled && led > 0.0 && seen < BACK * led => Outcome::SpringsBack,
        _ => Outcome::Known,
    }
}
