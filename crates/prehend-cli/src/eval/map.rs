//! `prehend eval map`: maps of recorded frames against labels, of simulated ones against the truth, and by the clock.

mod cameras;
mod drawers;
mod race;
mod rooms;
mod sim;
mod sweep;

use crate::args::map::EvalMapArgs;
use crate::outcome::exit;
use crate::screen::{Screen, print_json};
use prehend_eval::masks::{FrameFigures, MasksError, Summary, judge_frames};
use prehend_recording::{FrameFiles, find_frames};
use serde_json::json;
use std::path::Path;
use sweep::Sweep;

/// Judges maps; gives the exit code.
pub fn map(args: EvalMapArgs) -> u8 {
    let screen = Screen::new(args.json);
    let done = match (&args.frames, &args.race, &args.drawers, args.cameras, args.rooms) {
        (Some(frames), ..) => recorded(frames, &args, &screen),
        (None, Some(folder), ..) => race::run(folder, &args, &screen),
        (None, None, Some(model), ..) => drawers::run(model, &args, &screen),
        (None, None, None, Some(kinds), _) => cameras::run(kinds.kinds(), &args, &screen),
        (None, None, None, None, Some(kinds)) => rooms::run(kinds.kinds(), &args, &screen),
        (None, None, None, None, None) => sim::run(&args, &screen),
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
    measure(&frames, args, screen)
}

fn measure(frames: &[FrameFiles], args: &EvalMapArgs, screen: &Screen) -> Result<(), String> {
    let settings = args.merge.settings();
    let sweep = args.sweep.as_deref().map(|filter| Sweep::new(&settings, filter)).transpose()?;
    let judged =
        |settings| judge_frames(frames, settings, args.seed).map_err(|error: MasksError| error.to_string());
    let figures = judged(settings)?;
    show(&figures, screen);
    let summary = Summary::of(&figures);
    let swept = sweep.map(|sweep| {
        sweep.run(screen, "mean IoU (found/labels, extra objects)", &brief(&summary), |settings| {
            let summary = Summary::of(&judged(settings)?);
            Ok((brief(&summary), json!(summary)))
        })
    });
    if args.json {
        print_json(&json!({ "frames": figures, "summary": summary, "sweep": swept.unwrap_or_default() }));
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
