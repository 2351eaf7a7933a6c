//! What a robot keeps of a chest of drawers: its joints after one motion, found again after a restart, elsewhere, and under other names.

use nalgebra::{Isometry3, Point3, Translation3, UnitQuaternion, Vector3};
use prehend_articulation::{
    Catalogue, HandWay, JointKind, Known, KnownError, Mechanism, Outcome, Thresholds,
};
use prehend_geometry::{OrientedBox, PointCloud};
use prehend_scene::{Object, ObjectKey, ObjectMap};

const SIZE: [f64; 3] = [0.3, 0.4, 0.36];
const ROWS: usize = 3;

/// Points of a board that lies across one axis.
fn board(middle: [f64; 3], size: [f64; 3]) -> Vec<Point3<f64>> {
    let steps = size.map(|side| ((side / 0.006) as usize).max(1));
    let at = |axis: usize, step: usize| {
        middle[axis] - size[axis] / 2.0 + size[axis] * step as f64 / steps[axis].max(1) as f64
    };
    let mut points = Vec::new();
    for x in 0..=steps[0] {
        for y in 0..=steps[1] {
            for z in 0..=steps[2] {
                points.push(Point3::new(at(0, x), at(1, y), at(2, z)));
            }
        }
    }
    points
}

fn object(key: &str, class: &str, points: &[Point3<f64>], at: &Isometry3<f64>) -> Object {
    let points: Vec<Point3<f64>> = points.iter().map(|point| at * point).collect();
    let bounds = OrientedBox::upright_around(&points).expect("points");
    let mut object = Object::unnamed(ObjectKey(key.to_owned()), PointCloud::from_points(points), bounds);
    object.class_name = class.to_owned();
    object
}

/// A chest that looks to -x, `open` says how far each drawer stands out.
fn map(version: u64, at: &Isometry3<f64>, open: [f64; ROWS], names: [&str; ROWS], wide: f64) -> ObjectMap {
    let [depth, _, height] = SIZE;
    let mut body = board([0.0, 0.0, height], [depth, wide, 0.0]);
    body.extend(board([0.0, wide / 2.0, height / 2.0], [depth, 0.0, height]));
    body.extend(board([0.0, -wide / 2.0, height / 2.0], [depth, 0.0, height]));
    let mut objects = vec![object("chest_0", "chest of drawers", &body, at)];
    let row = height / ROWS as f64;
    for (number, (open, name)) in open.into_iter().zip(names).enumerate() {
        let z = (number as f64 + 0.5) * row;
        let x = -depth / 2.0 - open;
        let mut drawer = board([x, 0.0, z], [0.0, wide - 0.02, row - 0.02]);
        drawer.extend(board([x - 0.03, 0.0, z], [0.01, 0.1, 0.01]));
        objects.push(object(name, "drawer", &drawer, at));
    }
    ObjectMap { frame: "link_base".to_owned(), version, objects, ..ObjectMap::default() }
}

const NAMES: [&str; ROWS] = ["drawer_0", "drawer_1", "drawer_2"];

fn there() -> Isometry3<f64> {
    Isometry3::from_parts(
        Translation3::new(0.75, 0.1, 0.0),
        UnitQuaternion::from_axis_angle(&Vector3::z_axis(), 0.1),
    )
}

/// One that knows the middle drawer, which was pulled out by 0.15 m.
fn pulled() -> Catalogue {
    let mut catalogue = Catalogue::default();
    let before = map(1, &there(), [0.0; 3], NAMES, SIZE[1]);
    let poses = (0..=8).map(|step| {
        there() * Isometry3::translation(-SIZE[0] / 2.0 - 0.03 - 0.15 * f64::from(step) / 8.0, 0.0, 0.18)
    });
    let way = HandWay { object: ObjectKey::from("drawer_1"), poses: poses.collect(), stopped: false };
    assert_eq!(catalogue.moved(&way, &before), Ok(Some(0)));
    assert_eq!(catalogue.seen(&before), Vec::<usize>::new(), "the map before the motion shows nothing new");
    let after = map(2, &there(), [0.0, 0.15, 0.0], NAMES, SIZE[1]);
    assert_eq!(catalogue.seen(&after), [0]);
    let described = catalogue.things()[0].describe(Thresholds::default()).expect("described");
    catalogue.take(0, described);
    catalogue
}

/// The joints of the things that are found in a map.
fn found(catalogue: &Catalogue, map: &ObjectMap) -> Vec<Mechanism> {
    let placed = catalogue.placed(map);
    placed.iter().flat_map(|(index, placed)| catalogue.things()[*index].mechanisms(placed)).collect()
}

fn named<'a>(found: &'a [Mechanism], key: &str) -> &'a Mechanism {
    found.iter().find(|mechanism| mechanism.key.0 == key).unwrap_or_else(|| panic!("{key} in {found:?}"))
}

#[test]
fn one_motion_tells_how_a_drawer_moves_and_where_it_is() {
    let catalogue = pulled();
    let after = map(2, &there(), [0.0, 0.15, 0.0], NAMES, SIZE[1]);
    let found = found(&catalogue, &after);
    assert_eq!(found.len(), ROWS);
    let drawer = named(&found, "drawer_1");
    assert_eq!((drawer.kind, &drawer.outcome), (JointKind::Prismatic, &Outcome::Known));
    let out = there().rotation * -Vector3::x();
    assert!(drawer.axis.dot(&out) > 0.999, "{:?}", drawer.axis);
    assert!((drawer.position - 0.15).abs() < 0.01, "{}", drawer.position);
    let other = named(&found, "drawer_0");
    assert_eq!(other.outcome, Outcome::Assumed);
    assert!(other.position.abs() < 0.01, "{}", other.position);
}

#[test]
fn a_scrap_of_a_drawer_is_no_part() {
    let mut seen = map(3, &there(), [0.0, 0.15, 0.0], NAMES, SIZE[1]);
    let scrap = board([-SIZE[0] / 2.0 - 0.15, 0.1, 0.2], [0.0, 0.06, 0.03]);
    seen.objects.push(object("drawer_3", "drawer", &scrap, &there()));
    let mut catalogue = pulled();
    assert_eq!(catalogue.wanted("chest_0", &seen), Ok(0));
    let observation = &catalogue.things()[0].observation;
    assert_eq!((observation.parts.len(), observation.looks.len()), (ROWS, 2), "and nothing new was seen");
    assert_eq!(found(&catalogue, &seen).len(), ROWS);
}

#[test]
fn it_is_found_after_a_restart_under_other_names() {
    let catalogue = pulled();
    let kept = serde_json::to_string(&catalogue.things()[0]).expect("written");
    let thing: Known = serde_json::from_str(&kept).expect("read");
    let mut catalogue = Catalogue::new(vec![thing]);
    let names = ["drawer_1", "drawer_0", "box_3"];
    let now = map(1, &there(), [0.0, 0.08, 0.0], names, SIZE[1]);
    let found = found(&catalogue, &now);
    let drawer = named(&found, "drawer_0");
    assert_eq!(drawer.outcome, Outcome::Known);
    assert!((drawer.position - 0.08).abs() < 0.01, "{}", drawer.position);
    assert_eq!(named(&found, "drawer_1").outcome, Outcome::Assumed);
    // What is seen now is added to what was seen then, under the names of then.
    assert_eq!(catalogue.wanted("chest of drawers", &now), Ok(0));
    let observation = &catalogue.things()[0].observation;
    assert_eq!((observation.looks.len(), observation.parts.len()), (3, ROWS));
}

#[test]
fn it_is_found_where_it_was_moved_to_and_another_one_is_not_taken_for_it() {
    let catalogue = pulled();
    let elsewhere = Isometry3::from_parts(
        Translation3::new(0.6, -0.3, 0.0),
        UnitQuaternion::from_axis_angle(&Vector3::z_axis(), -0.7),
    );
    let found_there = found(&catalogue, &map(5, &elsewhere, [0.0, 0.0, 0.0], NAMES, SIZE[1]));
    let drawer = named(&found_there, "drawer_1");
    let out = elsewhere.rotation * -Vector3::x();
    assert!(drawer.axis.dot(&out) > 0.998, "{:?} {out}", drawer.axis);
    assert_eq!(drawer.outcome, Outcome::Known);
    let wider = map(6, &elsewhere, [0.0; 3], NAMES, 0.6);
    assert_eq!(found(&catalogue, &wider), []);
    let empty = ObjectMap { frame: "link_base".to_owned(), ..ObjectMap::default() };
    assert_eq!(found(&catalogue, &empty), []);
}

#[test]
fn a_days_work_keeps_few_looks_and_still_knows() {
    let mut catalogue = pulled();
    let mut version = 2;
    let mut at = 0.15;
    for number in 0..12 {
        let to = if number % 2 == 0 { 0.02 } else { 0.16 };
        let before = map(version, &there(), [0.0, at, 0.0], NAMES, SIZE[1]);
        let pose = |out: f64| there() * Isometry3::translation(-SIZE[0] / 2.0 - 0.03 - out, 0.0, 0.18);
        let poses = (0..=8).map(|step| pose(at + (to - at) * f64::from(step) / 8.0)).collect();
        let way = HandWay { object: ObjectKey::from("drawer_1"), poses, stopped: number == 3 };
        assert_eq!(catalogue.moved(&way, &before), Ok(Some(0)));
        version += 1;
        at = to;
        assert_eq!(catalogue.seen(&map(version, &there(), [0.0, at, 0.0], NAMES, SIZE[1])), [0]);
    }
    let observation = &catalogue.things()[0].observation;
    assert!(observation.looks.len() <= 6, "{}", observation.looks.len());
    assert!(observation.tracks.iter().all(|track| track.after + 1 < observation.looks.len()));
    assert!(observation.tracks.iter().any(|track| track.stopped), "the stop is not forgotten");
    let described = catalogue.things()[0].describe(Thresholds::default()).expect("described");
    catalogue.take(0, described);
    let now = map(version, &there(), [0.0, at, 0.0], NAMES, SIZE[1]);
    let found = found(&catalogue, &now);
    assert!((named(&found, "drawer_1").position - at).abs() < 0.01);
}

#[test]
fn what_is_no_drawer_and_what_is_not_there_changes_nothing() {
    let mut catalogue = Catalogue::default();
    let mut before = map(1, &there(), [0.0; 3], NAMES, SIZE[1]);
    let apple = board([0.3, 0.0, 0.03], [0.05, 0.05, 0.05]);
    before.objects.push(object("apple_0", "apple", &apple, &Isometry3::identity()));
    for key in ["apple_0", "nothing_7"] {
        let way = HandWay {
            object: ObjectKey::from(key),
            poses: vec![Isometry3::identity(), Isometry3::translation(0.1, 0.0, 0.0)],
            stopped: false,
        };
        assert_eq!(catalogue.moved(&way, &before), Ok(None), "{key}");
    }
    assert!(catalogue.wanted("fridge", &before).is_err());
    assert!(catalogue.things().is_empty());
}

/// What a file may hold that was damaged or written by somebody else: it is refused, and nothing panics.
#[test]
fn what_does_not_belong_together_is_no_thing() {
    let catalogue = pulled();
    let good = serde_json::to_value(&catalogue.things()[0]).expect("written");
    let read = |change: &dyn Fn(&mut serde_json::Value)| -> Result<(), KnownError> {
        let mut value = good.clone();
        change(&mut value);
        serde_json::from_value::<Known>(value).expect("of the right shape").check()
    };
    assert_eq!(read(&|_| ()), Ok(()));
    assert_eq!(read(&|value| value["described"]["best"] = 99.into()), Err(KnownError::NoBest));
    assert_eq!(read(&|value| value["described"]["parts"] = serde_json::json!([])), Err(KnownError::Other));
    let best = good["described"]["best"].as_u64().expect("a number") as usize;
    let of_best = |change: &'static str, to: serde_json::Value| {
        move |value: &mut serde_json::Value| value["described"]["iterations"][best][change] = to.clone()
    };
    assert_eq!(read(&of_best("links", serde_json::json!([0, 1, 70]))), Err(KnownError::Other));
    assert_eq!(read(&of_best("links", serde_json::json!([]))), Err(KnownError::Other));
    let no_joint = |value: &mut serde_json::Value| {
        value["described"]["iterations"][best]["model"]["joints"] = serde_json::json!([]);
    };
    assert!(matches!(read(&no_joint), Err(KnownError::Model(_))));
    let no_look = |value: &mut serde_json::Value| value["observation"]["looks"] = serde_json::json!([]);
    assert!(matches!(read(&no_look), Err(KnownError::Observation(_))));
}

/// A drawer that a hand pulled in vain looks as before: that is what tells that it is locked.
#[test]
fn what_was_pulled_in_vain_is_news() {
    let mut catalogue = Catalogue::default();
    let before = map(1, &there(), [0.0; 3], NAMES, SIZE[1]);
    let pose = |out: f64| there() * Isometry3::translation(-SIZE[0] / 2.0 - 0.03 - out, 0.0, 0.18);
    let poses = (0..=4).map(|step| pose(0.001 * f64::from(step))).collect();
    let way = HandWay { object: ObjectKey::from("drawer_1"), poses, stopped: true };
    assert_eq!(catalogue.moved(&way, &before), Ok(Some(0)));
    let after = map(2, &there(), [0.0; 3], NAMES, SIZE[1]);
    assert_eq!(catalogue.seen(&after), [0]);
    let described = catalogue.things()[0].describe(Thresholds::default()).expect("described");
    assert_eq!(described.parts, [Outcome::Assumed, Outcome::Locked, Outcome::Assumed]);
}
