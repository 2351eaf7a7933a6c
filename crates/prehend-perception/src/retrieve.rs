//! Object retrieval: the top k by similarity, then confirmation (ASP IV-C). The default needs no weights: words are held
//! against class names and measured attributes.

mod by_features;

pub use by_features::retrieve_by_likeness;

use crate::lexicon::{Dimension, Lexicon, SizeWord};
use crate::query::{MATCH, Query, is_spelled_like, noun_similarity};
use prehend_scene::{Object, ObjectKey, ObjectMap, spatial};

/// Number of candidates that are confirmed when a request names none (ASP IV-C).
pub const DEFAULT_K: usize = 3;
/// Least share of an object's pixels that must have the colour asked for.
const COLOR_SHARE: f64 = 0.2;
/// Least share of a second colour, as that of a handle.
const SECOND_SHARE: f64 = 0.03;
/// Least share of a vivid colour by which a person may call a thing: the cap of a push button, the label of a can. What a neighbour's
/// border leaves on a thing is less.
const PART_SHARE: f64 = 0.08;
/// Colours that neither shadow nor shine makes of another.
const VIVID: [&str; 7] = ["red", "green", "blue", "yellow", "orange", "purple", "pink"];
/// Similarity of an object without a name to any noun: below a match, above other classes.
const NAMELESS: f64 = 0.5;
/// Least share of an object's votes with which a class counts as a rival of the winning one, and with which it is believed
/// when nothing else fits.
const RIVAL: f64 = 0.4;
const LAST_RESORT: f64 = 0.15;
/// What speaks for a name that is sure: one view's worth, and half of what all views said.
const SURE: (f64, f64) = (1.0, 0.5);
/// Greatest ratio of measures and greatest unlikeness of colours of things that look the same.
const TWIN: (f64, f64) = (1.25, 0.08);
/// Least gap between things that are surely two, metres.
const APART: f64 = 0.015;
/// Least ratio of sizes that makes "large" and "small" mean something.
const SIZE_RATIO: f64 = 1.15;

/// One object with how well it fits.
#[derive(Clone, Debug, PartialEq)]
pub struct Match {
    /// The object.
    pub key: ObjectKey,
    /// Similarity, [0, 1].
    pub similarity: f64,
}

/// A candidate that was looked at and is not meant.
#[derive(Clone, Debug, PartialEq)]
pub struct Rejected {
    /// The object.
    pub key: ObjectKey,
    /// Similarity, [0, 1].
    pub similarity: f64,
    /// Why not, such as `it is blue, not red`.
    pub reason: String,
}

/// Answer to a query.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Retrieval {
    /// Confirmed objects, best first; any number.
    pub matches: Vec<Match>,
    /// Rejected candidates, nearest first.
    pub rejected: Vec<Rejected>,
    /// Objects, matched or not, of which it is open whether they are meant: views name them differently, too little was seen of them to
    /// count beside what is surely meant, or none names them where nothing else fits. More views may settle it.
    pub doubtful: Vec<ObjectKey>,
}

struct Candidate<'a> {
    object: &'a Object,
    similarity: f64,
    /// Similarity of the names alone.
    noun: f64,
    doubts: Vec<String>,
    /// Whether nothing but its name speaks against it.
    only_unnamed: bool,
    /// Whether nothing speaks against it but that only a part of it has the colour asked for.
    only_partly: bool,
}

/// Finds what a text means in a map. `k` = 0 means [`DEFAULT_K`]; a plural ("the apples") looks at all that fit. Equal candidates
/// are never cut apart: who has the similarity of the k-th is looked at too.
pub fn retrieve(map: &ObjectMap, text: &str, k: usize, lexicon: &Lexicon) -> Retrieval {
    let query = Query::parse(text, lexicon);
    let mut found = Retrieval::default();
    let is_split = |object: &&Object| names_are_split(object, &query, lexicon);
    found.doubtful.extend(map.objects.iter().filter(is_split).map(|object| object.key.clone()));
    let mut candidates: Vec<Candidate<'_>> =
        map.objects.iter().map(|object| weigh(object, &query, lexicon)).collect();
    candidates.sort_by(|a, b| b.similarity.total_cmp(&a.similarity));
    let k = if k == 0 { DEFAULT_K } else { k };
    if !query.is_plural
        && let Some(last) = candidates.get(k - 1).map(|c| c.similarity)
    {
        let keep = candidates.iter().take_while(|c| c.similarity > last - 1e-9).count();
        candidates.truncate(keep);
    }
    believe_a_part(&mut candidates);
    found.doubtful.extend(prefer_sure(&mut candidates, &query, lexicon));
    prefer_spelled(&mut candidates, &query, lexicon);
    prefer_exact(&mut candidates, &query, lexicon);
    prefer_plain(&mut candidates, &query, lexicon);
    confirm_sizes(&mut candidates, &query);
    believe_the_only_one(&mut candidates, &query, lexicon);
    if !candidates.iter().any(|c| c.doubts.is_empty()) {
        let nameless = map.objects.iter().filter(|object| object.class_name.is_empty());
        found.doubtful.extend(nameless.map(|object| object.key.clone()));
    }
    for candidate in candidates {
        let (key, similarity) = (candidate.object.key.clone(), candidate.similarity);
        if candidate.doubts.is_empty() {
            found.matches.push(Match { key, similarity });
        } else {
            found.rejected.push(Rejected { key, similarity, reason: candidate.doubts.join("; ") });
        }
    }
    found
}

/// Whether views that count call an object by the noun and others by something else.
fn names_are_split(object: &Object, query: &Query, lexicon: &Lexicon) -> bool {
    if query.is_any() {
        return false;
    }
    let votes = || object.class_votes.iter().filter(|(name, _)| !name.is_empty());
    let named: f64 = votes().map(|(_, weight)| weight).sum();
    let (mut so, mut otherwise) = (0.0, 0.0);
    for (name, weight) in votes() {
        let fits = noun_similarity(&query.noun, name, lexicon) >= MATCH;
        *(if fits { &mut so } else { &mut otherwise }) += weight;
    }
    so.min(otherwise) > SPLIT * named
}

/// Similarity of one object, and what speaks against it.
fn weigh<'a>(object: &'a Object, query: &Query, lexicon: &Lexicon) -> Candidate<'a> {
    let mut doubts = Vec::new();
    let whole = noun_similarity(&query.phrase, &object.class_name, lexicon);
    // "akita black bowl": the colour is part of the name and proves nothing else.
    if whole >= 0.999 && !query.phrase.is_empty() {
        return Candidate {
            object,
            similarity: 1.0,
            noun: 1.0,
            doubts,
            only_unnamed: false,
            only_partly: false,
        };
    }
    let class_words: Vec<&str> = object.class_name.split(' ').collect();
    let (mut noun, votes) = best_noun(object, query, lexicon);
    // "cream cheese box": the colour belongs to the name.
    if !query.colors.is_empty() && query.colors.iter().all(|color| class_words.contains(&color.as_str())) {
        noun = noun.max(whole);
    }
    let mut similarity = noun;
    if query.is_any() {
        similarity = if query.colors.is_empty() && query.sizes.is_empty() { 0.6 } else { 0.8 };
    } else if object.class_name.is_empty() {
        // It may be what is asked for: the nearest alternative, and worth a look from elsewhere.
        similarity = NAMELESS;
        doubts.push("no view has named it yet".to_owned());
    } else if noun < MATCH {
        doubts.push(format!("it is {}, not {}", object.class_name, query.noun.join(" ")));
    } else {
        // A name only some views saw counts less.
        similarity *= 0.8 + 0.2 * votes;
    }
    let named_doubts = doubts.len();
    let mut partly = 0;
    for color in &query.colors {
        let share = color_share(object, color, lexicon);
        if class_words.contains(&color.as_str()) || share >= least_share(object, query, lexicon) {
            similarity *= 0.9 + 0.1 * share.min(1.0);
        } else {
            let measured =
                object.color_fractions.first().map_or("of no known colour", |(word, _)| word.as_str());
            doubts.push(format!("it is {measured}, not {color}"));
            partly += usize::from(is_of_a_part(object, color, lexicon));
            similarity *= 0.5 + 0.4 * share;
        }
    }
    if let Some(light) = query.shade {
        let value = object.color.iter().copied().max().map_or(0.5, |v| f64::from(v) / 255.0);
        similarity *= if light { 0.85 + 0.15 * value } else { 1.0 - 0.15 * value };
    }
    for word in &query.unmeasured {
        similarity *= if class_words.contains(&word.as_str()) { 1.0 } else { 0.95 };
    }
    let only_unnamed = named_doubts == 1 && doubts.len() == 1;
    let only_partly = partly > 0 && doubts.len() == partly;
    Candidate { object, similarity, noun, doubts, only_unnamed, only_partly }
}

/// Whether the colour of a word, a vivid one, is that of a part, and the only vivid one of the thing: an apple with a green leaf is no
/// green apple.
fn is_of_a_part(object: &Object, color: &str, lexicon: &Lexicon) -> bool {
    let asked = lexicon.colors.get(color).map(Vec::as_slice).unwrap_or_default();
    asked.first().is_some_and(|word| VIVID.contains(&word.as_str()))
        && color_share(object, color, lexicon) >= PART_SHARE
        && other_vivid(object, asked).is_none()
}

/// A second vivid colour of a thing, one not asked for.
fn other_vivid<'a>(object: &'a Object, asked: &[String]) -> Option<&'a str> {
    let other = object.color_fractions.iter().find(|(word, share)| {
        *share >= SECOND_SHARE && VIVID.contains(&word.as_str()) && !asked.contains(word)
    });
    other.map(|(word, _)| word.as_str())
}

/// Least share of each colour asked for. Of several colours ("the yellow and white mug") one may be that of a small part as long
/// as another covers enough of the thing.
fn least_share(object: &Object, query: &Query, lexicon: &Lexicon) -> f64 {
    let main = query.colors.iter().map(|color| color_share(object, color, lexicon)).fold(0.0, f64::max);
    if query.colors.len() > 1 && main >= COLOR_SHARE { SECOND_SHARE } else { COLOR_SHARE }
}

/// "The white mug" beside a white one with a yellow handle is the one that is white alone: others that fit have a second
/// colour of their own.
fn prefer_plain(candidates: &mut [Candidate<'_>], query: &Query, lexicon: &Lexicon) {
    let [color] = query.colors.as_slice() else { return };
    if query.is_plural {
        return;
    }
    let asked = lexicon.colors.get(color).map(Vec::as_slice).unwrap_or_default();
    let fitting = || candidates.iter().filter(|c| c.doubts.is_empty());
    if !fitting().any(|c| other_vivid(c.object, asked).is_none()) {
        return;
    }
    for candidate in candidates.iter_mut().filter(|c| c.doubts.is_empty()) {
        if let Some(other) = other_vivid(candidate.object, asked) {
            candidate.doubts.push(format!("it is {color} and {other}, another one is {color} alone"));
        }
    }
}

/// A thing that the views hardly named, beside one that they surely did: a detector now and then sees a bell in a strip of a cupboard,
/// and that is no second bell. Gives those of which too little was seen to say so: as yet they could become sure.
fn prefer_sure(candidates: &mut [Candidate<'_>], query: &Query, lexicon: &Lexicon) -> Vec<ObjectKey> {
    let mut open = Vec::new();
    if query.is_any() {
        return open;
    }
    // What speaks for the name, in views that were sure, and its share of all that was said.
    let belief = |object: &Object| {
        let fits = |name: &str| noun_similarity(&query.noun, name, lexicon) >= MATCH;
        let (mut so, mut all) = (0.0, 0.0);
        for (name, weight) in &object.class_votes {
            all += weight;
            so += if !name.is_empty() && fits(name) { *weight } else { 0.0 };
        }
        (so, so / f64::max(all, f64::MIN_POSITIVE))
    };
    // What it is called now counts, not all it was ever called: a block was taken for its drawer while it lay inside.
    let is_sure = |c: &Candidate<'_>| {
        let name = &c.object.class_name;
        let is_called_so = !name.is_empty() && noun_similarity(&query.noun, name, lexicon) >= MATCH;
        let (so, share) = belief(c.object);
        so >= SURE.0 && (is_called_so || share >= SURE.1)
    };
    if !candidates.iter().any(|c| c.doubts.is_empty() && is_sure(c)) {
        return open;
    }
    for candidate in candidates.iter_mut().filter(|c| c.doubts.is_empty()) {
        let (so, share) = belief(candidate.object);
        if so < SURE.0 && share < SURE.1 && !candidate.object.class_votes.is_empty() {
            candidate.doubts.push("hardly a view calls it so, and another one is surely that".to_owned());
            if candidate.object.is_hardly_seen() {
                open.push(candidate.object.key.clone());
            }
        }
    }
    open
}

/// If nothing bears the name and the colour, the one is meant of which a part has that colour: "the red button" is the grey one with the
/// red cap, unless there is one that is red.
fn believe_a_part(candidates: &mut [Candidate<'_>]) {
    if candidates.iter().any(|c| c.doubts.is_empty()) {
        return;
    }
    for candidate in candidates.iter_mut().filter(|c| c.only_partly) {
        candidate.doubts.clear();
    }
}

/// If nothing bears the name, a thing may be meant of which only the name is in doubt: one that some views called so, or else one of the
/// colour asked for that no view has named. It is meant only if it is the only one of its sort.
fn believe_the_only_one(candidates: &mut [Candidate<'_>], query: &Query, lexicon: &Lexicon) {
    if candidates.iter().any(|c| c.doubts.is_empty() || c.noun >= MATCH) {
        return;
    }
    let called_so = |c: &Candidate<'_>| {
        best_rival(c.object, query, lexicon, LAST_RESORT).is_some_and(|(s, _)| s >= MATCH)
    };
    let of_the_color = |c: &Candidate<'_>| c.object.class_name.is_empty() && !query.colors.is_empty();
    let believable: [&dyn Fn(&Candidate<'_>) -> bool; 2] = [&called_so, &of_the_color];
    for believed in believable {
        let mut fitting = candidates.iter_mut().filter(|c| c.only_unnamed && believed(c));
        if let (Some(only), None) = (fitting.next(), fitting.next()) {
            only.doubts.clear();
            return;
        }
    }
}

/// The best similarity of the noun with a class the object was given, and that class's share of the votes. Only the winning class
/// and rivals nearly as strong count.
fn best_noun(object: &Object, query: &Query, lexicon: &Lexicon) -> (f64, f64) {
    if query.is_any() {
        return (1.0, 1.0);
    }
    let named: f64 = object.class_votes.iter().filter(|(name, _)| !name.is_empty()).map(|(_, w)| w).sum();
    let share = |weight: f64| if named > 0.0 { weight / named } else { 0.0 };
    let own = noun_similarity(&query.noun, &object.class_name, lexicon);
    let own_share = object
        .class_votes
        .iter()
        .find(|(name, _)| *name == object.class_name)
        .map_or(1.0, |(_, weight)| share(*weight));
    let rival = best_rival(object, query, lexicon, RIVAL);
    match rival {
        Some((similarity, weight)) if own < MATCH && similarity >= MATCH => (similarity * 0.85, weight),
        _ => (own, own_share),
    }
}

/// The best similarity of the noun with a class that lost the vote but has at least `least` of it, and that share.
fn best_rival(object: &Object, query: &Query, lexicon: &Lexicon, least: f64) -> Option<(f64, f64)> {
    let votes = || object.class_votes.iter().filter(|(name, _)| !name.is_empty());
    let named: f64 = votes().map(|(_, weight)| weight).sum();
    votes()
        .filter(|(name, weight)| *name != object.class_name && *weight >= least * named)
        .map(|(name, weight)| {
            (noun_similarity(&query.noun, name, lexicon), weight / named.max(f64::MIN_POSITIVE))
        })
        .max_by(|a, b| a.0.total_cmp(&b.0))
}

fn color_share(object: &Object, color: &str, lexicon: &Lexicon) -> f64 {
    let measured = lexicon.colors.get(color).map(Vec::as_slice).unwrap_or_default();
    object
        .color_fractions
        .iter()
        .filter_map(|(word, share)| {
            let rank = measured.iter().position(|m| m == word)?;
            Some(share * if rank == 0 { 1.0 } else { 0.8 })
        })
        .sum()
}

/// Share of the votes from which a minority puts a name in doubt: one view of seven does not.
const SPLIT: f64 = 0.15;

/// Least similarity of names that are the same but for adjectives ("bowl" and "akita black bowl").
const SAME_NAME: f64 = 0.94;

/// A word that something here is called by is no misspelling of another: where there is a bell, a ball is none.
fn prefer_spelled(candidates: &mut [Candidate<'_>], query: &Query, lexicon: &Lexicon) {
    let is_called = |object: &Object| {
        let head = object.class_name.split(' ').next_back().map(|word| lexicon.singular(word));
        head.is_some() && head.as_ref() == query.noun.last()
    };
    if !candidates.iter().any(|candidate| is_called(candidate.object)) {
        return;
    }
    for candidate in candidates.iter_mut().filter(|candidate| candidate.doubts.is_empty()) {
        let object = candidate.object;
        if !is_called(object) && is_spelled_like(&query.noun, &object.class_name, lexicon) {
            candidate.similarity *= 0.5;
            candidate.doubts.push(format!("it is {}", object.class_name));
        }
    }
}

/// When something bears the very name, things of a mere kin ("mug" for "cup") are not meant as well; "cups" wants two of them.
/// What looks just like the one that bears the name is meant as much when no view or only some call it so: detectors misname.
fn prefer_exact(candidates: &mut [Candidate<'_>], query: &Query, lexicon: &Lexicon) {
    let is_exact = |c: &Candidate<'_>| c.doubts.is_empty() && c.noun >= SAME_NAME;
    let exact: Vec<&Object> = candidates.iter().filter(|c| is_exact(c)).map(|c| c.object).collect();
    if query.is_any() || exact.is_empty() {
        return;
    }
    let is_twin = |object: &Object| exact.iter().any(|other| looks_like(object, other));
    for candidate in candidates.iter_mut() {
        let is_called_so = || {
            candidate.object.class_name.is_empty()
                || best_rival(candidate.object, query, lexicon, LAST_RESORT).is_some_and(|(s, _)| s >= MATCH)
        };
        if candidate.only_unnamed && is_called_so() && is_twin(candidate.object) {
            candidate.doubts.clear();
        }
        let is_kin = candidate.doubts.is_empty()
            && !candidate.object.class_name.is_empty()
            && candidate.noun < SAME_NAME;
        if is_kin && exact.len() > usize::from(query.is_plural) && !is_twin(candidate.object) {
            candidate.similarity *= 0.9;
            candidate.doubts.push(format!(
                "it is {}, and another is {}",
                candidate.object.class_name,
                query.noun.join(" ")
            ));
        }
    }
}

/// Whether two things that stand apart have one colour and the same measures; what touches may be a part of the other.
fn looks_like(a: &Object, b: &Object) -> bool {
    let sorted = |object: &Object| {
        let mut size: [f64; 3] = object.bounds.size.into();
        size.sort_by(f64::total_cmp);
        size
    };
    let near = |(a, b): (f64, f64)| a.max(b) < TWIN.0 * a.min(b);
    spatial::gap(a, b) > APART
        && crate::color::unlikeness(a.color, b.color) < TWIN.1
        && sorted(a).into_iter().zip(sorted(b)).all(near)
}

fn measure(object: &Object, dimension: Dimension) -> f64 {
    let size = object.bounds.size;
    match dimension {
        Dimension::Volume => size.product().max(0.0).cbrt(),
        Dimension::Height => size.z,
        Dimension::Length => size.x.max(size.y),
    }
}

/// Size words choose among what is left, since large is relative; the only candidate is large enough.
fn confirm_sizes(candidates: &mut [Candidate<'_>], query: &Query) {
    for (word, SizeWord { dimension, most }) in &query.sizes {
        let sizes: Vec<f64> = candidates
            .iter()
            .filter(|c| c.doubts.is_empty())
            .map(|c| measure(c.object, *dimension))
            .collect();
        let low = sizes.iter().copied().fold(f64::INFINITY, f64::min);
        let high = sizes.iter().copied().fold(0.0, f64::max);
        if sizes.len() < 2 || high < SIZE_RATIO * low {
            continue;
        }
        let middle = (low + high) / 2.0;
        for candidate in candidates.iter_mut().filter(|c| c.doubts.is_empty()) {
            let size = measure(candidate.object, *dimension);
            if (size >= middle) != *most {
                candidate.similarity *= 0.6;
                candidate.doubts.push(format!("it is not the {word} one"));
            }
        }
    }
    candidates.sort_by(|a, b| b.similarity.total_cmp(&a.similarity));
}

#[cfg(test)]
mod tests;
