//! Completing masks to the cluster they lie in, and finding what nobody claimed.

use super::{Hypothesis, HypothesisSettings, Skipped, mean_color};
use crate::segment::Scene;
use crate::{Keyframe, color};

const FREE: u32 = u32::MAX;

/// Lets every hypothesis grow within its clusters by a few pixels, because the masks of detectors are too small. Then it judges the rest of
/// each cluster. A rest joins its neighbour if it has only one and looks like it. Any other large rest becomes a thing without a name.
pub(super) fn complete(
    frame: &Keyframe,
    scene: &Scene,
    settings: &HypothesisSettings,
    found: &mut Vec<Hypothesis>,
    skipped: &mut Skipped,
) {
    let (width, height) = (scene.grid.width, scene.grid.height);
    let mut owner = vec![FREE; width * height];
    let mut front: Vec<usize> = Vec::new();
    for (number, hypothesis) in found.iter().enumerate() {
        hypothesis.pixels.iter().for_each(|index| owner[*index] = number as u32);
        front.extend(&hypothesis.pixels);
    }
    // Breadth first from all masks at once: each free pixel goes to the nearest.
    for _ in 0..settings.grow {
        for index in std::mem::take(&mut front) {
            let cluster = scene.clusters[index];
            if cluster == 0 {
                continue;
            }
            for next in neighbours(index, width, height) {
                if owner[next] == FREE && scene.clusters[next] == cluster {
                    owner[next] = owner[index];
                    found[owner[index] as usize].pixels.push(next);
                    front.push(next);
                }
            }
        }
    }
    let mut sizes = vec![0_usize; scene.count + 1];
    for cluster in &scene.clusters {
        sizes[usize::from(*cluster)] += 1;
    }
    let named = found.len();
    let mut visited = vec![false; owner.len()];
    let mut stack = Vec::new();
    for start in 0..owner.len() {
        let cluster = scene.clusters[start];
        if cluster == 0 || owner[start] != FREE || visited[start] {
            continue;
        }
        let mut rest = Vec::new();
        let mut contacts = vec![0_u32; named];
        visited[start] = true;
        stack.push(start);
        while let Some(index) = stack.pop() {
            rest.push(index);
            for next in neighbours(index, width, height) {
                if scene.clusters[next] != cluster {
                    continue;
                }
                if owner[next] != FREE {
                    contacts[owner[next] as usize] += 1;
                } else if !visited[next] {
                    visited[next] = true;
                    stack.push(next);
                }
            }
        }
        settle_rest(
            frame,
            scene,
            settings,
            found,
            skipped,
            Rest { rest, contacts, size: sizes[usize::from(cluster)] },
        );
    }
}

struct Rest {
    rest: Vec<usize>,
    contacts: Vec<u32>,
    size: usize,
}

fn settle_rest(
    frame: &Keyframe,
    scene: &Scene,
    settings: &HypothesisSettings,
    found: &mut Vec<Hypothesis>,
    skipped: &mut Skipped,
    Rest { rest, contacts, size }: Rest,
) {
    let cluster = scene.clusters[rest[0]];
    let neighbour =
        contacts.iter().enumerate().filter(|(_, n)| **n > 0).max_by_key(|(_, n)| **n).map(|(i, _)| i);
    if let Some(neighbour) = neighbour {
        let alike = color::unlikeness(mean_color(frame, &rest), mean_color(frame, &found[neighbour].pixels))
            < settings.unlike;
        let small = (rest.len() as f64) < settings.min_rest * size as f64;
        if alike {
            found[neighbour].pixels.extend(rest);
            return;
        }
        if small {
            skipped.specks += 1;
            return;
        }
    }
    // Parts of one unnamed cluster that an occluder tore apart in the image are one thing.
    let known = found.iter_mut().find(|h| h.detections.is_empty() && h.cluster == cluster);
    if let Some(known) = known
        && neighbour.is_none()
    {
        known.pixels.extend(rest);
        return;
    }
    if is_thing(&rest, scene, settings) {
        found.push(Hypothesis { pixels: rest, detections: Vec::new(), from_merged: false, cluster });
    } else {
        skipped.specks += 1;
    }
}

/// Whether nameless pixels are big and high enough to be a thing.
fn is_thing(pixels: &[usize], scene: &Scene, settings: &HypothesisSettings) -> bool {
    if pixels.len() < settings.min_pixels * 2 {
        return false;
    }
    let points = || pixels.iter().filter_map(|index| scene.grid.points[*index]);
    let Some(first) = points().next() else { return false };
    let (low, high) = points().fold((first, first), |(low, high), p| (low.inf(&p), high.sup(&p)));
    let top = points().map(|p| scene.height(&p)).fold(0.0, f64::max);
    (high - low).xy().max() >= settings.min_extent && top >= settings.min_extent
}

fn neighbours(index: usize, width: usize, height: usize) -> impl Iterator<Item = usize> {
    let (u, v) = (index % width, index / width);
    [
        (u > 0).then(|| index - 1),
        (u + 1 < width).then_some(index + 1),
        (v > 0).then(|| index - width),
        (v + 1 < height).then_some(index + width),
    ]
    .into_iter()
    .flatten()
}
