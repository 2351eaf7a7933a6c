//! Intents.

use super::error::{ConvertError, Result};
use super::relation;
use prehend_msgs::prehend_interfaces::msg as ours;
use prehend_scene::{Compartment, Intent};

const GRASP: &str = "grasp";
const ACT: &str = "act";
const PLACE: &str = "place";
/// Most characters of a verb or of the name of a part.
const MAX_WORDS: usize = 200;

/// Intent to message; nothing is the empty kind.
pub fn intent_to_msg(intent: Option<&Intent>) -> ours::Intent {
    let words = |part: &Option<String>| part.clone().unwrap_or_default();
    match intent {
        None => ours::Intent::default(),
        Some(Intent::Grasp { part }) => {
            ours::Intent { kind: GRASP.to_owned(), part: words(part), ..Default::default() }
        }
        Some(Intent::Act { verb, part }) => {
            ours::Intent { kind: ACT.to_owned(), verb: verb.clone(), part: words(part), ..Default::default() }
        }
        Some(Intent::Place { relation, drop, compartment }) => ours::Intent {
            kind: PLACE.to_owned(),
            relation: relation.name().to_owned(),
            drop: *drop,
            compartment: compartment.map_or("", Compartment::name).to_owned(),
            ..Default::default()
        },
    }
}

/// Message to intent; the empty kind is none.
///
/// Errors: an unknown kind, relation or compartment; an action without a verb, a placement without a relation; words that are too long.
pub fn intent_from_msg(msg: &ours::Intent) -> Result<Option<Intent>> {
    let words = |what: &'static str, text: &str| match text.chars().count() {
        0 => Ok(None),
        count if count > MAX_WORDS => Err(ConvertError::Unsupported {
            what,
            found: format!("{}...", text.chars().take(40).collect::<String>()),
            expected: "at most 200 characters",
        }),
        _ => Ok(Some(text.to_owned())),
    };
    let missing = |what: &'static str| ConvertError::UnknownWord { what, word: String::new() };
    let part = words("part of an intent", &msg.part)?;
    match msg.kind.as_str() {
        "" => Ok(None),
        GRASP => Ok(Some(Intent::Grasp { part })),
        ACT => {
            let verb = words("verb of an intent", &msg.verb)?.ok_or_else(|| missing("verb of an intent"))?;
            Ok(Some(Intent::Act { verb, part }))
        }
        PLACE => {
            let relation = relation(&msg.relation)?.ok_or_else(|| missing("relation"))?;
            let compartment = match msg.compartment.as_str() {
                "" => None,
                name => Some(Compartment::parse(name).ok_or_else(|| ConvertError::UnknownWord {
                    what: "compartment",
                    word: name.to_owned(),
                })?),
            };
            Ok(Some(Intent::Place { relation, drop: msg.drop, compartment }))
        }
        other => Err(ConvertError::UnknownWord { what: "intent", word: other.chars().take(40).collect() }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use prehend_scene::Relation;

    #[test]
    fn an_intent_is_the_same_after_the_wire() {
        let mut intents = vec![
            Intent::Grasp { part: None },
            Intent::Grasp { part: Some("handle".to_owned()) },
            Intent::Act { verb: "turn on".to_owned(), part: None },
            Intent::Act { verb: "open".to_owned(), part: Some("left knob".to_owned()) },
        ];
        for (relation, _) in Relation::ALL {
            for (compartment, _) in Compartment::ALL {
                intents.push(Intent::Place { relation, drop: true, compartment: Some(compartment) });
            }
            intents.push(Intent::Place { relation, drop: false, compartment: None });
        }
        for intent in intents {
            assert_eq!(intent_from_msg(&intent_to_msg(Some(&intent))), Ok(Some(intent)));
        }
        assert_eq!(intent_from_msg(&intent_to_msg(None)), Ok(None));
    }

    #[test]
    fn what_says_nothing_whole_is_refused() {
        let sound = ours::Intent { kind: PLACE.to_owned(), relation: "in".to_owned(), ..Default::default() };
        assert!(intent_from_msg(&sound).is_ok());
        let broken = [
            ours::Intent { kind: "juggle".to_owned(), ..sound.clone() },
            ours::Intent { relation: String::new(), ..sound.clone() },
            ours::Intent { relation: "inside out".to_owned(), ..sound.clone() },
            ours::Intent { compartment: "upper compartment".to_owned(), ..sound.clone() },
            ours::Intent { kind: ACT.to_owned(), ..sound.clone() },
            ours::Intent { kind: GRASP.to_owned(), part: "a".repeat(MAX_WORDS + 1), ..sound },
        ];
        for message in broken {
            assert!(intent_from_msg(&message).is_err(), "{message:?}");
        }
    }
}
