//! What a sentence means, before anything is looked for: goals, steps, questions and noun phrases.
//!
//! These types hold words, not objects. Directions are the robot's (it looks along +x, left is +y).

use prehend_scene::Relation;
use serde::{Deserialize, Serialize};

/// The meaning of a sentence.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Goal {
    /// Steps to be done in order; not empty.
    Steps(Vec<Step>),
    /// Something to be answered from the map, without motion.
    Question(Question),
    /// A word that nobody knew, and what it means ("moutai means the white bottle").
    Lesson {
        /// The word or words, singular.
        word: String,
        /// What it is to be taken for.
        means: String,
    },
    /// Steps that depend on what is seen before anything moves.
    Conditional {
        /// What decides.
        condition: Condition,
        /// Steps when it holds; not empty.
        then: Vec<Step>,
        /// Steps when it does not; may be empty.
        otherwise: Vec<Step>,
    },
}

/// Something that is so or not before anything moves.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Condition {
    /// A question with yes or no for an answer.
    pub question: Question,
    /// Whether the answer must be no.
    pub negated: bool,
}

/// One step of a goal.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Step {
    /// Grasp and hold.
    Pick {
        /// What to grasp; several phrases for "the apple and the pear".
        objects: Vec<NounPhrase>,
        /// Part to grasp it by, such as `handle`.
        part: Option<String>,
    },
    /// Grasp (unless held) and put somewhere.
    Place {
        /// What to move; a pronoun means what was spoken of or is held.
        objects: Vec<NounPhrase>,
        /// Where to.
        destination: Destination,
        /// Part to grasp it by.
        part: Option<String>,
        /// Whether to let it fall a short way instead of setting it down ("drop").
        drop: bool,
    },
    /// Act on a part of something ("open the drawer", "press the button"); verbs by the table of actions.
    Act {
        /// The verb, base form with its particle, as the table has it.
        action: String,
        /// What to act on, one after the other.
        objects: Vec<NounPhrase>,
        /// Part to act on, when one is named.
        part: Option<String>,
    },
    /// Put each of two things where the other is.
    Swap {
        /// Two phrases, or a plural one.
        objects: Vec<NounPhrase>,
    },
    /// Drive to something, and nothing more.
    Go {
        /// Where to.
        target: NounPhrase,
    },
    /// Move the arm to its home pose.
    Home,
    /// Move the camera and look again.
    Look,
    /// Give up what is being done and hold still; also "do nothing".
    Stop,
    /// Understood, but no skill exists for it ("stir the soup", "hand me the cup").
    Unsupported {
        /// The verb as it was said, base form.
        verb: String,
        /// What it should be done to; may be empty.
        objects: Vec<NounPhrase>,
        /// Where to, when that was said ("push the plate to the front of the stove").
        destination: Option<Destination>,
        /// What can be done instead, for the person; may be empty.
        alternative: String,
    },
}

/// Where something shall go.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Destination {
    /// The relation to the targets.
    pub relation: PlaceRelation,
    /// Targets; empty for [`Relation::Table`] and for "away", two phrases or a plural one for between.
    pub targets: Vec<NounPhrase>,
    /// The words it was said with.
    pub words: String,
    /// As many as there is room for: "until the bowl is full".
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub until_full: bool,
}

impl Destination {
    /// At this relation to the targets, said with these words.
    pub fn new(relation: PlaceRelation, targets: Vec<NounPhrase>, words: impl Into<String>) -> Self {
        Self { relation, targets, words: words.into(), until_full: false }
    }
}

/// A relation that a destination was said with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum PlaceRelation {
    /// One the skills know.
    Known(Relation),
    /// "to the bowl": in it when it is a container, on it when it is a surface, else next to it.
    To,
    /// A part of the table ("in the middle of the table", "on the left side").
    TableRegion(TableRegion),
    /// A corner of the table: its front or back, and its left or right.
    Corner(TableRegion, TableRegion),
    /// Away from where it is now by so many millimetres; `None` is as far as is usual ("to the left").
    Shift(Toward, Option<u32>),
    /// Where the target is now.
    PlaceOf,
    /// On top of each other, in an order that nobody said; no targets.
    Stacked,
    /// Under the target; no skill does it.
    Under,
    /// Above the target without touching it; no skill does it.
    Above,
    /// Off the table, such as the floor.
    Floor,
}

/// Where something is shifted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Toward {
    /// To a side of the robot: front is nearer to it.
    Side(TableRegion),
    /// Toward the target of the destination.
    Target,
}

/// A part of the table, seen by the robot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum TableRegion {
    /// The middle.
    Center,
    /// The left (+y).
    Left,
    /// The right (-y).
    Right,
    /// The side nearer to the robot (-x).
    Front,
    /// The side farther from the robot (+x).
    Back,
    /// A corner, an edge or another part that names no single place.
    Edge,
}

/// A description of one or more objects.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct NounPhrase {
    /// The words it was said with, lower case.
    pub text: String,
    /// How many are meant.
    pub quantity: Quantity,
    /// What kind of thing.
    pub head: Head,
    /// Colours, materials and shapes that it must have.
    pub attributes: Vec<Attribute>,
    /// Attributes it must not have ("that is not red").
    pub excluded_attributes: Vec<Attribute>,
    /// "big", "largest", "leftmost", "second from the left"; applied in order after the relations.
    pub selectors: Vec<Selector>,
    /// Where it must be.
    pub modifiers: Vec<Modifier>,
    /// What is not meant ("everything except the mug", "the mug, not the red one").
    pub except: Vec<NounPhrase>,
    /// "The apple or the pear": what it may be; the rest of the phrase chooses among what fits one of these.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub alternatives: Vec<NounPhrase>,
}

/// How many objects a noun phrase means.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Quantity {
    /// "the mug": exactly one must fit.
    #[default]
    One,
    /// "a mug", "any mug", "one of the mugs": the best that fits.
    Any,
    /// "two mugs": any so many.
    Some(u32),
    /// "the two mugs", "both mugs": exactly so many must fit.
    Exactly(u32),
    /// "all the mugs", "every mug", "the mugs", "everything".
    All,
    /// "the other mug": the one not yet spoken of.
    Other,
    /// "the other mugs", "the rest": all not yet spoken of.
    Others,
}

/// What kind of thing a noun phrase names.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, Default)]
pub enum Head {
    /// A noun of one or more words, singular, such as `mug` or `bbq sauce`; an open vocabulary.
    Noun(String),
    /// "object", "thing", "one", "everything": anything.
    #[default]
    Anything,
    /// "it", "that": what was spoken of last, else what is held.
    It,
    /// "them", "these": the several things spoken of last.
    Them,
}

/// A property said with a word.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attribute {
    /// What it is about.
    pub kind: AttributeKind,
    /// The word, lower case, as the lexicon has it.
    pub word: String,
}

/// Kinds of attributes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum AttributeKind {
    /// A colour.
    Color,
    /// A material; it cannot be measured, only be in a class name.
    Material,
    /// A shape.
    Shape,
    /// Any other adjective.
    Other,
}

/// A choice among several objects that fit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Selector {
    /// The largest ("largest", "biggest", "big", "large", "bigger"), by [`Dimension`].
    Most(Dimension),
    /// The smallest, by [`Dimension`].
    Least(Dimension),
    /// The farthest to a side: "leftmost", "on the right", "in the middle".
    Side(TableRegion),
    /// The n-th (from 1) counted from a side: "second from the left".
    Nth(u32, TableRegion),
    /// The highest (true) or lowest of several above each other: "the top drawer".
    Level(bool),
    /// The n-th (from 1) of several above each other, from the top (true) or the bottom: "second from the bottom".
    NthLevel(u32, bool),
    /// The n-th (from 1), without saying from where: "the second drawer".
    Number(u32),
    /// The one closest to targets.
    Closest(Vec<NounPhrase>),
    /// The one farthest from targets.
    Farthest(Vec<NounPhrase>),
    /// The one closest to the robot or the speaker.
    ClosestToRobot,
    /// The one farthest from the robot.
    FarthestFromRobot,
    /// Larger than a target, by [`Dimension`] ("larger than the mug").
    MoreThan(Dimension, Vec<NounPhrase>),
    /// Smaller than a target, by [`Dimension`].
    LessThan(Dimension, Vec<NounPhrase>),
}

/// What a size word measures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Dimension {
    /// Overall size ("big", "small").
    Size,
    /// Height above its base ("tall", "short", "high", "low").
    Height,
    /// Longest horizontal length ("long", "wide", "narrow").
    Length,
    /// Smallest length ("thick", "thin").
    Thickness,
}

/// A relation that an object must have to others.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Modifier {
    /// The relation.
    pub relation: Spatial,
    /// What it relates to; empty when the relation needs none.
    pub targets: Vec<NounPhrase>,
    /// Whether it must not hold ("that is not on the plate").
    pub negated: bool,
}

/// Relations of an object that is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Spatial {
    /// On top of the target.
    On,
    /// Inside the target.
    In,
    /// "from the plate": on, in, or at the target.
    At,
    /// Near the target.
    Near,
    /// Far from the target.
    FarFrom,
    /// Left (+y) of the target.
    LeftOf,
    /// Right (-y) of the target.
    RightOf,
    /// Nearer to the robot than the target.
    InFrontOf,
    /// Farther from the robot than the target.
    Behind,
    /// Between the targets.
    Between,
    /// Under the target.
    Under,
    /// Above the target.
    Above,
    /// Carries or contains the target ("the bowl with the apple").
    With,
    /// A part of the target ("the top drawer of the cabinet").
    PartOf,
    /// Directly on the table, not in or on something else.
    OnTable,
    /// In a part of the table.
    InRegion(TableRegion),
    /// In the gripper.
    Held,
}

/// A question; answered from the map.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Question {
    /// "where is the apple?"
    Where(Vec<NounPhrase>),
    /// "how many cups are there?"
    Count(NounPhrase),
    /// "is there a mug?"
    Exists(NounPhrase),
    /// "what is in the bowl?", "what do you see?", "which things are red?"
    Which(NounPhrase),
    /// "what colour is the mug?"
    Color(NounPhrase),
    /// "how big is the mug?"
    Measure(Dimension, NounPhrase),
    /// "which is larger, the mug or the bowl?"; `more` = larger, not smaller.
    Compare {
        /// What is compared.
        dimension: Dimension,
        /// Larger (true) or smaller (false).
        more: bool,
        /// What to choose from.
        options: Vec<NounPhrase>,
    },
    /// "is the apple in the bowl?", "is the mug red?": whether the first phrase's object is one the second describes.
    Is {
        /// The object asked about.
        subject: NounPhrase,
        /// The property asked for.
        description: NounPhrase,
    },
    /// "how far is the mug from the bowl?"
    Distance(NounPhrase, NounPhrase),
    /// "what are you holding?"
    Holding,
    /// "what can you do?"
    Abilities,
}

impl Question {
    /// Whether its answer rests on everything that there is, and not on the things that it names alone.
    pub fn is_about_all(&self) -> bool {
        matches!(self, Self::Count(_) | Self::Exists(_) | Self::Which(_))
    }
}
