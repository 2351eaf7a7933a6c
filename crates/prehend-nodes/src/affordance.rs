//! The affordance node: parts of an object that serve an action, with evidence that the object is what and where it is said to be
//! (ASP IV-A, AAH Algorithm 1).
//!
//! The goal succeeds when the verifier commits; without a commit it is aborted with what was found and the diagnosis, so that the
//! agent can look again.

mod adviser;
mod gathering;
mod recall;

use adviser::RemoteAdviser;
use futures::StreamExt;
use gathering::{Assessed, RemoteJudge, gathered};
use nalgebra::{Unit, Vector3};
use prehend_convert as convert;
use prehend_convert::ConvertError;
use prehend_geometry::plane::Plane;
use prehend_harness::imagination::{self, Hand};
use prehend_harness::memory::Store;
use prehend_harness::subject::Subject;
use prehend_llm::HttpAdviser;
use prehend_msgs::names;
use prehend_msgs::prehend_interfaces::action::DetectAffordance;
use prehend_msgs::prehend_interfaces::msg::{ErrorCode, ObjectMap as ObjectMapMsg, Outcome, TraceEvent};
use prehend_msgs::prehend_interfaces::srv::{Assess, GetObject};
use prehend_perception::Lexicon;
use prehend_perception::evidence::{self, Knowledge};
use prehend_perception::parts::{WorkingPart, affordances, part_affordances, rule_of};
use prehend_robots::shell::{NodeError, NodeOptions, Shell, Trace};
use prehend_ros::{Client, ExecutingGoal, QosProfile, RosError, Subscription};
use prehend_scene::{ActionTable, Affordance, Intent, Object, ObjectKey, Scope};
use prehend_skills::GripperModel;
use recall::Recall;
use serde_json::json;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};
use std::time::Duration;
use tokio::sync::watch;

/// Deadline of each call to another node.
const DEADLINE: Duration = Duration::from_secs(3);
/// Most kinds of parts that evidence is gathered about when that for the best one does not suffice.
const CHOICES: usize = 2;

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

/// Why an answer cannot be given.
#[derive(Debug, thiserror::Error)]
enum Failure {
    #[error("{0}")]
    BadRequest(String),
    #[error("object_map does not answer: {0}")]
    MapLost(RosError),
    #[error("{0}")]
    UnknownKey(String),
    #[error("object_map's answer cannot be read: {0}")]
    Unreadable(#[from] ConvertError),
    #[error("{object} has no part that serves to {intent}")]
    NoneFound { object: ObjectKey, intent: Intent },
    #[error("the verifier does not answer: {0}")]
    VerifierLost(RosError),
    #[error("the verifier could not judge the evidence: {0}")]
    NotJudged(String),
    #[error("the search ended without a result")]
    Broken,
}

impl Failure {
    fn code(&self) -> i32 {
        match self {
            Self::BadRequest(_) => ErrorCode::AFFORDANCE_BAD_REQUEST,
            Self::MapLost(_) | Self::Unreadable(_) => ErrorCode::AFFORDANCE_MAP_LOST,
            Self::UnknownKey(_) => ErrorCode::AFFORDANCE_UNKNOWN_KEY,
            Self::NoneFound { .. } => ErrorCode::AFFORDANCE_NONE_FOUND,
            Self::VerifierLost(_) | Self::NotJudged(_) | Self::Broken => ErrorCode::AFFORDANCE_VERIFIER_LOST,
        }
    }
}

/// What is asked for.
struct Question {
    object: ObjectKey,
    intent: Intent,
    scope: Scope,
    goal_id: String,
}

impl Question {
    fn read(goal: &DetectAffordance::Goal) -> Result<Self, Failure> {
        let bad = |why: &str| Failure::BadRequest(why.to_owned());
        if goal.object_key.trim().is_empty() {
            return Err(bad("an object key is needed"));
        }
        let intent = convert::intent_from_msg(&goal.intent).map_err(|error| bad(&error.to_string()))?;
        Ok(Self {
            object: ObjectKey(goal.object_key.clone()),
            intent: intent.ok_or_else(|| bad("an intent is needed: of kind grasp, act or place"))?,
            scope: Scope::parse(&goal.scope).ok_or_else(|| bad("the scope is none: local or room"))?,
            goal_id: goal.goal_id.clone(),
        })
    }

    fn none_found(&self) -> Failure {
        Failure::NoneFound { object: self.object.clone(), intent: self.intent.clone() }
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
            Some(Err(failure)) => {
                let about = format!("{} to {}", asked.object, asked.intent);
                self.refuse(goal, &asked.goal_id, &about, &failure);
            }
        }
    }

    fn refuse(&self, goal: Goal, goal_id: &str, about: &str, failure: &Failure) {
        let (error_code, error_message) = (failure.code(), failure.to_string());
        self.trace.event(
            goal_id,
            TraceEvent::KIND_WARNING,
            "affordance",
            "failed",
            format!("{about}: {error_message}"),
            json!({ "error_code": error_code }),
        );
        goal.abort(DetectAffordance::Result { error_code, error_message, ..Default::default() });
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
                    format!("{} to {}: {}", asked.object, asked.intent, parts.join(", ")),
                    json!({ "object": asked.object, "parts": parts }),
                );
                let affordances = found.iter().map(|a| convert::affordance_to_msg(a, &frame, 0.0)).collect();
                goal.succeed(DetectAffordance::Result { affordances, ..Default::default() });
            }
            Err(failure) => goal.abort(DetectAffordance::Result {
                error_code: failure.code(),
                error_message: failure.to_string(),
                ..Default::default()
            }),
        }
    }

    /// The object with its views, the frame it is in, and the version of the map it is from.
    async fn fetch(&self, asked: &Question) -> Result<(Object, String, u64), Failure> {
        let request = GetObject::Request {
            key: asked.object.0.clone(),
            with_crops: true,
            scope: asked.scope.name().to_owned(),
        };
        let answer = self.objects.request(request, DEADLINE).await.map_err(Failure::MapLost)?;
        if answer.error_code != ErrorCode::SUCCESS {
            return Err(Failure::UnknownKey(answer.error_message));
        }
        let object = convert::object_with_crops_from_msg(&answer)?;
        Ok((object, answer.object.cloud.header.frame_id, answer.map_version))
    }

    /// Parts of an object of the room that serve the intent, best first, and the frame they are in.
    async fn remote_parts(&self, asked: &Question) -> Result<(Vec<Affordance>, String), Failure> {
        let (object, frame, _) = self.fetch(asked).await?;
        let support = evidence::support_under(&object, None);
        let (found, _) = self.parts_of(&object, support, &asked.intent);
        if found.is_empty() {
            return Err(asked.none_found());
        }
        Ok((found, frame))
    }

    async fn detect(&self, goal: &Goal, asked: &Question) -> Result<(Vec<Affordance>, Assessed), Failure> {
        self.feedback(goal, "fetching the object");
        let (object, _, version) = self.fetch(asked).await?;
        let plane = self.plane_of(version).await;
        self.feedback(goal, "finding parts");
        let support = evidence::support_under(&object, plane.as_ref());
        let (mut found, parts) = self.parts_of(&object, support, &asked.intent);
        if self.whole_object {
            found.iter_mut().for_each(|affordance| spread(affordance, &object));
        }
        if found.is_empty() {
            return Err(asked.none_found());
        }
        self.feedback(goal, "gathering evidence");
        let mut choices: Vec<Option<WorkingPart>> = parts.into_iter().take(CHOICES).map(Some).collect();
        if choices.is_empty() {
            choices.push(None);
        }
        let mut first = None;
        for part in choices {
            let about = part.as_ref().map(|part| (part.kind.clone(), part.centroid));
            let assessed = self.gather(&object, version, plane, part).await?;
            if !assessed.gathered.diagnostics.committed {
                first.get_or_insert(assessed);
                continue;
            }
            if let Some(mut recall) = self.recall() {
                recall.expect(assessed.id.clone(), assessed.episode.clone());
            }
            // What the evidence is about comes first.
            found.sort_by_key(|affordance| {
                about
                    .as_ref()
                    .is_some_and(|(kind, at)| affordance.part != *kind || affordance.centroid != *at)
            });
            return Ok((found, assessed));
        }
        first.map(|assessed| (found, assessed)).ok_or(Failure::Broken)
    }

    /// Evidence about one part of an object, or about the whole, until the verifier commits or nothing more helps.
    async fn gather(
        &self,
        object: &Object,
        map_version: u64,
        plane: Option<Plane>,
        part: Option<WorkingPart>,
    ) -> Result<Assessed, Failure> {
        let judge = RemoteJudge {
            client: self.verifier.clone(),
            runtime: tokio::runtime::Handle::current(),
            key: object.key.0.clone(),
            map_version,
            assessment: String::new(),
        };
        let runtime = tokio::runtime::Handle::current();
        let about =
            (object.class_name.clone(), part.as_ref().map(|part| part.kind.clone()).unwrap_or_default());
        let adviser = self.model.clone().map(|model| RemoteAdviser::new(model, runtime, about));
        let (knowledge, hand) = (Arc::clone(&self.knowledge), Some(self.hand));
        let subject = Arc::new(Subject { object: object.clone(), plane, part, knowledge, hand });
        let prior = self.recall().map(|recall| recall.of(&subject.appearance())).unwrap_or_default();
        let work = tokio::task::spawn_blocking(move || gathered(&subject, judge, &prior, adviser));
        work.await.map_err(|_| Failure::Broken)?
    }

    /// Parts that serve an intent, best first; when it acts on a part also what was found of each, so that the evidence is about it. A
    /// part that is named is the only one.
    fn parts_of(
        &self,
        object: &Object,
        support: f64,
        intent: &Intent,
    ) -> (Vec<Affordance>, Vec<WorkingPart>) {
        if rule_of(intent, object, &self.actions).is_none() {
            return (affordances(object, support, intent, self.max_opening, &self.actions), Vec::new());
        }
        let found = part_affordances(object, support, intent, &self.actions);
        let mut parts: Vec<WorkingPart> = Vec::new();
        for (_, part) in &found {
            if parts.iter().all(|known| known.kind != part.kind) {
                parts.push(part.clone());
            }
        }
        if intent.part().is_some() {
            parts.truncate(1);
        }
        (found.into_iter().map(|(affordance, _)| affordance).collect(), parts)
    }

    fn feedback(&self, goal: &Goal, step: &str) {
        if let Err(error) = goal.publish_feedback(DetectAffordance::Feedback { step: step.to_owned() }) {
            tracing::debug!("feedback not sent: {error}");
        }
    }

    fn answer(&self, goal: Goal, asked: &Question, found: &[Affordance], assessed: &Assessed) {
        let gathered = &assessed.gathered;
        let d = gathered.diagnostics;
        let words = asked.intent.to_string();
        for step in &gathered.steps {
            let s = step.diagnostics;
            self.trace.event(
                &asked.goal_id,
                TraceEvent::KIND_EVIDENCE,
                &step.tool,
                if step.added.is_empty() { "nothing" } else { "added" },
                format!(
                    "{}: {} record(s) by {}; omega {:.2}, zeta {:.2}, mu {:.2}, v {:.2}{}",
                    asked.object,
                    step.added.len(),
                    step.tool,
                    s.omega,
                    s.zeta,
                    s.mu,
                    s.score,
                    step.advice
                        .as_ref()
                        .map(|why| format!("; the model chose it: {why}"))
                        .unwrap_or_default()
                ),
                json!({ "object": asked.object, "action": words, "records": step.added,
                    "remedy_for": step.remedy_for, "advice": step.advice, "diagnostics": s }),
            );
        }
        let parts: Vec<String> = found.iter().map(|a| format!("{} ({:.2})", a.part, a.score)).collect();
        self.trace.event(
            &asked.goal_id,
            TraceEvent::KIND_EVIDENCE,
            "affordance",
            if d.committed { "committed" } else { "not_committed" },
            format!(
                "{} to {}: {}; v {:.2}",
                asked.object,
                asked.intent,
                parts.join(", "),
                d.score
            ),
            json!({ "object": asked.object, "action": words, "parts": parts, "assessment": assessed.id, "spent": gathered.spent, "diagnostics": d,
                "records": gathered.evidence.iter().map(|e| &e.id).collect::<Vec<_>>() }),
        );
        let stamp = gathered.evidence.iter().map(|e| e.stamp).fold(0.0, f64::max);
        let diagnostics = convert::diagnostics_to_msg(&d);
        let mut result = DetectAffordance::Result {
            affordances: found.iter().map(|a| convert::affordance_to_msg(a, &self.base, stamp)).collect(),
            assessment_id: assessed.id.clone(),
            diagnostics,
            ..Default::default()
        };
        if d.committed {
            goal.succeed(result);
        } else {
            result.error_code = ErrorCode::AFFORDANCE_NOT_COMMITTED;
            result.error_message = format!(
                "the evidence for {} does not suffice (v {:.2}, omega {:.2}, zeta {:.2}, mu {:.2}); remedy: {}",
                asked.object, d.score, d.omega, d.zeta, d.mu, result.diagnostics.remedy
            );
            goal.abort(result);
        }
    }
}

/// Gives an affordance the cloud of the whole object; its skill and its normal stay.
fn spread(affordance: &mut Affordance, object: &Object) {
    affordance.cloud = object.cloud.clone();
    affordance.centroid = object.bounds.pose.translation.vector.into();
}

/// Text of others as it is shown in a line.
fn shown(text: &str) -> String {
    text.chars().take(80).collect()
}
