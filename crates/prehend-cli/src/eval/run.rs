//! One run: a scenario, a `prehend demo` process, a judgement.

use super::job::Job;
use crate::args::RunArgs;
use crate::gated;
use crate::outcome::GoalReport;
use crate::physics;
use crate::run_folder::{MOTIONS, WriteError};
use prehend_eval::judge::JudgeError;
use prehend_eval::report::{Permits, Plan};
use prehend_eval::{Cause, Expected, Reported, Run, Scenario, asp, judge};
use prehend_sim::world::{Motions, Truth};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};
use tokio::process::Command;
use tokio::sync::watch;

/// Longest time for the goal of one run, wall seconds.
const GOAL_TIMEOUT: f64 = 240.0;
/// Longest time for one run, with start and end.
const RUN_TIMEOUT: Duration = Duration::from_secs(360);
/// File of what was remembered before a run, and how it is made.
const MEMORY: &str = "memory.db";
const LOOK: &str = "look around";
/// Longest time for a run to end after it was asked to.
const END_TIMEOUT: Duration = Duration::from_secs(8);

/// Why there is no run.
#[derive(Debug, thiserror::Error)]
pub(super) enum RunError {
    /// The evaluation was interrupted.
    #[error("interrupted")]
    Cancelled,
    /// The process could not be started.
    #[error("seed {seed}: cannot start the run: {error}")]
    Start {
        /// The seed.
        seed: u64,
        /// What the operating system said.
        error: std::io::Error,
    },
    /// Something could not be written.
    #[error(transparent)]
    Write(#[from] WriteError),
}

/// A finished run.
pub(super) struct Done {
    pub(super) run: Run,
    /// It was taken over from an earlier evaluation.
    pub(super) kept: bool,
}

/// What `run.json` holds: the run, and what it was made under.
#[derive(Debug, Serialize, Deserialize)]
struct Kept {
    conditions: Conditions,
    run: Run,
}

/// A run counts for another evaluation only under the same conditions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Conditions {
    job: String,
    seed: u64,
    no_verifier: bool,
    no_retries: bool,
    disturb: bool,
    #[serde(default)]
    plan_first: bool,
    speed: f64,
    #[serde(default)]
    whole_object: bool,
    #[serde(default)]
    params: Vec<String>,
}

/// Runs a job in `folder`, or takes over what is there.
pub(super) async fn one(
    args: &RunArgs,
    job: &Job,
    folder: PathBuf,
    cancelled: watch::Receiver<bool>,
) -> Result<Done, RunError> {
    let conditions = Conditions {
        job: job.conditions(),
        seed: job.seed,
        no_verifier: args.no_verifier,
        no_retries: args.no_retries,
        disturb: args.disturb,
        plan_first: args.plan_first,
        speed: args.speed,
        whole_object: job.whole_object,
        params: parameters(args),
    };
    let kept = folder.join("run.json");
    if let Some(earlier) = read::<Kept>(&kept).filter(|earlier| earlier.conditions == conditions) {
        return Ok(Done { run: earlier.run, kept: true });
    }
    if *cancelled.borrow() {
        return Err(RunError::Cancelled);
    }
    let failed = |path: &Path| {
        let path = path.to_owned();
        move |error| WriteError { path, error }
    };
    std::fs::create_dir_all(&folder).map_err(failed(&folder))?;
    let scenario = match job.scenario() {
        Ok(scenario) => scenario,
        // It counts: what cannot be set up is not right.
        Err(why) => return Ok(Done { run: not_set_up(job, why), kept: false }),
    };
    let scene = folder.join("scene.yaml");
    std::fs::write(&scene, &scenario.scene_yaml).map_err(failed(&scene))?;
    write(&folder.join("scenario.json"), &scenario)?;

    let memory = match job.remembered {
        Some(seed) => Some(remember(args, job, seed, &folder, cancelled.clone()).await?),
        None => None,
    };
    let started = Instant::now();
    let report = play(args, job, &scenario, &folder, memory.as_deref(), cancelled).await?;
    let run = Run {
        folder: job.name.clone(),
        ..judge_run(&scenario, &folder, report, started.elapsed().as_secs_f64())
    };
    write(&kept, &Kept { conditions, run: run.clone() })?;
    if args.keep_failures && run.right {
        forget(&folder);
    }
    Ok(Done { run, kept: false })
}

/// A run that gave nothing yet.
fn blank(seed: u64, kind: &str, goal: &str) -> Run {
    Run {
        seed,
        kind: kind.to_owned(),
        goal: goal.to_owned(),
        right: false,
        outcome: None,
        refusal_expected: false,
        false_success: false,
        ungated_motions: 0,
        cause: Some(Cause::Internal),
        note: String::new(),
        collateral: 0,
        permits: Permits::default(),
        hard_contacts: 0,
        max_pad_force: 0.0,
        seconds: BTreeMap::new(),
        effort: None,
        plan: None,
        retries: 0,
        folder: String::new(),
    }
}

fn not_set_up(job: &Job, why: String) -> Run {
    let (goal, kind) = job.goal();
    Run { cause: Some(Cause::NoScene), note: why, folder: job.name.clone(), ..blank(job.seed, kind, goal) }
}

/// How much longer a run may take: a robot that drives has far to go.
fn patience(job: &Job) -> f64 {
    if job.robot.is_some() { 2.5 } else { 1.0 }
}

/// Parameters of nodes, as `demo` takes them.
fn parameters(args: &RunArgs) -> Vec<String> {
    args.params.iter().map(|(node, parameter)| format!("{}:{parameter}", node.name())).collect()
}

/// Makes the memory of an earlier session, a look round the room as it is under this seed, and says where it is. What came of it is in
/// its log; a run without a memory is still a run.
async fn remember(
    args: &RunArgs,
    job: &Job,
    seed: u64,
    folder: &Path,
    cancelled: watch::Receiver<bool>,
) -> Result<PathBuf, RunError> {
    let earlier = folder.join("earlier");
    let failed = |path: &Path| {
        let path = path.to_owned();
        move |error| WriteError { path, error }
    };
    std::fs::create_dir_all(&earlier).map_err(failed(&earlier))?;
    // An evaluation that was interrupted may have left one.
    let store = folder.join(MEMORY);
    if store.exists() {
        std::fs::remove_file(&store).map_err(failed(&store))?;
    }
    let Ok(scenario) = job.scenario_of(seed) else { return Ok(store) };
    let scene = earlier.join("scene.yaml");
    std::fs::write(&scene, &scenario.scene_yaml).map_err(failed(&scene))?;
    let look = Scenario { sentence: LOOK.to_owned(), ..scenario };
    play(args, job, &look, &earlier, Some(&store), cancelled).await?;
    Ok(store)
}

/// Arguments of `prehend demo` for a run.
fn arguments(
    args: &RunArgs,
    job: &Job,
    scenario: &Scenario,
    folder: &Path,
    memory: Option<&Path>,
) -> Vec<String> {
    let scene = folder.join("scene.yaml").display().to_string();
    let mut list = vec!["demo", "--json", "--supervised", "--scene", &scene, "--goal", &scenario.sentence];
    let (seed, speed) = (scenario.seed.to_string(), args.speed.to_string());
    let (out, timeout) = (folder.display().to_string(), (GOAL_TIMEOUT * patience(job)).to_string());
    list.extend(["--seed", &seed, "--speed", &speed, "--out", &out, "--timeout", &timeout]);
    if args.disturb {
        let how = ["push", "slip", "take"];
        list.extend(["--disturb", how[(scenario.seed % 3) as usize]]);
    }
    if args.plan_first {
        list.push("--plan-first");
    }
    if args.no_verifier {
        list.extend(["--param", "verifier:enforce:=false"]);
    }
    let params = parameters(args);
    for parameter in &params {
        list.extend(["--param", parameter]);
    }
    let robot = job.robot.as_ref().map(|robot| robot.display().to_string());
    if let Some(robot) = &robot {
        list.extend(["--robot", robot]);
    }
    let memory = memory.map(|store| store.display().to_string());
    if let Some(memory) = &memory {
        list.extend(["--memory", memory]);
    }
    let describer = job.describer.as_ref().map(|folder| folder.display().to_string());
    if let Some(describer) = &describer {
        list.extend(["--describer", describer]);
    }
    if job.any_side {
        list.extend(["--param", "go_to:affordance:=false"]);
    }
    if job.whole_object {
        list.extend(["--param", "affordance:whole_object:=true"]);
    }
    if args.no_retries {
        list.extend(["--param", "agent:retries:=0"]);
    }
    if !args.keep_failures {
        list.push("--no-pictures");
    }
    list.into_iter().map(str::to_owned).collect()
}

/// Runs the process; `None` when it gave no result.
async fn play(
    args: &RunArgs,
    job: &Job,
    scenario: &Scenario,
    folder: &Path,
    memory: Option<&Path>,
    mut cancelled: watch::Receiver<bool>,
) -> Result<Option<GoalReport>, RunError> {
    let start = |error| RunError::Start { seed: scenario.seed, error };
    let log = std::fs::File::create(folder.join("demo.log")).map_err(start)?;
    let mut command = Command::new(std::env::current_exe().map_err(start)?);
    match args.domain {
        Some(id) => command.env("ROS_DOMAIN_ID", id.to_string()),
        None => command.env_remove("ROS_DOMAIN_ID"),
    };
    let mut child = command
        .args(arguments(args, job, scenario, folder, memory))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(log)
        .process_group(0)
        .kill_on_drop(true)
        .spawn()
        .map_err(start)?;
    // The end of its stdin asks it to end.
    let stdin = child.stdin.take();
    let mut output = std::pin::pin!(child.wait_with_output());
    let asked_to_end = async {
        // An error means that nobody can cancel any more, and that is an end, too.
        let _ = cancelled.wait_for(|cancelled| *cancelled).await;
    };
    let output = tokio::select! {
        output = &mut output => output,
        () = asked_to_end => {
            drop(stdin);
            let _ = tokio::time::timeout(END_TIMEOUT, output).await;
            return Err(RunError::Cancelled);
        }
        () = tokio::time::sleep(RUN_TIMEOUT.mul_f64(patience(job))) => {
            drop(stdin);
            let _ = tokio::time::timeout(END_TIMEOUT, output).await;
            return Ok(None);
        }
    };
    Ok(output.ok().and_then(|output| serde_json::from_slice(&output.stdout).ok()))
}

/// Judges a run from its folder.
fn judge_run(scenario: &Scenario, folder: &Path, report: Option<GoalReport>, seconds: f64) -> Run {
    let mut run = Run {
        refusal_expected: scenario.refusal_expected(),
        seconds: BTreeMap::from([("run".to_owned(), seconds)]),
        ..blank(scenario.seed, &scenario.group, &scenario.sentence)
    };
    let Some(report) = report else {
        run.note = format!("no result; see {}", folder.join("demo.log").display());
        return run;
    };
    let reported = physics::reported(report.outcome, report.reason.as_deref(), &report.message);
    run.outcome = Some(reported.outcome);
    run.note = report.message.clone();
    run.permits = Permits {
        asked: report.permits.asked.into(),
        granted: report.permits.granted.into(),
        refused: report.permits.refused.into(),
    };
    for (phase, value) in [
        ("ready", report.seconds.ready),
        ("first_motion", report.seconds.first_motion),
        ("total", report.seconds.total),
    ] {
        run.seconds.extend(value.map(|value| (phase.to_owned(), value)));
    }
    if let Some(plan) = &report.plan {
        run.seconds.insert("plan".to_owned(), plan.seconds);
        run.plan = Some(Plan {
            foretold: plan.outcome == report.outcome,
            seconds: plan.seconds,
            motions: plan.motions.unwrap_or_default(),
        });
    }
    let trace = read_lines(&folder.join("trace.jsonl"));
    run.seconds.extend(phases(&trace));
    let truth = |name: &str| read::<Truth>(&folder.join(name));
    let (before, after) = (truth("snapshot_before.json"), truth("snapshot_after.json"));
    let (Some(before), Some(after), Some(motions)) = (before, after, read::<Motions>(&folder.join(MOTIONS)))
    else {
        run.cause = reported.reason.map(Cause::of_reason).or(Some(Cause::Internal));
        run.note.push_str("; physics was not heard");
        return run;
    };
    run.ungated_motions =
        [&motions.arm, &motions.base].map(|moved| gated::ungated(moved, &trace).len()).iter().sum();
    let moved: f64 = motions.base.iter().map(|[from, to]| to - from).sum();
    run.seconds.extend((moved > 0.0).then(|| ("sim: base moved".to_owned(), moved)));
    run.seconds.extend(goal_time(&trace).map(|seconds| ("sim: goal".to_owned(), seconds)));
    run.hard_contacts = motions.hard_contacts.len();
    run.max_pad_force = motions.max_pad_force;
    run.retries = retries(&trace);
    let judgement = judge(&scenario.spec, &before, &after, &motions, &reported);
    if let (Some(subject), Ok(judgement)) = (&scenario.subject, &judgement) {
        let done = judgement.physics_ok == Some(true);
        let mut effort = asp::effort(subject, done, &before, &after, &motions);
        if let (true, Expected::World(wanted)) = (subject.each_counts, &scenario.spec.expected) {
            let missed = judgement.findings.iter().filter(|finding| finding.starts_with("not so")).count();
            effort.progress = wanted.len().saturating_sub(missed) as f64 / wanted.len().max(1) as f64;
        }
        run.effort = Some(effort);
    }
    take_judgement(&mut run, scenario, judgement, &reported);
    run
}

fn take_judgement(
    run: &mut Run,
    scenario: &Scenario,
    judgement: Result<prehend_eval::Judgement, JudgeError>,
    reported: &Reported,
) {
    match judgement {
        Ok(judgement) => {
            run.right = judgement.right;
            run.false_success = judgement.false_success;
            run.collateral = judgement.collateral.len();
            run.cause = Cause::of(&scenario.spec, &judgement, reported);
            let reason = reported.reason.map(|reason| format!("{}: ", reason.code())).unwrap_or_default();
            run.note = format!("{reason}{}", run.note);
            if !judgement.findings.is_empty() {
                run.note.push_str(&format!("; {}", judgement.findings.join("; ")));
            }
        }
        Err(error) => run.note.push_str(&format!("; {error}")),
    }
}

/// Simulated time from the start of the goal to its end, seconds.
fn goal_time(trace: &[Value]) -> Option<f64> {
    let at = |name: &str| {
        trace.iter().find(|event| event["kind"] == "goal" && event["name"] == name)?["t"].as_f64()
    };
    Some(at("finished")? - at("started")?)
}

/// Calls of the tool that acts on an object which failed and were followed by another one.
fn retries(trace: &[Value]) -> usize {
    let calls = trace.iter().filter(|event| event["kind"] == "tool" && event["name"] == "interact");
    let failed: Vec<bool> = calls.map(|event| event["status"] == "failed").collect();
    failed.iter().rev().skip(1).filter(|failed| **failed).count()
}

/// Simulated seconds in each phase of motion, summed over the run.
fn phases(trace: &[Value]) -> BTreeMap<String, f64> {
    let mut started: BTreeMap<(&str, &str), f64> = BTreeMap::new();
    let mut sums = BTreeMap::new();
    for event in trace.iter().filter(|event| event["kind"] == "motion") {
        let (Some(phase), Some(time)) = (event["name"].as_str(), event["t"].as_f64()) else { continue };
        let permit = event["data"]["permit"].as_str().unwrap_or_default();
        if event["status"] == "started" {
            started.insert((permit, phase), time);
        } else if let Some(since) = started.remove(&(permit, phase)) {
            *sums.entry(format!("sim: {phase}")).or_insert(0.0) += (time - since).max(0.0);
        }
    }
    sums
}

fn read<T: DeserializeOwned>(path: &Path) -> Option<T> {
    serde_json::from_slice(&std::fs::read(path).ok()?).ok()
}

fn read_lines(path: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(path).unwrap_or_default();
    text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
}

fn write(path: &Path, value: &impl Serialize) -> Result<(), WriteError> {
    serde_json::to_vec_pretty(value)
        .map_err(std::io::Error::other)
        .and_then(|bytes| std::fs::write(path, bytes))
        .map_err(|error| WriteError { path: path.to_owned(), error })
}

/// Removes what a run that was right leaves, but for its scenario, trace and judgement.
fn forget(folder: &Path) {
    let keep = ["run.json", "scene.yaml", "scenario.json", "trace.jsonl", "result.json"];
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            // What cannot be removed stays.
            let _ = std::fs::remove_dir_all(&path);
        } else if !keep.iter().any(|name| entry.file_name() == *name) {
            let _ = std::fs::remove_file(&path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_failed_call_counts_as_a_retry_when_another_follows() {
        let call = |status: &str| json!({"t": 1.0, "kind": "tool", "name": "interact", "status": status});
        let look = json!({"t": 1.0, "kind": "tool", "name": "object_retrieval", "status": "failed"});
        assert_eq!(retries(&[call("failed"), look.clone(), call("ok")]), 1);
        assert_eq!(retries(&[call("ok"), call("failed"), look]), 0);
        assert_eq!(retries(&[]), 0);
    }

    #[test]
    fn phases_are_summed() {
        let event = |t: f64, name: &str, status: &str, permit: &str| json!({"t": t, "kind": "motion", "name": name, "status": status, "data": {"permit": permit}});
        let trace = [
            event(1.0, "approach", "started", "a"),
            event(2.5, "approach", "done", "a"),
            event(2.5, "close", "started", "a"),
            event(5.0, "approach", "started", "b"),
            event(6.0, "approach", "control_failed", "b"),
        ];
        assert_eq!(phases(&trace), BTreeMap::from([("sim: approach".to_owned(), 2.5)]));
    }
}
