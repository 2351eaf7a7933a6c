//! What is to be done to a thing (ASP IV-C), between the agent, which reads words, and the nodes that find out how.

use crate::{Compartment, Relation, Skill};
use std::fmt;

/// What is to be done to a thing. Words of a person or a model become one at the edge, and are not read again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Intent {
    /// It is taken into the gripper.
    Grasp {
        /// The part that is meant, in the speaker's words.
        part: Option<String>,
    },
    /// A part of it is acted on, by the table of actions.
    Act {
        /// A verb of the table, base form with its particle ("turn on").
        verb: String,
        /// The part that is meant, in the speaker's words.
        part: Option<String>,
    },
    /// What is held is put relative to it.
    Place {
        /// The relation to it.
        relation: Relation,
        /// Whether it is let fall a short way.
        drop: bool,
        /// Which room of a divided container is meant.
        compartment: Option<Compartment>,
    },
}

impl Intent {
    /// The skill that takes or puts; of an action on a part the table of actions says which.
    pub fn skill(&self) -> Option<Skill> {
        match self {
            Self::Grasp { .. } => Some(Skill::Grasp),
            Self::Place { drop: false, .. } => Some(Skill::Place),
            Self::Place { drop: true, .. } => Some(Skill::Drop),
            Self::Act { .. } => None,
        }
    }

    /// The part that is meant, in the speaker's words.
    pub fn part(&self) -> Option<&str> {
        match self {
            Self::Grasp { part } | Self::Act { part, .. } => part.as_deref(),
            Self::Place { .. } => None,
        }
    }
}

/// In words: "grasp the handle", "open by the knob", "place it next to".
impl fmt::Display for Intent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Grasp { part: None } => f.write_str("grasp"),
            Self::Grasp { part: Some(part) } => write!(f, "grasp the {part}"),
            Self::Act { verb, part: None } => f.write_str(verb),
            Self::Act { verb, part: Some(part) } => write!(f, "{verb} by the {part}"),
            Self::Place { relation, drop, compartment } => {
                let verb = if *drop { "drop" } else { "place" };
                let relation = match relation {
                    Relation::Table => "on the table".to_owned(),
                    Relation::Away => "away from".to_owned(),
                    relation => relation.name().replace('_', " "),
                };
                write!(f, "{verb} it {relation}")?;
                compartment.map_or(Ok(()), |compartment| write!(f, " the {}", compartment.name()))
            }
        }
    }
}
