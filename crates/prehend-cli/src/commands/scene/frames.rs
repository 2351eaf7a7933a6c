//! `prehend scene frames`.

use super::Made;
use crate::args::map::{FramesArgs, MaskSource};
use image::{ImageBuffer, Luma};
use prehend_eval::cameras::{Content, Kind, frame};
use prehend_eval::clutter::{Clutter, Settings, Shot, Truth, shots};
use prehend_perception::LabelImage;
use serde_json::json;
use std::path::Path;

pub(super) fn run(args: &FramesArgs) -> Result<Made, String> {
    if std::fs::read_dir(&args.out).is_ok_and(|mut entries| entries.next().is_some()) {
        return Err(format!("{} is not empty; frames are not mixed with others", args.out.display()));
    }
    match args.cameras {
        Some(kinds) => of_cameras(kinds.kinds(), args),
        None => of_tables(args),
    }
}

/// Single frames of other cameras, each with what it shows in `instances.png`.
fn of_cameras(kinds: &[Kind], args: &FramesArgs) -> Result<Made, String> {
    let (mut keyframes, mut things) = (0, 0);
    for kind in kinds {
        for seed in args.seed..args.seed.saturating_add(args.seeds) {
            let frame = frame(*kind, seed, Content::Things).map_err(|error| error.to_string())?;
            let (frame, labels) = frame.recorded(format!("{kind}_{seed:04}"));
            let folder = args.out.join(&frame.name);
            frame.write(&folder).map_err(|error| error.to_string())?;
            mark(&folder, &labels)?;
            keyframes += 1;
            things += usize::from(labels.labels.iter().copied().max().unwrap_or(0));
        }
    }
    let words = format!("{keyframes} frames of {things} things: {}", args.out.display());
    Ok(Made { words, json: json!({ "out": args.out, "keyframes": keyframes, "things": things }) })
}

fn of_tables(args: &FramesArgs) -> Result<Made, String> {
    let settings = Settings { features: usize::from(args.features), ..args.clutter.settings(args.seed) };
    let clutter = Clutter::new(&settings).map_err(|error| error.to_string())?;
    let mut taken: Vec<Shot> = Vec::new();
    for shot in shots(&clutter, &settings).map_err(|error| error.to_string())? {
        let mut shot = shot.map_err(|error| error.to_string())?;
        let folder = args.out.join(&shot.frame.name);
        shot.frame.write(&folder).map_err(|error| error.to_string())?;
        if args.clutter.masks == MaskSource::Geometry {
            mark(&folder, &shot.labels)?;
        }
        // The pictures of a hall do not fit into memory at once.
        shot.frame.color.pixels = Vec::new();
        shot.frame.depth.millimetres = Vec::new();
        shot.frame.instances = None;
        shot.labels.labels = Vec::new();
        taken.push(shot);
    }
    let truth = Truth::of(args.seed, &clutter, &taken);
    truth.write(&args.out).map_err(|error| error.to_string())?;
    let (tables, visible) = (clutter.tables.len(), truth.visible().count());
    let words = format!(
        "{} keyframes of {} things on {tables} tables, {visible} of them to be seen: {}",
        taken.len(),
        truth.things.len(),
        args.out.display()
    );
    let json = json!({
        "out": args.out,
        "keyframes": taken.len(),
        "things": truth.things.len(),
        "visible": visible,
        "tables": tables,
    });
    Ok(Made { words, json })
}

/// Writes which thing each pixel shows, as people mark frames: `instances.png` without a list.
fn mark(folder: &Path, labels: &LabelImage) -> Result<(), String> {
    let path = folder.join("instances.png");
    let failed = |error: String| format!("cannot write {}: {error}", path.display());
    let picture: ImageBuffer<Luma<u16>, Vec<u16>> =
        ImageBuffer::from_raw(labels.width as u32, labels.height as u32, labels.labels.clone())
            .ok_or_else(|| failed("its size is not that of its pixels".to_owned()))?;
    picture.save(&path).map_err(|error| failed(error.to_string()))
}
