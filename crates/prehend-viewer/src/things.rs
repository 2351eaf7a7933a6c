//! Objects of the map as things, and what is known of them in words.

use crate::stage::{ShownPart, Thing};
use nalgebra::{Isometry3, Point3};
use prehend_scene::{Object, ObjectMap};

/// Share of the votes from which a rival name is told.
const RIVAL: f64 = 0.1;

/// The things of a map, in its order.
pub fn things(map: &ObjectMap) -> Vec<Thing> {
    map.objects.iter().map(thing).collect()
}

/// How far the middle of a thing may be outside the box of another one that is the same, metres.
const SAME: f64 = 0.1;
/// How many times longer one thing may be than another one that is the same: a view from one side shows less.
const LONGER: f64 = 2.5;

/// The things of a map in another frame than its own.
pub fn things_at(map: &ObjectMap, stage_from_map: &Isometry3<f64>) -> Vec<Thing> {
    let mut all = things(map);
    for thing in &mut all {
        thing.cloud.points.iter_mut().for_each(|point| *point = stage_from_map * *point);
        thing.bounds.pose = stage_from_map * thing.bounds.pose;
        for part in &mut thing.parts {
            part.at = stage_from_map * part.at;
            part.normal = part.normal.map(|normal| stage_from_map * normal);
        }
    }
    all
}

/// What is seen from where the robot stands, and of the room what that is not: a thing of the room at whose place something stands that is
/// seen now is left out.
pub fn around(near: Vec<Thing>, room: Vec<Thing>) -> Vec<Thing> {
    let middle = |thing: &Thing| Point3::from(thing.bounds.pose.translation.vector);
    let is_one = |one: &Thing, far: &Thing| {
        let (length, other) = (one.bounds.size.max(), far.bounds.size.max());
        one.bounds.contains(&middle(far), SAME)
            && far.bounds.contains(&middle(one), SAME)
            && length <= LONGER * other
            && other <= LONGER * length
    };
    let is_seen = |far: &Thing| near.iter().any(|one| is_one(one, far));
    let rest: Vec<Thing> = room.into_iter().filter(|far| !is_seen(far)).collect();
    near.into_iter().chain(rest).collect()
}

/// An object as it is shown.
pub fn thing(object: &Object) -> Thing {
    let name = if object.class_name.is_empty() { &object.key.0 } else { &object.class_name };
    Thing {
        key: object.key.clone(),
        name: name.clone(),
        sure: object.confidence,
        color: object.color,
        cloud: object.cloud.clone(),
        bounds: object.bounds,
        parts: parts(object),
        known: known(object),
    }
}

/// What can be acted on, then what was only seen.
fn parts(object: &Object) -> Vec<ShownPart> {
    let acted_on = object.affordances.iter().map(|affordance| ShownPart {
        name: affordance.part.clone(),
        skill: Some(affordance.skill.name()),
        sure: affordance.score,
        at: affordance.centroid,
        normal: Some(affordance.normal),
    });
    let seen = object.parts.iter().filter_map(|part| {
        let at = part.cloud.centroid()?;
        Some(ShownPart { name: part.class_name.clone(), skill: None, sure: part.score, at, normal: None })
    });
    acted_on.chain(seen).collect()
}

/// What is known of an object, a line each.
fn known(object: &Object) -> Vec<String> {
    let mut lines = vec![object.key.0.clone()];
    if object.class_name.is_empty() {
        lines.push("nobody named it".to_owned());
    } else {
        lines.push(format!("{}, {:.0} % sure", object.class_name, 100.0 * object.confidence));
    }
    let rivals: Vec<&str> = object.names(RIVAL).skip(1).collect();
    if !rivals.is_empty() {
        lines.push(format!("also called {}", rivals.join(", ")));
    }
    let (at, size) = (object.bounds.pose.translation.vector, object.bounds.size * 100.0);
    lines.push(format!("{:.1} x {:.1} x {:.1} cm", size.x, size.y, size.z));
    lines.push(format!("at {:.3}, {:.3}, {:.3} m", at.x, at.y, at.z));
    let colors: Vec<String> = object
        .color_fractions
        .iter()
        .take(3)
        .map(|(word, share)| format!("{word} {:.0} %", 100.0 * share))
        .collect();
    if !colors.is_empty() {
        lines.push(colors.join(", "));
    }
    let border = if object.touches_border { ", cut by every view" } else { "" };
    lines.push(format!("{} points from {} views{border}", object.cloud.len(), object.view_count));
    lines.push(format!("last seen at {:.1} s", object.last_seen));
    for part in parts(object) {
        let by = part.skill.map(|skill| format!(" by {skill}")).unwrap_or_default();
        lines.push(format!("{}{by}, {:.0} % sure", part.name, 100.0 * part.sure));
    }
    lines
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use nalgebra::{Isometry3, Point3, Vector3};
    use prehend_geometry::{OrientedBox, PointCloud};
    use prehend_scene::{Affordance, ObservedPart, Skill};

    fn object(key: &str, bounds: OrientedBox) -> Object {
        let cloud = PointCloud::from_points(vec![Point3::from(bounds.pose.translation.vector)]);
        Object::unnamed(key.into(), cloud, bounds)
    }

    /// A thing with a point in the middle of its box.
    pub(crate) fn named(key: &str, bounds: OrientedBox) -> Thing {
        thing(&object(key, bounds))
    }

    fn drawer() -> Object {
        let bounds =
            OrientedBox { pose: Isometry3::translation(0.5, 0.1, 0.2), size: Vector3::new(0.3, 0.2, 0.1) };
        Object {
            class_name: "drawer".to_owned(),
            confidence: 0.8,
            class_votes: vec![("drawer".to_owned(), 8.0), ("box".to_owned(), 1.5), ("book".to_owned(), 0.5)],
            color: [10, 20, 30],
            view_count: 4,
            affordances: vec![Affordance {
                part: "handle".to_owned(),
                skill: Skill::PinchPull,
                cloud: PointCloud::default(),
                centroid: Point3::new(0.35, 0.1, 0.2),
                normal: -Vector3::x(),
                score: 0.9,
            }],
            parts: vec![
                ObservedPart {
                    class_name: "knob".to_owned(),
                    score: 0.5,
                    class_votes: Vec::new(),
                    cloud: PointCloud::from_points(vec![Point3::new(0.35, 0.1, 0.22)]),
                    views: Vec::new(),
                },
                ObservedPart {
                    class_name: "lock".to_owned(),
                    score: 0.5,
                    class_votes: Vec::new(),
                    cloud: PointCloud::default(),
                    views: Vec::new(),
                },
            ],
            ..object("drawer_0", bounds)
        }
    }

    #[test]
    fn what_is_known_is_told_with_how_sure_it_is() {
        let thing = thing(&drawer());
        let known = thing.known.join("\n");
        for part in [
            "drawer_0",
            "drawer, 80 % sure",
            "also called box",
            "30.0 x 20.0 x 10.0 cm",
            "1 points from 4 views",
            "handle by pinch_pull, 90 % sure",
            "knob, 50 % sure",
        ] {
            assert!(known.contains(part), "{part} is not in\n{known}");
        }
        assert!(!known.contains("book"), "a name with a twentieth of the votes:\n{known}");
    }

    #[test]
    fn a_part_that_has_no_place_is_not_shown() {
        let parts = thing(&drawer()).parts;
        let names: Vec<&str> = parts.iter().map(|part| part.name.as_str()).collect();
        assert_eq!(names, ["handle", "knob"]);
        assert_eq!(parts[1].at, Point3::new(0.35, 0.1, 0.22));
    }

    #[test]
    fn a_map_of_another_frame_is_turned_with_its_parts() {
        let map = ObjectMap { objects: vec![drawer()], ..ObjectMap::default() };
        let quarter = Isometry3::new(Vector3::new(1.0, 0.0, 0.0), Vector3::z() * std::f64::consts::FRAC_PI_2);
        let thing = things_at(&map, &quarter).remove(0);
        let at = |x, y, z| Point3::new(x, y, z);
        assert!((Point3::from(thing.bounds.pose.translation.vector) - at(0.9, 0.5, 0.2)).norm() < 1e-9);
        assert!((thing.cloud.points[0] - at(0.9, 0.5, 0.2)).norm() < 1e-9);
        assert!((thing.parts[0].at - at(0.9, 0.35, 0.2)).norm() < 1e-9);
        assert!((thing.parts[0].normal.expect("a way out") + Vector3::y()).norm() < 1e-9);
    }

    #[test]
    fn what_is_seen_now_stands_for_what_the_room_had_there() {
        let boxed = |x: f64, size: f64| OrientedBox {
            pose: Isometry3::translation(x, 0.0, 0.4),
            size: Vector3::repeat(size),
        };
        let near = vec![named("mug_0", boxed(0.5, 0.1))];
        let room = vec![
            named("room_mug_1", boxed(0.53, 0.1)),
            named("room_table_0", boxed(0.5, 0.9)),
            named("room_mug_2", boxed(3.0, 0.1)),
        ];
        let all = around(near, room);
        let keys: Vec<&str> = all.iter().map(|thing| thing.key.0.as_str()).collect();
        assert_eq!(keys, ["mug_0", "room_table_0", "room_mug_2"]);
    }

    #[test]
    fn without_a_name_there_is_the_key() {
        let bounds = OrientedBox { pose: Isometry3::identity(), size: Vector3::repeat(0.1) };
        let thing = named("object_3", bounds);
        assert_eq!(thing.name, "object_3");
        assert!(thing.known.contains(&"nobody named it".to_owned()), "{:?}", thing.known);
    }
}
