//! `prehend demo`: one goal, from a scene file to the judgement of physics.

mod looks;

use super::{explain, graph_options, plan, scene, start_code, up, view, words};
use crate::args::DemoArgs;
use crate::disturb;
use crate::domain::Purpose;
use crate::goal::{self, Followed};
use crate::graph::{Graph, GraphError};
use crate::interrupt::Interrupt;
use crate::node::NodeName;
use crate::outcome::{Ending, Foretold, GoalReport, Outcome, exit};
use crate::physics;
use crate::recording;
use crate::run_folder::{MOTIONS, RECORDING, RESULT, RunFolder};
use crate::screen::{Paint, Screen, print_json};
use crate::supervisor::{Event, Supervisor};
use crate::trace;
use crate::transcript;
use prehend_config::share;
use prehend_msgs::prehend_interfaces::msg::{GoalPlan, ObjectMap, TraceEvent};
use prehend_msgs::prehend_interfaces::srv::SubmitGoal;
use prehend_nodes::pictures::{self, View};
use prehend_ros::RosError;
use prehend_scene::Reason;
use prehend_sim::world::{ArmModel, Truth};
use std::path::Path;
use std::time::Duration;

/// Reason code of a scene file that cannot be used.
const BAD_SCENE: &str = "bad_scene";
/// Reason code of a graph that did not come up.
const NOT_READY: &str = "not_ready";
/// Longest time until the last map, when there is one.
const MAP_DEADLINE: Duration = Duration::from_secs(2);
/// Settings of the agent, unless others were named.
const AGENT: &str = "config/nodes/agent.yaml";

pub(super) async fn run(args: DemoArgs) -> u8 {
    let screen = Screen::new(args.json);
    let (report, code) = match play(&args, &screen).await {
        Ok((report, None)) => {
            let code = report.exit_code();
            (report, code)
        }
        Ok((report, Some(code))) => (report, code),
        Err(Early { reason, message, code }) => {
            eprintln!("{message}");
            let ending = Ending { outcome: Outcome::Failed, reason: Some(reason.to_owned()), message };
            (GoalReport::not_run(&args.goal, ending), code)
        }
    };
    if args.json {
        print_json(&report);
    }
    code
}

/// Why no goal was given.
struct Early {
    reason: &'static str,
    message: String,
    code: u8,
}

impl Early {
    fn input(error: impl std::fmt::Display) -> Self {
        Self { reason: Reason::Internal.code(), message: error.to_string(), code: exit::BAD_INPUT }
    }
}

impl From<GraphError> for Early {
    fn from(error: GraphError) -> Self {
        let reason = match &error {
            GraphError::Interrupted => Reason::Canceled.code(),
            _ => NOT_READY,
        };
        Self { reason, message: error.to_string(), code: start_code(&error) }
    }
}

/// Runs the whole thing; the code is given when it is another than the report's own.
async fn play(args: &DemoArgs, screen: &Screen) -> Result<(GoalReport, Option<u8>), Early> {
    scene::load(&args.graph.scene, args.graph.seed).map_err(|error| Early {
        reason: BAD_SCENE,
        message: error.to_string(),
        code: exit::BAD_INPUT,
    })?;
    view::check(&args.graph).map_err(Early::input)?;
    let model_turns = transcript::turns_of(args.replay_model.as_deref()).map_err(Early::input)?;
    let folder = RunFolder::named_or_dated(args.out.as_deref(), args.graph.seed).map_err(Early::input)?;
    let options =
        graph_options(&args.graph, args.speed, Purpose::Run, folder.logs()).map_err(Early::input)?;
    // From here on, so that no signal is lost between two steps.
    let mut interrupt = Interrupt::new(args.supervised);
    let mut graph = Graph::start(&options)?;
    screen.line(format!(
        "starting {} processes in ROS domain {}, seed {}",
        graph.supervisor.names().count(),
        graph.domain.id,
        args.graph.seed
    ));
    let waiting = |missing: &[String]| screen.line(format!("waiting for: {}", missing.join(", ")));
    let ready = match graph.ready(waiting, interrupt.raised()).await {
        Ok(ready) => ready.as_secs_f64(),
        Err(error) => {
            graph.stop().await;
            let mut early = Early::from(error);
            early.message.push_str(&format!("\nlogs: {}", folder.logs().display()));
            return Err(early);
        }
    };
    screen.line(format!("ready in {ready:.2} s"));
    let _viewer = match args.graph.view {
        true => view::Beside::open(&graph, &options, args.graph.memory.as_deref(), screen).await,
        false => None,
    };
    screen.line(format!("goal: {}", args.goal));

    let recorder = match args.record {
        true => {
            let notes = recording::notes(&options.robot, Some(&args.goal));
            let Graph { observer, robot, .. } = &graph;
            recording::begin(&observer.node, &folder.file(RECORDING), robot, notes, screen).await
        }
        false => None,
    };
    let arm = args.disturb.map(|_| arm_of(&graph)).transpose()?;
    let mut run = Run {
        args,
        model_turns,
        screen,
        graph,
        folder,
        interrupt,
        arm,
        disturbed: None,
        view_before: None,
        first_map: None,
    };
    let plan = match args.plan_only || args.plan_first {
        true => Some(run.plan().await.map_err(|error| Early::from(GraphError::Ros(error)))?),
        false => None,
    };
    let foretold = match plan {
        Some(plan) if args.plan_only => return Ok(run.end_planned(plan, ready).await),
        plan => plan.map(|plan| plan.foretold),
    };
    let before = run.observe("before").await;
    let followed = run.follow().await;
    recording::remark(recorder.as_ref(), screen);
    let mut report = run.conclude(ready, before, &followed).await;
    report.plan = foretold;
    recording::end(recorder, screen).await;
    let code = run.interrupt.is_raised().then_some(exit::INTERRUPTED);
    let Run { graph, folder, .. } = run;
    if let Err(error) = folder.write_json(RESULT, &report) {
        eprintln!("{error}");
    }
    if let Err(error) = explain::write_report(folder.path()) {
        screen.line(error.to_string());
    }
    if code.is_some() {
        graph.stop_robot_then_end("interrupted").await;
    } else {
        graph.stop().await;
    }
    tell_result(&report, screen);
    Ok((report, code))
}

/// A plan, and what of it is told in the result.
struct Plan {
    plan: Option<GoalPlan>,
    ending: Ending,
    foretold: Foretold,
}

/// The arm that stands in the scene.
fn arm_of(graph: &Graph) -> Result<ArmModel, Early> {
    let text = std::fs::read_to_string(&graph.robot.urdf).map_err(Early::input)?;
    ArmModel::from_urdf_with(&text, &prehend_sim_node::link_names(&graph.robot)).map_err(Early::input)
}

struct Run<'a> {
    args: &'a DemoArgs,
    /// Turns of a recorded conversation with a language model.
    model_turns: String,
    screen: &'a Screen,
    graph: Graph,
    folder: RunFolder,
    interrupt: Interrupt,
    /// Where the tool is, for whoever interferes.
    arm: Option<ArmModel>,
    /// How somebody interfered.
    disturbed: Option<String>,
    /// What the camera saw before the goal, and the first map with something in it.
    view_before: Option<View>,
    first_map: Option<ObjectMap>,
}

impl Run<'_> {
    /// Asks what the goal would come to, and keeps the plan and its picture.
    async fn plan(&mut self) -> Result<Plan, RosError> {
        let observer = &mut self.graph.observer;
        let timeout = Duration::from_secs_f64(self.args.timeout);
        let interrupt = &mut self.interrupt;
        let danger = async {
            interrupt.raised().await;
            Ending::failed(Reason::Canceled, "interrupted")
        };
        let (screen, folder) = (self.screen, &mut self.folder);
        let keeps = self.args.plan_only;
        let on_event = |event: &TraceEvent| {
            // The trace of a run that is made afterwards is that of the run.
            if keeps && let Err(error) = folder.add_event(event) {
                screen.line(error.to_string());
            }
        };
        let (followed, plan) = goal::plan(observer, &self.args.goal, timeout, on_event, danger).await?;
        if let Some(plan) = &plan {
            self.keep_json("plan.json", &plan::to_json(plan));
            let picture = self.folder.file("plan.png");
            if !plan.picture.is_empty()
                && let Err(error) = std::fs::write(&picture, &plan.picture)
            {
                self.screen.line(format!("cannot write {}: {error}", picture.display()));
            }
        }
        let motions = self.graph.judge.motions().await.map(|motions| motions.arm.len()).ok();
        let Ending { outcome, reason, .. } = followed.ending.clone();
        let foretold = Foretold { outcome, reason, seconds: followed.seconds, motions };
        Ok(Plan { plan, ending: followed.ending, foretold })
    }

    /// Shows the plan and ends the graph.
    async fn end_planned(
        self,
        Plan { plan, ending, foretold }: Plan,
        ready: f64,
    ) -> (GoalReport, Option<u8>) {
        let mut report = GoalReport::not_run(&self.args.goal, ending);
        report.seconds.ready = Some(ready);
        report.run_dir = Some(self.folder.path().to_owned());
        report.plan = Some(foretold);
        let picture = self.folder.file("plan.png");
        for line in plan.iter().flat_map(|plan| plan::to_lines(plan, self.screen)) {
            self.screen.line(line);
        }
        if picture.exists() {
            self.screen.line(format!("picture: {}", picture.display()));
        }
        self.keep_json(RESULT, &report);
        if let Err(error) = explain::write_report(self.folder.path()) {
            self.screen.line(error.to_string());
        }
        let code = self.interrupt.is_raised().then_some(exit::INTERRUPTED);
        self.graph.stop().await;
        tell_result(&report, self.screen);
        (report, code)
    }

    /// Gives the goal and follows it.
    async fn follow(&mut self) -> Followed {
        let Graph { supervisor, observer, judge, .. } = &mut self.graph;
        let (screen, folder) = (self.screen, &mut self.folder);
        let (tell, heard) = tokio::sync::mpsc::unbounded_channel();
        let (maps, first_map) = (observer.map.clone(), &mut self.first_map);
        let on_event = |event: &TraceEvent| {
            // Nobody listens when nobody interferes.
            let _ = tell.send(event.clone());
            if first_map.is_none() {
                *first_map = maps.borrow().clone().filter(|map| !map.objects.is_empty());
            }
            screen.line(trace::to_line(event, screen));
            if let Err(error) = folder.add_event(event) {
                tracing::warn!("{error}");
            }
        };
        let interrupt = &mut self.interrupt;
        let disturbance = self.args.disturb.zip(self.arm.as_ref());
        let (seed, disturbed) = (self.args.graph.seed, &mut self.disturbed);
        let interference = async {
            if let Some((disturbance, arm)) = disturbance {
                let mut heard = heard;
                match disturb::interfere(disturbance, judge, arm, seed, &mut heard).await {
                    Ok(words) => {
                        screen.line(screen.paint(Paint::Yellow, &format!("interference: {words}")));
                        *disturbed = Some(words);
                    }
                    Err(error) => screen.line(format!("no interference: {error}")),
                }
            }
            std::future::pending::<()>().await;
        };
        let danger = async {
            tokio::select! {
                () = interrupt.raised() => Ending::failed(Reason::Canceled, "interrupted"),
                ending = loss(supervisor, screen) => ending,
                () = interference => Ending::failed(Reason::Internal, "the interference has no end"),
            }
        };
        let timeout = Duration::from_secs_f64(self.args.timeout);
        let (text, model_turns) = (self.args.goal.clone(), self.model_turns.clone());
        let request = SubmitGoal::Request { text, model_turns, plan_only: false };
        let followed = goal::run_request(observer, request, timeout, on_event, danger).await;
        // The agent may still be at it: nobody would see what it does from here on.
        let given_up = [Reason::Timeout, Reason::PeerLost].map(Reason::code);
        if self.interrupt.is_raised()
            || followed.ending.reason.as_deref().is_some_and(|r| given_up.contains(&r))
        {
            self.graph.observer.stop_robot("the goal was given up").await;
        }
        followed
    }

    /// Takes what is kept of one moment: truth, the scene from outside, the camera's picture.
    async fn observe(&mut self, when: &str) -> Option<Truth> {
        let snapshot = match self.graph.judge.snapshot().await {
            Ok(snapshot) => snapshot,
            Err(error) => {
                self.screen.line(format!("physics cannot be asked: {error}"));
                return None;
            }
        };
        self.keep_json(&format!("snapshot_{when}.json"), &snapshot);
        if !self.args.no_pictures {
            let overview = self.folder.file(&format!("scene_{when}.png"));
            if let Err(error) = self.graph.judge.overview(&overview).await {
                self.screen.line(format!("no picture of the scene: {error}"));
            }
            if let Err(error) = self.camera_pictures(when).await {
                self.screen.line(format!("no picture from the camera: {error}"));
            }
        }
        Some(snapshot)
    }

    async fn camera_pictures(&mut self, when: &str) -> Result<(), pictures::PictureError> {
        let Graph { observer, robot, .. } = &self.graph;
        let view = pictures::next_view(&observer.node, robot, &observer.tf).await?;
        pictures::save(view.image(), &self.folder.file(&format!("camera_{when}.png")))?;
        if when == "after" {
            // It is large: where datagrams are lost, the last one comes a while after its answer.
            let mut maps = observer.map.clone();
            let heard = tokio::time::timeout(MAP_DEADLINE, maps.wait_for(Option::is_some)).await;
            let map = heard.ok().and_then(Result::ok).and_then(|map| map.clone());
            let Some(map) = map else {
                self.screen.line("no picture of the map: none was heard");
                return Ok(());
            };
            let info = observer.camera_info.borrow().clone();
            let drawn = view.with_map(&map, info.as_ref(), &[])?;
            pictures::save(&drawn, &self.folder.file("map_over_camera.png"))?;
        } else {
            self.view_before = Some(view);
        }
        Ok(())
    }

    /// Keeps what the robot saw, for whoever asks why.
    async fn keep_looks(&self) {
        let Self { graph, folder, view_before, first_map, .. } = self;
        if let Some((view, map)) = view_before.as_ref().zip(first_map.as_ref())
            && let Err(error) = looks::keep_first_map(graph, view, map, folder)
        {
            self.screen.line(format!("no picture of the first map: {error}"));
        }
        if let Err(error) = looks::keep_maps(graph, first_map.as_ref(), folder) {
            self.screen.line(format!("the maps are not kept: {error}"));
        }
        if let Err(error) = looks::keep_things(graph, folder).await {
            self.screen.line(format!("no pictures of things: {error}"));
        }
    }

    fn keep_json(&self, name: &str, value: &impl serde::Serialize) {
        if let Err(error) = self.folder.write_json(name, value) {
            self.screen.line(error.to_string());
        }
    }

    /// Lets things come to rest, takes the last pictures, judges.
    async fn conclude(&mut self, ready: f64, before: Option<Truth>, followed: &Followed) -> GoalReport {
        let mut report = GoalReport::not_run(&self.args.goal, followed.ending.clone());
        report.planning = followed.planning.clone();
        report.permits = followed.tally.permits;
        report.seconds.ready = Some(ready);
        report.seconds.first_motion = followed.tally.first_motion;
        report.seconds.total = Some(followed.seconds);
        report.run_dir = Some(self.folder.path().to_owned());
        report.disturbance = self.disturbed.clone();
        let state = self.graph.observer.state.borrow().clone();
        self.keep_json("state.json", &state);
        tokio::select! {
            () = self.interrupt.raised() => return report,
            () = physics::settle(&mut self.graph.judge) => {}
        }
        let after = self.observe("after").await;
        if !self.args.no_pictures {
            self.keep_looks().await;
        }
        let motions = match self.graph.judge.motions().await {
            Ok(motions) => Some(motions),
            Err(error) => {
                self.screen.line(format!("physics cannot be asked: {error}"));
                None
            }
        };
        if let Some(motions) = &motions {
            self.keep_json(MOTIONS, motions);
        }
        if let (Some(before), Some(after), Some(motions)) = (before, after, motions) {
            match physics::judge(&self.known_goal(), &before, &after, &motions, &followed.ending) {
                Ok(verdict) => {
                    self.screen.line(format!("physics: {}", verdict.message));
                    report.physics_ok = verdict.ok;
                }
                Err(error) => self.screen.line(format!("physics cannot judge: {error}")),
            }
        }
        report
    }

    /// The goal without the words that only this user's robot knows.
    fn known_goal(&self) -> String {
        let settings = self.args.graph.params.iter().rev().find_map(|(node, parameter)| {
            let file = parameter.strip_prefix("settings:=");
            file.filter(|_| *node == NodeName::Agent)
        });
        words::in_known_words(&self.args.goal, &share::resolve(Path::new(settings.unwrap_or(AGENT))))
    }
}

/// Completes when a process is lost without which the goal cannot end; tells of the others.
async fn loss(supervisor: &mut Supervisor, screen: &Screen) -> Ending {
    loop {
        let event = supervisor.event().await;
        up::tell(&event, screen);
        if let Event::Died { name, status, .. } = event {
            let fatal = [NodeName::Sim, NodeName::Agent].into_iter().any(|node| node.name() == name);
            if fatal {
                return Ending::failed(Reason::PeerLost, format!("{name} ended during the goal ({status})"));
            }
        }
    }
}

fn tell_result(report: &GoalReport, screen: &Screen) {
    let good = report.exit_code() == exit::DONE;
    let paint = match report.outcome {
        _ if good => Paint::Green,
        Outcome::Refused => Paint::Yellow,
        Outcome::Done | Outcome::Failed => Paint::Red,
    };
    let physics = match report.physics_ok {
        Some(true) => "; physics agrees",
        Some(false) if report.outcome == Outcome::Done => "; physics says no",
        Some(false) => "; physics: not reached",
        None => "",
    };
    let reason = report.reason.as_deref().map(|reason| format!(" ({reason})")).unwrap_or_default();
    let head = screen.paint(paint, &format!("{}{reason}{physics}", report.outcome.name()));
    screen.line(format!("{head}: {}", report.message));
    let seconds = |value: Option<f64>| value.map_or("-".to_owned(), |seconds| format!("{seconds:.2} s"));
    screen.line(format!(
        "permits: {} asked, {} granted, {} refused; ready {}, first motion {}, total {}",
        report.permits.asked,
        report.permits.granted,
        report.permits.refused,
        seconds(report.seconds.ready),
        seconds(report.seconds.first_motion),
        seconds(report.seconds.total)
    ));
    if let Some(folder) = &report.run_dir {
        screen.line(format!("everything of this run is in {}", folder.display()));
    }
}
