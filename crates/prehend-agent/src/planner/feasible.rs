//! What can be done at all: before the scene is known, and with the objects that are meant.

use super::Knowledge;
use super::describe::{capital, class_of, describe};
use super::furniture::is_furniture;
use crate::language::{Goal, Lexicon, PlaceRelation, Step};
use crate::world::Fault;
use prehend_scene::{Object, ObjectMap, Reason, Relation, Scope, furniture, spatial};

/// Least height of a thing that must be gripped around its sides, metres; flatter or hollow ones are gripped at the rim.
const SOLID_HEIGHT: f64 = 0.03;
/// A bowl on another that is hardly wider is stacked on it rather than put into it: share of the width.
const NESTS: f64 = 0.85;
/// Thickness of a container's two walls, metres.
const WALLS: f64 = 0.006;

/// The refusal of a goal that cannot be done in any scene.
pub fn refuse_at_once(goal: &Goal) -> Option<Fault> {
    let steps: Vec<&Step> = match goal {
        Goal::Steps(steps) => steps.iter().collect(),
        Goal::Conditional { then, otherwise, .. } => then.iter().chain(otherwise).collect(),
        Goal::Question(_) | Goal::Lesson { .. } => return None,
    };
    steps.into_iter().find_map(|step| match step {
        Step::Unsupported { verb, objects, alternative, .. } => {
            let what: Vec<&str> = objects.iter().map(|np| np.text.as_str()).collect();
            let what = what.join(" and ");
            let message = format!("I cannot {} yet. {alternative}.", format!("{verb} {what}").trim());
            Some(Fault::new(Reason::Infeasible, message))
        }
        Step::Place { destination, .. } => match destination.relation {
            PlaceRelation::Known(_)
            | PlaceRelation::To
            | PlaceRelation::TableRegion(_)
            | PlaceRelation::Corner(..)
            | PlaceRelation::Shift(..)
            | PlaceRelation::PlaceOf
            | PlaceRelation::Stacked => None,
            PlaceRelation::Under => Some(Fault::new(
                Reason::Infeasible,
                "I cannot put things under others. I can put them in, on or next to something.",
            )),
            PlaceRelation::Above => Some(Fault::new(
                Reason::Infeasible,
                "I cannot leave things above others. I can put them in or on something.",
            )),
            PlaceRelation::Floor => Some(Fault::new(
                Reason::Infeasible,
                "I reach only the table, not the floor. I can put it on the table or in something.",
            )),
        },
        Step::Pick { .. }
        | Step::Act { .. }
        | Step::Swap { .. }
        | Step::Go { .. }
        | Step::Home
        | Step::Look
        | Step::Stop => None,
    })
}

/// Whether one of the lexicon's lists holds the class or its last word.
fn class_in(lexicon: &Lexicon, list: &'static str, object: &Object) -> bool {
    let class = class_of(object);
    let head = class.split(' ').next_back().unwrap_or(class);
    let words: Vec<String> = class.split(' ').map(str::to_owned).collect();
    lexicon.list(list).iter().any(|(phrase, ())| phrase == words.as_slice())
        || lexicon.list(list).has_word(head)
}

/// "to the bowl": in what contains, on what carries, else next to it.
pub(super) fn relation_to(target: &Object, lexicon: &Lexicon) -> Relation {
    if class_in(lexicon, "containers", target) {
        Relation::In
    } else if class_in(lexicon, "surfaces", target) || is_furniture(target) {
        Relation::On
    } else {
        Relation::NextTo
    }
}

/// What a relation comes to with this target: "in the plate" is on it, "on the bowl" is in it when the object fits with room to spare.
pub(super) fn sensible(
    relation: Relation,
    object: Option<&Object>,
    target: &Object,
    lexicon: &Lexicon,
) -> Relation {
    let hollow = class_in(lexicon, "containers", target);
    let flat = class_in(lexicon, "surfaces", target);
    let fits = object.is_none_or(|object| {
        let (needs, has) = (spatial::width_of(object), spatial::width_of(target));
        needs < has - WALLS && needs < NESTS * has
    });
    match relation {
        Relation::In if flat && !hollow && !class_in(lexicon, "not_containers", target) => Relation::On,
        Relation::On if hollow && !flat && fits => Relation::In,
        other => other,
    }
}

/// How much smaller a thing of the room may be than it looks from afar, metres: skills measure it from near by.
fn coarse(object: &Object) -> f64 {
    match object.key.scope() {
        Scope::Room => 0.04,
        Scope::Local => 0.0,
    }
}

/// Why an object cannot be grasped, if it is plain from its size.
pub(super) fn ungraspable(object: &Object, map: &ObjectMap, knowledge: Knowledge<'_>) -> Option<Fault> {
    let width = spatial::width_of(object);
    let hollow = class_in(knowledge.lexicon, "containers", object) || spatial::is_dished(object);
    let opening = knowledge.settings.gripper_opening;
    if hollow || width <= opening + 0.008 + coarse(object) || spatial::height_of(object) < SOLID_HEIGHT {
        return None;
    }
    let message = format!(
        "{} is {:.0} mm wide; my gripper opens {:.0} mm.",
        capital(&describe(&object.key, map)),
        width * 1e3,
        opening * 1e3
    );
    Some(Fault::new(Reason::Infeasible, message))
}

/// Why an object cannot be put there, if it is plain from kinds and sizes.
pub(super) fn unplaceable(
    object: &Object,
    relation: Relation,
    targets: &[&Object],
    map: &ObjectMap,
    knowledge: Knowledge<'_>,
) -> Option<Fault> {
    let lexicon = knowledge.lexicon;
    let infeasible = |message: String| Some(Fault::new(Reason::Infeasible, message));
    let name = |object: &Object| describe(&object.key, map);
    if targets.iter().any(|target| target.key == object.key) {
        return infeasible(format!("I cannot put {} relative to itself.", name(object)));
    }
    let needed = match relation {
        Relation::Table => Some(0),
        Relation::Between => Some(2),
        Relation::Away => None,
        _ => Some(1),
    };
    if needed.is_some_and(|needed| needed != targets.len()) {
        return infeasible(format!(
            "To put something {} I need {} thing(s) to go by, not {}.",
            relation.name().replace('_', " "),
            needed.unwrap_or(0),
            targets.len()
        ));
    }
    let target = targets.first()?;
    match relation {
        Relation::In => {
            let hollow = class_in(lexicon, "containers", target);
            if !hollow && class_in(lexicon, "not_containers", target) {
                return infeasible(format!(
                    "Nothing fits in {}. I can put {} on or next to it.",
                    name(target),
                    name(object)
                ));
            }
            // Of a closed drawer only the front is seen: what fits is found out when it is open.
            if furniture::is_panel(class_of(target)) {
                return None;
            }
            let (needs, has) = (spatial::width_of(object), spatial::width_of(target) - WALLS);
            let deep = spatial::length_of(object) > spatial::length_of(target) * 1.6
                && spatial::height_of(object) < 0.05;
            if needs > has + coarse(object) || deep {
                return infeasible(format!(
                    "{} ({:.0} mm) is too big for {} ({:.0} mm). I can put it next to it.",
                    capital(&name(object)),
                    needs.max(if deep { spatial::length_of(object) } else { 0.0 }) * 1e3,
                    name(target),
                    has * 1e3
                ));
            }
            None
        }
        Relation::On => {
            if class_in(lexicon, "not_surfaces", target) {
                return infeasible(format!(
                    "{} would not stay on {}. I can put it next to it.",
                    capital(&name(object)),
                    name(target)
                ));
            }
            let (needs, has) = (spatial::width_of(object), spatial::width_of(target));
            if has < 0.3 * needs {
                return infeasible(format!(
                    "{} is too small to carry {}. I can put it next to it.",
                    capital(&name(target)),
                    name(object)
                ));
            }
            None
        }
        _ => None,
    }
}
