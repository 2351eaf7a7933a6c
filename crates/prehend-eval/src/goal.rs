//! Goals as data.

use crate::place::Side;
use prehend_scene::Reason;
use serde::{Deserialize, Serialize};

/// What a sentence asks for, in names of the scene file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GoalSpec {
    /// What is right.
    pub expected: Expected,
    /// Objects that the goal moves; whatever else moves is collateral, except what they carry.
    pub may_move: Vec<String>,
}

/// What the right end of a goal is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Expected {
    /// All of these hold in the end.
    World(Vec<Predicate>),
    /// A refusal with one of these reasons, and no motion.
    Refusal(Vec<Reason>),
    /// An answer, and no motion.
    Answer(Answer),
    /// It is carried out without changing any object ("go home"): nothing for physics to judge.
    Carried,
}

/// What an answer must say.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Answer {
    /// This number, as a numeral or a word ("no" and "none" for 0).
    Count(u32),
    /// Yes or no.
    YesNo(bool),
    /// All of these words, and none of the others.
    Words {
        /// Words that must be said.
        said: Vec<String>,
        /// Words that must not.
        not_said: Vec<String>,
    },
    /// Anything: the judge has no truth for this question.
    Any,
}

/// Something that is true or false of a physics snapshot; `object`, `target`, ... are names of the scene file.
/// The geometry of each is in [`place`](crate::place).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Predicate {
    /// The object lies or stands on the target (or in it, when the target is hollow like a plate).
    On {
        /// What was placed.
        object: String,
        /// What carries it.
        target: String,
    },
    /// The object is inside the target.
    In {
        /// What was placed.
        object: String,
        /// What contains it.
        target: String,
    },
    /// The object is in the room at one side of a divided target.
    InRoom {
        /// What was placed.
        object: String,
        /// What contains it.
        target: String,
        /// Which of its rooms, as the robot sees it.
        side: Side,
    },
    /// The object stands on the table close beside the target.
    NextTo {
        /// What was placed.
        object: String,
        /// What it is beside.
        target: String,
    },
    /// The object is left (+y) of the target.
    LeftOf {
        /// What was placed.
        object: String,
        /// What it is left of.
        target: String,
    },
    /// The object is right (-y) of the target.
    RightOf {
        /// What was placed.
        object: String,
        /// What it is right of.
        target: String,
    },
    /// The object is nearer to the robot (-x) than the target.
    InFrontOf {
        /// What was placed.
        object: String,
        /// What it is in front of.
        target: String,
    },
    /// The object is farther from the robot (+x) than the target.
    Behind {
        /// What was placed.
        object: String,
        /// What it is behind.
        target: String,
    },
    /// The object is between the two targets.
    Between {
        /// What was placed.
        object: String,
        /// One side.
        first: String,
        /// The other side.
        second: String,
    },
    /// The gripper holds the object, off the table.
    Held {
        /// What was picked.
        object: String,
    },
    /// The object stands on the table itself, on and in nothing else.
    OnTable {
        /// What was placed.
        object: String,
    },
    /// The object was moved and is now well apart from the targets (from every other object when there are none).
    Away {
        /// What was moved.
        object: String,
        /// What it is away from.
        targets: Vec<String>,
    },
    /// The object's centre is in this rectangle of the table.
    InArea {
        /// What was placed.
        object: String,
        /// Range of x, metres.
        x: [f64; 2],
        /// Range of y, metres.
        y: [f64; 2],
    },
    /// The object was moved, more than what counts as disturbed.
    Moved {
        /// What was moved.
        object: String,
    },
    /// The object is where it was.
    Unmoved {
        /// What stays.
        object: String,
    },
    /// A joint of the object is in a state in the end: `open`, `closed`, `on`, `off`.
    InState {
        /// What was acted on: an object, or a link with a class of its own (`cabinet/top drawer`).
        object: String,
        /// The state.
        state: String,
    },
    /// A joint of the object was in a state at some time of the run: `pressed`.
    WasInState {
        /// What was acted on.
        object: String,
        /// The state.
        state: String,
    },
    /// A joint of the object is in another place than before.
    Turned {
        /// What was acted on.
        object: String,
    },
    /// At least so many of these hold.
    AtLeast {
        /// How many.
        count: usize,
        /// Of which.
        of: Vec<Predicate>,
    },
    /// All of these hold.
    All(Vec<Predicate>),
}

impl GoalSpec {
    /// A goal whose objects are all moved and nothing else.
    pub fn world(predicates: Vec<Predicate>) -> Self {
        let mut may_move: Vec<String> = predicates.iter().flat_map(Predicate::objects).collect();
        may_move.sort();
        may_move.dedup();
        Self { expected: Expected::World(predicates), may_move }
    }

    /// A goal that must be refused with one of these reasons.
    pub fn refusal(reasons: &[Reason]) -> Self {
        Self { expected: Expected::Refusal(reasons.to_vec()), may_move: Vec::new() }
    }

    /// A question.
    pub fn answer(answer: Answer) -> Self {
        Self { expected: Expected::Answer(answer), may_move: Vec::new() }
    }
}

impl Predicate {
    /// Names of the objects that are moved to make it true.
    pub fn objects(&self) -> Vec<String> {
        match self {
            Self::On { object, .. }
            | Self::In { object, .. }
            | Self::InRoom { object, .. }
            | Self::NextTo { object, .. }
            | Self::LeftOf { object, .. }
            | Self::RightOf { object, .. }
            | Self::InFrontOf { object, .. }
            | Self::Behind { object, .. }
            | Self::Between { object, .. }
            | Self::Held { object }
            | Self::OnTable { object }
            | Self::Away { object, .. }
            | Self::InArea { object, .. }
            | Self::InState { object, .. }
            | Self::WasInState { object, .. }
            | Self::Turned { object }
            | Self::Moved { object } => vec![object.clone()],
            Self::Unmoved { .. } => Vec::new(),
            Self::AtLeast { of, .. } | Self::All(of) => of.iter().flat_map(Self::objects).collect(),
        }
    }

    /// Names of all objects and targets in it.
    pub fn names(&self) -> Vec<String> {
        match self {
            Self::On { object, target }
            | Self::In { object, target }
            | Self::InRoom { object, target, .. }
            | Self::NextTo { object, target }
            | Self::LeftOf { object, target }
            | Self::RightOf { object, target }
            | Self::InFrontOf { object, target }
            | Self::Behind { object, target } => vec![object.clone(), target.clone()],
            Self::Between { object, first, second } => vec![object.clone(), first.clone(), second.clone()],
            Self::Away { object, targets } => std::iter::once(object).chain(targets).cloned().collect(),
            Self::Held { object }
            | Self::OnTable { object }
            | Self::InArea { object, .. }
            | Self::Moved { object }
            | Self::Unmoved { object }
            | Self::InState { object, .. }
            | Self::WasInState { object, .. }
            | Self::Turned { object } => vec![object.clone()],
            Self::AtLeast { of, .. } | Self::All(of) => of.iter().flat_map(Self::names).collect(),
        }
    }
}
