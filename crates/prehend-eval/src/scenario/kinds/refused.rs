//! Goals whose right answer is a refusal.

use super::*;

pub(super) fn impossible(rng: &mut impl Rng) -> Option<Draft> {
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

pub(super) fn ambiguous(rng: &mut impl Rng) -> Option<Draft> {
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
