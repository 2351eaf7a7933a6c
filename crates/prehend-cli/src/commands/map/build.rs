//! `prehend map build`.

use super::Failure;
use crate::args::map::BuildArgs;
use crate::screen::{Screen, print_json};
use prehend_perception::MapSettings;
use prehend_recording::build::FrameReport;
use prehend_recording::{build, find_frames};
use serde_json::{Value, json};
use std::time::Instant;

pub(super) fn run(args: &BuildArgs) -> Result<(), Failure> {
    let screen = Screen::new(args.json);
    let frames = find_frames(&args.frames).map_err(Failure::input)?;
    let started = Instant::now();
    let (saved, reports) = build(&frames, MapSettings::recorded(), args.seed).map_err(Failure::input)?;
    let each = started.elapsed().as_secs_f64() * 1e3 / frames.len() as f64;
    for report in &reports {
        screen.line(line(report));
    }
    saved.save(&args.out).map_err(Failure::output)?;
    let objects: usize = saved.scenes.iter().map(|scene| scene.map.objects.len()).sum();
    screen.line(format!(
        "{objects} objects of {} frames in {} scenes: {}; {each:.0} ms a frame, reading included",
        frames.len(),
        saved.scenes.len(),
        args.out.display()
    ));
    if args.json {
        let frames: Vec<Value> = reports.iter().map(frame_json).collect();
        print_json(&json!({
            "map": args.out,
            "scenes": saved.scenes.len(),
            "objects": objects,
            "milliseconds_per_frame": each,
            "frames": frames,
        }));
    }
    Ok(())
}

fn line(report: &FrameReport) -> String {
    let update = &report.update;
    let list = |what: &str, keys: &[prehend_scene::ObjectKey]| {
        let keys: Vec<&str> = keys.iter().map(|key| key.0.as_str()).collect();
        if keys.is_empty() { String::new() } else { format!("; {what} {}", keys.join(", ")) }
    };
    let changes = [
        list("new", &update.added),
        list("seen again", &update.merged),
        list("moved", &update.moved),
        list("gone", &update.removed),
    ];
    let small = match update.skipped.specks {
        0 => String::new(),
        count => format!("; {count} too small to be things"),
    };
    let changes = changes.concat();
    let changes = if changes.is_empty() { "; nothing".to_owned() } else { changes };
    format!("{}{}{small}", report.frame, changes.replacen(';', ":", 1))
}

fn frame_json(report: &FrameReport) -> Value {
    let update = &report.update;
    json!({
        "frame": report.frame,
        "added": update.added,
        "merged": update.merged,
        "moved": update.moved,
        "removed": update.removed,
        "specks": update.skipped.specks,
    })
}
