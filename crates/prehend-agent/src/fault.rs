//! Why something could not be done, and what a skill left behind.

use prehend_scene::{ObjectKey, Reason};

/// What a skill left behind.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SkillOutcome {
    /// What is in the gripper now.
    pub held: Option<ObjectKey>,
    /// Whether objects may be elsewhere than the newest map says.
    pub map_stale: bool,
}

/// Why something could not be done.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Fault {
    /// Typed reason.
    pub reason: Reason,
    /// What is wrong, for the person.
    pub message: String,
    /// What the world is like now, when the fault came from a skill.
    pub after: Option<SkillOutcome>,
    /// What would have to be elsewhere for the skill to go on; empty when that is not known to help.
    pub in_the_way: Vec<ObjectKey>,
}

impl Fault {
    /// A fault that did not come from a skill.
    pub fn new(reason: Reason, message: impl Into<String>) -> Self {
        Self { reason, message: message.into(), after: None, in_the_way: Vec::new() }
    }

    /// Whether it asks the person for something: which thing is meant, or what is missing in the sentence ("Where shall it go? Say for
    /// example ...").
    pub fn asks(&self) -> bool {
        let end = self.message.find(['.', '?', '!']);
        let is_question = || end.is_some_and(|end| self.message[end..].starts_with('?'));
        self.reason == Reason::Ambiguous || (self.reason == Reason::NotUnderstood && is_question())
    }
}
