//! Objects in words, for answers and questions back.

use super::furniture::panels_of;
use super::{Action, Plan};
use crate::language::plural;
use prehend_scene::{Object, ObjectKey, ObjectMap, Relation, Scope, furniture, spatial};

/// Least share of pixels that gives an object its colour word.
const COLOR_SHARE: f64 = 0.4;

/// The class name, or "object" when it has none.
pub(crate) fn class_of(object: &Object) -> &str {
    if object.class_name.is_empty() { "object" } else { &object.class_name }
}

/// The colour that most of an object has, when one has.
pub(crate) fn color_of(object: &Object) -> Option<&str> {
    object.color_fractions.first().filter(|(_, share)| *share >= COLOR_SHARE).map(|(word, _)| word.as_str())
}

/// "red mug", "mug".
pub(crate) fn noun(object: &Object) -> String {
    match color_of(object) {
        Some(color) if !class_of(object).split(' ').any(|word| word == color) => {
            format!("{color} {}", class_of(object))
        }
        _ => class_of(object).to_owned(),
    }
}

/// "the red mug", or the key when the object is not in the map.
pub(crate) fn describe(key: &ObjectKey, map: &ObjectMap) -> String {
    map.get(key).map_or_else(|| key.0.replace('_', " "), |object| format!("the {}", noun(object)))
}

/// As [`describe`], and of drawers and doors above each other which one: "the top drawer".
pub(crate) fn describe_apart(key: &ObjectKey, map: &ObjectMap) -> String {
    let level = || {
        let panel = map.get(key).filter(|object| furniture::is_panel(&object.class_name))?;
        let row: Vec<&Object> = panels_of(&furniture::whole_of(panel, map)?.key, map)
            .iter()
            .filter_map(|other| map.get(other))
            .filter(|other| other.class_name == panel.class_name)
            .collect();
        let words = level_words(&row).filter(|words| row.len() > 1 && are_distinct(words))?;
        let word = row.iter().zip(words).find(|(other, _)| other.key == *key)?.1;
        let class = class_of(panel);
        Some(match word.strip_suffix(" one") {
            Some(level) => format!("{level} {class}"),
            None => format!("the {class} {word}"),
        })
    };
    level().unwrap_or_else(|| describe(key, map))
}

/// With a capital first letter.
pub(super) fn capital(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or(String::new(), |first| first.to_uppercase().chain(chars).collect())
}

/// "The red mug".
pub(crate) fn capital_describe(key: &ObjectKey, map: &ObjectMap) -> String {
    capital(&describe(key, map))
}

/// "a", "a and b", "a, b and c".
pub(crate) fn listed(words: &[String]) -> String {
    match words {
        [] => "nothing".to_owned(),
        [one] => one.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

/// "an apple".
pub(crate) fn with_article(noun: &str) -> String {
    let vowel = noun.starts_with(['a', 'e', 'i', 'o', 'u']) && !noun.starts_with("uni");
    format!("{} {noun}", if vowel { "an" } else { "a" })
}

/// "an apple", "3 apples".
pub(crate) fn counted(number: usize, noun: &str) -> String {
    match number {
        0 => format!("no {}", plural(noun)),
        1 => format!("1 {noun}"),
        _ => format!("{number} {}", plural(noun)),
    }
}

/// Objects by kind: "2 red mugs, a bowl".
pub(crate) fn inventory_words(keys: &[ObjectKey], map: &ObjectMap) -> String {
    let mut kinds: Vec<(String, usize)> = Vec::new();
    for object in keys.iter().filter_map(|key| map.get(key)) {
        let noun = noun(object);
        match kinds.iter_mut().find(|(kind, _)| *kind == noun) {
            Some((_, count)) => *count += 1,
            None => kinds.push((noun, 1)),
        }
    }
    let words: Vec<String> = kinds
        .into_iter()
        .map(
            |(noun, count)| {
                if count == 1 { with_article(&noun) } else { format!("{count} {}", plural(&noun)) }
            },
        )
        .collect();
    listed(&words)
}

/// What tells these objects apart, one phrase each: by colour, else by place, else by size.
pub(crate) fn differences(keys: &[ObjectKey], map: &ObjectMap) -> Vec<String> {
    let objects: Vec<&Object> = keys.iter().filter_map(|key| map.get(key)).collect();
    let colors: Vec<Option<&str>> = objects.iter().map(|object| color_of(object)).collect();
    let by_color: Vec<String> = colors
        .iter()
        .map(|color| color.map_or("of no clear colour".to_owned(), |c| format!("a {c} one")))
        .collect();
    if are_distinct(&by_color) {
        return by_color;
    }
    let classes: Vec<String> = objects.iter().map(|object| with_article(class_of(object))).collect();
    if are_distinct(&classes) {
        return classes;
    }
    if let Some(levels) = level_words(&objects).filter(|words| are_distinct(words)) {
        return levels;
    }
    let carriers: Vec<Option<String>> = objects
        .iter()
        .map(|object| carrier(object, map).map(|(word, other)| format!("one {word} the {}", noun(other))))
        .collect();
    let with_places: Vec<String> = objects
        .iter()
        .zip(&carriers)
        .map(|(object, carried)| {
            carried.clone().unwrap_or_else(|| format!("one {}", side_words(object, &objects)))
        })
        .collect();
    if are_distinct(&with_places) {
        return with_places;
    }
    objects.iter().map(|object| format!("one {}", where_words(object))).collect()
}

fn are_distinct(words: &[String]) -> bool {
    let mut sorted = words.to_vec();
    sorted.sort();
    sorted.dedup();
    sorted.len() == words.len()
}

/// "the top one", of drawers above each other; `None` when they are no drawers or stand side by side.
fn level_words(objects: &[&Object]) -> Option<Vec<String>> {
    if !objects.iter().all(|object| furniture::is_panel(&object.class_name)) {
        return None;
    }
    let last = objects.len().checked_sub(1)?;
    let rank = |object: &Object| {
        let height = spatial::centre(object).z;
        objects.iter().filter(|other| spatial::centre(other).z > height + 0.02).count()
    };
    let words = objects.iter().map(|object| match rank(object) {
        0 => "the top one".to_owned(),
        place if place == last => "the bottom one".to_owned(),
        _ if objects.len() == 3 => "the middle one".to_owned(),
        place => format!("number {} from the top", place + 1),
    });
    Some(words.collect())
}

/// Where an object stands among others: "on the left", "in the middle", "at the back".
fn side_words(object: &Object, among: &[&Object]) -> String {
    let centre = spatial::centre(object);
    let rank =
        |axis: usize| among.iter().filter(|other| spatial::centre(other)[axis] > centre[axis] + 1e-9).count();
    let spread = |axis: usize| {
        let values = among.iter().map(|other| spatial::centre(other)[axis]);
        let (low, high) = values.fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), v| (l.min(v), h.max(v)));
        high - low
    };
    let last = among.len().saturating_sub(1);
    if spread(1) >= spread(0) {
        match rank(1) {
            0 => "on the left".to_owned(),
            r if r == last => "on the right".to_owned(),
            _ if among.len() == 3 => "in the middle".to_owned(),
            r => format!("number {} from the left", r + 1),
        }
    } else {
        match rank(0) {
            0 => "at the back".to_owned(),
            r if r == last => "at the front".to_owned(),
            _ if among.len() == 3 => "in the middle".to_owned(),
            r => format!("number {} from the back", r + 1),
        }
    }
}

/// "0.45 m ahead and 0.10 m to the left".
pub(crate) fn offset_words(x: f64, y: f64) -> String {
    let side = match y {
        y if y > 0.02 => format!("{y:.2} m to the left"),
        y if y < -0.02 => format!("{:.2} m to the right", -y),
        _ => "straight in front of me".to_owned(),
    };
    format!("{x:.2} m ahead, {side}")
}

/// Where an object is, from the arm's base, or in the frame of the room.
fn where_words(object: &Object) -> String {
    let centre = spatial::centre(object);
    match object.key.scope() {
        Scope::Local => offset_words(centre.x, centre.y),
        Scope::Room => format!("at ({:.1}, {:.1}) m in the room", centre.x, centre.y),
    }
}

/// What carries an object, with "in" or "on".
pub(crate) fn carrier<'m>(object: &Object, map: &'m ObjectMap) -> Option<(&'static str, &'m Object)> {
    map.objects
        .iter()
        .filter(|other| other.key != object.key && spatial::carried_by(object, other))
        .min_by(|a, b| spatial::size_of(a).total_cmp(&spatial::size_of(b)))
        .map(|other| (if spatial::inside(object, other) { "in" } else { "on" }, other))
}

/// Where an object is, in words.
pub(crate) fn place_words(object: &Object, map: &ObjectMap) -> String {
    let offset = where_words(object);
    if let Some((word, other)) = carrier(object, map) {
        return format!("{word} the {} ({offset})", noun(other));
    }
    let neighbour = map
        .objects
        .iter()
        .filter(|other| other.key != object.key && !spatial::carried_by(other, object))
        .map(|other| (spatial::gap(object, other), other))
        .min_by(|a, b| a.0.total_cmp(&b.0))
        .filter(|(gap, _)| *gap <= spatial::NEAR_GAP);
    match neighbour {
        Some((_, other)) => format!("on the table next to the {} ({offset})", noun(other)),
        None => format!("on the table ({offset})"),
    }
}

/// A relation before its targets: "next to the bowl".
pub(crate) fn relation_words(relation: Relation, targets: &[ObjectKey], map: &ObjectMap) -> String {
    let names: Vec<String> = targets.iter().map(|key| describe(key, map)).collect();
    match relation {
        Relation::Table => "on the table".to_owned(),
        Relation::Away if names.is_empty() => "aside".to_owned(),
        Relation::Away => format!("away from {}", listed(&names)),
        _ => format!("{} {}", relation.name().replace('_', " "), listed(&names)),
    }
}

/// A plan in words.
pub(crate) fn plan_words(plan: &Plan, map: &ObjectMap) -> String {
    let actions = match plan {
        Plan::Answer(text) => return text.clone(),
        Plan::Actions(actions) => actions,
    };
    let words: Vec<String> = actions.iter().map(|action| action_words(action, map)).collect();
    words.join(", then ")
}

/// An action in words, as an order.
pub(crate) fn action_words(action: &Action, map: &ObjectMap) -> String {
    match action {
        Action::Pick { object, .. } => format!("pick up {}", describe(object, map)),
        Action::Place { object, spot: Some(spot), .. } => {
            format!("put {} {}", describe(object, map), spot.words)
        }
        Action::Place { object, relation, targets, .. } => {
            format!("put {} {}", describe(object, map), relation_words(*relation, targets, map))
        }
        Action::Act { object, action, .. } => format!("{action} {}", describe_apart(object, map)),
        Action::Go { object } => format!("go to {}", describe(object, map)),
        Action::Home => "go home".to_owned(),
        Action::Look => "look again".to_owned(),
        Action::Stop => "stop".to_owned(),
        Action::Already(clause) => format!("leave it: {clause}"),
    }
}
