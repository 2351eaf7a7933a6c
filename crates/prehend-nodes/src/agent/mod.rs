//! The agent node: takes goals, carries them out with the built-in planner or a language model, says how they ended.
//!
//! One goal at a time; a second one is refused `busy`, except "stop" and its like, which end the running one. What the
//! sentence alone rules out is answered at once.

mod asked;
mod calls;
mod clients;
mod eyes;
mod finish;
mod goal;
mod interrupt;
mod mind;
mod order;
mod past;
mod peers;
mod plan;
mod remote;
mod setup;
mod source;
mod start;
mod submit;
mod word_desk;
mod words;
mod world;

use asked::AskedToHold;
use clients::Clients;
use futures::StreamExt;
use goal::{Ended, Running};
use mind::Minds;
use past::Past;
use peers::peers_of;
use prehend_agent::language::answer::Asked;
use prehend_agent::talk::Conversation;
use prehend_agent::{Agent, Fault};
use prehend_msgs::names;
use prehend_msgs::prehend_interfaces::action::ExecuteGoal;
use prehend_msgs::prehend_interfaces::msg::TraceEvent;
use prehend_msgs::prehend_interfaces::srv::{CallTool, SubmitGoal};
use prehend_robots::shell::{NodeError, NodeOptions, Shell};
use prehend_ros::{GoalRequest, QosProfile, ServiceRequest};
use prehend_scene::{Reason, SymbolicState};
use setup::{Tuning, agent};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::mpsc;

pub use mind::try_model;
pub use word_desk::{AskedWord, WordDesk};

/// How long a question of the language model waits for its answer.
const ANSWER_PATIENCE: Duration = Duration::from_secs(300);
/// Longest wait for the first heartbeats of the peers.
const LISTEN_PATIENCE: Duration = Duration::from_secs(3);

enum Event {
    Submit(ServiceRequest<SubmitGoal::Service>),
    Execute(GoalRequest<ExecuteGoal::Action>),
    Call(ServiceRequest<CallTool::Service>),
    Ended(Ended),
    /// The node was activated or deactivated.
    Activity(bool),
    /// The stop was engaged or cleared.
    Stop,
    Shutdown,
}

struct Node {
    shell: Shell,
    agent: Arc<Agent>,
    minds: Minds,
    /// A question of the language model, and when it was asked.
    open: Option<(Box<Conversation>, Instant)>,
    /// What the built-in planner asks about, and when it was asked; the running goal may come to ask about it.
    asked: Option<(Asked, Instant)>,
    at_work: Option<Asked>,
    /// What was done, and the newest goal.
    past: Past,
    newest: Option<String>,
    /// The program that calls the tools.
    remote: Option<remote::Session>,
    tuning: Tuning,
    clients: Clients,
    /// For a language model that sees.
    eyes: Option<eyes::Eyes>,
    /// For the pictures of plans, once one was made.
    plan_eyes: Option<eyes::Eyes>,
    state: SymbolicState,
    asked_to_hold: AskedToHold,
    running: Option<Running>,
    ended: mpsc::UnboundedSender<Ended>,
    goals: u64,
    incarnation: u64,
}

/// Runs the node until it is told to stop.
pub async fn run(options: NodeOptions) -> Result<(), NodeError> {
    Shell::start("agent", &options).await?.live(serve).await
}

/// Takes in the configuration and serves until it is to be given back.
async fn serve(shell: Shell) -> Result<(), NodeError> {
    // Goals are taken when every peer was heard, or had its time to speak: a goal that comes at once is not refused for a
    // peer that is only slow to be discovered.
    let peers = peers_of(&shell);
    tokio::select! {
        () = shell.shutdown() => return Ok(()),
        all = shell.peers.introduced(peers, LISTEN_PATIENCE) => if !all {
            tracing::warn!("not heard so far: {}", shell.peers.missing(peers).join(", "));
        },
    }
    let ros = shell.node.clone();
    let mut submissions = ros.create_service::<SubmitGoal::Service>(names::GOAL, QosProfile::services())?;
    let mut goals = ros.create_action_server::<ExecuteGoal::Action>(names::EXECUTE_GOAL)?;
    let mut calls = ros.create_service::<CallTool::Service>(names::CALL_TOOL, QosProfile::services())?;
    let (sender, mut endings) = mpsc::unbounded_channel();
    let mut node = Node::new(shell, sender)?;
    node.publish_state("");
    let mut stop = node.clients.stop.clone();
    let shell = node.shell.clone();
    shell.configured();
    let mut activity = shell.activity();
    let shutdown = shell.shutdown();
    tokio::pin!(shutdown);
    loop {
        let event = tokio::select! {
            _ = &mut shutdown => Event::Shutdown,
            Some(ended) = endings.recv() => Event::Ended(ended),
            Ok(()) = activity.changed() => Event::Activity(*activity.borrow_and_update()),
            Ok(()) = stop.changed() => Event::Stop,
            Some(request) = submissions.next() => Event::Submit(request),
            Some(request) = goals.next() => Event::Execute(request),
            Some(request) = calls.next() => Event::Call(request),
        };
        if matches!(event, Event::Submit(_) | Event::Execute(_) | Event::Call(_)) {
            node.news_of_the_stop().await;
        }
        match event {
            Event::Submit(request) => node.submit(request),
            Event::Execute(request) => node.execute(request),
            Event::Call(request) => node.call(request),
            Event::Ended(ended) => node.finish(ended),
            Event::Activity(active) => {
                if !active && let Some(running) = &node.running {
                    running.interrupt(Fault::new(Reason::Canceled, "the agent was deactivated"));
                }
            }
            Event::Stop => {
                let goal_id = node.running.as_ref().map(|running| running.goal_id().to_owned());
                node.publish_state(&goal_id.unwrap_or_default());
            }
            Event::Shutdown => {
                if let Some(running) = node.running.take() {
                    running.end(Fault::new(Reason::Canceled, "the agent is ending")).await;
                }
                return Ok(());
            }
        }
    }
}

impl Node {
    fn new(shell: Shell, ended: mpsc::UnboundedSender<Ended>) -> Result<Self, NodeError> {
        let clients = Clients::new(&shell)?;
        let (agent, minds, tuning, words) = agent(&shell)?;
        let agent = Arc::new(agent);
        let past = Past::follow(&shell.node, words)?;
        let eyes = minds.see().then(|| eyes::Eyes::new(&shell.node, &shell.robot)).transpose()?;
        let incarnation = prehend_robots::shell::incarnation();
        let state = SymbolicState::default();
        Ok(Self {
            shell,
            agent,
            minds,
            open: None,
            asked: None,
            at_work: None,
            past,
            newest: None,
            remote: None,
            tuning,
            clients,
            eyes,
            plan_eyes: None,
            state,
            asked_to_hold: AskedToHold::default(),
            running: None,
            ended,
            goals: 0,
            incarnation,
        })
    }

    fn trace(&self, goal_id: &str, name: &str, status: &str, message: &str, data: serde_json::Value) {
        self.shell.trace.event(goal_id, TraceEvent::KIND_GOAL, name, status, message, data);
    }

    fn publish_state(&self, goal_id: &str) {
        self.clients.tell_state(&self.state, goal_id);
    }
}
