//! Joining what the detector split (ASP IV-A: merging within one frame).

use super::{Hypothesis, HypothesisSettings};
use crate::segment::Scene;
use crate::{Keyframe, color};
use prehend_scene::furniture;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// When what the detector split is one thing. What bears different names is joined only if it is plainly one thing.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ContactSettings {
    /// Greatest mean step of height across the border of two parts of one thing, metres.
    pub step: f64,
    /// Least length of the border relative to the square root of the smaller part's area.
    pub border: f64,
    /// Greatest step between parts that bear different names, metres.
    pub strict_step: f64,
    /// Least border of parts that bear different names.
    pub strict_border: f64,
    /// Greatest unlikeness of their colours at the border; see [`color::unlikeness`].
    pub strict_unlike: f64,
    /// Pixels over which a border may gape, as masks are eroded.
    pub gap: usize,
    /// How deep the gap may be, metres.
    pub depth: f64,
}

impl Default for ContactSettings {
    fn default() -> Self {
        Self {
            step: 0.005,
            border: 0.45,
            strict_step: 0.003,
            strict_border: 0.8,
            strict_unlike: 0.04,
            gap: 12,
            depth: 0.01,
        }
    }
}

/// Joins named hypotheses that meet along a long border without a step and have the same colour there; differing names need more of each.
pub(super) fn join_split(
    frame: &Keyframe,
    scene: &Scene,
    settings: &HypothesisSettings,
    found: &mut Vec<Hypothesis>,
) {
    let contact = &settings.contact;
    let borders = borders(frame, scene, contact, found);
    let mut target: Vec<usize> = (0..found.len()).collect();
    for ((a, b), border) in &borders {
        let (first, second) = (&found[*a], &found[*b]);
        let smaller = first.pixels.len().min(second.pixels.len()) as f64;
        let step = border.steps / f64::from(border.pixels.max(1));
        let length = f64::from(border.pixels) / smaller.sqrt();
        let apart = color::unlikeness(border.color(0), border.color(1));
        // Drawers that meet along a border are two drawers.
        let panel = |hypothesis| class_of(frame, hypothesis).is_some_and(furniture::is_panel);
        if panel(first) || panel(second) {
            continue;
        }
        let same = class_of(frame, first).is_some_and(|name| class_of(frame, second) == Some(name));
        let (max_step, min_length, max_apart) = match same {
            true => (contact.step, contact.border, settings.unlike),
            false => (contact.strict_step, contact.strict_border, contact.strict_unlike),
        };
        if step < max_step && length >= min_length && apart < max_apart {
            let (root_a, root_b) = (root(&target, *a), root(&target, *b));
            target[root_a.max(root_b)] = root_a.min(root_b);
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

/// Where two hypotheses face each other. Its colours tell whether two things meet here, or only two masks. A cut through one
/// thing has like colours on both sides; a can's lid and its side have not.
#[derive(Default)]
struct Border {
    pixels: u32,
    steps: f64,
    /// Sums of the channels on either side.
    colors: [[f64; 3]; 2],
}

impl Border {
    fn color(&self, side: usize) -> [u8; 3] {
        self.colors[side].map(|sum| (sum / f64::from(self.pixels.max(1))) as u8)
    }
}

/// Pixels of named hypotheses that face each other, side by side or over a shallow gap.
fn borders(
    frame: &Keyframe,
    scene: &Scene,
    &ContactSettings { gap, depth, .. }: &ContactSettings,
    found: &[Hypothesis],
) -> BTreeMap<(usize, usize), Border> {
    let (width, rows) = (scene.grid.width, scene.grid.height);
    let mut owner = vec![u32::MAX; width * rows];
    for (number, hypothesis) in found.iter().enumerate().filter(|(_, h)| !h.detections.is_empty()) {
        for index in &hypothesis.pixels {
            owner[*index] = number as u32;
        }
    }
    let height = |index: usize| scene.grid.points[index].map(|p| scene.height(&p));
    let mut borders: BTreeMap<(usize, usize), Border> = BTreeMap::new();
    for v in 0..rows {
        for u in 0..width {
            let index = v * width + u;
            let own = owner[index];
            if own == u32::MAX {
                continue;
            }
            let is_inner =
                (u + 1 == width || owner[index + 1] == own) && (v + 1 == rows || owner[index + width] == own);
            if is_inner {
                continue;
            }
            let Some(here) = height(index) else { continue };
            for (stride, room) in [(1, width - 1 - u), (width, rows - 1 - v)] {
                // The first pixel of anything else beyond the gap.
                let mut lowest = here;
                for step in 1..=room.min(gap) {
                    let next = index + step * stride;
                    let other = owner[next];
                    if other == own {
                        break;
                    }
                    let Some(there) = height(next) else { continue };
                    if other == u32::MAX {
                        lowest = lowest.min(there);
                        continue;
                    }
                    if lowest > here.min(there) - depth {
                        let border =
                            borders.entry((own.min(other) as usize, own.max(other) as usize)).or_default();
                        border.pixels += 1;
                        border.steps += (here - there).abs();
                        let sides = if own < other { [index, next] } else { [next, index] };
                        for (sums, place) in border.colors.iter_mut().zip(sides) {
                            for (sum, channel) in sums.iter_mut().zip(frame.color.pixels[place]) {
                                *sum += f64::from(channel);
                            }
                        }
                    }
                    break;
                }
            }
        }
    }
    borders
}
