//! One thing among others: told by an attribute, or by where it is.

use super::*;

pub(super) fn attribute(rng: &mut impl Rng) -> Option<Draft> {
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

pub(super) fn relation(rng: &mut impl Rng) -> Option<Draft> {
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
    let [a, b, ..] = placed else { return false };
    let mut others = placed.iter().enumerate().filter(|(i, p)| *i != object && p.item.class.noun == noun);
    others.all(|(_, other)| off_line(other, a, b, 0.2, 0.14))
}
