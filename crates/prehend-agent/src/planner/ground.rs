//! Noun phrases to objects of the map.

use super::Knowledge;
use super::describe::{class_of, counted, describe, differences, listed, noun, with_article};
use super::furniture::is_inside_furniture;
use crate::language::{AttributeKind, Head, NounPhrase, Quantity, Spatial, plural};
use crate::tools::Toolbox;
use crate::world::{Comparison, Fault, Retrieval};
use prehend_scene::{Makes, Object, ObjectKey, ObjectMap, Reason, Relation};
use std::collections::HashMap;
use std::sync::Arc;

/// How many of the things nearest to a description are looked at again when nothing is left of it.
const OTHERS: usize = 2;
/// Candidates asked for when all that fit are wanted.
const ALL: u32 = 16;

/// Something that will be so once earlier steps are done.
#[derive(Clone, Debug)]
pub(super) struct Fact {
    pub(super) object: ObjectKey,
    pub(super) relation: Relation,
    pub(super) targets: Vec<ObjectKey>,
}

/// Grounds the phrases of one reading.
pub(crate) struct Grounder<'t, 'w, 'k> {
    pub(super) tools: &'t mut Toolbox<'w>,
    pub(super) knowledge: Knowledge<'k>,
    /// What was moved or spoken of last: "it", "them".
    pub(super) objects: Vec<ObjectKey>,
    /// Where it was put last.
    pub(super) targets: Vec<ObjectKey>,
    /// Everything spoken of, for "the other".
    pub(super) spoken: Vec<ObjectKey>,
    pub(super) facts: Vec<Fact>,
    /// What earlier steps open or close, the newest last.
    pub(super) states: Vec<(ObjectKey, Makes)>,
    pub(super) queries: HashMap<(String, u32), Retrieval>,
    /// What was measured last of several things, to choose among them.
    pub(super) measured: Vec<(ObjectKey, f64)>,
}

impl<'t, 'w, 'k> Grounder<'t, 'w, 'k> {
    pub(super) fn new(tools: &'t mut Toolbox<'w>, knowledge: Knowledge<'k>) -> Self {
        Self {
            tools,
            knowledge,
            objects: Vec::new(),
            targets: Vec::new(),
            spoken: Vec::new(),
            facts: Vec::new(),
            states: Vec::new(),
            queries: HashMap::new(),
            measured: Vec::new(),
        }
    }

    pub(super) fn map(&mut self) -> Result<Arc<ObjectMap>, Fault> {
        self.tools.map()
    }

    pub(super) fn held(&self) -> Option<ObjectKey> {
        self.tools.state().held_object.clone()
    }

    /// The objects that phrases mean together, each once.
    pub(super) fn ground_all(
        &mut self,
        phrases: &[NounPhrase],
        not: &[ObjectKey],
    ) -> Result<Vec<ObjectKey>, Fault> {
        let mut keys = Vec::new();
        for np in phrases {
            for key in self.ground(np, not)? {
                if !keys.contains(&key) {
                    keys.push(key);
                }
            }
        }
        Ok(keys)
    }

    /// The objects that a phrase means: exactly as many as it says. Objects of `not` are left out when others fit.
    pub(super) fn ground(&mut self, np: &NounPhrase, not: &[ObjectKey]) -> Result<Vec<ObjectKey>, Fault> {
        let mut keys = self.candidates(np)?;
        if keys.len() > 1
            && keys.iter().any(|key| !not.contains(key))
            && !matches!(np.head, Head::It | Head::Them)
        {
            keys.retain(|key| !not.contains(key));
        }
        if matches!(np.quantity, Quantity::Other | Quantity::Others) {
            keys.retain(|key| !self.spoken.contains(key));
            if keys.is_empty() {
                return Err(Fault::new(Reason::NotFound, format!("I see no other {}.", self.words(np))));
            }
        }
        let chosen = self.counted(np, keys)?;
        if let ([one], true) = (chosen.as_slice(), self.tools.rooms()) {
            self.keep_row(np, one);
        }
        for key in &chosen {
            if !self.spoken.contains(key) {
                self.spoken.push(key.clone());
            }
        }
        Ok(chosen)
    }

    /// Checks the number of objects against what the phrase says.
    fn counted(&mut self, np: &NounPhrase, mut keys: Vec<ObjectKey>) -> Result<Vec<ObjectKey>, Fault> {
        let found = keys.len();
        let few = |wanted: u32| {
            let noun = head_word(np);
            Fault::new(
                Reason::NotFound,
                format!(
                    "You speak of {}, but I see only {}.",
                    counted(wanted as usize, &noun),
                    counted(found, &noun)
                ),
            )
        };
        match np.quantity {
            _ if np.head == Head::Them => Ok(keys),
            Quantity::One | Quantity::Other => match found {
                1 => Ok(keys),
                _ => match self.in_plain_sight(&keys)? {
                    Some(key) => Ok(vec![key]),
                    None => Err(self.ambiguous(np, &keys)?),
                },
            },
            Quantity::Any => match self.in_plain_sight(&keys)? {
                Some(key) => Ok(vec![key]),
                None => {
                    keys.truncate(1);
                    Ok(keys)
                }
            },
            Quantity::Some(wanted) if found < wanted as usize => Err(few(wanted)),
            Quantity::Some(wanted) => {
                keys.truncate(wanted as usize);
                Ok(keys)
            }
            Quantity::Exactly(wanted) if found < wanted as usize => Err(few(wanted)),
            Quantity::Exactly(wanted) if found > wanted as usize => {
                let map = self.map()?;
                let message = format!(
                    "You speak of {}, but I see {}: {}. Which ones?",
                    counted(wanted as usize, &head_word(np)),
                    found,
                    listed(&differences(&keys, &map))
                );
                Err(Fault::new(Reason::Ambiguous, message))
            }
            Quantity::Exactly(_) | Quantity::All | Quantity::Others => Ok(keys),
        }
    }

    /// Of several things the only one that is seen, when all others were shut away in drawers or behind doors: who speaks of "the apple"
    /// means the one on the table.
    fn in_plain_sight(&mut self, keys: &[ObjectKey]) -> Result<Option<ObjectKey>, Fault> {
        let map = self.map()?;
        let objects: Vec<&Object> = keys.iter().filter_map(|key| map.get(key)).collect();
        let (away, seen): (Vec<&Object>, Vec<&Object>) =
            objects.iter().partition(|object| self.tools.is_remembered(object));
        let [one] = seen.as_slice() else { return Ok(None) };
        if away.is_empty() || !away.iter().all(|object| is_inside_furniture(object, &map)) {
            return Ok(None);
        }
        self.tools.compared(&Comparison {
            by: "sight".to_owned(),
            measured: Vec::new(),
            taken: vec![one.key.clone()],
            why_none: String::new(),
        });
        Ok(Some(one.key.clone()))
    }

    /// The question that settles which of several objects is meant.
    pub(super) fn ambiguous(&mut self, np: &NounPhrase, keys: &[ObjectKey]) -> Result<Fault, Fault> {
        let map = self.map()?;
        let message = format!(
            "There are {} that \"{}\" can mean: {}. Which one?",
            counted(keys.len(), &head_word(np)),
            self.words(np),
            listed(&differences(keys, &map))
        );
        Ok(Fault::new(Reason::Ambiguous, message))
    }

    /// The words of a phrase, for messages.
    pub(super) fn words(&self, np: &NounPhrase) -> String {
        if np.text.is_empty() { np.to_string() } else { np.text.clone() }
    }

    /// Everything that fits a phrase but for its number; not empty.
    pub(super) fn candidates(&mut self, np: &NounPhrase) -> Result<Vec<ObjectKey>, Fault> {
        if !np.alternatives.is_empty() {
            let mut keys = self.any_of(np)?;
            for selector in &np.selectors {
                keys = self.chosen(np, selector, keys)?;
            }
            return Ok(keys);
        }
        let mut keys = self.named(np)?;
        for attribute in &np.excluded_attributes {
            let query = format!("{} {}", attribute.word, head_query(np, false));
            let excluded = self.retrieve(query.trim(), ALL)?.keys;
            let before = keys.clone();
            keys.retain(|key| !excluded.contains(key));
            if keys.is_empty() {
                let map = self.map()?;
                let message = format!(
                    "Every {} I see is {}: {}.",
                    head_word(np),
                    attribute.word,
                    describe(&before[0], &map)
                );
                return Err(Fault::new(Reason::NotFound, message));
            }
        }
        for modifier in &np.modifiers {
            keys = self.related(np, modifier, keys)?;
        }
        for except in &np.except {
            let mut not = self.loose(except)?;
            if except.head == Head::Anything && !except.attributes.is_empty() {
                not.retain(|key| keys.contains(key));
            }
            keys.retain(|key| !not.contains(key));
            if keys.is_empty() {
                self.doubt_others(np)?;
                return Err(Fault::new(
                    Reason::NotFound,
                    format!("Nothing is left of \"{}\".", self.words(np)),
                ));
            }
        }
        for selector in &np.selectors {
            keys = self.chosen(np, selector, keys)?;
        }
        Ok(keys)
    }

    /// All that bears the name is excluded: what is meant is something that a view named otherwise.
    fn doubt_others(&mut self, np: &NounPhrase) -> Result<(), Fault> {
        if !matches!(np.head, Head::Noun(_)) {
            return Ok(());
        }
        let others = self.retrieve(&head_query(np, false), ALL)?.rejected;
        self.tools.doubt(others.into_iter().map(|rejected| rejected.key).take(OTHERS).collect());
        Ok(())
    }

    /// Everything that one of several phrases means; not empty.
    fn any_of(&mut self, np: &NounPhrase) -> Result<Vec<ObjectKey>, Fault> {
        let mut keys = Vec::new();
        let mut missing = Vec::new();
        for option in &np.alternatives {
            let found = self.loose(option)?;
            if found.is_empty() {
                missing.push(with_article(&singular_words(option)));
            }
            keys.extend(found.into_iter().filter(|key| !keys.contains(key)).collect::<Vec<_>>());
        }
        if keys.is_empty() {
            let map = self.map()?;
            let all: Vec<ObjectKey> = map.objects.iter().map(|object| object.key.clone()).collect();
            let seen = super::describe::inventory_words(&all, &map);
            let message = format!("I see neither {}. I see {seen}.", missing.join(" nor "));
            return Err(Fault::new(Reason::NotFound, message));
        }
        Ok(keys)
    }

    /// What a phrase can mean, without a refusal when several or none fit.
    pub(super) fn loose(&mut self, np: &NounPhrase) -> Result<Vec<ObjectKey>, Fault> {
        match self.candidates(np) {
            Ok(keys) => Ok(keys),
            Err(fault) if fault.reason == Reason::NotFound => Ok(Vec::new()),
            Err(fault) => Err(fault),
        }
    }

    /// Objects that the head and the attributes name; not empty.
    fn named(&mut self, np: &NounPhrase) -> Result<Vec<ObjectKey>, Fault> {
        match &np.head {
            Head::It => self.pronoun(np),
            Head::Them => match self.objects.as_slice() {
                [] => Err(Fault::new(
                    Reason::NotUnderstood,
                    format!("I do not know what \"{}\" means here.", self.words(np)),
                )),
                // "stack it on the bowl and place them in the tray": them is the stack.
                [one]
                    if self.facts.iter().any(|fact| fact.object == *one && fact.relation == Relation::On) =>
                {
                    Err(Fault::new(
                        Reason::Infeasible,
                        "I cannot carry things that stand on each other. Tell me where to put each of them.",
                    ))
                }
                objects => Ok(objects.to_vec()),
            },
            Head::Anything if np.attributes.is_empty() => {
                let map = self.map()?;
                let held = self.held();
                let wants_held = np.modifiers.iter().any(|m| m.relation == Spatial::Held);
                let keys: Vec<ObjectKey> = map
                    .objects
                    .iter()
                    .map(|object| object.key.clone())
                    .filter(|key| wants_held || Some(key) != held.as_ref())
                    .collect();
                for key in &keys {
                    self.tools.add_to_inventory(key);
                }
                if keys.is_empty() {
                    Err(Fault::new(Reason::NotFound, "I see nothing on the table."))
                } else {
                    Ok(keys)
                }
            }
            Head::Noun(noun)
                if !self.tools.rooms() && self.knowledge.lexicon.list("table").has_word(noun) =>
            {
                Err(Fault::new(
                    Reason::Infeasible,
                    "The table itself is nothing I can move or put things beside.",
                ))
            }
            Head::Noun(_) if self.wanted_state(np).is_some() => self.in_state(np),
            Head::Noun(_) | Head::Anything => {
                let several = !matches!(np.quantity, Quantity::One | Quantity::Any | Quantity::Other);
                let filtered = !np.modifiers.is_empty() || !np.selectors.is_empty() || !np.except.is_empty();
                let query = head_query(np, several);
                let k = if several || filtered || np.quantity == Quantity::Other { ALL } else { 0 };
                let found = self.retrieve(&query, k)?;
                if !found.keys.is_empty() {
                    return Ok(found.keys);
                }
                let relaxed = self.relaxed(np, k)?;
                if relaxed.is_empty() { Err(self.not_found(np, &found)?) } else { Ok(relaxed) }
            }
        }
    }

    /// Adjectives that nothing measures ("shiny", "ripe") do not rule an object out when the noun fits.
    fn relaxed(&mut self, np: &NounPhrase, k: u32) -> Result<Vec<ObjectKey>, Fault> {
        let measured = |kind| matches!(kind, AttributeKind::Color | AttributeKind::Shape);
        if np.attributes.iter().all(|attribute| measured(attribute.kind)) {
            return Ok(Vec::new());
        }
        let mut plain = np.clone();
        plain.attributes.retain(|attribute| measured(attribute.kind));
        Ok(self.retrieve(&head_query(&plain, false), k)?.keys)
    }

    /// "it": what was spoken of last, else what is held.
    fn pronoun(&mut self, np: &NounPhrase) -> Result<Vec<ObjectKey>, Fault> {
        match (self.objects.as_slice(), self.held()) {
            ([one], _) => Ok(vec![one.clone()]),
            ([], Some(held)) => Ok(vec![held]),
            ([], None) => Err(Fault::new(
                Reason::NotUnderstood,
                format!(
                    "I do not know what \"{}\" means: nothing was named before, and I hold nothing.",
                    self.words(np)
                ),
            )),
            (several, _) => Ok(several.to_vec()),
        }
    }

    /// A retrieval; the same query in the same plan is asked once.
    pub(super) fn retrieve(&mut self, query: &str, k: u32) -> Result<Retrieval, Fault> {
        if let Some(known) = self.queries.get(&(query.to_owned(), k)) {
            return Ok(known.clone());
        }
        let (retrieval, _) = self.tools.object_retrieval(query, k)?;
        self.queries.insert((query.to_owned(), k), retrieval.clone());
        Ok(retrieval)
    }

    /// Says that nothing fits and names the nearest alternative.
    fn not_found(&mut self, np: &NounPhrase, found: &Retrieval) -> Result<Fault, Fault> {
        let map = self.map()?;
        let wanted = with_article(&singular_words(np));
        let near = found.rejected.iter().find_map(|rejected| {
            let object = map.get(&rejected.key)?;
            // Same kind, other attribute: that is the alternative to name.
            let same_kind = matches!(&np.head, Head::Noun(head) if class_of(object).ends_with(head.as_str()));
            (same_kind || !np.attributes.is_empty())
                .then(|| format!("nearest is the {} ({})", noun(object), rejected.reason))
        });
        let all: Vec<ObjectKey> = map.objects.iter().map(|object| object.key.clone()).collect();
        let seen = super::describe::inventory_words(&all, &map);
        if let Some(note) = self.tools.note_on(&head_query(np, false)) {
            return Ok(Fault::new(Reason::NotFound, format!("{note} I see {seen}.")));
        }
        let message = match near {
            Some(near) => format!("I do not see {wanted}; {near}. I see {seen}."),
            None if all.is_empty() => format!("I do not see {wanted}; I see nothing on the table."),
            None => format!("I do not see {wanted}. I see {seen}."),
        };
        Ok(Fault::new(Reason::NotFound, message))
    }
}

/// The head noun for messages.
pub(super) fn head_word(np: &NounPhrase) -> String {
    match &np.head {
        Head::Noun(noun) => {
            let attributes = np.attributes.iter().map(|attribute| attribute.word.as_str());
            attributes.chain([noun.as_str()]).collect::<Vec<_>>().join(" ")
        }
        Head::Anything | Head::It | Head::Them => "object".to_owned(),
    }
}

fn singular_words(np: &NounPhrase) -> String {
    match head_word(np).as_str() {
        "object" => {
            let attributes: Vec<&str> =
                np.attributes.iter().map(|attribute| attribute.word.as_str()).collect();
            format!("{} object", attributes.join(" ")).trim().to_owned()
        }
        word => word.to_owned(),
    }
}

/// The query text: attributes and noun, plural when several are wanted.
fn head_query(np: &NounPhrase, several: bool) -> String {
    let noun = match &np.head {
        Head::Noun(noun) if several => plural_phrase(noun),
        Head::Noun(noun) => noun.clone(),
        Head::Anything | Head::It | Head::Them => if several { "objects" } else { "object" }.to_owned(),
    };
    let attributes = np.attributes.iter().map(|attribute| attribute.word.as_str());
    attributes.chain([noun.as_str()]).collect::<Vec<_>>().join(" ")
}

/// "can of soup" to "cans of soup".
fn plural_phrase(noun: &str) -> String {
    match noun.split_once(" of ") {
        Some((head, rest)) => format!("{} of {rest}", plural(head)),
        None => plural(noun),
    }
}
