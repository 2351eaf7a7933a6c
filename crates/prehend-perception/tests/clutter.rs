//! Tables full of things, some touching, seen by a stereo camera, cut without names or weights.

#![expect(clippy::unwrap_used, reason = "a test may fail")]

#[path = "support/render.rs"]
#[allow(dead_code, unreachable_pub, reason = "shared with other tests, which use more of it")]
mod render;
#[path = "support/stereo.rs"]
#[allow(unreachable_pub, reason = "a module of tests")]
mod stereo;

use prehend_geometry::Mask;
use prehend_perception::{MapBuilder, MapSettings};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use render::{Form, Thing, VGA};

const COLORS: [[u8; 3]; 8] = [
    [196, 30, 36],
    [232, 232, 228],
    [34, 74, 188],
    [44, 140, 58],
    [236, 204, 38],
    [232, 118, 20],
    [28, 28, 30],
    [150, 150, 150],
];

/// Fewest pixels of a thing that must be found.
const PIXELS: usize = 300;

fn form(rng: &mut ChaCha8Rng) -> Form {
    match rng.random_range(0..4) {
        0 => Form::Block([
            rng.random_range(0.03..0.15),
            rng.random_range(0.03..0.10),
            rng.random_range(0.02..0.15),
        ]),
        1 => Form::Can(rng.random_range(0.015..0.05), rng.random_range(0.03..0.2)),
        2 => Form::Cup(rng.random_range(0.03..0.08), rng.random_range(0.04..0.1), 0.005),
        _ => Form::Ball(rng.random_range(0.018..0.05)),
    }
}

fn radius(form: &Form) -> f64 {
    match form {
        Form::Block([x, y, _]) => x.hypot(*y) / 2.0,
        Form::Can(radius, _) | Form::Cup(radius, _, _) | Form::Ball(radius) => *radius,
    }
}

/// Things on a table, `gap` metres apart at least.
fn scatter(count: usize, gap: f64, rng: &mut ChaCha8Rng) -> Vec<Thing> {
    let mut things: Vec<Thing> = Vec::new();
    while things.len() < count {
        let form = form(rng);
        let at = [rng.random_range(0.25..0.75), rng.random_range(-0.3..0.3), 0.0, rng.random_range(0.0..3.0)];
        let is_free = |other: &Thing| {
            let apart = (other.at[0] - at[0]).hypot(other.at[1] - at[1]);
            apart > radius(&other.form) + radius(&form) + gap
        };
        if things.iter().all(is_free) {
            things.push(Thing { class: "thing", form, at, color: COLORS[rng.random_range(0..COLORS.len())] });
        }
    }
    things
}

/// Things that are seen, those of them with a mask of an IoU of 0.75 or more, and objects that are none of them.
fn figures(count: usize, gap: f64, seeds: std::ops::Range<u64>) -> [usize; 3] {
    let mut sum = [0; 3];
    for seed in seeds {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let things = scatter(count, gap, &mut rng);
        let eye = [-0.1, rng.random_range(-0.3..0.3), rng.random_range(0.35..0.8)];
        let mut frame = render::render(&things, &VGA, &render::looking(eye, [0.5, 0.0, 0.05]), 0.0, seed);
        let labels = std::mem::replace(&mut frame.labels.labels, vec![0; VGA.width * VGA.height]);
        frame.detections.clear();
        frame.depth = stereo::stereo(&frame.depth, VGA.fx, &mut rng);
        let mut builder = MapBuilder::new("map", MapSettings::recorded());
        builder.update(&frame, None, false, 0).unwrap();
        let masks: Vec<&Mask> = builder.map().objects.iter().map(|object| &object.crops[0].mask).collect();
        let mut is_any = vec![false; masks.len()];
        for label in 1..=things.len() as u16 {
            let pixels: Vec<usize> = (0..labels.len()).filter(|index| labels[*index] == label).collect();
            let truth = Mask::from_indices(VGA.width, VGA.height, &pixels);
            let ious: Vec<f64> = masks.iter().map(|mask| mask.iou(&truth)).collect();
            ious.iter().zip(&mut is_any).for_each(|(iou, any)| *any |= *iou > 0.1);
            if pixels.len() >= PIXELS {
                sum[0] += 1;
                sum[1] += usize::from(ious.iter().any(|iou| *iou >= 0.75));
            }
        }
        sum[2] += is_any.iter().filter(|any| !**any).count();
    }
    eprintln!(
        "{count} things {gap} m apart: {} of {} found, {} objects that are nothing",
        sum[1], sum[0], sum[2]
    );
    sum
}

#[test]
fn things_that_stand_apart_are_one_object_each() {
    let [seen, found, extra] = figures(14, 0.03, 100..105);
    assert!(found * 100 >= seen * 90, "{found} of {seen}");
    assert!(extra <= 2, "{extra} objects that are nothing");
}

#[test]
fn most_of_the_things_that_crowd_and_touch_are_one_object_each() {
    let [seen, found, extra] = figures(30, 0.0, 200..204);
    assert!(found * 100 >= seen * 72, "{found} of {seen}");
    assert!(extra <= 6, "{extra} objects that are nothing");
}
