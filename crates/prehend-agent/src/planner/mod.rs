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
mod panels;
mod parts;
mod relate;
mod rows;
mod spot;
mod steps;

use crate::language::{Goal, Lexicon, NounPhrase};
use crate::policy::{Policy, Workspace};
use crate::tools::Toolbox;
use crate::world::Fault;
use prehend_scene::{Area, Compartment, ObjectKey, Reason, Relation};

pub(crate) use act::faces_front;
pub(crate) use describe::{action_words, describe, describe_apart, listed, noun, plan_words};
pub use feasible::refuse_at_once;
pub(crate) use furniture::{is_furniture, stands_in_or_on};
pub(crate) use judge::judge;
pub(crate) use rows::is_made;

/// A part of the table where something shall stand.
#[derive(Clone, Debug, PartialEq)]
pub struct Spot {
    /// Where its middle shall be, map frame.
    pub area: Area,
    /// The place in words, after "is" or "put": "on the left of the table".
    pub words: String,
}

/// One action of a plan; objects are grasped when they are not held.
#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    /// Grasp and hold.
    Pick {
        /// The object.
        object: ObjectKey,
        /// Part to grasp it by.
        part: Option<String>,
    },
    /// Grasp, unless held, and put somewhere.
    Place {
        /// The object.
        object: ObjectKey,
        /// Where to.
        relation: Relation,
        /// Targets of the relation.
        targets: Vec<ObjectKey>,
        /// It ends well when there is no room for it any more.
        until_full: bool,
        /// Whether to let it fall a short way.
        drop: bool,
        /// Part to grasp it by.
        part: Option<String>,
        /// Which room of a divided target is meant.
        compartment: Option<Compartment>,
        /// Which part of the table is meant; only with [`Relation::Table`].
        spot: Option<Spot>,
    },
    /// Act on a part.
    Act {
        /// The object.
        object: ObjectKey,
        /// The verb, base form with its particle, as the table of actions has it.
        action: String,
        /// Part to act on; `None` is what the table and the geometry prefer.
        part: Option<String>,
    },
    /// Drive to an object.
    Go {
        /// The object.
        object: ObjectKey,
    },
    /// Move the arm home.
    Home,
    /// Look again from elsewhere.
    Look,
    /// Hold still.
    Stop,
    /// Nothing: what a step asks for is so already, as this clause says it.
    Already(String),
}

impl Action {
    /// Puts something somewhere, gripped as it comes and set down.
    pub(crate) fn place(object: ObjectKey, relation: Relation, targets: Vec<ObjectKey>) -> Self {
        let (part, compartment, spot) = (None, None, None);
        Self::Place { object, relation, targets, until_full: false, drop: false, part, compartment, spot }
    }

    /// Puts something onto the table, into a part of it when one is meant.
    pub(crate) fn put_on_table(object: ObjectKey, spot: Option<Spot>) -> Self {
        let (relation, targets, part, compartment) = (Relation::Table, Vec::new(), None, None);
        Self::Place { object, relation, targets, until_full: false, drop: false, part, compartment, spot }
    }
}

/// A goal, grounded.
#[derive(Clone, Debug, PartialEq)]
pub enum Plan {
    /// Actions in order; not empty.
    Actions(Vec<Action>),
    /// Nothing has to be done; the message answers the question or says why.
    Answer(String),
}

/// What the planner needs to know of the robot, and its margins.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    /// Where things may be put, map frame.
    pub workspace: Workspace,
    /// Greatest distance between the pads, metres.
    pub gripper_opening: f64,
    /// How far a `drop` lets things fall, metres.
    pub drop_height: f64,
    /// Least ratio of sizes that tells the largest from the second.
    pub size_ratio: f64,
    /// Retries of one step.
    pub retries: u32,
    /// Most things that one action puts aside to get at what it is about; 0 tells the person instead.
    pub clearings: u32,
    /// Most tool calls of one goal.
    pub step_limit: u32,
    /// Name of the survey pose that sees upright faces, if the robot has one.
    pub front_view: Option<&'static str>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            workspace: Workspace { min: [0.08, -0.55, -0.05], max: [0.78, 0.55, 0.8] },
            gripper_opening: 0.085,
            drop_height: 0.10,
            size_ratio: 1.10,
            retries: 3,
            clearings: 3,
            step_limit: 150,
            front_view: None,
        }
    }
}

/// What everything in the planner looks up.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Knowledge<'a> {
    pub(crate) lexicon: &'a Lexicon,
    pub(crate) policy: &'a Policy,
    pub(crate) settings: &'a Settings,
}

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

/// The part an action names.
fn part_of(action: &mut Action) -> Option<&mut Option<String>> {
    match action {
        Action::Pick { part, .. } | Action::Place { part, .. } | Action::Act { part, .. } => Some(part),
        _ => None,
    }
}

/// Letters of the parts that a plan names.
fn parts_named(plan: &Plan) -> usize {
    let Plan::Actions(actions) = plan else { return 0 };
    let mut actions = actions.clone();
    actions.iter_mut().filter_map(part_of).filter_map(|part| part.as_ref()).map(String::len).sum()
}

/// The plan with no part named, and without the halt that every plan ends with.
fn essence(plan: &Plan) -> Plan {
    let mut plan = plan.clone();
    if let Plan::Actions(actions) = &mut plan {
        actions.iter_mut().filter_map(part_of).for_each(|part| *part = None);
        if let [_, .., Action::Stop] = actions.as_slice() {
            actions.pop();
        }
    }
    plan
}

/// Whether two plans come to the same: what is picked up to be put down is named by its placing, what is so already is not done, and
/// actions that have nothing to do with each other may come in another order.
pub(crate) fn is_same(one: &Plan, other: &Plan) -> bool {
    let actions = |plan: &Plan| match essence(plan) {
        Plan::Answer(_) => None,
        Plan::Actions(actions) => {
            let places = |object: &ObjectKey, from: usize| {
                actions[from..]
                    .iter()
                    .any(|a| matches!(a, Action::Place { object: placed, .. } if placed == object))
            };
            let kept = actions.iter().enumerate().filter(|(at, action)| match action {
                Action::Pick { object, .. } => !places(object, *at),
                Action::Already(_) => false,
                _ => true,
            });
            Some(kept.map(|(_, action)| action.clone()).collect::<Vec<_>>())
        }
    };
    let (Some(one), Some(mut other)) = (actions(one), actions(other)) else {
        return essence(one) == essence(other);
    };
    if one == other {
        return true;
    }
    let moved = |action: &Action| match action {
        Action::Place { object, .. } | Action::Pick { object, .. } | Action::Act { object, .. } => {
            Some(object.clone())
        }
        _ => None,
    };
    let targets = |action: &Action| match action {
        Action::Place { targets, .. } => targets.clone(),
        _ => Vec::new(),
    };
    let objects: Vec<ObjectKey> = one.iter().filter_map(moved).collect();
    let depends = one.iter().flat_map(targets).any(|target| objects.contains(&target))
        || objects.iter().enumerate().any(|(at, object)| objects[..at].contains(object));
    if depends || one.len() != other.len() {
        return false;
    }
    one.iter().all(|action| match other.iter().position(|o| o == action) {
        Some(at) => {
            other.remove(at);
            true
        }
        None => false,
    })
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
