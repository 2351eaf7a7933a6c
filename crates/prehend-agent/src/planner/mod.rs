//! The built-in planner: grounds every step of a goal in the map by calling tools, before anything moves.
//!
//! A refusal is a [`Fault`] with one of the reasons not_understood, not_found, ambiguous, infeasible, unsafe; its
//! message names the nearest alternative or asks the question that settles it. Read [`Plan`] first.

mod act;
mod answer;
mod choose;
mod describe;
mod feasible;
mod furniture;
mod ground;
mod judge;
mod knowledge;
mod panels;
mod parts;
mod plan;
mod relate;
mod room;
mod rows;
mod spot;
mod steps;

use crate::language::{Goal, NounPhrase};
use crate::tools::Toolbox;
use crate::world::Fault;
use plan::{essence, parts_named};
use prehend_scene::{ObjectKey, Reason};

pub(crate) use act::faces_front;
pub(crate) use describe::{action_words, describe, describe_apart, listed, noun, plan_words};
pub use feasible::refuse_at_once;
pub(crate) use furniture::{is_furniture, stands_in_or_on};
pub(crate) use judge::judge;
pub(crate) use knowledge::Knowledge;
pub use knowledge::Settings;
pub(crate) use plan::is_same;
pub use plan::{Action, Plan, Spot};
pub(crate) use rows::is_made;

/// Grounds a goal given by its readings, best first. Nothing moves.
///
/// Errors: a refusal, or the fault of a tool.
pub(crate) fn plan(
    readings: &[Goal],
    tools: &mut Toolbox<'_>,
    knowledge: Knowledge<'_>,
) -> Result<Plan, Fault> {
    tools.begin_plan();
    let mut plans: Vec<Plan> = Vec::new();
    let mut refusals: Vec<Fault> = Vec::new();
    for reading in readings {
        match plan_reading(reading, tools, knowledge) {
            Ok(plan) => {
                match plans.iter_mut().find(|other| essence(other) == essence(&plan)) {
                    // The same but for a part that only one of them names: that one says more.
                    Some(other) if parts_named(&plan) > parts_named(other) => *other = plan,
                    Some(_) => {}
                    None => plans.push(plan),
                }
            }
            Err(fault) if is_refusal(fault.reason) => refusals.push(fault),
            Err(fault) => return Err(fault),
        }
    }
    // A reading that asks for what is already so is not what was meant when another asks for something.
    if plans.iter().any(|plan| matches!(plan, Plan::Actions(_))) {
        plans.retain(|plan| matches!(plan, Plan::Actions(_)));
    }
    match (plans.len(), refusals.is_empty()) {
        (1, _) => Ok(plans.remove(0)),
        (0, false) => {
            refusals.sort_by_key(|fault| match fault.reason {
                Reason::Unsafe => 0,
                Reason::Ambiguous => 1,
                Reason::Infeasible => 2,
                _ => 3,
            });
            Err(refusals.remove(0))
        }
        (0, true) => Err(Fault::new(Reason::Internal, "the sentence has no reading")),
        _ => {
            let map = tools.map()?;
            let meant: Vec<String> = plans.iter().map(|plan| describe::plan_words(plan, &map)).collect();
            let message = format!("This can mean two things: {}. Which one?", meant.join("; or "));
            Err(Fault::new(Reason::Ambiguous, message))
        }
    }
}

/// What a phrase means in the map that is read now; empty when it means nothing there.
///
/// Errors: the fault of a tool.
pub(crate) fn meant_here(
    phrase: &NounPhrase,
    tools: &mut Toolbox<'_>,
    knowledge: Knowledge<'_>,
) -> Result<Vec<ObjectKey>, Fault> {
    match ground::Grounder::new(tools, knowledge).candidates(phrase) {
        Ok(keys) => Ok(keys),
        Err(fault) if is_refusal(fault.reason) => Ok(Vec::new()),
        Err(fault) => Err(fault),
    }
}

fn is_refusal(reason: Reason) -> bool {
    matches!(
        reason,
        Reason::NotUnderstood | Reason::NotFound | Reason::Ambiguous | Reason::Infeasible | Reason::Unsafe
    )
}

fn plan_reading(reading: &Goal, tools: &mut Toolbox<'_>, knowledge: Knowledge<'_>) -> Result<Plan, Fault> {
    if let Some(refusal) = refuse_at_once(reading) {
        return Err(refusal);
    }
    let mut grounder = ground::Grounder::new(tools, knowledge);
    match reading {
        Goal::Steps(steps) => grounder.plan_steps(steps),
        Goal::Question(question) => grounder.answer(question).map(Plan::Answer),
        Goal::Lesson { word, means } => grounder.tools.teach(word, means).map(Plan::Answer),
        Goal::Conditional { condition, then, otherwise } => {
            let (holds, told) = grounder.decide(condition)?;
            match if holds { then.as_slice() } else { otherwise.as_slice() } {
                [] => Ok(Plan::Answer(format!("{told} So there is nothing to do."))),
                steps => grounder.plan_steps(steps),
            }
        }
    }
}
