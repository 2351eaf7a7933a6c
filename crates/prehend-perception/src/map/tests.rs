use super::*;
use crate::render::{Form, QVGA, Thing, VGA, home, looking, relabel, render, ten, thing};
use nalgebra::Isometry3;

pub(super) const SIGMA: f64 = 0.002;

pub(super) fn builder() -> MapBuilder {
    MapBuilder::new("link_base", MapSettings::default())
}

pub(super) fn keys(map: &ObjectMap) -> Vec<&str> {
    map.objects.iter().map(|o| o.key.0.as_str()).collect()
}

/// The object nearest to (x, y), which must be within 3 cm.
pub(super) fn at(map: &ObjectMap, x: f64, y: f64) -> &Object {
    let distance = |o: &Object| {
        let c = o.bounds.pose.translation.vector;
        (c.x - x).hypot(c.y - y)
    };
    let found = map.objects.iter().min_by(|a, b| distance(a).total_cmp(&distance(b))).unwrap();
    assert!(distance(found) < 0.03, "nothing at {x} {y}: {:?}", keys(map));
    found
}

#[test]
fn ten_things_with_noise_are_ten_objects_with_the_right_measures() {
    let things = ten();
    let mut builder = builder();
    let report = builder.update(&render(&things, &VGA, &home(), SIGMA, 1), None, false, 0).unwrap();
    let map = builder.map();
    assert_eq!((map.objects.len(), report.added.len(), map.version), (10, 10, 1), "{:?}", keys(map));
    let words = ["red", "white", "blue", "green", "yellow", "blue", "orange", "black", "purple", "cyan"];
    for (thing, word) in things.iter().zip(words) {
        let object = at(map, thing.at[0], thing.at[1]);
        assert_eq!((object.class_name.as_str(), object.color_fractions[0].0.as_str()), (thing.class, word));
        assert!((object.confidence - 0.9).abs() < 1e-6, "{}", object.confidence);
        let height = match thing.form {
            Form::Block([_, _, z]) => z,
            Form::Can(_, h) | Form::Cup(_, h, _) => h,
            Form::Ball(r) => 2.0 * r,
        };
        assert!(
            (object.bounds.top() - height).abs() < 0.008,
            "{}: {} {height}",
            object.key,
            object.bounds.top()
        );
    }
    let [_, _, c, d] = map.support_plane.unwrap();
    assert!(c > 0.999 && d.abs() < 0.003, "{:?}", map.support_plane);
}

#[test]
fn a_bottle_right_below_the_camera_is_as_tall_as_its_cap() {
    // From above the neck is hidden: body and cap are two clusters of one mask.
    let green = [30, 130, 60];
    let parts = [
        thing("bottle", Form::Can(0.033, 0.150), 0.34, 0.0, green),
        thing("bottle", Form::Can(0.012, 0.200), 0.34, 0.0, green),
    ];
    let mut frame = render(&parts, &VGA, &looking([0.34, 0.0, 0.67], [0.34, 0.001, 0.0]), SIGMA, 1);
    relabel(&mut frame, |label, _, _| label.min(1));
    let mut builder = builder();
    builder.update(&frame, None, false, 0).unwrap();
    let [bottle] = builder.map().objects.as_slice() else { panic!("{:?}", keys(builder.map())) };
    assert!((bottle.bounds.top() - 0.200).abs() < 0.008, "{}", bottle.bounds.top());
}

#[test]
fn a_box_right_below_the_camera_reaches_down_to_what_it_stands_on() {
    let tall = thing("box", Form::Block([0.06, 0.085, 0.11]), 0.34, 0.0, [30, 130, 60]);
    let mut cube = thing("cube", Form::Block([0.03, 0.03, 0.03]), 0.34, 0.0, [200, 30, 30]);
    cube.at[2] = 0.11;
    let low = thing("block", Form::Block([0.04, 0.04, 0.04]), 0.45, 0.15, [30, 60, 200]);
    let view = looking([0.34, 0.0, 0.67], [0.34, 0.001, 0.0]);
    let mut builder = builder();
    for seed in 0..2 {
        builder
            .update(&render(&[tall.clone(), low.clone()], &VGA, &view, SIGMA, seed), None, false, 0)
            .unwrap();
        let big = at(builder.map(), 0.34, 0.0);
        assert!((big.bounds.size.z - 0.11).abs() < 0.012, "{}", big.bounds.size.z);
    }
    let mut builder = super::tests::builder();
    builder.update(&render(&[tall, cube, low], &VGA, &view, SIGMA, 1), None, false, 0).unwrap();
    let cube = builder.map().objects.iter().find(|o| o.class_name == "cube").unwrap();
    assert!((cube.bounds.size.z - 0.03).abs() < 0.015, "{:?}", cube.bounds);
}

#[test]
fn a_bowl_that_hides_what_carries_it_does_not_reach_down_to_the_table() {
    let mut bowl = thing("bowl", Form::Cup(0.058, 0.05, 0.005), 0.34, 0.0, [200, 200, 196]);
    bowl.at[2] = 0.09;
    let parts = [thing("box", Form::Block([0.05, 0.04, 0.09]), 0.34, 0.0, [160, 110, 30]), bowl];
    let mut builder = builder();
    let view = looking([0.34, 0.0, 0.67], [0.34, 0.001, 0.0]);
    builder.update(&render(&parts, &VGA, &view, SIGMA, 1), None, false, 0).unwrap();
    let bowl = builder.map().objects.iter().find(|o| o.class_name == "bowl").unwrap();
    assert!(bowl.bounds.size.z < 0.07, "{:?}", bowl.bounds);
    assert!((bowl.bounds.top() - 0.14).abs() < 0.01, "{:?}", bowl.bounds);
}

#[test]
fn a_second_view_merges_and_keeps_keys() {
    let things = ten();
    let mut builder = builder();
    builder.update(&render(&things, &QVGA, &home(), SIGMA, 1), None, false, 0).unwrap();
    let before: Vec<String> = keys(builder.map()).iter().map(ToString::to_string).collect();
    let mut left = render(&things, &QVGA, &looking([0.3, 0.35, 0.5], [0.45, 0.0, 0.0]), SIGMA, 2);
    left.view = "left".to_owned();
    let report = builder.update(&left, None, false, 0).unwrap();
    assert_eq!(keys(builder.map()), before);
    assert_eq!((report.added.len(), report.removed.len(), report.moved.len()), (0, 0, 0), "{report:?}");
    let mug = at(builder.map(), 0.35, 0.15);
    assert_eq!((mug.view_count, mug.crops.len()), (2, 2));
}

fn check(change: impl FnOnce(&mut Keyframe), expected: &[(&str, f64, f64)]) {
    let things = [
        thing("mug", Form::Cup(0.04, 0.09, 0.005), 0.38, 0.08, [196, 30, 36]),
        thing("block", Form::Block([0.05, 0.05, 0.05]), 0.38, -0.06, [34, 74, 188]),
    ];
    let mut frame = render(&things, &VGA, &home(), SIGMA, 3);
    change(&mut frame);
    let mut builder = builder();
    builder.update(&frame, None, false, 0).unwrap();
    let map = builder.map();
    assert_eq!(map.objects.len(), expected.len(), "{:?}", keys(map));
    for (class, x, y) in expected {
        assert_eq!(at(map, *x, *y).class_name, *class, "{:?}", keys(map));
    }
}

#[test]
fn what_has_no_mask_is_told_from_what_is_cut_off_and_from_what_has_no_depth() {
    let block = [thing("block", Form::Block([0.05, 0.05, 0.05]), 0.38, -0.06, [34, 74, 188])];
    let skipped = |change: &dyn Fn(&mut Keyframe)| {
        let mut frame = render(&block, &VGA, &home(), SIGMA, 3);
        change(&mut frame);
        let skipped = builder().update(&frame, None, false, 0).unwrap().skipped;
        (skipped.undrawn, skipped.slivers, skipped.unmeasured)
    };
    assert_eq!(skipped(&|_| {}), (0, 0, 0));
    assert_eq!(skipped(&|frame| relabel(frame, |_, _, _| 0)), (1, 0, 0));
    // Six pixels by six are four by four without their edge, one by one nothing: drawn they are.
    for side in [1, 6] {
        let corner = |frame: &mut Keyframe| {
            let labels = &mut frame.labels;
            let first = labels.labels.iter().position(|label| *label > 0).expect("a block");
            labels.labels.fill(0);
            for row in 0..side {
                labels.labels[first + row * labels.width..][..side].fill(1);
            }
        };
        assert_eq!(skipped(&corner), (0, 1, 0), "{side}");
    }
    let holes = |frame: &mut Keyframe| {
        for (depth, label) in frame.depth.millimetres.iter_mut().zip(&frame.labels.labels) {
            *depth *= u16::from(*label == 0);
        }
    };
    assert_eq!(skipped(&holes), (0, 0, 1));
    // A few rows of it, as they show beside a finger: an edge, and cameras measure no edges.
    let strip = |frame: &mut Keyframe| {
        let labels = &mut frame.labels;
        let first = labels.labels.iter().position(|label| *label > 0).expect("a block");
        let rows = (first / labels.width + 4) * labels.width;
        labels.labels[rows..].fill(0);
        holes(frame);
    };
    assert_eq!(skipped(&strip), (0, 0, 0));
}

#[test]
fn the_detector_may_err() {
    let right = [("mug", 0.38, 0.08), ("block", 0.38, -0.06)];
    check(|_| {}, &right);
    // Missed: still there, without a name.
    check(|f| relabel(f, |l, _, _| if l == 1 { 0 } else { l }), &[("", 0.38, 0.08), ("block", 0.38, -0.06)]);
    // Merged: two objects.
    check(|f| relabel(f, |_, _, _| 2), &[("block", 0.38, 0.08), ("block", 0.38, -0.06)]);
    // Eroded by four pixels.
    check(
        |f| {
            let before = f.labels.labels.clone();
            let width = f.labels.width;
            relabel(f, |l, u, v| {
                let same = |du: isize, dv: isize| {
                    before[(v as isize + dv) as usize * width + (u as isize + du) as usize] == l
                };
                let inside = (-4..=4).all(|d| same(d, 0) && same(0, d));
                if inside { l } else { 0 }
            });
        },
        &right,
    );
    // Split down the middle.
    check(
        |f| {
            let columns: Vec<usize> = (0..f.labels.labels.len())
                .filter(|i| f.labels.labels[*i] == 2)
                .map(|i| i % f.labels.width)
                .collect();
            let middle = columns.iter().sum::<usize>() / columns.len();
            relabel(f, |l, u, _| if l == 2 && u > middle { 3 } else { l });
            f.detections.push(crate::Detection { label: 3, class_name: "block".to_owned(), score: 0.8 });
        },
        &right,
    );
    // Split, and one half is misnamed.
    check(
        |f| {
            let columns: Vec<usize> = (0..f.labels.labels.len())
                .filter(|i| f.labels.labels[*i] == 2)
                .map(|i| i % f.labels.width)
                .collect();
            let middle = columns.iter().sum::<usize>() / columns.len();
            relabel(f, |l, u, _| if l == 2 && u > middle { 3 } else { l });
            f.detections.push(crate::Detection { label: 3, class_name: "sponge".to_owned(), score: 0.5 });
        },
        &right,
    );
    // A label nobody described, and a detection without pixels.
    check(
        |f| {
            relabel(f, |l, u, v| if u < 3 && v < 3 { 77 } else { l });
            f.detections.push(crate::Detection { label: 9, class_name: "ghost".to_owned(), score: 0.8 });
        },
        &right,
    );
    // A detection on the bare table.
    check(
        |f| {
            for v in 400..440 {
                for u in 20..60 {
                    f.labels.labels[v * 640 + u] = 9;
                }
            }
            f.detections.push(crate::Detection { label: 9, class_name: "ghost".to_owned(), score: 0.8 });
        },
        &right,
    );
}

#[test]
fn half_of_the_box_missed_is_one_box() {
    check(
        |f| relabel(f, |l, u, v| if l == 2 && (u + v) % 640 > 500 { 0 } else { l }),
        &[("mug", 0.38, 0.08), ("block", 0.38, -0.06)],
    );
}

#[test]
fn what_lies_in_a_bowl_is_an_object_even_when_missed() {
    let bowl = thing("bowl", Form::Cup(0.08, 0.05, 0.006), 0.42, 0.0, [232, 232, 228]);
    let mut apple = thing("apple", Form::Ball(0.03), 0.42, 0.0, [196, 30, 36]);
    apple.at[2] = 0.006;
    let mut frame = render(&[bowl, apple], &VGA, &home(), SIGMA, 3);
    let mut named = builder();
    named.update(&frame, None, false, 0).unwrap();
    assert_eq!(keys(named.map()), ["bowl_0", "apple_0"]);
    relabel(&mut frame, |l, _, _| if l == 2 { 0 } else { l });
    let mut nameless = builder();
    nameless.update(&frame, None, false, 0).unwrap();
    assert_eq!(keys(nameless.map()), ["bowl_0", "object_0"]);
    // A later view names it.
    let frame = render(
        &[
            thing("bowl", Form::Cup(0.08, 0.05, 0.006), 0.42, 0.0, [232, 232, 228]),
            Thing {
                class: "apple",
                form: Form::Ball(0.03),
                at: [0.42, 0.0, 0.006, 0.0],
                color: [196, 30, 36],
            },
        ],
        &VGA,
        &home(),
        SIGMA,
        4,
    );
    nameless.update(&frame, None, false, 0).unwrap();
    assert_eq!(nameless.map().objects[1].class_name, "apple");
    assert_eq!(nameless.map().objects.len(), 2);
}

#[test]
fn a_can_split_through_its_lid_is_one_and_touching_blocks_of_two_colours_are_two() {
    let can = thing("can", Form::Can(0.035, 0.1), 0.42, 0.0, [196, 30, 36]);
    let mut frame = render(&[can], &VGA, &home(), SIGMA, 3);
    // A grey lid: what is highest. The cut goes down the middle, through lid and side.
    let top: Vec<usize> = (0..frame.labels.labels.len())
        .filter(|i| frame.labels.labels[*i] == 1 && frame.depth.millimetres[*i] > 0)
        .collect();
    let scene = crate::segment::segment(&frame, &SegmentSettings::default(), None, 0);
    for index in &top {
        if scene.grid.points[*index].is_some_and(|p| p.z > 0.094) {
            frame.color.pixels[*index] = [176, 180, 184];
        }
    }
    let middle = top.iter().map(|i| i / 640).sum::<usize>() / top.len();
    relabel(&mut frame, |l, _, v| if v > middle { 2 } else { l });
    frame.detections.push(crate::Detection { label: 2, class_name: "can".to_owned(), score: 0.7 });
    let mut builder = builder();
    builder.update(&frame, None, false, 0).unwrap();
    assert_eq!(keys(builder.map()), ["can_0"]);
    let blocks = [
        thing("block", Form::Block([0.05, 0.05, 0.05]), 0.42, 0.0, [196, 30, 36]),
        thing("block", Form::Block([0.05, 0.05, 0.05]), 0.42, 0.0505, [34, 74, 188]),
    ];
    let mut builder = super::tests::builder();
    builder.update(&render(&blocks, &VGA, &home(), SIGMA, 1), None, false, 0).unwrap();
    assert_eq!(keys(builder.map()), ["block_0", "block_1"]);
}

#[test]
fn a_split_plate_is_one_plate() {
    let plate = [thing("plate", Form::Cup(0.095, 0.018, 0.005), 0.42, 0.0, [120, 172, 228])];
    for angle in [0.0, 0.8, 1.6, 2.4_f64] {
        let mut frame = render(&plate, &VGA, &home(), SIGMA, 3);
        let (mut sum, mut count) = ((0, 0), 0);
        relabel(&mut frame, |l, u, v| {
            sum = (sum.0 + u, sum.1 + v);
            count += 1;
            l
        });
        let middle = (sum.0 as f64 / f64::from(count), sum.1 as f64 / f64::from(count));
        relabel(&mut frame, |l, u, v| {
            let side = (u as f64 - middle.0) * angle.cos() + (v as f64 - middle.1) * angle.sin();
            if side.abs() < 2.0 {
                0
            } else if side > 0.0 {
                2
            } else {
                l
            }
        });
        frame.detections.push(crate::Detection { label: 2, class_name: "plate".to_owned(), score: 0.7 });
        let mut builder = builder();
        builder.update(&frame, None, false, 0).unwrap();
        assert_eq!(keys(builder.map()), ["plate_0"], "{angle}");
    }
}

#[test]
fn equal_blocks_side_by_side_stay_two() {
    let blocks: Vec<Thing> = [0.0, 0.065]
        .iter()
        .map(|y| thing("block", Form::Block([0.05, 0.05, 0.05]), 0.4, *y, [196, 30, 36]))
        .collect();
    let mut builder = builder();
    for seed in 0..3 {
        builder.update(&render(&blocks, &VGA, &home(), SIGMA, seed), None, false, seed).unwrap();
        assert_eq!(keys(builder.map()), ["block_0", "block_1"]);
    }
}

/// What is flatter than a centimetre has no depth behind it that tells that it is gone: the bare support at its place does.
#[test]
fn what_is_flat_stays_while_it_is_there_and_goes_when_it_is_gone() {
    for height in [0.005, 0.008, 0.02] {
        let knife = Thing {
            class: "knife",
            form: Form::Block([0.18, 0.025, height]),
            at: [0.42, 0.28, 0.0, 0.3],
            color: [60, 60, 70],
        };
        let mut with = ten();
        with.push(knife);
        let mut builder = builder();
        for seed in 1..=6 {
            builder.update(&render(&with, &VGA, &home(), SIGMA, seed), None, false, 0).unwrap();
            assert_eq!(builder.map().objects.len(), 11, "{height} {seed}: {:?}", keys(builder.map()));
        }
        for seed in 7..=8 {
            builder.update(&render(&ten(), &VGA, &home(), SIGMA, seed), None, false, 0).unwrap();
        }
        assert_eq!(builder.map().objects.len(), 10, "{height}: {:?}", keys(builder.map()));
    }
}

#[test]
fn what_is_out_of_view_or_hidden_stays() {
    let all = ten();
    let mut builder = builder();
    builder.update(&render(&all, &QVGA, &home(), SIGMA, 1), None, false, 0).unwrap();
    let aside = looking([0.3, 0.3, 0.3], [0.35, 0.6, 0.0]);
    builder.update(&render(&all, &QVGA, &aside, SIGMA, 2), None, false, 0).unwrap();
    assert_eq!(builder.map().objects.len(), 10, "{:?}", keys(builder.map()));
    // A board in front of the camera hides everything and proves nothing.
    let mut hidden = all.clone();
    hidden.push(Thing {
        class: "board",
        form: Form::Block([0.01, 1.0, 0.6]),
        at: [0.25, 0.0, 0.0, 0.0],
        color: [90, 90, 90],
    });
    builder.update(&render(&hidden, &QVGA, &home(), SIGMA, 3), None, false, 0).unwrap();
    assert_eq!(keys(builder.map()).iter().filter(|k| !k.starts_with("board")).count(), 10);
}

#[test]
fn reset_forgets_all_but_the_keys_of_what_is_recognised() {
    let all = ten();
    let mut builder = builder();
    builder.update(&render(&all, &QVGA, &home(), SIGMA, 1), None, false, 0).unwrap();
    let before: Vec<String> = keys(builder.map()).iter().map(ToString::to_string).collect();
    builder.update(&render(&all[..5], &QVGA, &home(), SIGMA, 2), None, true, 0).unwrap();
    assert_eq!(keys(builder.map()), before[..5]);
    assert!(builder.map().objects.iter().all(|o| o.view_count == 1));
}

#[test]
fn the_robot_and_what_it_holds_are_not_on_the_map() {
    let mut things = ten();
    things.push(Thing {
        class: "spoon",
        form: Form::Block([0.03, 0.02, 0.06]),
        at: [0.3, 0.0, 0.2, 0.0],
        color: [9, 9, 9],
    });
    let mut frame = render(&things, &VGA, &home(), SIGMA, 1);
    let tool = Tool { position: Point3::new(0.3, 0.0, 0.25), radius: 0.1, holds: None };
    let mut held = builder();
    let report = held.update(&frame, Some(&tool), false, 0).unwrap();
    assert_eq!((report.held, held.map().objects.len()), (1, 10), "{:?}", keys(held.map()));
    frame.robot = vec![prehend_geometry::OrientedBox {
        pose: Isometry3::translation(0.3, 0.0, 0.23),
        size: Vector3::new(0.06, 0.06, 0.1),
    }];
    let mut robot = builder();
    robot.update(&frame, None, false, 0).unwrap();
    assert_eq!(robot.map().objects.len(), 10, "{:?}", keys(robot.map()));
}

#[test]
fn a_place_that_was_hidden_once_is_seen_to_be_empty_later() {
    let mut things = ten();
    let mut builder = builder();
    builder.update(&render(&things, &VGA, &home(), SIGMA, 1), None, false, 0).unwrap();
    // The mug goes away while a board hides its upper part.
    things.remove(0);
    let mut hidden = things.clone();
    hidden.push(Thing {
        class: "board",
        form: Form::Block([0.005, 0.06, 0.05]),
        at: [0.27, 0.12, 0.2, 0.0],
        color: [90, 90, 90],
    });
    builder.update(&render(&hidden, &VGA, &home(), SIGMA, 2), None, false, 0).unwrap();
    builder.update(&render(&things, &VGA, &home(), SIGMA, 3), None, false, 0).unwrap();
    assert_eq!(builder.map().objects.len(), 9, "{:?}", keys(builder.map()));
}

#[test]
fn bad_frames_are_typed_and_change_nothing() {
    let good = render(&ten(), &QVGA, &home(), 0.0, 1);
    let mut builder = builder();
    builder.update(&good, None, false, 0).unwrap();
    let before = builder.map().clone();
    let mut fails = |change: fn(&mut Keyframe), expected: fn(&KeyframeError) -> bool| {
        let mut frame = good.clone();
        change(&mut frame);
        let error = builder.update(&frame, None, true, 0).unwrap_err();
        assert!(expected(&error), "{error:?}");
        assert_eq!(*builder.map(), before);
    };
    fails(|f| f.depth.millimetres.fill(0), |e| matches!(e, KeyframeError::BadDepth { .. }));
    fails(|f| f.map_from_camera.translation.x = 50.0, |e| matches!(e, KeyframeError::Empty));
    fails(|f| f.map_from_camera.translation.x = f64::NAN, |e| matches!(e, KeyframeError::Pose));
    fails(|f| f.intrinsics.fx = 0.0, |e| matches!(e, KeyframeError::Intrinsics(_)));
    fails(|f| f.color.width = 7, |e| matches!(e, KeyframeError::Size { image: "color", .. }));
    fails(|f| f.labels.labels.truncate(5), |e| matches!(e, KeyframeError::Size { image: "label", .. }));
    fails(|f| f.depth = Default::default(), |e| matches!(e, KeyframeError::Size { image: "depth", .. }));
}

#[test]
fn equal_frames_give_equal_maps() {
    let frame = render(&ten(), &QVGA, &home(), SIGMA, 1);
    let run = || {
        let mut builder = builder();
        builder.update(&frame, None, false, 5).unwrap();
        builder.map().clone()
    };
    assert_eq!(run(), run());
}
