//! Keys and names that stay: through moving, misnaming, the hand, and being lost.

use super::tests::{SIGMA, at, builder, keys};
use super::*;
use crate::render::{Form, QVGA, Thing, VGA, home, looking, render, ten, thing};

#[test]
fn what_is_gone_is_removed_and_what_moved_keeps_its_key() {
    let all = ten();
    let mut builder = builder();
    builder.update(&render(&all, &QVGA, &home(), SIGMA, 1), None, false, 0).unwrap();
    let mut fewer = all.clone();
    fewer.remove(3);
    fewer[0].at = [0.42, 0.28, 0.0, 0.0];
    let report = builder.update(&render(&fewer, &QVGA, &home(), SIGMA, 2), None, false, 0).unwrap();
    assert_eq!(report.removed, [ObjectKey::from("apple_0")]);
    assert_eq!(report.moved, [ObjectKey::from("mug_0")]);
    assert_eq!(builder.map().objects.len(), 9);
    assert_eq!(at(builder.map(), 0.42, 0.28).key.0, "mug_0");
    // Put back: as far as anybody can see, it is the same apple.
    let report = builder.update(&render(&all, &QVGA, &home(), SIGMA, 3), None, false, 0).unwrap();
    assert_eq!((report.added, report.moved.contains(&ObjectKey::from("apple_0"))), (vec![], true));
    // A second one is another.
    let mut more = all.clone();
    more.push(Thing { at: [0.40, -0.02, 0.0, 0.0], ..all[3].clone() });
    let report = builder.update(&render(&more, &QVGA, &home(), SIGMA, 4), None, false, 0).unwrap();
    assert_eq!(report.added, [ObjectKey::from("apple_1")]);
}

/// A cabinet with two drawers whose fronts stand so far out.
fn cabinet(out: [f64; 2]) -> Vec<Thing> {
    let front = |out: f64, z: f64| {
        let form = Form::Block([0.02, 0.26, 0.08]);
        Thing { at: [0.58 - out, 0.0, z, 0.0], ..thing("drawer", form, 0.0, 0.0, [230, 225, 200]) }
    };
    let body = thing("cabinet", Form::Block([0.2, 0.28, 0.2]), 0.69, 0.0, [150, 100, 50]);
    vec![front(out[0], 0.01), front(out[1], 0.1), body]
}

/// A drawer is the same drawer open or closed, whatever a frame calls it, after the map was made anew, and while its cabinet is there.
#[test]
fn drawers_of_a_cabinet_keep_their_keys_and_tell_how_open_they_are() {
    let mut builder = builder();
    let mut seed = 0;
    let mut look = |things: &[Thing], misnamed: Option<usize>, reset: bool| {
        for frame in 0..4 {
            seed += 1;
            let mut seen = render(things, &VGA, &looking([0.05, 0.0, 0.45], [0.6, 0.0, 0.1]), SIGMA, seed);
            misnamed.iter().for_each(|number| seen.detections[*number].class_name = "box".to_owned());
            builder.update(&seen, None, reset && frame == 0, 0).unwrap();
        }
        let map = builder.map();
        let drawers = map.objects.iter().filter(|object| object.class_name == "drawer");
        let mut found: Vec<(f64, String, Option<f64>)> = drawers
            .map(|drawer| {
                let opening = prehend_scene::furniture::opening(drawer, map).map(|opening| opening.offset);
                (drawer.bounds.pose.translation.z, drawer.key.0.clone(), opening)
            })
            .collect();
        found.sort_by(|a, b| a.0.total_cmp(&b.0));
        let openings = found.iter().map(|(_, _, opening)| opening.unwrap_or(f64::NAN)).collect::<Vec<_>>();
        (found.into_iter().map(|(_, key, _)| key).collect::<Vec<_>>(), openings)
    };
    let (keys, _) = look(&cabinet([0.0, 0.0]), None, false);
    assert_eq!(keys.len(), 2);
    for (out, misnamed, reset) in [
        ([0.12, 0.0], Some(0), false),
        ([0.0, 0.0], None, false),
        ([0.0, 0.15], None, true),
        ([0.1, 0.0], Some(1), false),
    ] {
        let (now, openings) = look(&cabinet(out), misnamed, reset);
        assert_eq!(now, keys, "{out:?}");
        let is_right = openings.iter().zip(out).all(|(seen, is)| (seen - is).abs() < 0.025);
        assert!(is_right, "{openings:?} and not {out:?}");
    }
    // The cabinet is carried away.
    assert_eq!(look(&ten()[..1], None, false).0, Vec::<String>::new());
}

/// A frame misnames a thing that was pushed aside: it is known by its looks, and keeps its name.
#[test]
fn what_was_moved_and_misnamed_keeps_its_key_and_its_name() {
    let mut things = ten();
    let mut builder = builder();
    for seed in 1..4 {
        builder.update(&render(&things, &VGA, &home(), SIGMA, seed), None, false, 0).unwrap();
    }
    things[0].at = [0.42, 0.28, 0.0, 0.0];
    let mut frame = render(&things, &VGA, &home(), SIGMA, 4);
    frame.detections[0].class_name = "jar".to_owned();
    let report = builder.update(&frame, None, false, 0).unwrap();
    assert_eq!((report.moved, report.added), (vec![ObjectKey::from("mug_0")], vec![]));
    assert_eq!(at(builder.map(), 0.42, 0.28).class_name, "mug");
}

/// A mistake that stood for a day is outvoted by what is seen now.
#[test]
fn names_that_were_wrong_for_long_are_corrected() {
    let things = ten();
    let mut builder = builder();
    let frame = render(&things, &QVGA, &home(), SIGMA, 1);
    let mut wrong = frame.clone();
    wrong.detections[0].class_name = "jar".to_owned();
    for _ in 0..300 {
        builder.update(&wrong, None, false, 0).unwrap();
    }
    assert_eq!(builder.map().get(&"jar_0".into()).unwrap().class_name, "jar");
    let mut frames = 0;
    while builder.map().get(&"jar_0".into()).unwrap().class_name == "jar" {
        builder.update(&frame, None, false, 0).unwrap();
        frames += 1;
        assert!(frames < 60, "it stands for ever");
    }
    // One mistake among many does not.
    for _ in 0..100 {
        builder.update(&frame, None, false, 0).unwrap();
    }
    for _ in 0..5 {
        builder.update(&wrong, None, false, 0).unwrap();
    }
    assert_eq!(builder.map().get(&"jar_0".into()).unwrap().class_name, "mug");
}

#[test]
fn what_the_gripper_took_leaves_its_place_and_keeps_its_key_when_put_down() {
    let all = ten();
    let mut builder = builder();
    builder.update(&render(&all, &VGA, &home(), SIGMA, 1), None, false, 0).unwrap();
    let tool = Tool { position: Point3::new(0.3, 0.1, 0.3), radius: 0.12, holds: None };
    let mut carried = all.clone();
    carried[0].at = [0.3, 0.1, 0.22, 0.0];
    let report = builder.update(&render(&carried, &VGA, &home(), SIGMA, 2), Some(&tool), false, 0).unwrap();
    assert_eq!((report.removed, report.held), (vec![ObjectKey::from("mug_0")], 1));
    carried[0].at = [0.42, 0.28, 0.0, 0.0];
    // The detector takes it for something else.
    let mut frame = render(&carried, &VGA, &home(), SIGMA, 3);
    frame.detections[0].class_name = "jar".to_owned();
    let report = builder.update(&frame, Some(&tool), false, 0).unwrap();
    assert_eq!((report.moved, report.added), (vec![ObjectKey::from("mug_0")], vec![]));
    assert_eq!(builder.map().objects.len(), 10);
    assert_eq!(at(builder.map(), 0.42, 0.28).key.0, "mug_0");
}

/// A map that saw the mug, then frames in which the pads hide it, then frames of an empty hand with the mug nowhere.
fn hidden_by_the_gripper(held: u64, empty: u64) -> MapBuilder {
    let all = ten();
    let mut builder = builder();
    builder.update(&render(&all, &VGA, &home(), SIGMA, 1), None, false, 0).unwrap();
    let key = ObjectKey::from("mug_0");
    let tool = Tool { position: Point3::new(0.3, 0.1, 0.3), radius: 0.12, holds: Some(key.clone()) };
    for seed in 2..2 + held + empty {
        let tool = Some(&tool).filter(|_| seed < 2 + held);
        builder.update(&render(&all[1..], &VGA, &home(), SIGMA, seed), tool, false, 0).unwrap();
        assert!(builder.map().get(&key).is_none(), "it is not where it was");
    }
    builder
}

/// What a frame adds and moves in which `first` stands where the mug of [`ten`] was put, and is called a jar.
fn then_a_jar(builder: &mut MapBuilder, first: Thing) -> (Vec<ObjectKey>, Vec<ObjectKey>) {
    let mut things = ten();
    things[0] = Thing { at: [0.42, 0.28, 0.0, 0.0], ..first };
    let mut frame = render(&things, &VGA, &home(), SIGMA, 99);
    frame.detections[0].class_name = "jar".to_owned();
    let report = builder.update(&frame, None, false, 0).unwrap();
    (report.added, report.moved)
}

/// Between the pads it is not seen; who closed them knows that it is there.
#[test]
fn what_the_gripper_hides_keeps_its_key_when_put_down() {
    let mut builder = hidden_by_the_gripper(6, 0);
    assert_eq!(then_a_jar(&mut builder, ten()[0].clone()), (vec![], vec![ObjectKey::from("mug_0")]));
}

/// What the hand let go out of sight is not the next thing of its colour.
#[test]
fn what_was_let_go_out_of_sight_is_in_the_end_only_lost() {
    let mut builder = hidden_by_the_gripper(1, 12);
    assert_eq!(then_a_jar(&mut builder, ten()[0].clone()), (vec![ObjectKey::from("jar_0")], vec![]));
}

/// Of the same colour, and much larger: that is not what was put down.
#[test]
fn what_is_put_down_is_as_large_as_what_was_held() {
    let mug = ten()[0].clone();
    let mut builder = hidden_by_the_gripper(1, 0);
    let large = Thing { form: Form::Block([0.19, 0.17, 0.09]), ..mug };
    assert_eq!(then_a_jar(&mut builder, large), (vec![ObjectKey::from("jar_0")], vec![]));
}

#[test]
fn what_the_held_thing_hides_is_not_taken_too() {
    let yellow = [236, 204, 38];
    let mut things = vec![
        thing("sponge", Form::Block([0.05, 0.07, 0.03]), 0.45, 0.2, yellow),
        thing("lemon", Form::Ball(0.03), 0.42, 0.0, yellow),
    ];
    let mut builder = builder();
    builder.update(&render(&things, &VGA, &home(), SIGMA, 1), None, false, 0).unwrap();
    // Held right before the lemon.
    things[0].at = [0.27, 0.0, 0.26, 0.0];
    let tool = Tool { position: Point3::new(0.27, 0.0, 0.3), radius: 0.12, holds: None };
    for seed in 2..5 {
        builder.update(&render(&things, &VGA, &home(), SIGMA, seed), Some(&tool), false, 0).unwrap();
        assert_eq!(keys(builder.map()), ["lemon_0"], "frame {seed}");
    }
}

#[test]
fn of_two_alike_the_one_that_the_gripper_closed_on_is_taken() {
    let black = [28, 28, 30];
    let mut things = vec![
        thing("bowl", Form::Block([0.1, 0.1, 0.05]), 0.45, 0.2, black),
        thing("bowl", Form::Block([0.1, 0.1, 0.05]), 0.42, 0.0, black),
    ];
    let mut builder = builder();
    builder.update(&render(&things, &VGA, &home(), SIGMA, 1), None, false, 0).unwrap();
    let (gripped, other) =
        (at(builder.map(), 0.45, 0.2).key.clone(), at(builder.map(), 0.42, 0.0).key.clone());
    // Held right before the other one, where the detector has no name for it.
    things[0].at = [0.27, 0.0, 0.24, 0.0];
    let tool = Tool { position: Point3::new(0.27, 0.0, 0.3), radius: 0.12, holds: Some(gripped.clone()) };
    for seed in 2..5 {
        let mut frame = render(&things, &VGA, &home(), SIGMA, seed);
        frame.detections[0].class_name = "jar".to_owned();
        builder.update(&frame, Some(&tool), false, 0).unwrap();
        assert_eq!(keys(builder.map()), [other.0.as_str()], "frame {seed}");
    }
}
