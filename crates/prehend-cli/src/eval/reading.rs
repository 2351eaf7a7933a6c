//! `prehend eval reading`: how sentences are read.

use crate::args::EvalReadingArgs;
use crate::outcome::exit;
use crate::screen::{Screen, print_json};
use prehend_agent::language::Lexicon;
use prehend_eval::reading::{ReadingTally, run_readings};
use prehend_geometry::stats::wilson95;
use serde_json::json;

/// Judges the readings of the files' sentences; gives the exit code.
pub fn reading(args: &EvalReadingArgs) -> u8 {
    let screen = Screen::new(args.json);
    let lines = match super::lines_of(&args.files) {
        Ok(lines) => lines,
        Err(message) => {
            eprintln!("{message}");
            return exit::BAD_INPUT;
        }
    };
    let (groups, misses) = run_readings(&lines, &Lexicon::built_in());
    for miss in &misses {
        screen.line(miss);
    }
    screen.line(format!("{:<28} {:>4} {:>9} {:>8} {:>10}", "group", "n", "as meant", "refused", "otherwise"));
    let row = |name: &str, t: &ReadingTally| {
        screen.line(format!("{name:<28} {:>4} {:>9} {:>8} {:>10}", t.n, t.as_meant, t.refused, t.otherwise));
    };
    let mut all = ReadingTally::default();
    for (name, tally) in &groups {
        row(name, tally);
        all.n += tally.n;
        all.as_meant += tally.as_meant;
        all.refused += tally.refused;
        all.otherwise += tally.otherwise;
    }
    row("all", &all);
    let [low, high] = wilson95(all.as_meant as usize, all.n as usize).map(|share| 100.0 * share);
    screen.line(format!(
        "as meant: {:.1} % ({low:.1} to {high:.1})",
        100.0 * f64::from(all.as_meant) / f64::from(all.n.max(1))
    ));
    if args.json {
        print_json(&json!({
            "n": all.n, "as_meant": all.as_meant, "refused": all.refused, "otherwise": all.otherwise, "groups": groups,
        }));
    }
    exit::DONE
}
