//! `prehend eval words`: what unknown words are taken for.

use crate::args::EvalWordsArgs;
use crate::outcome::exit;
use crate::screen::{Screen, print_json};
use prehend_eval::Vocabulary;
use prehend_eval::words::{WordTally, run_words};
use serde_json::json;

/// Judges the words of the files; gives the exit code.
pub fn words(args: &EvalWordsArgs) -> u8 {
    let screen = Screen::new(args.json);
    let vocabulary = match Vocabulary::built_in() {
        Ok(vocabulary) => vocabulary,
        Err(findings) => {
            eprintln!("{findings}");
            return exit::BAD_INPUT;
        }
    };
    let lines = match super::lines_of(&args.files) {
        Ok(lines) => lines,
        Err(message) => {
            eprintln!("{message}");
            return exit::BAD_INPUT;
        }
    };
    let (groups, misses) = run_words(&lines, &vocabulary, !args.without_witnesses);
    let mut all = WordTally::default();
    for miss in &misses {
        screen.line(miss);
    }
    screen.line(format!("{:<16} {:>4} {:>6} {:>8} {:>6}", "group", "n", "right", "refused", "wrong"));
    let row = |name: &str, t: &WordTally| {
        screen.line(format!("{name:<16} {:>4} {:>6} {:>8} {:>6}", t.n, t.right, t.refused, t.wrong));
    };
    for (name, tally) in &groups {
        row(name, tally);
        all.n += tally.n;
        all.right += tally.right;
        all.refused += tally.refused;
        all.wrong += tally.wrong;
    }
    row("all", &all);
    if args.json {
        print_json(&json!({
            "n": all.n, "right": all.right, "refused": all.refused, "wrong": all.wrong, "groups": groups,
        }));
    }
    exit::DONE
}
