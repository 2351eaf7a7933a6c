//! The agent node: takes goals, carries them out with the built-in planner or a language model, says how they ended.
//!
//! One goal at a time; a second one is refused `busy`, except "stop" and its like, which end the running one. What the
//! sentence alone rules out is answered at once.

mod asked;
mod calls;
mod eyes;
mod goal;
mod interrupt;
mod mind;
mod order;
mod past;
mod plan;
mod remote;
mod setup;
mod source;
mod word_desk;
mod words;
mod world;

use crate::follow::follow_map;
use asked::AskedToHold;
use futures::StreamExt;
use goal::{Ended, Running};
use mind::{Mind, Minds};
use order::{error_code, is_question, is_stop, lost, needs_motion};
use past::Past;
use prehend_convert as convert;
use prehend_robots::shell::{NodeError, NodeOptions, Shell};
use setup::{Tuning, agent};
use source::Source;

pub use mind::try_model;
use prehend_agent::language::answer::Asked;
use prehend_agent::mind::Order;
use prehend_agent::talk::Conversation;
use prehend_agent::{Agent, Fault, Outcome, Planner, Report};
use prehend_msgs::names;
use prehend_msgs::prehend_interfaces::action::{DetectAffordance, ExecuteGoal, ExecuteSkill};
use prehend_msgs::prehend_interfaces::msg::{GoalPlan, StopState, SymbolicState as StateMsg, TraceEvent};
use prehend_msgs::prehend_interfaces::srv::{CallTool, QueryMemory, RetrieveObjects, SubmitGoal, UpdateMap};
use prehend_ros::{ActionClient, Client, GoalRequest, Publisher, QosProfile, RosError, ServiceRequest};
use prehend_scene::{ObjectKey, ObjectMap, Reason, SymbolicState};
use serde_json::json;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::{mpsc, watch};
pub use word_desk::{AskedWord, WordDesk};

/// Longest wait for the news that the stop was cleared.
const STOP_NEWS: Duration = Duration::from_millis(500);
/// How long a question of the language model waits for its answer.
const ANSWER_PATIENCE: Duration = Duration::from_secs(300);
/// Peers a goal with motion needs.
const PEERS: [&str; 4] = ["object_map", "affordance", "verifier", "skills"];
/// The same on a robot that drives.
const DRIVING_PEERS: [&str; 5] = ["object_map", "affordance", "verifier", "skills", "go_to"];
/// Peers a question needs.
const QUESTION_PEERS: [&str; 1] = ["object_map"];

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

/// The other nodes, seen from here.
#[derive(Clone)]
struct Clients {
    update: Client<UpdateMap::Service>,
    retrieve: Client<RetrieveObjects::Service>,
    memory: Client<QueryMemory::Service>,
    affordance: Arc<ActionClient<DetectAffordance::Action>>,
    skills: Arc<ActionClient<ExecuteSkill::Action>>,
    map: watch::Receiver<Option<Arc<ObjectMap>>>,
    in_hand: watch::Receiver<Option<Arc<ObjectMap>>>,
    /// On a robot that drives.
    driving: Option<world::Driving>,
    stop: watch::Receiver<Option<String>>,
    states: States,
    plans: Publisher<GoalPlan>,
}

impl Clients {
    /// Tells everybody the state of the agent.
    fn tell_state(&self, state: &SymbolicState, goal_id: &str) {
        let States { publisher, node, frame } = &self.states;
        let mut message = convert::state_to_msg(state, frame, convert::seconds(&node.now()));
        message.goal_id = goal_id.to_owned();
        message.stopped = self.stop.borrow().is_some();
        if let Err(error) = publisher.publish(&message) {
            tracing::warn!("state not published: {error}");
        }
    }
}

/// Where the agent's state is told.
#[derive(Clone)]
struct States {
    publisher: Publisher<StateMsg>,
    node: prehend_ros::Node,
    frame: String,
}

/// How a goal is to be gone about.
struct How {
    /// Turns of a recorded conversation with a language model; empty is none.
    model_turns: String,
    /// Whether it is only planned.
    plan_only: bool,
}

/// A goal that is not taken up, with who waits for its end.
struct Refused {
    goal_id: String,
    fault: Fault,
    source: Source,
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

/// Longest wait for the first heartbeats of the peers.
const LISTEN_PATIENCE: Duration = Duration::from_secs(3);

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
        let services = QosProfile::services();
        let ros = &shell.node;
        let clients = Clients {
            update: ros.create_client(names::OBJECT_MAP_UPDATE, services)?,
            retrieve: ros.create_client(names::OBJECT_MAP_RETRIEVE, services)?,
            memory: ros.create_client(names::MEMORY_QUERY, services)?,
            affordance: Arc::new(ros.create_action_client(names::DETECT_AFFORDANCE)?),
            skills: Arc::new(ros.create_action_client(names::EXECUTE_SKILL)?),
            map: follow_map(ros, names::OBJECT_MAP)?,
            in_hand: follow_map(ros, names::IN_HAND)?,
            driving: match &shell.robot.navigation {
                Some(navigation) => Some(world::Driving::new(ros, navigation)?),
                None => None,
            },
            stop: follow_stop(ros)?,
            plans: ros.create_publisher(names::GOAL_PLAN, QosProfile::transient_local())?,
            states: States {
                publisher: ros.create_publisher(names::STATE, QosProfile::transient_local())?,
                node: ros.clone(),
                frame: shell.robot.frames.base.clone(),
            },
        };
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

    fn submit(&mut self, request: ServiceRequest<SubmitGoal::Service>) {
        let SubmitGoal::Request { text, model_turns, plan_only } = request.message.clone();
        let how = How { model_turns, plan_only };
        let response = match self.begin(&text, &how, Source::Service) {
            Ok(goal_id) => SubmitGoal::Response { accepted: true, goal_id, ..Default::default() },
            Err(refused) => SubmitGoal::Response {
                accepted: false,
                goal_id: refused.goal_id,
                error_code: error_code(refused.fault.reason),
                reason: refused.fault.reason.code().to_owned(),
                message: refused.fault.message,
            },
        };
        if let Err(error) = request.respond(response) {
            tracing::warn!("a goal was not answered: {error}");
        }
    }

    fn execute(&mut self, request: GoalRequest<ExecuteGoal::Action>) {
        let text = request.goal.text.clone();
        let how = How { model_turns: String::new(), plan_only: request.goal.plan_only };
        // Refused goals are accepted and aborted, so that the reason reaches the client.
        let handle = request.accept();
        if let Err(refused) = self.begin(&text, &how, Source::Action(handle)) {
            let Refused { goal_id, fault, source } = *refused;
            source.end(ExecuteGoal::Result {
                goal_id,
                outcome: Outcome::Refused.name().to_owned(),
                reason: fault.reason.code().to_owned(),
                message: fault.message,
                tool_calls: 0,
                plans: Vec::new(),
            });
        }
    }

    /// Starts a goal, or says why not, giving the source back. A question about the last goal is answered, whatever is at work.
    fn begin(&mut self, text: &str, how: &How, source: Source) -> Result<String, Box<Refused>> {
        if self.asks_of_past(text) {
            return self.answer_of_past(text, source);
        }
        let goal_id = self.announce(text);
        match self.take_up(text, how) {
            Ok((order, planner, mind)) => {
                self.start(&goal_id, order, (planner, mind), how.plan_only, source);
                Ok(goal_id)
            }
            Err(fault) => {
                if fault.asks() && !how.plan_only {
                    self.asked =
                        Some((Asked { text: text.to_owned(), readings: Vec::new() }, Instant::now()));
                }
                let report = Report {
                    outcome: Outcome::Refused,
                    reason: Some(fault.reason),
                    message: fault.message.clone(),
                    tool_calls: 0,
                    state: self.state.clone(),
                    talk: None,
                };
                self.tell_end(&goal_id, &report, how.plan_only);
                Err(Box::new(Refused { goal_id, fault, source }))
            }
        }
    }

    fn next_id(&mut self) -> String {
        self.goals += 1;
        format!("goal-{:08x}-{}", self.incarnation & 0xffff_ffff, self.goals)
    }

    /// A new goal's id, told to the trace.
    fn announce(&mut self, text: &str) -> String {
        let goal_id = self.next_id();
        self.newest = Some(goal_id.clone());
        self.trace(&goal_id, "started", "started", text, json!({ "text": text }));
        goal_id
    }

    /// Starts a goal that may start.
    fn start(
        &mut self,
        goal_id: &str,
        order: Order,
        (planner, mind): (Planner, Option<Mind>),
        plan_only: bool,
        source: Source,
    ) {
        let understood: Vec<String> = order.readings.iter().map(ToString::to_string).collect();
        let said = match (&order.answers, understood.as_slice()) {
            (Some(_), _) => "the answer to the language model's question".to_owned(),
            (None, []) => "left to the language model".to_owned(),
            (None, readings) => readings.join(" or "),
        };
        let is_question = is_question(&order);
        let data = json!({ "readings": understood, "question": is_question });
        self.trace(goal_id, "understood", "ok", &said, data);
        if is_stop(&order.readings) && !plan_only {
            let message = match self.running.as_ref() {
                Some(running) => {
                    running.interrupt(Fault::new(Reason::Canceled, format!("told to \"{}\"", order.text)));
                    "I stop what I am doing."
                }
                None => "I am doing nothing and hold still.",
            };
            let report = Report {
                outcome: Outcome::Done,
                reason: None,
                message: message.to_owned(),
                tool_calls: 0,
                state: self.state.clone(),
                talk: None,
            };
            let ended = Ended { goal_id: goal_id.to_owned(), report, source, plan: None };
            // The end is told after the answer to the submission, as with every goal.
            let _ = self.ended.send(ended);
            return;
        }
        self.tuning.apply(&mut Arc::make_mut(&mut self.agent).settings);
        let peers = if needs_motion(&order) { peers_of(&self.shell) } else { &QUESTION_PEERS };
        let held = self.in_hand();
        let asked_to_hold = self.asked_to_hold.begin(held.as_ref());
        let plan_eyes = plan_only.then(|| self.plan_eyes()).flatten();
        let words = self.minds.words(mind.as_ref());
        let running = Running::start(goal::Start {
            work: self.shell.work(),
            goal_id: goal_id.to_owned(),
            order,
            planner,
            mind,
            words,
            eyes: self.eyes.clone(),
            agent: Arc::clone(&self.agent),
            clients: self.clients.clone(),
            trace: self.shell.trace.clone(),
            peers: self.shell.peers.clone(),
            watched: peers,
            held,
            asked_to_hold,
            source,
            plan_only,
            plan_eyes,
            ended: self.ended.clone(),
        });
        self.running = Some(running);
        self.publish_state(goal_id);
    }

    /// What the skills say is in the hand; before they said anything, what the last goal left.
    fn in_hand(&self) -> Option<ObjectKey> {
        match self.clients.in_hand.borrow().as_ref() {
            Some(in_hand) => in_hand.objects.first().map(|object| object.key.clone()),
            None => self.state.held_object.clone(),
        }
    }

    /// Waits a moment for the stop to be cleared, if it is latched: whoever cleared it may be faster than the news of it.
    async fn news_of_the_stop(&self) {
        let mut stop = self.clients.stop.clone();
        // It stays latched, or nobody tells any more: the goal is refused.
        let _ = tokio::time::timeout(STOP_NEWS, stop.wait_for(Option::is_none)).await;
    }

    /// A sentence as an order, with who plans it.
    ///
    /// Errors: it is refused at once.
    fn take_up(&mut self, text: &str, how: &How) -> Result<(Order, Planner, Option<Mind>), Fault> {
        if how.plan_only {
            // A language model decides step by step, from what each step brought: its steps are not known before.
            let order = self.agent.order(text, Planner::Builtin, None)?;
            self.may_start(&order, true)?;
            return Ok((order, Planner::Builtin, None));
        }
        let (planner, mind) = self.minds.of_goal(&how.model_turns)?;
        let open = self.open.as_ref().filter(|(_, asked)| asked.elapsed() < ANSWER_PATIENCE);
        let open = open.map(|(conversation, _)| conversation.clone());
        let asked = self.asked.as_ref().filter(|(_, asked)| asked.elapsed() < ANSWER_PATIENCE);
        let asked = asked.map(|(asked, _)| asked.clone());
        let (order, asked) = match (self.agent.order(text, planner, open), asked) {
            (Ok(order), Some(asked)) if order.readings.is_empty() && order.answers.is_none() => {
                self.agent.answer(&asked, text)?.unwrap_or((order, asked))
            }
            (Err(fault), Some(asked)) if fault.reason == Reason::NotUnderstood => {
                self.agent.answer(&asked, text)?.ok_or(fault)?
            }
            (order, _) => {
                let order = order?;
                let asked = Asked { text: text.to_owned(), readings: order.readings.clone() };
                (order, asked)
            }
        };
        self.may_start(&order, false)?;
        self.open = None;
        self.asked = None;
        self.at_work = Some(asked);
        Ok((order, planner, mind))
    }

    /// Whether the goal may start now: nothing else runs, the stop is clear, the peers are there.
    fn may_start(&self, order: &Order, plan_only: bool) -> Result<(), Fault> {
        if !self.shell.is_active() {
            return Err(Fault::new(
                Reason::Stopped,
                "The agent is not active: its lifecycle has to activate it.",
            ));
        }
        if is_stop(&order.readings) && !plan_only {
            return Ok(());
        }
        if self.running.is_some() {
            return Err(Fault::new(Reason::Busy, "Another goal is being executed; say \"stop\" to end it."));
        }
        if !needs_motion(order) {
            return Ok(());
        }
        if let Some(reason) = self.clients.stop.borrow().as_ref().filter(|_| !plan_only) {
            return Err(Fault::new(
                Reason::Stopped,
                format!("The robot is stopped ({reason}); clear the stop first."),
            ));
        }
        match self.shell.peers.missing(peers_of(&self.shell)).first() {
            None => Ok(()),
            Some(peer) => Err(lost(peer)),
        }
    }

    fn finish(&mut self, ended: Ended) {
        let Ended { goal_id, mut report, source, plan } = ended;
        if self.running.as_ref().is_some_and(|running| running.goal_id() == goal_id) {
            self.running = None;
            if let Some(plan) = plan {
                return self.finish_plan(*plan, &report, source);
            }
            self.asked_to_hold.end(report.outcome, report.state.held_object.as_ref());
            self.state = report.state.clone();
        }
        let at_work =
            self.at_work.take_if(|_| report.reason == Some(Reason::Ambiguous) && report.talk.is_none());
        self.asked = at_work.filter(|asked| !asked.readings.is_empty()).map(|asked| (asked, Instant::now()));
        self.tell_end(&goal_id, &report, false);
        if let Some(session) = self.remote.take_if(|session| session.goal_id == goal_id) {
            session.end(&report);
        }
        self.open = report.talk.take_if(|talk| talk.question.is_some()).map(|talk| (talk, Instant::now()));
        self.publish_state("");
        source.end(ExecuteGoal::Result {
            goal_id,
            outcome: report.outcome.name().to_owned(),
            reason: report.reason.map_or("", Reason::code).to_owned(),
            message: report.message,
            tool_calls: report.tool_calls,
            plans: Vec::new(),
        });
    }

    fn tell_end(&self, goal_id: &str, report: &Report, plan_only: bool) {
        let talk = report.talk.as_ref();
        let asked = talk.and_then(|talk| talk.question.clone());
        let asks = report.reason.is_some_and(|reason| Fault::new(reason, report.message.as_str()).asks());
        let warning = talk.and_then(|talk| talk.warning.as_ref());
        // Without a model that was of use, the grammar and the built-in planner have decided.
        let planner = if talk.is_some() && warning.is_none() { Planner::Model } else { Planner::Builtin };
        let data = json!({
            "outcome": report.outcome.name(),
            "plan_only": plan_only,
            "reason": report.reason.map(Reason::code),
            "message": report.message,
            "tool_calls": report.tool_calls,
            "planner": planner,
            "model": talk.map(|talk| json!({
                "calls": talk.turns.len(),
                "tokens_in": talk.usage.tokens_in,
                "tokens_out": talk.usage.tokens_out,
                "seconds": talk.usage.seconds,
            })),
            "question": asked.or_else(|| asks.then(|| report.message.clone())),
        });
        if let Some(warning) = warning {
            self.shell.trace.event(goal_id, TraceEvent::KIND_WARNING, "model", "unaided", warning, json!({}));
        }
        self.trace(goal_id, "finished", report.outcome.name(), &report.message, data);
    }

    fn trace(&self, goal_id: &str, name: &str, status: &str, message: &str, data: serde_json::Value) {
        self.shell.trace.event(goal_id, TraceEvent::KIND_GOAL, name, status, message, data);
    }

    fn publish_state(&self, goal_id: &str) {
        self.clients.tell_state(&self.state, goal_id);
    }
}

/// The nodes a goal with motion needs on this robot.
fn peers_of(shell: &Shell) -> &'static [&'static str] {
    if shell.robot.navigation.is_some() { &DRIVING_PEERS } else { &PEERS }
}

/// Keeps why the stop is latched, when it is.
fn follow_stop(node: &prehend_ros::Node) -> Result<watch::Receiver<Option<String>>, RosError> {
    let mut states = node.subscribe::<StopState>(names::STOP_STATE, QosProfile::transient_local())?;
    let (sender, receiver) = watch::channel(None);
    tokio::spawn(async move {
        while let Some(state) = states.next().await {
            sender.send_replace(state.engaged.then_some(state.reason));
        }
    });
    Ok(receiver)
}
