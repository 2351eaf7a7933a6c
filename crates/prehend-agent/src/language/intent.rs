//! The action text of the tool `interact`, as a language model writes it.

use super::Lexicon;
use super::lexicon::{PlaceWord, Verb, VerbMeaning};
use super::token::Token;
use prehend_scene::{Compartment, Intent, Relation};

/// Reads an action text such as "grasp the handle", "open by the knob", "place it next to"; `None` when no skill does it.
pub(crate) fn read_intent(action: &str, lexicon: &Lexicon) -> Option<Intent> {
    let tokens = lexicon.tokens(action);
    lexicon.verbs.at(&tokens, 0).find_map(|(length, verb)| of_verb(&tokens, length, verb, lexicon))
}

fn of_verb(tokens: &[Token], length: usize, verb: &Verb, lexicon: &Lexicon) -> Option<Intent> {
    let drop = match verb.meaning {
        VerbMeaning::Pick | VerbMeaning::Collect => {
            let part =
                tokens[length..].iter().map(Token::word).find(|word| lexicon.list("parts").has_word(word));
            return Some(Intent::Grasp { part: part.map(str::to_owned) });
        }
        VerbMeaning::Act => {
            let part = (length..tokens.len())
                .find(|position| !lexicon.list("before_part").has_word(tokens[*position].word()))
                .map(|position| tokens[position..].iter().map(Token::word).collect::<Vec<_>>().join(" "));
            return Some(Intent::Act { verb: verb.lemma.clone(), part });
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
    Some(Intent::Place { relation: named.or(away).unwrap_or(Relation::Table), drop, compartment })
}

fn table_follows(tokens: &[Token], position: usize, lexicon: &Lexicon) -> bool {
    tokens[position..].iter().any(|token| lexicon.list("table").has_word(token.word()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A person or a model that repeats what it was shown means the same.
    #[test]
    fn an_intent_in_words_is_read_back() {
        let lexicon = Lexicon::built_in();
        let part = |name: &str| Some(name.to_owned());
        let act = |verb: &str, part| Intent::Act { verb: verb.to_owned(), part };
        let mut intents = vec![
            Intent::Grasp { part: None },
            Intent::Grasp { part: part("handle") },
            act("open", None),
            act("turn on", None),
            act("pull out", part("knob")),
        ];
        for (relation, _) in Relation::ALL {
            for drop in [false, true] {
                intents.push(Intent::Place { relation, drop, compartment: None });
            }
        }
        for (compartment, _) in Compartment::ALL {
            let compartment = Some(compartment);
            intents.push(Intent::Place { relation: Relation::In, drop: false, compartment });
        }
        for intent in intents {
            assert_eq!(read_intent(&intent.to_string(), &lexicon).as_ref(), Some(&intent), "{intent}");
        }
    }

    #[test]
    fn other_words_and_what_no_skill_does() {
        let lexicon = Lexicon::built_in();
        let grab = Intent::Grasp { part: Some("handle".to_owned()) };
        assert_eq!(read_intent("grab the handle", &lexicon), Some(grab));
        assert_eq!(read_intent("juggle", &lexicon), None);
        assert_eq!(read_intent("", &lexicon), None);
    }
}
