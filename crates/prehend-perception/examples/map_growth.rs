//! Time of a keyframe by the number of objects that the map holds, stage by stage (cutting the frame by geometry, making things of masks
//! and pieces, taking them into the map):
//! `cargo run --release --example map_growth -p prehend-perception [RULE [recorded]]`.
//!
//! The things stand on a long table, 30 to a patch. The map is built patch by patch; what is timed is a keyframe of the first
//! patch, so the new points are the same whatever the map holds. RULE is `prehend` (default), `conceptgraphs`, `asp` or `off`;
//! `recorded` takes the settings of maps of recordings instead of the robot's.

#![expect(clippy::print_stdout, reason = "an example talks to the person who runs it")]

#[path = "../tests/support/render.rs"]
#[allow(dead_code, unreachable_pub, reason = "shared with the tests, which use more of it")]
mod render;

use nalgebra::Vector3;
use prehend_perception::hypothesis::hypotheses;
use prehend_perception::segment::segment;
use prehend_perception::{Keyframe, MapBuilder, MapSettings};
use prehend_scene::merge::MergeMethod;
use render::{Form, Thing, VGA, looking, render, thing};
use std::time::Instant;

/// Things a keyframe shows.
const SHOWN: usize = 30;
/// Length of a patch, metres.
const PATCH: f64 = 1.2;
/// Timed keyframes.
const TIMED: usize = 40;

fn patch(number: usize, count: usize) -> Keyframe {
    let left = number as f64 * PATCH;
    let things: Vec<Thing> = (0..count)
        .map(|i| {
            let (column, row) = ((i % 6) as f64, (i / 6) as f64);
            let color = [(40 + 37 * i % 200) as u8, (30 + 91 * i % 220) as u8, (20 + 53 * i % 230) as u8];
            let form = match i % 3 {
                0 => Form::Block([0.05, 0.04, 0.05]),
                1 => Form::Can(0.022, 0.07),
                _ => Form::Ball(0.025),
            };
            let mut placed = thing(
                ["box", "can", "ball"][i % 3],
                form,
                0.24 + 0.09 * row,
                left + 0.1 * (column - 2.5),
                color,
            );
            placed.at[3] = 0.3 * column;
            placed
        })
        .collect();
    let mut frame =
        render(&things, &VGA, &looking([0.05, left, 0.6], [0.4, left, 0.0]), 0.002, number as u64);
    frame.stamp = number as f64;
    frame
}

/// Time the threads of this process have run on a processor, milliseconds: others that are at work on the machine do not count. 0 where it is
/// not told.
fn on_cpu() -> f64 {
    let threads = std::fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
    let of = |thread: std::fs::DirEntry| {
        let told = std::fs::read_to_string(thread.path().join("schedstat")).ok()?;
        told.split(' ').next()?.parse::<f64>().ok()
    };
    threads.filter_map(of).sum::<f64>() * 1e-6
}

fn main() {
    let name = std::env::args().nth(1).unwrap_or_else(|| "prehend".to_owned());
    let Some(method) = MergeMethod::parse(&name) else {
        println!("{name} is no rule of merging");
        return;
    };
    let recorded = std::env::args().nth(2).is_some_and(|settings| settings == "recorded");
    let settings = if recorded { MapSettings::recorded() } else { MapSettings::default() };
    let mut settings = MapSettings { merge: method.rule(), ..settings };
    settings.segment.region_low = Vector3::new(-1.0, -100.0, -1.0);
    settings.segment.region_high = Vector3::new(2.0, 100.0, 2.0);
    println!(
        "milliseconds a keyframe      | segmentation       | things             | the map             |"
    );
    println!(
        "objects in map | shown       | median | processor  | median | processor  | median | processor   | points shown"
    );
    for (total, shown) in [(10_usize, 10_usize), (30, SHOWN), (100, SHOWN), (300, SHOWN), (1000, SHOWN)] {
        let mut builder = MapBuilder::new("map", settings);
        for number in (0..total.div_ceil(shown)).rev() {
            let left = total - number * shown;
            builder.update(&patch(number, left.min(shown)), None, false, 1).expect("a frame");
        }
        let objects = builder.map().objects.len();
        let mut frame = patch(0, shown);
        let (mut cut, mut made, mut rest) = (Laps::default(), Laps::default(), Laps::default());
        let mut points = 0;
        for number in 0..TIMED {
            frame.stamp = 1000.0 + number as f64;
            let scene = cut.time(|| segment(&frame, &settings.segment, None, 1));
            let found = made.time(|| hypotheses(&frame, &scene, &settings.hypothesis));
            points = found.0.iter().map(|thing| thing.pixels.len()).sum();
            rest.time(|| builder.take(&frame, &scene, found, &[], None, false)).expect("words as features");
        }
        println!("{objects:14} | {shown:11} | {cut} | {made} | {rest} | {points:12}");
    }
}

/// What one stage took, keyframe by keyframe.
#[derive(Default)]
struct Laps {
    clock: Vec<f64>,
    processor: f64,
}

impl Laps {
    fn time<T>(&mut self, stage: impl FnOnce() -> T) -> T {
        let (started, busy) = (Instant::now(), on_cpu());
        let made = stage();
        self.clock.push(started.elapsed().as_secs_f64() * 1e3);
        self.processor += on_cpu() - busy;
        made
    }
}

/// The median by the clock and the mean of processor time, milliseconds.
impl std::fmt::Display for Laps {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut sorted = self.clock.clone();
        sorted.sort_by(f64::total_cmp);
        let count = sorted.len().max(1);
        write!(f, "{:6.1} | {:10.1}", sorted.get(count / 2).unwrap_or(&0.0), self.processor / count as f64)
    }
}
