//! `prehend map build`.

use super::growing::Growing;
use super::{Failure, counted, live, sight};
use crate::args::map::BuildArgs;
use crate::screen::{Progress, Screen, print_json};
use prehend_bags::{BagError, Recording, Summary};
use prehend_recording::build::FrameReport;
use prehend_recording::{BuildError, find_frames};
use prehend_scene::ObjectKey;
use serde_json::{Value, json};
use std::path::Path;
use std::time::Instant;

pub(super) async fn run(args: &BuildArgs) -> Result<(), Failure> {
    let screen = Screen::new(args.json);
    let sight = sight::open(&args.sight)?;
    let started = Instant::now();
    let settings = args.merge.settings();
    let map = Growing::new(settings, args.seed, sight);
    let map = match &args.frames {
        None => live::from_topics(args, map).await?,
        Some(path) if prehend_bags::is_bag(path) => from_bag(path, args, map)?,
        Some(path) => from_folder(path, map).map_err(Failure::input)?,
    };
    let (saved, reports, passed_over) = map.finish().map_err(Failure::input)?;
    let each = started.elapsed().as_secs_f64() * 1e3 / reports.len() as f64;
    for report in &reports {
        screen.line(line(report));
    }
    saved.save(&args.out).map_err(Failure::output)?;
    let objects: usize = saved.scenes.iter().map(|scene| scene.map.objects.len()).sum();
    screen.line(format!(
        "{objects} objects of {} frames in {} scenes: {}; {each:.0} ms a frame, reading included",
        reports.len(),
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
            "passed_over": passed_over,
        }));
    }
    Ok(())
}

fn from_folder(path: &Path, mut map: Growing) -> Result<Growing, BuildError> {
    for files in find_frames(path)? {
        map.take(files.read()?)?;
    }
    Ok(map)
}

/// Why a bag does not become a map.
#[derive(Debug, thiserror::Error)]
enum FromBagError {
    #[error(transparent)]
    Bag(#[from] BagError),
    #[error(transparent)]
    Build(#[from] BuildError),
}

fn from_bag(path: &Path, args: &BuildArgs, mut map: Growing) -> Result<Growing, Failure> {
    let recording = Recording::scan(path, &args.bag.options()).map_err(Failure::input)?;
    let summary = recording.summary();
    for line in found(summary) {
        eprintln!("{line}");
    }
    let progress = Progress::new("keyframe", summary.keyframes);
    let taken = recording.frames::<FromBagError>(|frame| {
        map.take(frame)?;
        progress.show(map.count());
        Ok(())
    });
    progress.end();
    let damage = taken.map_err(Failure::input)?;
    // The first reading told of a damage that both have met.
    if let Some(damage) = damage.filter(|_| map.count() < summary.keyframes) {
        eprintln!("{} of {} keyframes are before this: {damage}", map.count(), summary.keyframes);
    }
    Ok(map)
}

/// What was found in a bag, for people.
fn found(summary: &Summary) -> Vec<String> {
    let [color, depth, info] = &summary.topics;
    let [colors, depths] = summary.pictures;
    let unpaired = summary.unpaired.iter().sum::<u64>();
    let poses = match &summary.map_frame {
        Some(map) => format!("poses in `{map}` ({} pairs without)", summary.without_pose),
        None => "no poses".to_owned(),
    };
    let mut lines = vec![
        format!("{color} ({colors} pictures), {depth} ({depths}), {info}"),
        format!(
            "{} messages, {unpaired} pictures without a counterpart, {poses}, {} keyframes",
            summary.messages, summary.keyframes
        ),
    ];
    lines.extend(summary.remarks.iter().cloned());
    lines
}

fn line(report: &FrameReport) -> String {
    let update = &report.update;
    let is_joined = |key: &ObjectKey| update.joined.iter().any(|(lost, _)| lost == key);
    let gone: Vec<ObjectKey> = update.removed.iter().filter(|key| !is_joined(key)).cloned().collect();
    let list = |what: &str, keys: &[ObjectKey]| {
        let keys: Vec<&str> = keys.iter().map(|key| key.0.as_str()).collect();
        if keys.is_empty() { String::new() } else { format!("; {what} {}", keys.join(", ")) }
    };
    let joined: Vec<String> =
        update.joined.iter().map(|(lost, kept)| format!("; {lost} is part of {kept}")).collect();
    let changes = [
        list("new", &update.added),
        list("seen again", &update.merged),
        list("moved", &update.moved),
        list("gone", &gone),
        joined.concat(),
    ];
    let left_out = match counted(report.left_out.iter().copied()) {
        reasons if reasons.is_empty() => reasons,
        reasons => format!("; no things: {reasons}"),
    };
    let changes = changes.concat();
    let changes = if changes.is_empty() { "; nothing".to_owned() } else { changes };
    format!("{}{}{left_out}", report.frame, changes.replacen(';', ":", 1))
}

fn frame_json(report: &FrameReport) -> Value {
    let update = &report.update;
    json!({
        "frame": report.frame,
        "added": update.added,
        "merged": update.merged,
        "moved": update.moved,
        "removed": update.removed,
        "joined": update.joined,
        "specks": update.skipped.specks,
        "left_out": report.left_out,
    })
}
