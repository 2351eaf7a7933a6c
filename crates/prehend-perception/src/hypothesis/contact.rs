//! Joining what the detector split (ASP IV-A: merging within one frame).

use super::{Hypothesis, HypothesisSettings, mean_color};
use crate::segment::Scene;
use crate::{Keyframe, color};
use std::collections::BTreeMap;

/// Greatest step of the surface across the border of two parts of one thing, metres.
const STEP: f64 = 0.006;
/// Least length of the border relative to the square root of the smaller part's area.
const BORDER: f64 = 0.45;

/// Joins hypotheses of the same cluster and class that meet along a long border without a step and have the same colour.
pub(super) fn join_split(
    frame: &Keyframe,
    scene: &Scene,
    settings: &HypothesisSettings,
    found: &mut Vec<Hypothesis>,
) {
    let borders = borders(scene, found);
    let mut target: Vec<usize> = (0..found.len()).collect();
    for ((a, b), border) in &borders {
        let (first, second) = (&found[*a], &found[*b]);
        let smaller = first.pixels.len().min(second.pixels.len()) as f64;
        let smooth = border.steps / f64::from(border.pixels.max(1)) < STEP;
        let long = f64::from(border.pixels) >= BORDER * smaller.sqrt();
        let same = class_of(frame, first).is_some_and(|name| class_of(frame, second) == Some(name));
        if same && smooth && long {
            let apart =
                color::unlikeness(mean_color(frame, &first.pixels), mean_color(frame, &second.pixels));
            if apart < settings.unlike {
                let (root_a, root_b) = (root(&target, *a), root(&target, *b));
                target[root_a.max(root_b)] = root_a.min(root_b);
            }
        }
    }
    for number in (0..found.len()).rev() {
        let root = root(&target, number);
        if root != number {
            let part = found.remove(number);
            found[root].pixels.extend(part.pixels);
            found[root].detections.extend(part.detections);
            found[root].from_merged &= part.from_merged;
        }
    }
}

fn root(target: &[usize], mut number: usize) -> usize {
    while target[number] != number {
        number = target[number];
    }
    number
}

fn class_of<'a>(frame: &'a Keyframe, hypothesis: &Hypothesis) -> Option<&'a str> {
    let label = hypothesis.detections.first()?;
    frame.detections.iter().find(|d| d.label == *label).map(|d| d.class_name.as_str())
}

#[derive(Default)]
struct Border {
    pixels: u32,
    steps: f64,
}

/// Neighbouring pixels of different named hypotheses of one cluster.
fn borders(scene: &Scene, found: &[Hypothesis]) -> BTreeMap<(usize, usize), Border> {
    let (width, height) = (scene.grid.width, scene.grid.height);
    let mut owner = vec![u32::MAX; width * height];
    for (number, hypothesis) in found.iter().enumerate().filter(|(_, h)| !h.detections.is_empty()) {
        for index in &hypothesis.pixels {
            owner[*index] = number as u32;
        }
    }
    let mut borders: BTreeMap<(usize, usize), Border> = BTreeMap::new();
    for v in 0..height {
        for u in 0..width {
            let index = v * width + u;
            if owner[index] == u32::MAX {
                continue;
            }
            for next in [(u + 1 < width).then_some(index + 1), (v + 1 < height).then_some(index + width)] {
                let Some(next) = next else { continue };
                if owner[next] == u32::MAX || owner[next] == owner[index] {
                    continue;
                }
                if let (Some(p), Some(q)) = (scene.grid.points[index], scene.grid.points[next]) {
                    let pair =
                        (owner[index].min(owner[next]) as usize, owner[index].max(owner[next]) as usize);
                    let border = borders.entry(pair).or_default();
                    border.pixels += 1;
                    border.steps += (p - q).norm();
                }
            }
        }
    }
    borders
}
