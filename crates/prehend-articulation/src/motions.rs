//! How each part was seen to move, and when one motion explains what was seen clearly worse than another.

use crate::evidence::{Evidence, cleaned};
use crate::fit::Given;
use crate::fitted::Fitted;
use crate::observation::{Look, Observation};
use nalgebra::Point3;
use prehend_scene::furniture::Usual;

/// Clearly worse: by so many standard deviations of what is left by chance, and by this, square metres, and a hand's slip.
const DEVIATIONS: f64 = 3.0;
const WORSE: f64 = 1.0e-6;
/// Within this an axis, radians, and an origin, metres, are as good as they can be told; and how far the edge of a part may go astray
/// by its axis, metres: the axis of a knob is told less well than that of a door.
pub(crate) const TOLD: [f64; 2] = [0.055, 0.014];
pub(crate) const ASTRAY: f64 = 0.010;
/// How many times as far off an axis may be that is put along a side of the whole.
const ALIGNED: f64 = 2.0;
/// Least way of a part from which its motion is judged, metres.
const MOVED: f64 = 0.02;
/// Root mean square distance of a hand's way at which it contradicts a motion, metres, and share of a look that the other one must show.
const OFF_HAND: f64 = 0.006;
const EITHER: f64 = 0.6;

/// What is known of how each part moved, made ready once for all candidates.
pub struct Motions {
    parts: Vec<Option<(Evidence, Fitted)>>,
    /// Clouds of each part in each look, without strays.
    clouds: Vec<Vec<Vec<Point3<f64>>>>,
}

impl Motions {
    /// Of the parts of an observation that were seen to move.
    pub fn of(observation: &Observation) -> Self {
        let cloud = |look: &Look, part: usize| look.parts.get(part).map_or_else(Vec::new, |own| cleaned(own));
        let clouds = (0..observation.parts.len())
            .map(|part| observation.looks.iter().map(|look| cloud(look, part)).collect());
        let clouds: Vec<Vec<Vec<Point3<f64>>>> = clouds.collect();
        let motion = |part: usize| {
            let mut evidence = Evidence::of(observation, part, &clouds[part])?;
            let seen = seen_motion(&evidence, &observation.parts[part].class)?;
            evidence.restrict(&seen);
            // Once more without what the looks do not share.
            let mut seen = evidence.followed(&Given::Kind { turns: seen.screw.turns() }, &seen);
            // What people build moves along its sides, unless the looks contradict.
            if let Some(axis) = evidence.side_near(&seen.screw.axis(), ALIGNED * tolerance(&evidence)) {
                let turns = seen.screw.turns();
                let mut aligned = evidence.followed(&Given::Axis { turns, axis }, &seen);
                if !is_worse(&evidence, aligned.left, seen.left) {
                    aligned.uncertainty = seen.uncertainty;
                    seen = aligned;
                }
            }
            Some((evidence, seen))
        };
        Self { parts: (0..observation.parts.len()).map(motion).collect(), clouds }
    }

    /// What is known of a part, and its motion; `None` when it was not seen to move.
    pub(crate) fn of_part(&self, part: usize) -> Option<&(Evidence, Fitted)> {
        self.parts.get(part)?.as_ref()
    }

    /// Clouds of a part in the looks, without strays.
    pub(crate) fn clouds(&self, part: usize) -> &[Vec<Point3<f64>>] {
        self.clouds.get(part).map_or(&[], Vec::as_slice)
    }

    /// The motion of a part.
    pub fn get(&self, part: usize) -> Option<&Fitted> {
        self.of_part(part).map(|(_, seen)| seen)
    }

    /// Where hands left a part, and whether it had come to a stop there.
    pub(crate) fn left_at(&self, part: usize) -> Vec<(f64, bool)> {
        self.of_part(part).map_or_else(Vec::new, |(evidence, seen)| evidence.left_at(seen))
    }

    /// Root mean square distance of the hands' ways from a part's motion, metres.
    pub(crate) fn off_hand(&self, part: usize) -> f64 {
        self.of_part(part).map_or(0.0, |(evidence, seen)| evidence.off_hand(&seen.screw))
    }
}

/// Angle within which an axis is as good as it can be told, radians.
pub(crate) fn tolerance(evidence: &Evidence) -> f64 {
    TOLD[0].max(ASTRAY / evidence.size())
}

/// The motion of a part that was seen, when it did move. What parts of its class usually do is believed unless the hand went otherwise,
/// or neither look lies on the other by it: an open drawer shows a board that lies, a closed one a board that stands.
fn seen_motion(evidence: &Evidence, class: &str) -> Option<Fitted> {
    let usual = Usual::of(class).turns();
    // A slide is a turn about a far place: it is one unless a turn is clearly better.
    let turns = usual == Some(true);
    let likely = evidence.roughly(turns);
    let by_hand = evidence.off_hand(&likely.screw) > OFF_HAND;
    let best = if usual.is_none() || by_hand || likely.explained < EITHER {
        let other = evidence.roughly(!turns);
        if is_worse(evidence, likely.left, other.left) { other } else { likely }
    } else {
        likely
    };
    (best.travel >= MOVED && is_worse(evidence, best.still, best.left)).then_some(best)
}

/// Whether more is left by one fit than by another than can be by chance.
pub(crate) fn is_worse(evidence: &Evidence, one: f64, than: f64) -> bool {
    one > than * (1.0 + DEVIATIONS * evidence.chance()) + WORSE + evidence.slipped()
}
