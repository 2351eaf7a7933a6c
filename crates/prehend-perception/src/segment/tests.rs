use super::*;
use crate::LabelImage;
use crate::render::Thing;
use crate::render::{Form, VGA, home, looking, render, thing};
use prehend_geometry::Mask;

const SIGMA: f64 = 0.001;
const RED: [u8; 3] = [200, 30, 30];
const BLUE: [u8; 3] = [30, 60, 200];

/// The frame as a camera without a detector gives it, cut.
fn cut(frame: &Keyframe) -> Scene {
    let labels = LabelImage::blank(frame.labels.width, frame.labels.height);
    let frame = Keyframe { labels, detections: Vec::new(), ..frame.clone() };
    segment(&frame, &SegmentSettings::recorded(), None, 0)
}

/// Every thing must be one cluster of its own, and nothing else one.
fn check(things: &[Thing], pose: &Isometry3<f64>, least: f64) {
    let frame = render(things, &VGA, pose, SIGMA, 1);
    let scene = cut(&frame);
    assert_eq!(scene.count, things.len());
    let mask = |labels: &[u16], number: usize| {
        let pixels: Vec<usize> = (0..labels.len()).filter(|i| usize::from(labels[*i]) == number).collect();
        Mask::from_indices(VGA.width, VGA.height, &pixels)
    };
    let found: Vec<Mask> = (1..=scene.count).map(|number| mask(&scene.clusters, number)).collect();
    for number in 1..=things.len() {
        let truth = mask(&frame.labels.labels, number);
        let best = found.iter().map(|found| found.iou(&truth)).fold(0.0, f64::max);
        assert!(best > least, "{}: {best}", things[number - 1].class);
    }
}

#[test]
fn things_that_touch_are_several_even_of_one_colour() {
    let block = |class, x, y, color| thing(class, Form::Block([0.06, 0.06, 0.06]), x, y, color);
    // Of two heights: with one height the tops of two that touch are taken for one thing.
    let can = |class, x, y, color| {
        thing(class, Form::Can(0.035, if class == "right" { 0.08 } else { 0.1 }), x, y, color)
    };
    let pose = looking([0.0, 0.0, 0.45], [0.45, 0.0, 0.03]);
    check(&[can("left", 0.45, -0.0355, RED), can("right", 0.45, 0.0355, RED)], &pose, 0.8);
    check(&[can("left", 0.45, -0.0355, RED), can("right", 0.45, 0.0355, BLUE)], &pose, 0.8);
    check(&[can("near", 0.4, 0.0, RED), block("far", 0.47, 0.03, BLUE)], &pose, 0.75);
}

#[test]
fn what_stands_beside_something_of_its_colour_is_no_part_of_it() {
    let tall = thing("tall", Form::Block([0.07, 0.07, 0.16]), 0.45, 0.0, RED);
    let low = |y| thing("low", Form::Block([0.045, 0.045, 0.045]), 0.4, y, RED);
    let pose = looking([0.0, 0.0, 0.5], [0.45, 0.0, 0.05]);
    check(&[tall.clone(), low(0.0585)], &pose, 0.7);
    check(&[tall, low(-0.0585)], &pose, 0.7);
}

/// Two flat things of two heights that lie side by side, and another before them. (Flush and without a gap they are taken for one with a
/// print.)
fn books() -> [Thing; 3] {
    let book = |class, x, y, color| {
        thing(class, Form::Block([0.16, 0.11, if color == RED { 0.02 } else { 0.03 }]), x, y, color)
    };
    let block = thing("block", Form::Block([0.03, 0.03, 0.06]), 0.28, -0.04, [230, 230, 60]);
    [book("right", 0.4, -0.0555, RED), book("left", 0.49, 0.0555, BLUE), block]
}

const ABOVE: [[f64; 3]; 2] = [[0.0, 0.0, 0.6], [0.45, 0.0, 0.0]];

#[test]
fn flat_things_of_two_heights_side_by_side_are_two() {
    let [right, left, block] = books();
    let pose = looking(ABOVE[0], ABOVE[1]);
    check(&[right.clone(), left.clone()], &pose, 0.8);
    check(&[right, left, block], &pose, 0.8);
}

#[test]
fn a_print_or_a_half_of_another_colour_is_no_thing() {
    let [book, _, block] = books();
    let pose = looking(ABOVE[0], ABOVE[1]);
    for things in [vec![book.clone()], vec![book, block]] {
        let plain = render(&things, &VGA, &pose, SIGMA, 1);
        let (labels, width) = (&plain.labels.labels, VGA.width);
        let of_book: Vec<usize> = (0..labels.len()).filter(|index| labels[*index] == 1).collect();
        let middle = of_book[of_book.len() / 2];
        let print = |index: &usize| {
            (index % width).abs_diff(middle % width) < 30 && (index / width).abs_diff(middle / width) < 20
        };
        let right = |index: &usize| index % width > middle % width;
        let lower = |index: &usize| index / width > middle / width;
        let paints: [&dyn Fn(&usize) -> bool; 3] = [&print, &right, &lower];
        for paint in paints {
            let mut frame = plain.clone();
            of_book.iter().filter(|index| paint(index)).for_each(|index| frame.color.pixels[*index] = BLUE);
            assert_eq!(cut(&frame).count, things.len());
        }
    }
}

#[test]
fn a_cup_is_one_thing_with_its_floor() {
    let cup = thing("cup", Form::Cup(0.045, 0.06, 0.004), 0.45, 0.0, BLUE);
    for pose in
        [home(), looking([0.0, 0.0, 0.4], [0.45, 0.0, 0.03]), looking([0.3, 0.0, 0.6], [0.45, 0.0, 0.0])]
    {
        check(std::slice::from_ref(&cup), &pose, 0.85);
    }
}

#[test]
fn walls_and_what_is_beyond_the_table_are_no_things() {
    // A wall behind, and a box that hides nothing of it.
    let wall = thing("wall", Form::Block([0.02, 1.6, 0.8]), 0.9, 0.0, [210, 210, 200]);
    let box_ = thing("box", Form::Block([0.06, 0.05, 0.08]), 0.45, 0.1, RED);
    let frame = render(&[box_, wall], &VGA, &looking([-0.2, 0.0, 0.5], [0.6, 0.0, 0.1]), SIGMA, 1);
    let scene = cut(&frame);
    assert_eq!((scene.count, scene.probabilities.len()), (1, 1));
    assert!(scene.probabilities[0] > 0.9, "{:?}", scene.probabilities);
    let of_wall = (0..frame.labels.labels.len()).filter(|index| frame.labels.labels[*index] == 2);
    let wall = Mask::from_indices(VGA.width, VGA.height, &of_wall.collect::<Vec<_>>());
    let told = scene.left_out.iter().find(|left| left.mask.iou(&wall) > 0.8).expect("the wall is told of");
    assert!(matches!(told.reason, Reason::Large | Reason::Beyond), "{}", told.reason);
}

#[test]
fn what_a_detector_drew_is_a_thing_however_unlikely() {
    let mut settings = SegmentSettings::recorded();
    settings.surfaces.as_mut().unwrap().likely = f64::INFINITY;
    let box_ = thing("box", Form::Block([0.06, 0.05, 0.08]), 0.45, 0.1, RED);
    let mut frame = render(&[box_], &VGA, &home(), SIGMA, 1);
    assert_eq!(segment(&frame, &settings, None, 0).count, 1);
    frame.labels = LabelImage::blank(VGA.width, VGA.height);
    let scene = segment(&frame, &settings, None, 0);
    assert_eq!(scene.count, 0);
    assert!(scene.left_out.iter().any(|left| left.reason == Reason::Unlikely), "{:?}", scene.left_out);
}

#[test]
fn what_a_detector_drew_is_a_thing_however_large() {
    let board = thing("board", Form::Block([0.1, 0.7, 0.03]), 0.5, 0.0, RED);
    let mut frame = render(&[board], &VGA, &looking([-0.3, 0.0, 0.8], [0.5, 0.0, 0.0]), SIGMA, 1);
    assert_eq!(segment(&frame, &SegmentSettings::recorded(), None, 0).count, 1);
    frame.labels = LabelImage::blank(VGA.width, VGA.height);
    let scene = segment(&frame, &SegmentSettings::recorded(), None, 0);
    assert_eq!((scene.count, scene.left_out[0].reason), (0, Reason::Large));
}

#[test]
fn furniture_is_one_piece_with_all_that_is_connected_with_it() {
    let block = |class, y, color, height| thing(class, Form::Block([0.1, 0.1, height]), 0.45, y, color);
    let cup = thing("cup", Form::Cup(0.04, 0.06, 0.004), 0.4, 0.25, RED);
    let things = [block("drawer", -0.05, RED, 0.1), block("box", 0.05, BLUE, 0.16), cup];
    let mut frame = render(&things, &VGA, &home(), SIGMA, 1);
    // The cluster that most pixels of each thing have.
    let clusters = |frame: &Keyframe| {
        let scene = segment(frame, &SegmentSettings::recorded(), None, 0);
        assert_eq!(scene.probabilities.len(), scene.count);
        [1, 2, 3].map(|number| {
            let of = (0..scene.clusters.len()).filter(|index| frame.labels.labels[*index] == number);
            let mut clusters: Vec<u16> = of.map(|index| scene.clusters[index]).collect();
            clusters.sort_unstable();
            clusters[clusters.len() / 2]
        })
    };
    let [drawer, box_, cup] = clusters(&frame);
    assert!(drawer > 0 && drawer == box_ && drawer != cup, "{drawer} {box_} {cup}");
    // Under another name they are two.
    frame.detections[0].class_name = "block".to_owned();
    let [block, box_, _] = clusters(&frame);
    assert_ne!(block, box_);
}

#[test]
fn what_is_left_out_is_told_with_the_reason() {
    let box_ = thing("box", Form::Block([0.06, 0.05, 0.08]), 0.45, 0.1, RED);
    let hand = thing("hand", Form::Block([0.05, 0.05, 0.1]), 0.45, -0.12, BLUE);
    let crumb = thing("crumb", Form::Block([0.009, 0.009, 0.02]), 0.3, 0.0, RED);
    let mut frame = render(&[box_, hand, crumb], &VGA, &home(), SIGMA, 1);
    let pose = Isometry3::translation(0.45, -0.12, 0.0);
    frame.robot = vec![OrientedBox { pose, size: Vector3::new(0.08, 0.08, 0.4) }];
    let scene = cut(&frame);
    assert_eq!(scene.count, 1);
    let told = |number: u16| {
        let shows = |left: &&LeftOut| {
            let pixels = left.mask.indices();
            pixels.iter().filter(|index| frame.labels.labels[**index] == number).count() * 2 > pixels.len()
        };
        scene.left_out.iter().filter(shows).map(|left| left.reason).collect::<Vec<_>>()
    };
    assert_eq!((told(1), told(2), told(3)), (vec![], vec![Reason::Robot], vec![Reason::Small]));
    // What became none of the things of the map is told too.
    let [with, without] = [scene.left_out_beside(std::iter::empty()), scene.left_out.clone()];
    assert_eq!(with.len(), without.len() + 1);
}

#[test]
fn a_smaller_picture_of_things_farther_away_has_the_same_things() {
    let things = [
        thing("can", Form::Can(0.035, 0.12), 1.1, -0.15, RED),
        thing("ball", Form::Ball(0.04), 1.1, 0.0, BLUE),
        thing("cup", Form::Cup(0.045, 0.09, 0.004), 1.1, 0.15, RED),
    ];
    check(&things, &looking([0.0, 0.0, 0.8], [1.1, 0.0, 0.0]), 0.7);
}

#[test]
fn what_is_flat_stands_out_of_the_noise_with_its_neighbours() {
    let settings = SegmentSettings::recorded();
    let view = looking([-0.5, 0.0, 0.8], [0.45, 0.0, 0.0]);
    let phone = thing("phone", Form::Block([0.15, 0.075, 0.0095]), 0.45, 0.0, [28, 28, 30]);
    let cut = |things: &[Thing], seed: u64| {
        let mut frame = render(things, &VGA, &view, 0.002, seed);
        let labels = std::mem::replace(&mut frame.labels.labels, vec![0; VGA.width * VGA.height]);
        frame.detections.clear();
        (segment(&frame, &settings, None, seed), labels)
    };
    for seed in 0..5 {
        let (scene, labels) = cut(std::slice::from_ref(&phone), seed);
        assert_eq!(scene.count, 1, "seed {seed}");
        let both = |index: &usize| labels[*index] == 1 && scene.clusters[*index] == 1;
        let any = |index: &usize| labels[*index] == 1 || scene.clusters[*index] == 1;
        let count = |of: &dyn Fn(&usize) -> bool| (0..labels.len()).filter(of).count() as f64;
        // The mean takes a pixel or two off its border.
        assert!(count(&both) > 0.6 * count(&any), "seed {seed}: {} of {}", count(&both), count(&any));
        let (nothing, _) = cut(&[], seed);
        assert_eq!(nothing.count, 0, "seed {seed}");
    }
}

/// A frame of things without masks, its depth changed.
fn changed(
    things: &[Thing],
    pose: &Isometry3<f64>,
    change: impl Fn(usize, u16) -> u16,
) -> (Keyframe, Vec<u16>) {
    let mut frame = render(things, &VGA, pose, SIGMA, 1);
    let truth = std::mem::replace(&mut frame.labels.labels, vec![0; VGA.width * VGA.height]);
    frame.detections.clear();
    for (index, mm) in frame.depth.millimetres.iter_mut().enumerate().filter(|(_, mm)| **mm > 0) {
        *mm = change(index, *mm);
    }
    (frame, truth)
}

#[test]
fn a_table_that_the_camera_bends_carries_nothing_but_what_stands_on_it() {
    let pose = looking([0.4, 0.0, 0.6], [0.45, 0.0, 0.0]);
    // Up to 12 mm nearer in the corners, as a wide-field time-of-flight camera has it.
    let bend = |index: usize, mm: u16| {
        let (u, v) = ((index % VGA.width) as f64, (index / VGA.width) as f64);
        let [x, y] = [u / VGA.width as f64 * 2.0 - 1.0, v / VGA.height as f64 * 2.0 - 1.0];
        mm - (6.0 * (x * x + y * y)).round() as u16
    };
    let block = thing("block", Form::Block([0.05, 0.05, 0.03]), 0.45, 0.1, RED);
    for (things, seed) in [(vec![], 1), (vec![block], 1)] {
        let (frame, _) = changed(&things, &pose, bend);
        assert_eq!(segment(&frame, &SegmentSettings::recorded(), None, seed).count, things.len());
    }
}

#[test]
fn noise_of_the_table_is_no_thing_however_much_there_is() {
    let pose = looking([-0.2, 0.0, 0.6], [0.45, 0.0, 0.0]);
    // Bumps and pits of five pixels across, up to eight times the noise that the settings know.
    let rough = |size: f64| {
        move |index: usize, mm: u16| {
            let cell = (index / VGA.width / 5 * 7919 + index % VGA.width / 5 * 104_729) as u64;
            let bits = cell.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 40;
            let normal: f64 =
                (0..4).map(|part| ((bits >> (6 * part)) & 63) as f64 / 63.0 - 0.5).sum::<f64>() * 1.7;
            (f64::from(mm) + size * normal).round() as u16
        }
    };
    for size in [2.0, 4.0, 6.0] {
        let (frame, _) = changed(&[], &pose, rough(size));
        assert_eq!(segment(&frame, &SegmentSettings::recorded(), None, 1).count, 0, "{size} mm");
        let ball = thing("ball", Form::Ball(0.05), 0.4, 0.0, BLUE);
        let (frame, _) = changed(&[ball], &pose, rough(size));
        assert!(segment(&frame, &SegmentSettings::recorded(), None, 1).count >= 1, "{size} mm");
    }
}

#[test]
fn what_is_seen_from_straight_above_hides_its_own_foot() {
    let tall = thing("tall", Form::Block([0.06, 0.06, 0.2]), 0.45, 0.0, RED);
    check(&[tall], &looking([0.45, 0.001, 0.7], [0.45, 0.0, 0.0]), 0.85);
}

#[test]
fn what_a_camera_smears_over_an_edge_is_a_piece_of_what_is_nearer() {
    let pose = looking([-0.1, 0.0, 0.5], [0.45, 0.0, 0.0]);
    let ball = thing("ball", Form::Ball(0.05), 0.45, 0.0, RED);
    let (mut frame, truth) = changed(&[ball], &pose, |_, mm| mm);
    // The depth of the ball grows by three pixels; the colour there is that of the table.
    let measured = frame.depth.millimetres.clone();
    for index in (3..measured.len() - 3).filter(|index| truth[*index] == 0) {
        let nearest =
            (index - 3..=index + 3).filter(|other| truth[*other] > 0).map(|other| measured[other]).min();
        if let Some(nearest) = nearest.filter(|mm| *mm > 0) {
            frame.depth.millimetres[index] = nearest;
        }
    }
    assert_eq!(cut(&frame).count, 1);
}

#[test]
fn a_floor_belongs_to_its_walls_also_where_they_are_torn() {
    let pose = looking([0.0, 0.0, 0.6], [0.45, 0.0, 0.0]);
    let cup = thing("cup", Form::Cup(0.07, 0.05, 0.004), 0.45, 0.0, BLUE);
    let middle = VGA.width / 2;
    let (mut frame, truth) = changed(&[cup], &pose, |_, mm| mm);
    // A strip without depth goes through the near wall and the far one.
    let torn = |index: &usize| (index % VGA.width).abs_diff(middle) < 4;
    (0..truth.len()).filter(torn).for_each(|index| frame.depth.millimetres[index] = 0);
    let scene = cut(&frame);
    assert_eq!(scene.count, 1);
    let share = |of: &dyn Fn(usize) -> bool| {
        let measured = (0..truth.len()).filter(|index| truth[*index] == 1 && !torn(index));
        let (all, own) = measured.fold((0, 0), |(all, own), index| (all + 1, own + usize::from(of(index))));
        f64::from(own as u32) / f64::from(all as u32)
    };
    let covered = share(&|index| scene.clusters[index] == 1);
    assert!(covered > 0.9, "{covered}");
}

#[test]
fn bumps_are_things_unless_the_table_has_as_many_pits() {
    let pose = looking([-0.2, 0.0, 0.6], [0.45, 0.0, 0.0]);
    // Squares of 24 pixels, 14 mm nearer or farther.
    let squares = |with_pits: bool| {
        move |index: usize, mm: u16| {
            let (u, v) = (index % VGA.width, index / VGA.width);
            let is_in = (200..440).contains(&v) && u % 80 < 24 && v % 80 < 24;
            match (u / 80 + v / 80) % 2 {
                0 if is_in => mm - 14,
                1 if is_in && with_pits => mm + 14,
                _ => mm,
            }
        }
    };
    let [bumps, beside_pits] = [false, true].map(|with_pits| {
        let (frame, _) = changed(&[], &pose, squares(with_pits));
        segment(&frame, &SegmentSettings::recorded(), None, 1).count
    });
    assert!(bumps >= 8 && beside_pits * 2 <= bumps, "{bumps} without pits, {beside_pits} with them");
}
