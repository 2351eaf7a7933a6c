//! The memory node: what the robot has seen of a building, over all sessions, in a file or on a server (Affordance RAG IV).
//!
//! It listens to the map of the room (on a robot without a base: to the map of the table), keeps each view as it comes (what is looked
//! at now may be in the hand a moment later), and learns from what the verifier saw of actions. A store that is gone, full or of another
//! version costs the memory, not the robot: every answer says so, and the next one tries again.

mod answer;
pub mod encoder;
mod keeper;
mod lessons;
mod looks;
mod marks;
mod models;
mod settings;
mod views;

use crate::waiting::{finished, respond};
use futures::{FutureExt, StreamExt};
use keeper::Keeper;
use lessons::{Lesson, Lessons, Taught};
use looks::Looks;
use models::{Models, Said, Waiting};
use prehend_msgs::names;
use prehend_msgs::prehend_interfaces::msg::{
    ArticulatedThings, ErrorCode, ObjectMap as ObjectMapMsg, Outcome, SymbolicState, TraceEvent,
};
use prehend_msgs::prehend_interfaces::srv::{QueryMemory, WriteMemory};
use prehend_robots::shell::{NodeError, NodeOptions, Shell, Trace};
use prehend_ros::{QosProfile, ServiceRequest, Subscription};
use prehend_scene::Scope;
use serde_json::json;
use settings::Chosen;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use tokio::task::JoinHandle;
use views::Views;

/// Most keys of local maps that are known by name.
const MOST_SHOWN: usize = 2000;
/// What is answered while the node is not active.
const INACTIVE: &str = "the node memory is not active; ros2 lifecycle set .../memory activate";
/// How long views that are on their way at the end of a session may take.
const LAST: Duration = Duration::from_secs(3);

enum Event {
    Query(ServiceRequest<QueryMemory::Service>),
    Write(ServiceRequest<WriteMemory::Service>),
    Map(ObjectMapMsg),
    Local(ObjectMapMsg),
    State(SymbolicState),
    Outcome(Outcome),
    Moving(ArticulatedThings),
    Kept,
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
    let chosen = Chosen::read(shell.node.parameters())?;
    let looks = Looks::new(now());
    let session = looks.session();
    let keeper = Arc::new(Mutex::new(Keeper::new(&shell, session.clone()).await?));
    let shown = chosen.proposer.as_ref().map_or(0, |(_, most)| *most);
    let (waiting, models) = background(chosen, &keeper, &shell.trace).unzip();
    let mut worker = Worker {
        trace: shell.trace.clone(),
        lessons: Lessons::new(Arc::clone(&keeper), shell.trace.clone()),
        views: Views {
            trace: shell.trace.clone(),
            keeper: Arc::clone(&keeper),
            objects: shell.node.create_client(names::OBJECT_MAP_GET_OBJECT, services)?,
            scope,
            looks: Arc::new(Mutex::new(looks)),
            waiting,
            shown,
        },
        _models: models,
        keeper,
        session,
        keeping: None,
        waiting: None,
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
    let mut moving: Subscription<ArticulatedThings> = shell.node.subscribe(names::ARTICULATED, latched)?;
    shell.configured();
    let shutdown = shell.shutdown();
    tokio::pin!(shutdown);
    loop {
        let event = tokio::select! {
            () = &mut shutdown => Event::Shutdown,
            Some(request) = queries.next() => Event::Query(request),
            Some(request) = writes.next() => Event::Write(request),
            Some(map) = maps.next() => Event::Map(map),
            Some(map) = locals.next() => Event::Local(map),
            Some(state) = states.next() => Event::State(state),
            Some(outcome) = outcomes.next() => Event::Outcome(outcome),
            Some(things) = moving.next() => Event::Moving(things),
            () = finished(&mut worker.keeping) => Event::Kept,
        };
        match event {
            Event::Query(request) if !shell.is_active() => {
                let (error_code, error_message) = (ErrorCode::MEMORY_UNAVAILABLE, INACTIVE.to_owned());
                respond(request, QueryMemory::Response { error_code, error_message, things: Vec::new() });
            }
            Event::Write(request) if !shell.is_active() => {
                let (error_code, error_message) = (ErrorCode::MEMORY_UNAVAILABLE, INACTIVE.to_owned());
                respond(request, WriteMemory::Response { error_code, error_message, changed: 0 });
            }
            Event::Query(request) => worker.query(request),
            Event::Write(request) => worker.write(request),
            Event::Map(map) => worker.keep(map),
            Event::Local(map) => worker.show(&map),
            Event::State(state) => worker.at_object = Some(state.at_object).filter(|key| !key.is_empty()),
            Event::Outcome(outcome) => worker.learn(outcome),
            Event::Moving(things) => worker.learn_models(things),
            Event::Kept => worker.kept(),
            Event::Shutdown => {
                while let Some(Some(outcome)) = outcomes.next().now_or_never() {
                    worker.learn(outcome);
                }
                worker.end().await;
                return Ok(());
            }
        }
    }
}

/// A task that ends with this.
struct Background(JoinHandle<()>);

impl Drop for Background {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// Begins to ask the models, if there are some; what waits for them goes into the first.
fn background(chosen: Chosen, keeper: &Arc<Mutex<Keeper>>, trace: &Trace) -> Option<(Waiting, Background)> {
    let Chosen { proposer, summariser } = chosen;
    if proposer.is_none() && summariser.is_none() {
        return None;
    }
    let (waiting, trace) = (Waiting::default(), trace.clone());
    let models = Models {
        proposer: proposer.map(|(proposer, _)| proposer),
        summariser,
        keeper: Arc::clone(keeper),
        waiting: waiting.clone(),
        tell: move |said| match said {
            Said::Done(status, message) => {
                trace.event("", TraceEvent::KIND_EVIDENCE, "memory", status, message, json!({}));
            }
            Said::Changed(message) => {
                tracing::warn!("{message}");
                trace.event("", TraceEvent::KIND_WARNING, "memory", "model", message, json!({}));
            }
        },
    };
    Some((waiting, Background(tokio::spawn(models.run()))))
}

/// Seconds since 1970. What is remembered outlives every clock of a simulation.
fn now() -> f64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, |since| since.as_secs_f64())
}

/// The value, also after a panic of whoever held it: each use of it is whole or not at all.
fn locked<T>(value: &Mutex<T>) -> MutexGuard<'_, T> {
    value.lock().unwrap_or_else(PoisonError::into_inner)
}

struct Worker {
    trace: Trace,
    keeper: Arc<Mutex<Keeper>>,
    lessons: Lessons,
    views: Views,
    /// Asks models, if there are some; what they have not said at the end of a session is not waited for.
    _models: Option<Background>,
    /// What remembered keys of this session begin with.
    session: String,
    /// The views that are on their way.
    keeping: Option<JoinHandle<()>>,
    /// The newest map that came while those were on their way.
    waiting: Option<ObjectMapMsg>,
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
            let response = locked(&keeper).query(&asked, now());
            respond(request, response);
        });
    }

    fn write(&self, request: ServiceRequest<WriteMemory::Service>) {
        let (keeper, trace) = (Arc::clone(&self.keeper), self.trace.clone());
        tokio::task::spawn_blocking(move || {
            let asked = request.message.clone();
            let response = locked(&keeper).write(&asked, now());
            let status = if response.error_code == ErrorCode::SUCCESS { "done" } else { "failed" };
            let said = match status {
                "done" => format!("{}: {} records", asked.what, response.changed),
                _ => response.error_message.clone(),
            };
            trace.event("", TraceEvent::KIND_TOOL, "memory", status, said, json!({ "what": asked.what }));
            respond(request, response);
        });
    }

    /// Keeps the views of a map; those of the one before come first.
    fn keep(&mut self, map: ObjectMapMsg) {
        if self.keeping.is_some() {
            self.waiting = Some(map);
        } else {
            self.keeping = Some(tokio::spawn(self.views.clone().keep(map)));
        }
    }

    /// The views that were on their way are kept; now those of the map that waits.
    fn kept(&mut self) {
        self.keeping = None;
        if let Some(map) = self.waiting.take() {
            self.keep(map);
        }
    }

    /// Keeps and learns what is on its way, if that does not take too long.
    async fn end(mut self) {
        let kept = async {
            while self.keeping.is_some() {
                finished(&mut self.keeping).await;
                self.kept();
            }
        };
        if tokio::time::timeout(LAST, kept).await.is_err() {
            tracing::warn!("the last views are not remembered: the store is slow");
        }
        self.lessons.end().await;
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
    fn learn(&self, outcome: Outcome) {
        let Some(words) = self.shown.get(&outcome.object_key).cloned() else { return };
        if let Some(key) = self.remembered(&outcome.object_key) {
            self.lessons.add(Lesson { what: Taught::Outcome(outcome), words, key });
        }
    }

    /// Learns how the parts of things of the local map move, of those that were described.
    fn learn_models(&self, things: ArticulatedThings) {
        for thing in things.things.into_iter().filter(|thing| !thing.key.is_empty()) {
            if let Some(key) = self.remembered(&thing.key) {
                self.lessons.add(Lesson { what: Taught::Model(thing.urdf), words: thing.class_name, key });
            }
        }
    }

    /// The key by which something of the local map is remembered: in a room the thing is at what was driven to; on a table its own key
    /// says which it is.
    fn remembered(&self, key: &str) -> Option<String> {
        let key = match self.views.scope {
            Scope::Room => self.at_object.clone(),
            Scope::Local => Some(key.to_owned()),
        };
        key.map(|key| format!("{}{key}", self.session))
    }
}
