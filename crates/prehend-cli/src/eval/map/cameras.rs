//! `prehend eval map --cameras`: frames of other cameras over other tables, against the truth by masks.

use super::sweep::{Sweep, with_sweep};
use crate::args::map::EvalMapArgs;
use crate::screen::{Screen, print_json};
use prehend_drawing::overlay::{PALETTE, png, tint};
use prehend_eval::cameras::{Content, Count, Frame, Kind, measure};
use prehend_geometry::Mask;
use prehend_geometry::stats::wilson95;
use prehend_perception::MapSettings;
use serde_json::{Value, json};
use std::path::Path;

/// Figures of one kind of camera.
#[derive(Clone, Debug, Default)]
struct Figures {
    count: Count,
    /// The same things between walls and fixtures.
    surrounded: Count,
    /// Objects on empty tables.
    of_nothing: usize,
    /// Time of each map, ms.
    times: Vec<f64>,
}

pub(super) fn run(kinds: &[Kind], args: &EvalMapArgs, screen: &Screen) -> Result<(), String> {
    let settings = args.merge.settings();
    let sweep = args.sweep.as_deref().map(|filter| Sweep::new(&settings, filter)).transpose()?;
    if let Some(folder) = &args.out {
        std::fs::create_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    }
    let mut all: Vec<(Kind, Figures)> = Vec::new();
    for kind in kinds {
        let figures = of_kind(*kind, args, settings, args.out.as_deref())?;
        screen.line(format!("{kind}: {}", brief(&figures)));
        all.push((*kind, figures));
    }
    screen.line("");
    screen.table(&rows(&all));
    screen.line(format!(
        "{} frames of each kind, as many with walls and fixtures around the things, and as many empty tables, seeds from {}; masks at IoU 0.5, Wilson 95 %; asked for is what has 2 cm and is half seen",
        args.seeds, args.seed
    ));
    let sum = |all: &[(Kind, Figures)]| {
        all.iter().map(|(_, figures)| brief(figures)).collect::<Vec<_>>().join("; ")
    };
    let swept = sweep.map(|sweep| {
        sweep.run(
            screen,
            "found/things, objects; the same surrounded; of empty tables, for each kind",
            &sum(&all),
            |settings| {
                let all: Vec<(Kind, Figures)> = kinds
                    .iter()
                    .map(|kind| Ok((*kind, of_kind(*kind, args, settings, None)?)))
                    .collect::<Result<_, String>>()?;
                Ok((sum(&all), Value::from(all.iter().map(to_json).collect::<Vec<_>>())))
            },
        )
    });
    if args.json {
        let figures = json!({ "seed": args.seed, "frames": args.seeds, "kinds": all.iter().map(to_json).collect::<Vec<_>>() });
        print_json(&with_sweep(figures, swept));
    }
    Ok(())
}

fn of_kind(
    kind: Kind,
    args: &EvalMapArgs,
    settings: MapSettings,
    out: Option<&Path>,
) -> Result<Figures, String> {
    let mut figures = Figures::default();
    for seed in args.seed..args.seed.saturating_add(args.seeds) {
        for content in [Content::Things, Content::Surrounded, Content::Nothing] {
            let (frame, found) = measure(kind, seed, content, settings).map_err(|error| error.to_string())?;
            let (name, is_drawn) = match content {
                Content::Things => {
                    figures.count = figures.count.plus(found.count);
                    figures.times.push(found.seconds * 1e3);
                    ("", true)
                }
                Content::Surrounded => {
                    figures.surrounded = figures.surrounded.plus(found.count);
                    ("_surrounded", true)
                }
                Content::Nothing => {
                    figures.of_nothing += found.masks.len();
                    ("_empty", !found.masks.is_empty())
                }
            };
            if let Some(folder) = out.filter(|_| is_drawn) {
                draw(&folder.join(format!("{kind}_{seed:04}{name}.png")), &frame, &found.masks)?;
            }
        }
    }
    Ok(figures)
}

/// The picture with what was found in it.
fn draw(path: &Path, frame: &Frame, masks: &[Mask]) -> Result<(), String> {
    let mut picture = frame.keyframe.color.clone();
    for (mask, color) in masks.iter().zip(PALETTE.iter().cycle()) {
        tint(&mut picture, mask, *color);
    }
    let bytes = png(&picture).map_err(|error| error.to_string())?;
    std::fs::write(path, bytes).map_err(|error| format!("{}: {error}", path.display()))
}

fn rows(all: &[(Kind, Figures)]) -> Vec<[String; 6]> {
    let mut rows = vec![
        ["camera", "recall", "precision", "of nothing", "on empty tables", "ms, median and most"]
            .map(str::to_owned),
    ];
    for (kind, figures) in all {
        let mut times = figures.times.clone();
        times.sort_by(f64::total_cmp);
        let time = |place: usize| times.get(place).copied().unwrap_or(0.0);
        let row = |name: String, count: Count, rest: [String; 2]| {
            let [of_nothing, time] = rest;
            let Count { things, found, objects, nothing } = count;
            [name, share(found, things), share(found, objects), nothing.to_string(), of_nothing, time]
        };
        let time = format!("{:.0}, {:.0}", time(times.len() / 2), time(times.len().saturating_sub(1)));
        rows.push(row(kind.to_string(), figures.count, [figures.of_nothing.to_string(), time]));
        rows.push(row(format!("{kind}, surrounded"), figures.surrounded, Default::default()));
    }
    rows
}

fn share(found: usize, of: usize) -> String {
    let [low, high] = wilson95(found, of).map(|share| share * 100.0);
    format!("{found} of {of}, {:.1} % ({low:.1} to {high:.1})", 100.0 * found as f64 / of.max(1) as f64)
}

/// Figures in a few characters.
fn brief(figures: &Figures) -> String {
    let Count { things, found, objects, .. } = figures.count;
    let surrounded = figures.surrounded;
    format!(
        "{found}/{things}, {objects}; {}/{}, {}; {}",
        surrounded.found, surrounded.things, surrounded.objects, figures.of_nothing
    )
}

fn to_json((kind, figures): &(Kind, Figures)) -> Value {
    json!({ "camera": kind, "count": figures.count, "surrounded": figures.surrounded, "on_empty_tables": figures.of_nothing, "ms": figures.times })
}
