//! The agent's world: services and actions of the other nodes, with deadlines, ended by whatever ends the goal.

use super::Clients;
use super::eyes::Eyes;
use super::interrupt::interrupted;
use super::plan::Rehearsal;
use super::words::GoalWords;
use crate::follow::follow_map;
use futures::StreamExt;
use nalgebra::Vector3;
use prehend_agent::talk::Turn;
use prehend_agent::tools::{ToolOutput, ToolValue};
use prehend_agent::words::Words;
use prehend_agent::world::{
    Arrival, Comparison, Fault, Part, PlannedStep, Rejected, Remembered, Retrieval, SkillOutcome,
    SkillRequest, World,
};
use prehend_convert as convert;
use prehend_msgs::geometry_msgs::msg::Point;
use prehend_msgs::prehend_interfaces::action::{DetectAffordance, ExecuteGoal, ExecuteSkill, GoTo};
use prehend_msgs::prehend_interfaces::msg::{Affordance, ErrorCode, MemoryThing, TraceEvent};
use prehend_msgs::prehend_interfaces::srv::{QueryMemory, RetrieveObjects, UpdateMap};
use prehend_msgs::{Action, names};
use prehend_robots::robot::Navigation;
use prehend_robots::shell::Trace;
use prehend_ros::{ActionClient, RosError, TfBuffer};
use prehend_scene::{Intent, ObjectKey, ObjectMap, PartEffect, Reason, Relation, Scope, Skill};
use serde_json::json;
use std::collections::HashMap;
use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use tokio::runtime::Handle;
use tokio::sync::{mpsc, watch};

/// Deadline of a retrieval, which a vision-language model may have to confirm. That the node is lost is known earlier, by its
/// heartbeat.
const RETRIEVE: Duration = Duration::from_secs(prehend_llm::LONGEST_TIMEOUT + 2);
/// Deadline of a question to the memory.
const REMEMBER: Duration = Duration::from_secs(3);
/// Most things that are remembered at once, and how well they fit compared with the one that fits best.
const MOST_REMEMBERED: u32 = 12;
const AS_WELL: f64 = 0.6;
/// How long a memory that was never heard of is looked for.
const DISCOVERY: Duration = Duration::from_millis(500);
/// Deadline of a map update; the node waits for a frame.
const UPDATE: Duration = Duration::from_secs(6);
/// Longest wait for a frame within an update, seconds.
const FRAME: f64 = 3.0;
/// Deadline of an action's acceptance.
const ACCEPT: Duration = Duration::from_secs(2);
/// Silence after which an action server is lost.
const SILENCE: Duration = Duration::from_secs(3);
/// Longest wait for a cancelled skill to stop the arm.
const CANCEL: Duration = Duration::from_secs(5);
/// How often a busy robot is asked again.
const BUSY_PERIOD: Duration = Duration::from_millis(100);
/// A look round the room that missed more than one stop for so many that it saw has not seen the whole room: stops that are side by
/// side show much of the same.
const MISSED: u32 = 3;
/// Longest wait for a map that was announced.
const MAP_PATIENCE: Duration = Duration::from_secs(2);

/// What a detection found, and the verifier's id of the evidence for it, for the next grasp of the object.
type Detected = (Vec<Affordance>, String);

/// What the agent has of a robot that drives.
#[derive(Clone)]
pub(super) struct Driving {
    go_to: Arc<ActionClient<GoTo::Action>>,
    room: watch::Receiver<Option<Arc<ObjectMap>>>,
    tf: TfBuffer,
    frame: String,
    base: String,
    /// The map of the room comes from visits alone.
    partial: Arc<AtomicBool>,
}

impl Driving {
    /// Joins go_to and the map of the room.
    pub(super) fn new(node: &prehend_ros::Node, navigation: &Navigation) -> Result<Self, RosError> {
        Ok(Self {
            go_to: Arc::new(node.create_action_client(names::GO_TO)?),
            room: follow_map(node, names::ROOM_MAP)?,
            tf: node.tf()?,
            frame: navigation.frame.clone(),
            base: navigation.base.clone(),
            partial: Arc::default(),
        })
    }
}

/// The world of one goal.
pub(super) struct NodeWorld {
    pub(super) runtime: Handle,
    pub(super) clients: Clients,
    pub(super) trace: Trace,
    pub(super) goal_id: String,
    /// Why the goal must end now.
    pub(super) interrupt: watch::Receiver<Option<Fault>>,
    pub(super) feedback: mpsc::UnboundedSender<ExecuteGoal::Feedback>,
    pub(super) detected: HashMap<ObjectKey, Detected>,
    /// Whether a person asked to hold what is in the gripper.
    pub(super) asked_to_hold: bool,
    /// When the tool at work was called, and with what.
    pub(super) called: Option<(Instant, String)>,
    pub(super) words: GoalWords,
    pub(super) eyes: Option<Eyes>,
    /// What is planned of a goal that is only planned.
    pub(super) rehearsal: Option<Rehearsal>,
}

impl NodeWorld {
    /// Waits for an answer, or for what ends the goal.
    fn wait<T>(&self, call: impl Future<Output = Result<T, Fault>>) -> Result<T, Fault> {
        let mut interrupt = self.interrupt.clone();
        self.runtime.block_on(async move {
            tokio::select! {
                biased;
                fault = interrupted(&mut interrupt) => Err(fault),
                answer = call => answer,
            }
        })
    }

    /// Runs an action to its end; cancels it and waits for its end when the goal must end: the fault comes with the result
    /// then, if there is one.
    fn act<A: Action>(
        &self,
        client: &ActionClient<A>,
        goal: A::Goal,
        peer: &'static str,
    ) -> Result<A::Result, (Fault, Option<A::Result>)>
    where
        A::Result: Send,
    {
        self.act_heard(client, goal, peer, drop)
    }

    /// As [`act`](Self::act); `heard` gets the feedback.
    fn act_heard<A: Action>(
        &self,
        client: &ActionClient<A>,
        goal: A::Goal,
        peer: &'static str,
        heard: impl Fn(A::Feedback) + Send + 'static,
    ) -> Result<A::Result, (Fault, Option<A::Result>)>
    where
        A::Result: Send,
    {
        let mut interrupt = self.interrupt.clone();
        self.runtime.block_on(async move {
            let none = |error: &RosError| (lost(peer, error), None);
            let mut handle = client.send_goal(goal, ACCEPT).await.map_err(|error| none(&error))?;
            let mut told = handle.feedback();
            // It ends with the goal.
            tokio::spawn(async move {
                while let Some(feedback) = told.next().await {
                    heard(feedback);
                }
            });
            let fault = tokio::select! {
                biased;
                result = handle.result(SILENCE) => {
                    return result.map(|(_, result)| result).map_err(|error| none(&error));
                }
                fault = interrupted(&mut interrupt) => fault,
            };
            if let Err(error) = handle.cancel(CANCEL).await {
                tracing::warn!("{peer} was not cancelled: {error}");
            }
            // Whether it ended because of that or before: its result tells how far it came.
            let ended = match tokio::time::timeout(CANCEL, handle.result(SILENCE)).await {
                Ok(Ok((_, result))) => Some(result),
                Ok(Err(error)) => {
                    tracing::warn!("{peer} gave no result after its cancellation: {error}");
                    None
                }
                Err(_) => {
                    tracing::warn!("{peer} did not end within {CANCEL:?} of its cancellation");
                    None
                }
            };
            Err((fault, ended))
        })
    }

    /// The map and what is in the hand: it can be spoken of like the rest.
    fn with_in_hand(&self, map: Arc<ObjectMap>) -> Arc<ObjectMap> {
        let in_hand = self.clients.in_hand.borrow().clone().unwrap_or_default();
        match in_hand.objects.first().filter(|object| map.get(&object.key).is_none()) {
            Some(object) => {
                let mut map = ObjectMap::clone(&map);
                map.objects.push(object.clone());
                Arc::new(map)
            }
            None => map,
        }
    }

    /// The newest map that is at least this version.
    fn map_of(&self, version: u64) -> Result<Arc<ObjectMap>, Fault> {
        self.newest_of(self.clients.map.clone(), version)
    }

    /// Waits until the newest map is at least this version, so that nothing is planned with one from before; 0 is that of a skill that
    /// took none: before the first map there is nothing to wait for.
    fn catch_up(&self, version: u64) {
        if version == 0 {
            return;
        }
        if let Err(fault) = self.map_of(version) {
            tracing::debug!("{}", fault.message);
        }
    }

    /// Sends the base somewhere; its progress is told like that of a tool.
    fn errand(&self, goal: GoTo::Goal) -> Result<GoTo::Result, Fault> {
        let Some(driving) = &self.clients.driving else {
            return Err(Fault::new(Reason::Infeasible, "this robot does not drive"));
        };
        let told = self.feedback.clone();
        let heard = move |heard: GoTo::Feedback| {
            let near = if heard.distance_remaining > 0.0 {
                format!(" ({:.1} m)", heard.distance_remaining)
            } else {
                String::new()
            };
            let message = format!("{}: {}{near}", heard.phase, heard.message);
            // Nobody listens when the goal came through the service.
            let _ = told.send(ExecuteGoal::Feedback { tool: "go_to".to_owned(), message });
        };
        let result = self.act_heard(&driving.go_to, goal, "go_to", heard).map_err(|(fault, _)| fault)?;
        if result.error_code == ErrorCode::SUCCESS {
            return Ok(result);
        }
        let reason = Reason::parse(&result.reason).unwrap_or(Reason::Internal);
        Err(Fault::new(reason, result.error_message))
    }

    /// Drives where the map of the room is made and gives that map; `is_partial` says of what came of it whether it shows a part only.
    fn look_round(
        &mut self,
        goal: GoTo::Goal,
        is_partial: impl FnOnce(&GoTo::Result) -> bool,
    ) -> Result<Arc<ObjectMap>, Fault> {
        let result = self.errand(goal)?;
        match self.clients.driving.clone() {
            Some(driving) => {
                driving.partial.store(is_partial(&result), Ordering::Relaxed);
                self.newest_of(driving.room, result.map_version).map(|map| self.with_in_hand(map))
            }
            None => self.room_map(),
        }
    }

    /// The newest map of a topic that is at least this version.
    fn newest_of(
        &self,
        mut maps: watch::Receiver<Option<Arc<ObjectMap>>>,
        version: u64,
    ) -> Result<Arc<ObjectMap>, Fault> {
        self.wait(async move {
            let new_enough =
                |map: &Option<Arc<ObjectMap>>| map.as_ref().is_some_and(|m| m.version >= version);
            let found = tokio::time::timeout(MAP_PATIENCE, maps.wait_for(new_enough)).await;
            match found {
                Ok(Ok(map)) => Ok(map.clone().unwrap_or_default()),
                Ok(Err(_)) | Err(_) => Err(Fault::new(
                    Reason::SensorFault,
                    format!("object map version {version} was announced but not published"),
                )),
            }
        })
    }
}

impl World for NodeWorld {
    fn picture(&mut self) -> Option<Vec<u8>> {
        let eyes = self.eyes.clone()?;
        let map = self.newest_map().ok()?;
        self.wait(async move { Ok(eyes.look(&map).await) }).ok()?
    }

    fn words(&mut self) -> Option<&mut dyn Words> {
        Some(&mut self.words)
    }

    fn was_asked_to_hold(&self) -> bool {
        self.asked_to_hold
    }

    fn settle(&mut self) -> Result<SkillOutcome, Fault> {
        if self.rehearsal.is_some() {
            return Err(unforeseen());
        }
        let home = SkillRequest {
            skill: Skill::Home,
            object: ObjectKey::default(),
            targets: Vec::new(),
            relation: None,
            area: None,
            part: String::new(),
            effect: None,
            direction: None,
            map_version: 0,
        };
        let started = Instant::now();
        loop {
            match self.execute(&home) {
                // The skill of an earlier goal, or of an earlier life of this node, still brings the arm to a stop.
                Err(fault) if fault.reason == Reason::Busy && started.elapsed() < CANCEL => {
                    self.wait(async {
                        tokio::time::sleep(BUSY_PERIOD).await;
                        Ok(())
                    })?;
                }
                other => return other,
            }
        }
    }

    fn update_map(&mut self) -> Result<Arc<ObjectMap>, Fault> {
        let request = UpdateMap::Request {
            reset: false,
            view: "here".to_owned(),
            timeout: FRAME,
            ..Default::default()
        };
        let client = self.clients.update.clone();
        let answer = self.wait(async move {
            client.request(request, UPDATE).await.map_err(|error| lost("object_map", &error))
        })?;
        match answer.error_code {
            ErrorCode::SUCCESS => self.map_of(answer.version).map(|map| self.with_in_hand(map)),
            ErrorCode::MAP_NOTHING_SEEN => self.newest_map(),
            _ => Err(Fault::new(Reason::SensorFault, answer.error_message)),
        }
    }

    fn newest_map(&mut self) -> Result<Arc<ObjectMap>, Fault> {
        Ok(self.with_in_hand(self.clients.map.borrow().clone().unwrap_or_default()))
    }

    fn retrieve(&mut self, query: &str, k: u32, scope: Scope) -> Result<Retrieval, Fault> {
        let request = RetrieveObjects::Request { query: query.to_owned(), k, scope: scope.name().to_owned() };
        let client = self.clients.retrieve.clone();
        let answer = self.wait(async move {
            client.request(request, RETRIEVE).await.map_err(|error| lost("object_map", &error))
        })?;
        if scope == Scope::Local {
            // What was retrieved is there all the same; a skill will say when its map is another.
            self.catch_up(answer.map_version);
        }
        match answer.error_code {
            ErrorCode::SUCCESS => Ok(Retrieval {
                keys: answer.keys.into_iter().map(ObjectKey).collect(),
                rejected: answer
                    .rejected_keys
                    .into_iter()
                    .map(ObjectKey)
                    .zip(answer.rejected_reasons)
                    .map(|(key, reason)| Rejected { key, reason })
                    .collect(),
                doubtful: answer.doubtful_keys.into_iter().map(ObjectKey).collect(),
            }),
            ErrorCode::MAP_NOTHING_SEEN => Ok(Retrieval::default()),
            _ => Err(Fault::new(Reason::Internal, answer.error_message)),
        }
    }

    fn remembered(&mut self, description: &str) -> Vec<Remembered> {
        let client = self.clients.memory.clone();
        // Few robots have one; where there is one it may not have been found yet.
        let found = client.clone();
        let look = async move {
            while !found.is_available() {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        };
        if !matches!(self.wait(async move { Ok(tokio::time::timeout(DISCOVERY, look).await) }), Ok(Ok(()))) {
            return Vec::new();
        }
        let request =
            QueryMemory::Request { text: description.to_owned(), k: MOST_REMEMBERED, ..Default::default() };
        let answer = self.wait(async move {
            client.request(request, REMEMBER).await.map_err(|error| lost("memory", &error))
        });
        let mut things = match answer {
            Ok(answer) => answer.things,
            Err(fault) => {
                tracing::warn!("{}", fault.message);
                return Vec::new();
            }
        };
        let best = things.iter().map(|thing| thing.fits).fold(0.0, f64::max);
        things.retain(|thing| thing.fits >= AS_WELL * best);
        things.into_iter().filter_map(remembered).collect()
    }

    fn rooms(&self) -> bool {
        self.clients.driving.is_some()
    }

    fn room_map(&mut self) -> Result<Arc<ObjectMap>, Fault> {
        let room = self.clients.driving.as_ref().and_then(|driving| driving.room.borrow().clone());
        Ok(self.with_in_hand(room.unwrap_or_default()))
    }

    fn explore(&mut self) -> Result<Arc<ObjectMap>, Fault> {
        if self.rehearsal.is_some() {
            return Err(unforeseen());
        }
        let goal =
            GoTo::Goal { kind: "tour".to_owned(), goal_id: self.goal_id.clone(), ..Default::default() };
        self.look_round(goal, |seen| seen.missed > seen.keyframes / MISSED)
    }

    fn visit(&mut self, places: &[[f64; 3]]) -> Result<Arc<ObjectMap>, Fault> {
        if self.rehearsal.is_some() {
            return Err(unforeseen());
        }
        let goal = GoTo::Goal {
            kind: "visit".to_owned(),
            goal_id: self.goal_id.clone(),
            places: places.iter().map(|[x, y, z]| Point { x: *x, y: *y, z: *z }).collect(),
            ..Default::default()
        };
        // A look at a part of a room that is known leaves it known.
        let is_whole = self.room_map()?.version > 0 && !self.room_is_partial();
        self.look_round(goal, |_| !is_whole)
    }

    fn room_is_partial(&self) -> bool {
        self.clients.driving.as_ref().is_some_and(|driving| driving.partial.load(Ordering::Relaxed))
    }

    fn go_to(&mut self, object: &ObjectKey, intent: Option<&Intent>) -> Result<Arrival, Fault> {
        let goal = GoTo::Goal {
            kind: "object".to_owned(),
            object_key: object.0.clone(),
            intent: convert::intent_to_msg(intent),
            goal_id: self.goal_id.clone(),
            plan_only: self.rehearsal.is_some(),
            ..Default::default()
        };
        let result = self.errand(goal)?;
        if let Some(rehearsal) = &mut self.rehearsal {
            rehearsal.prospects.extend(result.prospects.iter().cloned());
        }
        let map_from_arm = convert::pose_from_msg(&result.map_from_arm)
            .map_err(|error| Fault::new(Reason::Internal, format!("go_to: {error}")))?;
        if result.moved {
            // What was detected is of another place.
            self.detected.clear();
        }
        let pose = [result.pose.x, result.pose.y, result.pose.theta];
        Ok(Arrival { moved: result.moved, pose, map_from_arm })
    }

    fn base_pose(&self) -> Option<[f64; 3]> {
        let Driving { tf, frame, base, .. } = self.clients.driving.as_ref()?;
        let pose = tf.lookup(frame, base, &Default::default()).ok()?.isometry();
        let forward = pose.rotation * Vector3::x();
        Some([pose.translation.x, pose.translation.y, forward.y.atan2(forward.x)])
    }

    fn detect_affordance(&mut self, object: &ObjectKey, intent: &Intent) -> Result<Vec<Part>, Fault> {
        let goal = DetectAffordance::Goal {
            object_key: object.0.clone(),
            intent: convert::intent_to_msg(Some(intent)),
            goal_id: self.goal_id.clone(),
            ..Default::default()
        };
        let result = self.act(&self.clients.affordance, goal, "affordance").map_err(|(fault, _)| fault)?;
        let reason = match result.error_code {
            // Thin evidence is for the gate to judge: it names the remedy.
            ErrorCode::SUCCESS | ErrorCode::AFFORDANCE_NOT_COMMITTED => None,
            ErrorCode::AFFORDANCE_UNKNOWN_KEY => Some(Reason::NotFound),
            ErrorCode::AFFORDANCE_NONE_FOUND => Some(Reason::NoGrasp),
            ErrorCode::AFFORDANCE_MAP_LOST => Some(Reason::PeerLost),
            ErrorCode::AFFORDANCE_VERIFIER_LOST => Some(Reason::VerifierLost),
            _ => Some(Reason::Internal),
        };
        if let Some(reason) = reason {
            return Err(Fault::new(reason, result.error_message));
        }
        let parts = result
            .affordances
            .iter()
            .filter_map(|affordance| {
                let skill = Skill::parse(&affordance.skill)?;
                Some(Part { name: affordance.part.clone(), skill, score: f64::from(affordance.score) })
            })
            .collect();
        self.detected.insert(object.clone(), (result.affordances, result.assessment_id));
        Ok(parts)
    }

    fn step_planned(&mut self, step: &PlannedStep) {
        if let Some(rehearsal) = &mut self.rehearsal {
            rehearsal.step(step);
        }
    }

    fn execute(&mut self, request: &SkillRequest) -> Result<SkillOutcome, Fault> {
        let (affordances, assessment_id) = self.detected.get(&request.object).cloned().unwrap_or_default();
        let affordances = chosen_first(affordances, request);
        // Which way the part shall move is said of the part that was found.
        let normal = affordances.first().map(|a| Vector3::new(a.normal.x, a.normal.y, a.normal.z));
        let direction = match (request.direction, normal) {
            (Some(way), Some(normal)) => way.vector(&normal),
            _ => Vector3::zeros(),
        };
        let goal = ExecuteSkill::Goal {
            skill: request.skill.name().to_owned(),
            object_key: request.object.0.clone(),
            target_keys: request.targets.iter().map(|key| key.0.clone()).collect(),
            relation: request.relation.map_or("", Relation::name).to_owned(),
            area: request.area.map_or_else(Vec::new, |area| area.corners().to_vec()),
            part: request.part.clone(),
            goal_id: self.goal_id.clone(),
            map_version: request.map_version,
            affordances,
            assessment_id,
            effect: request.effect.map_or("", PartEffect::name).to_owned(),
            direction: convert::vector_to_msg(&direction),
            extent: 0.0,
            plan_only: self.rehearsal.is_some(),
            assumed: self
                .rehearsal
                .as_ref()
                .map_or_else(Vec::new, |rehearsal| rehearsal.assumed(request.skill)),
        };
        let outcome_of = |result: &ExecuteSkill::Result| SkillOutcome {
            held: (!result.held_object.is_empty()).then(|| ObjectKey(result.held_object.clone())),
            map_stale: result.map_stale,
        };
        let result = self.act(&self.clients.skills, goal, "skills").map_err(|(fault, ended)| {
            // Cut short: things may be elsewhere, whatever the skill got to.
            let after = ended.map(|result| SkillOutcome { map_stale: true, ..outcome_of(&result) });
            Fault { after, ..fault }
        })?;
        if let Some(rehearsal) = &mut self.rehearsal {
            return rehearsal.planned(request, result);
        }
        let outcome = outcome_of(&result);
        self.catch_up(result.map_version);
        if result.error_code == ErrorCode::SUCCESS {
            return Ok(outcome);
        }
        let reason = Reason::parse(&result.reason).unwrap_or(Reason::Internal);
        let in_the_way = result.in_the_way.into_iter().map(ObjectKey).collect();
        Err(Fault { in_the_way, after: Some(outcome), ..Fault::new(reason, result.error_message) })
    }

    fn interrupted(&self) -> Option<Fault> {
        self.interrupt.borrow().clone()
    }

    fn compared(&mut self, comparison: &Comparison) {
        let Comparison { by, measured, taken, why_none } = comparison;
        let list = |keys: &[ObjectKey]| keys.iter().map(|key| key.0.as_str()).collect::<Vec<_>>().join(", ");
        let (status, message) = match why_none.as_str() {
            "" => ("ok", format!("of {} by {by}: {}", measured.len(), list(taken))),
            why => ("failed", format!("of {} by {by}: {why}", measured.len())),
        };
        let finite = measured.iter().filter(|(_, value)| value.is_finite());
        let measured: Vec<_> = finite.map(|(key, value)| json!({ "key": key.0, "value": value })).collect();
        let taken: Vec<&str> = taken.iter().map(|key| key.0.as_str()).collect();
        let data = json!({ "by": by, "measured": measured, "taken": taken });
        self.trace.event(&self.goal_id, TraceEvent::KIND_EVIDENCE, "comparison", status, message, data);
    }

    fn tool_called(&mut self, name: &str, arguments: &str) {
        self.called = Some((Instant::now(), arguments.to_owned()));
        let feedback = ExecuteGoal::Feedback { tool: name.to_owned(), message: arguments.to_owned() };
        // Nobody listens when the goal came through the service.
        let _ = self.feedback.send(feedback);
    }

    fn tool_answered(&mut self, name: &str, output: &ToolOutput) {
        let (seconds, arguments) = self
            .called
            .take()
            .map_or((0.0, String::new()), |(since, arguments)| (since.elapsed().as_secs_f64(), arguments));
        let status = if output.success { "ok" } else { "failed" };
        let planned = if self.rehearsal.is_some() { "only planned: " } else { "" };
        let message = format!("({arguments}) -> {planned}{}", output.feedback_msg);
        let data = json!({ "arguments": arguments, "output": output, "seconds": seconds, "plan_only": self.rehearsal.is_some() });
        self.trace.event(&self.goal_id, TraceEvent::KIND_TOOL, name, status, message, data);
        // Where the base stands is of use to others before the goal has ended; what would be held is not held.
        if let (Some(ToolValue::State(state)), None) = (&output.output, &self.rehearsal) {
            self.clients.tell_state(state, &self.goal_id);
        }
    }

    fn model_said(&mut self, turn: &Turn) {
        let calls: Vec<&str> = turn.calls.iter().map(|call| call.name.as_str()).collect();
        let usage = &turn.usage;
        let message = format!(
            "calls {}; {} tokens read, {} written, {:.2} s",
            if calls.is_empty() { "nothing".to_owned() } else { calls.join(", ") },
            usage.tokens_in,
            usage.tokens_out,
            usage.seconds
        );
        let data = json!({ "turn": turn });
        self.trace.event(&self.goal_id, TraceEvent::KIND_TOOL, "model", "ok", &message, data);
    }
}

/// The part that a skill on a part acts on comes first: of its name and skill, as the detection ranked them.
fn chosen_first(mut affordances: Vec<Affordance>, request: &SkillRequest) -> Vec<Affordance> {
    if request.skill.acts_on_part() {
        let chosen =
            affordances.iter().position(|a| a.part == request.part && a.skill == request.skill.name());
        if let Some(place) = chosen {
            affordances[..=place].rotate_right(1);
        }
    }
    affordances
}

/// What a goal that is only planned comes to where it would have to look or drive first.
fn unforeseen() -> Fault {
    Fault::new(Reason::NotFound, "I would have to look round first: what comes then is not known before.")
}

/// A call that got no answer, as a fault.
fn lost(peer: &'static str, error: &RosError) -> Fault {
    let reason = match error {
        RosError::Timeout { .. } | RosError::Unavailable { .. } | RosError::PeerLost { .. } => {
            Reason::PeerLost
        }
        RosError::Rejected { .. } => Reason::Busy,
        _ => Reason::Internal,
    };
    Fault::new(reason, format!("{peer}: {error}"))
}

/// A thing of the memory; `None` when its place is none.
fn remembered(thing: MemoryThing) -> Option<Remembered> {
    let center = convert::pose_from_msg(&thing.pose).ok()?.translation.vector.into();
    let seen = convert::seconds(&thing.last_seen);
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(seen, |since| since.as_secs_f64());
    Some(Remembered {
        words: thing.words,
        on: thing.on,
        room: thing.room,
        center,
        ago: (now - seen).max(0.0),
        still_there: thing.still_there,
    })
}
