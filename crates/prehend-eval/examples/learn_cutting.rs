//! Learns how evidence about patches and surfaces is weighed (`prehend_perception::segment`), from simulated frames.
//!
//! `cargo run --release -p prehend-eval --example learn_cutting -- 60 crates/prehend-perception/src/segment/learned.rs` takes 60 frames of
//! each of two kinds of cameras, structured light and stereo; the other two are kept back, and only told how well it goes there. Without a
//! file nothing is written. Weights are those of a logistic regression (Newton's method, with a little weight on small numbers).

use nalgebra::{DMatrix, DVector};
use prehend_eval::cameras::{Kind, frame};
use prehend_perception::{Keyframe, MapSettings};
use prehend_perception::segment::{Learned, Lesson, SegmentSettings, lessons};
use std::error::Error;

/// Seeds of what is learned from, and of what is told.
const LEARNED: u64 = 50_000;
const TOLD: u64 = 60_000;
/// Weight on small numbers, as a share of the lessons.
const SMALL: f64 = 3e-4;
/// Rounds of Newton's method.
const ROUNDS: usize = 12;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let count: u64 = arguments.first().map_or(Ok(60), |text| text.parse())?;
    let mut settings = MapSettings::recorded().segment;
    let kinds = [Kind::StructuredLight, Kind::Stereo];
    let kept_back = [Kind::TimeOfFlight, Kind::Overhead];
    let mut learned = Learned::default();
    let (taught, others, other_kinds) = (
        draw(&kinds, LEARNED, count)?,
        draw(&kinds, TOLD, count / 3 + 1)?,
        draw(&kept_back, TOLD, count / 3 + 1)?,
    );
    for level in 0..2 {
        let mut lessons = collect(&taught, &settings, level);
        // A border is decided by many patches, so each tells its evidence alone, without how rare borders are.
        if level == 0 {
            balance(&mut lessons);
        }
        let weights = learn(&lessons);
        match level {
            0 => learned.patches.copy_from_slice(&weights),
            _ => {
                let (shapes, borders) = weights.split_at(learned.surfaces.len());
                learned.surfaces.copy_from_slice(shapes);
                learned.borders.copy_from_slice(borders);
            }
        }
        let name = ["patches", "surfaces"][level];
        println!("{name}: {} lessons, right {}", lessons.len(), right(&lessons, &weights));
        println!("  other seeds: {}", right(&collect(&others, &settings, level), &weights));
        println!("  other kinds: {}", right(&collect(&other_kinds, &settings, level), &weights));
        if let Some(surfaces) = &mut settings.surfaces {
            surfaces.learned = learned;
        }
    }
    if let Some(path) = arguments.get(1) {
        std::fs::write(path, text(&learned))?;
        println!("written to {path}");
    }
    Ok(())
}

/// A frame with the thing that each pixel shows, from 1, or 0.
type Taught = (Keyframe, Vec<u16>, u64);

fn draw(kinds: &[Kind], first: u64, count: u64) -> Result<Vec<Taught>, Box<dyn Error>> {
    let mut all = Vec::new();
    for kind in kinds {
        for seed in first..first + count {
            let frame = frame(*kind, seed, false)?;
            let mut truth = vec![0; frame.keyframe.depth.millimetres.len()];
            for (number, thing) in (1..).zip(&frame.things) {
                thing.mask.indices().into_iter().for_each(|index| truth[index] = number);
            }
            all.push((frame.keyframe, truth, seed));
        }
    }
    Ok(all)
}

fn collect(frames: &[Taught], settings: &SegmentSettings, level: usize) -> Vec<Lesson> {
    let of = |(frame, truth, seed): &Taught| {
        let [patches, surfaces] = lessons(frame, settings, truth, *seed);
        if level == 0 { patches } else { surfaces }
    };
    frames.iter().flat_map(of).collect()
}

/// Makes what is one and what is two count the same.
fn balance(lessons: &mut [Lesson]) {
    let sum = |is_one: bool, lessons: &[Lesson]| {
        lessons.iter().filter(|lesson| lesson.is_one == is_one).map(|lesson| lesson.weight).sum::<f64>()
    };
    let share = sum(true, lessons) / sum(false, lessons).max(1e-9);
    lessons.iter_mut().filter(|lesson| !lesson.is_one).for_each(|lesson| lesson.weight *= share);
}

fn odds(lesson: &Lesson, weights: &[f64]) -> f64 {
    lesson.evidence.iter().zip(weights).map(|(part, weight)| part * weight).sum()
}

/// Weights that make the lessons most probable.
fn learn(lessons: &[Lesson]) -> Vec<f64> {
    let numbers = lessons.first().map_or(0, |lesson| lesson.evidence.len());
    let mut weights = vec![0.0; numbers];
    for _ in 0..ROUNDS {
        let mut slope = DVector::<f64>::zeros(numbers);
        let mut bend = DMatrix::<f64>::zeros(numbers, numbers);
        for lesson in lessons {
            let sure = 1.0 / (1.0 + (-odds(lesson, &weights)).exp());
            let miss = f64::from(u8::from(lesson.is_one)) - sure;
            let spread = (sure * (1.0 - sure)).max(1e-6) * lesson.weight;
            for (row, a) in lesson.evidence.iter().enumerate().filter(|(_, a)| **a != 0.0) {
                slope[row] += lesson.weight * miss * a;
                for (column, b) in lesson.evidence.iter().enumerate() {
                    bend[(row, column)] += spread * a * b;
                }
            }
        }
        let small = SMALL * lessons.len() as f64;
        for (number, weight) in weights.iter().enumerate() {
            slope[number] -= small * weight;
            bend[(number, number)] += small;
        }
        let Some(solved) = bend.cholesky() else { break };
        let step = solved.solve(&slope);
        weights.iter_mut().zip(step.iter()).for_each(|(weight, step)| *weight += step);
    }
    weights
}

/// Shares of the lessons of one thing and of two that the weights are right about.
fn right(lessons: &[Lesson], weights: &[f64]) -> String {
    let share = |is_one: bool| {
        let of = || lessons.iter().filter(|lesson| lesson.is_one == is_one);
        let right = of().filter(|lesson| (odds(lesson, weights) > 0.0) == is_one).count();
        100.0 * right as f64 / of().count().max(1) as f64
    };
    format!("{:.1} % of what is one, {:.1} % of what is two", share(true), share(false))
}

fn text(learned: &Learned) -> String {
    let numbers = |weights: &[f64]| {
        let lines: Vec<String> = weights
            .chunks(8)
            .map(|some| some.iter().map(|weight| format!("{weight:.3}")).collect::<Vec<_>>().join(", "))
            .collect();
        format!("[\n    {},\n]", lines.join(",\n    "))
    };
    format!(
        "//! Weights of evidence, written by `crates/prehend-eval/examples/learn_cutting.rs`. Do not edit.\n\n\
         /// See [`super::patches`].\n#[rustfmt::skip]\npub(super) const PATCHES: [f64; {}] = {};\n\n\
         /// See [`super::things`].\n#[rustfmt::skip]\npub(super) const SURFACES: [f64; {}] = {};\n\n\
         /// See [`super::things`].\n#[rustfmt::skip]\npub(super) const BORDERS: [f64; {}] = {};\n",
        learned.patches.len(),
        numbers(&learned.patches),
        learned.surfaces.len(),
        numbers(&learned.surfaces),
        learned.borders.len(),
        numbers(&learned.borders),
    )
}
