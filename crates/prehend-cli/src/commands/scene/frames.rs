//! `prehend scene frames`.

use super::Made;
use crate::args::map::{FramesArgs, MaskSource};
use image::{ImageBuffer, Luma};
use prehend_eval::clutter::{Clutter, Settings, Shot, Truth, shots};
use serde_json::json;
use std::path::Path;

pub(super) fn run(args: &FramesArgs) -> Result<Made, String> {
    let settings = Settings { features: usize::from(args.features), ..args.clutter.settings(args.seed) };
    if std::fs::read_dir(&args.out).is_ok_and(|mut entries| entries.next().is_some()) {
        return Err(format!("{} is not empty; frames are not mixed with others", args.out.display()));
    }
    let clutter = Clutter::new(&settings).map_err(|error| error.to_string())?;
    let mut taken: Vec<Shot> = Vec::new();
    for shot in shots(&clutter, &settings).map_err(|error| error.to_string())? {
        let mut shot = shot.map_err(|error| error.to_string())?;
        let folder = args.out.join(&shot.frame.name);
        shot.frame.write(&folder).map_err(|error| error.to_string())?;
        if args.clutter.masks == MaskSource::Geometry {
            mark(&folder, &shot)?;
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
fn mark(folder: &Path, shot: &Shot) -> Result<(), String> {
    let path = folder.join("instances.png");
    let failed = |error: String| format!("cannot write {}: {error}", path.display());
    let labels = &shot.labels;
    let picture: ImageBuffer<Luma<u16>, Vec<u16>> =
        ImageBuffer::from_raw(labels.width as u32, labels.height as u32, labels.labels.clone())
            .ok_or_else(|| failed("its size is not that of its pixels".to_owned()))?;
    picture.save(&path).map_err(|error| failed(error.to_string()))
}
