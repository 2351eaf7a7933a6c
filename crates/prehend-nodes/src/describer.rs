//! The describer: what the robot knows of things with moving parts, from the ways of the hand and the looks before and after.
//!
//! It listens to the object map and to [`names::HAND_WAY`], describes what was moved as soon as it is looked at again, keeps the
//! descriptions in a folder, and tells who opens and closes things where their joints are. It moves nothing. Without it everything works
//! as if each drawer were the first.

mod keeper;
mod store;

use crate::waiting::{finished, respond};
use futures::StreamExt;
use keeper::{Done, Keeper};
use prehend_convert as convert;
use prehend_msgs::names;
use prehend_msgs::prehend_interfaces::msg::{
    ArticulatedThings, ErrorCode, HandWay, ObjectMap as ObjectMapMsg, TraceEvent,
};
use prehend_msgs::prehend_interfaces::srv::Describe;
use prehend_robots::shell::{NodeError, NodeOptions, Shell, Trace};
use prehend_ros::{Publisher, QosProfile, ServiceRequest};
use serde_json::json;
use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::task::JoinHandle;

/// What is answered while the node is not active.
const INACTIVE: &str = "the node describer is not active; ros2 lifecycle set .../describer activate";
/// How long what waits at the end of a session may take.
const LAST: Duration = Duration::from_secs(5);
/// Most that waits; what is more is the oldest, and is forgotten.
const MOST_WAITING: usize = 64;

/// What is done one after the other, in the order in which it came.
enum Task {
    Map(Box<ObjectMapMsg>),
    Way(HandWay),
    Ask(ServiceRequest<Describe::Service>),
}

/// Runs the node until it is told to stop.
pub async fn run(options: NodeOptions) -> Result<(), NodeError> {
    Shell::start("describer", &options).await?.live(serve).await
}

/// Takes in the configuration and serves until it is to be given back.
async fn serve(shell: Shell) -> Result<(), NodeError> {
    let parameters = shell.node.parameters();
    let store = parameters.string_or("store", "")?;
    parameters.describe(
        "store",
        "Folder in which descriptions are kept over all sessions; empty keeps them for this one.",
    );
    parameters.finish()?;
    let folder = (!store.is_empty()).then(|| PathBuf::from(store));
    // They may be many, and large.
    let read = {
        let folder = folder.clone();
        tokio::task::spawn_blocking(move || store::read(folder.as_deref())).await
    };
    let (known, unread) =
        read.map_err(|error| NodeError::Start { node: "describer", reason: error.to_string() })?;
    for reason in unread {
        tracing::warn!("a description is left where it is: {reason}");
        shell.trace.event("", TraceEvent::KIND_WARNING, "describer", "unread", reason, json!({}));
    }
    let mut worker = Worker {
        trace: shell.trace.clone(),
        keeper: Arc::new(Mutex::new(Keeper::new(known, folder))),
        list: shell.node.create_publisher(names::ARTICULATED, QosProfile::transient_local())?,
        waiting: VecDeque::new(),
        under_way: None,
    };
    let services = QosProfile::services();
    let mut asks = shell.node.create_service::<Describe::Service>(names::DESCRIBE, services)?;
    let mut maps = shell.node.subscribe::<ObjectMapMsg>(names::OBJECT_MAP, QosProfile::transient_local())?;
    let mut ways = shell.node.subscribe::<HandWay>(names::HAND_WAY, QosProfile::default())?;
    shell.configured();
    let shutdown = shell.shutdown();
    tokio::pin!(shutdown);
    loop {
        tokio::select! {
            () = &mut shutdown => {
                worker.end().await;
                return Ok(());
            }
            Some(request) = asks.next() => {
                if shell.is_active() {
                    worker.add(Task::Ask(request));
                } else {
                    respond(request, refused(ErrorCode::DESCRIBER_UNAVAILABLE, INACTIVE.to_owned()));
                }
            }
            Some(map) = maps.next() => worker.add(Task::Map(Box::new(map))),
            Some(way) = ways.next() => worker.add(Task::Way(way)),
            () = finished(&mut worker.under_way) => worker.next(),
        }
    }
}

fn refused(error_code: i32, error_message: String) -> Describe::Response {
    Describe::Response { error_code, error_message, ..Default::default() }
}

struct Worker {
    trace: Trace,
    keeper: Arc<Mutex<Keeper>>,
    list: Publisher<ArticulatedThings>,
    waiting: VecDeque<Task>,
    under_way: Option<JoinHandle<()>>,
}

impl Worker {
    fn add(&mut self, task: Task) {
        // Of maps that wait side by side the newest one is enough.
        if matches!((&task, self.waiting.back()), (Task::Map(_), Some(Task::Map(_)))) {
            self.waiting.pop_back();
        }
        self.waiting.push_back(task);
        if self.waiting.len() > MOST_WAITING {
            tracing::warn!("there is more to describe than is done; the oldest is left out");
            self.waiting.pop_front();
        }
        if self.under_way.is_none() {
            self.next();
        }
    }

    /// Does what still waits, if that does not take too long: what was moved last is known the next time.
    async fn end(mut self) {
        let done = async {
            while self.under_way.is_some() {
                finished(&mut self.under_way).await;
                self.next();
            }
        };
        if tokio::time::timeout(LAST, done).await.is_err() {
            tracing::warn!("what was moved last is not kept: it takes too long to describe");
        }
    }

    /// Begins the next task on a thread that may take its time.
    fn next(&mut self) {
        self.under_way = None;
        let Some(task) = self.waiting.pop_front() else { return };
        let (keeper, list, trace) = (Arc::clone(&self.keeper), self.list.clone(), self.trace.clone());
        self.under_way = Some(tokio::task::spawn_blocking(move || {
            let mut keeper = keeper.lock().unwrap_or_else(PoisonError::into_inner);
            let done = match task {
                Task::Map(map) => match convert::map_from_msg(&map) {
                    Ok(map) => keeper.take_map(map),
                    Err(error) => {
                        tracing::warn!("object map refused: {error}");
                        return;
                    }
                },
                Task::Way(way) => match convert::hand_way_from_msg(&way) {
                    Ok(read) => keeper.take_way(&read, way.map_version),
                    Err(error) => {
                        tracing::warn!("the way of a hand is refused: {error}");
                        return;
                    }
                },
                Task::Ask(request) => {
                    let (response, done) = keeper.describe(&request.message);
                    respond(request, response);
                    done
                }
            };
            tell(&trace, &list, done);
        }));
    }
}

fn tell(trace: &Trace, publisher: &Publisher<ArticulatedThings>, done: Done) {
    for (status, message) in done.said {
        let kind = if status == "described" { TraceEvent::KIND_EVIDENCE } else { TraceEvent::KIND_WARNING };
        trace.event("", kind, "describer", status, message, json!({}));
    }
    if let Some(list) = done.list
        && let Err(error) = publisher.publish(&list)
    {
        tracing::warn!("what is known of moving parts was not published: {error}");
    }
}
