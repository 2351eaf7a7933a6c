//! What an action text wants done to an object.

use prehend_scene::Skill;

/// What an action means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Intent {
    /// The skill.
    pub skill: Skill,
    /// Whether something goes into the object (rather than onto it).
    pub inside: bool,
    /// The part that is named, if any.
    pub part: Option<&'static str>,
}

/// An action without a meaning here.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "the action `{action}` means no skill; known are words such as pick, grasp, put in, place on, drop into"
)]
pub struct ActionError {
    /// The text, shortened.
    pub action: String,
}

const GRASP: [&str; 21] = [
    "grasp", "grab", "pick", "take", "lift", "hold", "fetch", "get", "move", "carry", "bring", "raise",
    "remove", "seize", "clutch", "pull", "transfer", "collect", "retrieve", "relocate", "hand",
];
const PLACE: [&str; 14] = [
    "place", "put", "set", "lay", "stack", "insert", "position", "rest", "store", "deposit", "leave", "add",
    "stow", "pack",
];
const DROP: [&str; 5] = ["drop", "release", "toss", "dump", "let"];
const INSIDE: [&str; 4] = ["in", "into", "inside", "within"];
const PARTS: [(&str, &str); 13] = [
    ("handle", "handle"),
    ("grip", "handle"),
    ("rim", "rim"),
    ("edge", "rim"),
    ("lip", "rim"),
    ("brim", "rim"),
    ("opening", "opening"),
    ("mouth", "opening"),
    ("interior", "opening"),
    ("top", "top"),
    ("lid", "top"),
    ("surface", "top"),
    ("body", "body"),
];

/// Reads an action such as `grasp`, `pick up by the handle`, `put in`, `place on top`.
///
/// Errors: [`ActionError`] when no word names a skill.
pub fn read_action(action: &str) -> Result<Intent, ActionError> {
    let lower = action.to_lowercase();
    let words: Vec<&str> = lower.split(|c: char| !c.is_alphanumeric()).filter(|w| !w.is_empty()).collect();
    let skill = words.iter().find_map(|word| {
        let stem = |list: &[&str]| list.iter().any(|known| inflected(word, known));
        if stem(&DROP) {
            Some(Skill::Drop)
        } else if stem(&PLACE) {
            Some(Skill::Place)
        } else if stem(&GRASP) {
            Some(Skill::Grasp)
        } else {
            None
        }
    });
    let Some(skill) = skill else {
        return Err(ActionError { action: action.chars().take(60).collect() });
    };
    let inside = words.iter().any(|word| INSIDE.contains(word));
    // "on top" is a place, not a part that must be there.
    let part = words
        .iter()
        .find_map(|word| PARTS.iter().find(|(known, _)| known == word))
        .map(|(_, part)| *part)
        .filter(|part| !(skill != Skill::Grasp && *part == "top"));
    Ok(Intent { skill, inside, part })
}

/// Whether a word is a form of a verb: put, puts, putting, placed.
pub(super) fn inflected(word: &str, verb: &str) -> bool {
    let stem = verb.strip_suffix('e').unwrap_or(verb);
    let Some(rest) = word.strip_prefix(stem) else { return false };
    let doubled = stem.chars().last().and_then(|last| rest.strip_prefix(last)).unwrap_or(rest);
    word == verb || [rest, doubled].iter().any(|end| matches!(*end, "s" | "es" | "ed" | "ing"))
}
