//! What is looked for: a described thing, and what shall be done with it.

use crate::record::Action;
use prehend_agent::language::rooms::RoomNames;
use prehend_agent::language::{
    self, AttributeKind, Destination, Goal, Head, Lexicon, Modifier, NounPhrase, Question, Spatial, Step,
};

/// How a thing lies to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lies {
    /// On it, in it or at it.
    At,
    /// Near it, on whichever side.
    Near,
    /// Under it.
    Under,
    /// It carries or holds the other.
    With,
    /// Far from it.
    Far,
}

/// A thing in words.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Described {
    /// Everything that was said of it, for features.
    pub words: String,
    /// What kind of thing; empty when any will do.
    pub noun: String,
    /// Colours that it has.
    pub colors: Vec<String>,
    /// What it lies at: how, to what, and whether it must not.
    pub relations: Vec<(Lies, Described, bool)>,
    /// The kind of room it is in.
    pub room: Option<String>,
}

/// One search of the memory.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Request {
    /// What is looked for.
    pub what: Described,
    /// What shall be done with it; `None` for anything.
    pub action: Option<Action>,
    /// The building; `None` for all.
    pub building: Option<String>,
    /// Who asks: what it did itself counts most.
    pub robot: String,
    /// The time of asking.
    pub now: f64,
    /// Most things in the answer.
    pub k: usize,
}

impl Described {
    /// A description from a noun phrase of a goal.
    pub fn of(phrase: &NounPhrase, rooms: &RoomNames) -> Self {
        let mut described = Self { words: phrase.text.clone(), ..Self::default() };
        if let Head::Noun(noun) = &phrase.head {
            described.noun.clone_from(noun);
        }
        // "The kitchen table" is a table of the kitchen, wherever nothing is called so.
        if let Some((room, rest)) = described.noun.split_once(' ')
            && rooms.is_room(room)
        {
            (described.room, described.noun) = (Some(room.to_owned()), rest.to_owned());
        }
        let colors = phrase.attributes.iter().filter(|attribute| attribute.kind == AttributeKind::Color);
        described.colors = colors.map(|attribute| attribute.word.clone()).collect();
        for modifier in &phrase.modifiers {
            described.take(modifier, rooms);
        }
        described
    }

    fn take(&mut self, modifier: &Modifier, rooms: &RoomNames) {
        let lies = match modifier.relation {
            Spatial::On | Spatial::In | Spatial::At | Spatial::PartOf => Lies::At,
            Spatial::Near
            | Spatial::LeftOf
            | Spatial::RightOf
            | Spatial::InFrontOf
            | Spatial::Behind
            | Spatial::Between
            | Spatial::Above => Lies::Near,
            Spatial::Under => Lies::Under,
            Spatial::With => Lies::With,
            Spatial::FarFrom => Lies::Far,
            Spatial::OnTable | Spatial::InRegion(_) | Spatial::Held => return,
        };
        for target in &modifier.targets {
            let target = Self::of(target, rooms);
            if self.words.find(&target.words).is_none() {
                self.words = format!("{} {}", self.words, target.words);
            }
            let is_room = rooms.is_room(&target.noun);
            if is_room && lies == Lies::At && !modifier.negated {
                self.room = Some(target.noun);
            } else {
                self.relations.push((lies, target, modifier.negated));
            }
        }
    }
}

/// What a sentence looks for: things to take, and where they shall go.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Wishes {
    /// The target objects, with what shall be done with each; `None` when it is only asked where they are.
    pub targets: Vec<(Option<Action>, Described)>,
    /// The receptacle.
    pub receptacle: Option<Described>,
}

/// What a sentence can look for, most sensible readings only: those whose things lead to a thing and not to a room. "The box in the
/// office on the shelf" goes to the shelf. Which of several is meant, what is remembered decides: [`Memory::understand`].
///
/// [`Memory::understand`]: crate::Memory::understand
///
/// Errors: what the grammar did not understand.
pub fn readings(
    sentence: &str,
    lexicon: &Lexicon,
    rooms: &RoomNames,
) -> Result<Vec<Wishes>, language::NotUnderstood> {
    let goals = language::parse(sentence, lexicon)?;
    let read: Vec<(Wishes, usize)> = goals.into_iter().map(|goal| Wishes::of(goal, rooms)).collect();
    let least = read.iter().map(|(_, strange)| *strange).min().unwrap_or_default();
    let mut found: Vec<Wishes> = Vec::new();
    for (wishes, strange) in read {
        if strange == least && !found.contains(&wishes) {
            found.push(wishes);
        }
    }
    Ok(found)
}

impl Wishes {
    /// What a goal looks for, and how many of its places are strange.
    fn of(goal: Goal, rooms: &RoomNames) -> (Self, usize) {
        let mut found = Self::default();
        let mut strange = 0;
        let steps = match goal {
            Goal::Steps(steps) => steps,
            Goal::Conditional { then, .. } => then,
            Goal::Question(question) => {
                let phrases = match question {
                    Question::Where(phrases) => phrases,
                    Question::Count(phrase) | Question::Exists(phrase) | Question::Which(phrase) => {
                        vec![phrase]
                    }
                    _ => Vec::new(),
                };
                found.add(None, &phrases, rooms);
                Vec::new()
            }
            Goal::Lesson { .. } => Vec::new(),
        };
        for step in &steps {
            match step {
                Step::Pick { objects, .. } | Step::Swap { objects } => {
                    found.add(Some(Action::Pick), objects, rooms)
                }
                Step::Place { objects, destination, .. } => {
                    found.add(Some(Action::Pick), objects, rooms);
                    // "It" is known by what was said before, not by where it is.
                    strange +=
                        objects.iter().filter(|np| np.head == Head::It && !np.modifiers.is_empty()).count();
                    strange += found.lead(destination, rooms);
                }
                Step::Act { action, objects, .. } => {
                    found.add(Action::parse(action).ok().or(Some(Action::Press)), objects, rooms);
                }
                Step::Unsupported { objects, destination, .. } => {
                    found.add(Some(Action::Pick), objects, rooms);
                    strange += destination.as_ref().map_or(0, |destination| found.lead(destination, rooms));
                }
                Step::Go { target } => found.add(None, std::slice::from_ref(target), rooms),
                Step::Home | Step::Look | Step::Stop => {}
            }
        }
        (found, strange)
    }

    /// Takes a destination; 1 when it is a room, or names nothing.
    fn lead(&mut self, destination: &Destination, rooms: &RoomNames) -> usize {
        let Some(target) = destination.targets.first() else { return 1 };
        let target = Described::of(target, rooms);
        if rooms.is_room(&target.noun) {
            return 1;
        }
        self.receptacle.get_or_insert(target);
        0
    }

    fn add(&mut self, action: Option<Action>, objects: &[NounPhrase], rooms: &RoomNames) {
        let named = objects.iter().filter(|phrase| !matches!(phrase.head, Head::It | Head::Them));
        self.targets.extend(named.map(|phrase| (action, Described::of(phrase, rooms))));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As of a robot that drives: a table is a thing among others.
    fn lexicon() -> Lexicon {
        let mut lexicon = Lexicon::built_in();
        lexicon.tables_are_things = true;
        lexicon
    }

    fn read(sentence: &str) -> Wishes {
        let found = readings(sentence, &lexicon(), &RoomNames::built_in());
        found.unwrap_or_else(|error| panic!("{sentence}: {error}")).remove(0)
    }

    #[test]
    fn a_sentence_tells_what_is_taken_from_where_and_where_it_goes() {
        let wishes = read("bring the red mug on the desk in the office to the kitchen table");
        let (action, mug) = &wishes.targets[0];
        assert_eq!(
            (*action, mug.noun.as_str(), mug.colors.as_slice()),
            (Some(Action::Pick), "mug", &["red".to_owned()][..])
        );
        let place = wishes.receptacle.expect("where to");
        assert_eq!((place.noun.as_str(), place.room.as_deref()), ("table", Some("kitchen")));
        let said = |described: &Described| {
            described.room.as_deref() == Some("office")
                || described.relations.iter().any(|(_, desk, _)| desk.room.as_deref() == Some("office"))
        };
        assert!(said(mug), "{mug:?}");
        assert!(
            mug.relations.iter().any(|(lies, desk, _)| *lies == Lies::At && desk.noun == "desk"),
            "{mug:?}"
        );
    }

    #[test]
    fn a_room_says_where_a_thing_is_and_is_no_place_to_put_one() {
        for sentence in [
            "put the yellow box in the office on the shelf in the bedroom",
            "pick up the box and put it on the shelf in the bedroom",
        ] {
            let shelf = read(sentence).receptacle.unwrap_or_else(|| panic!("{sentence}"));
            assert_eq!(
                (shelf.noun.as_str(), shelf.room.as_deref()),
                ("shelf", Some("bedroom")),
                "{sentence}"
            );
        }
        let wishes = read("take the plate on the dining table to the counter in the kitchen");
        assert_eq!(wishes.targets[0].1.relations[0].1.noun, "dining table");
    }

    #[test]
    fn a_question_and_a_part_are_looked_for_too() {
        assert_eq!(read("where is the towel near the sink?").targets[0].1.relations[0].0, Lies::Near);
        assert_eq!(read("open the drawer of the cabinet").targets[0].0, Some(Action::Open));
    }
}
