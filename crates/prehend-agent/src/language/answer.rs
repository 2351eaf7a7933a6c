//! Answers to a question of the robot's: "the blue one", "the second from the left", "both", "in the basket". They are no sentences, and mean
//! something only with the sentence that was asked about.

use super::goal::{Goal, Head, NounPhrase, Quantity};
use super::grammar::Parser;
use super::lexicon::Lexicon;
use super::parse;
use super::token::Token;
use super::visit::each_phrase;

/// Most readings of a sentence with its answer.
const MOST: usize = 24;

/// What the person was asked about.
#[derive(Clone, Debug, PartialEq)]
pub struct Asked {
    /// The sentence, with the answers that were given so far.
    pub text: String,
    /// Its readings; empty when something was missing in it.
    pub readings: Vec<Goal>,
}

impl Asked {
    /// The sentence with its answer. Where the answer is a description, each thing that the sentence names may be the one it describes: the
    /// scene decides. `None` when it is no answer.
    pub fn answered(&self, answer: &str, lexicon: &Lexicon) -> Option<Self> {
        let said = self.text.trim().trim_end_matches(['.', '!', '?', ';', ',']);
        let answer = answer.trim().trim_end_matches(['.', '!', '?', ';', ',']);
        let text = format!("{said} ({answer})");
        if self.readings.is_empty() {
            // "Which of them shall go where?" "the red ones on the left, the blue ones in the bowl"; "Where shall it go?" "in the
            // basket", "the basket"
            let whole = [": ", " ", " to ", " into "].map(|joint| format!("{said}{joint}{answer}"));
            let readings = whole.iter().find_map(|whole| parse(whole, lexicon).ok())?;
            return Some(Self { text, readings });
        }
        let described = description(answer, lexicon)?;
        let mut readings: Vec<Goal> = Vec::new();
        for reading in &self.readings {
            // "The left apple" is one of the apples that are spoken of, if there are any.
            let heads = heads(reading);
            let is_spoken_of = heads.contains(&described.head);
            let fits = |head: &Head| !is_spoken_of || *head == described.head;
            for slot in (0..heads.len()).filter(|slot| fits(&heads[*slot])) {
                let mut goal = reading.clone();
                let mut place = 0;
                each_phrase(&mut goal, &mut |phrase| {
                    if place == slot {
                        *phrase = refined(phrase, &described);
                    }
                    place += 1;
                });
                if goal != *reading && !readings.contains(&goal) && readings.len() < MOST {
                    readings.push(goal);
                }
            }
        }
        (!readings.is_empty()).then_some(Self { text, readings })
    }
}

/// The description that an answer is.
fn description(answer: &str, lexicon: &Lexicon) -> Option<NounPhrase> {
    let tokens = lexicon.cleaned(lexicon.tokens(answer));
    // "Both", "all of them", "either": how many, and nothing else.
    let words: Vec<Token> = tokens.iter().filter(|token| !token.word().is_empty()).cloned().collect();
    for (key, quantity) in [("all_of_them", Quantity::All), ("any_of_them", Quantity::Any)] {
        if lexicon.list(key).longest(&words, 0) == Some(words.len()) {
            return Some(NounPhrase { quantity, ..NounPhrase::default() });
        }
    }
    let whole = |tokens: &[Token]| {
        let mut phrases = Parser::new(tokens, lexicon).whole_list()?;
        let mut phrase = phrases.pop().filter(|_| phrases.is_empty())?;
        if phrase.head == Head::Noun("one".to_owned()) {
            phrase.head = Head::Anything;
        }
        Some(phrase)
    };
    // "The second from the left" leaves out "one".
    let with_one = |at: usize| {
        let mut tokens = tokens.clone();
        tokens.insert(at, Token::Word("one".to_owned()));
        whole(&tokens)
    };
    let fits = |phrase: &NounPhrase| !matches!(phrase.head, Head::It | Head::Them);
    whole(&tokens).filter(fits).or_else(|| (1..=tokens.len().min(4)).find_map(with_one).filter(fits))
}

/// A phrase as the answer describes it more closely, or instead.
fn refined(phrase: &NounPhrase, by: &NounPhrase) -> NounPhrase {
    let is_same = match (&phrase.head, &by.head) {
        (_, Head::Anything) => true,
        (one, other) => one == other,
    };
    if !is_same {
        return by.clone();
    }
    let mut refined = phrase.clone();
    for attribute in &by.attributes {
        if !refined.attributes.contains(attribute) {
            refined.attributes.push(attribute.clone());
        }
    }
    refined.excluded_attributes.extend(by.excluded_attributes.iter().cloned());
    refined.selectors.extend(by.selectors.iter().cloned());
    refined.modifiers.extend(by.modifiers.iter().cloned());
    refined.except.extend(by.except.iter().cloned());
    if !matches!(by.quantity, Quantity::One | Quantity::Other | Quantity::Others) {
        refined.quantity = by.quantity;
    }
    refined.text = refined.to_string();
    refined
}

/// What kinds of things the phrases of a goal name, in the order in which they are visited.
fn heads(goal: &Goal) -> Vec<Head> {
    let mut goal = goal.clone();
    let mut found = Vec::new();
    each_phrase(&mut goal, &mut |phrase| found.push(phrase.head.clone()));
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(text: &str) -> Asked {
        let readings = parse(text, &Lexicon::built_in()).unwrap_or_default();
        Asked { text: text.to_owned(), readings }
    }

    #[test]
    fn an_answer_describes_more_closely_what_was_asked_about() {
        let lexicon = Lexicon::built_in();
        let mut wrong = Vec::new();
        for (text, answer, wanted) in [
            ("put the mug on the plate", "the blue one", "place(the blue mug -> on the plate)"),
            ("put the mug on the plate", "The blue mug, please.", "place(the blue mug -> on the plate)"),
            ("put the mug on the plate", "blue", "place(the blue mug -> on the plate)"),
            ("put the mug on the plate", "the left one", "place(the mug +side left -> on the plate)"),
            (
                "put the mug on the plate",
                "the second from the left",
                "place(the mug +nth 2 left -> on the plate)",
            ),
            (
                "put the mug on the plate",
                "the one next to the bowl",
                "place(the mug [near the bowl] -> on the plate)",
            ),
            ("put the mug on the plate", "both", "place(all mug -> on the plate)"),
            ("put the mug on the plate", "any", "place(a mug -> on the plate)"),
            ("put the mug on the plate", "the large one", "place(the mug +most size -> on the plate)"),
            ("pick up the fruit on the plate", "the apple", "pick(the apple)"),
            ("where is the mug?", "the red one", "where(the red mug)"),
            ("put the apple", "in the bowl", "place(the apple -> in the bowl)"),
            ("put the apple", "the bowl", "place(the apple -> to the bowl)"),
            ("clear the table", "the basket", "place(all thing [on_table] -> to the basket)"),
            (
                "sort the blocks by colour",
                "the red ones in the bowl, the blue ones on the plate",
                "place(all red block -> in the bowl); place(all blue block -> on the plate)",
            ),
            (
                "sort the fruit",
                "the apples on the left side of the table and the pears in the basket",
                "place(all apple -> region left); place(all pear -> in the basket)",
            ),
            ("clear the table", "in the basket", "place(all thing [on_table] -> in the basket)"),
        ] {
            let found =
                asked(text).answered(answer, &lexicon).map(|found| found.readings).unwrap_or_default();
            let readings: Vec<String> = found.iter().map(ToString::to_string).collect();
            if !readings.iter().any(|reading| reading == wanted) {
                wrong.push(format!("{text} / {answer}: {readings:?}, not {wanted}"));
            }
        }
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }

    #[test]
    fn what_is_no_answer_is_none() {
        let lexicon = Lexicon::built_in();
        for answer in ["", "it", "why?", "I do not know", "\u{0}", "no", "neither"] {
            let found = asked("put the mug on the plate").answered(answer, &lexicon);
            assert_eq!(found, None, "{answer}");
        }
    }
}
