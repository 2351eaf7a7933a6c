//! Questions: nothing is moved.

use super::*;

pub(super) fn question(rng: &mut impl Rng) -> Option<Draft> {
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
