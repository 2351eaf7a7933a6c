//! What the scene calls by names, which the wire has as words.

use super::error::{ConvertError, Result};
use prehend_scene::{PartEffect, Relation, Skill};

/// Skill of its name.
pub fn skill(name: &str) -> Result<Skill> {
    Skill::parse(name).ok_or_else(|| ConvertError::UnknownWord { what: "skill", word: name.to_owned() })
}

/// Relation of its name; empty is none.
pub fn relation(name: &str) -> Result<Option<Relation>> {
    if name.is_empty() {
        return Ok(None);
    }
    Relation::parse(name)
        .map(Some)
        .ok_or_else(|| ConvertError::UnknownWord { what: "relation", word: name.to_owned() })
}

/// Effect on a part of its name; empty is none.
pub fn effect(name: &str) -> Result<Option<PartEffect>> {
    if name.is_empty() {
        return Ok(None);
    }
    PartEffect::parse(name)
        .map(Some)
        .ok_or_else(|| ConvertError::UnknownWord { what: "effect", word: name.to_owned() })
}
