//! What is looked for: a described thing, and what shall be done with it.

use crate::record::Action;
use prehend_agent::language::rooms::RoomNames;
use prehend_agent::language::{
    self, AttributeKind, Goal, Head, Lexicon, Modifier, NounPhrase, PlaceRelation, Question, Spatial, Step,
};
use prehend_scene::Relation;

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

    /// Whether it is a room and nothing else.
    fn is_room(&self, rooms: &RoomNames) -> bool {
        rooms.is_room(&self.noun)
    }
}

/// What a sentence looks for: things to take, and where they shall go.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Wishes {
    /// The target objects, with what shall be done with each.
    pub targets: Vec<(Action, Described)>,
    /// The receptacle.
    pub receptacle: Option<Described>,
}

/// Reads what a sentence looks for; only its first reading counts.
///
/// Errors: what the grammar did not understand.
pub fn wishes(
    sentence: &str,
    lexicon: &Lexicon,
    rooms: &RoomNames,
) -> Result<Wishes, language::NotUnderstood> {
    let goals = language::parse(sentence, lexicon)?;
    let mut found = Wishes::default();
    let steps = match goals.into_iter().next() {
        Some(Goal::Steps(steps)) => steps,
        Some(Goal::Conditional { then, .. }) => then,
        Some(Goal::Question(question)) => {
            let phrases = match question {
                Question::Where(phrases) => phrases,
                Question::Count(phrase) | Question::Exists(phrase) | Question::Which(phrase) => vec![phrase],
                _ => Vec::new(),
            };
            found.targets =
                phrases.iter().map(|phrase| (Action::Pick, Described::of(phrase, rooms))).collect();
            Vec::new()
        }
        _ => Vec::new(),
    };
    for step in &steps {
        match step {
            Step::Pick { objects, .. } => found.add(Action::Pick, objects, rooms),
            Step::Place { objects, destination, .. } => {
                found.add(Action::Pick, objects, rooms);
                let is_place = |relation: Relation| relation != Relation::Table;
                let leads = match destination.relation {
                    PlaceRelation::Known(relation) => is_place(relation),
                    _ => true,
                };
                let target = destination.targets.first().filter(|_| leads);
                let target = target.map(|phrase| Described::of(phrase, rooms));
                found.receptacle = found.receptacle.take().or(target.filter(|target| !target.is_room(rooms)));
            }
            Step::Act { action, objects, .. } => {
                let action = Action::from_name(action).unwrap_or(Action::Press);
                found.add(action, objects, rooms);
            }
            Step::Unsupported { objects, destination, .. } => {
                found.add(Action::Pick, objects, rooms);
                let target = destination.as_ref().and_then(|destination| destination.targets.first());
                let target = target.map(|phrase| Described::of(phrase, rooms));
                found.receptacle = found.receptacle.take().or(target);
            }
            Step::Swap { objects } => found.add(Action::Pick, objects, rooms),
            Step::Go { target } => found.add(Action::Place, std::slice::from_ref(target), rooms),
            Step::Home | Step::Look | Step::Stop => {}
        }
    }
    Ok(found)
}

impl Wishes {
    fn add(&mut self, action: Action, objects: &[NounPhrase], rooms: &RoomNames) {
        let named = objects.iter().filter(|phrase| !matches!(phrase.head, Head::It | Head::Them));
        self.targets.extend(named.map(|phrase| (action, Described::of(phrase, rooms))));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(sentence: &str) -> Wishes {
        wishes(sentence, &Lexicon::built_in(), &RoomNames::built_in())
            .unwrap_or_else(|error| panic!("{sentence}: {error}"))
    }

    #[test]
    fn a_sentence_tells_what_is_taken_from_where_and_where_it_goes() {
        let wishes = read("bring the red mug on the desk in the office to the kitchen table");
        let (action, mug) = &wishes.targets[0];
        assert_eq!((*action, mug.noun.as_str(), mug.colors.as_slice()), (Action::Pick, "mug", &["red".to_owned()][..]));
        let place = wishes.receptacle.expect("where to");
        assert_eq!((place.noun.as_str(), place.room.as_deref()), ("table", Some("kitchen")));
        let said = |described: &Described| {
            described.room.as_deref() == Some("office")
                || described.relations.iter().any(|(_, desk, _)| desk.room.as_deref() == Some("office"))
        };
        assert!(said(mug), "{mug:?}");
        assert!(mug.relations.iter().any(|(lies, desk, _)| *lies == Lies::At && desk.noun == "desk"), "{mug:?}");
    }

    #[test]
    fn a_question_and_a_part_are_looked_for_too() {
        assert_eq!(read("where is the towel near the sink?").targets[0].1.relations[0].0, Lies::Near);
        assert_eq!(read("open the drawer of the cabinet").targets[0].0, Action::Open);
    }
}
