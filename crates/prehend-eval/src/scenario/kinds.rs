//! One goal of each kind, and the table it is about.

mod crowded;
mod places;
mod question;
mod refused;
mod which;

use super::Kind;
use super::catalogue::{CLASSES, Class, Item, Role, class};
use super::layout::{Placed, Spot, has_room, has_room_between, place};
use super::sentence::{Destination, finish, pick, pick_up, plural, polite, put, put_all};
use crate::goal::{Answer, GoalSpec, Predicate};
use crate::place::Side;
use crowded::crowded;
use places::{container, count, placement, two_step};
use prehend_scene::Reason;
use prehend_sim::scene::Shape;
use question::question;
use rand::{Rng, RngExt};
use refused::{ambiguous, impossible};
use which::{attribute, relation};

/// A table and a sentence, before the table is checked.
#[derive(Debug)]
pub(super) struct Draft {
    pub(super) placed: Vec<Placed>,
    pub(super) sentence: String,
    pub(super) spec: GoalSpec,
}

const SIDES: [Side; 4] = [Side::Left, Side::Right, Side::Front, Side::Back];

/// The kind of a scenario: one in six must be refused.
pub(super) fn kind(rng: &mut impl Rng) -> Kind {
    if rng.random_range(0..6) == 0 {
        return if rng.random_range(0..3) == 0 { Kind::Ambiguous } else { Kind::Impossible };
    }
    match rng.random_range(0..22) {
        0..=3 => Kind::Attribute,
        4..=7 => Kind::Relation,
        8..=11 => Kind::Container,
        12..=14 => Kind::Placement,
        15..=17 => Kind::TwoStep,
        18 | 19 => Kind::Count,
        _ => Kind::Question,
    }
}

/// A goal of this kind on a new table; `None` when this draw leads nowhere.
pub(super) fn draft(rng: &mut impl Rng, kind: Kind) -> Option<Draft> {
    match kind {
        Kind::Attribute => attribute(rng),
        Kind::Relation => relation(rng),
        Kind::Container => container(rng),
        Kind::Placement => placement(rng),
        Kind::TwoStep => two_step(rng),
        Kind::Count => count(rng),
        Kind::Question => question(rng),
        Kind::Impossible => impossible(rng),
        Kind::Ambiguous => ambiguous(rng),
        Kind::Crowded => crowded(rng),
        Kind::Place | Kind::Task => None,
    }
}

/// Things on their way to a table.
#[derive(Default)]
struct Table {
    things: Vec<(Item, Spot)>,
}

impl Table {
    fn add(&mut self, item: Item, spot: Spot) -> usize {
        self.things.push((item, spot));
        self.things.len() - 1
    }

    fn has(&self, noun: &str) -> bool {
        self.things.iter().any(|(item, _)| item.class.noun == noun)
    }

    /// Adds things of classes that are not there and not in `without`, up to a total of 4 to 10, and places everything.
    fn fill(mut self, rng: &mut impl Rng, without: &[&str]) -> Option<Vec<Placed>> {
        let total = rng.random_range(4..=10usize).max(self.things.len());
        for _ in 0..60 {
            if self.things.len() >= total {
                break;
            }
            let class = &CLASSES[rng.random_range(0..CLASSES.len())];
            let bulky = self.things.iter().filter(|(item, _)| !item.class.movable()).count();
            if self.has(class.noun) || without.contains(&class.noun) || !class.movable() && bulky >= 2 {
                continue;
            }
            let item = class.any(rng);
            self.add(item, Spot::Anywhere);
        }
        // On a crowded table fewer things find room: the ones added last are left out.
        let least = self.things.len().min(4);
        for _ in 0..4 {
            if let Some(placed) = place(rng, &self.things) {
                return Some(placed);
            }
            let newest_is_extra = self.things.len() > least
                && matches!(self.things.last(), Some((item, Spot::Anywhere)) if !without.contains(&item.class.noun));
            if newest_is_extra && self.things.len() > 4 {
                self.things.pop();
            }
        }
        None
    }
}

/// A thing to be moved, of a class that is not on the table.
fn movable(rng: &mut impl Rng, table: &Table, least_colors: usize) -> Option<&'static Class> {
    let classes: Vec<&Class> = CLASSES
        .iter()
        .filter(|class| class.movable() && class.colors.len() >= least_colors && !table.has(class.noun))
        .collect();
    (!classes.is_empty()).then(|| classes[rng.random_range(0..classes.len())])
}

/// Something that the item fits in or on, of a class that is not on the table, and how one says it.
fn carrier(rng: &mut impl Rng, table: &Table, item: &Item) -> Option<(Item, Destination)> {
    for _ in 0..20 {
        let class = &CLASSES[rng.random_range(0..CLASSES.len())];
        if class.movable() || table.has(class.noun) {
            continue;
        }
        let target = class.any(rng);
        if item.fits(&target) {
            let to = match class.role {
                Role::Container => Destination::In,
                Role::Dish | Role::Flat | Role::Thing | Role::Rolling => Destination::On,
            };
            return Some((target, to));
        }
    }
    None
}

/// "the mug" or "the red mug": both say which when there is one of its class.
fn the(rng: &mut impl Rng, item: &Item) -> String {
    if rng.random_bool(0.4) { colored(item) } else { format!("the {}", item.class.noun) }
}

fn colored(item: &Item) -> String {
    format!("the {} {}", item.color, item.class.noun)
}

/// A colour of a class that is none of these.
fn other_color(rng: &mut impl Rng, class: &Class, not: &[&str]) -> Option<&'static str> {
    let colors: Vec<&'static str> =
        class.colors.iter().copied().filter(|color| !not.contains(color)).collect();
    (!colors.is_empty()).then(|| colors[rng.random_range(0..colors.len())])
}

/// The end of a goal about one object that is told apart by `phrase`: into something, or just picked up.
fn end(
    rng: &mut impl Rng,
    placed: Vec<Placed>,
    object: usize,
    phrase: &str,
    target: Option<(usize, Destination)>,
) -> Option<Draft> {
    let name = placed.get(object)?.name.clone();
    let (command, predicate) = match target {
        Some((index, to)) => {
            let target = placed.get(index)?;
            let said = the(rng, &target.item);
            let destination = to.phrase(rng, &said);
            (put(rng, phrase, &destination), to.predicate(&name, &target.name))
        }
        None => (pick_up(rng, phrase), Predicate::Held { object: name }),
    };
    let sentence = polite(rng, &command);
    Some(Draft { placed, sentence, spec: GoalSpec::world(vec![predicate]) })
}

/// A target for `item` most of the time; `None` means that it is only picked up.
fn maybe_carrier(rng: &mut impl Rng, table: &mut Table, item: &Item) -> Option<Option<(usize, Destination)>> {
    if rng.random_bool(0.2) {
        return Some(None);
    }
    let (target, to) = carrier(rng, table, item)?;
    Some(Some((table.add(target, Spot::Anywhere), to)))
}

/// Whether a thing is clearly not between two others: `along` the line (a share of its length beyond its ends) or so far
/// `beside` it, metres.
fn off_line(thing: &Placed, a: &Placed, b: &Placed, along: f64, beside: f64) -> bool {
    let length = a.distance(b).max(1e-6);
    let (dx, dy) = ((b.x - a.x) / length, (b.y - a.y) / length);
    let share = ((thing.x - a.x) * dx + (thing.y - a.y) * dy) / length;
    let off = ((thing.x - a.x) * dy - (thing.y - a.y) * dx).abs();
    !(-along..=1.0 + along).contains(&share) || off > beside
}
