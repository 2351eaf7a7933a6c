//! The memory node: what the robot has seen of a building, over all sessions, in a file or on a server (Affordance RAG IV).
//!
//! It listens to the map of the room (on a robot without a base: to the map of the table), keeps each view once the map has been still
//! for a moment, and learns from what the verifier saw of actions. A store that is gone, full or of another version costs the memory,
//! not the robot: every answer says so, and the next one tries again.

mod answer;
mod keeper;
mod looks;

use crate::convert;
use crate::shell::{NodeError, NodeOptions, Shell, Trace};
use futures::{FutureExt, StreamExt};
use keeper::{Keeper, Kept};
use looks::Looks;
use prehend_msgs::names;
use prehend_msgs::prehend_interfaces::msg::{
    ErrorCode, ObjectMap as ObjectMapMsg, Outcome, SymbolicState, TraceEvent,
};
use prehend_msgs::prehend_interfaces::srv::{GetObject, QueryMemory, WriteMemory};
use prehend_ros::{Client, QosProfile, ServiceRequest, Subscription};
use prehend_scene::{Object, ObjectKey, Scope};
use serde_json::json;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use tokio::time::Instant;

/// Deadline of each call to another node.
const DEADLINE: Duration = Duration::from_secs(3);
/// Most keys of local maps that are known by name.
const MOST_SHOWN: usize = 2000;
/// What is answered while the node is not active.
const INACTIVE: &str = "the node memory is not active; ros2 lifecycle set .../memory activate";
/// The map has been still for so long when its views are kept.
const STILL: Duration = Duration::from_millis(1500);

enum Event {
    Query(ServiceRequest<QueryMemory::Service>),
    Write(ServiceRequest<WriteMemory::Service>),
    Map(ObjectMapMsg),
    Local(ObjectMapMsg),
    State(SymbolicState),
    Outcome(Outcome),
    Still,
    Shutdown,
}

/// Runs the node until it is told to stop.
pub async fn run(options: NodeOptions) -> Result<(), NodeError> {
    Shell::start("memory", &options).await?.live(serve).await
}

/// Takes in the configuration and serves until it is to be given back.
async fn serve(shell: Shell) -> Result<(), NodeError> {
    let scope = if shell.robot.navigation.is_some() { Scope::Room } else { Scope::Local };
    let services = QosProfile::services();
    let looks = Looks::new(now());
    let mut worker = Worker {
        trace: shell.trace.clone(),
        keeper: Arc::new(Mutex::new(Keeper::new(&shell, looks.session())?)),
        objects: shell.node.create_client(names::OBJECT_MAP_GET_OBJECT, services)?,
        scope,
        looks,
        heard: None,
        shown: BTreeMap::new(),
        at_object: None,
    };
    let mut queries = shell.node.create_service::<QueryMemory::Service>(names::MEMORY_QUERY, services)?;
    let mut writes = shell.node.create_service::<WriteMemory::Service>(names::MEMORY_WRITE, services)?;
    let maps = if scope == Scope::Room { names::ROOM_MAP } else { names::OBJECT_MAP };
    let latched = QosProfile::transient_local();
    let mut maps: Subscription<ObjectMapMsg> = shell.node.subscribe(maps, latched)?;
    let mut locals: Subscription<ObjectMapMsg> = shell.node.subscribe(names::OBJECT_MAP, latched)?;
    let mut states: Subscription<SymbolicState> = shell.node.subscribe(names::STATE, latched)?;
    let mut outcomes: Subscription<Outcome> =
        shell.node.subscribe(names::VERIFIER_OUTCOME, QosProfile::default())?;
    shell.configured();
    let shutdown = shell.shutdown();
    tokio::pin!(shutdown);
    loop {
        let still = worker.heard.as_ref().map(|(since, _)| *since + STILL);
        let event = tokio::select! {
            () = &mut shutdown => Event::Shutdown,
            Some(request) = queries.next() => Event::Query(request),
            Some(request) = writes.next() => Event::Write(request),
            Some(map) = maps.next() => Event::Map(map),
            Some(map) = locals.next() => Event::Local(map),
            Some(state) = states.next() => Event::State(state),
            Some(outcome) = outcomes.next() => Event::Outcome(outcome),
            () = until(still) => Event::Still,
        };
        match event {
            Event::Query(request) if !shell.is_active() => {
                let (error_code, error_message) = (ErrorCode::MEMORY_UNAVAILABLE, INACTIVE.to_owned());
                answered(request, QueryMemory::Response { error_code, error_message, things: Vec::new() });
            }
            Event::Write(request) if !shell.is_active() => {
                let (error_code, error_message) = (ErrorCode::MEMORY_UNAVAILABLE, INACTIVE.to_owned());
                answered(request, WriteMemory::Response { error_code, error_message, changed: 0 });
            }
            Event::Query(request) => worker.query(request),
            Event::Write(request) => worker.write(request),
            Event::Map(map) => worker.heard = Some((Instant::now(), map)),
            Event::Local(map) => worker.show(&map),
            Event::State(state) => worker.at_object = Some(state.at_object).filter(|key| !key.is_empty()),
            Event::Outcome(outcome) => worker.learn(&outcome),
            Event::Still => {
                if let Some((_, map)) = worker.heard.take() {
                    worker.keep(&map).await;
                }
            }
            Event::Shutdown => {
                // What came while views were fetched is learned all the same.
                while let Some(Some(outcome)) = outcomes.next().now_or_never() {
                    worker.learn(&outcome);
                }
                return Ok(());
            }
        }
    }
}

/// At this time, or never.
async fn until(time: Option<Instant>) {
    match time {
        Some(time) => tokio::time::sleep_until(time).await,
        None => std::future::pending().await,
    }
}

/// Seconds since 1970. What is remembered outlives every clock of a simulation.
fn now() -> f64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, |since| since.as_secs_f64())
}

fn answered<S: prehend_msgs::Service>(request: ServiceRequest<S>, response: S::Response) {
    if let Err(error) = request.respond(response) {
        tracing::warn!("answer not sent: {error}");
    }
}

struct Worker {
    trace: Trace,
    keeper: Arc<Mutex<Keeper>>,
    objects: Client<GetObject::Service>,
    /// Which map is remembered.
    scope: Scope,
    looks: Looks,
    /// The newest map, and when it came; taken once it is still.
    heard: Option<(Instant, ObjectMapMsg)>,
    /// Colour and name of what the maps that skills act on have shown, by key: what is held is in no map.
    shown: BTreeMap<String, String>,
    /// Where the base stands: a key of the map of the room.
    at_object: Option<String>,
}

impl Worker {
    /// Answers on a thread that may wait for the store.
    fn query(&self, request: ServiceRequest<QueryMemory::Service>) {
        let keeper = Arc::clone(&self.keeper);
        tokio::task::spawn_blocking(move || {
            let asked = request.message.clone();
            let mut keeper = keeper.lock().unwrap_or_else(PoisonError::into_inner);
            let response = keeper.query(&asked, now());
            drop(keeper);
            answered(request, response);
        });
    }

    fn write(&self, request: ServiceRequest<WriteMemory::Service>) {
        let (keeper, trace) = (Arc::clone(&self.keeper), self.trace.clone());
        tokio::task::spawn_blocking(move || {
            let asked = request.message.clone();
            let mut keeper = keeper.lock().unwrap_or_else(PoisonError::into_inner);
            let response = keeper.write(&asked, now());
            drop(keeper);
            let status = if response.error_code == ErrorCode::SUCCESS { "done" } else { "failed" };
            let said = match status {
                "done" => format!("{}: {} records", asked.what, response.changed),
                _ => response.error_message.clone(),
            };
            trace.event("", TraceEvent::KIND_TOOL, "memory", status, said, json!({ "what": asked.what }));
            answered(request, response);
        });
    }

    /// Keeps the views of a map that are not kept yet.
    async fn keep(&mut self, map: &ObjectMapMsg) {
        let mut objects = Vec::new();
        for known in &map.objects {
            match self.fetch(&known.key).await {
                Ok(Some(object)) => objects.push(object),
                // It is gone again.
                Ok(None) => {}
                // Nothing waits for a node that is lost; the next map brings the views again.
                Err(said) => return tracing::warn!("what was seen is not remembered: {said}"),
            }
        }
        let looks = self.looks.new_ones(&objects);
        if looks.is_empty() {
            return;
        }
        let keeper = Arc::clone(&self.keeper);
        let kept = tokio::task::spawn_blocking(move || {
            let mut keeper = keeper.lock().unwrap_or_else(PoisonError::into_inner);
            keeper.observe(looks, now())
        })
        .await;
        let lost = || (Kept::default(), Err("keeping ended without a result".to_owned()));
        let (noted, result) = kept.unwrap_or_else(|_| lost());
        match result {
            Ok(()) => {
                let Kept { views, known, new, missed } = noted;
                let data = json!({ "views": views, "known": known, "new": new, "missed": missed });
                let said =
                    format!("{views} views: {known} things known, {new} new, {missed} not where they were");
                self.trace.event("", TraceEvent::KIND_EVIDENCE, "memory", "kept", said, data);
            }
            Err(said) => {
                // The rest is kept with the next map.
                self.looks.take_back(noted.views);
                tracing::warn!("what was seen is not remembered: {said}");
                self.trace.event("", TraceEvent::KIND_WARNING, "memory", "failed", said, json!({}));
            }
        }
    }

    /// An object with its pictures; `None` when it is not there any more.
    async fn fetch(&self, key: &str) -> Result<Option<Object>, String> {
        let request =
            GetObject::Request { key: key.to_owned(), with_crops: true, scope: self.scope.name().to_owned() };
        let answer = self.objects.request(request, DEADLINE).await.map_err(|error| error.to_string())?;
        match answer.error_code {
            ErrorCode::SUCCESS => {
                convert::object_with_crops_from_msg(&answer).map(Some).map_err(|error| error.to_string())
            }
            _ => Ok(None),
        }
    }

    fn show(&mut self, map: &ObjectMapMsg) {
        for object in &map.objects {
            let words = format!("{} {}", object.color_name, object.class_name);
            self.shown.insert(object.key.clone(), words.trim().to_owned());
        }
        // Keys of long ago say nothing any more.
        if self.shown.len() > MOST_SHOWN {
            self.shown.retain(|key, _| map.objects.iter().any(|object| object.key == *key));
        }
    }

    /// Learns from what became of an action on something of the local map.
    fn learn(&self, outcome: &Outcome) {
        let Some(words) = self.shown.get(&outcome.object_key).cloned() else { return };
        // In a room the thing is at what was driven to; on a table its own key says which it is.
        let key = match self.scope {
            Scope::Room => self.at_object.clone(),
            Scope::Local => Some(outcome.object_key.clone()),
        };
        let Some(key) = key else { return };
        let key = self.looks.key(&ObjectKey(key));
        let (keeper, trace, outcome) = (Arc::clone(&self.keeper), self.trace.clone(), outcome.clone());
        tokio::task::spawn_blocking(move || {
            let mut keeper = keeper.lock().unwrap_or_else(PoisonError::into_inner);
            let learned = keeper.learn(&outcome, &words, &key, now());
            drop(keeper);
            match learned {
                Ok(Some(said)) => trace.event(
                    "",
                    TraceEvent::KIND_EVIDENCE,
                    "memory",
                    "learned",
                    said,
                    json!({ "object": outcome.object_key, "skill": outcome.skill }),
                ),
                Ok(None) => {}
                Err(error) => tracing::warn!("an outcome is not remembered: {error}"),
            }
        });
    }
}
