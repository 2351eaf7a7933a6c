//! Drawers and doors opened twice on the embedded robot: from scratch, and by another robot from what the first one described.

use crate::args::{EvalArticulatedArgs, RunArgs};
use crate::eval::collect;
use crate::eval::job::Job;
use crate::run_folder::RunFolder;
use crate::screen::Screen;
use prehend_eval::Run;
use prehend_eval::asp::TabletopTask;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::Path;

/// What is opened, in turn.
const TASKS: [(TabletopTask, &str); 3] = [
    (TabletopTask::OpenDrawerByBar, "drawer-bar"),
    (TabletopTask::OpenDrawerByKnob, "drawer-knob"),
    (TabletopTask::OpenDoor, "door"),
];

/// Opens what `--reopen` asks for; no runs without it.
///
/// Errors: a folder that cannot be written, or an interrupt, for a person.
pub(super) async fn run(args: &EvalArticulatedArgs, screen: &Screen) -> Result<Value, String> {
    if args.reopen == 0 {
        return Ok(json!({ "right": 0, "runs": 0 }));
    }
    let out = args.out.as_ref().map(|out| out.join("reopen"));
    let folder = RunFolder::named_or_dated(out.as_deref(), args.seed).map_err(|error| error.to_string())?;
    let name = |number: u64| {
        let (_, kind) = TASKS[number as usize % TASKS.len()];
        format!("{kind}-{:06}", args.seed.wrapping_add(number))
    };
    let mut passes: Vec<BTreeMap<String, Run>> = Vec::new();
    for (pass, what) in [("first", "opened from scratch"), ("again", "opened from the description")] {
        screen.line(format!("\n{what}, into {}", folder.path().join(pass).display()));
        let opened_before = |number: &u64| {
            passes.first().is_none_or(|first| first.get(&name(*number)).is_some_and(|run| run.right))
        };
        let jobs: Vec<Job> = (0..args.reopen)
            .filter(opened_before)
            .map(|number| {
                let (task, _) = TASKS[number as usize % TASKS.len()];
                let store = folder.path().join("known").join(name(number));
                Job::opening(name(number), task, args.seed.wrapping_add(number), store)
            })
            .collect();
        let runs_made = RunArgs::plain(args.seed, args.speed, args.json);
        let into = RunFolder::at(&folder.path().join(pass)).map_err(|error| error.to_string())?;
        let (runs, is_interrupted) = collect(jobs, &runs_made, into.path(), screen).await;
        if is_interrupted {
            return Err("interrupted; the same command with --out goes on with what is done".to_owned());
        }
        passes.push(runs.into_iter().map(|run| (run.folder.clone(), run)).collect());
    }
    let [first, again] = passes.as_slice() else { return Ok(Value::Null) };
    let seconds = |run: &Run, what: &str| run.seconds.get(what).copied();
    // Times count where both ended well.
    let both = |what: &str| -> Vec<[f64; 2]> {
        let right = again.iter().filter(|(_, run)| run.right);
        right
            .filter_map(|(name, run)| Some([seconds(first.get(name)?, what)?, seconds(run, what)?]))
            .collect()
    };
    let (goals, pulls) = (both("sim: goal"), both("sim: pull"));
    let right = again.values().filter(|run| run.right).count();
    let by_known = again.keys().filter(|name| went_by_known(&folder.path().join("again").join(name))).count();
    let force = |runs: &BTreeMap<String, Run>| runs.values().map(|run| run.max_pad_force).fold(0.0, f64::max);
    let forces = [force(first), force(again)];
    screen.line(format!(
        "\n{} of {} opened from scratch; of them {right} of {} from the description alone, {by_known} along a measured joint; {}; {}; \
         largest force on a pad {:.0} N, then {:.0} N",
        first.values().filter(|run| run.right).count(),
        first.len(),
        again.len(),
        times("the whole goal", &goals),
        times("the pull", &pulls),
        forces[0],
        forces[1],
    ));
    Ok(json!({
        "right": right, "runs": again.len(), "first": { "right": first.values().filter(|run| run.right).count(), "runs": first.len() },
        "by_known": by_known, "max_pad_force": forces, "goal_seconds": mean(&goals), "pull_seconds": mean(&pulls),
        "wrong_claims": again.values().filter(|run| run.false_success).count(),
        "ungated_motions": again.values().map(|run| run.ungated_motions).sum::<usize>(),
    }))
}

/// Whether a skill of a run went by a joint that was measured before.
fn went_by_known(run: &Path) -> bool {
    let trace = std::fs::read_to_string(run.join("trace.jsonl")).unwrap_or_default();
    let events = trace.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    events.into_iter().any(|event| event["kind"] == "motion" && event["status"] == "known")
}

/// Means of pairs; null without any.
fn mean(pairs: &[[f64; 2]]) -> Option<[f64; 2]> {
    let sum = pairs.iter().fold([0.0; 2], |sum, pair| [sum[0] + pair[0], sum[1] + pair[1]]);
    (!pairs.is_empty()).then(|| sum.map(|sum| sum / pairs.len() as f64))
}

fn times(what: &str, pairs: &[[f64; 2]]) -> String {
    match mean(pairs) {
        Some([from, to]) => {
            format!("{what} {from:.1} s, then {to:.1} s (robot's time, {:+.0} %)", 100.0 * (to / from - 1.0))
        }
        None => format!("{what} was not timed"),
    }
}
