//! The affordance node: parts of an object that serve an action, with evidence that the object is what and where it is said to be
//! (ASP IV-A, AAH Algorithm 1).
//!
//! The goal succeeds when the verifier commits; without a commit it is aborted with what was found and the diagnosis, so that the
//! agent can look again.

mod adviser;
mod answer;
mod detection;
mod failure;
mod gathering;
mod question;
mod recall;

use answer::shown;
use futures::StreamExt;
use nalgebra::{Unit, Vector3};
use prehend_convert as convert;
use prehend_geometry::plane::Plane;
use prehend_harness::imagination::{self, Hand};
use prehend_harness::memory::Store;
use prehend_llm::HttpAdviser;
use prehend_msgs::names;
use prehend_msgs::prehend_interfaces::action::DetectAffordance;
use prehend_msgs::prehend_interfaces::msg::{ObjectMap as ObjectMapMsg, Outcome, TraceEvent};
use prehend_msgs::prehend_interfaces::srv::{Assess, GetObject};
use prehend_perception::Lexicon;
use prehend_perception::evidence::Knowledge;
use prehend_robots::shell::{NodeError, NodeOptions, Shell, Trace};
use prehend_ros::{Client, ExecutingGoal, QosProfile, Subscription};
use prehend_scene::{ActionTable, Scope};
use prehend_skills::GripperModel;
use question::Question;
use recall::Recall;
use serde_json::json;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};
use std::time::Duration;
use tokio::sync::watch;

/// Deadline of each call to another node.
const DEADLINE: Duration = Duration::from_secs(3);

type Goal = ExecutingGoal<DetectAffordance::Action>;

enum Event {
    Goal(Box<prehend_ros::GoalRequest<DetectAffordance::Action>>),
    Map(ObjectMapMsg),
    Outcome(Outcome),
    Shutdown,
}

/// Runs the node until it is told to stop.
pub async fn run(options: NodeOptions) -> Result<(), NodeError> {
    Shell::start("affordance", &options).await?.live(serve).await
}

/// Takes in the configuration and serves until it is to be given back.
async fn serve(shell: Shell) -> Result<(), NodeError> {
    let worker = Worker::new(&shell)?;
    let mut goals = shell.node.create_action_server::<DetectAffordance::Action>(names::DETECT_AFFORDANCE)?;
    let mut maps: Subscription<ObjectMapMsg> =
        shell.node.subscribe(names::OBJECT_MAP, QosProfile::transient_local())?;
    let mut outcomes: Subscription<Outcome> =
        shell.node.subscribe(names::VERIFIER_OUTCOME, QosProfile::default())?;
    shell.configured();
    let shutdown = shell.shutdown();
    tokio::pin!(shutdown);
    loop {
        let event = tokio::select! {
            () = &mut shutdown => Event::Shutdown,
            Some(goal) = goals.next() => Event::Goal(Box::new(goal)),
            Some(map) = maps.next() => Event::Map(map),
            Some(outcome) = outcomes.next() => Event::Outcome(outcome),
        };
        match event {
            // Rejected: nobody gathers evidence while the node is not active.
            Event::Goal(request) if !shell.is_active() => request.reject(),
            Event::Goal(request) => {
                let worker = worker.clone();
                let goal = request.accept();
                tokio::spawn(async move { worker.serve(goal).await });
            }
            Event::Map(map) => worker.take_plane(&map),
            Event::Outcome(outcome) => worker.take_outcome(outcome),
            Event::Shutdown => return Ok(()),
        }
    }
}

#[derive(Clone)]
struct Worker {
    trace: Trace,
    base: String,
    max_opening: f64,
    hand: Hand,
    objects: Client<GetObject::Service>,
    verifier: Client<Assess::Service>,
    knowledge: Arc<Knowledge>,
    actions: Arc<ActionTable>,
    /// Version of the newest map that was heard, and its support.
    plane: watch::Sender<(u64, Option<Plane>)>,
    recall: Arc<Mutex<Recall>>,
    /// Who is asked for the next look where the heuristic leaves it open.
    model: Option<Arc<HttpAdviser>>,
    /// ASP's ablation *No Aff* (§V-A): every affordance has the cloud of the whole object.
    whole_object: bool,
}

impl Worker {
    fn new(shell: &Shell) -> Result<Self, NodeError> {
        let parameters = shell.node.parameters();
        let words = parameters.string_or("synonyms", "config/language/synonyms.yaml")?;
        let known = parameters.string_or("knowledge", "config/language/knowledge.yaml")?;
        let actions = parameters.string_or("actions", "config/language/actions.yaml")?;
        let settings = parameters.string_or("settings", "config/nodes/affordance.yaml")?;
        let whole_object = parameters.bool_or("whole_object", false)?;
        let memory = parameters.string_or("memory", "")?;
        let text = "File of what was learned of looking at things, from how their use turned out; empty: it ends with the node.";
        parameters.describe("memory", text);
        parameters.describe("synonyms", "File of names that mean the same.");
        parameters.describe("knowledge", "File of what is known of kinds of things.");
        parameters.describe("actions", "File of verbs, and which parts they act on.");
        parameters.describe(
            "settings",
            "File that names a language model for decisions that the heuristic leaves open.",
        );
        parameters.describe("whole_object", "Ablation: every affordance has the cloud of the whole object.");
        parameters.finish()?;
        if whole_object {
            tracing::warn!("ablation: affordances have the cloud of the whole object");
        }
        let actions = ActionTable::load(&prehend_config::share::resolve(Path::new(&actions)))?;
        let lexicon = Lexicon::load(&prehend_config::share::resolve(Path::new(&words)))?;
        let knowledge = Knowledge::load(&prehend_config::share::resolve(Path::new(&known)), lexicon)?;
        let model = adviser::open(&prehend_config::share::resolve(Path::new(&settings)))?;
        let (recall, said) = Recall::open((!memory.is_empty()).then(|| Store::new(&memory)));
        // Nobody may hear the trace yet; whoever is told later what was learned is told this, too.
        if let Some(said) = said {
            tracing::warn!("{said}");
        }
        let services = QosProfile::services();
        let max_opening = shell.robot.gripper.max_opening;
        Ok(Self {
            trace: shell.trace.clone(),
            base: shell.robot.frames.base.clone(),
            max_opening,
            hand: imagination::hand(
                &GripperModel { max_opening, ..GripperModel::default() },
                shell.robot.gripper.grip_force,
            ),
            objects: shell.node.create_client(names::OBJECT_MAP_GET_OBJECT, services)?,
            verifier: shell.node.create_client(names::VERIFIER_ASSESS, services)?,
            knowledge: Arc::new(knowledge),
            actions: Arc::new(actions),
            plane: watch::Sender::new((0, None)),
            recall: Arc::new(Mutex::new(recall)),
            model,
            whole_object,
        })
    }

    /// The memory, unless its file keeps it busy: nothing waits for that.
    fn recall(&self) -> Option<MutexGuard<'_, Recall>> {
        match self.recall.try_lock() {
            Ok(recall) => Some(recall),
            Err(TryLockError::Poisoned(recall)) => Some(recall.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        }
    }

    /// Learns from what became of a skill, on a thread that may wait for the file.
    fn take_outcome(&self, outcome: Outcome) {
        let worker = self.clone();
        tokio::task::spawn_blocking(move || {
            let mut recall = worker.recall.lock().unwrap_or_else(PoisonError::into_inner);
            let Some(said) = recall.learn(&outcome.assessment_id, outcome.succeeded) else { return };
            drop(recall);
            let data = json!({ "object": outcome.object_key, "skill": outcome.skill, "assessment": outcome.assessment_id });
            let status = if outcome.succeeded { "kept" } else { "taken_back" };
            worker.trace.event("", TraceEvent::KIND_EVIDENCE, "memory", status, said, data);
        });
    }

    fn take_plane(&self, map: &ObjectMapMsg) {
        let plane = match map.support_plane.as_slice() {
            [a, b, c, d] if d.is_finite() => {
                Unit::try_new(Vector3::new(*a, *b, *c), 1e-6).map(|normal| Plane { normal, offset: *d })
            }
            _ => None,
        };
        self.plane.send_replace((map.version, plane));
    }

    /// The support of the map of this version or a newer one. It comes on a topic, and may come after what was asked of that map.
    async fn plane_of(&self, version: u64) -> Option<Plane> {
        let mut planes = self.plane.subscribe();
        let heard = tokio::time::timeout(DEADLINE, planes.wait_for(|(heard, _)| *heard >= version)).await;
        if let Ok(Ok(heard)) = heard {
            return heard.1;
        }
        tracing::warn!("map {version} was not heard: the support is that of an older one");
        self.plane.borrow().1
    }

    async fn serve(&self, goal: Goal) {
        let asked = match Question::read(goal.goal()) {
            Ok(asked) => asked,
            Err(failure) => {
                let told = goal.goal();
                let (goal_id, about) = (told.goal_id.clone(), shown(&told.object_key));
                return self.refuse(goal, &goal_id, &about, &failure);
            }
        };
        if asked.scope == Scope::Room {
            return self.serve_room(goal, &asked).await;
        }
        let result = tokio::select! {
            result = self.detect(&goal, &asked) => Some(result),
            () = goal.cancelled() => None,
        };
        match result {
            None => goal.canceled(DetectAffordance::Result::default()),
            Some(Ok((found, assessed))) => self.answer(goal, &asked, &found, &assessed),
            Some(Err(failure)) => self.refuse(goal, &asked.goal_id, &asked.to_string(), &failure),
        }
    }

    /// The parts of an object of the room, for where to drive to: nothing is touched from afar, so no evidence is gathered.
    async fn serve_room(&self, goal: Goal, asked: &Question) {
        let found = tokio::select! {
            found = self.remote_parts(asked) => found,
            () = goal.cancelled() => return goal.canceled(DetectAffordance::Result::default()),
        };
        match found {
            Ok((found, frame)) => {
                let parts: Vec<&str> = found.iter().map(|affordance| affordance.part.as_str()).collect();
                self.trace.event(
                    &asked.goal_id,
                    TraceEvent::KIND_EVIDENCE,
                    "affordance",
                    "remote",
                    format!("{asked}: {}", parts.join(", ")),
                    json!({ "object": asked.object, "parts": parts }),
                );
                let affordances = found.iter().map(|a| convert::affordance_to_msg(a, &frame, 0.0)).collect();
                goal.succeed(DetectAffordance::Result { affordances, ..Default::default() });
            }
            Err(failure) => self.refuse(goal, &asked.goal_id, &asked.to_string(), &failure),
        }
    }
}
