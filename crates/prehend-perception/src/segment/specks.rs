//! Which of the things found may be no more than noise of the support.
//!
//! Noise makes pits in a support as often as it makes bumps of the same size, and nothing but noise makes pits. So of the things that stand
//! out as much as one does, as many are noise as there are pits of at least that depth (target and decoy, Elias and Gygi 2007). No
//! number is needed for how noisy a camera or a table is: the frame tells it.

use super::field::{Field, NONE, WAYS, flood};
use super::left_out::{Reason, sifted};
use std::collections::VecDeque;

/// Least probability that something is more than noise.
const LEAST: f64 = 0.5;
/// How far from a thing a pit tells nothing about the open support, metres: beside things light goes astray.
const BESIDE: f64 = 0.02;
/// Deeper than this it is no pit of the support but something below it, metres.
const DEEPEST: f64 = 0.03;

/// The things that are more likely there than not; the others go to `left`.
pub(super) fn without_specks(
    field: &Field<'_>,
    things: Vec<Vec<usize>>,
    left: &mut Vec<(Reason, Vec<usize>)>,
) -> Vec<Vec<usize>> {
    let scores: Vec<f64> = things.iter().map(|thing| score(field, thing)).collect();
    let pits = pits(field, &things);
    if pits.is_empty() {
        return things;
    }
    let reasons = scores
        .iter()
        .map(|score| {
            let alike = |all: &[f64]| all.iter().filter(|other| *other >= score).count() as f64;
            (1.0 - alike(&pits) / alike(&scores) < LEAST).then_some(Reason::Noise)
        })
        .collect();
    sifted(things, reasons, left)
}

/// How much something stands out: the sum of its heights in standard deviations.
fn score(field: &Field<'_>, pixels: &[usize]) -> f64 {
    pixels.iter().map(|index| field.heights[*index].abs() / field.sigma(*index).max(1e-6)).sum()
}

/// How much each pit of the open support stands out.
fn pits(field: &Field<'_>, things: &[Vec<usize>]) -> Vec<f64> {
    let below = field.standing_out(-1.0);
    let near = beside(field, things);
    let mut seen = vec![false; below.len()];
    let mut pits = Vec::new();
    for start in 0..below.len() {
        if seen[start] || !below[start] {
            continue;
        }
        seen[start] = true;
        let pit = flood(start, |index, (du, dv)| {
            let next = field.at(index, du, dv).filter(|next| below[*next])?;
            (!std::mem::replace(&mut seen[next], true)).then_some(next)
        });
        let area: f64 = pit.iter().map(|index| field.pitch(*index).powi(2)).sum();
        let depth = -pit.iter().map(|index| field.heights[*index]).sum::<f64>() / pit.len() as f64;
        let is_open = !pit.iter().any(|index| near[*index]);
        if is_open && depth < DEEPEST && area >= field.surfaces.min_side.powi(2) {
            pits.push(score(field, &pit));
        }
    }
    pits
}

/// The pixels on and beside things.
fn beside(field: &Field<'_>, things: &[Vec<usize>]) -> Vec<bool> {
    let mut steps = vec![NONE; field.above.len()];
    let mut front: VecDeque<usize> = VecDeque::new();
    // What is small may be noise itself.
    let is_large = |thing: &&Vec<usize>| {
        thing.iter().map(|index| field.pitch(*index).powi(2)).sum::<f64>()
            >= (2.0 * field.surfaces.min_side).powi(2)
    };
    for index in things.iter().filter(is_large).flatten() {
        steps[*index] = 0;
        front.push_back(*index);
    }
    while let Some(index) = front.pop_front() {
        if f64::from(steps[index]) * field.pitch(index).max(1e-4) >= BESIDE {
            continue;
        }
        for (du, dv) in WAYS {
            let Some(next) = field.at(index, du, dv).filter(|next| steps[*next] == NONE) else { continue };
            steps[next] = steps[index] + 1;
            front.push_back(next);
        }
    }
    steps.into_iter().map(|steps| steps != NONE).collect()
}
