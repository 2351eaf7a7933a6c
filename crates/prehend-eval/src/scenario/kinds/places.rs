//! Where things go: into something, beside something, in two steps, several at once.

use super::*;

pub(super) fn container(rng: &mut impl Rng) -> Option<Draft> {
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

pub(super) fn placement(rng: &mut impl Rng) -> Option<Draft> {
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
            || !off_line(&moving, &near, far, 0.1, 0.16)
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

pub(super) fn two_step(rng: &mut impl Rng) -> Option<Draft> {
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

pub(super) fn count(rng: &mut impl Rng) -> Option<Draft> {
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
