//! Learns how evidence about patches, surfaces and things is weighed (`prehend_perception::segment`), from simulated frames.
//!
//! `cargo run --release -p prehend-eval --example learn_cutting -- 150 crates/prehend-perception/src/segment/learned.rs` takes 150 frames of
//! each of three kinds of cameras that look at a slant; the one that looks straight down is kept back, and only told how well it goes there.
//! Without a file nothing is written. The trees are those of gradient boosting (Friedman 2001) with a second-order step (Chen and Guestrin 2016).

#![expect(clippy::print_stdout, reason = "an example talks to the person who runs it")]

use prehend_eval::cameras::{CameraError, Content, Kind, frame};
use prehend_perception::segment::{Learned, Lesson, SegmentSettings, Tree, lessons, odds};
use prehend_perception::{Keyframe, MapSettings};
use rayon::prelude::*;
use std::error::Error;

/// Seeds of what is learned from, and of what is told.
const LEARNED: u64 = 50_000;
const TOLD: u64 = 60_000;
/// Trees about patches, surfaces and things.
const TREES: [usize; 3] = [40, 60, 40];
/// What is learned from and told about things: where nothing stands, and where other things stand around.
const OTHERS: [Content; 2] = [Content::Surrounded, Content::Nothing];
/// Share of its best step that a tree goes.
const RATE: f64 = 0.12;
/// What a leaf is taken to have seen beside its lessons: small leaves say little.
const CALM: f64 = 5.0;
/// Values of a number that are told apart.
const BINS: usize = 48;
/// Pixels of the smaller of two surfaces from which a lesson about them counts whole.
const WHOLE: f64 = 300.0;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let count: u64 = arguments.first().map_or(Ok(100), |text| text.parse())?;
    let settings = MapSettings::recorded().segment;
    let kinds = [Kind::StructuredLight, Kind::Stereo, Kind::TimeOfFlight];
    let kept_back = [Kind::Overhead];
    let drawn = |contents: &[Content]| -> Result<[Vec<Taught>; 3], CameraError> {
        let told = count / 3 + 1;
        Ok([
            draw(&kinds, LEARNED, count, contents)?,
            draw(&kinds, TOLD, told, contents)?,
            draw(&kept_back, TOLD, told, contents)?,
        ])
    };
    let [mut taught, mut others, mut other_kinds] = drawn(&[Content::Things])?;
    let mut forests: [Vec<Tree>; 3] = Default::default();
    for (level, name) in ["patches", "surfaces", "things"].into_iter().enumerate() {
        if level == 2 {
            let more = drawn(&OTHERS)?;
            [&mut taught, &mut others, &mut other_kinds]
                .into_iter()
                .zip(more)
                .for_each(|(frames, more)| frames.extend(more));
        }
        let known = forests.clone();
        let learned = Learned { patches: &known[0], surfaces: &known[1], things: &known[2] };
        let mut settings = settings;
        // What is added to the odds is chosen afterwards, for what was learned without it.
        if let Some(surfaces) = settings.surfaces.as_mut().filter(|_| level < 2) {
            surfaces.smooth = 0.0;
        }
        let of = |frames: &[Taught]| collect(frames, &settings, learned, level);
        let mut lessons = of(&taught);
        // Many borders decide together, so each tells its evidence alone, without how rare borders between things are.
        if level < 2 {
            balance(&mut lessons);
        }
        let trees = learn(&lessons, TREES[level]);
        println!("{name}: {} lessons, right {}", lessons.len(), right(&lessons, &trees));
        println!("  other seeds: {}", right(&of(&others), &trees));
        println!("  other kinds: {}", right(&of(&other_kinds), &trees));
        forests[level] = trees;
    }
    if let Some(path) = arguments.get(1) {
        std::fs::write(path, text(&forests))?;
        println!("written to {path}");
    }
    Ok(())
}

/// A frame with the thing that each pixel shows, from 1, or 0.
type Taught = (Keyframe, Vec<u16>, u64);

fn draw(kinds: &[Kind], first: u64, count: u64, contents: &[Content]) -> Result<Vec<Taught>, CameraError> {
    let of = |kind: Kind, content: Content| (first..first + count).map(move |seed| (kind, content, seed));
    let all: Vec<(Kind, Content, u64)> =
        kinds.iter().flat_map(|kind| contents.iter().flat_map(move |content| of(*kind, *content))).collect();
    all.into_par_iter()
        .map(|(kind, content, seed)| {
            let frame = frame(kind, seed, content)?;
            let mut truth = vec![0; frame.keyframe.depth.millimetres.len()];
            for (number, thing) in (1..).zip(&frame.things) {
                thing.mask.indices().into_iter().for_each(|index| truth[index] = number);
            }
            Ok((frame.keyframe, truth, seed))
        })
        .collect()
}

fn collect(frames: &[Taught], settings: &SegmentSettings, learned: Learned<'_>, level: usize) -> Vec<Lesson> {
    let of = |(frame, truth, seed): &Taught| {
        let mut all = lessons(frame, settings, learned, truth, *seed);
        all[1].iter_mut().for_each(|lesson| lesson.weight = (lesson.weight / WHOLE).min(1.0));
        std::mem::take(&mut all[level])
    };
    frames.par_iter().flat_map_iter(of).collect()
}

/// Makes what is one and what is two count the same.
fn balance(lessons: &mut [Lesson]) {
    let sum = |is_one: bool, lessons: &[Lesson]| {
        lessons.iter().filter(|lesson| lesson.is_one == is_one).map(|lesson| lesson.weight).sum::<f64>()
    };
    let share = sum(true, lessons) / sum(false, lessons).max(1e-9);
    lessons.iter_mut().filter(|lesson| !lesson.is_one).for_each(|lesson| lesson.weight *= share);
}

/// Trees that make the lessons probable.
fn learn(lessons: &[Lesson], count: usize) -> Vec<Tree> {
    let numbers = lessons.first().map_or(0, |lesson| lesson.evidence.len());
    let cuts: Vec<Vec<f32>> = (0..numbers).map(|number| cuts(lessons, number)).collect();
    let bins: Vec<Vec<u8>> = lessons
        .iter()
        .map(|lesson| {
            let bin =
                |(part, cuts): (&f64, &Vec<f32>)| cuts.partition_point(|cut| *part > f64::from(*cut)) as u8;
            lesson.evidence.iter().zip(&cuts).map(bin).collect()
        })
        .collect();
    let mut sums = vec![0.0; lessons.len()];
    let mut trees = Vec::new();
    for _ in 0..count {
        // First and second derivatives of the loss.
        let steps: Vec<[f64; 2]> = lessons
            .iter()
            .zip(&sums)
            .map(|(lesson, sum)| {
                let sure: f64 = 1.0 / (1.0 + f64::exp(-sum));
                let wanted = f64::from(u8::from(lesson.is_one));
                [lesson.weight * (wanted - sure), lesson.weight * (sure * (1.0 - sure)).max(1e-6)]
            })
            .collect();
        let tree = grow(&bins, &cuts, &steps);
        for (sum, lesson) in sums.iter_mut().zip(lessons) {
            *sum += f64::from(tree.leaves[tree.leaf(&lesson.evidence)]);
        }
        trees.push(tree);
    }
    trees
}

/// Values of a number between which there are about as many lessons each.
fn cuts(lessons: &[Lesson], number: usize) -> Vec<f32> {
    let mut all: Vec<f32> = lessons.iter().map(|lesson| lesson.evidence[number] as f32).collect();
    all.sort_unstable_by(f32::total_cmp);
    let mut cuts: Vec<f32> = (1..BINS).map(|bin| all[bin * all.len() / BINS]).collect();
    cuts.dedup();
    cuts
}

fn grow(bins: &[Vec<u8>], cuts: &[Vec<f32>], steps: &[[f64; 2]]) -> Tree {
    let mut tree = Tree { splits: [(0, f32::MAX); 7], leaves: [0.0; 8] };
    // The node that each lesson has come to; those of the last row are leaves.
    let mut node = vec![0_usize; bins.len()];
    for row in 0..3_usize {
        let first = (1 << row) - 1;
        let mut best: Vec<(f64, usize, usize)> = vec![(0.0, 0, usize::MAX); 1 << row];
        for (number, cuts) in cuts.iter().enumerate() {
            let mut sums = vec![[[0.0; 2]; BINS]; 1 << row];
            for ((bins, node), step) in bins.iter().zip(&node).zip(steps) {
                let sum = &mut sums[node - first][usize::from(bins[number])];
                (sum[0], sum[1]) = (sum[0] + step[0], sum[1] + step[1]);
            }
            for (sums, best) in sums.iter().zip(&mut best) {
                let all = sums.iter().fold([0.0; 2], |a, b| [a[0] + b[0], a[1] + b[1]]);
                let worth = |[slope, bend]: [f64; 2]| slope * slope / (bend + CALM);
                let mut left = [0.0; 2];
                for (cut, sum) in sums.iter().enumerate().take(cuts.len()) {
                    left = [left[0] + sum[0], left[1] + sum[1]];
                    let gain = worth(left) + worth([all[0] - left[0], all[1] - left[1]]) - worth(all);
                    if gain > best.0 {
                        *best = (gain, number, cut);
                    }
                }
            }
        }
        for (place, (_, number, cut)) in best.iter().enumerate() {
            if let Some(value) = cuts.get(*number).and_then(|cuts| cuts.get(*cut)) {
                tree.splits[first + place] = (*number as u8, *value);
            }
        }
        for (node, bins) in node.iter_mut().zip(bins) {
            let (_, number, cut) = best[*node - first];
            *node = 2 * *node + 1 + usize::from(cut != usize::MAX && usize::from(bins[number]) > cut);
        }
    }
    let mut sums = [[0.0; 2]; 8];
    for (node, step) in node.iter().zip(steps) {
        let sum = &mut sums[node - 7];
        (sum[0], sum[1]) = (sum[0] + step[0], sum[1] + step[1]);
    }
    tree.leaves = sums.map(|[slope, bend]| (RATE * slope / (bend + CALM)) as f32);
    tree
}

/// Shares of the lessons of one thing and of two, or of things and of none, that the trees are right about.
fn right(lessons: &[Lesson], trees: &[Tree]) -> String {
    let share = |is_one: bool| {
        let of = || lessons.iter().filter(|lesson| lesson.is_one == is_one);
        let right = of().filter(|lesson| (odds(trees, &lesson.evidence) > 0.0) == is_one);
        100.0 * right.map(|lesson| lesson.weight).sum::<f64>()
            / of().map(|lesson| lesson.weight).sum::<f64>().max(1e-9)
    };
    format!("{:.1} % of what is one, {:.1} % of what is two", share(true), share(false))
}

fn text(forests: &[Vec<Tree>; 3]) -> String {
    let trees = |trees: &[Tree]| {
        let tree = |tree: &Tree| {
            let splits: Vec<String> =
                tree.splits.iter().map(|(number, least)| format!("({number}, {least:?})")).collect();
            let leaves: Vec<String> = tree.leaves.iter().map(|leaf| format!("{leaf:.4}")).collect();
            format!("    Tree {{ splits: [{}], leaves: [{}] }},\n", splits.join(", "), leaves.join(", "))
        };
        trees.iter().map(tree).collect::<String>()
    };
    format!(
        "//! Trees, written by `crates/prehend-eval/examples/learn_cutting.rs`. Do not edit.\n\n\
         use super::forest::Tree;\n\n\
         /// See [`super::patches`].\n#[rustfmt::skip]\npub(super) const PATCHES: &[Tree] = &[\n{}];\n\n\
         /// See [`super::things`].\n#[rustfmt::skip]\npub(super) const SURFACES: &[Tree] = &[\n{}];\n\n\
         /// See [`super::likely`].\n#[rustfmt::skip]\npub(super) const THINGS: &[Tree] = &[\n{}];\n",
        trees(&forests[0]),
        trees(&forests[1]),
        trees(&forests[2]),
    )
}
