//! A model that writes a list of subtasks instead of calling tools: VLA2's strict planner (III-A).
//!
//! Three layers make its text usable: extraction, errors with another attempt (`subtasks.rs`), and, once the tolerance is exceeded, what
//! the grammar makes of the sentence, clause by clause. Where the grammar understands the whole sentence, a list that comes to another
//! plan than the sentence is an error, too: nothing moves by it. Each subtask is carried out and its outcome observed before the next
//! begins; what is done stays done when the model has to write the rest anew.

use super::Order;
use super::broken::{Broken, ends};
use super::prompt;
use super::subtasks::{Subtask, Written, opening, read};
use crate::agent::Agent;
use crate::language::{Goal, Step, parse};
use crate::planner::{Knowledge, Plan, is_same, noun};
use crate::report::{Outcome, Report, ended_unmoved};
use crate::talk::{self, Conversation, End, Message, Model, ModelFault, Usage};
use crate::tools::Toolbox;
use crate::world::{Fault, World};
use prehend_scene::{ObjectKey, Reason};
use serde_json::json;
use std::collections::VecDeque;

/// How often a text that cannot be used may be written anew (VLA2's error tolerance).
const TOLERANCE: u32 = 2;
/// How often the rest of a list may be written anew after a subtask that was not done.
const REPLANS: u32 = 2;

/// One goal with a list.
pub(super) struct Strict<'c> {
    agent: &'c Agent,
    order: &'c Order,
    talk: Conversation,
    held: Option<ObjectKey>,
    /// Commands that were done, and what came of them, in words.
    done: Vec<(String, String)>,
    tool_calls: u32,
    moved: bool,
}

impl<'c> Strict<'c> {
    pub(super) fn new(agent: &'c Agent, order: &'c Order, held: Option<ObjectKey>) -> Self {
        let talk = Conversation {
            text: order.text.clone(),
            messages: Vec::new(),
            turns: Vec::new(),
            usage: Usage::default(),
            question: None,
            warning: None,
        };
        Self { agent, order, talk, held, done: Vec::new(), tool_calls: 0, moved: false }
    }

    /// Carries the order out; whether the model was of no use before anything moved.
    pub(super) fn carry(mut self, model: &mut dyn Model, world: &mut dyn World) -> (Report, bool) {
        let result = self.run(model, world);
        let mut failed = false;
        let unmoved = !self.moved && self.done.is_empty();
        let (outcome, reason, message) = match result {
            Ok(message) => (Outcome::Done, None, message),
            Err(broken) => {
                let fault = broken.told();
                failed = broken.is_of_model() && unmoved;
                self.talk.warning = failed.then(|| fault.message.clone());
                let outcome = if unmoved { ended_unmoved(fault.reason) } else { Outcome::Failed };
                (outcome, Some(fault.reason), self.with_progress(&fault.message))
            }
        };
        let state = prehend_scene::SymbolicState { held_object: self.held, ..Default::default() };
        let talk = Some(Box::new(self.talk));
        (Report { outcome, reason, message, tool_calls: self.tool_calls, state, talk }, failed)
    }

    fn with_progress(&self, message: &str) -> String {
        if self.done.is_empty() {
            return message.to_owned();
        }
        let done: Vec<&str> = self.done.iter().map(|(_, said)| said.as_str()).collect();
        format!("{} Then: {message}", done.join(" "))
    }

    fn run(&mut self, model: &mut dyn Model, world: &mut dyn World) -> Result<String, Broken> {
        self.open(world)?;
        self.show(model, world);
        let mut open: VecDeque<Subtask> = self.list(model, world)?.into();
        let mut replans = 0;
        while let Some(subtask) = open.front() {
            let (readings, taken) = with_what_follows(subtask, open.get(1));
            let report = self.agent.run(&readings, world, self.held.clone());
            self.held.clone_from(&report.state.held_object);
            self.tool_calls += report.tool_calls;
            self.moved |= report.outcome != Outcome::Refused;
            let Some(reason) = report.reason else {
                let commands: Vec<String> = open.drain(..taken).map(|subtask| subtask.command).collect();
                self.done.push((commands.join("; "), report.message));
                continue;
            };
            let fault = Fault::new(reason, report.message);
            replans += 1;
            if ends(reason) || reason == Reason::Unsafe || replans > REPLANS {
                return Err(fault.into());
            }
            let failed = subtask.command.clone();
            let done: Vec<&str> = self.done.iter().map(|(command, _)| command.as_str()).collect();
            let told = json!({
                "done": done, "not_done": failed, "reason": fault.reason.code(), "message": fault.message, "held": self.held,
            });
            let text = format!(
                "```json\n{told}\n```\nWrite the list of what is left to do, in the same format; what is done stays done."
            );
            self.talk.messages.push(Message::User { text });
            self.show(model, world);
            open = match self.list(model, world) {
                Ok(rest) => rest.into(),
                // What stood in the way is said, and not what the model made of it.
                Err(Broken::Model(ModelFault::Interrupted(fault))) => return Err(fault.into()),
                Err(_) => return Err(fault.into()),
            };
        }
        let done: Vec<&str> = self.done.iter().map(|(_, said)| said.as_str()).collect();
        Ok(done.join(" "))
    }

    /// Shows the scene to a model that sees.
    fn show(&mut self, model: &dyn Model, world: &mut dyn World) {
        if model.sees() {
            let picture = self.toolbox(world).picture();
            talk::show(&mut self.talk.messages, picture);
        }
    }

    /// The rules, and what is seen; or the answer that the model has asked for.
    fn open(&mut self, world: &mut dyn World) -> Result<(), Broken> {
        let mut tools = self.toolbox(world);
        if let Some(open) = &self.order.answers {
            let answer = prompt::answer(&self.order.text, tools.state());
            self.talk.text.clone_from(&open.text);
            self.talk.messages = open.messages.iter().cloned().chain([answer]).collect();
            return Ok(());
        }
        let map = tools.map()?;
        let seen: Vec<String> = map.objects.iter().map(noun).collect();
        let state = tools.state().clone();
        self.talk.messages = opening(&self.order.text, &seen, &state, &self.agent.lexicon);
        Ok(())
    }

    fn toolbox<'w>(&'w self, world: &'w mut dyn World) -> Toolbox<'w> {
        Toolbox::new(world, &self.agent.lexicon, self.held.clone(), self.agent.settings.step_limit)
    }

    /// A list that can be carried out: the model's, or after too many errors the grammar's.
    fn list(&mut self, model: &mut dyn Model, world: &mut dyn World) -> Result<Vec<Subtask>, Broken> {
        let mut errors = 0;
        loop {
            let turn = model.turn(&self.talk.messages, &[]).map_err(Broken::Model)?;
            self.talk.took(&turn);
            world.model_said(&turn);
            self.talk.messages.push(Message::Assistant { text: turn.text.clone(), calls: Vec::new() });
            let wrong = match (turn.end, read(&turn.text, &self.agent.lexicon)) {
                (End::Declined, _) => {
                    let message = "The language model declines to plan this.";
                    return Err(Fault::new(Reason::Infeasible, message).into());
                }
                (End::Cut, _) => "Your output was cut by its greatest length. Be brief.".to_owned(),
                (End::Complete, Ok(Written::Ask(question))) => {
                    self.talk.question = Some(question.clone());
                    return Err(Fault::new(Reason::Ambiguous, question).into());
                }
                (End::Complete, Ok(Written::Refuse(why))) => {
                    return Err(Fault::new(Reason::Infeasible, why).into());
                }
                (End::Complete, Ok(Written::List(subtasks))) => match self.misses(&subtasks, world)? {
                    None => return Ok(subtasks),
                    Some(wrong) => wrong,
                },
                (End::Complete, Err(wrong)) => wrong,
            };
            errors += 1;
            if errors > TOLERANCE {
                return self.by_grammar(&wrong);
            }
            self.talk.messages.push(Message::User { text: format!("{wrong} Task: {}", self.talk.text) });
        }
    }

    /// What is wrong with a list besides its format: it is unsafe, or does otherwise than the sentence where the grammar understands that.
    ///
    /// Errors: unsafe, and faults that end the goal.
    fn misses(&self, subtasks: &[Subtask], world: &mut dyn World) -> Result<Option<String>, Fault> {
        for subtask in subtasks {
            if let Some(violation) = self.agent.policy.check_sentence(&subtask.command, &self.agent.lexicon) {
                return Err(Fault::new(Reason::Unsafe, violation.to_string()));
            }
        }
        if self.order.readings.is_empty() {
            return Ok(None);
        }
        let agent = self.agent;
        let knowledge =
            Knowledge { lexicon: &agent.lexicon, policy: &agent.policy, settings: &agent.settings };
        let mut tools = self.toolbox(world);
        let mut plan_of =
            |goal: &Goal| match agent.plan_surely(std::slice::from_ref(goal), &mut tools, knowledge) {
                Ok(plan) => Ok(Some(plan)),
                Err(fault) if ends(fault.reason) || fault.reason == Reason::Unsafe => Err(fault),
                Err(_) => Ok(None),
            };
        let mut meant: Vec<Plan> = Vec::new();
        for reading in &self.order.readings {
            meant.extend(plan_of(reading)?);
        }
        if meant.is_empty() {
            return Ok(None);
        }
        let all = subtasks.iter().filter_map(|subtask| subtask.readings.first()).flat_map(steps_of).cloned();
        let fits = plan_of(&Goal::Steps(all.collect()))?
            .is_some_and(|plan| meant.iter().any(|meant| is_same(meant, &plan)));
        Ok((!fits).then(|| {
            "PAY MORE ATTENTION TO THE TASK: your list does something else than the task asks for, or names what is not there."
                .to_owned()
        }))
    }

    /// Layer (c): the grammar's reading of the sentence, whole or clause by clause; only while nothing is done.
    fn by_grammar(&mut self, wrong: &str) -> Result<Vec<Subtask>, Broken> {
        let useless = || {
            let message =
                format!("its lists cannot be used ({})", wrong.chars().take(160).collect::<String>());
            Broken::Model(ModelFault::Unavailable(message))
        };
        // A sentence that was begun, or is an answer, is not one to read anew.
        if !self.done.is_empty() || self.moved || self.order.answers.is_some() {
            return Err(useless());
        }
        let text = &self.order.text;
        let whole = (!self.order.readings.is_empty()).then(|| self.order.readings.clone());
        let list = match whole {
            Some(readings) => vec![Subtask { command: text.clone(), readings }],
            None => clauses(text, &self.agent.lexicon).ok_or_else(useless)?,
        };
        self.talk.warning =
            Some(format!("the language model's lists cannot be used; the grammar's reading stands: {wrong}"));
        Ok(list)
    }
}

fn steps_of(goal: &Goal) -> &[Step] {
    match goal {
        Goal::Steps(steps) => steps,
        Goal::Question(_) | Goal::Lesson { .. } | Goal::Conditional { .. } => &[],
    }
}

/// The readings of a subtask, and how many of the list they are: picking something up to place it is one errand, so that it is not put
/// aside between the two.
fn with_what_follows(subtask: &Subtask, next: Option<&Subtask>) -> (Vec<Goal>, usize) {
    let picked = |goal: &Goal| match steps_of(goal) {
        [Step::Pick { objects, .. }] => Some(objects.clone()),
        _ => None,
    };
    let (Some(next), Some(objects)) = (next, subtask.readings.first().and_then(picked)) else {
        return (subtask.readings.clone(), 1);
    };
    let both = next.readings.iter().filter_map(|goal| match steps_of(goal) {
        [place @ Step::Place { objects: placed, .. }] if placed.len() == objects.len() => {
            let same =
                placed.iter().zip(&objects).all(|(a, b)| a.head == b.head && a.attributes == b.attributes);
            let pick = steps_of(subtask.readings.first()?).first()?.clone();
            same.then(|| Goal::Steps(vec![pick, place.clone()]))
        }
        _ => None,
    });
    let both: Vec<Goal> = both.collect();
    if both.is_empty() { (subtask.readings.clone(), 1) } else { (both, 2) }
}

/// A sentence that is no sentence to the grammar, clause by clause; `None` when one of them is none either.
fn clauses(text: &str, lexicon: &crate::language::Lexicon) -> Option<Vec<Subtask>> {
    let mut parts = vec![text.to_owned()];
    for joint in [" and then ", ", then ", "; ", ". ", ", and ", " then ", " and ", ", "] {
        parts = parts.iter().flat_map(|part| part.split(joint)).map(str::to_owned).collect();
        let read: Option<Vec<Subtask>> = parts
            .iter()
            .filter(|part| !part.trim().is_empty())
            .map(|part| {
                let readings = parse(part, lexicon).ok()?;
                let is_step = readings.iter().all(|goal| matches!(goal, Goal::Steps(_)));
                is_step.then(|| Subtask { command: part.trim().to_owned(), readings })
            })
            .collect();
        if read.as_ref().is_some_and(|list| !list.is_empty()) {
            return read;
        }
    }
    None
}
