//! What a page shows, gathered once for all pages: the state, the lines of the trace, the camera's picture.

use crate::json::{map_json, state_json};
use crate::node::NodeName;
use crate::observer::Observer;
use crate::trace;
use bytes::Bytes;
use futures::StreamExt;
use prehend_msgs::names;
use prehend_msgs::prehend_interfaces::msg::{Approvals, TraceEvent};
use prehend_msgs::prehend_interfaces::srv::{Approve, SubmitGoal};
use prehend_nodes::pictures;
use prehend_robots::RobotConfig;
use prehend_ros::{Client, QosProfile, RosError, Subscription};
use serde_json::{Value, json};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::{broadcast, watch};

/// How often the state is gathered.
const GATHER: Duration = Duration::from_millis(200);
/// Pause between two pictures, and how long pictures are made after the last page asked for one.
const PICTURE: Duration = Duration::from_millis(400);
const WATCHED: Duration = Duration::from_secs(5);
/// Lines that a page that has just been opened is given.
const HISTORY: usize = 200;
/// Lines that a slow page may be behind before it misses some.
const BEHIND: usize = 512;
/// Deadlines of calls into the graph.
const SUBMIT: Duration = Duration::from_secs(10);
const ANSWER: Duration = Duration::from_secs(3);

/// Parts that every graph has, and that a page says are missing.
const PARTS: [NodeName; 5] =
    [NodeName::Agent, NodeName::ObjectMap, NodeName::Affordance, NodeName::Verifier, NodeName::Skills];

/// A running graph, as pages show it.
pub struct Live {
    observer: Observer,
    robot: RobotConfig,
    approvals: watch::Receiver<Option<Approvals>>,
    approve: Client<Approve::Service>,
    state: watch::Sender<Arc<str>>,
    lines: broadcast::Sender<Arc<str>>,
    history: Mutex<VecDeque<Arc<str>>>,
    picture: watch::Sender<Result<Bytes, String>>,
    asked_for_picture: Mutex<Option<Instant>>,
}

impl std::fmt::Debug for Live {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Live").field("observer", &self.observer).finish_non_exhaustive()
    }
}

impl Live {
    /// Gathers what `observer` hears, for as long as the process lives.
    ///
    /// Errors: [`RosError`] of the subscriptions.
    pub fn start(mut observer: Observer, robot: RobotConfig) -> Result<Arc<Self>, RosError> {
        let approvals = observer.latched::<Approvals>(names::VERIFIER_APPROVALS)?;
        let approve = observer.node.create_client(names::VERIFIER_APPROVE, QosProfile::services())?;
        // The lines are taken here; nobody else reads this observer's trace.
        let silent = observer.node.subscribe(names::TRACE, QosProfile::default().depth(1))?;
        let trace = std::mem::replace(&mut observer.trace, silent);
        let live = Arc::new(Self {
            observer,
            robot,
            approvals,
            approve,
            state: watch::Sender::new(Arc::from("{}")),
            lines: broadcast::Sender::new(BEHIND),
            history: Mutex::new(VecDeque::new()),
            picture: watch::Sender::new(Err("no picture yet".to_owned())),
            asked_for_picture: Mutex::new(None),
        });
        tokio::spawn(follow(Arc::clone(&live), trace));
        tokio::spawn(gather(Arc::clone(&live)));
        tokio::spawn(look(Arc::clone(&live)));
        Ok(live)
    }

    /// The state as JSON, whenever it changes.
    pub fn state(&self) -> watch::Receiver<Arc<str>> {
        self.state.subscribe()
    }

    /// The last lines of the trace as JSON, and those to come.
    pub fn lines(&self) -> (Vec<Arc<str>>, broadcast::Receiver<Arc<str>>) {
        let history = self.history.lock().unwrap_or_else(PoisonError::into_inner);
        // Under the lock, so that no line is missed between the two, or told twice.
        (history.iter().cloned().collect(), self.lines.subscribe())
    }

    /// What the camera sees with the map over it, a PNG that is at most a second old.
    ///
    /// Errors: why there is none, for a person.
    pub async fn picture(&self) -> Result<Bytes, String> {
        let mut pictures = self.picture.subscribe();
        let asleep = {
            let mut asked = self.asked_for_picture.lock().unwrap_or_else(PoisonError::into_inner);
            asked.replace(Instant::now()).is_none_or(|before| before.elapsed() > WATCHED)
        };
        if asleep {
            // The last one is of when somebody looked before. None in time: what was said of it last is the answer.
            pictures.mark_unchanged();
            let _ = tokio::time::timeout(ANSWER, pictures.changed()).await;
        }
        pictures.borrow().clone()
    }

    /// Gives a goal; what the agent answered, as JSON.
    pub async fn goal(&self, text: &str, plan_only: bool) -> Value {
        let request = SubmitGoal::Request { text: text.to_owned(), plan_only, ..Default::default() };
        match self.observer.goal.request(request, SUBMIT).await {
            Ok(answer) => {
                json!({ "accepted": answer.accepted, "goal_id": answer.goal_id, "message": answer.message })
            }
            Err(error) => {
                json!({ "accepted": false, "message": format!("the agent did not answer: {error}") })
            }
        }
    }

    /// Engages or clears the stop.
    ///
    /// Errors: why nobody confirmed it.
    pub async fn stop(&self, engage: bool) -> Result<String, String> {
        self.observer.set_stop(engage, "asked on the page").await
    }

    /// Answers a question of the verifier for a person.
    ///
    /// Errors: why it was not taken.
    pub async fn answer(&self, request: Approve::Request) -> Result<(), String> {
        let answer = self.approve.request(request, ANSWER).await.map_err(|error| error.to_string())?;
        if answer.error_message.is_empty() { Ok(()) } else { Err(answer.error_message) }
    }

    fn snapshot(&self) -> Value {
        let missing: Vec<&str> =
            PARTS.into_iter().map(NodeName::name).filter(|name| !self.observer.alive(name)).collect();
        let state = self.observer.state.borrow();
        let stop = self.observer.stopped.borrow();
        let map = self.observer.map.borrow();
        let approvals = self.approvals.borrow();
        let open = approvals.iter().flat_map(|approvals| &approvals.open).map(|asked| {
            json!({ "id": asked.id, "words": asked.words, "why": asked.why, "plan_hash": asked.plan.plan_hash,
                "seconds": asked.seconds, "v": asked.diagnostics.score })
        });
        json!({
            "robot": self.robot.name,
            "missing": missing,
            "state": state.as_ref().map(state_json),
            "stop": stop.as_ref().map(|stop| json!({ "engaged": stop.engaged, "reason": stop.reason })),
            "map": map.as_ref().map(map_json),
            "approvals": open.collect::<Vec<_>>(),
        })
    }

    async fn draw(&self) -> Result<Bytes, String> {
        let told = |error: &dyn std::fmt::Display| error.to_string();
        let Observer { node, tf, .. } = &self.observer;
        let view = pictures::next_view(node, &self.robot, tf).await.map_err(|error| told(&error))?;
        let map = self.observer.map.borrow().clone();
        let info = self.observer.camera_info.borrow().clone();
        let approvals = self.approvals.borrow().clone().unwrap_or_default();
        let work = move || {
            let drawn = match &map {
                Some(map) => {
                    let asked = approvals.open.iter().map(|asked| (&asked.plan, [].as_slice()));
                    let marks = pictures::plan_marks(asked, &map.header.frame_id);
                    // A map that cannot be drawn must not hide what the camera sees.
                    view.with_map(map, info.as_ref(), &marks).unwrap_or_else(|_| view.image().clone())
                }
                None => view.image().clone(),
            };
            pictures::png(&drawn).map(Bytes::from).map_err(|error| error.to_string())
        };
        tokio::task::spawn_blocking(work).await.map_err(|error| told(&error))?
    }
}

/// Takes the trace.
async fn follow(live: Arc<Live>, mut trace: Subscription<TraceEvent>) {
    while let Some(event) = trace.next().await {
        let line = json!({ "t": trace::seconds(&event), "node": event.node, "kind": event.kind, "goal": event.goal_id,
            "words": trace::words(&event), "bad": trace::is_bad(&event.status) });
        let line: Arc<str> = Arc::from(line.to_string());
        let mut history = live.history.lock().unwrap_or_else(PoisonError::into_inner);
        if history.len() == HISTORY {
            history.pop_front();
        }
        history.push_back(Arc::clone(&line));
        // Nobody may be looking.
        let _ = live.lines.send(line);
    }
}

/// Gathers the state.
async fn gather(live: Arc<Live>) {
    let mut tick = tokio::time::interval(GATHER);
    loop {
        tick.tick().await;
        let now = live.snapshot().to_string();
        live.state.send_if_modified(|state| {
            let changed = **state != *now;
            if changed {
                *state = Arc::from(now.as_str());
            }
            changed
        });
    }
}

/// Makes pictures while somebody looks.
async fn look(live: Arc<Live>) {
    loop {
        tokio::time::sleep(PICTURE).await;
        let asked = *live.asked_for_picture.lock().unwrap_or_else(PoisonError::into_inner);
        if asked.is_some_and(|asked| asked.elapsed() < WATCHED) {
            let picture = live.draw().await;
            drop(live.picture.send_replace(picture));
        }
    }
}
