//! A language model as the planner (ASP III-B): it calls the tools, and nothing it says is believed.
//!
//! The policy judges the sentence before the model sees it, and each action before it is carried out; the verifier gates every
//! motion as always; `finish` is held against what was observed. Where the grammar understands the sentence, its own plan says what
//! has to be observed. What a model cannot name: a pose, a joint, a force.
//! Read [`Model`] first, then `course.rs`; `strict.rs` is for models that write a list of subtasks instead (VLA2 III-A).

mod broken;
mod course;
mod observed;
mod order;
mod prompt;
mod shape;
mod strict;
mod subtasks;

pub use order::{Order, Planner};

use crate::agent::Agent;
use crate::language::answer::Asked;
use crate::language::{Goal, parse};
use crate::planner::refuse_at_once;
use crate::report::{Outcome, Report, ended_unmoved};
use crate::talk::{Conversation, Model, Tool};
use crate::tools::Toolbox;
use crate::world::{Fault, World};
use course::Course;
use prehend_scene::{ObjectKey, Reason};
use strict::Strict;

/// The tools that a model, or a program, may call: ASP's (III-C), and the ways to end.
pub fn tools(drives: bool) -> Vec<Tool> {
    prompt::tools(drives)
}

impl Agent {
    /// What a sentence means to whoever plans, checked against the policy; nothing is looked at. With a model a sentence need not be
    /// understood by the grammar. `open` is a conversation that waits for an answer.
    ///
    /// Errors: unsafe, and what the planner cannot take: not_understood, or infeasible whatever the scene.
    pub fn order(
        &self,
        text: &str,
        planner: Planner,
        open: Option<Box<Conversation>>,
    ) -> Result<Order, Fault> {
        // Without words there is nothing to ask a model.
        if planner == Planner::Builtin || text.trim().is_empty() {
            let readings = self.understand(text)?;
            return Ok(Order { text: text.to_owned(), readings, refusal: None, answers: None });
        }
        if let Some(violation) = self.policy.check_sentence(text, &self.lexicon) {
            return Err(Fault::new(Reason::Unsafe, violation.to_string()));
        }
        let (mut readings, mut refusal) = match parse(text, &self.lexicon) {
            Ok(readings) => (readings, None),
            Err(error) => (Vec::new(), Some(Fault::new(Reason::NotUnderstood, error.message))),
        };
        refusal = refusal.or_else(|| readings.first().and_then(refuse_at_once));
        readings.retain(|reading| refuse_at_once(reading).is_none());
        match refusal {
            Some(refusal) if refusal.reason == Reason::Unsafe => Err(refusal),
            // A whole sentence begins anew; anything else is the answer that is waited for.
            refusal => {
                let answers = open.filter(|_| readings.is_empty());
                let refusal = refusal.filter(|_| readings.is_empty());
                // What the model does now is held against the first sentence with its answer.
                if let Some(open) = &answers {
                    readings = self.with_answer(&open.text, text)?;
                }
                Ok(Order { text: text.to_owned(), readings, refusal, answers })
            }
        }
    }

    /// The readings of a sentence with the answer to what was asked about it; none when the grammar has none.
    ///
    /// Errors: unsafe.
    fn with_answer(&self, text: &str, answer: &str) -> Result<Vec<Goal>, Fault> {
        let readings = parse(text, &self.lexicon).unwrap_or_default();
        let asked = Asked { text: text.to_owned(), readings };
        Ok(self.answer(&asked, answer)?.map_or(Vec::new(), |(order, _)| order.readings))
    }

    /// What a sentence means as the answer to a question that the built-in planner has asked: an order, and what may be asked about it again.
    /// `None` when it is no answer.
    ///
    /// Errors: unsafe.
    pub fn answer(&self, asked: &Asked, text: &str) -> Result<Option<(Order, Asked)>, Fault> {
        let Some(answered) = asked.answered(text, &self.lexicon) else { return Ok(None) };
        for text in [text, &answered.text] {
            if let Some(violation) = self.policy.check_sentence(text, &self.lexicon) {
                return Err(Fault::new(Reason::Unsafe, violation.to_string()));
            }
        }
        let mut readings = answered.readings.clone();
        readings.retain(|reading| refuse_at_once(reading).is_none());
        if readings.is_empty() {
            return Ok(None);
        }
        let order = Order { text: answered.text.clone(), readings, refusal: None, answers: None };
        Ok(Some((order, answered)))
    }

    /// Carries out an order to its end, with a model where the planner asks for one; without one the built-in planner's answer stands.
    pub fn carry(
        &self,
        order: &Order,
        planner: Planner,
        model: Option<&mut dyn Model>,
        world: &mut dyn World,
        held: Option<ObjectKey>,
    ) -> Report {
        let builtin = |world: &mut dyn World| match &order.refusal {
            Some(refusal) => refused(refusal, held.clone()),
            None => self.run(&order.readings, world, held.clone()),
        };
        match (planner, model) {
            // What a person teaches is no matter of a model.
            _ if matches!(order.readings.as_slice(), [Goal::Lesson { .. }]) => builtin(world),
            (Planner::Model, Some(model)) => {
                let (mut report, failed) = self.converse(order, model, world, held);
                // Nobody else answers in its place, unless the grammar has read what its list should have said.
                if let Some(talk) = report.talk.as_mut().filter(|_| failed) {
                    talk.warning = None;
                }
                report
            }
            (Planner::Hybrid, Some(model)) if order.refusal.is_some() => {
                let (report, failed) = self.converse(order, model, world, held.clone());
                if failed { unaided(builtin(world), report) } else { report }
            }
            (Planner::Hybrid, Some(model)) => {
                let report = builtin(world);
                // One reading that fits several things is a question to the person, and no matter of words.
                let is_twofold = order.readings.len() > 1
                    && report.outcome == Outcome::Refused
                    && report.reason == Some(Reason::Ambiguous);
                if !is_twofold {
                    return report;
                }
                let (with_model, failed) = self.converse(order, model, world, held);
                if failed { unaided(report, with_model) } else { with_model }
            }
            (Planner::Builtin | Planner::Model | Planner::Hybrid, _) => builtin(world),
        }
    }

    /// Carries out an order with a model alone; whether it ended because the model was of no use before anything moved.
    fn converse(
        &self,
        order: &Order,
        model: &mut dyn Model,
        world: &mut dyn World,
        held: Option<ObjectKey>,
    ) -> (Report, bool) {
        if model.writes_lists() {
            return Strict::new(self, order, held).carry(model, world);
        }
        let mut tools = Toolbox::new(world, &self.lexicon, held, self.settings.step_limit);
        let mut course = Course::new(self, order, &mut tools);
        let result = course.run(model);
        let mut talk = course.into_conversation();
        let moved = tools.moved();
        let ended = |fault: &Fault| if moved { Outcome::Failed } else { ended_unmoved(fault.reason) };
        let mut failed = false;
        let (outcome, reason, message) = match result {
            Ok(message) => (Outcome::Done, None, message),
            Err(broken) => {
                let fault = broken.told();
                failed = broken.is_of_model() && !moved;
                talk.warning = failed.then(|| fault.message.clone());
                (ended(&fault), Some(fault.reason), fault.message)
            }
        };
        let words = tools.settle_words(outcome, reason);
        let message = words.map_or(message.clone(), |words| format!("{message} {words}"));
        let (tool_calls, state) = (tools.calls(), tools.state().clone());
        (Report { outcome, reason, message, tool_calls, state, talk: Some(Box::new(talk)) }, failed)
    }
}

/// The built-in planner's end of a goal for which a model was of no use.
fn unaided(builtin: Report, with_model: Report) -> Report {
    Report { talk: with_model.talk, tool_calls: builtin.tool_calls + with_model.tool_calls, ..builtin }
}

/// The end of a goal that was never begun.
fn refused(fault: &Fault, held: Option<ObjectKey>) -> Report {
    let state = prehend_scene::SymbolicState { held_object: held, ..Default::default() };
    Report {
        outcome: Outcome::Refused,
        reason: Some(fault.reason),
        message: fault.message.clone(),
        tool_calls: 0,
        state,
        talk: None,
    }
}
