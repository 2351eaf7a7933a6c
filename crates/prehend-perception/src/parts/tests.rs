use super::*;
use crate::render::{Form, Thing, VGA, home, looking, render, thing};
use crate::{MapBuilder, MapSettings};
use prehend_scene::{Relation, Skill};

/// The object a thing becomes when seen from one or three sides.
fn seen(things: &[Thing], views: usize) -> Object {
    let mut builder = MapBuilder::new("map", MapSettings::default());
    let poses = [
        home(),
        looking([0.35, 0.35, 0.45], [0.42, 0.0, 0.0]),
        looking([0.35, -0.35, 0.45], [0.42, 0.0, 0.0]),
    ];
    for (number, pose) in poses.iter().take(views).enumerate() {
        let mut frame = render(things, &VGA, pose, 0.001, number as u64);
        for label in &mut frame.labels.labels {
            *label = (*label).min(1);
        }
        frame.view = number.to_string();
        builder.update(&frame, None, false, 0).unwrap();
    }
    let map = builder.map();
    assert_eq!(
        map.objects.len(),
        1,
        "{views}: {:?}",
        map.objects.iter().map(|o| (&o.key, o.view_count, o.cloud.len(), o.bounds)).collect::<Vec<_>>()
    );
    map.objects[0].clone()
}

fn mug() -> Vec<Thing> {
    let red = [196, 30, 36];
    let mut grip = thing("mug", Form::Block([0.03, 0.012, 0.05]), 0.42, -0.053, red);
    grip.at = [0.42, -0.053, 0.02, std::f64::consts::FRAC_PI_2];
    vec![thing("mug", Form::Cup(0.04, 0.09, 0.005), 0.42, 0.0, red), grip]
}

fn check(things: &[Thing], views: usize, expected: &[&str], missing: &[&str]) {
    let parts = find_parts(&seen(things, views), 0.0);
    let names: Vec<(&str, f64)> = parts.iter().map(|p| (p.name, p.score)).collect();
    for name in expected {
        assert!(names.iter().any(|(n, _)| n == name), "{name} of {things:?}: {names:?}");
    }
    for name in missing {
        assert!(!names.iter().any(|(n, _)| n == name), "{name} of {things:?}: {names:?}");
    }
    for part in &parts {
        assert!((0.0..=1.0).contains(&part.score) && !part.cloud.is_empty(), "{}", part.name);
        assert!((part.normal.norm() - 1.0).abs() < 1e-9, "{}", part.name);
    }
}

#[test]
fn parts_of_common_things() {
    for views in [1, 3] {
        let at = |form| vec![thing("thing", form, 0.42, 0.0, [34, 74, 188])];
        check(&mug(), views, &["rim", "opening", "handle", "body"], &["top"]);
        check(&at(Form::Cup(0.07, 0.055, 0.006)), views, &["rim", "opening", "body"], &["handle", "top"]);
        check(&at(Form::Cup(0.095, 0.02, 0.006)), views, &["top", "body"], &["handle"]);
        check(&at(Form::Block([0.06, 0.08, 0.05])), views, &["top", "body"], &["rim", "opening", "handle"]);
        check(&at(Form::Can(0.035, 0.1)), views, &["top", "body"], &["rim", "opening", "handle"]);
        check(&at(Form::Ball(0.035)), views, &["body"], &["rim", "opening", "handle"]);
    }
}

#[test]
fn parts_are_where_they_are() {
    let parts = find_parts(&seen(&mug(), 3), 0.0);
    let part = |name: &str| parts.iter().find(|p| p.name == name).unwrap();
    let near = |p: Point3<f64>, x: f64, y: f64, z: f64| (p - Point3::new(x, y, z)).norm() < 0.012;
    assert!(near(part("opening").centroid, 0.42, 0.0, 0.09), "{:?}", part("opening").centroid);
    assert!(near(part("rim").centroid, 0.42, 0.0, 0.09));
    assert!(near(part("handle").centroid, 0.42, -0.06, 0.045), "{:?}", part("handle").centroid);
    assert!(part("handle").normal.y < -0.95);
    assert!(part("rim").cloud.points.iter().all(|p| p.z > 0.075));
}

#[test]
fn actions_choose_part_and_skill() {
    let cup = seen(&mug(), 3);
    let bowl = seen(&[thing("bowl", Form::Cup(0.07, 0.055, 0.006), 0.42, 0.0, [9, 90, 200])], 1);
    let block = seen(&[thing("block", Form::Block([0.05, 0.05, 0.05]), 0.42, 0.0, [9, 90, 200])], 1);
    let table = ActionTable::built_in();
    let check = |object: &Object, intent: &Intent, part: &str, skill: Skill| {
        let found = affordances(object, 0.0, intent, 0.085, &table);
        assert_eq!((found[0].part.as_str(), found[0].skill), (part, skill), "{intent}");
    };
    let grasp = |part: Option<&str>| Intent::Grasp { part: part.map(str::to_owned) };
    let put = |relation, drop| Intent::Place { relation, drop, compartment: None };
    check(&bowl, &grasp(None), "rim", Skill::Grasp);
    check(&block, &grasp(None), "body", Skill::Grasp);
    check(&cup, &grasp(Some("handle")), "handle", Skill::Grasp);
    check(&cup, &grasp(Some("lip")), "rim", Skill::Grasp);
    check(&cup, &put(Relation::In, false), "opening", Skill::Place);
    check(&bowl, &put(Relation::In, true), "opening", Skill::Drop);
    check(&block, &put(Relation::On, false), "top", Skill::Place);
    // What shape shows of a thing serves no action on a part.
    let open = Intent::Act { verb: "open".to_owned(), part: None };
    assert!(affordances(&bowl, 0.0, &open, 0.085, &table).is_empty());
}

#[test]
fn a_straight_handle_at_the_rim_is_a_handle() {
    let gray = [90, 90, 96];
    for yaw in [0.0_f64, 1.2, -2.0] {
        let mut bar = thing("pan", Form::Block([0.10, 0.02, 0.014]), 0.42, 0.0, gray);
        bar.at = [0.42 + 0.137 * yaw.cos(), 0.137 * yaw.sin(), 0.020, yaw];
        let pan = vec![thing("pan", Form::Cup(0.09, 0.038, 0.005), 0.42, 0.0, gray), bar];
        for views in [1, 3] {
            check(&pan, views, &["rim", "opening", "handle", "body"], &[]);
            let parts = find_parts(&seen(&pan, views), 0.0);
            let handle = parts.iter().find(|part| part.name == "handle").unwrap();
            let away = (handle.centroid.x - 0.42).hypot(handle.centroid.y);
            assert!((0.11..0.17).contains(&away), "{yaw} {views}: {away}");
        }
    }
}

#[test]
fn a_key_is_meant_by_its_own_name() {
    let table = ActionTable::built_in();
    let plain = seen(&[thing("keyboard", Form::Block([0.12, 0.26, 0.02]), 0.42, 0.0, [60, 60, 60])], 1);
    let key = |y: f64, votes: &[(&str, f64)]| prehend_scene::ObservedPart {
        class_name: votes[0].0.to_owned(),
        score: 0.8,
        class_votes: votes.iter().map(|(name, weight)| ((*name).to_owned(), *weight)).collect(),
        cloud: PointCloud::from_points(
            (0..64)
                .map(|i| Point3::new(0.40 + 0.002 * f64::from(i % 8), y + 0.002 * f64::from(i / 8), 0.027))
                .collect(),
        ),
        views: Vec::new(),
    };
    let check = |parts: Vec<prehend_scene::ObservedPart>, named: &str, expected: Option<f64>| {
        let keyboard = Object { class_name: "keyboard".to_owned(), parts, ..plain.clone() };
        let action = Intent::Act { verb: "press".to_owned(), part: Some(named.to_owned()) };
        let found = part_affordances(&keyboard, 0.0, &action, &table);
        let place = found.first().map(|(affordance, _)| affordance.centroid.y);
        match (place, expected) {
            (Some(place), Some(expected)) => {
                assert!((place - expected - 0.007).abs() < 2e-3, "{named}: {place}")
            }
            (place, expected) => assert_eq!(place, expected, "{named}"),
        }
    };
    let (bar, m) = (key(-0.1, &[("space bar", 1.6)]), key(0.1, &[("m key", 2.4)]));
    check(vec![m.clone(), bar.clone()], "space bar", Some(-0.1));
    // Another key is no second best, and neither is one that is called so by one view of three.
    check(vec![m.clone()], "space bar", None);
    check(vec![key(0.1, &[("space bar", 0.8), ("m key", 0.7)]), m.clone()], "space bar", None);
    // Views that gave it the name of another part were wrong; those that gave it a name that no part has may have been right.
    let doubtful = key(-0.1, &[("space bar", 2.4), ("m key", 1.6)]);
    check(vec![doubtful.clone(), m.clone()], "space bar", Some(-0.1));
    check(vec![doubtful.clone(), key(0.1, &[("n key", 2.4)])], "space bar", None);
    check(
        vec![doubtful, m.clone(), key(0.05, &[("space bar", 2.5), ("m key", 0.9)])],
        "space bar",
        Some(0.05),
    );
    // Of several that nobody told apart none is the one with a name; the only one there is may be.
    let (one, other) = (key(-0.1, &[("key", 1.6)]), key(0.1, &[("key", 2.4)]));
    check(vec![one.clone(), other.clone()], "5 key", None);
    check(vec![one.clone()], "5 key", Some(-0.1));
    check(vec![one, other], "key", Some(-0.1));
    // Who says only "key" means any.
    check(vec![m], "key", Some(0.1));
}

#[test]
fn empty_and_broken_clouds_have_no_parts() {
    let mut object = seen(&mug(), 1);
    object.cloud = PointCloud::default();
    assert!(find_parts(&object, 0.0).is_empty());
    object.cloud = PointCloud::from_points(vec![Point3::new(f64::NAN, 0.0, 0.0); 50]);
    assert!(find_parts(&object, 0.0).is_empty());
    object.cloud = PointCloud::from_points(vec![Point3::origin(); 50]);
    assert_eq!(find_parts(&object, 0.0).len(), 1);
}
