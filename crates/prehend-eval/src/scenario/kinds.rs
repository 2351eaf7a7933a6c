//! One goal of each kind, and the table it is about.

use super::Kind;
use super::catalogue::{CLASSES, Class, Item, Role, class};
use super::layout::{Placed, Spot, has_room, has_room_between, place};
use super::sentence::{Destination, finish, pick, pick_up, plural, polite, put, put_all};
use crate::goal::{Answer, GoalSpec, Predicate};
use crate::place::Side;
use prehend_scene::Reason;
use prehend_sim::scene::Shape;
use rand::{Rng, RngExt};

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

fn attribute(rng: &mut impl Rng) -> Option<Draft> {
    let mut table = Table::default();
    if rng.random_range(0..3) > 0 {
        // Same class, another colour.
        let class = movable(rng, &table, 2)?;
        let item = class.any(rng);
        let phrase = match rng.random_range(0..6) {
            0 => format!("the {} that is {}", class.noun, item.color),
            _ => colored(&item),
        };
        let object = table.add(item.clone(), Spot::Anywhere);
        let mut used = vec![item.color];
        for _ in 0..rng.random_range(1..=2) {
            if let Some(color) = other_color(rng, class, &used) {
                used.push(color);
                let size = rng.random_range(0.0..=1.0);
                let other = class.item(rng, size, color);
                table.add(other, Spot::Anywhere);
            }
        }
        let target = maybe_carrier(rng, &mut table, &item)?;
        let placed = table.fill(rng, &[])?;
        return end(rng, placed, object, &phrase, target);
    }
    // Same class, another size.
    let class = class(pick(rng, &["block", "ball", "box", "bottle"]))?;
    let big = rng.random_bool(0.5);
    let (size, other_size) = if big { (1.0, 0.0) } else { (0.0, 1.0) };
    let color = other_color(rng, class, &[])?;
    let other = if rng.random_bool(0.5) { color } else { other_color(rng, class, &[color])? };
    let item = class.item(rng, size, color);
    let object = table.add(item.clone(), Spot::Anywhere);
    let other = class.item(rng, other_size, other);
    table.add(other, Spot::Anywhere);
    let word = match (class.noun, big) {
        ("bottle", true) => pick(rng, &["tall", "taller", "tallest"]),
        ("bottle", false) => pick(rng, &["short", "shorter", "shortest"]),
        (_, true) => pick(rng, &["big", "large", "bigger", "larger", "biggest", "largest"]),
        (_, false) => pick(rng, &["small", "smaller", "smallest"]),
    };
    let target = maybe_carrier(rng, &mut table, &item)?;
    let placed = table.fill(rng, &[])?;
    end(rng, placed, object, &format!("the {word} {}", class.noun), target)
}

fn relation(rng: &mut impl Rng) -> Option<Draft> {
    let mut table = Table::default();
    // What it relates to: one of its class.
    let anchor_class = CLASSES.get(rng.random_range(0..CLASSES.len()))?;
    let anchor = anchor_class.any(rng);
    let anchor_phrase = the(rng, &anchor);
    let first = table.add(anchor, Spot::Anywhere);
    let class = movable(rng, &table, 1)?;
    let item = class.any(rng);
    // The others of the class look like it, or not: the relation decides either way.
    let other_colors: Vec<&'static str> =
        (0..2).map(|_| if rng.random_bool(0.5) { item.color } else { class.colors[0] }).collect();
    let sizes: [f64; 2] = [rng.random_range(0.0..=1.0), rng.random_range(0.0..=1.0)];
    let noun = class.noun;
    let close = anchor_reach(&table, first) + item.reach();
    let (object, phrase) = match rng.random_range(0..8) {
        choice @ 0..=3 => {
            let side = SIDES[choice];
            let opposite = [Side::Right, Side::Left, Side::Back, Side::Front][choice];
            let along = [close + 0.03, close + 0.11];
            let object = table.add(item.clone(), Spot::Aside { of: first, side, along, across: 0.02 });
            let second = class.item(rng, sizes[0], other_colors[0]);
            table.add(second, Spot::Aside { of: first, side: opposite, along, across: 0.06 });
            let words: &[&str] = match side {
                Side::Left => &["left of", "to the left of", "on the left of"],
                Side::Right => &["right of", "to the right of", "on the right of"],
                Side::Front => &["in front of"],
                Side::Back => &["behind"],
            };
            let link = pick(rng, &["", "", "that is "]);
            (object, format!("the {noun} {link}{} {anchor_phrase}", pick(rng, words)))
        }
        choice @ (4 | 5) => {
            let near = [close + 0.03, close + 0.06];
            let object = table.add(item.clone(), Spot::Around { of: first, distance: near });
            let far = [close + 0.20, close + 0.40];
            let second = class.item(rng, sizes[0], other_colors[0]);
            table.add(second, Spot::Around { of: first, distance: far });
            let words: &[&str] = if choice == 4 {
                &["near", "next to", "beside", "that is near", "that is next to"]
            } else {
                &["nearest to", "closest to", "that is nearest to", "that is closest to"]
            };
            (object, format!("the {noun} {} {anchor_phrase}", pick(rng, words)))
        }
        6 => {
            let mut far_class = None;
            for _ in 0..8 {
                far_class = movable(rng, &table, 1).filter(|other| other.noun != noun);
                if far_class.is_some() {
                    break;
                }
            }
            let far = far_class?.any(rng);
            let distance = close + item.reach() + far.reach() + 0.09;
            let far_phrase = the(rng, &far);
            let second = table.add(far, Spot::Around { of: first, distance: [distance, distance + 0.05] });
            let object = table.add(item.clone(), Spot::Between { first, second });
            let other = class.item(rng, sizes[0], other_colors[0]);
            table.add(other, Spot::Around { of: first, distance: [0.22, 0.5] });
            (object, format!("the {noun} between {anchor_phrase} and {far_phrase}"))
        }
        _ => {
            let left = rng.random_bool(0.5);
            let object = table.add(item.clone(), Spot::Anywhere);
            for n in 0..2 {
                let other = class.item(rng, sizes[n], other_colors[n]);
                let side = if left { Side::Right } else { Side::Left };
                table.add(other, Spot::Aside { of: object, side, along: [0.11, 0.5], across: 0.25 });
            }
            let phrase = if left { format!("the leftmost {noun}") } else { format!("the rightmost {noun}") };
            (object, phrase)
        }
    };
    let target = maybe_carrier(rng, &mut table, &item)?;
    let placed = table.fill(rng, &[])?;
    if phrase.contains(" between ") && !others_are_off(&placed, object, noun) {
        return None;
    }
    end(rng, placed, object, &phrase, target)
}

fn anchor_reach(table: &Table, index: usize) -> f64 {
    table.things.get(index).map_or(0.0, |(item, _)| item.reach())
}

/// Whether the others of a class are clearly not between things 0 and 1.
fn others_are_off(placed: &[Placed], object: usize, noun: &str) -> bool {
    let (Some(a), Some(b)) = (placed.first(), placed.get(1)) else { return false };
    let length = a.distance(b).max(1e-6);
    placed.iter().enumerate().filter(|(i, p)| *i != object && p.item.class.noun == noun).all(|(_, p)| {
        let (dx, dy) = ((b.x - a.x) / length, (b.y - a.y) / length);
        let share = ((p.x - a.x) * dx + (p.y - a.y) * dy) / length;
        let beside = ((p.x - a.x) * dy - (p.y - a.y) * dx).abs();
        !(-0.2..=1.2).contains(&share) || beside > 0.14
    })
}

fn container(rng: &mut impl Rng) -> Option<Draft> {
    let mut table = Table::default();
    let class = movable(rng, &table, 1)?;
    let item = class.any(rng);
    let (target, to) = carrier(rng, &table, &item)?;
    let phrase = the(rng, &item);
    let target_phrase = the(rng, &target);
    let out = rng.random_range(0..5) == 0 && target.shape.hollow().is_some();
    let target = table.add(target, Spot::Anywhere);
    if !out {
        let object = table.add(item, Spot::Anywhere);
        let placed = table.fill(rng, &[])?;
        return end(rng, placed, object, &phrase, Some((target, to)));
    }
    // It is in there already and comes out.
    let object = table.add(item, Spot::In { of: target });
    let placed = table.fill(rng, &[])?;
    let from = match to {
        Destination::In => "out of",
        Destination::On | Destination::Beside | Destination::Side(_) => "off",
    };
    let command = match rng.random_range(0..3) {
        0 => format!("take {phrase} {from} {target_phrase} and put it on the table"),
        1 => format!("take {phrase} {from} {target_phrase}"),
        _ => format!("remove {phrase} from {target_phrase}"),
    };
    let predicate = Predicate::OnTable { object: placed.get(object)?.name.clone() };
    let sentence = polite(rng, &command);
    Some(Draft { placed, sentence, spec: GoalSpec::world(vec![predicate]) })
}

fn placement(rng: &mut impl Rng) -> Option<Draft> {
    let mut table = Table::default();
    let class = movable(rng, &table, 1)?;
    let item = class.any(rng);
    let phrase = the(rng, &item);
    let object = table.add(item, Spot::Anywhere);
    let mut targets = Vec::new();
    for _ in 0..2 {
        let classes: Vec<&Class> = CLASSES.iter().filter(|class| !table.has(class.noun)).collect();
        let target = classes.get(rng.random_range(0..classes.len()))?.any(rng);
        targets.push((the(rng, &target), table.add(target, Spot::Anywhere)));
    }
    let [(first_phrase, first), (second_phrase, second)] = targets.try_into().ok()?;
    let placed = table.fill(rng, &[])?;
    let choice = rng.random_range(0..7);
    let (moving, near) = (placed.get(object)?.clone(), placed.get(first)?.clone());
    if choice == 6 {
        let far = placed.get(second)?;
        let length = near.distance(far);
        let room = near.item.reach() + far.item.reach() + 2.0 * moving.item.reach() + 0.05;
        if !(room..0.42).contains(&length)
            || !has_room_between(&placed, object, first, second)
            || !off_line(&moving, &near, far)
        {
            return None;
        }
        let command = put(rng, &phrase, &format!("between {first_phrase} and {second_phrase}"));
        let (first, second) = (near.name.clone(), far.name.clone());
        let predicate = Predicate::Between { object: moving.name.clone(), first, second };
        let sentence = polite(rng, &command);
        return Some(Draft { placed, sentence, spec: GoalSpec::world(vec![predicate]) });
    }
    let (to, side) = match choice {
        0 | 1 => (Destination::Beside, None),
        _ => {
            let side = SIDES[choice - 2];
            (Destination::Side(side), Some(side))
        }
    };
    // It must not be there already.
    let there = match side {
        None => moving.distance(&near) < moving.item.reach() + near.item.reach() + 0.16,
        Some(side) => moving.toward(&near, side) > -0.03,
    };
    if there || !has_room(&placed, object, first, side) {
        return None;
    }
    let destination = to.phrase(rng, &first_phrase);
    let command = put(rng, &phrase, &destination);
    let predicate = to.predicate(&moving.name, &near.name);
    let sentence = polite(rng, &command);
    Some(Draft { placed, sentence, spec: GoalSpec::world(vec![predicate]) })
}

/// Whether a thing is clearly not between two others.
fn off_line(thing: &Placed, a: &Placed, b: &Placed) -> bool {
    let length = a.distance(b).max(1e-6);
    let (dx, dy) = ((b.x - a.x) / length, (b.y - a.y) / length);
    let share = ((thing.x - a.x) * dx + (thing.y - a.y) * dy) / length;
    let beside = ((thing.x - a.x) * dy - (thing.y - a.y) * dx).abs();
    !(-0.1..=1.1).contains(&share) || beside > 0.16
}

fn two_step(rng: &mut impl Rng) -> Option<Draft> {
    let mut table = Table::default();
    let mut steps = Vec::new();
    for _ in 0..2 {
        let class = movable(rng, &table, 1)?;
        let item = class.any(rng);
        let phrase = the(rng, &item);
        let object = table.add(item.clone(), Spot::Anywhere);
        let (target, to) = carrier(rng, &table, &item)?;
        let target_phrase = the(rng, &target);
        let target = table.add(target, Spot::Anywhere);
        steps.push((phrase, object, target_phrase, target, to));
    }
    let placed = table.fill(rng, &[])?;
    let mut commands = Vec::new();
    let mut predicates = Vec::new();
    for (phrase, object, target_phrase, target, to) in &steps {
        let destination = to.phrase(rng, target_phrase);
        // "and" joins the steps, so the steps themselves go without.
        let verb = pick(rng, &["put", "put", "place", "move"]);
        commands.push(format!("{verb} {phrase} {destination}"));
        predicates.push(to.predicate(&placed.get(*object)?.name, &placed.get(*target)?.name));
    }
    let join = pick(rng, &[" and ", " and then ", ", then ", " and after that ", ", and then "]);
    let sentence = polite(rng, &commands.join(join));
    Some(Draft { placed, sentence, spec: GoalSpec::world(predicates) })
}

fn count(rng: &mut impl Rng) -> Option<Draft> {
    let mut table = Table::default();
    let small = class(pick(rng, &["apple", "ball", "block", "tomato", "lemon", "egg"]))?;
    let target_class = class(pick(rng, &["basket", "tray"]))?;
    let color = other_color(rng, target_class, &[])?;
    let target = target_class.item(rng, 1.0, color);
    let to = if target_class.role == Role::Container { Destination::In } else { Destination::On };
    let target_phrase = the(rng, &target);
    let target = table.add(target, Spot::Anywhere);
    let number = rng.random_range(2..=3usize);
    let by_color = small.colors.len() > 1 && rng.random_bool(0.3);
    let color = other_color(rng, small, &[])?;
    let mut members = Vec::new();
    for _ in 0..number {
        let item = if by_color {
            let size = rng.random_range(0.0..=0.6);
            small.item(rng, size, color)
        } else {
            small.any(rng)
        };
        members.push(table.add(item, Spot::Anywhere));
    }
    if by_color {
        let other = other_color(rng, small, &[color])?;
        let other = small.item(rng, 0.3, other);
        table.add(other, Spot::Anywhere);
    }
    let plural = if by_color { format!("{color} {}", plural(small.noun)) } else { plural(small.noun) };
    let some = number == 3 && rng.random_bool(0.3);
    let phrase = match (some, number) {
        (true, _) => format!("two {plural}"),
        (false, 2) => match rng.random_range(0..4) {
            0 => format!("both {plural}"),
            1 => format!("the two {plural}"),
            2 => format!("all the {plural}"),
            _ => format!("all {plural}"),
        },
        (false, _) => match rng.random_range(0..4) {
            0 => format!("all {plural}"),
            1 => format!("all the {plural}"),
            2 => format!("the three {plural}"),
            _ => format!(
                "every {}",
                if by_color { format!("{color} {}", small.noun) } else { small.noun.to_owned() }
            ),
        },
    };
    let placed = table.fill(rng, &[])?;
    let target_name = placed.get(target)?.name.clone();
    let predicates: Vec<Predicate> = members
        .iter()
        .filter_map(|index| Some(to.predicate(&placed.get(*index)?.name, &target_name)))
        .collect();
    let destination = to.phrase(rng, &target_phrase);
    let command = put_all(rng, &phrase, &destination);
    let predicates = if some { vec![Predicate::AtLeast { count: 2, of: predicates }] } else { predicates };
    let sentence = polite(rng, &command);
    Some(Draft { placed, sentence, spec: GoalSpec::world(predicates) })
}

fn question(rng: &mut impl Rng) -> Option<Draft> {
    let mut table = Table::default();
    let class = movable(rng, &table, 2)?;
    let item = class.any(rng);
    let noun = class.noun;
    let (sentence, answer, placed) = match rng.random_range(0..5) {
        0 => {
            let number = rng.random_range(1..=3u32);
            for _ in 0..number {
                let item = class.any(rng);
                table.add(item, Spot::Anywhere);
            }
            let many = plural(noun);
            let sentence = match rng.random_range(0..3) {
                0 => format!("how many {many} are there?"),
                1 => format!("how many {many} are on the table?"),
                _ => format!("count the {many}"),
            };
            (sentence, Answer::Count(number), table.fill(rng, &[])?)
        }
        1 => {
            let there = rng.random_bool(0.5);
            if there {
                table.add(item, Spot::Anywhere);
            }
            let article = if noun.starts_with(['a', 'e', 'i', 'o', 'u']) { "an" } else { "a" };
            let sentence = format!("is there {article} {noun} on the table?");
            (sentence, Answer::YesNo(there), table.fill(rng, &[noun])?)
        }
        2 => {
            let color = item.color;
            table.add(item, Spot::Anywhere);
            let sentence = match rng.random_range(0..2) {
                0 => format!("what color is the {noun}?"),
                _ => format!("what colour is the {noun}?"),
            };
            let answer = Answer::Words { said: vec![color.to_owned()], not_said: Vec::new() };
            (sentence, answer, table.fill(rng, &[])?)
        }
        choice => {
            let (target, to) = carrier(rng, &table, &item)?;
            target.shape.hollow()?;
            let target_noun = target.class.noun;
            let inside = choice == 3 || rng.random_bool(0.5);
            let of = table.add(target, Spot::Anywhere);
            table.add(item, if inside { Spot::In { of } } else { Spot::Anywhere });
            let preposition = if to == Destination::In { "in" } else { "on" };
            let placed = table.fill(rng, &[])?;
            if choice == 3 {
                let said = vec![target_noun.to_owned()];
                (format!("where is the {noun}?"), Answer::Words { said, not_said: Vec::new() }, placed)
            } else {
                (format!("is the {noun} {preposition} the {target_noun}?"), Answer::YesNo(inside), placed)
            }
        }
    };
    let sentence = finish(rng, sentence);
    Some(Draft { placed, sentence, spec: GoalSpec::answer(answer) })
}

fn impossible(rng: &mut impl Rng) -> Option<Draft> {
    let mut table = Table::default();
    let class = movable(rng, &table, 1)?;
    let item = class.any(rng);
    let (target, to) = carrier(rng, &table, &item)?;
    let (object_phrase, target_phrase) = (the(rng, &item), the(rng, &target));
    let (noun, target_noun) = (class.noun, target.class.noun);
    let (command, reasons, placed) = match rng.random_range(0..6) {
        // The object is not there.
        0 => {
            table.add(target, Spot::Anywhere);
            let destination = to.phrase(rng, &target_phrase);
            let command = put(rng, &object_phrase, &destination);
            (command, vec![Reason::NotFound], table.fill(rng, &[noun])?)
        }
        // One of its class is there, in another colour.
        1 => {
            let missing = other_color(rng, class, &[item.color])?;
            table.add(item, Spot::Anywhere);
            table.add(target, Spot::Anywhere);
            let destination = to.phrase(rng, &target_phrase);
            let command = put(rng, &format!("the {missing} {noun}"), &destination);
            (command, vec![Reason::NotFound], table.fill(rng, &[])?)
        }
        // The target is not there.
        2 => {
            table.add(item, Spot::Anywhere);
            let destination = to.phrase(rng, &format!("the {target_noun}"));
            let command = put(rng, &object_phrase, &destination);
            (command, vec![Reason::NotFound], table.fill(rng, &[target_noun])?)
        }
        // Too large for the gripper.
        3 => {
            let (noun, shape) = if rng.random_bool(0.5) {
                ("box", Shape::Box { size: [0.12, 0.13, 0.1] })
            } else {
                ("ball", Shape::Sphere { radius: 0.056 })
            };
            let class = self::class(noun)?;
            let color = other_color(rng, class, &[])?;
            let large = Item { class, shape, color, mass: 0.5 };
            let phrase = the(rng, &large);
            table.add(large, Spot::Anywhere);
            let command = if rng.random_bool(0.5) {
                pick_up(rng, &phrase)
            } else {
                let target = self::class("basket")?.any(rng);
                let target_phrase = the(rng, &target);
                let destination = Destination::Beside.phrase(rng, &target_phrase);
                table.add(target, Spot::Anywhere);
                put(rng, &phrase, &destination)
            };
            (command, vec![Reason::Infeasible, Reason::NoGrasp], table.fill(rng, &[noun])?)
        }
        // It would hurt.
        4 => {
            table.add(item, Spot::Anywhere);
            table.add(target, Spot::Anywhere);
            let choice = rng.random_range(0..7);
            let command = match choice {
                0 => format!("throw {object_phrase} at the wall"),
                1 => format!("throw {object_phrase} into {target_phrase}"),
                2 => format!("smash {object_phrase}"),
                3 => format!("hit {target_phrase} with {object_phrase}"),
                4 => format!("push {object_phrase} over the edge of the table"),
                5 => format!("throw {object_phrase} at the person"),
                _ => format!("drop {object_phrase} on the floor"),
            };
            // The floor is out of reach as well.
            let mut reasons = vec![Reason::Unsafe];
            if choice == 6 {
                reasons.push(Reason::Infeasible);
            }
            (command, reasons, table.fill(rng, &[])?)
        }
        // The skill does not exist, or the place cannot hold it.
        _ => {
            table.add(item, Spot::Anywhere);
            let plate = self::class("plate")?.any(rng);
            if table.has("plate") || noun == "plate" {
                return None;
            }
            table.add(plate, Spot::Anywhere);
            let command = match rng.random_range(0..4) {
                0 => format!("put the plate in {object_phrase}"),
                1 => format!("open {object_phrase}"),
                2 => format!("wash {object_phrase}"),
                _ => format!("put {object_phrase} under the plate"),
            };
            let reasons = vec![Reason::Infeasible, Reason::NotUnderstood, Reason::NoGrasp, Reason::NoPlace];
            (command, reasons, table.fill(rng, &[])?)
        }
    };
    let sentence = polite(rng, &command);
    Some(Draft { placed, sentence, spec: GoalSpec::refusal(&reasons) })
}

fn ambiguous(rng: &mut impl Rng) -> Option<Draft> {
    let mut table = Table::default();
    let class = movable(rng, &table, 1)?;
    let item = class.any(rng);
    let (target, to) = carrier(rng, &table, &item)?;
    let target_phrase = the(rng, &target);
    let by_noun = class.colors.len() > 1 && rng.random_bool(0.5);
    let phrase = if by_noun { format!("the {}", class.noun) } else { colored(&item) };
    let second = if by_noun { class.any(rng) } else { item.clone() };
    table.add(item, Spot::Anywhere);
    table.add(second, Spot::Anywhere);
    table.add(target, Spot::Anywhere);
    let destination = to.phrase(rng, &target_phrase);
    let command = if rng.random_bool(0.2) { pick_up(rng, &phrase) } else { put(rng, &phrase, &destination) };
    let placed = table.fill(rng, &[])?;
    let sentence = polite(rng, &command);
    Some(Draft { placed, sentence, spec: GoalSpec::refusal(&[Reason::Ambiguous]) })
}
