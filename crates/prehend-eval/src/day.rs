//! The goals of a long day: one after the other in one world, each made from what is there at that moment.
//!
//! A goal is a sentence and what it means in the true scene. The maker has a meaning in mind, says it, and has the sentence
//! read by [`ground`]; it is given only when the two agree, so a sentence that reads in two ways is never judged.
//! Every goal that asks for a change can be carried out by a robot that sees and grasps well: the thing fits
//! the gripper, its destination has room, both are in reach. What stands in the way is for the robot to find out.

mod places;

use crate::goal::{Expected, GoalSpec, Predicate};
use crate::ground::{Vocabulary, ground};
use crate::judge::holds;
use crate::place::{self, Side};
use crate::scenario::layout::{is_in_picture, is_in_view, is_reachable};
use crate::scenario::sentence::{Destination, finish, pick, pick_up, plural, polite, put};
use crate::scenario::{Kind, Scenario, ScenarioError, catalogue, tabletop};
use nalgebra::{Point2, Vector2};
use prehend_config::Findings;
use prehend_scene::Reason;
use prehend_sim::world::{JointTruth, ObjectTruth, Truth};
use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};
use std::f64::consts::TAU;

/// Widest thing that a gripper takes, metres.
const GRASPABLE: f64 = 0.080;
/// Room that is left around a thing in its container, metres.
const SPARE: f64 = 0.012;
/// Least free room around a thing that is to be put beside another one, metres.
const ROOM: f64 = 0.03;
/// Gap at which a thing is put beside another one, metres.
const BESIDE: f64 = 0.045;
/// Directions in which room is looked for.
const DIRECTIONS: u32 = 24;
/// Least directions in which there is room beside something.
const LEAST_FREE: usize = 3;
/// Draws until it is given up.
const ATTEMPTS: usize = 3000;
/// Seeds among which a table is looked for.
const TABLES: u64 = 200;
/// Least number of things on the table of a day.
const LEAST_THINGS: usize = 8;
/// Draws of one kind of goal until another kind is tried.
const PATIENCE: usize = 30;

/// One goal of the day.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DayGoal {
    /// What is said.
    pub sentence: String,
    /// What it is about.
    pub kind: Kind,
    /// What is right.
    pub spec: GoalSpec,
}

/// Whoever gives the goals of a day; the same seed gives the same goals in the same worlds.
#[derive(Debug)]
pub struct Day {
    rng: ChaCha8Rng,
    words: Vocabulary,
    /// Share of the goals that name a place on the table itself.
    places: f64,
}

impl Day {
    /// A day of this seed.
    ///
    /// Errors: findings when a built-in file of words is broken, which a test rules out.
    pub fn new(seed: u64) -> Result<Self, Findings> {
        Ok(Self { rng: ChaCha8Rng::seed_from_u64(seed), words: Vocabulary::built_in()?, places: 0.0 })
    }

    /// With this share of goals, [0, 1], that name a place on the table itself: a side of it, so far from here, where another thing
    /// stands.
    #[must_use]
    pub fn with_places(mut self, share: f64) -> Self {
        self.places = share;
        self
    }

    /// The next goal in a world; `None` when nothing was found that can be asked.
    pub fn next_goal(&mut self, truth: &Truth) -> Option<DayGoal> {
        let about_places = self.places > 0.0 && self.rng.random_bool(self.places.min(1.0));
        draw(&mut self.rng, truth, &self.words, about_places)
    }

    /// Where a person puts back what is lost; see [`tidied`].
    pub fn tidied(&mut self, truth: &Truth) -> Vec<(String, [f64; 3])> {
        tidied(&mut self.rng, truth)
    }

    /// One of `count` things, by its index; 0 when there is none.
    pub fn choose(&mut self, count: usize) -> usize {
        self.rng.random_range(0..count.max(1))
    }
}

/// The table of a day: a random one of [`tabletop`] with at least eight things, one of which holds others.
///
/// Errors: [`ScenarioError`] when no seed from this one on gives such a table.
pub fn table(seed: u64) -> Result<Scenario, ScenarioError> {
    let mut seeds = seed..seed.saturating_add(TABLES);
    let is_full = |scenario: &Scenario| {
        scenario.placed().is_ok_and(|placed| {
            let large = placed.objects.iter().filter(|o| o.spec.shape.half_extents().x > 0.06).count();
            placed.objects.len() >= LEAST_THINGS && (1..=3).contains(&large)
        })
    };
    let no_table = ScenarioError::NoTable { seed, kind: Kind::Container };
    seeds.find_map(|seed| tabletop(seed).ok().filter(is_full)).ok_or(no_table)
}

/// A sentence and what whoever says it means.
struct Draft {
    sentence: String,
    kind: Kind,
    meant: Meant,
}

enum Meant {
    World(Vec<Predicate>),
    Refusal(Reason),
    Answer,
}

/// The next goal in a world; `None` when nothing was found that can be asked.
pub fn next_goal(rng: &mut impl Rng, truth: &Truth, words: &Vocabulary) -> Option<DayGoal> {
    draw(rng, truth, words, false)
}

fn draw(rng: &mut impl Rng, truth: &Truth, words: &Vocabulary, about_places: bool) -> Option<DayGoal> {
    let maker = Maker { truth };
    let joints = maker.joints();
    let mut choice = 0;
    (0..ATTEMPTS).find_map(|attempt| {
        if attempt % PATIENCE == 0 {
            choice = rng.random_range(0..if joints.is_empty() { 24 } else { 30 });
        }
        let draft = match about_places {
            true => maker.place_goal(rng)?,
            false => maker.draft(rng, choice, &joints)?,
        };
        let spec = ground(&draft.sentence, truth, words);
        let agreed = match (&draft.meant, &spec.expected) {
            (Meant::World(meant), Expected::World(read)) => {
                meant == read && meant.iter().all(|wanted| holds(wanted, truth, truth) == Ok(false))
            }
            (Meant::Refusal(reason), Expected::Refusal(reasons)) => reasons == &[*reason],
            (Meant::Answer, Expected::Answer(_)) => true,
            _ => false,
        };
        agreed.then_some(DayGoal { sentence: draft.sentence, kind: draft.kind, spec })
    })
}

/// Where a person puts back what fell or was pushed out of reach of an arm that stands still: names and positions of
/// centres, metres. Things that find no room are left where they are.
pub fn tidied(rng: &mut impl Rng, truth: &Truth) -> Vec<(String, [f64; 3])> {
    if truth.base.is_some() {
        return Vec::new();
    }
    let mut world = truth.clone();
    let mut moved = Vec::new();
    for index in 0..world.objects.len() {
        let object = world.objects[index].clone();
        let lost = object.fallen || !Maker { truth: &world }.is_at_hand(&object);
        if object.fixed || object.held || object.name.contains('/') || !lost {
            continue;
        }
        let found = (0..ATTEMPTS).find_map(|_| {
            let at = Point2::new(rng.random_range(0.26..0.56), rng.random_range(-0.36..0.36));
            Maker { truth: &world }.is_free(&object, &at, ROOM).then_some(at)
        });
        if let Some(at) = found {
            let half = object.half_extents.iter().copied().fold(0.0, f64::max);
            let position = [at.x, at.y, truth.table_height + half + 0.002];
            let object = &mut world.objects[index];
            (object.position, object.fallen) = (position, false);
            moved.push((object.name.clone(), position));
        }
    }
    moved
}

struct Maker<'a> {
    truth: &'a Truth,
}

fn center(object: &ObjectTruth) -> Point2<f64> {
    Point2::new(object.position[0], object.position[1])
}

/// Radius of the circle around what it covers, metres.
fn reach(object: &ObjectTruth) -> f64 {
    let points = place::footprint(object);
    points.iter().map(|point| (point - center(object)).norm()).fold(0.0, f64::max)
}

fn is_link(object: &ObjectTruth) -> bool {
    object.name.contains('/')
}

fn one<'a, T>(rng: &mut impl Rng, from: &[&'a T]) -> Option<&'a T> {
    (!from.is_empty()).then(|| from[rng.random_range(0..from.len())])
}

impl Maker<'_> {
    fn objects(&self) -> impl Iterator<Item = &ObjectTruth> {
        self.truth.objects.iter()
    }

    /// Whether the robot gets at it: a base drives, an arm that stands still has its reach and its view.
    fn is_at_hand(&self, object: &ObjectTruth) -> bool {
        let [x, y, z] = object.position;
        let top = z + place::half_height(object) - self.truth.table_height;
        let slack = 0.04;
        self.truth.base.is_some()
            || !object.fallen
                && (is_reachable(x, y) || is_reachable(x - slack, y) || is_reachable(x + slack, y))
                && is_in_picture(x, y, 0.0, top)
    }

    /// What the gripper can take and carry.
    fn movable(&self) -> Vec<&ObjectTruth> {
        let narrow = |object: &ObjectTruth| {
            2.0 * object.half_extents[0].min(object.half_extents[1]) <= GRASPABLE
                && object.half_extents[0].max(object.half_extents[1]) < 0.075
        };
        // What touches it may also be what it lies in.
        let empty = |object: &ObjectTruth| {
            !self
                .objects()
                .filter(|other| other.name != object.name)
                .any(|other| place::is_on(self.truth, other, object) || place::is_in(other, object))
        };
        self.objects()
            .filter(|object| !object.fixed && !is_link(object) && !object.fallen)
            .filter(|object| narrow(object) && empty(object) && self.is_at_hand(object))
            .collect()
    }

    /// Whether it is in or on something else than the table.
    fn is_carried(&self, object: &ObjectTruth) -> bool {
        self.objects()
            .filter(|other| other.name != object.name)
            .any(|other| place::is_on(self.truth, object, other) || place::is_in(object, other))
    }

    /// "the mug", or "the red mug" where there are others; `None` when neither says which.
    fn phrase(&self, rng: &mut impl Rng, object: &ObjectTruth) -> Option<String> {
        if let Some((_, link)) = object.name.split_once('/') {
            return Some(format!("the {link}"));
        }
        let alike: Vec<&ObjectTruth> = self.objects().filter(|other| other.class == object.class).collect();
        let colored = object.color_name.as_ref().map(|color| format!("the {color} {}", object.class));
        let alone = alike.len() == 1;
        let color_is_its_own = alike.iter().filter(|o| o.color_name == object.color_name).count() == 1;
        match colored {
            Some(colored) if color_is_its_own && (!alone || rng.random_bool(0.3)) => Some(colored),
            _ => alone.then(|| format!("the {}", object.class)),
        }
    }

    /// Whether a thing put there has this much room around it and is in reach and view.
    fn is_free(&self, object: &ObjectTruth, at: &Point2<f64>, room: f64) -> bool {
        let around = reach(object);
        let height = 2.0 * place::half_height(object);
        is_reachable(at.x, at.y)
            && is_in_view(at.x, at.y, around, height)
            && self
                .objects()
                .filter(|other| other.name != object.name && !other.held && !other.fallen)
                .filter(|other| place::bottom(other) < self.truth.table_height + height)
                .all(|other| (center(other) - at).norm() > reach(other) + around + room)
    }

    /// Whether there is room beside a target, on one side of it or on any.
    fn has_room(&self, object: &ObjectTruth, target: &ObjectTruth, side: Option<Side>) -> bool {
        if self.truth.base.is_some() {
            return false;
        }
        let away = reach(target) + reach(object) + BESIDE;
        let free = |k: u32| {
            let angle = f64::from(k) / f64::from(DIRECTIONS) * TAU;
            let way = Vector2::new(angle.cos(), angle.sin());
            let to_side = side.is_none_or(|side| way.dot(&Vector2::from(side.direction())) > 0.85);
            to_side && self.is_free(object, &(center(target) + way * away), ROOM)
        };
        (0..DIRECTIONS).filter(|k| free(*k)).count() >= LEAST_FREE
    }

    /// Whether it fits into an empty target.
    fn fits(&self, object: &ObjectTruth, target: &ObjectTruth) -> bool {
        let Some(hollow) = target.shape.hollow() else { return false };
        let taken =
            self.objects().any(|other| other.inside.contains(&target.name) || place::is_in(other, target));
        let room = hollow.half[0].min(hollow.half[1]);
        !taken && target.name != object.name && place::is_upright(target) && reach(object) + SPARE <= room
    }

    fn draft(&self, rng: &mut impl Rng, choice: u32, joints: &[&JointTruth]) -> Option<Draft> {
        match choice {
            0..=6 => self.command(rng, Self::contained, Kind::Container),
            7..=12 => self.command(rng, Self::beside, Kind::Placement),
            13..=15 => self.command(rng, Self::back, Kind::Placement),
            16..=18 => self.two_steps(rng),
            19..=21 => self.question(rng),
            22 => self.impossible(rng),
            23 => self.ambiguous(rng),
            _ => self.mechanism(rng, joints),
        }
    }

    fn command<R: Rng>(
        &self,
        rng: &mut R,
        step: impl Fn(&Self, &mut R) -> Option<(String, Predicate)>,
        kind: Kind,
    ) -> Option<Draft> {
        let (command, wanted) = step(self, rng)?;
        Some(Draft { sentence: polite(rng, &command), kind, meant: Meant::World(vec![wanted]) })
    }

    fn contained(&self, rng: &mut impl Rng) -> Option<(String, Predicate)> {
        let object = one(rng, &self.movable())?;
        let targets: Vec<&ObjectTruth> = self
            .objects()
            .filter(|target| !target.fallen && self.fits(object, target) && self.is_at_hand(target))
            .filter(|target| !is_link(target) || self.is_open(target))
            .collect();
        let target = one(rng, &targets)?;
        let shallow = ["plate", "tray", "saucer"].contains(&target.class.as_str());
        let to = if shallow { Destination::On } else { Destination::In };
        let (said, where_to) = (self.phrase(rng, object)?, self.phrase(rng, target)?);
        let destination = to.phrase(rng, &where_to);
        Some((put(rng, &said, &destination), to.predicate(&object.name, &target.name)))
    }

    fn beside(&self, rng: &mut impl Rng) -> Option<(String, Predicate)> {
        let object = one(rng, &self.movable())?;
        let to = match rng.random_range(0..6) {
            0..=2 => Destination::Beside,
            3 => Destination::Side(Side::Left),
            4 => Destination::Side(Side::Right),
            _ => Destination::Side(if rng.random_bool(0.5) { Side::Front } else { Side::Back }),
        };
        let side = if let Destination::Side(side) = to { Some(side) } else { None };
        let targets: Vec<&ObjectTruth> = self
            .objects()
            .filter(|target| target.name != object.name && !target.fixed && !is_link(target))
            .filter(|target| !target.held && place::is_on_table(self.truth, target))
            .filter(|target| self.has_room(object, target, side))
            .collect();
        let target = one(rng, &targets)?;
        let (said, where_to) = (self.phrase(rng, object)?, self.phrase(rng, target)?);
        let destination = to.phrase(rng, &where_to);
        Some((put(rng, &said, &destination), to.predicate(&object.name, &target.name)))
    }

    /// Something that is in or on another thing, back on the table; in a room, onto another piece of furniture.
    fn back(&self, rng: &mut impl Rng) -> Option<(String, Predicate)> {
        let movable = self.movable();
        if self.truth.base.is_some() {
            let object = one(rng, &movable)?;
            let flat =
                |o: &&ObjectTruth| ["table", "desk", "counter", "side table"].contains(&o.class.as_str());
            let furniture: Vec<&ObjectTruth> = self.objects().filter(|o| o.fixed).filter(flat).collect();
            let target = one(rng, &furniture)?;
            let (said, where_to) = (self.phrase(rng, object)?, self.phrase(rng, target)?);
            let destination = Destination::On.phrase(rng, &where_to);
            let command = put(rng, &said, &destination);
            return Some((command, Destination::On.predicate(&object.name, &target.name)));
        }
        let carried: Vec<&ObjectTruth> =
            movable.into_iter().filter(|object| object.held || self.is_carried(object)).collect();
        let object = one(rng, &carried)?;
        let said = self.phrase(rng, object)?;
        let destination = pick(rng, &["on the table", "on the table", "onto the table"]);
        let command = put(rng, &said, destination);
        Some((command, Predicate::OnTable { object: object.name.clone() }))
    }

    fn two_steps(&self, rng: &mut impl Rng) -> Option<Draft> {
        let step = |rng: &mut _| {
            if RngExt::random_bool(rng, 0.6) { self.contained(rng) } else { self.beside(rng) }
        };
        let (first, wanted) = step(rng)?;
        let (second, also) = step(rng)?;
        let apart = |a: &Predicate, b: &Predicate| {
            let names = [a, b].map(subjects);
            !names[0].iter().any(|name| names[1].contains(name))
        };
        if !apart(&wanted, &also) {
            return None;
        }
        let link = pick(rng, &["and", "and then", ", then"]);
        let command = format!("{first} {link} {second}").replace(" ,", ",");
        Some(Draft {
            sentence: finish(rng, command),
            kind: Kind::TwoStep,
            meant: Meant::World(vec![wanted, also]),
        })
    }

    fn question(&self, rng: &mut impl Rng) -> Option<Draft> {
        let free: Vec<&ObjectTruth> =
            self.objects().filter(|o| !o.fixed && !is_link(o) && !o.fallen).collect();
        let object = one(rng, &free)?;
        let noun = object.class.as_str();
        let sentence = match rng.random_range(0..4) {
            0 => format!("how many {} are there?", plural(noun)),
            1 => {
                let noun = if rng.random_bool(0.5) { noun } else { self.absent(rng)? };
                let article = if noun.starts_with(['a', 'e', 'i', 'o', 'u']) { "an" } else { "a" };
                format!("is there {article} {noun}?")
            }
            2 => format!("where is {}?", self.phrase(rng, object)?),
            _ => {
                let hollow: Vec<&ObjectTruth> = self
                    .objects()
                    .filter(|o| o.shape.hollow().is_some() && o.half_extents[0] > 0.06 && !is_link(o))
                    .collect();
                let target = one(rng, &hollow).filter(|target| target.name != object.name)?;
                format!("is {} in {}?", self.phrase(rng, object)?, self.phrase(rng, target)?)
            }
        };
        Some(Draft { sentence: finish(rng, sentence), kind: Kind::Question, meant: Meant::Answer })
    }

    /// The noun of something that is not there, and that nothing there is easily taken for.
    fn absent(&self, rng: &mut impl Rng) -> Option<&'static str> {
        let taken_for = |class: &catalogue::Class| {
            self.objects().any(|object| {
                object.class == class.noun
                    || class.confusions.contains(&object.class.as_str())
                    || catalogue::class(&object.class)
                        .is_some_and(|there| there.confusions.contains(&class.noun))
            })
        };
        let nouns: Vec<&'static catalogue::Class> =
            catalogue::CLASSES.iter().filter(|class| class.movable() && !taken_for(class)).collect();
        one(rng, &nouns).map(|class| class.noun)
    }

    fn impossible(&self, rng: &mut impl Rng) -> Option<Draft> {
        let (command, reason) = match rng.random_range(0..3) {
            0 => {
                let (absent, target) = (self.absent(rng)?, one(rng, &self.objects().collect::<Vec<_>>())?);
                let where_to = self.phrase(rng, target)?;
                let destination = Destination::Beside.phrase(rng, &where_to);
                (put(rng, &format!("the {absent}"), &destination), Reason::NotFound)
            }
            1 => {
                let absent = self.absent(rng)?;
                (pick_up(rng, &format!("the {absent}")), Reason::NotFound)
            }
            _ => {
                let object = one(rng, &self.movable())?;
                (format!("throw {} at the wall", self.phrase(rng, object)?), Reason::Unsafe)
            }
        };
        let (sentence, meant) = (polite(rng, &command), Meant::Refusal(reason));
        Some(Draft { sentence, kind: Kind::Impossible, meant })
    }

    fn ambiguous(&self, rng: &mut impl Rng) -> Option<Draft> {
        let movable = self.movable();
        let twice: Vec<&ObjectTruth> = movable
            .iter()
            .filter(|object| movable.iter().filter(|other| other.class == object.class).count() > 1)
            .copied()
            .collect();
        let noun = &one(rng, &twice)?.class;
        let command = pick_up(rng, &format!("the {noun}"));
        let (sentence, meant) = (polite(rng, &command), Meant::Refusal(Reason::Ambiguous));
        Some(Draft { sentence, kind: Kind::Ambiguous, meant })
    }

    /// Joints that can be opened and closed.
    fn joints(&self) -> Vec<&JointTruth> {
        let opens = |joint: &&JointTruth| {
            joint.held_states.iter().chain(&joint.states).any(|state| state == "open" || state == "closed")
        };
        self.truth.mechanisms.iter().filter(|joint| !joint.locked && !joint.broken).filter(opens).collect()
    }

    fn is_open(&self, link: &ObjectTruth) -> bool {
        let of_it = |joint: &&JointTruth| joint.entity == link.name;
        self.joints().into_iter().filter(of_it).any(|joint| joint.states.iter().any(|state| state == "open"))
    }

    fn mechanism(&self, rng: &mut impl Rng, joints: &[&JointTruth]) -> Option<Draft> {
        let joint = one(rng, joints)?;
        let object = self.objects().find(|object| object.name == joint.entity)?;
        let said = self.phrase(rng, object)?;
        let (verb, state) = match joint.states.iter().any(|state| state == "open") {
            true => (pick(rng, &["close", "close", "shut"]), "closed"),
            false => (pick(rng, &["open", "open", "pull open"]), "open"),
        };
        let wanted = Predicate::InState { object: joint.entity.clone(), state: state.to_owned() };
        let sentence = polite(rng, &format!("{verb} {said}"));
        Some(Draft { sentence, kind: Kind::Task, meant: Meant::World(vec![wanted]) })
    }
}

/// Names of the things that a predicate speaks of.
fn subjects(predicate: &Predicate) -> Vec<String> {
    let target = match predicate {
        Predicate::On { target, .. }
        | Predicate::In { target, .. }
        | Predicate::NextTo { target, .. }
        | Predicate::LeftOf { target, .. }
        | Predicate::RightOf { target, .. }
        | Predicate::InFrontOf { target, .. }
        | Predicate::Behind { target, .. } => Some(target.clone()),
        _ => None,
    };
    predicate.objects().into_iter().chain(target).collect()
}

#[cfg(test)]
mod tests;
