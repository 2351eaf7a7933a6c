use super::*;
use crate::render::{Form, Thing, VGA, looking, render, thing};
use nalgebra::{Isometry3, Vector3};
use prehend_geometry::OrientedBox;

const SIGMA: f64 = 0.002;

/// Two tables, 3 m apart, with things on them; the floor is at z = 0.
fn room() -> Vec<Thing> {
    let on = |mut thing: Thing, height: f64| {
        thing.at[2] = height;
        thing
    };
    let table = Form::Block([0.7, 1.0, 0.7]);
    vec![
        thing("table", table, 2.0, 0.0, [150, 110, 70]),
        thing("table", table, -1.5, 0.0, [150, 110, 70]),
        on(thing("apple", Form::Ball(0.035), 1.8, 0.1, [200, 20, 20]), 0.7),
        on(thing("apple", Form::Ball(0.035), 1.8, -0.1, [200, 20, 20]), 0.7),
        on(thing("bowl", Form::Cup(0.07, 0.06, 0.006), -1.35, 0.2, [240, 240, 240]), 0.7),
    ]
}

fn take(builder: &mut RoomBuilder, eye: [f64; 3], at: [f64; 3], shift: f64, seed: u64) -> UpdateReport {
    let mut frame = render(&room(), &VGA, &looking(eye, at), SIGMA, seed);
    // The robot is not quite where it thinks it is.
    frame.map_from_camera = Isometry3::translation(shift, -shift, 0.0) * frame.map_from_camera;
    frame.view = format!("tour_{seed}");
    builder.update(&frame, None, false).unwrap()
}

fn of_class<'m>(map: &'m ObjectMap, class: &str) -> Vec<&'m Object> {
    map.objects.iter().filter(|object| object.class_name == class).collect()
}

#[test]
fn things_of_several_stops_are_one_map_in_spite_of_drift() {
    let mut builder = RoomBuilder::new("map", RoomSettings::default());
    take(&mut builder, [0.4, 0.3, 1.2], [2.0, 0.0, 0.7], 0.0, 1);
    take(&mut builder, [0.6, -0.6, 1.2], [2.0, 0.0, 0.7], 0.025, 2);
    take(&mut builder, [0.2, 0.2, 1.2], [-1.5, 0.0, 0.7], -0.02, 3);
    let map = builder.map();
    let keys: Vec<&str> = map.objects.iter().map(|o| o.key.0.as_str()).collect();
    assert_eq!((of_class(map, "apple").len(), of_class(map, "bowl").len()), (2, 1), "{keys:?}");
    assert_eq!(of_class(map, "table").len(), 2, "{keys:?}");
    assert_eq!((map.frame.as_str(), map.version, map.support_plane), ("map", 3, None));
    assert!(keys.iter().all(|key| key.starts_with(ROOM_PREFIX)));
    for (object, y) in of_class(map, "apple").into_iter().zip([0.1_f64, -0.1]) {
        let centre = object.bounds.pose.translation.vector;
        let near = (centre - Vector3::new(1.8, y, 0.735)).norm();
        let other = (centre - Vector3::new(1.8, -y, 0.735)).norm();
        assert!(near.min(other) < 0.06, "{} at {centre}", object.key);
        assert_eq!(object.view_count, 2);
    }
}

#[test]
fn from_afar_one_thing_may_be_seen_in_two_places() {
    let mut builder = RoomBuilder::new("map", RoomSettings::default());
    take(&mut builder, [-1.2, 0.3, 1.3], [2.0, 0.0, 0.7], 0.0, 1);
    take(&mut builder, [-1.2, -0.3, 1.3], [2.0, 0.0, 0.7], 0.08, 2);
    assert_eq!(of_class(builder.map(), "apple").len(), 2);
}

#[test]
fn two_of_a_name_that_no_frame_shows_beside_each_other_are_one() {
    // The way between the sightings, seen from the same place: an error of localisation no larger than a drive makes.
    for (shift, expected) in [(0.05, 1), (0.12, 1), (0.25, 2)] {
        let mut builder = RoomBuilder::new("map", RoomSettings::default());
        let mut things = room();
        things.remove(3);
        for seed in 1..3 {
            let mut frame = render(&things, &VGA, &looking([0.4, 0.3, 1.2], [2.0, 0.0, 0.7]), SIGMA, seed);
            let by = if seed == 1 { 0.0 } else { shift };
            frame.map_from_camera = Isometry3::translation(by, 0.0, 0.0) * frame.map_from_camera;
            frame.view = format!("tour_{seed}");
            builder.update(&frame, None, false).unwrap();
        }
        assert_eq!(of_class(builder.map(), "apple").len(), expected, "{shift}");
    }
}

#[test]
fn what_one_frame_showed_beside_each_other_stays_two() {
    let mut builder = RoomBuilder::new("map", RoomSettings::default());
    let mut things = room();
    (things[2].at[1], things[3].at[1]) = (0.04, -0.04);
    for seed in 1..4 {
        let mut frame = render(&things, &VGA, &looking([0.4, 0.3, 1.2], [2.0, 0.0, 0.7]), SIGMA, seed);
        frame.view = format!("tour_{seed}");
        builder.update(&frame, None, false).unwrap();
    }
    assert_eq!(of_class(builder.map(), "apple").len(), 2);
}

#[test]
fn a_reset_forgets_the_things_and_keeps_counting() {
    let mut builder = RoomBuilder::new("map", RoomSettings::default());
    builder.continue_from(41);
    take(&mut builder, [0.4, 0.3, 1.2], [2.0, 0.0, 0.7], 0.0, 1);
    let before = builder.map().objects.len();
    let frame = render(&room()[3..], &VGA, &looking([0.2, 0.2, 1.2], [-1.5, 0.0, 0.7]), SIGMA, 4);
    builder.update(&frame, None, true).unwrap();
    assert!(before > 1 && builder.map().objects.len() < before);
    assert_eq!(builder.map().version, 43);
}

#[test]
fn what_the_gripper_holds_is_no_thing_of_the_room() {
    let mut builder = RoomBuilder::new("map", RoomSettings::default());
    let frame = render(&room(), &VGA, &looking([0.4, 0.3, 1.2], [2.0, 0.0, 0.7]), SIGMA, 1);
    let tool = Tool { position: nalgebra::Point3::new(1.8, 0.1, 0.74), radius: 0.06, holds: None };
    let report = builder.update(&frame, Some(&tool), false).unwrap();
    assert_eq!((report.held, of_class(builder.map(), "apple").len()), (1, 1));
}

#[test]
fn a_mask_that_was_split_is_one_thing_and_what_one_frame_alone_shows_is_none() {
    let mut builder = RoomBuilder::new("map", RoomSettings::default());
    let view = looking([0.4, 0.3, 1.2], [2.0, 0.0, 0.7]);
    for seed in 0..3 {
        let mut frame = render(&room(), &VGA, &view, SIGMA, seed);
        frame.view = "tour_1".to_owned();
        if seed == 0 {
            // The right half of an apple is named on its own, and a corner of the table is a cup.
            let number = frame.detections.len() as u16 + 1;
            let named = |label, class_name: &str| crate::Detection {
                label,
                class_name: class_name.to_owned(),
                score: 0.8,
            };
            let apple = frame.labels.labels.iter().enumerate().filter(|(_, label)| **label == 3);
            let middle = apple.map(|(index, _)| index % 640).sum::<usize>()
                / frame.labels.labels.iter().filter(|label| **label == 3).count();
            crate::render::relabel(&mut frame, |label, u, v| match label {
                3 if u > middle => number,
                1 if (300..330).contains(&u) && v > 440 => number + 1,
                label => label,
            });
            frame.detections.extend([named(number, "apple"), named(number + 1, "cup")]);
        }
        builder.update(&frame, None, false).unwrap();
    }
    assert_eq!(of_class(builder.map(), "apple").len(), 2);
    take(&mut builder, [0.2, 0.2, 1.2], [-1.5, 0.0, 0.7], 0.0, 7);
    assert_eq!((of_class(builder.map(), "cup").len(), of_class(builder.map(), "apple").len()), (0, 2));
}

#[test]
fn what_one_frame_alone_shows_stays_where_the_others_show_nothing() {
    let mut builder = RoomBuilder::new("map", RoomSettings::default());
    frames(&mut builder, 3, |seed, frame| {
        if seed > 0 {
            let missed = labels_of(frame, "apple");
            frame.detections.retain(|detection| !missed.contains(&detection.label));
            crate::render::relabel(frame, |label, _, _| if missed.contains(&label) { 0 } else { label });
        }
    });
    assert_eq!(of_class(builder.map(), "apple").len(), 2);
}

/// The farther away a thing is seen from, the more an error of the heading shifts it.
#[test]
fn from_farther_away_the_places_of_one_thing_may_be_farther_apart() {
    let things = |heading: f64| {
        let settings = RoomSettings { heading, ..RoomSettings::default() };
        let mut builder = RoomBuilder::new("map", settings);
        let mut things = room();
        things.remove(3);
        for (seed, shift) in [(1, 0.0), (2, 0.115)] {
            let mut frame = render(&things, &VGA, &looking([-1.2, 0.3, 1.3], [2.0, 0.0, 0.7]), SIGMA, seed);
            frame.map_from_camera = Isometry3::translation(shift, -shift, 0.0) * frame.map_from_camera;
            frame.view = format!("tour_{seed}");
            builder.update(&frame, None, false).unwrap();
        }
        of_class(builder.map(), "apple").len()
    };
    assert_eq!((things(RoomSettings::default().heading), things(0.0)), (1, 2));
}

#[test]
fn what_stands_on_a_table_is_no_piece_of_it() {
    let at = |centre: [f64; 3], size: [f64; 3]| OrientedBox {
        pose: nalgebra::Isometry3::translation(centre[0], centre[1], centre[2]),
        size: size.into(),
    };
    let table = at([3.0, 2.0, 0.33], [0.5, 0.5, 0.66]);
    let phone = at([3.0, 2.0, 0.69], [0.17, 0.2, 0.06]);
    assert!(
        carries(&table, &phone, &RoomSettings::default())
            && carries(&phone, &table, &RoomSettings::default())
    );
    // A piece of its top, a leg, and the top alone with the phone on it.
    assert!(!carries(&table, &at([3.1, 2.0, 0.655], [0.2, 0.2, 0.01]), &RoomSettings::default()));
    assert!(!carries(&table, &at([3.2, 2.2, 0.3], [0.05, 0.05, 0.6]), &RoomSettings::default()));
    assert!(carries(&at([3.0, 2.0, 0.65], [0.5, 0.5, 0.02]), &phone, &RoomSettings::default()));
}

#[test]
fn a_table_that_was_called_something_else_stays_one_table() {
    let mut builder = RoomBuilder::new("map", RoomSettings::default());
    let view = looking([0.4, 0.3, 1.2], [2.0, 0.0, 0.7]);
    let tables = |builder: &RoomBuilder| {
        builder
            .map()
            .objects
            .iter()
            .filter(|object| object.bounds.size.norm() > RoomSettings::default().handy)
            .count()
    };
    let mut frame = render(&room(), &VGA, &view, SIGMA, 1);
    builder.update(&frame, None, false).unwrap();
    let before = tables(&builder);
    assert!(before > 0);
    for detection in frame.detections.iter_mut().filter(|detection| detection.class_name == "table") {
        detection.class_name = "egg".to_owned();
    }
    builder.update(&frame, None, false).unwrap();
    assert_eq!(tables(&builder), before);
}

/// A detector's mask runs over the table and the apple on it, and it is called apple: the apple stays what it is.
#[test]
fn a_thing_does_not_grow_into_what_it_stands_on() {
    let view = looking([0.4, 0.3, 1.2], [2.0, 0.0, 0.7]);
    let see = |before: u64| {
        let mut builder = RoomBuilder::new("map", RoomSettings::default());
        for seed in 1..=before + 3 {
            let mut frame = render(&room(), &VGA, &view, SIGMA, seed);
            if seed > before {
                let [table, apple] = ["table", "apple"].map(|name| {
                    frame.detections.iter().find(|d| d.class_name == name).map(|d| d.label).unwrap()
                });
                frame
                    .labels
                    .labels
                    .iter_mut()
                    .filter(|label| **label == apple)
                    .for_each(|label| *label = table);
                frame.detections.retain(|detection| detection.label != apple);
                let over = frame.detections.iter_mut().find(|detection| detection.label == table).unwrap();
                over.class_name = "apple".to_owned();
            }
            frame.view = if seed > before { "second" } else { "first" }.to_owned();
            builder.update(&frame, None, false).unwrap();
        }
        of_class(builder.map(), "apple").iter().map(|apple| apple.bounds.size.norm()).collect::<Vec<_>>()
    };
    let small = see(3).into_iter().filter(|size| *size < 0.2).count();
    assert_eq!(small, 2, "both apples: {:?}", see(3));
}

/// Takes frames of the room from the first table's view, each changed, all of one stop unless the change says otherwise.
fn frames(builder: &mut RoomBuilder, count: u64, change: impl Fn(u64, &mut Keyframe)) {
    let view = looking([0.4, 0.3, 1.2], [2.0, 0.0, 0.7]);
    for seed in 0..count {
        let mut frame = render(&room(), &VGA, &view, SIGMA, seed);
        frame.view = "tour_1".to_owned();
        change(seed, &mut frame);
        builder.update(&frame, None, false).unwrap();
    }
}

/// The labels of the things of a class.
fn labels_of(frame: &Keyframe, class: &str) -> Vec<u16> {
    frame.detections.iter().filter(|d| d.class_name == class).map(|d| d.label).collect()
}

#[test]
fn a_mask_over_two_things_makes_neither_larger() {
    let mut builder = RoomBuilder::new("map", RoomSettings::default());
    let mut things = room();
    (things[2].at[1], things[3].at[1]) = (0.036, -0.036);
    for seed in 0..4 {
        let mut frame = render(&things, &VGA, &looking([0.4, 0.3, 1.2], [2.0, 0.0, 0.7]), SIGMA, seed);
        frame.view = "tour_1".to_owned();
        if seed == 1 {
            let [first, second] = labels_of(&frame, "apple")[..] else { panic!("two apples") };
            crate::render::relabel(&mut frame, |label, _, _| if label == second { first } else { label });
            frame.detections.retain(|detection| detection.label != second);
        }
        builder.update(&frame, None, false).unwrap();
    }
    let sizes: Vec<f64> =
        of_class(builder.map(), "apple").iter().map(|apple| apple.bounds.size.norm()).collect();
    assert!(sizes.len() == 2 && sizes.iter().all(|size| *size < 0.15), "{sizes:?}");
}

#[test]
fn a_piece_of_a_table_is_the_table() {
    let mut builder = RoomBuilder::new("map", RoomSettings::default());
    frames(&mut builder, 3, |_, _| ());
    let tables = of_class(builder.map(), "table").len();
    // From another stop only a corner of it is seen, half a metre from its middle.
    frames(&mut builder, 3, |_, frame| {
        frame.view = "tour_2".to_owned();
        let table = labels_of(frame, "table")[0];
        crate::render::relabel(frame, |label, u, _| if label == table && u < 520 { 0 } else { label });
    });
    assert_eq!(of_class(builder.map(), "table").len(), tables);
}

#[test]
fn keys_stay_when_more_is_seen_and_when_one_of_two_was_the_other() {
    let mut builder = RoomBuilder::new("map", RoomSettings::default());
    let keys = |builder: &RoomBuilder| -> BTreeSet<ObjectKey> {
        builder.map().objects.iter().map(|object| object.key.clone()).collect()
    };
    // In the first frame an apple is cut in two.
    frames(&mut builder, 6, |seed, frame| {
        if let (0, Some(&apple)) = (seed, labels_of(frame, "apple").first()) {
            let number = frame.detections.len() as u16 + 1;
            let pixels = frame.labels.labels.iter().enumerate().filter(|(_, label)| **label == apple);
            let columns: Vec<usize> = pixels.map(|(index, _)| index % 640).collect();
            let middle = columns.iter().sum::<usize>() / columns.len();
            crate::render::relabel(
                frame,
                |label, u, _| if label == apple && u > middle { number } else { label },
            );
            let half = crate::Detection { label: number, class_name: "apple".to_owned(), score: 0.8 };
            frame.detections.push(half);
        }
    });
    let first = keys(&builder);
    assert_eq!(of_class(builder.map(), "apple").len(), 2);
    frames(&mut builder, 3, |_, frame| frame.view = "tour_2".to_owned());
    assert_eq!(keys(&builder), first);
}

/// Points of a box, 2 cm apart, and that as something that a frame shows.
fn sighted(id: u64, name: &str, boxes: &[[[f64; 2]; 3]]) -> Sighting {
    let steps = |[low, high]: [f64; 2]| {
        let count = ((high - low) / 0.02).round() as usize;
        (0..=count).map(move |step| low + (high - low) * step as f64 / count.max(1) as f64)
    };
    let points: Vec<Point3<f64>> = boxes
        .iter()
        .flat_map(|[x, y, z]| {
            steps(*x)
                .flat_map(move |x| steps(*y).flat_map(move |y| steps(*z).map(move |z| Point3::new(x, y, z))))
        })
        .collect();
    let bounds = OrientedBox::upright_around(&points).unwrap();
    let mut object = Object::unnamed(ObjectKey::default(), PointCloud::from_points(points), bounds);
    name.clone_into(&mut object.class_name);
    Sighting::new(id, object, id, id, &RoomSettings::default())
}

#[test]
fn the_leg_of_a_table_that_another_view_hides_is_the_table() {
    let settings = RoomSettings::default();
    let top = [[2.0, 2.8], [0.0, 1.2], [0.69, 0.71]];
    let leg = |x: f64, y: f64| [[x, x + 0.04], [y, y + 0.04], [0.0, 0.4]];
    // One view shows the top and two legs, another one the lower end of a third.
    for (name, expected) in [("table", 1), ("bottle", 2)] {
        let sightings = [
            sighted(0, "table", &[top, leg(2.0, 0.0), leg(2.0, 1.16)]),
            sighted(1, name, &[leg(2.76, 1.16)]),
        ];
        let mut weights = Weights::default();
        weights.learn(&sightings[1], &sightings[..1], &settings);
        assert_eq!(grouping::groups(&sightings, &weights).len(), expected, "{name}");
    }
}

#[test]
fn what_is_seen_all_day_is_kept_in_so_many_sightings() {
    let settings = RoomSettings { kept: 4, sure: 1, ..RoomSettings::default() };
    let mut builder = RoomBuilder::new("map", settings);
    let view = looking([0.4, 0.3, 1.2], [2.0, 0.0, 0.7]);
    for seed in 0..12 {
        let mut frame = render(&room(), &VGA, &view, SIGMA, seed);
        frame.view = format!("visit_{seed}");
        // And each time another corner of the table is called a cup.
        let (table, number) = (labels_of(&frame, "table")[0], frame.detections.len() as u16 + 1);
        let columns = 60 + 40 * seed as usize..75 + 40 * seed as usize;
        crate::render::relabel(&mut frame, |label, u, v| match label {
            label if label == table && columns.contains(&u) && v > 300 => number,
            label => label,
        });
        frame.detections.push(crate::Detection { label: number, class_name: "cup".to_owned(), score: 0.8 });
        builder.update(&frame, None, false).unwrap();
    }
    assert_eq!(of_class(builder.map(), "apple").len(), 2);
    // The last one's cup is forgotten with its stop.
    let most = 4 * builder.map().objects.len() + 1;
    assert!(builder.sightings.len() <= most, "{} of {most}", builder.sightings.len());
    assert!(builder.map().objects.iter().all(|object| object.view_count <= 4));
}
