//! What holds by every rule of merging, for maps of many keyframes from anywhere, and what each rule is.

use super::associate::{AssociationSettings, merge_within, pair};
use super::known::{Known, boxes};
use super::*;
use crate::render::{Form, Thing, VGA, looking, render, thing};
use nalgebra::Isometry3;
use prehend_geometry::voxel::overlap_ratio;
use prehend_geometry::{AxisBox, BoxHash, OrientedBox, PointCloud};
use prehend_scene::merge::{Averaging, MergeMethod, semantic_similarity};
use proptest::prelude::*;

/// Where the camera stands, for one table.
const EYES: [[f64; 3]; 5] =
    [[0.15, 0.0, 0.55], [0.42, 0.5, 0.45], [0.95, 0.05, 0.5], [0.4, -0.5, 0.5], [0.41, 0.0, 0.8]];

fn builder(method: MergeMethod) -> MapBuilder {
    MapBuilder::new("map", MapSettings { merge: method.rule(), ..MapSettings::default() })
}

/// Things far enough from each other that every rule tells them apart.
fn table() -> Vec<Thing> {
    vec![
        thing("mug", Form::Can(0.04, 0.09), 0.30, 0.20, [196, 30, 36]),
        thing("block", Form::Block([0.06, 0.06, 0.05]), 0.52, 0.18, [236, 204, 38]),
        thing("bottle", Form::Can(0.03, 0.16), 0.42, 0.0, [28, 28, 30]),
        thing("box", Form::Block([0.08, 0.12, 0.06]), 0.30, -0.18, [34, 74, 188]),
        thing("ball", Form::Ball(0.04), 0.54, -0.2, [44, 140, 58]),
    ]
}

/// Keyframe `number` of a tour around the table.
fn keyframe(things: &[Thing], number: usize) -> Keyframe {
    let pose = looking(EYES[number % EYES.len()], [0.42, 0.001, 0.0]);
    let mut frame = render(things, &VGA, &pose, 0.002, number as u64);
    frame.view = format!("view {number}");
    frame.stamp = number as f64;
    frame
}

fn tour(builder: &mut MapBuilder, things: &[Thing], numbers: std::ops::Range<usize>) -> Vec<UpdateReport> {
    numbers.map(|number| builder.update(&keyframe(things, number), None, false, 1).unwrap()).collect()
}

/// Keys of what stands within 6 cm of (x, y).
fn keys_at(map: &ObjectMap, x: f64, y: f64) -> Vec<&str> {
    let near = |o: &&Object| {
        let c = o.bounds.pose.translation.vector;
        (c.x - x).hypot(c.y - y) < 0.06
    };
    map.objects.iter().filter(near).map(|o| o.key.0.as_str()).collect()
}

#[test]
fn a_tour_gives_each_thing_one_object_and_merging_off_one_for_each_sighting() {
    for method in MergeMethod::ALL {
        let mut builder = builder(method);
        let reports = tour(&mut builder, &table(), 0..5);
        let map = builder.map();
        assert_eq!(map.version, 5, "{method:?}");
        if method == MergeMethod::Off {
            assert_eq!(map.objects.len(), 25);
            continue;
        }
        assert_eq!(map.objects.len(), 5, "{method:?}: {reports:?}");
        for object in &map.objects {
            assert_eq!((object.view_count, object.crops.len()), (5, 5), "{method:?} {}", object.key);
            assert!(object.crops.windows(2).all(|pair| pair[0].rank >= pair[1].rank), "best first");
        }
        assert!(reports[1..].iter().all(|r| r.merged.len() == 5 && r.removed.is_empty()), "{reports:?}");
    }
}

#[test]
fn what_was_taken_away_between_two_keyframes_vanishes() {
    for method in MergeMethod::ALL {
        let mut builder = builder(method);
        tour(&mut builder, &table(), 0..3);
        let mut fewer = table();
        fewer.remove(2);
        let reports = tour(&mut builder, &fewer, 3..5);
        assert!(keys_at(builder.map(), 0.42, 0.0).is_empty(), "{method:?}: {reports:?}");
        assert!(reports.iter().any(|r| r.removed.contains(&"bottle_0".into())), "{method:?}: {reports:?}");
        assert!(!keys_at(builder.map(), 0.30, 0.20).is_empty(), "{method:?}: the others stay");
    }
}

#[test]
fn what_moved_keeps_its_key() {
    for method in MergeMethod::ALL {
        let mut builder = builder(method);
        tour(&mut builder, &table(), 0..1);
        let mut other = table();
        other[0].at = [0.42, 0.32, 0.0, 0.4];
        let reports = tour(&mut builder, &other, 2..3);
        assert_eq!(reports[0].moved, ["mug_0".into()], "{method:?}: {reports:?}");
        assert_eq!(keys_at(builder.map(), 0.42, 0.32), ["mug_0"], "{method:?}");
        assert!(keys_at(builder.map(), 0.30, 0.20).is_empty(), "{method:?}");
        let again = tour(&mut builder, &other, 3..5);
        if method != MergeMethod::Off {
            assert!(
                again.iter().all(|r| r.added.is_empty() && r.removed.is_empty()),
                "{method:?}: {again:?}"
            );
            assert_eq!(builder.map().objects.len(), 5);
        }
    }
}

#[test]
fn what_has_no_name_and_moved_keeps_its_key_by_its_colours_and_size() {
    let nameless = |things: &[Thing], number| {
        let mut frame = keyframe(things, number);
        frame.labels.labels.fill(0);
        frame.detections.clear();
        frame
    };
    let mut other = table();
    other[0].at = [0.42, 0.32, 0.0, 0.4];
    let mut builder = MapBuilder::new("map", MapSettings::recorded());
    builder.update(&nameless(&table(), 0), None, false, 1).unwrap();
    let mug = keys_at(builder.map(), 0.30, 0.20)[0].to_owned();
    let report = builder.update(&nameless(&other, 2), None, false, 1).unwrap();
    assert_eq!(report.moved, [mug.as_str().into()], "{report:?}");
    assert_eq!(keys_at(builder.map(), 0.42, 0.32), [mug.as_str()]);
    // Something else in another place is not what is gone from here.
    other[0] = thing("mug", Form::Can(0.04, 0.09), 0.30, 0.20, [232, 232, 228]);
    let report = builder.update(&nameless(&other, 0), None, false, 1).unwrap();
    assert!(report.moved.is_empty() && report.removed == [mug.as_str().into()], "{report:?}");
}

#[test]
fn masks_as_drawn_are_things_and_nothing_else_is() {
    let settings = MapSettings {
        masks: MaskUse::AsDrawn,
        merge: MergeMethod::ConceptGraphs.rule(),
        ..MapSettings::recorded()
    };
    // The ball has no mask, and one mask holds two things that stand apart.
    let drawn = |number| {
        let mut frame = keyframe(&table(), number);
        frame.labels.labels.iter_mut().for_each(|label| *label = [0, 1, 2, 3, 1, 0][usize::from(*label)]);
        frame.detections.retain(|detection| detection.label < 4);
        frame
    };
    let mut builder = MapBuilder::new("map", settings);
    for number in 0..5 {
        builder.update(&drawn(number), None, false, 1).unwrap();
    }
    assert_eq!(builder.map().objects.len(), 3);
    assert_eq!(keys_at(builder.map(), 0.42, 0.0), ["bottle_0"]);
    assert!(keys_at(builder.map(), 0.54, -0.2).is_empty(), "the ball");
    assert_eq!(builder.map().support_plane, None);
    // Without masks nothing is added, and what is there stays.
    let mut bare = keyframe(&table(), 0);
    bare.labels.labels.fill(0);
    bare.detections.clear();
    let report = builder.update(&bare, None, false, 1).unwrap();
    assert!(report.added.is_empty() && report.removed.is_empty(), "{report:?}");
}

#[test]
fn what_is_hidden_or_out_of_view_stays() {
    for method in MergeMethod::ALL {
        let mut builder = builder(method);
        tour(&mut builder, &table(), 0..1);
        let mut hidden = table();
        // A board between the camera and all else; then a look at the empty side of the table.
        hidden.push(thing("board", Form::Block([0.01, 1.2, 0.6]), 0.25 - 0.06, 0.0, [90, 90, 90]));
        let report = builder.update(&keyframe(&hidden, 5), None, false, 1).unwrap();
        assert!(report.removed.is_empty() && report.moved.is_empty(), "{method:?}: {report:?}");
        let mut aside = render(&table(), &VGA, &looking([0.5, 0.5, 0.4], [0.5, 0.9, 0.0]), 0.002, 9);
        (aside.view, aside.stamp) = ("aside".to_owned(), 9.0);
        let report = builder.update(&aside, None, false, 1).unwrap();
        assert!(report.removed.is_empty(), "{method:?}: {report:?}");
        for thing in table() {
            assert!(
                !keys_at(builder.map(), thing.at[0], thing.at[1]).is_empty(),
                "{method:?} {}",
                thing.class
            );
        }
    }
}

#[test]
fn a_damaged_update_changes_nothing_by_any_rule() {
    for method in MergeMethod::ALL {
        let mut builder = builder(method);
        tour(&mut builder, &table(), 0..2);
        let before = builder.map().clone();
        let mut lost = keyframe(&table(), 2);
        lost.map_from_camera.translation.y = f64::NAN;
        assert_eq!(builder.update(&lost, None, true, 1), Err(KeyframeError::Pose));
        let mut empty = keyframe(&table(), 2);
        empty.depth.millimetres.fill(0);
        assert!(builder.update(&empty, None, true, 1).is_err());
        let mut elsewhere = keyframe(&table(), 2);
        elsewhere.map_from_camera.translation.x = 90.0;
        assert_eq!(builder.update(&elsewhere, None, true, 1), Err(KeyframeError::Empty));
        assert_eq!(*builder.map(), before, "{method:?}");
        tour(&mut builder, &table(), 2..3);
        assert_eq!(builder.map().version, before.version + 1);
    }
}

/// A cube of points of edge 5 cm at (x, y), with features.
fn cube(key: &str, x: f64, y: f64, features: [f32; 2], age: u64) -> Known {
    let side = |i: i32| f64::from(i) * 0.005;
    let points = (0..10).flat_map(|i| {
        (0..10).flat_map(move |j| (0..10).map(move |k| Point3::new(x + side(i), y + side(j), side(k))))
    });
    let cloud = PointCloud::from_points(points.collect());
    let bounds = OrientedBox::upright_around(&cloud.points).unwrap();
    let mut object = Object::unnamed(key.into(), cloud, bounds);
    (object.features, object.view_count) = (features.to_vec(), 1);
    let mut known = Known::seen(object, 1.0, &MergeRule::concept_graphs(), 1);
    known.track.age = age;
    known
}

#[test]
fn pieces_that_one_frame_shows_are_one_by_asp() {
    let rule = MergeRule { distance: 0.0051, leaf: 0.001, ..MergeRule::asp() };
    let merged = |pieces: &[Known]| {
        let merged = merge_within(pieces.to_vec(), &rule, 1);
        let lengths = merged.iter().map(|known| (known.object.bounds.size.max() * 1e3).round() as i64);
        assert!(merged.iter().all(|known| known.object.view_count == 1), "one frame is one view");
        lengths.collect::<Vec<_>>()
    };
    let piece = |y: f64, features| cube("", 0.0, y, features, 0);
    // 45 mm each, 25 mm apart; phi_geo is 0.6.
    assert_eq!(merged(&[piece(0.0, [1.0, 0.0]), piece(0.025, [1.0, 0.0])]), [70], "1.6");
    assert_eq!(merged(&[piece(0.0, [1.0, 0.0]), piece(0.025, [-1.0, 0.0])]), [45, 45], "0.6");
    // The third lies on what the first two became, not on the first.
    assert_eq!(merged(&[0.0, 0.025, 0.05].map(|y| piece(y, [1.0, 0.0]))), [95]);
    // Without the frame's own step, a map takes them for two.
    let near = boxes([]);
    assert_eq!(
        pair(
            &[],
            &[],
            &[piece(0.0, [1.0, 0.0]), piece(0.025, [1.0, 0.0])],
            &near,
            &rule,
            &AssociationSettings::default()
        ),
        [None, None]
    );
}

#[test]
fn by_concept_graphs_each_detection_goes_to_the_highest_phi_above_delta_sim() {
    let rule = MergeRule { distance: 0.0051, ..MergeRule::concept_graphs() };
    let map = [cube("a", 0.0, 0.0, [1.0, 0.0], 1), cube("b", 0.2, 0.0, [1.0, 0.0], 2)];
    let near = boxes(map.iter().map(|known| &known.object));
    let went = |seen: &[Known], rule: &MergeRule| {
        pair(&map, &[false; 2], seen, &near, rule, &AssociationSettings::default())
    };
    // Several may go to one object, and how alike they are stands in for where they are: phi_geo of half a cube is 0.6 here.
    let half = |cosine: [f32; 2]| cube("", 0.0, 0.025, cosine, 0);
    assert_eq!(went(&[half([1.0, 0.0]), half([0.0, 1.0])], &rule), [Some(0), None], "0.6 + 1, 0.6 + 0.5");
    let lower = MergeRule { threshold: 1.09, ..rule };
    assert_eq!(went(&[half([1.0, 0.0]), half([0.0, 1.0])], &lower), [Some(0), Some(0)]);
    // Nothing shares a place with it: not compared, whatever the threshold.
    assert_eq!(went(&[cube("", 0.1, 0.0, [1.0, 0.0], 0)], &MergeRule { threshold: 0.0, ..rule }), [None]);
    // What is gone takes nothing.
    assert_eq!(
        pair(&map, &[true, false], &[half([1.0, 0.0])], &near, &rule, &AssociationSettings::default()),
        [None]
    );
}

#[test]
fn of_two_objects_that_become_one_the_older_key_stays() {
    let rule = MergeRule::concept_graphs();
    let join = rule.join.unwrap();
    // The younger comes first in the list: it was moved.
    let mut objects = vec![
        cube("young", 0.0, 0.0, [1.0, 0.0], 7),
        cube("old", 0.004, 0.0, [0.9, 0.1], 3),
        cube("other", 0.0, 0.0, [0.0, 1.0], 1),
    ];
    let mut report = UpdateReport::default();
    join::join_overlapping(&mut objects, &join, &rule, 1, &mut report);
    let keys: Vec<&str> = objects.iter().map(|known| known.object.key.0.as_str()).collect();
    assert_eq!(keys, ["old", "other"], "what looks otherwise is another");
    assert_eq!(report.joined, [("young".into(), "old".into())]);
    assert_eq!((report.removed, report.merged), (vec!["young".into()], vec!["old".into()]));
    assert_eq!(objects[0].object.view_count, 2);
    // Unchanged objects are left alone.
    let mut quiet = vec![cube("a", 0.0, 0.0, [1.0, 0.0], 1), cube("b", 0.0, 0.0, [1.0, 0.0], 2)];
    join::join_overlapping(&mut quiet, &join, &rule, 2, &mut UpdateReport::default());
    assert_eq!(quiet.len(), 2);
}

#[test]
fn denoising_keeps_the_largest_cluster_of_what_changed() {
    let rule = MergeRule::concept_graphs();
    let settings = rule.denoise.unwrap();
    let with_stray = || {
        let mut known = cube("a", 0.0, 0.0, [1.0, 0.0], 1);
        known.object.cloud.points.push(Point3::new(0.5, 0.0, 0.0));
        known
    };
    let mut objects = [with_stray()];
    join::denoise(&mut objects, &settings, 2);
    assert_eq!(objects[0].object.cloud.len(), 1001, "not changed in this update");
    join::denoise(&mut objects, &settings, 1);
    assert_eq!(objects[0].object.cloud.len(), 1000);
    assert!(objects[0].object.bounds.size.x < 0.05);
}

#[test]
fn features_are_averaged_by_detections_or_by_the_weights_of_views() {
    let merged = |averaging| {
        let rule = MergeRule { averaging, ..MergeRule::concept_graphs() };
        let of = |features, weight| Known::seen(cube("a", 0.0, 0.0, features, 1).object, weight, &rule, 1);
        let mut known = of([1.0, 0.0], 0.9);
        known.merge(of([0.0, 1.0], 0.3), &rule, 2);
        known.object.features[1] / known.object.features[0]
    };
    assert!((merged(Averaging::Detections) - 1.0).abs() < 1e-6);
    assert!((merged(Averaging::Views) - 1.0 / 3.0).abs() < 1e-6);
}

/// A thing of scattered points, some of them bulky.
fn scattered() -> impl Strategy<Value = Known> {
    let middle = (0.0..0.5_f64, 0.0..0.5_f64, 0.0..0.1_f64);
    let points = prop::collection::vec((-1.0..1.0_f64, -1.0..1.0_f64, -1.0..1.0_f64), 20..120);
    (middle, points, 0.01..0.08_f64, -1.0..1.0_f32, any::<bool>()).prop_map(
        |((x, y, z), raw, size, turn, named)| {
            let points =
                raw.into_iter().map(|(a, b, c)| Point3::new(x + size * a, y + size * b, z + size * c));
            let cloud = PointCloud::from_points(points.collect());
            let bounds = OrientedBox::upright_around(&cloud.points).unwrap();
            let mut object = Object::unnamed(ObjectKey::default(), cloud, bounds);
            (object.features, object.view_count) = (vec![turn.cos(), turn.sin()], 1);
            object.class_name = if named { "mug" } else { "" }.to_owned();
            Known::seen(object, 1.0, &MergeRule::default(), 1)
        },
    )
}

/// The highest `phi` by looking at every pair of clouds.
fn brute_greedy(old: &[Known], seen: &[Known], rule: &MergeRule) -> Vec<Option<usize>> {
    let phi = |known: &Known, thing: &Known| {
        let geometry = overlap_ratio(&thing.object.cloud.points, &known.object.cloud.points, rule.distance);
        let sum = geometry + semantic_similarity(&known.object.features, &thing.object.features);
        (geometry > 0.0 && sum > rule.threshold).then_some(sum)
    };
    let best = |thing: &Known| {
        let mut best: Option<(f64, usize)> = None;
        for (place, known) in old.iter().enumerate() {
            if let Some(sum) = phi(known, thing).filter(|sum| best.is_none_or(|(most, _)| *sum > most)) {
                best = Some((sum, place));
            }
        }
        best.map(|(_, place)| place)
    };
    seen.iter().map(best).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn association_by_place_is_that_of_all_pairs(
        old in prop::collection::vec(scattered(), 0..12),
        seen in prop::collection::vec(scattered(), 0..12),
        distance in 0.005..0.04_f64,
    ) {
        let near = boxes(old.iter().map(|known| &known.object));
        let gone = vec![false; old.len()];
        let rule = MergeRule { distance, threshold: 0.9, ..MergeRule::concept_graphs() };
        prop_assert_eq!(pair(&old, &gone, &seen, &near, &rule, &AssociationSettings::default()), brute_greedy(&old, &seen, &rule));
        // With every object a neighbour of every thing, the pairs are the same.
        let rule = MergeRule { distance, min_geometry: 0.1, threshold: 0.8, ..MergeRule::default() };
        let everywhere = OrientedBox { pose: Isometry3::identity(), size: Vector3::repeat(10.0) };
        let all = BoxHash::new(old.iter().map(|_| AxisBox::around(&everywhere)));
        let pairs = pair(&old, &gone, &seen, &near, &rule, &AssociationSettings::default());
        prop_assert_eq!(&pairs, &pair(&old, &gone, &seen, &all, &rule, &AssociationSettings::default()));
        let mut taken: Vec<usize> = pairs.into_iter().flatten().collect();
        taken.sort_unstable();
        prop_assert!(taken.windows(2).all(|pair| pair[0] < pair[1]), "one to one");
    }

    #[test]
    fn one_to_one_does_not_depend_on_the_order_of_things_in_a_frame(
        old in prop::collection::vec(scattered(), 0..10),
        seen in prop::collection::vec(scattered(), 1..10),
        turn in 0_usize..10, mirror in any::<bool>(),
    ) {
        let rule = MergeRule { distance: 0.02, min_geometry: 0.1, threshold: 0.8, ..MergeRule::default() };
        let near = boxes(old.iter().map(|known| &known.object));
        let gone = vec![false; old.len()];
        let straight = pair(&old, &gone, &seen, &near, &rule, &AssociationSettings::default());
        let mut order: Vec<usize> = (0..seen.len()).collect();
        order.rotate_left(turn % seen.len());
        if mirror { order.reverse(); }
        let turned: Vec<Known> = order.iter().map(|number| seen[*number].clone()).collect();
        let pairs = pair(&old, &gone, &turned, &near, &rule, &AssociationSettings::default());
        for (number, found) in order.into_iter().zip(pairs) {
            prop_assert_eq!(found, straight[number]);
        }
    }

    #[test]
    fn merging_within_a_frame_loses_no_points_place(
        seen in prop::collection::vec(scattered(), 1..10),
    ) {
        let rule = MergeRule { leaf: 0.005, ..MergeRule::asp() };
        let places: Vec<Point3<f64>> = seen.iter().flat_map(|known| known.object.cloud.points.clone()).collect();
        let count = seen.len();
        let merged = merge_within(seen, &rule, 1);
        prop_assert!(!merged.is_empty() && merged.len() <= count);
        prop_assert!(merged.iter().all(|known| known.object.view_count == 1));
        let after: Vec<Point3<f64>> = merged.iter().flat_map(|known| known.object.cloud.points.clone()).collect();
        // A voxel's diagonal for each time the clouds were down-sampled.
        prop_assert_eq!(overlap_ratio(&places, &after, 0.02 * count as f64), 1.0);
    }
}
