//! How the lexicon is read from its file.

use super::super::goal::{Dimension, Spatial, TableRegion};
use super::super::inflect::{gerund, past, third_person};
use super::super::rooms::RoomNames;
use super::{Describing, Determiner, Lexicon, PlaceWord, Verb, VerbForm, VerbMeaning, Words, lists};
use prehend_config::{Map, Value};
use prehend_scene::Relation;
use std::collections::{HashMap, HashSet};

const MEANINGS: [(&str, VerbMeaning); 18] = [
    ("pick", VerbMeaning::Pick),
    ("collect", VerbMeaning::Collect),
    ("place", VerbMeaning::Place),
    ("stack", VerbMeaning::Stack),
    ("drop", VerbMeaning::Drop),
    ("remove", VerbMeaning::Remove),
    ("discard", VerbMeaning::Discard),
    ("empty", VerbMeaning::Empty),
    ("clear", VerbMeaning::Clear),
    ("sort", VerbMeaning::Sort),
    ("fill", VerbMeaning::Fill),
    ("give", VerbMeaning::Give),
    ("find", VerbMeaning::Find),
    ("count", VerbMeaning::Count),
    ("list", VerbMeaning::List),
    ("push", VerbMeaning::Push),
    ("swap", VerbMeaning::Swap),
    ("other", VerbMeaning::Other),
];

impl Lexicon {
    pub(super) fn from_map(map: &mut Map<'_>) -> Option<Self> {
        let mut lexicon = Self { rooms: RoomNames::built_in(), ..Self::default() };
        lexicon.read_lists(map, lists::WORDS)?;
        map.req("grammar")?.map(|m| lexicon.read_lists(m, lists::GRAMMAR))?;
        map.req("contractions")?.map(|m| lexicon.read_contractions(m))?;
        let irregular = string_map(&map.req("irregular_verbs")?)?;
        for group in map.req("verbs")?.list(Some)? {
            group.map(|m| lexicon.read_verbs(m, &irregular))?;
        }
        for group in map.req("prepositions")?.list(Some)? {
            group.map(|m| lexicon.read_preposition(m))?;
        }
        for group in map.req("removals")?.list(Some)? {
            group.map(|m| {
                let spatial = m.req("is")?.choice(&SPATIAL)?;
                for phrase in m.req("words")?.list(|v| v.text())? {
                    lexicon.removals.add(&phrase, spatial);
                }
                Some(())
            })?;
        }
        map.req("determiners")?.map(|m| {
            for (key, determiner) in [
                ("one", Determiner::One),
                ("any", Determiner::Any),
                ("all", Determiner::All),
                ("both", Determiner::Both),
                ("other", Determiner::Other),
                ("rest", Determiner::Rest),
            ] {
                for phrase in m.req(key)?.list(|v| v.text())? {
                    lexicon.determiners.add(&phrase, determiner);
                }
            }
            Some(())
        })?;
        lexicon.read_describing(map)?;
        lexicon.read_meanings(map)?;
        for key in ["numbers", "ordinals"] {
            for (word, value) in map.req(key)?.map(|m| Some(m.entries()))? {
                let number = u32::try_from(value.u64()?).ok()?;
                if key == "numbers" {
                    lexicon.numbers.add(&word, number);
                } else {
                    lexicon.ordinals.add(&word, number);
                }
            }
        }
        for (word, right) in string_map(&map.req("corrections")?)? {
            lexicon.corrections.insert(word, right.split(' ').map(str::to_owned).collect());
        }
        lexicon.irregular_plurals = string_map(&map.req("irregular_plurals")?)?;
        lexicon.close();
        Some(lexicon)
    }

    fn read_lists(&mut self, map: &mut Map<'_>, keys: &[&'static str]) -> Option<()> {
        for key in keys {
            let mut words = Words::default();
            for phrase in map.req(key)?.list(|v| v.text())? {
                words.add(&phrase, ());
            }
            self.lists.insert(key, words);
        }
        Some(())
    }

    fn read_contractions(&mut self, map: &mut Map<'_>) -> Option<()> {
        for (word, full) in string_map(&map.req("words")?)? {
            self.contractions.whole.insert(word, full.split(' ').map(str::to_owned).collect());
        }
        self.contractions.endings = string_map(&map.req("endings")?)?;
        self.contractions.is = map.req("is")?.list(|v| v.text())?.into_iter().collect();
        Some(())
    }

    /// Words with a meaning for a rule of the grammar.
    fn read_meanings(&mut self, map: &mut Map<'_>) -> Option<()> {
        for group in map.req("measures")?.list(Some)? {
            group.map(|m| {
                let dimension = m.req("dimension")?.choice(&DIMENSIONS)?;
                for word in m.req("words")?.list(|v| v.text())? {
                    self.measures.add(&word, dimension);
                }
                Some(())
            })?;
        }
        for (word, millimetres) in map.req("units")?.map(|m| Some(m.entries()))? {
            self.units.add(&word, millimetres.f64()?);
        }
        map.req("directions")?.map(|m| {
            for (key, region) in &REGIONS[..4] {
                for word in m.req(key)?.list(|v| v.text())? {
                    self.directions.add(&word, *region);
                }
            }
            Some(())
        })?;
        for (word, side) in map.req("its_sides")?.map(|m| Some(m.entries()))? {
            self.its_sides.add(&word, side.choice(&ITS_SIDES)?);
        }
        Some(())
    }

    fn read_verbs(&mut self, map: &mut Map<'_>, irregular: &HashMap<String, String>) -> Option<()> {
        let meaning = map.req("means")?.choice(&MEANINGS)?;
        let mut particles = Words::default();
        for particle in map.or("with", Vec::new(), |v| v.list(|v| v.text()))? {
            particles.add(&particle, ());
        }
        let index = self.particles.len();
        self.particles.push(particles);
        for lemma in map.req("words")?.list(|v| v.text())? {
            self.add_verb(&lemma, meaning, index);
            let (first, rest) = split_verb(&lemma);
            for (form, base) in irregular {
                if base == first {
                    let kind = if form.ends_with("ing") { VerbForm::Gerund } else { VerbForm::Past };
                    let verb = Verb { lemma: lemma.clone(), meaning, form: kind, particles: index };
                    self.verbs.add(&format!("{form}{rest}"), verb);
                }
            }
        }
        Some(())
    }

    /// Adds the regular forms of a verb.
    pub(super) fn add_verb(&mut self, lemma: &str, meaning: VerbMeaning, particles: usize) {
        let (first, rest) = split_verb(lemma);
        let same_past = self.list("same_past").has_word(first);
        let mut add = |form: &str, kind| {
            let verb = Verb { lemma: lemma.to_owned(), meaning, form: kind, particles };
            self.verbs.add(&format!("{form}{rest}"), verb);
        };
        add(first, VerbForm::Base);
        add(&third_person(first), VerbForm::Third);
        add(&gerund(first), VerbForm::Gerund);
        add(&past(first), VerbForm::Past);
        if same_past {
            add(first, VerbForm::Past);
        }
    }

    fn read_preposition(&mut self, map: &mut Map<'_>) -> Option<()> {
        let place = match map.opt("place") {
            Some(value) => Some(value.choice(&PLACE)?),
            None => None,
        };
        let is = match map.opt("is") {
            Some(value) => Some(value.choice(&SPATIAL)?),
            None => None,
        };
        for phrase in map.req("words")?.list(|v| v.text())? {
            if let Some(place) = place {
                self.place_words.add(&phrase, place);
            }
            if let Some(is) = is {
                self.spatial_words.add(&phrase, is);
            }
        }
        Some(())
    }

    fn read_describing(&mut self, map: &mut Map<'_>) -> Option<()> {
        for (key, kind) in [
            ("colors", Describing::Color),
            ("materials", Describing::Material),
            ("shapes", Describing::Shape),
            ("adjectives", Describing::Other),
        ] {
            for phrase in map.req(key)?.list(|v| v.text())? {
                self.describing.add(&phrase, kind);
            }
        }
        for group in map.req("sizes")?.list(Some)? {
            group.map(|m| {
                let dimension = m.req("dimension")?.choice(&DIMENSIONS)?;
                let most = m.req("most")?.bool()?;
                for phrase in m.req("words")?.list(|v| v.text())? {
                    self.describing.add(&phrase, Describing::Size(dimension, most));
                }
                Some(())
            })?;
        }
        map.req("sides")?.map(|m| {
            for (key, region) in REGIONS {
                for phrase in m.req(key)?.list(|v| v.text())? {
                    self.describing.add(&phrase, Describing::Side(region));
                }
            }
            for (key, top) in [("top", true), ("bottom", false)] {
                for phrase in m.req(key)?.list(|v| v.text())? {
                    self.describing.add(&phrase, Describing::Level(top));
                }
            }
            Some(())
        })?;
        for group in map.req("states")?.list(Some)? {
            group.map(|m| {
                let (spatial, negated) = (m.req("is")?.choice(&SPATIAL)?, m.or("not", false, |v| v.bool())?);
                for phrase in m.req("words")?.list(|v| v.text())? {
                    self.describing.add(&phrase, Describing::State(spatial, negated));
                }
                Some(())
            })?;
        }
        for (key, closest) in [("nearest", true), ("remotest", false)] {
            for phrase in map.req(key)?.list(|v| v.text())? {
                self.describing.add(&phrase, Describing::Distance(closest));
            }
        }
        Some(())
    }

    /// Collects the words that cannot be part of a noun.
    fn close(&mut self) {
        let single = |words: &[String]| (words.len() == 1).then(|| words[0].clone());
        let mut closed: HashSet<String> =
            self.list("never_nouns").iter().filter_map(|(words, ())| single(words)).collect();
        closed.extend(self.place_words.iter().filter_map(|(words, _)| single(words)));
        closed.extend(self.spatial_words.iter().filter_map(|(words, _)| single(words)));
        closed.extend(self.removals.iter().filter_map(|(words, _)| single(words)));
        closed.extend(self.determiners.iter().filter_map(|(words, _)| single(words)));
        for key in [
            "it",
            "them",
            "be",
            "negations",
            "everything",
            "anything",
            "conditions",
            "comparatives",
            "relative",
        ] {
            closed.extend(self.list(key).iter().filter_map(|(words, ())| single(words)));
        }
        for (words, ()) in self.list("still_nouns").iter() {
            closed.remove(words[0].as_str());
        }
        self.closed = closed;
    }
}

/// The first word of a verb, and the rest with the blank before it.
fn split_verb(lemma: &str) -> (&str, &str) {
    lemma.split_at(lemma.find(' ').unwrap_or(lemma.len()))
}

const DIMENSIONS: [(&str, Dimension); 4] = [
    ("size", Dimension::Size),
    ("height", Dimension::Height),
    ("length", Dimension::Length),
    ("thickness", Dimension::Thickness),
];

const REGIONS: [(&str, TableRegion); 6] = [
    ("left", TableRegion::Left),
    ("right", TableRegion::Right),
    ("front", TableRegion::Front),
    ("back", TableRegion::Back),
    ("center", TableRegion::Center),
    ("edge", TableRegion::Edge),
];

/// Sides of one thing at which another can be.
const ITS_SIDES: [(&str, Relation); 4] = [
    ("left_of", Relation::LeftOf),
    ("right_of", Relation::RightOf),
    ("next_to", Relation::NextTo),
    ("in_front_of", Relation::InFrontOf),
];

const SPATIAL: [(&str, Spatial); 14] = [
    ("on", Spatial::On),
    ("in", Spatial::In),
    ("at", Spatial::At),
    ("near", Spatial::Near),
    ("far_from", Spatial::FarFrom),
    ("left_of", Spatial::LeftOf),
    ("right_of", Spatial::RightOf),
    ("in_front_of", Spatial::InFrontOf),
    ("behind", Spatial::Behind),
    ("between", Spatial::Between),
    ("under", Spatial::Under),
    ("above", Spatial::Above),
    ("with", Spatial::With),
    ("held", Spatial::Held),
];

const PLACE: [(&str, PlaceWord); 12] = [
    ("on", PlaceWord::Known(Relation::On)),
    ("in", PlaceWord::Known(Relation::In)),
    ("next_to", PlaceWord::Known(Relation::NextTo)),
    ("left_of", PlaceWord::Known(Relation::LeftOf)),
    ("right_of", PlaceWord::Known(Relation::RightOf)),
    ("in_front_of", PlaceWord::Known(Relation::InFrontOf)),
    ("behind", PlaceWord::Known(Relation::Behind)),
    ("between", PlaceWord::Known(Relation::Between)),
    ("away", PlaceWord::Known(Relation::Away)),
    ("to", PlaceWord::To),
    ("under", PlaceWord::Under),
    ("above", PlaceWord::Above),
];

fn string_map(value: &Value<'_>) -> Option<HashMap<String, String>> {
    let entries = value.map(|m| Some(m.entries()))?;
    entries.into_iter().map(|(key, value)| Some((key, value.text()?))).collect()
}
