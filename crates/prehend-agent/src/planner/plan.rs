//! Actions and plans, and when two come to the same.

use prehend_scene::{Area, Compartment, ObjectKey, Relation};

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

/// The part an action names.
fn part_of(action: &mut Action) -> Option<&mut Option<String>> {
    match action {
        Action::Pick { part, .. } | Action::Place { part, .. } | Action::Act { part, .. } => Some(part),
        _ => None,
    }
}

/// Letters of the parts that a plan names.
pub(super) fn parts_named(plan: &Plan) -> usize {
    let Plan::Actions(actions) = plan else { return 0 };
    let mut actions = actions.clone();
    actions.iter_mut().filter_map(part_of).filter_map(|part| part.as_ref()).map(String::len).sum()
}

/// The plan with no part named, and without the halt that every plan ends with.
pub(super) fn essence(plan: &Plan) -> Plan {
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
