//! How well things are described from what is seen of them and how they move, and whether critics notice planted faults.
//!
//! The depth camera, its masks and the hand's way are simulated; what is measured is the describer and its critics. Motion is exact:
//! joints are put to positions, nothing is pulled in physics.

mod faults;
mod look;
mod things;

pub use faults::{Fault, gold, plant};
pub use look::{Scene, drawables};
pub use things::{Kind, Thing, thing};

use nalgebra::{Point3, Vector3};
use prehend_articulation::critic::{Candidate, judge};
use prehend_articulation::{Described, Joint, JointKind, Link, Motions, Observation, Thresholds, describe};
use prehend_geometry::stats;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde::Serialize;
use std::collections::BTreeMap;
use std::time::Instant;

/// What the parts of things were like after as many interactions.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Stage {
    /// Parts that have a joint in truth and were seen well enough to be one of the description.
    pub joints: usize,
    /// Of them those whose joint is of the right type.
    pub right_type: usize,
    /// Parts that the description leaves out, or says nothing of.
    pub left_out: usize,
    /// Degrees between the axes of those of the right type; direction of opening counts.
    #[serde(skip)]
    pub axis: Vec<f64>,
    /// Millimetres of their origins from the true axis, of those that turn.
    #[serde(skip)]
    pub origin: Vec<f64>,
    /// Percent of the true range by which their upper limits are off, and the lower ones of what was found ajar.
    #[serde(skip)]
    pub limits: Vec<f64>,
    /// Intersection over union of the boxes around links.
    #[serde(skip)]
    pub iou: Vec<f64>,
    /// Seconds that a description took.
    #[serde(skip)]
    pub seconds: Vec<f64>,
}

/// Figures of one stage.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Figures {
    /// Parts.
    pub joints: usize,
    /// Share of the right type.
    pub joint_type: f64,
    /// Parts of which nothing was said.
    pub left_out: usize,
    /// Degrees, in nine of ten.
    pub axis_deg_p90: f64,
    /// Millimetres, in nine of ten.
    pub origin_mm_p90: f64,
    /// Percent, in nine of ten.
    pub limits_percent_p90: f64,
    /// Mean.
    pub iou: f64,
    /// Seconds, in nine of ten.
    pub seconds_p90: f64,
}

/// Faults that were planted in right models.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Faults {
    /// How many.
    pub planted: usize,
    /// Of them those that some critic noticed.
    pub noticed: usize,
    /// Of them those that were called by their name, of the right part.
    pub named: usize,
}

/// Right models that some critic found wrong.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Alarms {
    /// Right models.
    pub gold: usize,
    /// Of them those that were found wrong.
    pub alarms: usize,
}

/// All that was measured.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tally {
    /// Things.
    pub n: usize,
    /// By kind of thing, and number of interactions.
    pub stages: BTreeMap<(Kind, usize), Stage>,
    /// By kind of fault.
    pub faults: BTreeMap<Fault, Faults>,
    /// By kind of thing.
    pub alarms: BTreeMap<Kind, Alarms>,
}

impl Stage {
    /// The figures.
    pub fn figures(&self) -> Figures {
        let p90 = |values: &[f64]| stats::percentile(values, 0.9).unwrap_or_default();
        let share = |part: usize, of: usize| if of == 0 { 0.0 } else { part as f64 / of as f64 };
        Figures {
            joints: self.joints,
            joint_type: share(self.right_type, self.joints),
            left_out: self.left_out,
            axis_deg_p90: p90(&self.axis),
            origin_mm_p90: p90(&self.origin),
            limits_percent_p90: p90(&self.limits),
            iou: if self.iou.is_empty() { 0.0 } else { self.iou.iter().sum::<f64>() / self.iou.len() as f64 },
            seconds_p90: p90(&self.seconds),
        }
    }

    /// Adds another.
    pub fn add(&mut self, other: &Self) {
        self.joints += other.joints;
        self.right_type += other.right_type;
        self.left_out += other.left_out;
        self.axis.extend(&other.axis);
        self.origin.extend(&other.origin);
        self.limits.extend(&other.limits);
        self.iou.extend(&other.iou);
        self.seconds.extend(&other.seconds);
    }
}

impl Tally {
    /// Of all kinds, after a number of interactions.
    pub fn stage(&self, interactions: usize) -> Stage {
        let mut all = Stage::default();
        self.stages
            .iter()
            .filter(|((_, count), _)| *count == interactions)
            .for_each(|(_, stage)| all.add(stage));
        all
    }

    /// Adds another.
    pub fn add(&mut self, other: &Self) {
        self.n += other.n;
        for (key, stage) in &other.stages {
            self.stages.entry(*key).or_default().add(stage);
        }
        for (fault, found) in &other.faults {
            let sum = self.faults.entry(*fault).or_default();
            sum.planted += found.planted;
            sum.noticed += found.noticed;
            sum.named += found.named;
        }
        for (kind, found) in &other.alarms {
            let sum = self.alarms.entry(*kind).or_default();
            sum.gold += found.gold;
            sum.alarms += found.alarms;
        }
    }
}

/// What came of one thing.
pub struct Run {
    /// The thing.
    pub thing: Thing,
    /// What was seen in the end.
    pub observation: Observation,
    /// Its last description.
    pub described: Described,
    /// Its figures.
    pub tally: Tally,
}

/// Most interactions.
pub const INTERACTIONS: usize = 3;

/// Looks at one thing, moves it again and again, and describes it each time; then asks the critics about right and wrong models of it.
///
/// Errors: in words, when a picture cannot be drawn or nothing is seen.
pub fn run(kind: Kind, seed: u64) -> Result<Run, String> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let thing = thing(kind, &mut rng);
    let mut scene = Scene::new(&thing, &mut rng, seed);
    let mut observation = scene.observation();
    let mut positions = vec![0.0; thing.model.joints.len()];
    observation.looks.push(scene.look(&positions, &mut rng)?);
    let mut tally = Tally { n: 1, ..Tally::default() };
    let mut described = None;
    for interactions in 0..=INTERACTIONS {
        if interactions > 0 {
            for (joint, position) in positions.iter_mut().enumerate() {
                let [shut, way] = thing.model.joints[joint].limits;
                // A part of the way, then to the stop, then back. One in two that are found ajar is shut first.
                let (to, stopped) = match interactions {
                    1 if shut < 0.0 && rng.random_bool(0.5) => (shut, true),
                    1 => (way * rng.random_range(0.45..0.8), false),
                    2 => (way, true),
                    _ => (way * rng.random_range(0.1..0.4), false),
                };
                let mut track = scene.track(joint, [*position, to], stopped, &mut rng);
                track.after = observation.looks.len() - 1;
                observation.tracks.push(track);
                *position = to;
            }
            observation.looks.push(scene.look(&positions, &mut rng)?);
        }
        let start = Instant::now();
        let found = describe(&observation, Thresholds::default()).map_err(|error| error.to_string())?;
        let seconds = start.elapsed().as_secs_f64();
        let stage = tally.stages.entry((kind, interactions)).or_default();
        stage.seconds.push(seconds);
        compare(&thing, &found, stage);
        described = Some(found);
        if interactions == 2 {
            critics(&thing, &observation, &mut rng, &mut tally);
        }
    }
    let described = described.ok_or("nothing was described")?;
    Ok(Run { thing, observation, described, tally })
}

/// Holds a description against the truth.
fn compare(thing: &Thing, described: &Described, stage: &mut Stage) {
    let best = described.best();
    for (part, truth) in thing.model.joints.iter().enumerate() {
        let found =
            best.links[part].and_then(|link| Some((best.model.joint_of(link)?, &best.model.links[link])));
        let Some((joint, link)) = found.filter(|(joint, _)| joint.kind != JointKind::Fixed) else {
            stage.left_out += 1;
            continue;
        };
        stage.joints += 1;
        stage.iou.push(iou(thing, truth, best, joint, link));
        if joint.kind != truth.kind {
            continue;
        }
        stage.right_type += 1;
        let axis = best.map_from_model.rotation * joint.axis;
        let true_axis = thing.map_from_model.rotation * truth.axis;
        stage.axis.push(axis.dot(&true_axis).clamp(-1.0, 1.0).acos().to_degrees());
        if truth.kind.turns() {
            let off = best.map_from_model * joint.origin - thing.map_from_model * truth.origin;
            stage.origin.push(1e3 * (off - true_axis.into_inner() * true_axis.dot(&off)).norm());
        }
        let range = truth.limits[1] - truth.limits[0];
        let mut off = (joint.limits[1] - truth.limits[1]).abs();
        if truth.limits[0] < 0.0 {
            off = off.max((joint.limits[0] - truth.limits[0]).abs());
        }
        stage.limits.push(100.0 * off / range);
    }
}

/// Of the boxes around a link as described and as it is, both along the thing's axes at position 0.
fn iou(
    thing: &Thing,
    truth: &Joint,
    best: &prehend_articulation::Iteration,
    joint: &Joint,
    link: &Link,
) -> f64 {
    let around = |corners: &mut dyn Iterator<Item = Point3<f64>>| {
        let (mut low, mut high) = (Vector3::repeat(f64::INFINITY), Vector3::repeat(f64::NEG_INFINITY));
        for corner in corners {
            low = low.inf(&corner.coords);
            high = high.sup(&corner.coords);
        }
        (low, high)
    };
    let to_thing = thing.map_from_model.inverse() * best.map_from_model * joint.at(0.0);
    let a = around(&mut link.solids.iter().flat_map(|solid| solid.corners()).map(|corner| to_thing * corner));
    let own = &thing.model.links[truth.child];
    let at = truth.at(0.0);
    let b = around(&mut own.solids.iter().flat_map(|solid| solid.corners()).map(|corner| at * corner));
    let size = |(low, high): (Vector3<f64>, Vector3<f64>)| (high - low).map(|side| side.max(0.0)).product();
    let common = size((a.0.sup(&b.0), a.1.inf(&b.1)));
    common / (size(a) + size(b) - common).max(1e-12)
}

/// Asks the critics about the right model and about one with each fault.
fn critics(thing: &Thing, observation: &Observation, rng: &mut ChaCha8Rng, tally: &mut Tally) {
    let right = gold(thing);
    let motions = Motions::of(observation);
    let ask = |planted: &faults::Planted| {
        let candidate =
            Candidate { model: &planted.model, map_from_model: &thing.map_from_model, links: &planted.links };
        judge(candidate, observation, &motions)
    };
    let alarms = tally.alarms.entry(thing.kind).or_default();
    alarms.gold += 1;
    alarms.alarms += usize::from(!ask(&right).found_nothing());
    for fault in Fault::ALL {
        let part = rng.random_range(0..thing.model.joints.len());
        let Some(planted) = plant(thing, fault, part, rng) else { continue };
        let verdicts = ask(&planted);
        let found = tally.faults.entry(fault).or_default();
        found.planted += 1;
        found.noticed += usize::from(!verdicts.found_nothing());
        found.named += usize::from(fault.is_named(&verdicts, part, &thing.model.links[part + 1].name));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thing_is_described_better_the_more_it_was_moved() {
        let run = run(Kind::Door, 3).expect("a run");
        let figures = |count| run.tally.stage(count).figures();
        assert_eq!(figures(2).joint_type, 1.0);
        assert!(figures(2).limits_percent_p90 < figures(0).limits_percent_p90);
        assert!(figures(2).axis_deg_p90 < 5.0, "{:?}", figures(2));
        assert_eq!(run.tally.alarms[&Kind::Door].gold, 1);
    }
}
