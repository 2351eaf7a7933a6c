//! The action text of `interact`.

use crate::language::Lexicon;
use crate::language::Token;
use crate::language::lexicon::{PlaceWord, Verb, VerbMeaning};
use crate::language::token::tokens;
use prehend_scene::{Compartment, Relation};

/// What an action text asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Interaction {
    /// "grasp", "pick up", "grasp the handle".
    Grasp {
        /// The part, when one is named.
        part: Option<String>,
    },
    /// "open", "press the button", "open by the knob".
    Act {
        /// The verb, base form with its particle.
        verb: String,
        /// The part, when one is named.
        part: Option<String>,
    },
    /// "place it in", "put next to", "drop it into".
    Place {
        /// The relation to the object.
        relation: Relation,
        /// Whether to let it fall a short way.
        drop: bool,
        /// Which room of a divided container is meant.
        compartment: Option<Compartment>,
    },
}

impl Interaction {
    /// Reads an action text; `None` when no skill does it.
    pub fn parse(action: &str, lexicon: &Lexicon) -> Option<Self> {
        let tokens = tokens(action);
        lexicon.verbs.at(&tokens, 0).find_map(|(length, verb)| Self::of_verb(&tokens, length, verb, lexicon))
    }

    fn of_verb(tokens: &[Token], length: usize, verb: &Verb, lexicon: &Lexicon) -> Option<Self> {
        let drop = match verb.meaning {
            VerbMeaning::Pick | VerbMeaning::Collect => {
                let part = (length..tokens.len()).find_map(|position| {
                    let word = tokens[position].word();
                    lexicon.list("parts").has_word(word).then(|| word.to_owned())
                });
                return Some(Self::Grasp { part });
            }
            VerbMeaning::Act => {
                let part = (length..tokens.len())
                    .find(|position| {
                        !["the", "its", "by", "a", "on", "with"].contains(&tokens[*position].word())
                    })
                    .map(|position| tokens[position..].iter().map(Token::word).collect::<Vec<_>>().join(" "));
                return Some(Self::Act { verb: verb.lemma.clone(), part });
            }
            VerbMeaning::Place | VerbMeaning::Stack => false,
            VerbMeaning::Drop => true,
            _ => return None,
        };
        let named = (length..tokens.len()).find_map(|position| {
            if lexicon.list("table").has_word(tokens[position].word()) {
                return Some(Relation::Table);
            }
            let (_, word) = lexicon.place_words.at(tokens, position).next()?;
            match word {
                PlaceWord::Known(Relation::On) if table_follows(tokens, position, lexicon) => {
                    Some(Relation::Table)
                }
                PlaceWord::Known(relation) => Some(*relation),
                PlaceWord::To => Some(Relation::NextTo),
                PlaceWord::Under | PlaceWord::Above => None,
            }
        });
        let away = tokens.iter().any(|token| token.word() == "away").then_some(Relation::Away);
        let words: Vec<&str> = tokens.iter().map(Token::word).collect();
        let compartment = words.windows(2).find_map(|pair| Compartment::parse(&pair.join(" ")));
        Some(Self::Place { relation: named.or(away).unwrap_or(Relation::Table), drop, compartment })
    }

    /// The action text of an action on a part, which [`Interaction::parse`] reads back.
    pub fn act_text(verb: &str, part: Option<&str>) -> String {
        part.map_or_else(|| verb.to_owned(), |part| format!("{verb} by the {part}"))
    }

    /// The action text of a placement, which [`Interaction::parse`] reads back.
    pub fn place_text(relation: Relation, drop: bool, compartment: Option<Compartment>) -> String {
        let words = match relation {
            Relation::Table => "on the table",
            Relation::NextTo => "next to",
            Relation::LeftOf => "left of",
            Relation::RightOf => "right of",
            Relation::InFrontOf => "in front of",
            Relation::Away => "away from",
            Relation::On | Relation::In | Relation::Behind | Relation::Between => relation.name(),
        };
        let verb = if drop { "drop" } else { "place" };
        match compartment {
            Some(compartment) => format!("{verb} it {words} the {}", compartment.name()),
            None => format!("{verb} it {words}"),
        }
    }
}

fn table_follows(tokens: &[crate::language::Token], position: usize, lexicon: &Lexicon) -> bool {
    tokens[position..].iter().any(|token| lexicon.list("table").has_word(token.word()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn placements_are_read_back() {
        let lexicon = Lexicon::built_in();
        for (relation, _) in Relation::ALL {
            for drop in [false, true] {
                let text = Interaction::place_text(relation, drop, None);
                assert_eq!(
                    Interaction::parse(&text, &lexicon),
                    Some(Interaction::Place { relation, drop, compartment: None }),
                    "{text}"
                );
            }
        }
    }

    #[test]
    fn compartments_are_read_back() {
        let lexicon = Lexicon::built_in();
        for (compartment, _) in Compartment::ALL {
            let text = Interaction::place_text(Relation::In, false, Some(compartment));
            let read = Interaction::parse(&text, &lexicon);
            let expected =
                Interaction::Place { relation: Relation::In, drop: false, compartment: Some(compartment) };
            assert_eq!(read, Some(expected), "{text}");
        }
    }

    #[test]
    fn grasps_and_what_no_skill_does() {
        let lexicon = Lexicon::built_in();
        assert_eq!(Interaction::parse("grasp", &lexicon), Some(Interaction::Grasp { part: None }));
        assert_eq!(
            Interaction::parse("grab the handle", &lexicon),
            Some(Interaction::Grasp { part: Some("handle".to_owned()) })
        );
        for (verb, part) in [("open", None), ("turn on", None), ("pull out", Some("knob"))] {
            let text = Interaction::act_text(verb, part);
            let part = part.map(str::to_owned);
            assert_eq!(
                Interaction::parse(&text, &lexicon),
                Some(Interaction::Act { verb: verb.to_owned(), part })
            );
        }
        assert_eq!(Interaction::parse("juggle", &lexicon), None);
        assert_eq!(Interaction::parse("", &lexicon), None);
    }
}
