//! An explanation for a terminal: one screen.

use super::{Came, Decision, Explanation, Kind, Number, Seen};
use std::fmt::Write;

/// Most lines of one decision's reasons, and most decisions that are written out.
const REASONS: usize = 4;

/// The explanation as text of a screen or so; the page has all of it.
pub fn text(explained: &Explanation) -> String {
    let mut text = String::new();
    // Writing to a string does not fail.
    let _ = writeln!(text, "goal: {}", explained.goal.as_deref().unwrap_or("not recorded"));
    if let Some(end) = &explained.ending {
        let reason = end.reason.as_ref().map(|reason| format!(" ({reason})")).unwrap_or_default();
        let physics = match end.physics_ok {
            Some(true) => "; physics agrees",
            Some(false) => "; physics says no",
            None => "",
        };
        let _ = writeln!(text, "end:  {}{reason}{physics}: {}", end.outcome, end.message);
    }
    for (index, decision) in explained.decisions.iter().enumerate() {
        let is_decisive = explained.decisive == Some(index);
        line(&mut text, decision, is_decisive);
    }
    let slow: Vec<String> =
        explained.times.iter().take(3).map(|(what, seconds)| format!("{what} {seconds:.1} s")).collect();
    if !slow.is_empty() {
        let _ = writeln!(text, "time: {}", slow.join(", "));
    }
    for missing in &explained.not_recorded {
        let _ = writeln!(text, "note: {missing}");
    }
    text
}

fn line(text: &mut String, decision: &Decision, is_decisive: bool) {
    let mark = match (is_decisive, decision.came) {
        (true, _) => ">>",
        (false, Came::Badly) => " !",
        (false, Came::Well) => "  ",
    };
    let times = if decision.times > 1 { format!(" ({} times)", decision.times) } else { String::new() };
    let numbers: Vec<String> = decision.numbers.iter().map(number).collect();
    let tail = if numbers.is_empty() { String::new() } else { format!(" [{}]", numbers.join(", ")) };
    let _ = writeln!(text, "{mark} {:7.2} {}{times}{tail}", decision.t, one_line(&decision.what));
    let is_told = is_decisive || decision.came == Came::Badly || decision.kind == Kind::Choice;
    if !is_told {
        return;
    }
    let rejected = decision.rejected.iter().map(|one| format!("not {}: {}", one.key, one.reason));
    let because = decision.because.iter().filter(|why| !decision.what.contains(why.as_str())).cloned();
    let most = if is_decisive { 2 * REASONS } else { REASONS / 2 };
    let reasons: Vec<String> = because.chain(rejected).collect();
    for why in reasons.iter().take(most) {
        let _ = writeln!(text, "             {}", one_line(why));
    }
    if reasons.len() > most {
        let _ = writeln!(text, "             and {} more", reasons.len() - most);
    }
    if is_decisive {
        for way in decision.otherwise.iter().take(REASONS) {
            let _ = writeln!(text, "             would have changed it: {}", one_line(way));
        }
    }
}

/// A number against its limit.
pub(super) fn number(number: &Number) -> String {
    let Number { name, value, limit, holds } = number;
    match (limit, holds) {
        (Some(limit), Some(true)) => format!("{name} {value:.2}, limit {limit:.2}"),
        (Some(limit), _) if *limit < 0.1 => format!("{name} {value:.4} misses its limit {limit:.4}"),
        (Some(limit), _) => format!("{name} {} misses its limit {limit:.2}", precise(*value, *limit)),
        (None, _) => format!("{name} {value:.2}"),
    }
}

/// A value with so many digits that it does not read as its limit.
fn precise(value: f64, limit: f64) -> String {
    if format!("{value:.2}") == format!("{limit:.2}") { format!("{value:.4}") } else { format!("{value:.2}") }
}

/// A thing in one sentence.
pub(super) fn thing(thing: &Seen) -> String {
    let [x, y, z] = thing.center_mm;
    let [a, b, c] = thing.size_mm;
    let share =
        thing.confidence.map(|share| format!(", called so by {share:.2} of the votes")).unwrap_or_default();
    let there = if thing.is_there { "" } else { "; it was not in the last map any more" };
    format!(
        "{}: a {}{share}, at ({x:.0}, {y:.0}, {z:.0}) mm, {a:.0} by {b:.0} by {c:.0} mm{there}.",
        thing.key,
        thing.name()
    )
}

fn one_line(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}
