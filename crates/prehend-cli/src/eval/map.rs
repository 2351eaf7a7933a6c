//! `prehend eval map`: maps of recorded frames against labels, of simulated ones against the truth, and by the clock.

mod drawers;
mod race;
mod sim;

use crate::args::map::EvalMapArgs;
use crate::outcome::exit;
use crate::screen::{Screen, print_json};
use prehend_eval::masks::{FrameFigures, MasksError, Summary, judge_frames};
use prehend_perception::MapSettings;
use prehend_perception::segment::SurfaceSettings;
use prehend_recording::{FrameFiles, find_frames};
use serde_json::json;
use std::path::Path;

/// Factors by which the sweep changes a parameter.
const FACTORS: [f64; 7] = [0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 4.0];

/// Judges maps; gives the exit code.
pub fn map(args: EvalMapArgs) -> u8 {
    let screen = Screen::new(args.json);
    let done = match (&args.frames, &args.race, &args.drawers) {
        (Some(frames), _, _) => recorded(frames, &args, &screen),
        (None, Some(folder), _) => race::run(folder, &args, &screen),
        (None, None, Some(model)) => drawers::run(model, &args, &screen),
        (None, None, None) => sim::run(&args, &screen),
    };
    match done {
        Ok(()) => exit::DONE,
        Err(message) => {
            eprintln!("{message}");
            exit::BAD_INPUT
        }
    }
}

fn recorded(folder: &Path, args: &EvalMapArgs, screen: &Screen) -> Result<(), String> {
    let frames = find_frames(folder).map_err(|error| error.to_string())?;
    measure(&frames, args, screen).map_err(|error| error.to_string())
}

fn measure(frames: &[FrameFiles], args: &EvalMapArgs, screen: &Screen) -> Result<(), MasksError> {
    let figures = judge_frames(frames, args.merge.settings(), args.seed)?;
    show(&figures, screen);
    let mut swept = Vec::new();
    if args.sweep {
        screen.line("\nmean IoU (found/labels, extra objects) with each parameter times");
        let mut rows = vec![std::array::from_fn(|column| match column.checked_sub(1) {
            None => "parameter".to_owned(),
            Some(place) => format!("{}", FACTORS[place]),
        })];
        for (name, parameter) in PARAMETERS {
            let mut row: [String; FACTORS.len() + 1] = Default::default();
            row[0] = name.to_owned();
            for (cell, factor) in row[1..].iter_mut().zip(FACTORS) {
                let mut settings = args.merge.settings();
                let value = parameter(&mut settings);
                *value *= factor;
                let value = *value;
                let summary = Summary::of(&judge_frames(frames, settings, args.seed)?);
                *cell = brief(&summary);
                swept.push(json!({ "parameter": name, "value": value, "figures": summary }));
            }
            rows.push(row);
        }
        screen.table(&rows);
    }
    if args.json {
        print_json(&json!({ "frames": figures, "summary": Summary::of(&figures), "sweep": swept }));
    }
    Ok(())
}

fn brief(summary: &Summary) -> String {
    format!("{:.3} ({}/{}, {})", summary.mean_iou, summary.found, summary.labels, summary.extra)
}

fn show(figures: &[FrameFigures], screen: &Screen) {
    let header =
        ["frame", "objects", "extra", "label", "object", "IoU", "covered", "parts"].map(str::to_owned);
    let mut rows = vec![header];
    for frame in figures {
        for (place, label) in frame.labels.iter().enumerate() {
            let once = |text: String| if place == 0 { text } else { String::new() };
            let part =
                |(name, inside): &(String, bool)| format!("{name} {}", if *inside { "in" } else { "OUT" });
            rows.push([
                once(frame.frame.clone()),
                once(frame.objects.to_string()),
                once(frame.extra.to_string()),
                label.name.clone(),
                label.key.clone().unwrap_or_else(|| "-".to_owned()),
                format!("{:.3}", label.iou),
                format!("{:.3}", label.coverage),
                label.parts.iter().map(part).collect::<Vec<_>>().join(", "),
            ]);
        }
    }
    screen.table(&rows);
    let summary = Summary::of(figures);
    screen.line(format!(
        "{} of {} labels found, mean IoU {:.3}, least {:.3}, {} extra objects in {} frames",
        summary.found,
        summary.labels,
        summary.mean_iou,
        summary.least_iou,
        summary.extra,
        figures.len()
    ));
}

/// A parameter of [`MapSettings`].
type Parameter = fn(&mut MapSettings) -> &mut f64;

/// What the sweep changes.
const PARAMETERS: [(&str, Parameter); 16] = [
    ("plane_distance", |s| &mut s.segment.plane_distance),
    ("plane_share", |s| &mut s.segment.plane_share),
    ("max_tilt", |s| &mut s.segment.max_tilt),
    ("min_height", |s| &mut s.segment.min_height),
    ("depth_sigma", |s| &mut s.segment.depth_sigma),
    ("leaf", |s| &mut s.segment.leaf),
    ("radius", |s| &mut s.segment.radius),
    ("min_extent", |s| &mut s.hypothesis.min_extent),
    ("reach", |s| &mut surfaces(s).reach),
    ("crease", |s| &mut surfaces(s).crease),
    ("min_side", |s| &mut surfaces(s).min_side),
    ("bridge", |s| &mut surfaces(s).bridge),
    ("unlike", |s| &mut surfaces(s).unlike),
    ("part", |s| &mut surfaces(s).part),
    ("max_side", |s| &mut surfaces(s).max_side),
    ("margin", |s| &mut surfaces(s).margin),
];

fn surfaces(settings: &mut MapSettings) -> &mut SurfaceSettings {
    settings.segment.surfaces.get_or_insert_default()
}
