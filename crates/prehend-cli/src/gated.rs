//! Whether every motion of the arm and the base had a permit: intervals of motion from physics against redeemed permits of the trace.

use prehend_sim::world::Motions;
use serde::Serialize;
use serde_json::Value;
use std::collections::HashMap;

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

/// Simulated time of an event, seconds.
fn time(event: &Value) -> f64 {
    event["t"].as_f64().unwrap_or_default()
}

/// The windows of a trace, whose events are those of `trace.jsonl`: from a motion's start, but not before its permit was redeemed, to its
/// end.
///
/// Redeeming and motion are told by two processes, each by the newest clock it has got: what either says may be earlier than it was, by
/// more than a second where the simulation runs fast, and never later. So a motion that physics shows to begin before the redeeming was
/// told began before it.
fn windows(trace: &[Value]) -> Vec<Window> {
    fn text<'e>(event: &'e Value, key: &str) -> &'e str {
        event[key].as_str().unwrap_or_default()
    }
    fn permit(event: &Value) -> &str {
        event["data"]["permit"].as_str().unwrap_or_default()
    }
    let is_redeeming = |event: &&Value| {
        (text(event, "kind"), text(event, "name"), text(event, "status")) == ("permit", "redeem", "redeemed")
    };
    let redeemed: HashMap<&str, f64> =
        trace.iter().filter(is_redeeming).map(|event| (permit(event), time(event))).collect();
    let mut open: Vec<(&str, &str, f64)> = Vec::new();
    let mut windows = Vec::new();
    let mut last = f64::NEG_INFINITY;
    for event in trace {
        last = last.max(time(event));
        let permit = permit(event);
        match (text(event, "kind"), text(event, "name"), text(event, "status")) {
            ("motion", phase, "started") => {
                let good_from = redeemed.get(permit).map(|redeemed| redeemed.max(time(event)));
                open.extend(good_from.map(|good_from| (permit, phase, good_from)));
            }
            ("motion", phase, _) => {
                if let Some(at) = open.iter().position(|(p, name, _)| *p == permit && *name == phase) {
                    let (_, _, start) = open.swap_remove(at);
                    windows.push(Window { start, end: time(event) });
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
pub(crate) fn ungated(motions: &[[f64; 2]], trace: &[Value]) -> Vec<[f64; 2]> {
    let mut sorted = trace.to_vec();
    sorted.sort_by(|a, b| time(a).total_cmp(&time(b)));
    let mut windows = windows(&sorted);
    windows.sort_by(|a, b| a.start.total_cmp(&b.start));
    motions.iter().copied().filter(|motion| uncovered(*motion, &windows) > LEAST).collect()
}

/// How the robot moved as long as its nodes ran, as physics has it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Moved {
    /// Motions of the arm.
    arm_motions: usize,
    /// Motions of the base.
    base_motions: usize,
    /// Those that no permit covers, simulated seconds: the robot moved for somebody else, or it should not have moved.
    ungated_motions: Vec<[f64; 2]>,
    /// Contacts of the robot above the logged force.
    hard_contacts: usize,
    /// How often the base was stopped because it touched something hard.
    bumps: usize,
}

impl Moved {
    /// Judges all motions by a trace.
    pub(crate) fn new(motions: &Motions, trace: &[Value]) -> Self {
        Self {
            arm_motions: motions.arm.len(),
            base_motions: motions.base.len(),
            ungated_motions: [&motions.arm, &motions.base].map(|moved| ungated(moved, trace)).concat(),
            hard_contacts: motions.hard_contacts.len(),
            bumps: motions.bumps.len(),
        }
    }

    /// In words, for a person.
    pub(crate) fn told(&self) -> String {
        let ungated = match self.ungated_motions.as_slice() {
            [] => "each with a permit".to_owned(),
            moved => {
                let when: Vec<String> =
                    moved.iter().map(|[from, to]| format!("{from:.1} to {to:.1} s")).collect();
                format!("{} without a permit of Prehend's ({})", moved.len(), when.join(", "))
            }
        };
        let Self { arm_motions, base_motions, hard_contacts, bumps, .. } = self;
        if arm_motions + base_motions == 0 {
            return "physics: the robot did not move".to_owned();
        }
        format!(
            "physics: {arm_motions} motions of the arm, {base_motions} of the base, {ungated}; {hard_contacts} hard contacts, {bumps} bumps"
        )
    }
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
    fn how_the_robot_moved_is_told() {
        let told = |arm: Vec<[f64; 2]>| Moved::new(&Motions { arm, ..Motions::default() }, &lift()).told();
        assert_eq!(told(Vec::new()), "physics: the robot did not move");
        assert!(told(vec![[1.15, 1.9]]).contains("1 motions of the arm, 0 of the base, each with a permit"));
        let theirs = told(vec![[1.15, 1.9], [9.0, 9.5]]);
        assert!(theirs.contains("1 without a permit of Prehend's (9.0 to 9.5 s)"), "{theirs}");
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
    fn a_clock_that_lags_hides_nothing_and_accuses_nobody() {
        let mut trace = lift();
        // The skill's clock is 1.4 s behind the verifier's: the motion began after the permit was redeemed.
        trace[0] = event(2.5, "permit", "redeem", "redeemed", "a");
        trace[4] = event(4.0, "motion", "lift", "done", "a");
        assert_eq!(ungated(&[[2.6, 3.9]], &trace).len(), 0);
        assert_eq!(ungated(&[[1.15, 3.9]], &trace).len(), 1, "moved before the permit");
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
