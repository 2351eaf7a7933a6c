//! A thing that others stand close around: a hand gets to it only when one of them is elsewhere.

use super::*;

/// Largest circle around the thing, metres: what reaches farther sticks out between the others.
const REACH: f64 = 0.045;
/// Gap between the thing and each of the others, metres.
const GAP: [f64; 2] = [0.002, 0.009];
/// How far each of the four stands from its quarter, radians.
const ASKEW: f64 = 0.12;
/// Kinds of things that stand around it; a neighbour is no lower than the thing.
const AROUND: [&str; 5] = ["box", "block", "can", "jar", "bottle"];

pub(super) fn crowded(rng: &mut impl Rng) -> Option<Draft> {
    let mut table = Table::default();
    let class = movable(rng, &table, 1)?;
    let item = class.any(rng);
    if item.reach() > REACH {
        return None;
    }
    let phrase = the(rng, &item);
    let object = table.add(item.clone(), Spot::Anywhere);
    let first = rng.random_range(0.0..std::f64::consts::FRAC_PI_2);
    for quarter in 0..4 {
        let nouns: Vec<&str> = AROUND.into_iter().filter(|noun| *noun != item.class.noun).collect();
        let neighbour = super::class(pick(rng, &nouns))?.any(rng);
        if neighbour.height() < item.height() {
            return None;
        }
        let askew = rng.random_range(-ASKEW..=ASKEW);
        let angle = first + f64::from(quarter) * std::f64::consts::FRAC_PI_2 + askew;
        let gap = rng.random_range(GAP[0]..=GAP[1]);
        table.add(neighbour, Spot::Close { to: object, angle, gap });
    }
    let target = maybe_carrier(rng, &mut table, &item)?;
    let placed = place(rng, &table.things)?;
    end(rng, placed, object, &phrase, target)
}
