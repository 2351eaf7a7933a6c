//! Tables, shelves and counters of a room, which others stand on; drawers and doors of a piece of furniture.

use prehend_scene::{Object, ObjectKey, ObjectMap, Relation, Scope, furniture, spatial};

/// Least side of a thing of the room that is furniture rather than on some, metres.
const LEAST_SIDE: f64 = 0.35;

/// Whether an object of the room is furniture that carries things.
pub(crate) fn is_furniture(object: &Object) -> bool {
    object.key.scope() == Scope::Room && spatial::width_of(object) > LEAST_SIDE
}

/// The furniture on which an object stands, or what holds it.
pub(super) fn support<'m>(object: &Object, map: &'m ObjectMap) -> Option<&'m Object> {
    map.objects
        .iter()
        .find(|other| other.key != object.key && is_furniture(other) && spatial::carried_by(object, other))
}

/// Whether a map of a room shows an object to be in or on another, furniture included: what is in a bowl on the table is not on the
/// table.
pub(crate) fn stands_in_or_on(object: &Object, relation: Relation, target: &Object, map: &ObjectMap) -> bool {
    match relation {
        Relation::In => spatial::inside(object, target),
        Relation::On => spatial::on(object, target) && !(is_furniture(target) && carried(object, map)),
        _ => false,
    }
}

/// Whether another object carries this one; furniture of the room does not count.
pub(super) fn carried(object: &Object, map: &ObjectMap) -> bool {
    map.objects
        .iter()
        .any(|other| other.key != object.key && !is_furniture(other) && spatial::carried_by(object, other))
}

/// Share of a thing's points inside furniture from which it is in there, and how far behind the furniture's sides those are, metres:
/// fronts, handles and knobs are at its sides.
const INSIDE: (f64, f64) = (0.5, 0.03);

/// Whether a thing is inside furniture that has drawers or doors.
pub(super) fn is_inside_furniture(object: &Object, map: &ObjectMap) -> bool {
    let points = &object.cloud.points;
    let lies_inside = |whole: &Object| {
        let inside = points.iter().filter(|point| whole.bounds.contains(point, -INSIDE.1)).count();
        inside > 0 && inside as f64 >= INSIDE.0 * points.len() as f64
    };
    map.objects
        .iter()
        .any(|whole| whole.key != object.key && lies_inside(whole) && !panels_of(&whole.key, map).is_empty())
}

/// Drawers and doors that belong to a thing, without pieces, in the order of the map.
pub(super) fn panels_of(key: &ObjectKey, map: &ObjectMap) -> Vec<ObjectKey> {
    let panels: Vec<&Object> = map
        .objects
        .iter()
        .filter(|part| part.key != *key && furniture::is_panel(&part.class_name))
        .filter(|part| furniture::whole_of(part, map).is_some_and(|whole| whole.key == *key))
        .collect();
    furniture::without_pieces(panels).into_iter().map(|panel| panel.key.clone()).collect()
}
