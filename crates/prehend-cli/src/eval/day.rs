//! A day's work: goals one after the other on one graph, each judged by physics, and what the processes hold.

use crate::args::DayArgs;
use crate::disturb::{self, Disturbance};
use crate::domain::Purpose;
use crate::gated;
use crate::goal;
use crate::graph::{Graph, GraphError, GraphOptions};
use crate::inputs::{absolute, has_room, robot_file, robot_for};
use crate::interrupt::Interrupt;
use crate::json::object_json;
use crate::judge::JudgeError;
use crate::node::NodeName;
use crate::outcome::{Ending, exit};
use crate::physics;
use crate::run_folder::RunFolder;
use crate::screen::{Paint, Screen, print_json};
use crate::supervisor::{Event, Supervisor};
use crate::trace;
use prehend_convert as convert;
use prehend_eval::day::{self, Day, DayGoal};
use prehend_eval::{Expected, Judgement, judge};
use prehend_geometry::stats::percentile;
use prehend_msgs::prehend_interfaces::msg::TraceEvent;
use prehend_nodes::pictures;
use prehend_ros::RosArguments;
use prehend_scene::Reason;
use prehend_sim::world::{ArmModel, Motions, Truth};
use serde::Serialize;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::Write;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// Goals between two samples of what the processes hold.
const SAMPLE_EVERY: u64 = 50;
/// Longest time until a graph whose node was killed is whole again.
const WHOLE_DEADLINE: Duration = Duration::from_secs(20);
/// Longest pause between a goal and the kill of a node in it.
const KILL_WITHIN: Duration = Duration::from_secs(4);
/// Steps of that pause.
const KILL_STEPS: usize = 40;
/// Goals that went wrong of which a picture and the map are kept, at most.
const KEPT_WRONG: u64 = 100;

/// What `eval day --json` prints.
#[derive(Debug, Default, Serialize)]
struct Report {
    seed: u64,
    scene: String,
    goals: u64,
    right: u64,
    /// Goals that ask for a change of the world; the others are questions and what has to be refused.
    changes: u64,
    false_success: u64,
    ungated_motions: u64,
    /// How goals ended: `done`, or the code of the reason; a wrong end has `wrong: ` before it.
    outcomes: BTreeMap<String, u64>,
    /// Right ones and all of the first and the last hundred.
    first_hundred: [u64; 2],
    last_hundred: [u64; 2],
    /// Things that the goal did not ask to move, and that moved.
    collateral: u64,
    /// Things that a person put back because they had fallen or were out of reach.
    put_back: u64,
    kills: u64,
    disturbances: u64,
    /// Median and 90th percentile of the wall seconds to the first motion of goals that moved.
    first_motion: [f64; 2],
    seconds: f64,
    samples: Vec<Sample>,
}

/// What the processes held after so many goals.
#[derive(Debug, Serialize)]
struct Sample {
    goals: u64,
    right: u64,
    rss_mb: BTreeMap<String, f64>,
    files: BTreeMap<String, usize>,
}

/// One line of `goals.jsonl`.
#[derive(Debug, Serialize)]
struct Line<'a> {
    number: u64,
    sentence: &'a str,
    kind: String,
    right: bool,
    outcome: &'static str,
    reason: Option<&'a str>,
    message: &'a str,
    findings: &'a [String],
    first_motion: Option<f64>,
    seconds: f64,
    interference: Option<&'a str>,
    /// Simulated seconds from and to which something moved that no permit covers.
    ungated: &'a [[f64; 2]],
}

/// Why a day ended early.
#[derive(Debug, thiserror::Error)]
enum DayError {
    #[error("{0}")]
    Input(String),
    #[error(transparent)]
    Graph(#[from] GraphError),
    #[error("physics cannot be asked: {0}")]
    Judge(#[from] JudgeError),
    #[error("physics cannot judge `{0}`: {1}")]
    Verdict(String, prehend_eval::judge::JudgeError),
    #[error("the graph is not whole after a kill: still waiting for {0}")]
    NotWhole(String),
    #[error("interrupted")]
    Interrupted,
}

/// Runs a day; gives the exit code.
pub async fn day(args: DayArgs) -> u8 {
    let screen = Screen::new(args.json);
    let folder = match RunFolder::named_or_dated(args.out.as_deref(), args.seed) {
        Ok(folder) => folder,
        Err(error) => {
            eprintln!("{error}");
            return exit::BAD_INPUT;
        }
    };
    let mut report = Report { seed: args.seed, ..Report::default() };
    let ended = play(&args, &screen, folder, &mut report).await;
    if args.json && report.goals > 0 {
        print_json(&report);
    }
    let code = match &ended {
        Ok(()) => return exit::DONE,
        Err(DayError::Input(_)) => exit::BAD_INPUT,
        Err(DayError::Graph(GraphError::Interrupted) | DayError::Interrupted) => exit::INTERRUPTED,
        Err(DayError::Graph(_)) => exit::NOT_READY,
        Err(DayError::Judge(_) | DayError::Verdict(..) | DayError::NotWhole(_)) => exit::FAILED,
    };
    if let Err(error) = ended {
        eprintln!("{error}");
    }
    code
}

async fn play(
    args: &DayArgs,
    screen: &Screen,
    mut folder: RunFolder,
    report: &mut Report,
) -> Result<(), DayError> {
    let input = |error: &dyn std::fmt::Display| DayError::Input(error.to_string());
    let scene = match &args.scene {
        Some(scene) => absolute(scene),
        None => {
            let scenario = day::table(args.seed).map_err(|error| input(&error))?;
            let file = folder.file("scene.yaml");
            std::fs::write(&file, &scenario.scene_yaml).map_err(|error| input(&error))?;
            file
        }
    };
    report.scene =
        args.scene.as_ref().map_or_else(|| "tabletop".to_owned(), |file| file.display().to_string());
    let options = options(args, scene, folder.logs()).map_err(|error| input(&error))?;
    let mut work = Work {
        args,
        screen,
        day: Day::new(args.seed).map_err(|error| input(&error))?.with_places(args.places),
        interrupt: Interrupt::new(false),
        arm: None,
        times: Vec::new(),
        rights: Vec::new(),
        lines: std::fs::File::create(folder.file("goals.jsonl")).map_err(|error| input(&error))?,
    };
    let started = Instant::now();
    let mut graph = Graph::start(&options)?;
    let waiting = |missing: &[String]| screen.line(format!("waiting for: {}", missing.join(", ")));
    if let Err(error) = graph.ready(waiting, work.interrupt.raised()).await {
        graph.stop().await;
        return Err(error.into());
    }
    if args.disturb_every > 0 {
        let text = std::fs::read_to_string(&graph.robot.urdf).map_err(|error| input(&error))?;
        let model = ArmModel::from_urdf_with(&text, &prehend_sim_node::link_names(&graph.robot));
        work.arm = Some(model.map_err(|error| input(&error))?);
    }
    screen.line(format!("{} goals from seed {} into {}", args.goals, args.seed, folder.path().display()));
    let ended = work.goals(&mut graph, &mut folder, report).await;
    if report.samples.last().is_some_and(|last| last.goals < report.goals) {
        report.samples.push(sample(&graph, report));
    }
    report.seconds = started.elapsed().as_secs_f64();
    work.sum_up(report);
    // How the world looks in the evening: from it one sees why goals became few, or alike.
    if let Ok(truth) = graph.judge.snapshot().await
        && let Err(error) = folder.write_json("truth_after.json", &truth)
    {
        eprintln!("{error}");
    }
    if let Err(error) = folder.write_json("report.json", &*report) {
        eprintln!("{error}");
    }
    screen.line(table(report));
    graph.stop_robot_then_end("the day is over").await;
    ended
}

fn options(args: &DayArgs, scene: PathBuf, logs: PathBuf) -> std::io::Result<GraphOptions> {
    Ok(GraphOptions {
        program: std::env::current_exe()?,
        robot: robot_file(&robot_for(&args.robot, has_room(&scene))),
        scene,
        seed: args.seed,
        speed: args.speed,
        overrides: BTreeMap::new(),
        arguments: RosArguments::default(),
        purpose: Purpose::Run,
        without: Vec::new(),
        also: Vec::new(),
        restart: true,
        logs,
    })
}

struct Work<'a> {
    args: &'a DayArgs,
    screen: &'a Screen,
    day: Day,
    interrupt: Interrupt,
    arm: Option<ArmModel>,
    /// Seconds to the first motion.
    times: Vec<f64>,
    rights: Vec<bool>,
    lines: std::fs::File,
}

/// How a goal went.
struct Played {
    ending: Ending,
    first_motion: Option<f64>,
    seconds: f64,
    trace: Vec<Value>,
    interference: Option<String>,
}

impl Work<'_> {
    async fn goals(
        &mut self,
        graph: &mut Graph,
        folder: &mut RunFolder,
        report: &mut Report,
    ) -> Result<(), DayError> {
        report.samples.push(sample(graph, report));
        for number in 1..=self.args.goals {
            let before = self.tidy(graph, report).await?;
            let Some(goal) = self.day.next_goal(&before) else {
                return Err(DayError::Input(
                    "nothing here can be asked for: the scene has too few things".into(),
                ));
            };
            let played = self.play_one(graph, folder, &goal, number, report).await;
            if self.interrupt.is_raised() {
                return Err(DayError::Interrupted);
            }
            physics::settle(&mut graph.judge).await;
            let after = graph.judge.snapshot().await?;
            let motions = graph.judge.motions().await?;
            let Ending { outcome, reason, message } = &played.ending;
            let reported = physics::reported(*outcome, reason.as_deref(), message);
            let judgement = judge(&goal.spec, &before, &after, &motions, &reported)
                .map_err(|error| DayError::Verdict(goal.sentence.clone(), error))?;
            let ungated = ungated(&before, &after, &motions, &played.trace);
            report.ungated_motions += ungated.len() as u64;
            self.count(report, number, (&goal, &judgement), &played, &ungated);
            if !judgement.right && number <= report.right + KEPT_WRONG {
                self.keep_sight(graph, folder, number).await;
            }
            if number % SAMPLE_EVERY == 0 {
                report.samples.push(sample(graph, report));
            }
            self.whole(graph).await?;
        }
        Ok(())
    }

    /// What the robot saw and took it for, after a goal that went wrong.
    async fn keep_sight(&self, graph: &Graph, folder: &RunFolder, number: u64) {
        let Graph { observer, robot, .. } = graph;
        let Some(map) = observer.map.borrow().clone() else { return };
        let kept = async {
            let view = pictures::next_view(&observer.node, robot, &observer.tf).await?;
            let info = observer.camera_info.borrow().clone();
            let drawn = view.with_map(&map, info.as_ref(), &[])?;
            pictures::save(&drawn, &folder.file(&format!("wrong_{number:04}.png")))
        };
        if let Err(error) = kept.await {
            self.screen.line(format!("    no picture: {error}"));
        }
        match convert::map_from_msg(&map) {
            Ok(map) => {
                let objects: Vec<Value> = map.objects.iter().map(object_json).collect();
                if let Err(error) = folder.write_json(&format!("wrong_{number:04}_map.json"), &objects) {
                    self.screen.line(format!("    {error}"));
                }
            }
            Err(error) => self.screen.line(format!("    the map cannot be read: {error}")),
        }
    }

    /// A person puts back what fell; gives the truth after it.
    async fn tidy(&mut self, graph: &mut Graph, report: &mut Report) -> Result<Truth, DayError> {
        let truth = graph.judge.snapshot().await?;
        let moved = self.day.tidied(&truth);
        if moved.is_empty() {
            return Ok(truth);
        }
        for (object, position) in moved {
            graph.judge.ask(&json!({"ask": "move_object", "object": object, "position": position})).await?;
            self.screen.line(format!("    {object} was put back by a person"));
            report.put_back += 1;
        }
        physics::settle(&mut graph.judge).await;
        Ok(graph.judge.snapshot().await?)
    }

    /// Gives one goal and follows it; what must happen during it happens.
    async fn play_one(
        &mut self,
        graph: &mut Graph,
        folder: &mut RunFolder,
        goal: &DayGoal,
        number: u64,
        report: &mut Report,
    ) -> Played {
        let due = |every: u64| every > 0 && number.is_multiple_of(every);
        let victim = due(self.args.kill_every).then(|| self.victim(&graph.supervisor));
        let pause = KILL_WITHIN.mul_f64(self.day.choose(KILL_STEPS) as f64 / KILL_STEPS as f64);
        let disturbance = due(self.args.disturb_every).then(|| {
            let kinds = [Disturbance::Push, Disturbance::Slip, Disturbance::Take];
            kinds[(number / self.args.disturb_every) as usize % kinds.len()]
        });
        let Graph { supervisor, observer, judge, .. } = graph;
        let (tell, mut heard) = tokio::sync::mpsc::unbounded_channel();
        let mut events: Vec<Value> = Vec::new();
        let mut interference = victim.as_ref().map(|name| format!("{name} was killed"));
        report.kills += u64::from(victim.is_some());
        let on_event = |event: &TraceEvent| {
            // Nobody listens when nobody interferes.
            let _ = tell.send(event.clone());
            events.push(trace::to_json(event));
            if let Err(error) = folder.add_event(event) {
                tracing::warn!("{error}");
            }
        };
        let (arm, seed, interrupt) = (self.arm.as_ref(), self.args.seed ^ number, &mut self.interrupt);
        let done = &mut interference;
        let interfering = async {
            if let Some((disturbance, arm)) = disturbance.zip(arm)
                && let Ok(words) = disturb::interfere(disturbance, judge, arm, seed, &mut heard).await
            {
                *done = Some(words);
            }
            std::future::pending::<()>().await;
        };
        let danger = async {
            tokio::select! {
                () = interrupt.raised() => Ending::failed(Reason::Canceled, "interrupted"),
                ending = losses(supervisor, victim.as_deref(), pause) => ending,
                () = interfering => Ending::failed(Reason::Internal, "the interference has no end"),
            }
        };
        let timeout = Duration::from_secs_f64(self.args.timeout);
        let followed = goal::run(observer, &goal.sentence, timeout, on_event, danger).await;
        report.disturbances += u64::from(disturbance.is_some() && interference.is_some());
        let given_up = [Reason::Timeout, Reason::PeerLost].map(Reason::code);
        if followed.ending.reason.as_deref().is_some_and(|reason| given_up.contains(&reason)) {
            // The next goal begins with a robot that stands.
            observer.stop_robot("the goal was given up").await;
            if let Err(error) = observer.set_stop(false, "the next goal").await {
                tracing::warn!("the stop was not cleared: {error}");
            }
        }
        Played {
            ending: followed.ending,
            first_motion: followed.tally.first_motion,
            seconds: followed.seconds,
            trace: events,
            interference,
        }
    }

    /// A node that may be killed.
    fn victim(&mut self, supervisor: &Supervisor) -> String {
        let names: Vec<&str> = supervisor.names().filter(|name| *name != NodeName::Sim.name()).collect();
        names.get(self.day.choose(names.len())).map_or_else(String::new, |name| (*name).to_owned())
    }

    fn count(
        &mut self,
        report: &mut Report,
        number: u64,
        (goal, judgement): (&DayGoal, &Judgement),
        played: &Played,
        ungated: &[[f64; 2]],
    ) {
        let ending = &played.ending;
        report.goals = number;
        report.right += u64::from(judgement.right);
        report.changes += u64::from(matches!(goal.spec.expected, Expected::World(_)));
        report.false_success += u64::from(judgement.false_success);
        report.collateral += judgement.collateral.len() as u64;
        let code = ending.reason.as_deref().unwrap_or_else(|| ending.outcome.name());
        let wrong = if judgement.right { "" } else { "wrong: " };
        *report.outcomes.entry(format!("{wrong}{code}")).or_default() += 1;
        self.times.extend(played.first_motion);
        self.rights.push(judgement.right);
        let line = Line {
            number,
            sentence: &goal.sentence,
            kind: goal.kind.to_string(),
            right: judgement.right,
            outcome: ending.outcome.name(),
            reason: ending.reason.as_deref(),
            message: &ending.message,
            findings: &judgement.findings,
            first_motion: played.first_motion,
            seconds: played.seconds,
            interference: played.interference.as_deref(),
            ungated,
        };
        let text = serde_json::to_string(&line).unwrap_or_default();
        if let Err(error) = writeln!(self.lines, "{text}") {
            tracing::warn!("a line of goals.jsonl was not written: {error}");
        }
        let paint = if judgement.right { Paint::Green } else { Paint::Red };
        let verdict = self.screen.paint(paint, if judgement.right { "right" } else { "wrong" });
        let findings = judgement.findings.join("; ");
        let why = if judgement.right {
            String::new()
        } else {
            format!(" ({code}: {}; {findings})", ending.message)
        };
        let right = report.right;
        self.screen.line(format!(
            "{number:5} {right:5} right  {verdict}  {:5.1} s  {}{why}",
            played.seconds, goal.sentence
        ));
    }

    /// Waits until every node is there again.
    async fn whole(&mut self, graph: &mut Graph) -> Result<(), DayError> {
        let started = Instant::now();
        loop {
            while graph.supervisor.try_event().is_some() {}
            let missing = graph.missing();
            if missing.is_empty() {
                return Ok(());
            }
            if started.elapsed() > WHOLE_DEADLINE {
                return Err(DayError::NotWhole(missing.join(", ")));
            }
            tokio::select! {
                () = self.interrupt.raised() => return Err(DayError::Interrupted),
                () = tokio::time::sleep(Duration::from_millis(50)) => {}
            }
        }
    }

    fn sum_up(&mut self, report: &mut Report) {
        let hundred =
            |goals: &[bool]| [goals.iter().filter(|right| **right).count() as u64, goals.len() as u64];
        let count = self.rights.len();
        report.first_hundred = hundred(&self.rights[..count.min(100)]);
        report.last_hundred = hundred(&self.rights[count.saturating_sub(100)..]);
        report.first_motion = [0.5, 0.9].map(|share| percentile(&self.times, share).unwrap_or_default());
    }
}

/// Kills `victim` after a pause; completes when a process is lost without which the goal cannot end.
async fn losses(supervisor: &mut Supervisor, victim: Option<&str>, pause: Duration) -> Ending {
    if let Some(victim) = victim {
        tokio::time::sleep(pause).await;
        supervisor.kill(victim);
    }
    loop {
        if let Event::Died { name, status, .. } = supervisor.event().await
            && [NodeName::Sim, NodeName::Agent].into_iter().any(|node| node.name() == name)
        {
            return Ending::failed(Reason::PeerLost, format!("{name} ended during the goal ({status})"));
        }
    }
}

/// Motions between two moments that no permit covers.
fn ungated(before: &Truth, after: &Truth, motions: &Motions, trace: &[Value]) -> Vec<[f64; 2]> {
    let of_goal = |moved: &[[f64; 2]]| -> Vec<[f64; 2]> {
        moved.iter().copied().filter(|[start, end]| *start >= before.time && *end <= after.time).collect()
    };
    [&motions.arm, &motions.base]
        .into_iter()
        .flat_map(|moved| gated::ungated(&of_goal(moved), trace))
        .collect()
}

/// What every process holds now, as Linux tells it; a process that is not there has no entry.
fn sample(graph: &Graph, report: &Report) -> Sample {
    let mut sample =
        Sample { goals: report.goals, right: report.right, rss_mb: BTreeMap::new(), files: BTreeMap::new() };
    for name in graph.supervisor.names() {
        let Some(pid) = graph.supervisor.pid(name) else { continue };
        let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
        let kilobytes = status
            .lines()
            .find_map(|line| line.strip_prefix("VmRSS:"))
            .and_then(|rest| rest.trim().trim_end_matches("kB").trim().parse::<f64>().ok());
        let megabytes = kilobytes.map(|kilobytes| (kilobytes / 102.4).round() / 10.0);
        sample.rss_mb.extend(megabytes.map(|megabytes| (name.to_owned(), megabytes)));
        let files = std::fs::read_dir(format!("/proc/{pid}/fd")).map(Iterator::count);
        sample.files.extend(files.ok().map(|files| (name.to_owned(), files)));
    }
    sample
}

/// The report for a person.
fn table(report: &Report) -> String {
    let mut lines = vec![format!(
        "\n{} of {} right; {} of the goals ask for a change; {} false claims, {} ungated motions; first hundred {} of {}, last hundred {} of {}",
        report.right,
        report.goals,
        report.changes,
        report.false_success,
        report.ungated_motions,
        report.first_hundred[0],
        report.first_hundred[1],
        report.last_hundred[0],
        report.last_hundred[1]
    )];
    let outcomes: Vec<String> =
        report.outcomes.iter().map(|(code, count)| format!("{code} {count}")).collect();
    lines.push(format!("ends: {}", outcomes.join(", ")));
    lines.push(format!(
        "first motion: median {:.2} s, 90 % {:.2} s; put back by a person: {}",
        report.first_motion[0], report.first_motion[1], report.put_back
    ));
    if let (Some(first), Some(last)) = (report.samples.first(), report.samples.last()) {
        let megabytes = last.rss_mb.iter().map(|(name, now)| {
            let then = first.rss_mb.get(name).copied().unwrap_or_default();
            format!("{name} {then:.0} to {now:.0}")
        });
        lines.push(format!("MB: {}", megabytes.collect::<Vec<_>>().join(", ")));
    }
    lines.join("\n")
}
