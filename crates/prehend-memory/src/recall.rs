//! Hierarchical Multimodal Retrieval (Affordance RAG IV-B): down the levels, fusion of two meanings, reranking by what can be done.

use crate::encode::{Encoder, similarity};
use crate::error::MemoryError;
use crate::learn::{belief, score};
use crate::nouns::Nouns;
use crate::propose::is_on;
use crate::record::{Action, Area, Id, Thing, View};
use crate::request::{Described, Lies, Request};
use crate::store::Store;
use prehend_agent::language::rooms::RoomNames;
use prehend_perception::query;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// How it is searched. The switches are for ablations.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    /// `K_b`: nodes that are followed at each level.
    pub beams: usize,
    /// `alpha`: weight of the text's meaning against the picture's.
    pub alpha: f64,
    /// `K_r`: views whose things are reranked.
    pub reranked: usize,
    /// `K_f`: things whose order what can be done with them decides.
    pub refined: usize,
    /// Things that are looked for by their own features beside the levels; the paper has none.
    pub nearest: usize,
    /// Whether to go down the levels; all views are compared otherwise.
    pub traverses: bool,
    /// Whether things are reranked at all.
    pub reranks: bool,
    /// Whether what can be done decides among things that fit alike.
    pub by_action: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            beams: 10,
            alpha: 0.5,
            reranked: 100,
            refined: 5,
            nearest: 40,
            traverses: true,
            reranks: true,
            by_action: true,
        }
    }
}

/// How steeply a worse fit counts against what can be done: at 0.95 of the best fit it is worth two thirds.
const STEEP: i32 = 8;
/// What a thing is worth with which the action was never thought possible.
const UNPROPOSED: f64 = 0.3;
/// Sightings that are worth as much as the doubt whether a thing is one: one view alone may be wrong.
const DOUBT: f64 = 0.5;
/// What a neutral colour counts for another one: shadow makes white grey.
const SHADOW: f64 = 0.6;
/// Colours that are made of each other by light and shadow.
pub(crate) const NEUTRAL: [&str; 4] = ["white", "grey", "black", "beige"];
/// Factors of a match: colour, relation or room that is asked for and not there.
const OTHER_COLOR: f64 = 0.4;
const OTHER_PLACE: f64 = 0.35;
const OTHER_ROOM: f64 = 0.3;
/// The same where it is not known.
const UNKNOWN_ROOM: f64 = 0.6;
/// Share of pixels from which a thing has a colour.
const COLORED: f64 = 0.2;
/// Distances up to which things are near each other, and by which that fades, metres.
const NEAR: [f64; 2] = [0.4, 0.5];
/// How far around a thing its relations are looked for, metres.
const AROUND: f64 = 2.5;
/// Relations of what relations lead to that are followed.
const NESTED: usize = 2;
/// A name that fits less than a match is worth this share of its similarity.
const MISFIT: f64 = 0.3;
/// How likely a thing is meant compared with the best: its fit compared with the best fit, to this power, and a little less for each place
/// behind. Things that fit alike take turns; a clear best one comes first with all its views.
const LIKELY: i32 = 6;
const LESS: f64 = 0.9;
/// What each next view of a thing is worth compared with the one before.
const NEXT: f64 = 0.95;
/// What a view is worth that looks at a thing's place and was not seen to show it, and the fused similarity where things say the same.
const FACING: f64 = 0.7;
const TIE: f64 = 0.1;
/// Least fit of an answer: one thing that was asked for is otherwise, not two.
const ANSWER: f64 = 0.3;
/// What a thing that is asked for by no name is worth.
const ANYTHING: f64 = 0.6;

/// A thing of an answer.
#[derive(Clone, Debug, PartialEq)]
pub struct Found {
    /// The thing as it is remembered.
    pub thing: Thing,
    /// How well it fits the words, [0, 1].
    pub fits: f64,
    /// How well what is asked for can be done with it, [0, 1]; 1 when nothing is asked for.
    pub can: f64,
    /// How sure it is that it is still there, [0, 1].
    pub still_there: f64,
    /// The kind of room it is in, when that is known.
    pub room: Option<String>,
    /// What it stands on or in, in words, when that is remembered.
    pub on: Option<String>,
    /// The views that show it, best first.
    pub views: Vec<Id>,
    /// Why it was chosen, in words with numbers.
    pub why: String,
}

impl Found {
    /// Whether it fits well enough to be an answer.
    pub fn is_answer(&self) -> bool {
        self.fits >= ANSWER
    }
}

/// What the memory answers.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Answer {
    /// Things, best first; at most `k`.
    pub things: Vec<Found>,
    /// Views, best first, with their fused similarity.
    pub views: Vec<(Id, f64)>,
    /// Zones, areas and buildings that were compared, and views.
    pub compared: [usize; 2],
}

/// A match of a thing with a description.
struct Match {
    value: f64,
    why: Vec<String>,
}

/// What a search has read so far.
struct Search<'a> {
    store: &'a mut dyn Store,
    nouns: &'a Nouns,
    rooms: &'a RoomNames,
    /// Areas by number.
    areas: BTreeMap<Id, Area>,
    /// Things around a place, by the place in half metres.
    around: BTreeMap<(String, [i64; 2]), Arc<[Thing]>>,
}

/// Finds things and views.
///
/// Errors: those of the encoder and the store.
pub fn recall(
    store: &mut dyn Store,
    encoder: &dyn Encoder,
    nouns: &Nouns,
    rooms: &RoomNames,
    request: &Request,
    settings: &Settings,
) -> Result<Answer, MemoryError> {
    let wanted = encoder.text(&request.what.words)?;
    let wished = encoder.wish(&request.what.words)?;
    let mut search = Search { store, nouns, rooms, areas: BTreeMap::new(), around: BTreeMap::new() };
    let (views, compared) = search.candidates(request, &wanted, settings)?;
    let mut fused: Vec<(View, f64)> = views
        .into_iter()
        .map(|view| {
            let text = similarity(&wanted, &view.text_features);
            let picture = similarity(&wished, &view.picture_features);
            let value = settings.alpha * text + (1.0 - settings.alpha) * picture;
            (view, value)
        })
        .collect();
    fused.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.id.cmp(&b.0.id)));
    let compared = [compared, fused.len()];
    let things = if settings.reranks {
        let top: Vec<Id> = fused.iter().take(settings.reranked).map(|(view, _)| view.id).collect();
        search.rerank(request, &top, &wanted, settings)?
    } else {
        Vec::new()
    };
    let views = reordered(&mut search, &things, &fused)?;
    Ok(Answer { things, views, compared })
}

/// Views by how likely they show what is meant: those that show a likely thing, then those that look at its place from near by; the rest by
/// their fused similarity.
fn reordered(
    search: &mut Search<'_>,
    things: &[Found],
    fused: &[(View, f64)],
) -> Result<Vec<(Id, f64)>, MemoryError> {
    let Some(best) = things.first() else {
        return Ok(fused.iter().map(|(view, value)| (view.id, *value)).collect());
    };
    let mut views: BTreeMap<Id, (View, f64)> =
        fused.iter().map(|(view, value)| (view.id, (view.clone(), *value))).collect();
    let shown: BTreeSet<Id> = things.iter().flat_map(|found| found.views.iter().copied()).collect();
    let missing: Vec<Id> = shown.into_iter().filter(|view| !views.contains_key(view)).collect();
    let around = search.areas_around(&best.thing);
    let more = search.store.views(&missing)?.into_iter().chain(search.store.views_of_areas(&around)?);
    for view in more {
        views.entry(view.id).or_insert((view, 0.0));
    }
    let mut worth: Vec<(f64, Id, f64)> = Vec::new();
    for (view, fused) in views.values() {
        let mut most = 0.0_f64;
        for (place, found) in things.iter().enumerate() {
            let likely = (found.fits / best.fits.max(1e-9)).min(1.0).powi(LIKELY);
            let share = likely * LESS.powi(place as i32);
            let is_here = found
                .thing
                .area
                .is_some_and(|area| view.area.is_some_and(|own| search.is_one_room(area, own)));
            if let Some(rank) = found.views.iter().position(|shown| *shown == view.id) {
                most = most.max(share * NEXT.powi(rank as i32));
            } else if is_here && view.faces(&found.thing.place) {
                most = most.max(share * FACING);
            }
        }
        worth.push((most + TIE * fused, view.id, *fused));
    }
    worth.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    Ok(worth.into_iter().map(|(_, view, fused)| (view, fused)).collect())
}

impl Search<'_> {
    /// Recursive Top-Down Traversal: at each level the `K_b` nodes most like the wish; the views below the last ones. With how many
    /// nodes were compared.
    fn candidates(
        &mut self,
        request: &Request,
        wanted: &[f32],
        settings: &Settings,
    ) -> Result<(Vec<View>, usize), MemoryError> {
        let buildings: Vec<Area> = match &request.building {
            Some(building) => {
                self.store.areas_of(building)?.into_iter().filter(|area| area.level == 6).collect()
            }
            None => self.store.buildings()?,
        };
        let mut compared = buildings.len();
        let buildings = if settings.traverses { best(buildings, wanted, settings.beams) } else { buildings };
        let mut views = Vec::new();
        let mut frontier: Vec<Id> = Vec::new();
        for building in &buildings {
            for area in self.store.areas_of(&building.building)? {
                self.areas.insert(area.id, area);
            }
            frontier.push(building.id);
            if !settings.traverses {
                views.extend(self.store.views_of(&building.building)?);
            }
        }
        if !settings.traverses {
            return Ok((views, 0));
        }
        for _ in 0..2 {
            let below: Vec<Area> = self
                .areas
                .values()
                .filter(|area| area.parent.is_some_and(|parent| frontier.contains(&parent)))
                .cloned()
                .collect();
            compared += below.len();
            frontier = best(below, wanted, settings.beams).into_iter().map(|area| area.id).collect();
        }
        Ok((self.store.views_of_areas(&frontier)?, compared))
    }

    /// Affordance-Aware Reranking: what can be done filters, words choose, and what can be done best is first.
    fn rerank(
        &mut self,
        request: &Request,
        views: &[Id],
        wanted: &[f32],
        settings: &Settings,
    ) -> Result<Vec<Found>, MemoryError> {
        let mut ids: BTreeSet<Id> = self.store.shown_in(views)?.iter().map(|showing| showing.thing).collect();
        if settings.nearest > 0 {
            let near = self.store.nearest(wanted, settings.nearest, request.building.as_deref())?;
            ids.extend(near.iter().map(|(thing, _)| *thing));
        }
        let things = self.store.things(&ids.into_iter().collect::<Vec<_>>())?;
        let mut found = Vec::new();
        for thing in things {
            let Match { value, why } = self.matched(&thing, &request.what)?;
            let can = request.action.map_or(1.0, |action| score(&thing, action, &request.robot));
            let value = value * if can > 0.0 { 1.0 } else { UNPROPOSED };
            if value > 0.0 {
                found.push((thing, value, can, why));
            }
        }
        found.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.id.cmp(&b.0.id)));
        // The third step: of those that fit alike, what can be done decides.
        if settings.by_action {
            let best = found.first().map_or(1.0, |(_, best, ..)| *best);
            let worth = |(thing, value, can, _): &(Thing, f64, f64, Vec<String>)| {
                (value / best).powi(STEEP) * can.max(0.05) * belief(thing, request.now)
            };
            let last = settings.refined.min(found.len());
            found[..last].sort_by(|a, b| worth(b).total_cmp(&worth(a)).then(a.0.id.cmp(&b.0.id)));
        }
        found.truncate(request.k.max(settings.refined));
        let ids: Vec<Id> = found.iter().map(|(thing, ..)| thing.id).collect();
        let mut showing = self.store.showing(&ids)?;
        showing.sort_by(|a, b| b.share.total_cmp(&a.share).then(a.view.cmp(&b.view)));
        let mut answer = Vec::new();
        for (thing, fits, can, why) in found {
            let around = self.things_around(&thing)?;
            let carries =
                around.iter().filter(|other| other.id != thing.id && is_on(&thing.place, &other.place));
            // A bowl on a table carries the apple, not the table.
            let on = carries.min_by(|a, b| a.place.longest().total_cmp(&b.place.longest())).map(Thing::words);
            let views =
                showing.iter().filter(|showing| showing.thing == thing.id).map(|showing| showing.view);
            let still_there = belief(&thing, request.now);
            let why = explain(&thing, &why, request, can, still_there);
            let room = self.room(&thing).map(str::to_owned);
            answer.push(Found { fits, can, still_there, room, on, views: views.collect(), why, thing });
        }
        Ok(answer)
    }

    /// Descriptive Instance Retrieval without a model: name, colour, what it lies at, the room.
    fn matched(&mut self, thing: &Thing, what: &Described) -> Result<Match, MemoryError> {
        let mut matched = self.own_match(thing, what);
        let count = f64::from(thing.count);
        matched.value *= count / (count + DOUBT);
        for (lies, target, negated) in &what.relations {
            let (value, other) = self.lies(*lies, thing, target, NESTED)?;
            let holds = match (lies, negated) {
                (Lies::Far, false) | (_, true) => 1.0 - value,
                (_, false) => value,
            };
            matched.value *= OTHER_PLACE + (1.0 - OTHER_PLACE) * holds.clamp(0.0, 1.0);
            let lies = word(*lies);
            matched.why.push(match other {
                Some(other) => format!("{lies} the {} {value:.2}", other.words()),
                None => format!("no {} {lies} it", target.noun),
            });
        }
        Ok(matched)
    }

    /// How surely a thing lies so to something that is described, and to what.
    fn lies(
        &mut self,
        lies: Lies,
        thing: &Thing,
        target: &Described,
        nested: usize,
    ) -> Result<(f64, Option<Thing>), MemoryError> {
        let mut holds: (f64, Option<Thing>) = (0.0, None);
        for other in self.things_around(thing)?.iter().filter(|other| other.id != thing.id) {
            let related = related(lies, thing, other);
            if related <= holds.0 {
                continue;
            }
            // A name that does not match makes no landmark.
            let own = self.own_match(other, target).value;
            let mut value = related * if own >= MISFIT { own } else { 0.0 };
            if value <= holds.0 {
                continue;
            }
            for (further, what, negated) in target.relations.iter().filter(|_| nested > 0) {
                // "The plate on the sideboard near the bottle": either may be near it.
                let landmark = self.lies(*further, other, what, nested - 1)?.0;
                let said = landmark.max(self.lies(*further, thing, what, nested - 1)?.0);
                let said = if *negated || *further == Lies::Far { 1.0 - said } else { said };
                value *= OTHER_PLACE + (1.0 - OTHER_PLACE) * said;
            }
            if value > holds.0 {
                holds = (value, Some(other.clone()));
            }
        }
        Ok(holds)
    }

    /// As [`Search::matched`], without relations.
    fn own_match(&self, thing: &Thing, what: &Described) -> Match {
        let mut why = Vec::new();
        let mut value = if what.noun.is_empty() {
            ANYTHING
        } else {
            let named = thing
                .names()
                .map(|(name, share)| (self.nouns.alike(&what.noun, name), name, share))
                .max_by(|a, b| (a.0 * (0.6 + 0.4 * a.2)).total_cmp(&(b.0 * (0.6 + 0.4 * b.2))));
            match named {
                Some((alike, name, share)) if alike >= query::MATCH => {
                    // Squared: the name itself is meant before what is called so, too.
                    let named = alike.powi(2) * (0.6 + 0.4 * share);
                    why.push(format!("{name} {named:.2}"));
                    named
                }
                Some((alike, ..)) => MISFIT * alike,
                None => MISFIT * 0.5,
            }
        };
        for color in &what.colors {
            let measured = self.nouns.lexicon().measured(color);
            let is_neutral = measured.first().is_some_and(|first| NEUTRAL.contains(&first.as_str()));
            let counts = |own: &String| match (
                measured.contains(own),
                is_neutral && NEUTRAL.contains(&own.as_str()),
            ) {
                (true, _) => 1.0,
                (false, true) => SHADOW * COLORED,
                (false, false) => 0.0,
            };
            let share: f64 = thing.colors.iter().map(|(own, share)| share * counts(own)).sum();
            value *= OTHER_COLOR + (1.0 - OTHER_COLOR) * (share / COLORED).clamp(0.0, 1.0);
            why.push(format!("{color} {share:.2}"));
        }
        if let Some(asked) = &what.room {
            value *= match self.room(thing) {
                Some(room) if self.rooms.same(room, asked) => 1.0,
                Some(_) => OTHER_ROOM,
                None => UNKNOWN_ROOM,
            };
            why.push(self.room(thing).map_or("room unknown".to_owned(), |room| format!("in the {room}")));
        }
        Match { value, why }
    }

    /// The kind of room that a thing is in: of its zone, else of what holds it.
    fn room(&self, thing: &Thing) -> Option<&str> {
        let mut area = thing.area.and_then(|id| self.areas.get(&id));
        while let Some(here) = area {
            if here.level < 6
                && let Some(room) = &here.room
            {
                return Some(room);
            }
            area = here.parent.and_then(|id| self.areas.get(&id));
        }
        None
    }

    /// The zones of the area that a thing is in.
    fn areas_around(&self, thing: &Thing) -> Vec<Id> {
        let parent = thing.area.and_then(|id| self.areas.get(&id)).and_then(|area| area.parent);
        self.areas
            .values()
            .filter(|area| area.level == 4 && area.parent == parent)
            .map(|area| area.id)
            .collect()
    }

    /// Whether two zones are of one area.
    fn is_one_room(&self, a: Id, b: Id) -> bool {
        let parent = |id: Id| self.areas.get(&id).and_then(|area| area.parent);
        a == b || (parent(a).is_some() && parent(a) == parent(b))
    }

    /// What is around a thing; without features.
    fn things_around(&mut self, thing: &Thing) -> Result<Arc<[Thing]>, MemoryError> {
        let [x, y, _] = thing.place.center;
        let cell = [x, y].map(|value| (2.0 * value).round() as i64);
        let key = (thing.building.clone(), cell);
        if let Some(known) = self.around.get(&key) {
            return Ok(Arc::clone(known));
        }
        let place = cell.map(|value| value as f64 / 2.0);
        let mut found = self.store.things_near(&thing.building, place, AROUND)?;
        found.iter_mut().for_each(|thing| thing.features = Vec::new());
        let found: Arc<[Thing]> = found.into();
        self.around.insert(key, Arc::clone(&found));
        Ok(found)
    }
}

/// How surely a thing lies so to another, [0, 1].
fn related(lies: Lies, thing: &Thing, other: &Thing) -> f64 {
    let near = || {
        let gap = thing.place.gap(&other.place);
        (-(gap - NEAR[0]).max(0.0) / NEAR[1]).exp()
    };
    let yes = |holds: bool| f64::from(u8::from(holds));
    match lies {
        // "At the sink" may be beside it.
        Lies::At => yes(is_on(&thing.place, &other.place))
            .max(0.4 * near() * yes(thing.place.gap(&other.place) < 0.3)),
        Lies::Near | Lies::Far => near(),
        Lies::With => yes(is_on(&other.place, &thing.place)),
        Lies::Under => {
            let below = thing.place.top() < other.place.top() && thing.place.gap(&other.place) < 0.3;
            yes(below && !is_on(&thing.place, &other.place))
        }
    }
}

fn word(lies: Lies) -> &'static str {
    match lies {
        Lies::At => "on",
        Lies::Near => "near",
        Lies::Under => "under",
        Lies::With => "with",
        Lies::Far => "far from",
    }
}

/// The nodes most like a wish.
fn best(mut areas: Vec<Area>, wanted: &[f32], count: usize) -> Vec<Area> {
    let alike = |area: &Area| similarity(wanted, &area.features);
    areas.sort_by(|a, b| alike(b).total_cmp(&alike(a)).then(a.id.cmp(&b.id)));
    areas.truncate(count);
    areas
}

fn explain(thing: &Thing, why: &[String], request: &Request, can: f64, still_there: f64) -> String {
    let mut said = vec![format!("{}: {}", thing.words(), why.join(", "))];
    if let Some(action) = request.action {
        let tried: Vec<_> = thing.tried.get(&action).into_iter().flat_map(|by| by.values()).collect();
        let done: u32 = tried.iter().map(|tally| tally.done).sum();
        let all: u32 = tried.iter().map(|tally| tally.done + tally.failed).sum();
        let history = if all > 0 { format!(" ({done} of {all} went well)") } else { String::new() };
        said.push(format!("{} {can:.2}{history}", verb(action)));
    }
    said.push(format!("seen {} times, still there {still_there:.2}", thing.count));
    said.join("; ")
}

fn verb(action: Action) -> &'static str {
    match action {
        Action::Pick => "can be taken",
        Action::Place => "takes things",
        Action::Open => "can be opened",
        Action::Close => "can be closed",
        Action::Press => "can be pressed",
    }
}
