//! One goal with a model: turn by turn, until it asks, refuses or finishes, or is of no use.

mod call;
mod checked;

use super::Order;
use super::broken::{Broken, ends};
use super::observed::{Observed, fact};
use super::prompt;
use super::shape::misfit;
use crate::agent::Agent;
use crate::language::{Goal, token};
use crate::planner::{Knowledge, Plan};
use crate::talk::{self, Call, Conversation, End, Message, Model, ModelFault, Tool, Turn, Usage};
use crate::tools::Toolbox;
use crate::world::Fault;
use prehend_scene::{ObjectKey, Reason};
use serde_json::{Value, json};
use std::collections::HashMap;

/// Turns without one usable call after which the model is given up.
const NONSENSE: u32 = 3;
/// How often one call may be made with the same answer: at the first number it is told so, at the second it is given up.
const REPEATS: (u32, u32) = (3, 6);
/// Most turns of one goal: a model that goes on so long does not come to an end.
const TURNS: usize = 80;
/// Messages that stay as they are when a conversation is shortened.
const KEPT: usize = 8;

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

/// Leaves out what was said between the sentence and the last few turns; `facts` is what came of it.
fn shorten(messages: &mut Vec<Message>, facts: &[Value]) {
    let from = messages.len().saturating_sub(KEPT).max(2);
    // A call and its answer stay together.
    let is_turn = |message: &Message| matches!(message, Message::Assistant { .. });
    let Some(next) = messages.iter().skip(from).position(is_turn) else { return };
    let text = format!("Earlier turns are left out. Observed so far: {}", Value::Array(facts.to_vec()));
    messages.splice(2..from + next, [Message::User { text }]);
}
