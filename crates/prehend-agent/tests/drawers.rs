//! Drawers, buttons and parts: what the agent does with them in a scripted world.
//!
//! Contract: which skills are executed, in which order and on which drawer, follows from the sentence and the map; a closed drawer is
//! opened before something is put into it; what is so already is not done again; what cannot be done is a typed refusal.

mod scripted;

use nalgebra::{Isometry3, Point3, Vector3};
use prehend_agent::language::Lexicon;
use prehend_agent::policy::Policy;
use prehend_agent::{Agent, Outcome, Report, Settings};
use prehend_geometry::{OrientedBox, PointCloud};
use prehend_scene::{Object, ObservedPart, Reason};
use scripted::{Scripted, thing};

fn agent() -> Agent {
    Agent {
        lexicon: Lexicon::built_in(),
        policy: Policy::built_in().expect("the built-in policy is valid"),
        settings: Settings::default(),
    }
}

/// An object whose points are the sides of its box.
fn block(key: &str, class: &str, color: &str, low: [f64; 3], high: [f64; 3]) -> Object {
    let (low, high) = (Vector3::from(low), Vector3::from(high));
    let (middle, size) = ((low + high) / 2.0, high - low);
    let mut points = Vec::new();
    for i in 0..11 {
        for j in 0..11 {
            let (a, b) = (i as f64 / 10.0, j as f64 / 10.0);
            for axis in 0..3 {
                for end in [0.0, 1.0] {
                    let mut share = Vector3::new(a, a, b);
                    share[(axis + 1) % 3] = b;
                    share[(axis + 2) % 3] = a;
                    share[axis] = end;
                    points.push(Point3::from(low + size.component_mul(&share)));
                }
            }
        }
    }
    Object {
        cloud: PointCloud::from_points(points),
        bounds: OrientedBox { pose: Isometry3::translation(middle.x, middle.y, middle.z), size },
        ..thing(key, class, color, middle.x, middle.y, size.into())
    }
}

/// A cabinet with three drawers, the lowest pulled out by 12 cm, an apple and a button on the table.
fn scene() -> Vec<Object> {
    let drawer = |key: &str, low: f64, out: f64| {
        block(key, "drawer", "white", [0.588 - out, -0.14, low], [0.6 - out, 0.14, low + 0.08])
    };
    let mut button = thing("button_0", "button", "red", 0.4, -0.25, [0.08, 0.08, 0.05]);
    button.parts.push(ObservedPart {
        class_name: "push button".to_owned(),
        score: 0.9,
        class_votes: vec![("push button".to_owned(), 0.9)],
        cloud: PointCloud::from_points(vec![Point3::new(0.4, -0.25, 0.05)]),
        views: Vec::new(),
    });
    vec![
        block("cabinet_0", "cabinet", "brown", [0.6, -0.15, 0.0], [0.8, 0.15, 0.3]),
        drawer("drawer_0", 0.04, 0.12),
        drawer("drawer_1", 0.125, 0.0),
        drawer("drawer_2", 0.21, 0.0),
        thing("apple_0", "apple", "red", 0.35, 0.2, [0.05, 0.05, 0.05]),
        button,
    ]
}

/// A microwave with its door, open or closed, and a mug.
fn microwave(open: bool) -> Vec<Object> {
    let door = if open {
        block("door_0", "door", "black", [0.36, 0.128, 0.01], [0.588, 0.14, 0.19])
    } else {
        block("door_0", "door", "black", [0.588, -0.10, 0.01], [0.6, 0.14, 0.19])
    };
    vec![
        block("microwave_0", "microwave", "grey", [0.6, -0.15, 0.0], [0.8, 0.15, 0.2]),
        door,
        thing("mug_0", "mug", "red", 0.35, -0.2, [0.08, 0.08, 0.09]),
    ]
}

fn run(text: &str) -> (Report, Vec<String>) {
    run_in(scene(), text)
}

fn run_in(scene: Vec<Object>, text: &str) -> (Report, Vec<String>) {
    let mut world = Scripted::new(scene);
    (run_world(&mut world, text), world.skills)
}

fn run_world(world: &mut Scripted, text: &str) -> Report {
    let agent = agent();
    match agent.understand(text) {
        Ok(readings) => agent.run(&readings, world, None),
        Err(fault) => Report {
            outcome: Outcome::Refused,
            reason: Some(fault.reason),
            message: fault.message,
            tool_calls: 0,
            state: Default::default(),
            talk: None,
        },
    }
}

fn does(text: &str, skills: &[&str]) {
    let (report, done) = run(text);
    assert_eq!(report.outcome, Outcome::Done, "{text}: {}", report.message);
    assert_eq!(done, skills, "{text}");
}

fn refuses(text: &str, reason: Reason, says: &str) {
    let (report, done) = run(text);
    let found = (report.outcome, report.reason);
    assert_eq!(found, (Outcome::Refused, Some(reason)), "{text}: {}", report.message);
    assert!(report.message.contains(says), "{text}: {}", report.message);
    assert!(done.is_empty(), "{text}: {done:?}");
}

/// One of several drawers was seen: that it is closed does not tell that the one that is meant is.
#[test]
fn of_a_row_that_was_not_seen_none_is_closed_already() {
    let mut hidden = scene();
    hidden.retain(|object| !["drawer_0", "drawer_2"].contains(&object.key.0.as_str()));
    let (report, skills) = run_in(hidden, "close the middle drawer");
    assert!(!skills.is_empty() || report.outcome != Outcome::Done, "{}", report.message);
    let (report, skills) = run("close the middle drawer");
    assert!(skills.is_empty() && report.message.contains("closed already"), "{}: {skills:?}", report.message);
}

/// A drawer whose key is lost is not found again in another row, however like it.
#[test]
fn a_drawer_that_is_lost_is_not_one_of_another_row() {
    for (key, is_same_row) in [("drawer_0", false), ("drawer_1", true)] {
        let mut world = Scripted::new(scene());
        world.script = [Some((Reason::OutcomeNotObserved, true))].into();
        // Then only one drawer is seen, under a new key.
        let mut later = scene();
        later.retain(|object| object.key.0 == key || !object.class_name.contains("drawer"));
        later
            .iter_mut()
            .filter(|object| object.key.0 == key)
            .for_each(|object| object.key = "drawer_9".into());
        world.seen_later = Some((2, later));
        let report = run_world(&mut world, "open the middle drawer");
        assert_eq!(report.outcome == Outcome::Done, is_same_row, "{key}: {}", report.message);
        assert_eq!(
            world.skills.iter().any(|skill| skill.contains("drawer_9")),
            is_same_row,
            "{:?}",
            world.skills
        );
    }
}

/// A drawer that gets a new key may have slid, and other colours are seen of it then, with its inside: its kind and its row tell that it
/// is the same.
#[test]
fn a_drawer_that_is_lost_is_found_where_it_has_slid_to() {
    // Whether all drawers are new to the plan then, so that the kind alone does not tell which it is.
    for all_are_new in [false, true] {
        let mut world = Scripted::new(scene());
        world.script = [Some((Reason::OutcomeNotObserved, true))].into();
        let mut later = scene();
        for object in later.iter_mut().filter(|object| object.class_name == "drawer") {
            if all_are_new || object.key.0 == "drawer_1" {
                object.key.0 = object.key.0.replace('_', "_9");
            }
            if object.key.0 == "drawer_91" {
                object.color_fractions = vec![("brown".to_owned(), 1.0)];
                object.bounds.pose.translation.x -= 0.2;
                object.cloud.points.iter_mut().for_each(|point| point.x -= 0.2);
            }
        }
        world.seen_later = Some((2, later));
        let report = run_world(&mut world, "open the middle drawer");
        assert!(!report.message.contains("lost sight"), "{}", report.message);
        assert!(world.skills.iter().any(|skill| skill.contains("drawer_91")), "{:?}", world.skills);
    }
}

/// What was felt of a part is told, and not that a later try did not come as far.
#[test]
fn a_part_that_held_is_told_whatever_later_tries_meet() {
    let mut world = Scripted::new(scene());
    let refused = Some((Reason::VerifierRefused, false));
    world.script = [Some((Reason::Infeasible, true)), None, refused, None, refused, None, refused].into();
    let report = run_world(&mut world, "open the top drawer");
    assert_eq!(
        (report.outcome, report.reason),
        (Outcome::Failed, Some(Reason::Infeasible)),
        "{}",
        report.message
    );
    assert!(world.skills.len() > 1, "{:?}", world.skills);
}

#[test]
fn the_top_of_the_drawer_is_that_of_its_cabinet() {
    does("put the apple on the top of the drawer", &["grasp apple_0", "place apple_0 on cabinet_0"]);
    does("put the apple on top of the cabinet", &["grasp apple_0", "place apple_0 on cabinet_0"]);
    let text = "close the bottom drawer and put the apple on top of it";
    does(text, &["tip_push drawer_0 front", "grasp apple_0", "place apple_0 on cabinet_0"]);
}

#[test]
fn the_drawer_that_is_meant_is_opened() {
    does("open the top drawer", &["hook_pull drawer_2 handle"]);
    does("open the middle drawer of the cabinet", &["hook_pull drawer_1 handle"]);
    does("pull out the second drawer", &["hook_pull drawer_1 handle"]);
    does("pull the second drawer from the bottom open", &["hook_pull drawer_1 handle"]);
    does("close the bottom drawer", &["tip_push drawer_0 front"]);
    does("close the drawer", &["tip_push drawer_0 front"]);
    does("close the open drawer", &["tip_push drawer_0 front"]);
    does("shut the drawer that is open", &["tip_push drawer_0 front"]);
    refuses("open the drawer", Reason::Ambiguous, "Which one");
    refuses("open the fifth drawer", Reason::NotFound, "only");
}

#[test]
fn of_a_cabinet_whose_top_drawer_is_not_seen_no_other_is_the_top_one() {
    let mut unseen = scene();
    unseen.retain(|object| object.key.0 != "drawer_2");
    let (report, done) = run_in(unseen.clone(), "open the top drawer");
    assert_eq!(
        (report.outcome, report.reason),
        (Outcome::Refused, Some(Reason::NotFound)),
        "{}",
        report.message
    );
    assert!(done.is_empty() && report.message.contains("room for another"), "{done:?} {}", report.message);
    // A door above the drawers is no missing drawer.
    unseen.push(block("door_0", "door", "white", [0.588, -0.14, 0.21], [0.6, 0.14, 0.29]));
    let (report, done) = run_in(unseen, "open the top drawer");
    assert_eq!(report.outcome, Outcome::Done, "{}", report.message);
    assert!(done.iter().any(|skill| skill.contains("drawer_1")), "{done:?}");
}

#[test]
fn what_is_so_already_is_not_done_again() {
    does("open the bottom drawer", &[]);
    does("close the top drawer", &[]);
    let (report, _) = run("open the bottom drawer");
    assert!(report.message.contains("open already"), "{}", report.message);
    for (question, answer) in [
        ("is the bottom drawer open?", "Yes"),
        ("is the top drawer open?", "No"),
        ("is the top drawer closed?", "Yes"),
    ] {
        let (report, skills) = run(question);
        assert!(report.message.starts_with(answer) && skills.is_empty(), "{question}: {}", report.message);
    }
}

#[test]
fn a_step_that_is_so_already_is_told_among_the_others() {
    let (report, skills) = run("open the bottom drawer and put the apple in it");
    assert_eq!(skills, ["grasp apple_0", "place apple_0 in drawer_0"], "{}", report.message);
    assert!(report.message.contains("is open already and"), "{}", report.message);
}

/// Neither closed nor so far open that a hand goes in.
#[test]
fn what_stands_ajar_is_open_and_yet_is_opened() {
    let ajar = || {
        let mut all = scene();
        let panel = block("drawer_0", "drawer", "white", [0.543, -0.14, 0.04], [0.555, 0.14, 0.12]);
        all.iter_mut().filter(|object| object.key == panel.key).for_each(|object| *object = panel.clone());
        all
    };
    for (text, skills) in [
        ("open the bottom drawer", &["hook_pull drawer_0 handle"][..]),
        ("close the bottom drawer", &["tip_push drawer_0 front"]),
        (
            "put the apple in the bottom drawer",
            &["hook_pull drawer_0 handle", "grasp apple_0", "place apple_0 in drawer_0"],
        ),
    ] {
        let (report, done) = run_in(ajar(), text);
        assert_eq!(report.outcome, Outcome::Done, "{text}: {}", report.message);
        assert_eq!(done, skills, "{text}");
    }
    let (report, _) = run_in(ajar(), "is the bottom drawer open?");
    assert!(report.message.starts_with("Yes"), "{}", report.message);
}

#[test]
fn a_closed_drawer_is_opened_before_something_is_put_into_it() {
    does(
        "put the apple in the top drawer",
        &["hook_pull drawer_2 handle", "grasp apple_0", "place apple_0 in drawer_2"],
    );
    does(
        "put the apple in the top drawer and close it",
        &[
            "hook_pull drawer_2 handle",
            "grasp apple_0",
            "place apple_0 in drawer_2",
            "tip_push drawer_2 front",
        ],
    );
    does(
        "pick up the apple and put it in the middle drawer",
        &["hook_pull drawer_1 handle", "grasp apple_0", "place apple_0 in drawer_1"],
    );
    does("put the apple in the bottom drawer", &["grasp apple_0", "place apple_0 in drawer_0"]);
    does(
        "open the top drawer and put the apple inside",
        &["hook_pull drawer_2 handle", "grasp apple_0", "place apple_0 in drawer_2"],
    );
    does(
        "close the bottom drawer and open the top drawer",
        &["tip_push drawer_0 front", "hook_pull drawer_2 handle"],
    );
}

#[test]
fn what_has_a_door_is_opened_and_closed_by_it() {
    let check = |open: bool, text: &str, skills: &[&str]| {
        let (report, done) = run_in(microwave(open), text);
        assert_eq!(report.outcome, Outcome::Done, "{text}: {}", report.message);
        assert_eq!(done, skills, "{text}");
    };
    for text in ["open the microwave", "open the door of the microwave", "open the door"] {
        check(false, text, &["hook_pull door_0 handle"]);
        check(true, text, &[]);
    }
    for text in ["close the microwave", "shut the door of the microwave"] {
        check(true, text, &["tip_push door_0 front"]);
        check(false, text, &[]);
    }
    // Of three drawers nobody knows which is meant; the only open one is.
    refuses("open the cabinet", Reason::Ambiguous, "Which one");
    does("close the cabinet", &["tip_push drawer_0 front"]);
}

#[test]
fn buttons_and_parts() {
    does("press the red button", &["tip_push button_0 button"]);
    does("push the button", &["tip_push button_0 button"]);
    does("pull the handle of the top drawer", &["hook_pull drawer_2 handle"]);
    does("pick up the apple", &["grasp apple_0"]);
    refuses("open the apple", Reason::Infeasible, "I cannot open");
    refuses("ring the bell", Reason::NotFound, "bell");
    refuses("press the blue button", Reason::NotFound, "red");
}

/// The cabinet with all drawers closed, or all open.
fn row(out: f64) -> Vec<Object> {
    let mut all = scene();
    for (key, low) in [("drawer_0", 0.04), ("drawer_1", 0.125), ("drawer_2", 0.21)] {
        let panel = block(key, "drawer", "white", [0.588 - out, -0.14, low], [0.6 - out, 0.14, low + 0.08]);
        all.iter_mut().filter(|object| object.key == panel.key).for_each(|object| *object = panel.clone());
    }
    all
}

/// An open drawer is in the way of those below it: they are worked through so that none is.
#[test]
fn all_drawers_are_worked_through_one_after_the_other() {
    for text in ["open every drawer", "open all the drawers", "open all three drawers of the cabinet"] {
        let (report, done) = run_in(row(0.0), text);
        assert_eq!(report.outcome, Outcome::Done, "{text}: {}", report.message);
        let upwards = ["hook_pull drawer_0 handle", "hook_pull drawer_1 handle", "hook_pull drawer_2 handle"];
        assert_eq!(done, upwards, "{text}");
    }
    let (report, done) = run_in(row(0.12), "close all the drawers");
    assert_eq!(done, ["tip_push drawer_2 front", "tip_push drawer_1 front", "tip_push drawer_0 front"]);
    assert!(report.message.contains("the middle drawer: done"), "{}", report.message);
    // Who says the order wants that order.
    let (_, done) = run_in(row(0.0), "open the top drawer and then open the bottom drawer");
    assert_eq!(done, ["hook_pull drawer_2 handle", "hook_pull drawer_0 handle"]);
}

/// Under an open drawer is no room for a hand: it is closed first, unless the sentence wants it open.
#[test]
fn what_stands_open_above_is_closed_first() {
    let above = |out: f64| {
        let mut all = row(0.0);
        let top = block("drawer_2", "drawer", "white", [0.588 - out, -0.14, 0.21], [0.6 - out, 0.14, 0.29]);
        all.iter_mut().filter(|object| object.key == top.key).for_each(|object| *object = top.clone());
        all
    };
    for (drawer, key) in [("middle", "drawer_1"), ("bottom", "drawer_0")] {
        let (report, done) = run_in(above(0.12), &format!("open the {drawer} drawer"));
        let opens = format!("hook_pull {key} handle");
        assert_eq!(done, ["tip_push drawer_2 front", &opens], "{}", report.message);
        assert!(report.message.contains("close the top drawer"), "{}", report.message);
        let (_, done) = run_in(above(0.0), &format!("open the {drawer} drawer"));
        assert_eq!(done, [opens]);
    }
    let (_, done) = run_in(above(0.12), "put the apple in the middle drawer");
    assert_eq!(done[..2], ["tip_push drawer_2 front", "hook_pull drawer_1 handle"]);
    // Both stand open.
    let both = || {
        let mut all = above(0.12);
        let middle = row(0.12).into_iter().find(|object| object.key.0 == "drawer_1").expect("a drawer");
        all.iter_mut().filter(|object| object.key == middle.key).for_each(|object| *object = middle.clone());
        all
    };
    for text in ["put the apple in the middle drawer", "grab the apple and place it inside the middle drawer"]
    {
        let (report, done) = run_in(both(), text);
        let skills: Vec<&str> = done.iter().filter_map(|line| line.split(' ').next()).collect();
        assert_eq!(skills, ["tip_push", "grasp", "place"], "{text}: {done:?} {}", report.message);
    }
    // What is below is in nobody's way.
    does("open the top drawer", &["hook_pull drawer_2 handle"]);
}

/// The hand comes from above: what stands open over a thing, or over its place, is closed first.
#[test]
fn what_hangs_open_over_a_thing_is_closed_before_it_is_taken() {
    let with = |out: f64, x: f64, y: f64| {
        let mut all = row(out);
        all.retain(|object| object.key.0 != "apple_0");
        all.push(thing("apple_0", "apple", "red", x, y, [0.05, 0.05, 0.05]));
        all
    };
    // The middle drawer, or the top one, stands out over it; beside that, before it, and under closed drawers it is free.
    for (out, x, y, is_under) in [
        (0.12, 0.54, 0.0, true),
        (0.12, 0.54, 0.25, false),
        (0.12, 0.35, 0.0, false),
        (0.0, 0.54, 0.0, false),
    ] {
        for text in ["pick up the apple", "put the apple next to the button"] {
            for drawer in ["drawer_1", "drawer_2"] {
                let mut scene = with(0.0, x, y);
                let opened = row(out).into_iter().find(|object| object.key.0 == drawer).expect("a drawer");
                scene.iter_mut().filter(|o| o.key == opened.key).for_each(|object| *object = opened.clone());
                let (report, done) = run_in(scene, text);
                let closes =
                    done.first().is_some_and(|first| first.starts_with(&format!("tip_push {drawer}")));
                assert_eq!(closes, is_under, "{drawer} {out} {x} {y} {text}: {done:?} {}", report.message);
            }
        }
    }
}

/// What is in an open drawer is not under it, however high the drawer is seen to be.
#[test]
fn what_is_in_an_open_drawer_is_taken_out_of_it() {
    let mut scene = row(0.0);
    let opened = block("drawer_0", "drawer", "white", [0.388, -0.14, 0.04], [0.6, 0.14, 0.22]);
    scene.iter_mut().filter(|o| o.key == opened.key).for_each(|object| *object = opened.clone());
    scene.retain(|object| object.key.0 != "apple_0");
    let mut apple = thing("apple_0", "apple", "red", 0.48, 0.0, [0.05, 0.05, 0.05]);
    apple.bounds.pose.translation.z += 0.05;
    apple.cloud.points.iter_mut().for_each(|point| point.z += 0.05);
    scene.push(apple);
    let (report, done) = run_in(scene, "pick up the apple");
    assert!(done.first().is_some_and(|first| first.starts_with("grasp")), "{done:?} {}", report.message);
}

/// Between the lowest drawer and the table is no more room than a thing is high: the thing is under the drawer, not in it.
#[test]
fn what_just_fits_under_an_open_drawer_is_under_it() {
    for (high, is_under) in [(0.042, true), (0.045, true), (0.09, false)] {
        let mut scene = row(0.0);
        let opened = block("drawer_0", "drawer", "white", [0.388, -0.14, 0.045], [0.6, 0.14, 0.128]);
        scene.iter_mut().filter(|o| o.key == opened.key).for_each(|object| *object = opened.clone());
        scene.retain(|object| object.key.0 != "apple_0");
        // From above more is seen of its top than of its sides.
        let mut apple = block("apple_0", "apple", "red", [0.46, 0.0, high - 0.04], [0.5, 0.04, high]);
        apple.cloud.points.retain(|point| point.z > high - 0.015);
        scene.push(apple);
        let (report, done) = run_in(scene, "pick up the apple");
        let closes = done.first().is_some_and(|first| first.starts_with("tip_push drawer_0"));
        assert_eq!(closes, is_under, "{high}: {done:?} {}", report.message);
    }
}

/// Who speaks of the apple means the one on the table, and not one that was shut away. Of two on the table one is asked for.
#[test]
fn what_is_in_sight_is_meant_and_not_what_was_shut_away() {
    let other = |x: f64, z: f64| block("apple_1", "apple", "red", [x, 0.0, z], [x + 0.05, 0.05, z + 0.05]);
    for (x, z, is_seen, expected) in [
        (0.68, 0.14, false, Some("grasp apple_0")),
        // It stands before the cabinet, or on it; and what is seen in an open drawer counts.
        (0.45, 0.0, false, None),
        (0.68, 0.31, false, None),
        (0.68, 0.14, true, None),
    ] {
        let mut scene = row(0.0);
        scene.push(other(x, z));
        let mut world = Scripted::new(scene);
        world.out_of_view = if is_seen { Vec::new() } else { vec!["apple_1".into()] };
        let report = run_world(&mut world, "pick up the apple");
        match expected {
            Some(first) => assert_eq!(world.skills, [first], "{}", report.message),
            None => assert_eq!(report.reason, Some(Reason::Ambiguous), "{x} {z}: {}", report.message),
        }
    }
}

/// "An apple" is one that can be seen.
#[test]
fn any_of_several_is_one_that_is_in_sight() {
    let mut scene = row(0.0);
    scene.insert(0, block("apple_1", "apple", "red", [0.68, 0.0, 0.14], [0.73, 0.05, 0.19]));
    let mut world = Scripted::new(scene);
    world.out_of_view = vec!["apple_1".into()];
    let report = run_world(&mut world, "pick up an apple");
    assert_eq!(world.skills, ["grasp apple_0"], "{}", report.message);
}

/// The drawers of a cabinet are not shut away in it, nor is what is at its sides, though a look showed one alone.
#[test]
fn a_drawer_that_no_look_shows_is_asked_about_all_the_same() {
    let mut scene = row(0.0);
    let knob = |key: &str, z: f64| block(key, "knob", "black", [0.59, 0.0, z], [0.62, 0.03, z + 0.03]);
    scene.extend([knob("knob_0", 0.06), knob("knob_1", 0.15)]);
    for (text, hidden) in [("open the drawer", &["drawer_0", "drawer_1"][..]), ("turn the knob", &["knob_1"])]
    {
        let mut world = Scripted::new(scene.clone());
        world.out_of_view = hidden.iter().map(|key| (*key).into()).collect();
        let report = run_world(&mut world, text);
        assert_eq!(report.reason, Some(Reason::Ambiguous), "{text}: {:?} {}", world.skills, report.message);
    }
}

/// What shall go into a drawer is put elsewhere first when the open drawer hangs over it, or will.
#[test]
fn what_would_be_under_the_drawer_that_it_goes_into_is_put_aside_first() {
    let middle = |out: f64, x: f64| {
        let mut all = row(0.0);
        let opened = row(out).into_iter().find(|object| object.key.0 == "drawer_1").expect("a drawer");
        all.iter_mut().filter(|o| o.key == opened.key).for_each(|object| *object = opened.clone());
        all.retain(|object| object.key.0 != "apple_0");
        all.push(thing("apple_0", "apple", "red", x, 0.0, [0.05, 0.05, 0.05]));
        all
    };
    for (out, x, expected) in [
        (0.0, 0.54, &["grasp", "place", "hook_pull", "grasp", "place"][..]),
        (0.12, 0.54, &["tip_push", "grasp", "place", "hook_pull", "grasp", "place"]),
        (0.0, 0.35, &["hook_pull", "grasp", "place"]),
        (0.12, 0.35, &["grasp", "place"]),
    ] {
        for text in ["put the apple in the middle drawer", "take the apple and put it into the middle drawer"]
        {
            let (report, done) = run_in(middle(out, x), text);
            let skills: Vec<&str> = done.iter().filter_map(|line| line.split(' ').next()).collect();
            assert_eq!(skills, expected, "{out} {x} {text}: {done:?} {}", report.message);
        }
    }
}

/// Faults of the first tries of one skill, until it is given up.
fn given_up(reason: Reason) -> Vec<Option<(Reason, bool)>> {
    vec![Some((reason, false)); 4]
}

#[test]
fn one_drawer_that_cannot_be_opened_keeps_none_of_the_others() {
    let mut world = Scripted::new(row(0.0));
    world.script = [vec![None], given_up(Reason::NoPlan)].concat().into();
    let report = run_world(&mut world, "open every drawer");
    assert_eq!((report.outcome, report.reason), (Outcome::Failed, Some(Reason::NoPlan)));
    assert_eq!(
        world.skills.last().map(String::as_str),
        Some("hook_pull drawer_2 handle"),
        "{:?}",
        world.skills
    );
    for said in
        ["open the bottom drawer: done", "open the top drawer: done", "I could not open the middle drawer"]
    {
        assert!(report.message.contains(said), "{said}: {}", report.message);
    }
}

/// Putting several things somewhere goes on in the same way; what needs what was not done does not.
#[test]
fn one_thing_that_cannot_be_taken_keeps_none_of_the_others() {
    let fruit = |key: &str, y: f64| thing(key, "apple", "red", 0.35, y, [0.05, 0.05, 0.05]);
    let bowl = thing("bowl_0", "bowl", "white", 0.5, 0.0, [0.2, 0.2, 0.06]);
    let table = vec![fruit("apple_0", 0.2), fruit("apple_1", -0.1), fruit("apple_2", -0.3), bowl];
    let look_between =
        [given_up(Reason::NoGrasp)[..1].to_vec(), vec![None], given_up(Reason::NoGrasp)[..3].to_vec()];
    let mut world = Scripted::new(table.clone());
    world.script = look_between.concat().into();
    let report = run_world(&mut world, "put all the apples in the bowl");
    assert_eq!((report.outcome, report.reason), (Outcome::Failed, Some(Reason::NoGrasp)));
    let placed: Vec<&String> = world.skills.iter().filter(|skill| skill.starts_with("place")).collect();
    assert_eq!(placed, ["place apple_1 in bowl_0", "place apple_2 in bowl_0"], "{:?}", world.skills);
    assert!(report.message.contains("I could not put the red apple in the white bowl"), "{}", report.message);

    // A stop ends all of it.
    let mut world = Scripted::new(table);
    world.script = [Some((Reason::Stopped, true))].into();
    let report = run_world(&mut world, "put all the apples in the bowl");
    assert_eq!(report.reason, Some(Reason::Stopped));
    assert_eq!(world.skills.len(), 1, "{:?}", world.skills);

    // What the rest needs was not done: a drawer that stays closed takes nothing.
    let mut world = Scripted::new(row(0.0));
    world.script = given_up(Reason::NoPlan).into();
    let report = run_world(&mut world, "open the top drawer and put the apple in it");
    assert_eq!(report.reason, Some(Reason::NoPlan));
    assert!(!world.skills.iter().any(|skill| skill.starts_with("grasp")), "{:?}", world.skills);
}

/// A front that shows too little is looked at before it is said so, and then answered.
#[test]
fn whether_a_drawer_is_open_is_looked_at_before_it_is_answered() {
    // From above, only the upper edge of its front shows.
    let mut above = row(0.0);
    let edge = block("drawer_2", "drawer", "white", [0.588, -0.14, 0.255], [0.6, 0.14, 0.295]);
    above.iter_mut().filter(|object| object.key == edge.key).for_each(|object| *object = edge.clone());
    above.retain(|object| !["drawer_0", "drawer_1"].contains(&object.key.0.as_str()));
    let front = Agent { settings: Settings { front_view: Some("front"), ..Settings::default() }, ..agent() };
    let ask = |shown: Option<f64>| {
        let mut world = Scripted::new(above.clone());
        world.shown_by_look.extend(shown.map(|out| ("drawer_2".into(), row(out))));
        let readings = front.understand("is the top drawer open?").expect("understood");
        (front.run(&readings, &mut world, None).message, world.skills)
    };
    let (answer, skills) = ask(Some(0.12));
    assert!(answer.starts_with("Yes"), "{answer} {skills:?}");
    assert_eq!(skills, ["look drawer_2 front", "home"]);
    let (answer, skills) = ask(Some(0.0));
    assert!(answer.starts_with("No"), "{answer} {skills:?}");
    // What no look shows is said to be so afterwards.
    let (answer, skills) = ask(None);
    assert!(answer.contains("not seen well enough"), "{answer} {skills:?}");
    assert_eq!(skills, ["look drawer_2 front", "look drawer_2", "home"]);
    // Of a cabinet that shows no drawer at all, too.
    let mut world = Scripted::new(above.iter().filter(|o| o.class_name != "drawer").cloned().collect());
    world.shown_by_look = vec![("cabinet_0".into(), row(0.12))];
    let readings = front.understand("is the top drawer open?").expect("understood");
    let report = front.run(&readings, &mut world, None);
    assert!(report.message.starts_with("Yes"), "{} {:?}", report.message, world.skills);
}

/// A cabinet that most views take for a box is looked at from the front when a drawer is asked for; a box that no view took for
/// furniture is not.
#[test]
fn what_may_be_furniture_is_looked_at_from_the_front() {
    let front = Agent { settings: Settings { front_view: Some("front"), ..Settings::default() }, ..agent() };
    let close = |votes: &[(&str, f64)]| {
        let mut whole = block("box_0", "crate", "grey", [0.6, -0.15, 0.0], [0.8, 0.15, 0.3]);
        whole.class_votes = votes.iter().map(|(name, weight)| ((*name).to_owned(), *weight)).collect();
        let mut world = Scripted::new(vec![whole]);
        world.shown_by_look = vec![("box_0".into(), row(0.12))];
        let readings = front.understand("close the top drawer").expect("understood");
        (front.run(&readings, &mut world, None), world.skills)
    };
    let (report, skills) = close(&[("crate", 4.0), ("drawer", 1.0)]);
    assert_eq!(report.outcome, Outcome::Done, "{} {skills:?}", report.message);
    assert_eq!(skills, ["look box_0 front", "tip_push drawer_2 front"]);
    let (report, skills) = close(&[("crate", 8.0), ("drawer", 1.0)]);
    assert_eq!(report.outcome, Outcome::Refused, "{skills:?}");
    assert!(!skills.contains(&"look box_0 front".to_owned()), "{skills:?}");
}
