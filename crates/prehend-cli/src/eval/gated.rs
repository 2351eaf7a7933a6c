//! Whether every motion of the arm had a permit: intervals of motion from physics against redeemed permits of the trace.

use serde_json::Value;
use std::collections::HashSet;

/// A moving arm needs so long to stand after its phase has ended, and the nodes' clocks may lag, seconds.
const SLACK: f64 = 0.6;
/// A shorter uncovered rest is noise, seconds.
const LEAST: f64 = 0.05;

/// Simulated time in which a permit was good for motion.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Window {
    start: f64,
    end: f64,
}

/// The windows of a trace, whose events are those of `trace.jsonl`: from a motion's start, when its permit had been
/// redeemed before, to its end.
fn windows(trace: &[Value]) -> Vec<Window> {
    let mut redeemed: HashSet<&str> = HashSet::new();
    let mut open: Vec<(&str, &str, f64)> = Vec::new();
    let mut windows = Vec::new();
    let mut last = f64::NEG_INFINITY;
    for event in trace {
        let text = |key: &str| event[key].as_str().unwrap_or_default();
        let time = event["t"].as_f64().unwrap_or_default();
        last = last.max(time);
        let permit = event["data"]["permit"].as_str().unwrap_or_default();
        match (text("kind"), text("name"), text("status")) {
            ("permit", "redeem", "redeemed") => drop(redeemed.insert(permit)),
            ("motion", phase, "started") if redeemed.contains(permit) => open.push((permit, phase, time)),
            ("motion", phase, status) if status != "started" => {
                if let Some(at) = open.iter().position(|(p, name, _)| *p == permit && *name == phase) {
                    let (_, _, start) = open.swap_remove(at);
                    windows.push(Window { start, end: time });
                }
            }
            _ => {}
        }
    }
    // A phase whose end nobody told, because its node died, is good until the end of the trace.
    windows.extend(open.into_iter().map(|(_, _, start)| Window { start, end: last }));
    windows
}

/// The intervals of `motions` (simulated seconds) that no redeemed permit of the trace covers.
///
/// The verifier's redeeming and the skill's motion come from two processes, so their order in the file may differ by
/// a few lines; a permit redeemed within the first lines after the start counts, because it carries the same id.
pub(super) fn ungated(motions: &[[f64; 2]], trace: &[Value]) -> Vec<[f64; 2]> {
    let mut sorted = trace.to_vec();
    // Redeeming first among events of about the same time.
    let key = |event: &Value| {
        let time = event["t"].as_f64().unwrap_or_default();
        if event["name"] == "redeem" { time - SLACK } else { time }
    };
    sorted.sort_by(|a, b| key(a).total_cmp(&key(b)));
    let mut windows = windows(&sorted);
    windows.sort_by(|a, b| a.start.total_cmp(&b.start));
    motions.iter().copied().filter(|motion| uncovered(*motion, &windows) > LEAST).collect()
}

/// Seconds of a motion outside all windows, which are sorted by their start.
fn uncovered([start, end]: [f64; 2], windows: &[Window]) -> f64 {
    let mut at = start;
    let mut rest = 0.0;
    for window in windows {
        let (from, to) = (window.start - LEAST, window.end + SLACK);
        if to <= at {
            continue;
        }
        if from >= end {
            break;
        }
        rest += (from - at).max(0.0);
        at = at.max(to);
        if at >= end {
            return rest;
        }
    }
    rest + (end - at).max(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn event(t: f64, kind: &str, name: &str, status: &str, permit: &str) -> Value {
        json!({"t": t, "kind": kind, "name": name, "status": status, "data": {"permit": permit}})
    }

    fn lift() -> Vec<Value> {
        vec![
            event(1.0, "permit", "redeem", "redeemed", "a"),
            event(1.1, "motion", "approach", "started", "a"),
            event(2.0, "motion", "approach", "done", "a"),
            event(2.0, "motion", "lift", "started", "a"),
            event(3.0, "motion", "lift", "done", "a"),
        ]
    }

    #[test]
    fn motions_with_and_without_permit() {
        let trace = lift();
        let check = |motion: [f64; 2]| ungated(&[motion], &trace).len();
        assert_eq!(check([1.15, 2.9]), 0);
        assert_eq!(check([1.15, 3.4]), 0);
        assert_eq!(check([0.2, 0.9]), 1, "before the permit");
        assert_eq!(check([1.15, 9.0]), 1, "long after it");
        assert_eq!(check([5.0, 6.0]), 1);
    }

    #[test]
    fn a_motion_whose_permit_was_not_redeemed_is_not_covered() {
        for wrong in ["refused", "granted"] {
            let mut trace = lift();
            trace[0] = event(1.0, "permit", "redeem", wrong, "a");
            assert_eq!(ungated(&[[1.15, 2.9]], &trace).len(), 1);
        }
        let mut trace = lift();
        trace[0] = event(1.0, "permit", "redeem", "redeemed", "b");
        assert_eq!(ungated(&[[1.15, 2.9]], &trace).len(), 1);
    }

    #[test]
    fn a_phase_that_was_cut_off_covers_the_rest_of_the_trace() {
        let mut trace = lift();
        trace.truncate(4);
        trace.push(event(2.8, "warning", "watchdog", "stop", ""));
        assert_eq!(ungated(&[[1.15, 3.2]], &trace).len(), 0);
        assert_eq!(ungated(&[[1.15, 5.0]], &trace).len(), 1);
    }

    #[test]
    fn order_in_the_file_does_not_matter() {
        let mut trace = lift();
        trace.swap(0, 1);
        assert_eq!(ungated(&[[1.15, 2.9]], &trace).len(), 0);
    }
}
