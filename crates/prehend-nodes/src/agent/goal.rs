//! One goal at work: the agent on a thread of its own, and what may end it.

use super::clients::Clients;
use super::eyes::{Eyes, picture};
use super::mind::{GoalMind, Mind};
use super::peers::lost;
use super::plan::{Rehearsal, marks};
use super::source::Source;
use super::words::{GoalWords, WordSource};
use super::world::NodeWorld;
use prehend_agent::mind::Order;
use prehend_agent::{Agent, Fault, Model, Outcome, Planner, Report};
use prehend_msgs::prehend_interfaces::msg::GoalPlan;
use prehend_robots::shell::{Peers, Trace, Work};
use prehend_scene::{ObjectKey, Reason, SymbolicState};
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{mpsc, watch};
use tokio::task::JoinHandle;

/// Longest wait for the camera's picture when a plan is made.
const PICTURE: Duration = Duration::from_millis(600);
/// Longest wait for a goal to end when the process ends.
const LAST_WORDS: Duration = Duration::from_secs(6);

/// A goal that has ended.
pub(super) struct Ended {
    pub(super) goal_id: String,
    pub(super) report: Report,
    pub(super) source: Source,
    /// What would be done, of a goal that was only planned.
    pub(super) plan: Option<Box<GoalPlan>>,
}

/// What a goal needs to start.
pub(super) struct Start {
    pub(super) goal_id: String,
    pub(super) order: Order,
    pub(super) planner: Planner,
    /// The model that may be asked.
    pub(super) mind: Option<Mind>,
    pub(super) words: WordSource,
    pub(super) eyes: Option<Eyes>,
    pub(super) agent: Arc<Agent>,
    pub(super) clients: Clients,
    pub(super) trace: Trace,
    pub(super) peers: Peers,
    pub(super) watched: &'static [&'static str],
    pub(super) held: Option<ObjectKey>,
    /// Whether a person asked to hold it.
    pub(super) asked_to_hold: bool,
    pub(super) source: Source,
    /// Whether it is only planned, and with what the camera is looked through for the picture of the plan.
    pub(super) plan_only: bool,
    pub(super) plan_eyes: Option<Eyes>,
    pub(super) ended: mpsc::UnboundedSender<Ended>,
    /// The goal is under way while this lives.
    pub(super) work: Work,
}

/// The goal at work.
pub(super) struct Running {
    goal_id: String,
    interrupt: Arc<watch::Sender<Option<Fault>>>,
    task: JoinHandle<()>,
}

impl Running {
    /// Starts the agent on a thread of its own and watches what may end the goal.
    pub(super) fn start(start: Start) -> Self {
        let interrupt = Arc::new(watch::Sender::new(None));
        let goal_id = start.goal_id.clone();
        let task = tokio::spawn(follow(start, Arc::clone(&interrupt)));
        Self { goal_id, interrupt, task }
    }

    pub(super) fn goal_id(&self) -> &str {
        &self.goal_id
    }

    /// Ends the goal: the running skill is cancelled.
    pub(super) fn interrupt(&self, fault: Fault) {
        self.interrupt.send_modify(|why| {
            why.get_or_insert(fault);
        });
    }

    /// Ends the goal and waits for its last words.
    pub(super) async fn end(self, fault: Fault) {
        self.interrupt(fault);
        if tokio::time::timeout(LAST_WORDS, self.task).await.is_err() {
            tracing::warn!("goal {} did not end in time", self.goal_id);
        }
    }
}

async fn follow(start: Start, interrupt: Arc<watch::Sender<Option<Fault>>>) {
    let Start {
        goal_id,
        order,
        planner,
        mind,
        words,
        eyes,
        agent,
        clients,
        trace,
        peers,
        watched,
        held,
        asked_to_hold,
        source,
        plan_only,
        plan_eyes,
        ended,
        work: _work,
    } = start;
    let (feedback, mut told) = mpsc::unbounded_channel();
    let mut stop = clients.stop.clone();
    let moves = watched.len() > 1;
    let words = GoalWords {
        source: words,
        agent: Arc::clone(&agent),
        runtime: tokio::runtime::Handle::current(),
        trace: trace.clone(),
        goal_id: goal_id.clone(),
        interrupt: interrupt.subscribe(),
    };
    let map = clients.map.clone();
    let look = plan_eyes.map(|eyes| tokio::spawn(async move { eyes.see().await }));
    let said = (order.text.clone(), order.readings.iter().map(ToString::to_string).collect::<Vec<_>>());
    let mut world = NodeWorld {
        runtime: tokio::runtime::Handle::current(),
        clients,
        trace,
        goal_id: goal_id.clone(),
        interrupt: interrupt.subscribe(),
        feedback,
        detected: HashMap::new(),
        asked_to_hold,
        called: None,
        words,
        eyes,
        rehearsal: plan_only.then(Rehearsal::new),
    };
    let before = SymbolicState { held_object: held.clone(), ..SymbolicState::default() };
    let mut mind = mind.map(|mind| GoalMind {
        runtime: tokio::runtime::Handle::current(),
        mind,
        interrupt: interrupt.subscribe(),
    });
    let mut work = tokio::task::spawn_blocking(move || {
        if world.rehearsal.is_some() {
            let report = agent.rehearse(&order.readings, &mut world, held);
            return (report, world.rehearsal.take());
        }
        let model = mind.as_mut().map(|mind| mind as &mut dyn Model);
        (agent.carry(&order, planner, model, &mut world, held), None)
    });
    let watch_peers = peers.lost(watched);
    tokio::pin!(watch_peers);
    let mut watching = true;
    let ending = loop {
        let fault = tokio::select! {
            ending = &mut work => break ending,
            Some(feedback) = told.recv() => {
                if let Source::Action(handle) = &source
                    && let Err(error) = handle.publish_feedback(feedback)
                {
                    tracing::debug!("feedback: {error}");
                }
                continue;
            }
            peer = &mut watch_peers, if watching => lost(&peer),
            () = source.canceled(), if watching => Fault::new(Reason::Canceled, "the goal was cancelled"),
            reason = stopped(&mut stop), if watching && moves && !plan_only => Fault::new(Reason::Stopped, format!("stopped: {reason}")),
        };
        // The first cause is the reason; the agent ends by itself now.
        watching = false;
        interrupt.send_modify(|why| {
            why.get_or_insert(fault);
        });
    };
    let (report, rehearsal) = ending.unwrap_or_else(|error| {
        let message = format!("the planner failed: {error}");
        let (outcome, reason) = (Outcome::Failed, Some(Reason::Internal));
        (Report { outcome, reason, message, tool_calls: 0, state: before, talk: None }, None)
    });
    let mut plan = None;
    if plan_only {
        let (text, readings) = said;
        // Of a planner that failed there is nothing but the report.
        let rehearsal = rehearsal.unwrap_or_else(Rehearsal::new);
        let mut made = rehearsal.end((&goal_id, &text), readings, &report);
        let seen = match look {
            None => Err("there is no way to the camera".to_owned()),
            Some(look) => match tokio::time::timeout(PICTURE, look).await {
                Ok(seen) => seen.unwrap_or_else(|error| Err(error.to_string())),
                Err(_) => Err("the camera was silent".to_owned()),
            },
        };
        let map = map.borrow().clone().unwrap_or_default();
        made.picture = picture(seen, &map, &marks(&made, &map.frame)).unwrap_or_default();
        plan = Some(Box::new(made));
    }
    // The node is gone only when the process ends.
    let _ = ended.send(Ended { goal_id, report, source, plan });
}

async fn stopped(stop: &mut watch::Receiver<Option<String>>) -> String {
    let reason = stop.wait_for(Option::is_some).await.ok().and_then(|reason| reason.clone());
    match reason {
        Some(reason) => reason,
        // Nobody tells of stops any more; the loss of the skills node ends the goal.
        None => std::future::pending().await,
    }
}
