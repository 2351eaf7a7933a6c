//! `prehend eval map --sim`: maps of random tables against the truth.

use super::sweep::{Sweep, with_sweep};
use crate::args::map::EvalMapArgs;
use crate::screen::{Screen, print_json};
use prehend_eval::mapped::{Counts, Figures, THRESHOLDS, measure};
use prehend_geometry::stats::wilson95;
use serde_json::{Value, json};

/// A way to make a map of the keyframes of a table, with its counts of one table.
type Row = (&'static str, fn(&Figures) -> Counts);

const ROWS: [Row; 3] = [
    ("all keyframes, merged", |figures| figures.merged),
    ("all keyframes, merging off", |figures| figures.unmerged),
    ("one keyframe", |figures| figures.single),
];

pub(super) fn run(args: &EvalMapArgs, screen: &Screen) -> Result<(), String> {
    let settings = args.merge.settings();
    let sweep = args.sweep.as_deref().map(|filter| Sweep::new(&settings, filter)).transpose()?;
    let table =
        |seed, settings| measure(&args.clutter.settings(seed), settings).map_err(|error| error.to_string());
    let seeds = || args.seed..args.seed.saturating_add(args.seeds);
    let mut tables: Vec<Figures> = Vec::new();
    for seed in seeds() {
        let figures = table(seed, settings)?;
        let Counts { things, found, objects } = figures.merged;
        screen.line(format!(
            "seed {seed}: {} of {things} found at IoU {}, {} at {}; {} objects",
            found[0], THRESHOLDS[0], found[1], THRESHOLDS[1], objects[0]
        ));
        tables.push(figures);
    }
    screen.line("");
    let sums = ROWS.map(|(way, of)| (way, tables.iter().map(of).fold(Counts::default(), Counts::plus)));
    screen.table(&rows(&sums));
    screen.line(format!(
        "{} tables, {} keyframes each, masks: {:?}; things of which a view shows 100 pixels; Wilson 95 %",
        tables.len(),
        args.clutter.views,
        args.clutter.masks
    ));
    let swept = sweep.map(|sweep| {
        let columns = format!("found at IoU {}/things, found at {}, objects", THRESHOLDS[0], THRESHOLDS[1]);
        sweep.run(screen, &columns, &brief(&sums[0].1), |settings| {
            let mut sum = Counts::default();
            for seed in seeds() {
                sum = sum.plus(table(seed, settings)?.merged);
            }
            Ok((brief(&sum), json!(sum)))
        })
    });
    if args.json {
        let ways: Vec<Value> = sums.iter().map(|(way, counts)| way_json(way, counts)).collect();
        let figures = json!({ "ways": ways, "tables": tables });
        print_json(&with_sweep(figures, swept));
    }
    Ok(())
}

/// Things of a merged map in a few characters.
fn brief(counts: &Counts) -> String {
    format!("{}/{}, {}, {}", counts.found[0], counts.things, counts.found[1], counts.objects[0])
}

fn rows(sums: &[(&str, Counts)]) -> Vec<[String; 6]> {
    let head = |what: &str, least: f64| format!("{what} at {least}");
    let [low, high] = THRESHOLDS;
    let mut rows = vec![[
        "map".to_owned(),
        "objects".to_owned(),
        head("recall", low),
        head("precision", low),
        head("recall", high),
        head("precision", high),
    ]];
    for (way, counts) in sums {
        let [recall, precision] = rates(counts);
        rows.push([
            (*way).to_owned(),
            counts.objects[0].to_string(),
            recall[0].clone(),
            precision[0].clone(),
            recall[1].clone(),
            precision[1].clone(),
        ]);
    }
    rows
}

/// Recall and precision at each threshold, with their intervals.
fn rates(counts: &Counts) -> [[String; 2]; 2] {
    [0, 1].map(|kind| {
        [0, 1].map(|place| {
            let of = if kind == 0 { counts.things } else { counts.objects[place] };
            let found = counts.found[place];
            let [low, high] = wilson95(found, of).map(|share| share * 100.0);
            let percent = 100.0 * found as f64 / of.max(1) as f64;
            format!("{found} of {of}, {percent:.1} % ({low:.1} to {high:.1})")
        })
    })
}

fn way_json(way: &str, counts: &Counts) -> Value {
    let rate = |found: usize, of: usize| json!({ "rate": found as f64 / of.max(1) as f64, "wilson95": wilson95(found, of) });
    let at = |place: usize| {
        json!({
            "iou": THRESHOLDS[place],
            "recall": rate(counts.found[place], counts.things),
            "precision": rate(counts.found[place], counts.objects[place]),
        })
    };
    json!({ "way": way, "counts": counts, "at": [at(0), at(1)] })
}
