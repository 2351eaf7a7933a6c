//! One goal with a model: turn by turn, until it asks, refuses or finishes, or is of no use.

mod checked;

use super::Order;
use super::observed::{Observed, fact};
use super::prompt::{self, REFUSALS};
use super::shape::misfit;
use crate::agent::{Agent, Remedy, VIEWS, remedy};
use crate::language::{Goal, token};
use crate::planner::{Action, Knowledge, Plan};
use crate::talk::{self, Call, Conversation, End, Message, Model, ModelFault, Tool, Turn, Usage};
use crate::tools::{FRAMES, ToolOutput, Toolbox};
use crate::world::Fault;
use prehend_scene::{ObjectKey, Reason, Skill};
use serde_json::{Value, json};
use std::collections::HashMap;

/// Turns without one usable call after which the model is given up.
const NONSENSE: u32 = 3;
/// How often `finish` may be held against what was observed in vain.
const VAIN: u32 = 3;
/// How often one call may be made with the same answer: at the first number it is told so, at the second it is given up.
const REPEATS: (u32, u32) = (3, 6);
/// Most turns of one goal: a model that goes on so long does not come to an end.
const TURNS: usize = 80;
/// Messages that stay as they are when a conversation is shortened.
const KEPT: usize = 8;

/// Why a conversation ended otherwise than done.
#[derive(Debug)]
pub(super) enum Broken {
    /// The goal ended.
    Goal(Fault),
    /// The model is of no use.
    Model(ModelFault),
}

impl Broken {
    /// What the person is told.
    pub(super) fn told(&self) -> Fault {
        match self {
            Self::Goal(fault) | Self::Model(ModelFault::Interrupted(fault)) => fault.clone(),
            Self::Model(fault @ ModelFault::Unavailable(_)) => {
                Fault::new(Reason::PeerLost, format!("The language model is of no use now: {fault}."))
            }
            Self::Model(fault @ (ModelFault::TooLong | ModelFault::Spent(_))) => {
                Fault::new(Reason::Timeout, format!("The language model did not come to an end: {fault}."))
            }
        }
    }

    /// Whether it was the model that was of no use.
    pub(super) fn is_of_model(&self) -> bool {
        matches!(self, Self::Model(ModelFault::Unavailable(_) | ModelFault::TooLong | ModelFault::Spent(_)))
    }
}

impl From<Fault> for Broken {
    fn from(fault: Fault) -> Self {
        Self::Goal(fault)
    }
}

/// What a call comes to.
enum Step {
    /// An answer for the model; whether what follows in the turn was said without knowing it.
    Answer(Value, bool),
    /// The end of the goal.
    Done(String),
}

/// One goal with a model.
pub(super) struct Course<'c, 'w> {
    agent: &'c Agent,
    order: &'c Order,
    tools: &'c mut Toolbox<'w>,
    talk: Conversation,
    known: Vec<Tool>,
    /// What each reading of the sentence comes to before anything moves.
    expected: Vec<Plan>,
    observed: Observed,
    /// The newest keys of what was picked up, and the keys it was picked up by.
    renamed: HashMap<ObjectKey, ObjectKey>,
    last_failed: bool,
    /// Whether the scene is another since the model saw it.
    has_acted: bool,
    vain: u32,
    nonsense: u32,
    /// How often each call was made with one answer since the last action that was done.
    repeated: HashMap<String, u32>,
    is_short: bool,
}

impl<'c, 'w> Course<'c, 'w> {
    pub(super) fn new(agent: &'c Agent, order: &'c Order, tools: &'c mut Toolbox<'w>) -> Self {
        let known = prompt::tools(tools.rooms());
        let talk = match &order.answers {
            Some(open) => Conversation {
                turns: Vec::new(),
                usage: Usage::default(),
                question: None,
                warning: None,
                ..(**open).clone()
            },
            None => Conversation {
                text: order.text.clone(),
                messages: vec![prompt::rules(), prompt::sentence(&order.text, tools.state())],
                turns: Vec::new(),
                usage: Usage::default(),
                question: None,
                warning: None,
            },
        };
        Self {
            agent,
            order,
            tools,
            talk,
            known,
            expected: Vec::new(),
            observed: Observed::default(),
            renamed: HashMap::new(),
            last_failed: false,
            has_acted: false,
            vain: 0,
            nonsense: 0,
            repeated: HashMap::new(),
            is_short: false,
        }
    }

    pub(super) fn into_conversation(self) -> Conversation {
        self.talk
    }

    fn knowledge(&self) -> Knowledge<'c> {
        Knowledge { lexicon: &self.agent.lexicon, policy: &self.agent.policy, settings: &self.agent.settings }
    }

    /// Whether the sentence asks for an answer only.
    fn is_question(&self) -> bool {
        match self.order.readings.first() {
            Some(reading) => matches!(reading, Goal::Question(_) | Goal::Lesson { .. }),
            None => {
                let lexicon = &self.agent.lexicon;
                // "Would you be so kind as to" is gone then.
                let tokens = lexicon.cleaned(lexicon.tokens(&self.talk.text));
                let first = tokens.iter().map(token::Token::word).find(|word| !word.is_empty());
                first.is_some_and(|word| lexicon.list("interrogatives").has_word(word))
            }
        }
    }

    /// Goes on to the end; what was done, in words.
    pub(super) fn run(&mut self, model: &mut dyn Model) -> Result<String, Broken> {
        // What only may be a question may move the robot, too.
        if self.order.readings.is_empty() || !self.is_question() {
            self.tools.settle()?;
            self.tools.permit_tour(Vec::new());
        }
        self.tools.plan_in_room();
        self.expect()?;
        if self.order.answers.is_some() {
            self.take_answer();
        }
        self.show(model);
        while self.talk.turns.len() < TURNS {
            if let Some(fault) = self.tools.interrupted() {
                return Err(fault.into());
            }
            if std::mem::take(&mut self.has_acted) {
                self.show(model);
            }
            let turn = self.turn(model)?;
            if let Some(done) = self.take(&turn)? {
                return Ok(done);
            }
        }
        Err(Broken::Model(ModelFault::Spent(format!("it made {TURNS} turns"))))
    }

    /// Shows the scene to a model that sees.
    fn show(&mut self, model: &dyn Model) {
        if model.sees() {
            let picture = self.tools.picture();
            talk::show(&mut self.talk.messages, picture);
        }
    }

    /// What the grammar's own plans of the sentence are. In rooms keys change with every drive, and nothing is expected.
    ///
    /// Errors: unsafe, and faults that are no refusals.
    fn expect(&mut self) -> Result<(), Fault> {
        if self.tools.rooms() {
            return Ok(());
        }
        for reading in &self.order.readings {
            // Doubt is looked at, as for the built-in planner: what one frame missed may be what is meant.
            match self.agent.plan_surely(std::slice::from_ref(reading), self.tools, self.knowledge()) {
                Ok(plan) => self.expected.push(plan),
                Err(fault) if fault.reason == Reason::Unsafe || ends(fault.reason) => return Err(fault),
                Err(_) => {}
            }
        }
        // What the grammar found is not what the model has found.
        self.tools.clear_inventory();
        Ok(())
    }

    /// The sentence at hand is the answer to the model's question.
    fn take_answer(&mut self) {
        let state = self.tools.state().clone();
        let asked = self.talk.messages.last().and_then(|message| match message {
            Message::Assistant { calls, .. } => calls.iter().find(|call| call.name == "ask").cloned(),
            _ => None,
        });
        let message = match asked {
            Some(call) => {
                let content = json!({ "answer": self.order.text, "state": state }).to_string();
                Message::Tool { id: call.id, name: call.name, content }
            }
            None => prompt::answer(&self.order.text, &state),
        };
        self.talk.messages.push(message);
    }

    /// A turn of the model; a conversation that is too long is shortened, once.
    fn turn(&mut self, model: &mut dyn Model) -> Result<Turn, Broken> {
        let turn = match model.turn(&self.talk.messages, &self.known) {
            Err(ModelFault::TooLong) if !self.is_short => {
                self.is_short = true;
                let facts: Vec<Value> = self.observed.actions().iter().filter_map(fact).collect();
                shorten(&mut self.talk.messages, &facts);
                model.turn(&self.talk.messages, &self.known)
            }
            other => other,
        };
        let turn = turn.map_err(Broken::Model)?;
        self.talk.took(&turn);
        self.tools.model_said(&turn);
        Ok(turn)
    }

    /// Answers a turn; what was done when it is the last one.
    fn take(&mut self, turn: &Turn) -> Result<Option<String>, Broken> {
        let wrong = match turn.end {
            End::Declined => {
                let message = "The language model declines to plan this.";
                return Err(Fault::new(Reason::Infeasible, message).into());
            }
            End::Cut => {
                Some("Your answer was cut by its greatest length, and nothing of it was done. Be brief.")
            }
            End::Complete if turn.calls.is_empty() => {
                Some("Answer with a tool call; end with `ask`, `refuse` or `finish`.")
            }
            End::Complete => None,
        };
        let calls = if wrong.is_some() { Vec::new() } else { distinct(&turn.calls, self.talk.turns.len()) };
        self.talk.messages.push(Message::Assistant { text: turn.text.clone(), calls: calls.clone() });
        if let Some(wrong) = wrong {
            self.talk.messages.push(Message::User { text: wrong.to_owned() });
            return self.count_nonsense().map(|()| None);
        }
        let mut is_usable = false;
        let mut changed = false;
        for call in calls {
            let answer = match self.read(&call) {
                _ if changed => {
                    self.refusal("not called: a call before it changed the scene or failed; decide anew")
                }
                Err(wrong) => self.refusal(wrong),
                Ok(arguments) => {
                    is_usable = true;
                    match self.step(&call, &arguments)? {
                        Step::Done(message) => return Ok(Some(message)),
                        Step::Answer(answer, acted) => {
                            changed |= acted;
                            answer
                        }
                    }
                }
            };
            let content = self.noted(&call, answer)?;
            self.talk.messages.push(Message::Tool { id: call.id, name: call.name, content });
        }
        if is_usable {
            self.nonsense = 0;
            return Ok(None);
        }
        self.count_nonsense().map(|()| None)
    }

    /// An answer to a call that was not made, or failed.
    fn refusal(&self, why: impl Into<String>) -> Value {
        serde_json::to_value(self.tools.refusal(why.into())).unwrap_or_default()
    }

    /// A turn of which nothing could be used: too many in a row are the end.
    fn count_nonsense(&mut self) -> Result<(), Broken> {
        self.nonsense += 1;
        if self.nonsense < NONSENSE {
            return Ok(());
        }
        let message = format!("{NONSENSE} answers in a row held no call that could be used");
        Err(Broken::Model(ModelFault::Unavailable(message)))
    }

    /// The arguments of a call, when there is such a tool and they fit.
    fn read(&self, call: &Call) -> Result<Value, String> {
        let Some(tool) = self.known.iter().find(|tool| tool.name == call.name) else {
            let names: Vec<&str> = self.known.iter().map(|tool| tool.name.as_str()).collect();
            return Err(format!("there is no such tool; there are {}", names.join(", ")));
        };
        let text = if call.arguments.trim().is_empty() { "{}" } else { &call.arguments };
        let arguments: Value = serde_json::from_str(text).map_err(|error| {
            format!("the arguments are no JSON (line {}, column {})", error.line(), error.column())
        })?;
        match misfit(&arguments, &tool.parameters) {
            Some(wrong) => Err(wrong),
            None => Ok(arguments),
        }
    }

    /// Notes an answer; the same call with the same answer again and again leads nowhere, whatever is called between.
    fn noted(&mut self, call: &Call, mut answer: Value) -> Result<String, Broken> {
        // The state that comes with it has numbers that change without meaning anything.
        let this = format!("{} {} {}", call.name, call.arguments, answer["feedback_msg"]);
        let times = self.repeated.entry(this).or_default();
        *times += 1;
        let times = *times;
        if times >= REPEATS.1 {
            let message = format!("it made one call {times} times with the same answer");
            return Err(Broken::Model(ModelFault::Spent(message)));
        }
        if times >= REPEATS.0 {
            let hint = format!(
                "you made this call {times} times with this answer; do something else, ask or refuse"
            );
            answer["hint"] = json!(hint);
        }
        Ok(answer.to_string())
    }

    fn step(&mut self, call: &Call, arguments: &Value) -> Result<Step, Broken> {
        let text = |key: &str| arguments.get(key).and_then(Value::as_str).unwrap_or_default();
        match call.name.as_str() {
            "ask" => {
                let question = one_line(text("question"));
                self.talk.question = Some(question.clone());
                Err(Fault::new(Reason::Ambiguous, question).into())
            }
            "refuse" => {
                let reason = Reason::parse(text("reason")).filter(|reason| REFUSALS.contains(reason));
                let reason = reason.unwrap_or(Reason::NotUnderstood);
                Err(Fault::new(reason, one_line(text("message"))).into())
            }
            "finish" => {
                let facts = arguments.get("facts").and_then(Value::as_array).cloned().unwrap_or_default();
                match self.confirmed(&one_line(text("message")), &facts)? {
                    Ok(message) => Ok(Step::Done(message)),
                    Err(why) => {
                        self.vain += 1;
                        if self.vain >= VAIN {
                            let message = format!("The language model says that it is done, but {why}.");
                            return Err(Fault::new(Reason::OutcomeNotObserved, message).into());
                        }
                        let told = format!("not finished: {why}");
                        Ok(Step::Answer(json!({ "success": false, "feedback_msg": told }), true))
                    }
                }
            }
            "interact" | "go_to" => self.act(&call.name, arguments),
            _ => {
                let mut called = self.tools.dispatch(&call.name, arguments);
                // One frame may have missed it; another call would read the same map.
                for _ in 0..FRAMES {
                    let is_missing = call.name == "object_retrieval"
                        && !self.tools.rooms()
                        && matches!(&called, Ok(Ok(output)) if !output.success);
                    if !is_missing {
                        break;
                    }
                    self.tools.look_again()?;
                    called = self.tools.dispatch(&call.name, arguments);
                }
                let answer = match called {
                    Ok(Ok(output)) => serde_json::to_value(output).unwrap_or_default(),
                    Ok(Err(fault)) if ends(fault.reason) => return Err(fault.into()),
                    Ok(Err(fault)) => self.refusal(told(&fault)),
                    Err(error) => self.refusal(error.to_string()),
                };
                Ok(Step::Answer(answer, false))
            }
        }
    }

    /// An action: judged, carried out, and noted when its outcome was observed.
    fn act(&mut self, tool: &str, arguments: &Value) -> Result<Step, Broken> {
        let result = match self.judged(tool, arguments) {
            Ok(action) => {
                let result = self.carried_out(tool, arguments, action.as_ref());
                self.note(action, result.is_ok());
                result
            }
            Err(fault) => Err(fault),
        };
        self.last_failed = result.is_err();
        self.has_acted = true;
        if result.is_ok() {
            self.repeated.clear();
        }
        let answer = match result {
            Ok(output) => {
                let mut answer = serde_json::to_value(output).unwrap_or_default();
                if let Some(fact) = self.observed.actions().last().and_then(fact) {
                    answer["fact"] = fact;
                }
                answer
            }
            Err(fault) if ends(fault.reason) => return Err(fault.into()),
            Err(fault) => self.refusal(told(&fault)),
        };
        Ok(Step::Answer(answer, true))
    }

    /// Calls the tool of an action. Evidence that is too thin, or a thing lost from sight, is looked at from elsewhere first, as the
    /// built-in planner does: no tool of a model looks.
    fn carried_out(
        &mut self,
        tool: &str,
        arguments: &Value,
        action: Option<&Action>,
    ) -> Result<ToolOutput, Fault> {
        let mut views = 0;
        loop {
            let called = self.tools.dispatch(tool, arguments);
            let fault =
                match called.unwrap_or_else(|error| Err(Fault::new(Reason::Infeasible, error.to_string()))) {
                    Ok(output) => return Ok(output),
                    Err(fault) => fault,
                };
            views += 1;
            let (keys, about) = match action {
                Some(Action::Pick { object, .. } | Action::Act { object, .. }) => {
                    (vec![object.clone()], Some(object))
                }
                Some(Action::Place { targets, .. }) => (targets.clone(), targets.first()),
                _ => (Vec::new(), None),
            };
            let Some(about) = about.filter(|_| remedy(fault.reason) == Remedy::LookFirst && views <= VIEWS)
            else {
                return Err(fault);
            };
            let view = self.agent.view_of(about, views == 1, self.tools)?;
            self.tools.survey(Skill::Look, view, Some(about))?;
            let map = self.tools.map()?;
            if !keys.iter().all(|key| map.get(key).is_some()) {
                return Err(fault);
            }
            keys.iter().for_each(|key| self.tools.add_to_inventory(key));
        }
    }
}

/// A fault as a tool tells it.
fn told(fault: &Fault) -> String {
    format!("{}: {}", fault.reason.code(), fault.message)
}

/// The calls of a turn with ids that are there and differ, also from those of other turns: an answer needs one.
fn distinct(calls: &[Call], turn: usize) -> Vec<Call> {
    let mut all: Vec<Call> = Vec::new();
    for call in calls {
        let mut call = call.clone();
        if call.id.is_empty() || all.iter().any(|other| other.id == call.id) {
            call.id = format!("call_{turn}_{}", all.len() + 1);
        }
        all.push(call);
    }
    all
}

/// A model's words as one short line for a person.
fn one_line(text: &str) -> String {
    let plain = text.trim().chars().map(|c| if c.is_control() { ' ' } else { c });
    plain.take(400).collect()
}

/// Leaves out what was said between the sentence and the last few turns; `facts` is what came of it.
fn shorten(messages: &mut Vec<Message>, facts: &[Value]) {
    let from = messages.len().saturating_sub(KEPT).max(2);
    // A call and its answer stay together.
    let is_turn = |message: &Message| matches!(message, Message::Assistant { .. });
    let Some(next) = messages.iter().skip(from).position(is_turn) else { return };
    let text = format!("Earlier turns are left out. Observed so far: {}", Value::Array(facts.to_vec()));
    messages.splice(2..from + next, [Message::User { text }]);
}

/// Whether a fault ends the goal whatever a model would do next.
pub(super) fn ends(reason: Reason) -> bool {
    match reason {
        Reason::Busy
        | Reason::Stopped
        | Reason::NotArmed
        | Reason::NotApproved
        | Reason::VerifierLost
        | Reason::PeerLost
        | Reason::Canceled
        | Reason::Timeout
        | Reason::Internal => true,
        Reason::NotUnderstood
        | Reason::NotFound
        | Reason::Ambiguous
        | Reason::Infeasible
        | Reason::Unsafe
        | Reason::VerifierRefused
        | Reason::NoGrasp
        | Reason::NoPlace
        | Reason::NoPlan
        | Reason::Slipped
        | Reason::OutcomeNotObserved
        | Reason::ControlFailed
        | Reason::SensorFault
        | Reason::Stale => false,
    }
}
