//! Prints on things, patterns on tables, and light that is not the same everywhere: colours as real ones vary.

use super::Material;
use prehend_geometry::ColorImage;
use rand::{Rng, RngExt};
use std::collections::BTreeMap;

/// Share of things with prints.
const PRINTED: f64 = 0.6;
/// Most patches of a print.
const PATCHES: usize = 6;

/// Paints over a picture; `labels` is 0 for what is no thing, and the number of the thing from 1.
pub(super) fn paint(color: &mut ColorImage, labels: &[u16], material: Material, rng: &mut impl Rng) {
    let width = color.width;
    let mut boxes: BTreeMap<u16, [usize; 4]> = BTreeMap::new();
    for (index, label) in labels.iter().enumerate().filter(|(_, label)| **label > 0) {
        let (u, v) = (index % width, index / width);
        let bounds = boxes.entry(*label).or_insert([u, v, u, v]);
        *bounds = [bounds[0].min(u), bounds[1].min(v), bounds[2].max(u), bounds[3].max(v)];
    }
    for (label, [u0, v0, u1, v1]) in boxes {
        if !rng.random_bool(PRINTED) {
            continue;
        }
        for _ in 0..rng.random_range(1..=PATCHES) {
            let hue: [f64; 3] = std::array::from_fn(|_| rng.random_range(0.05..1.0));
            let (across, down) = ((u1 - u0 + 1) as f64, (v1 - v0 + 1) as f64);
            let middle = [
                u0 as f64 + across * rng.random_range(0.1..0.9),
                v0 as f64 + down * rng.random_range(0.1..0.9),
            ];
            let half = [across * rng.random_range(0.05..0.35), down * rng.random_range(0.03..0.3)];
            let is_round = rng.random_bool(0.4);
            for v in v0..=v1 {
                for u in u0..=u1 {
                    let place = [(u as f64 - middle[0]) / half[0], (v as f64 - middle[1]) / half[1]];
                    let is_in = if is_round {
                        place[0].hypot(place[1]) < 1.0
                    } else {
                        place.iter().all(|p| p.abs() < 1.0)
                    };
                    let index = v * width + u;
                    if is_in && labels[index] == label {
                        // The light stays.
                        let pixel = &mut color.pixels[index];
                        let light = pixel.iter().map(|c| f64::from(*c)).sum::<f64>() / 3.0;
                        let light = 0.5 + light / 255.0;
                        *pixel = hue.map(|share| (share * light * 200.0).clamp(0.0, 255.0) as u8);
                    }
                }
            }
        }
    }
    let ground: [f64; 3] = material.color(rng);
    let slope = [rng.random_range(-0.25..0.25), rng.random_range(-0.25..0.25)];
    let (wave, turn) = (rng.random_range(6.0..40.0), rng.random_range(0.0..3.0_f64));
    for (index, pixel) in color.pixels.iter_mut().enumerate() {
        let (u, v) = ((index % width) as f64, (index / width) as f64);
        let mut light = 1.0 + slope[0] * (u / width as f64 - 0.5) + slope[1] * (v / width as f64 - 0.4);
        if labels[index] == 0 {
            let along = (u * turn.cos() + v * turn.sin()) / wave;
            light *= 1.0 + material.pattern() * (along.sin() * (along * 0.37).cos());
            *pixel = std::array::from_fn(|c| (f64::from(pixel[c]) * ground[c]).clamp(0.0, 255.0) as u8);
        }
        *pixel = pixel.map(|c| (f64::from(c) * light).clamp(0.0, 255.0) as u8);
    }
}
