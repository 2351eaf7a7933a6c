//! What is asked for: an object, what is to be done with it, and on which map it is.

use super::failure::Failure;
use prehend_convert as convert;
use prehend_msgs::prehend_interfaces::action::DetectAffordance;
use prehend_scene::{Intent, ObjectKey, Scope};
use std::fmt;

/// What is asked for.
pub(super) struct Question {
    pub(super) object: ObjectKey,
    pub(super) intent: Intent,
    pub(super) scope: Scope,
    pub(super) goal_id: String,
}

impl Question {
    /// Errors: [`Failure::BadRequest`] of what is missing or cannot be read.
    pub(super) fn read(goal: &DetectAffordance::Goal) -> Result<Self, Failure> {
        let bad = |why: &str| Failure::BadRequest(why.to_owned());
        if goal.object_key.trim().is_empty() {
            return Err(bad("an object key is needed"));
        }
        let intent = convert::intent_from_msg(&goal.intent).map_err(|error| bad(&error.to_string()))?;
        Ok(Self {
            object: ObjectKey(goal.object_key.clone()),
            intent: intent.ok_or_else(|| bad("an intent is needed: of kind grasp, act or place"))?,
            scope: Scope::parse(&goal.scope).ok_or_else(|| bad("the scope is none: local or room"))?,
            goal_id: goal.goal_id.clone(),
        })
    }

    /// That the object has no such part.
    pub(super) fn none_found(&self) -> Failure {
        Failure::NoneFound { object: self.object.clone(), intent: self.intent.clone() }
    }
}

impl fmt::Display for Question {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} to {}", self.object, self.intent)
    }
}
