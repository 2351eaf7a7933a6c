//! The verifier node: assesses evidence, permits plans, redeems permits, checks outcomes, and stops an arm or a base whose
//! owner has died.

mod desk;
mod gate;
mod maps;
mod outcomes;
mod redeem;
mod watchdog;

use crate::waiting::{next_of, respond};
use desk::Desk;
use futures::StreamExt;
use prehend_convert as convert;
use prehend_msgs::names;
use prehend_msgs::nav_msgs::msg::OccupancyGrid;
use prehend_msgs::prehend_interfaces::msg::{
    ErrorCode, ObjectMap as ObjectMapMsg, Outcome as OutcomeMsg, TraceEvent,
};
use prehend_msgs::prehend_interfaces::srv::{Approve, Assess, CheckOutcome, Gate, RedeemPermit};
use prehend_perception::Lexicon;
use prehend_robots::shell::{NodeError, NodeOptions, Shell, incarnation};
use prehend_ros::{ParameterError, Parameters, Publisher, QosProfile, ServiceRequest, Subscription};
use prehend_scene::{ObjectKey, ObjectMap, Skill};
use prehend_verify::{Approval, Assessments, Ground, Ledger, Scene, Settings, Sightings, Workspace, assess};
use serde_json::json;
use std::path::Path;
use std::time::{Duration, Instant};
use watchdog::Watchdog;

/// How long a request about a newer map than the verifier has may wait for that map.
const MAP_PATIENCE: Duration = Duration::from_millis(1500);
/// How often the owner of the arm is looked after.
const WATCH_PERIOD: Duration = Duration::from_millis(50);

/// What is said to requests while the node is not active.
const INACTIVE: &str = "the verifier is not active";

#[expect(clippy::large_enum_variant, reason = "one event is alive at a time")]
enum Event {
    Assess(ServiceRequest<Assess::Service>),
    Gate(ServiceRequest<Gate::Service>),
    Redeem(ServiceRequest<RedeemPermit::Service>),
    CheckOutcome(ServiceRequest<CheckOutcome::Service>),
    Approve(ServiceRequest<Approve::Service>),
    Map(ObjectMapMsg),
    Room(ObjectMapMsg),
    Costmap(OccupancyGrid),
    Watch,
    Shutdown,
}

/// Runs the node until it is told to stop.
pub async fn run(options: NodeOptions) -> Result<(), NodeError> {
    Shell::start("verifier", &options).await?.live(serve).await
}

/// Takes in the configuration and serves until it is to be given back.
async fn serve(shell: Shell) -> Result<(), NodeError> {
    let mut verifier = Verifier::new(&shell)?;
    let mut watchdog = Watchdog::new(&shell)?;
    let services = QosProfile::services();
    let mut assess = shell.node.create_service::<Assess::Service>(names::VERIFIER_ASSESS, services)?;
    let mut gate = shell.node.create_service::<Gate::Service>(names::VERIFIER_GATE, services)?;
    let mut redeem = shell.node.create_service::<RedeemPermit::Service>(names::VERIFIER_REDEEM, services)?;
    let mut check =
        shell.node.create_service::<CheckOutcome::Service>(names::VERIFIER_CHECK_OUTCOME, services)?;
    let mut approve = shell.node.create_service::<Approve::Service>(names::VERIFIER_APPROVE, services)?;
    let mut maps: Subscription<ObjectMapMsg> =
        shell.node.subscribe(names::OBJECT_MAP, QosProfile::transient_local())?;
    let mut rooms: Subscription<ObjectMapMsg> =
        shell.node.subscribe(names::ROOM_MAP, QosProfile::transient_local())?;
    let mut costmaps = match &shell.robot.navigation {
        Some(navigation) => {
            Some(shell.node.subscribe::<OccupancyGrid>(&navigation.costmap, QosProfile::transient_local())?)
        }
        None => None,
    };
    let mut watch = tokio::time::interval(WATCH_PERIOD);
    shell.configured();
    let shutdown = shell.shutdown();
    tokio::pin!(shutdown);
    loop {
        let event = tokio::select! {
            () = &mut shutdown => Event::Shutdown,
            Some(request) = assess.next() => Event::Assess(request),
            Some(request) = gate.next() => Event::Gate(request),
            Some(request) = redeem.next() => Event::Redeem(request),
            Some(request) = check.next() => Event::CheckOutcome(request),
            Some(request) = approve.next() => Event::Approve(request),
            Some(map) = maps.next() => Event::Map(map),
            Some(room) = rooms.next() => Event::Room(room),
            Some(costmap) = next_of(&mut costmaps) => Event::Costmap(costmap),
            _ = watch.tick() => Event::Watch,
        };
        match event {
            Event::Assess(request) => verifier.take(Asked::Assess(request), Instant::now()),
            Event::Gate(request) => verifier.take(Asked::Gate(request), Instant::now()),
            Event::Redeem(request) => verifier.redeem(request),
            Event::CheckOutcome(request) => verifier.check_outcome(request),
            Event::Approve(request) => verifier.desk.answer(request),
            Event::Map(map) => verifier.take_map(&map),
            Event::Room(room) => verifier.take_room(&room),
            Event::Costmap(costmap) => verifier.take_costmap(costmap),
            Event::Watch => {
                verifier.take_impatient();
                verifier.desk.tidy();
                watchdog.look(&shell);
            }
            Event::Shutdown => return Ok(()),
        }
    }
}

/// A request that is about a version of a map.
#[expect(clippy::large_enum_variant, reason = "few wait, and not for long")]
enum Asked {
    Assess(ServiceRequest<Assess::Service>),
    Gate(ServiceRequest<Gate::Service>),
}

struct Verifier<'a> {
    shell: &'a Shell,
    settings: Settings,
    /// Names that mean the same.
    words: Lexicon,
    enforce: bool,
    map: Option<ObjectMap>,
    /// From where the objects of the map were seen.
    sightings: Sightings,
    assessments: Assessments,
    room: Option<ObjectMap>,
    ground: Option<Ground>,
    ledger: Ledger,
    desk: Desk<'a>,
    outcomes: Publisher<OutcomeMsg>,
    /// Requests that are ahead of the map, with the time they came.
    waiting: Vec<(Instant, Asked)>,
}

/// Shows what plans are judged by.
fn show_settings(parameters: &Parameters, settings: &Settings, file: &str) -> Result<(), ParameterError> {
    let reason = format!("it decides what the robot may do: change {file} and start the nodes anew");
    let rule = &settings.commit;
    for (name, value, text) in [
        ("commit.alpha", rule.alpha, "Weight of consistency (AAH eq. 9)."),
        ("commit.beta", rule.beta, "Weight of stability."),
        ("commit.gamma", rule.gamma, "Weight of sufficiency."),
        ("commit.delta", rule.delta, "Score from which evidence is accepted."),
        ("commit.omega_floor", rule.omega_floor, "Least consistency."),
        ("commit.zeta_floor", rule.zeta_floor, "Stability below which evidence is gathered again."),
        ("commit.mu_floor", rule.mu_floor, "Sufficiency below which evidence is gathered again."),
        ("assessment_seconds", settings.assessment_seconds, "Life of an assessment of evidence, seconds."),
        ("permit_seconds", settings.permit_seconds, "Life of a permit, seconds."),
        (
            "min_confidence",
            settings.min_confidence,
            "Least share of votes for a name before the thing is touched.",
        ),
        (
            "grasp_reach",
            settings.grasp_reach,
            "Farthest a grasp may be from the points of its object, metres.",
        ),
    ] {
        parameters.show(name, value, text, &reason)?;
    }
    parameters.show("commit.weights", rule.weights.to_vec(), "Weights of the kinds of evidence.", &reason)
}

impl<'a> Verifier<'a> {
    fn new(shell: &'a Shell) -> Result<Self, NodeError> {
        let limits = shell.robot.limits;
        let workspace = Workspace {
            low: limits.workspace_low,
            high: limits.workspace_high,
            support_clearance: limits.support_clearance,
            max_opening: shell.robot.gripper.max_opening,
        };
        let parameters = shell.node.parameters();
        let file = parameters.string_or("settings", "config/nodes/verifier.yaml")?;
        let enforce = parameters.bool_or("enforce", true)?;
        let words = parameters.string_or("synonyms", "config/language/synonyms.yaml")?;
        parameters.describe("settings", "File of thresholds and of the life of permits.");
        parameters.describe("synonyms", "File of names that mean the same.");
        let text = "Whether a verdict holds; without, for an ablation, every plan is permitted.";
        parameters.describe_fixed(
            "enforce",
            text,
            "nobody switches the verifier off while the robot may move",
        );
        let words_file = words;
        let words = Lexicon::load(&prehend_config::share::resolve(Path::new(&words_file)))?;
        let mut settings = Settings::load(&prehend_config::share::resolve(Path::new(&file)), workspace)?;
        let approval = parameters.string_or("approval", settings.approval.name())?;
        settings.approval = Approval::parse(&approval).ok_or_else(|| NodeError::Start {
            node: "verifier",
            reason: format!("approval `{approval}` is none of never, unsure, first, each"),
        })?;
        let text = "For which plans a person is asked: never, unsure, first or each; the file of settings says what they mean.";
        parameters.describe_fixed("approval", text, "nobody lowers it while the robot may move");
        show_settings(parameters, &settings, &file)?;
        parameters.finish()?;
        if !enforce {
            shell.trace.event(
                "",
                TraceEvent::KIND_WARNING,
                "verifier",
                "not_enforced",
                "switched off for an ablation: the first evidence suffices, every plan is permitted, every outcome is believed",
                json!({}),
            );
        }
        Ok(Self {
            shell,
            settings,
            words,
            enforce,
            map: None,
            sightings: Sightings::new(),
            assessments: Assessments::new(incarnation()),
            room: None,
            ground: None,
            ledger: Ledger::new(incarnation()),
            desk: Desk::new(shell, &settings)?,
            outcomes: shell.node.create_publisher(names::VERIFIER_OUTCOME, QosProfile::default())?,
            waiting: Vec::new(),
        })
    }

    fn now(&self) -> f64 {
        convert::seconds(&self.shell.node.now())
    }

    /// Takes the requests again that waited for a map.
    fn take_waiting(&mut self) {
        for (since, asked) in std::mem::take(&mut self.waiting) {
            self.take(asked, since);
        }
    }

    /// Answers a request, or lets it wait for the map it is about.
    fn take(&mut self, asked: Asked, since: Instant) {
        let (map, planned) = match &asked {
            Asked::Assess(request) => (&self.map, request.message.map_version),
            Asked::Gate(request) => {
                let plan = &request.message.plan;
                (if plan.skill == Skill::GoTo.name() { &self.room } else { &self.map }, plan.map_version)
            }
        };
        if planned > map.as_ref().map_or(0, |map| map.version) && since.elapsed() < MAP_PATIENCE {
            self.waiting.push((since, asked));
            return;
        }
        match asked {
            Asked::Assess(request) => {
                let response = self.assess(&request.message);
                respond(request, response);
            }
            Asked::Gate(request) => {
                let response = self.judge_request(&request.message);
                respond(request, response);
            }
        }
    }

    fn assess(&mut self, request: &Assess::Request) -> Assess::Response {
        let evidence = match convert::all_evidence_from_msg(&request.evidence) {
            Ok(evidence) => evidence,
            Err(error) => {
                return Assess::Response {
                    error_code: ErrorCode::VERIFIER_BAD_REQUEST,
                    error_message: error.to_string(),
                    ..Default::default()
                };
            }
        };
        let object = ObjectKey(request.object_key.clone());
        let scene = Scene { map: self.map.as_ref(), sightings: &self.sightings, now: self.now() };
        let mut judged = assess(&object, &evidence, &scene, &self.settings.commit);
        judged.diagnostics.committed |= !self.enforce;
        let diagnostics = convert::diagnostics_to_msg(&judged.diagnostics);
        let doubts = judged.doubts.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ");
        let assessment_id = self.assessments.keep(&object, &evidence, judged, &scene);
        Assess::Response { diagnostics, assessment_id, doubts, ..Default::default() }
    }

    /// Takes the requests whose map did not come in time.
    fn take_impatient(&mut self) {
        let (late, early): (Vec<_>, Vec<_>) =
            std::mem::take(&mut self.waiting).into_iter().partition(|(t, _)| t.elapsed() >= MAP_PATIENCE);
        self.waiting = early;
        for (since, asked) in late {
            self.take(asked, since);
        }
    }
}
