//! The memory: what comes in, what is asked, what outcomes teach.

use crate::areas::{self, Levels};
use crate::encode::{EncodeError, Encoder};
use crate::nouns::Nouns;
use crate::recall::{self, Answer, NEUTRAL, Settings};
use crate::record::{Action, Area, Episode, Id, Look, Place, Seen, Sighting, Tally, Thing, View, describe};
use crate::request::{Request, Wishes};
use crate::store::{Counts, EpisodeFilter, Forget, Store, StoreError};
use nalgebra::Point3;
use prehend_agent::language::rooms::RoomNames;
use prehend_perception::Lexicon;
use std::collections::{BTreeMap, BTreeSet};

/// Most things of one view, and most letters of a name: what is more is a mistake of the sender.
const MOST_SEEN: usize = 1000;
const MOST_LETTERS: usize = 2000;
/// Two sightings are of one small thing if their middles are nearer than this, metres.
const SAME: f64 = 0.12;
/// Two sightings of furniture with one name are of one piece if they are nearer than this, metres.
const TOUCHING: f64 = 0.1;
/// The same for two sightings that no name joins, such as a mug that one view calls a bowl.
const MISNAMED: f64 = 0.06;
/// Least share of votes with which a name counts.
const NAMED: f64 = 0.2;
/// Least common colour of two sightings of one small thing.
const COMMON_COLOR: f64 = 0.15;
/// Longest side of what has one colour and can be carried, metres.
const SMALL: f64 = 0.45;
/// A sighting that shows a thing at least so well, compared with the best one, tells where it is; an old place does not last.
const AS_WELL: f64 = 0.7;
const OLD: f64 = 300.0;
/// A thing is missed by a look from about where it was seen before: so near, metres, and so near in direction, radians.
const SAME_EYE: f64 = 0.6;
const SAME_WAY: f64 = 0.35;
/// Things that fit at least so well compared with the best one fit alike.
const ALIKE: f64 = 0.9;
/// Search around a place for an outcome's thing, metres.
const OUTCOME_REACH: f64 = 0.5;

/// Why the memory does not do what was asked.
#[derive(Debug, thiserror::Error)]
pub enum MemoryError {
    /// What came in is no look, outcome or request.
    #[error("the memory cannot take this {what}: {why}")]
    Bad {
        /// What it should be.
        what: &'static str,
        /// What is wrong with it.
        why: String,
    },
    /// No features.
    #[error(transparent)]
    Encode(#[from] EncodeError),
    /// The store.
    #[error(transparent)]
    Store(#[from] StoreError),
}

fn bad(what: &'static str, why: impl Into<String>) -> MemoryError {
    MemoryError::Bad { what, why: why.into() }
}

/// What became of an action, for the memory.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// What was done; its `key` or `object` with `place` tells the thing.
    pub episode: Episode,
    /// The thing, when its number is known.
    pub thing: Option<Id>,
    /// Where the thing was.
    pub place: Option<[f64; 3]>,
    /// Key of what it was put on or in; it is there then.
    pub onto: Option<String>,
}

/// What a look brought.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Noted {
    /// The view.
    pub view: Id,
    /// Things that were known.
    pub known: Vec<Id>,
    /// Things that are new.
    pub new: Vec<Id>,
    /// Things that should have been there and were not.
    pub missed: Vec<Id>,
}

/// The memory over one store.
pub struct Memory {
    store: Box<dyn Store>,
    encoder: Box<dyn Encoder>,
    nouns: Nouns,
    rooms: RoomNames,
}

impl Memory {
    /// A memory in a store, with the encoder of its features and the words it is asked with.
    ///
    /// Errors: [`StoreError::OtherSpace`] when another encoder made the features of the store.
    pub fn new(
        mut store: Box<dyn Store>,
        encoder: Box<dyn Encoder>,
        lexicon: Lexicon,
        rooms: RoomNames,
    ) -> Result<Self, StoreError> {
        let wanted = (encoder.space().to_owned(), encoder.dimensions());
        match store.space()? {
            None => store.set_space(&wanted.0, wanted.1)?,
            Some(found) if found == wanted => {}
            Some((found, _)) => {
                return Err(StoreError::OtherSpace { store: store.name(), found, wanted: wanted.0 });
            }
        }
        Ok(Self { store, encoder, nouns: Nouns::new(lexicon), rooms })
    }

    /// The words that things are called by.
    pub fn nouns(&self) -> &Nouns {
        &self.nouns
    }

    /// The kinds of rooms that it knows.
    pub fn rooms(&self) -> &RoomNames {
        &self.rooms
    }

    /// The store.
    pub fn store(&mut self) -> &mut dyn Store {
        &mut *self.store
    }

    /// Writes to a building: all of it or nothing.
    fn atomically<T>(
        &mut self,
        building: &str,
        write: impl FnOnce(&mut Self) -> Result<T, MemoryError>,
    ) -> Result<T, MemoryError> {
        self.store.begin(building)?;
        let done = write(self).and_then(|value| {
            self.store.commit()?;
            Ok(value)
        });
        if done.is_err() {
            self.store.abandon();
        }
        done
    }

    /// Takes in a view with what it shows.
    ///
    /// Errors: [`MemoryError::Bad`] for numbers that are none; the store's. Nothing is written then.
    pub fn observe(&mut self, look: &Look) -> Result<Noted, MemoryError> {
        check(look)?;
        let picture_features = self.encoder.picture(look.picture.as_deref(), &look.seen)?;
        self.atomically(&look.building, |memory| memory.write(look, picture_features))
    }

    fn write(&mut self, look: &Look, picture_features: Vec<f32>) -> Result<Noted, MemoryError> {
        let eye: [f64; 3] = look.building_from_camera.translation.vector.into();
        let first = self.store.reserve(1 + 2 * look.seen.len())?;
        let mut ids = first..;
        let mut next = move || ids.next().unwrap_or(first);
        let view_id = next();
        let chosen = self.associate(look, eye)?;
        let mut noted = Noted { view: view_id, ..Noted::default() };
        let mut things = Vec::new();
        for (seen, known) in look.seen.iter().zip(chosen) {
            let thing = match known {
                Some(thing) => {
                    noted.known.push(thing.id);
                    self.merged(thing, seen, look, view_id)?
                }
                None => {
                    let thing = self.fresh(next(), seen, look, view_id)?;
                    noted.new.push(thing.id);
                    thing
                }
            };
            things.push(thing);
        }
        let view = self.view(view_id, look, eye, picture_features)?;
        self.store.put_view(&view)?;
        if let Some(picture) = &look.picture {
            self.store.put_picture(view_id, picture)?;
        }
        for (thing, seen) in things.iter_mut().zip(&look.seen) {
            thing.area = view.area.or(thing.area);
            self.store.put_thing(thing)?;
            let sighting = Sighting { id: next(), view: view_id, thing: thing.id, seen: seen.clone() };
            self.store.put_sighting(&sighting)?;
        }
        noted.missed = self.miss(look, eye, &things)?;
        Ok(noted)
    }

    /// The view as it is kept; in the zone of the view taken from nearest by, when it looks the same way.
    fn view(
        &mut self,
        id: Id,
        look: &Look,
        eye: [f64; 3],
        picture_features: Vec<f32>,
    ) -> Result<View, MemoryError> {
        let count = look.seen.len().max(1) as f64;
        let middle = match look.seen.as_slice() {
            [] => eye,
            seen => {
                [0, 1, 2].map(|axis| seen.iter().map(|seen| seen.place.center[axis]).sum::<f64>() / count)
            }
        };
        let words: Vec<String> =
            look.seen.iter().map(|seen| describe(&seen.name, &seen.colors, &seen.description)).collect();
        let text = match look.caption.as_str() {
            "" => words.join(", "),
            caption => caption.to_owned(),
        };
        let text_features = self.encoder.text(&text)?;
        Ok(View {
            id,
            building: look.building.clone(),
            robot: look.robot.clone(),
            taken: look.taken,
            eye,
            forward: flat(look.building_from_camera.rotation * nalgebra::Vector3::z()),
            half_field: look.half_field,
            middle,
            text,
            area: None,
            text_features,
            picture_features,
        })
    }

    /// The known thing of each sighting.
    fn associate(&mut self, look: &Look, eye: [f64; 3]) -> Result<Vec<Option<Thing>>, MemoryError> {
        let mut pairs: Vec<(f64, usize, Thing)> = Vec::new();
        for (index, seen) in look.seen.iter().enumerate() {
            let [x, y, _] = seen.place.center;
            let reach = SAME + seen.place.longest().max(0.5);
            for thing in self.store.things_near(&look.building, [x, y], reach)? {
                if let Some(cost) = self.unlikeness(seen, &thing, look, eye) {
                    pairs.push((cost, index, thing));
                }
            }
        }
        pairs.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)).then(a.2.id.cmp(&b.2.id)));
        let mut chosen: Vec<Option<Thing>> = vec![None; look.seen.len()];
        let mut taken = BTreeSet::new();
        for (_, index, thing) in pairs {
            if chosen[index].is_none() && taken.insert(thing.id) {
                chosen[index] = Some(thing);
            }
        }
        Ok(chosen)
    }

    /// How unlike a sighting is to a thing; `None` when it is another one.
    fn unlikeness(&self, seen: &Seen, thing: &Thing, look: &Look, eye: [f64; 3]) -> Option<f64> {
        if let Some(key) = &seen.key
            && let Some(own) = thing.keys.get(&look.robot)
        {
            return (own == key).then_some(-1.0);
        }
        let apart = seen.place.distance(&thing.place);
        let large = seen.place.longest().max(thing.place.longest());
        let far = (0..3).map(|axis| (seen.place.center[axis] - eye[axis]).powi(2)).sum::<f64>().sqrt();
        let named = self.named_alike(&seen.name, thing);
        let slack = if named { SAME } else { MISNAMED } + 0.01 * far;
        // What is small is seen whole; of furniture each view shows another piece, and pieces of one touch.
        let is_here =
            if large > SMALL && named { seen.place.gap(&thing.place) < TOUCHING } else { apart < slack };
        if !is_here {
            return None;
        }
        if large <= SMALL && common(&seen.colors, &thing.colors) < COMMON_COLOR {
            return None;
        }
        let (smaller, larger) = (seen.place.longest().min(thing.place.longest()), large.max(1e-3));
        if (!named || large <= SMALL) && smaller < 0.5 * larger {
            return None;
        }
        Some(apart + if named { 0.0 } else { 0.1 } + 0.1 * (1.0 - smaller / larger))
    }

    fn named_alike(&self, name: &str, thing: &Thing) -> bool {
        if name.is_empty() || thing.votes.is_empty() {
            return true;
        }
        names(thing).any(|(own, _)| self.nouns.names(name, own))
    }

    fn fresh(&self, id: Id, seen: &Seen, look: &Look, view: Id) -> Result<Thing, MemoryError> {
        let mut thing = Thing {
            id,
            building: look.building.clone(),
            votes: Vec::new(),
            colors: Vec::new(),
            description: String::new(),
            place: seen.place,
            count: 0,
            first_seen: look.taken,
            last_seen: look.taken,
            missed: None,
            parts: Vec::new(),
            proposed: BTreeMap::new(),
            tried: BTreeMap::new(),
            keys: BTreeMap::new(),
            area: None,
            best_view: (view, 0.0),
            features: Vec::new(),
        };
        thing = self.merged(thing, seen, look, view)?;
        Ok(thing)
    }

    /// A thing with one sighting more.
    fn merged(&self, mut thing: Thing, seen: &Seen, look: &Look, view: Id) -> Result<Thing, MemoryError> {
        let before = f64::from(thing.count);
        if !seen.name.is_empty() {
            match thing.votes.iter_mut().find(|(name, _)| *name == seen.name) {
                Some((_, votes)) => *votes += seen.score,
                None => thing.votes.push((seen.name.clone(), seen.score)),
            }
            thing.votes.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        }
        let mut colors: BTreeMap<String, f64> =
            thing.colors.drain(..).map(|(color, share)| (color, share * before)).collect();
        for (color, share) in &seen.colors {
            *colors.entry(color.clone()).or_default() += share;
        }
        thing.colors = colors.into_iter().map(|(color, sum)| (color, sum / (before + 1.0))).collect();
        thing.colors.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        for (action, score) in &seen.actions {
            let mean = thing.proposed.entry(*action).or_insert(*score);
            *mean = (*mean * before + score) / (before + 1.0);
        }
        for part in &seen.parts {
            if !thing.parts.contains(part) {
                thing.parts.push(part.clone());
            }
        }
        let (_, best) = thing.best_view;
        let is_new_time = look.taken - thing.last_seen > OLD;
        if is_new_time || (thing.place.longest() <= SMALL && seen.share >= AS_WELL * best) {
            thing.place = seen.place;
        } else if thing.place.longest() > SMALL {
            thing.place = thing.place.with(&seen.place);
        }
        if seen.share >= best || is_new_time {
            thing.best_view = (view, seen.share);
            if !seen.description.is_empty() {
                thing.description.clone_from(&seen.description);
            }
        }
        if let Some(key) = &seen.key {
            thing.keys.insert(look.robot.clone(), key.clone());
        }
        thing.count += 1;
        if look.taken >= thing.last_seen {
            thing.last_seen = look.taken;
            thing.missed = None;
        }
        thing.features = self.encoder.text(&thing.words())?;
        Ok(thing)
    }

    /// Notes which small things were seen before from about here and are not seen now.
    fn miss(&mut self, look: &Look, eye: [f64; 3], seen: &[Thing]) -> Result<Vec<Id>, MemoryError> {
        let here: BTreeSet<Id> = seen.iter().map(|thing| thing.id).collect();
        let forward = look.building_from_camera.rotation * nalgebra::Vector3::z();
        let around = self.store.things_near(&look.building, [eye[0], eye[1]], 4.0)?;
        let mut gone = Vec::new();
        for mut thing in around {
            let way = Point3::from(thing.place.center) - Point3::from(eye);
            let is_ahead = way.angle(&forward) < SAME_WAY;
            let is_asked = thing.place.longest() <= SMALL && thing.last_seen + OLD < look.taken;
            if here.contains(&thing.id) || thing.missed.is_some() || !is_ahead || !is_asked {
                continue;
            }
            let showing = self.store.showing(&[thing.id])?;
            let views: Vec<Id> = showing.iter().map(|showing| showing.view).collect();
            let near = |other: &[f64; 3]| {
                (0..3).map(|i| (eye[i] - other[i]).powi(2)).sum::<f64>() < SAME_EYE.powi(2)
            };
            if self.store.views(&views)?.iter().any(|view| near(&view.eye)) {
                thing.missed = Some(look.taken);
                self.store.put_thing(&thing)?;
                gone.push(thing.id);
            }
        }
        Ok(gone)
    }

    /// Makes zones, areas and the building of what was seen (the Area Summariser).
    ///
    /// Errors: those of the encoder and the store; nothing is changed then.
    pub fn summarise(&mut self, building: &str) -> Result<(), MemoryError> {
        self.atomically(building, |memory| memory.summarise_now(building))
    }

    fn summarise_now(&mut self, building: &str) -> Result<(), MemoryError> {
        let mut views = self.store.views_of(building)?;
        if views.is_empty() {
            return Ok(self.store.replace_areas(building, &[])?);
        }
        let mut things = self.store.things_of(building)?;
        let view_of: BTreeMap<Id, usize> =
            views.iter().enumerate().map(|(index, view)| (view.id, index)).collect();
        let thing_of: BTreeMap<Id, usize> =
            things.iter().enumerate().map(|(index, thing)| (thing.id, index)).collect();
        let mut inside = vec![Vec::new(); views.len()];
        let ids: Vec<Id> = views.iter().map(|view| view.id).collect();
        for showing in self.store.shown_in(&ids)? {
            if let (Some(view), Some(thing)) = (view_of.get(&showing.view), thing_of.get(&showing.thing)) {
                inside[*view].push(*thing);
            }
        }
        let Levels { zones, areas, building: whole } =
            areas::summarise(&views, &things, &inside, &*self.encoder, &self.rooms)?;
        let first = self.store.reserve(zones.len() + areas.len() + 1)?;
        let (zone_id, area_id) =
            (|i: usize| first + 1 + (areas.len() + i) as Id, |i: usize| first + 1 + i as Id);
        let mut written = vec![area(building, first, 6, None, &whole)];
        for (index, cluster) in areas.iter().enumerate() {
            written.push(area(building, area_id(index), 5, Some(first), cluster));
            for zone in &cluster.members {
                written.push(area(building, zone_id(*zone), 4, Some(area_id(index)), &zones[*zone]));
                let room = zones[*zone].room.as_deref().or(cluster.room.as_deref());
                for view in &zones[*zone].members {
                    let view = &mut views[*view];
                    view.area = Some(zone_id(*zone));
                    // What a view means is also where it was taken.
                    let text = match room {
                        Some(room) => format!("{room}: {}", view.text),
                        None => view.text.clone(),
                    };
                    view.text_features = self.encoder.text(&text)?;
                }
            }
        }
        self.store.replace_areas(building, &written)?;
        for view in &views {
            self.store.put_view(view)?;
        }
        for thing in &mut things {
            let zone = view_of.get(&thing.best_view.0).and_then(|view| views[*view].area);
            if thing.area != zone {
                thing.area = zone;
                self.store.put_thing(thing)?;
            }
        }
        Ok(())
    }

    /// Finds things and views; what was not summarised yet is, first.
    ///
    /// Errors: those of the encoder and the store.
    pub fn recall(&mut self, request: &Request, settings: &Settings) -> Result<Answer, MemoryError> {
        for building in self.store.unsummarised()? {
            self.summarise(&building)?;
        }
        recall::recall(&mut *self.store, &*self.encoder, &self.nouns, &self.rooms, request, settings)
    }

    /// The reading whose target and receptacle are both remembered best; `None` when there is none.
    ///
    /// Errors: those of the encoder and the store.
    pub fn understand(
        &mut self,
        readings: Vec<Wishes>,
        building: Option<&str>,
        now: f64,
    ) -> Result<Option<Wishes>, MemoryError> {
        if readings.len() < 2 {
            return Ok(readings.into_iter().next());
        }
        let mut best: Option<(f64, Wishes)> = None;
        for wishes in readings {
            let mut fits = 1.0;
            let targets = wishes.targets.iter().map(|(action, what)| (*action, what));
            for (action, what) in
                targets.chain(wishes.receptacle.iter().map(|what| (Some(Action::Place), what)))
            {
                let request = Request {
                    what: what.clone(),
                    action,
                    building: building.map(str::to_owned),
                    now,
                    k: 10,
                    ..Request::default()
                };
                let answer = self.recall(&request, &Settings::default())?;
                // "The" says that there is one.
                let most = answer.things.iter().map(|found| found.fits).fold(0.0, f64::max);
                let alike = answer.things.iter().filter(|found| found.fits >= ALIKE * most).count();
                fits *= most / (alike.max(1) as f64).sqrt();
            }
            if best.as_ref().is_none_or(|(most, _)| fits > *most) {
                best = Some((fits, wishes));
            }
        }
        Ok(best.map(|(_, wishes)| wishes))
    }

    /// Learns what became of an action, and keeps it as an episode. The thing that was meant, when it is known.
    ///
    /// Errors: those of the store; nothing is written then.
    pub fn learn(&mut self, result: &Outcome) -> Result<Option<Id>, MemoryError> {
        let Episode { building, at, .. } = &result.episode;
        if building.is_empty() || !at.is_finite() {
            return Err(bad("outcome", "it names no building or no time"));
        }
        if result.place.is_some_and(|place| !place.iter().all(|value| value.is_finite())) {
            return Err(bad("outcome", "its place is not finite"));
        }
        self.atomically(building, |memory| memory.learn_now(result))
    }

    fn learn_now(&mut self, result: &Outcome) -> Result<Option<Id>, MemoryError> {
        let Outcome { episode, thing, place, onto } = result;
        let thing = match thing {
            Some(id) => self.store.things(&[*id])?.into_iter().next(),
            None => self.meant(episode, *place)?,
        };
        let onto = match onto {
            Some(key) => self.by_key(episode, key)?,
            None => None,
        };
        let mut told = episode.clone();
        if let (Some(carrier), true) = (&onto, told.target.is_empty()) {
            told.target = carrier.words();
        }
        self.store.put_episode(&told)?;
        let Some(mut thing) = thing else { return Ok(None) };
        if let Some(mut carrier) = onto {
            if episode.done {
                let [x, y, _] = carrier.place.center;
                thing.place.center = [x, y, carrier.place.top() + thing.place.size[2] / 2.0];
                thing.area = carrier.area;
                (thing.last_seen, thing.missed) = (episode.at, None);
                self.store.put_thing(&thing)?;
            }
            // Placing is what the carrier is good for.
            count(&mut carrier, episode);
            self.store.put_thing(&carrier)?;
            return Ok(Some(thing.id));
        }
        count(&mut thing, episode);
        if episode.action == Action::Pick && episode.done {
            // It is not where it was; the next look that shows it says where it went.
            thing.missed = Some(episode.at);
        }
        self.store.put_thing(&thing)?;
        Ok(Some(thing.id))
    }

    /// The thing that has this key in the map of the episode's robot.
    fn by_key(&mut self, episode: &Episode, key: &str) -> Result<Option<Thing>, MemoryError> {
        let things = self.store.things_of(&episode.building)?;
        Ok(things.into_iter().find(|thing| thing.keys.get(&episode.robot).is_some_and(|own| own == key)))
    }

    /// The thing that an episode was about: by its key, else by its name near its place.
    fn meant(&mut self, episode: &Episode, place: Option<[f64; 3]>) -> Result<Option<Thing>, MemoryError> {
        let is_key = |thing: &Thing| thing.keys.get(&episode.robot).is_some_and(|key| *key == episode.key);
        let around = match place {
            Some([x, y, _]) => self.store.things_near(&episode.building, [x, y], OUTCOME_REACH)?,
            None => self.store.things_of(&episode.building)?,
        };
        if !episode.key.is_empty()
            && let Some(thing) = around.iter().find(|thing| is_key(thing))
        {
            return Ok(Some(thing.clone()));
        }
        let Some(center) = place else { return Ok(None) };
        let here = Place { center, size: [0.0; 3], yaw: 0.0 };
        let name = episode.object.as_str();
        let fits = around.into_iter().filter(|thing| self.named_alike(last_words(name, thing), thing));
        Ok(fits.min_by(|a, b| a.place.distance(&here).total_cmp(&b.place.distance(&here))))
    }

    /// What was done, the newest first.
    ///
    /// Errors: those of the store.
    pub fn episodes(&mut self, filter: &EpisodeFilter) -> Result<Vec<Episode>, MemoryError> {
        Ok(self.store.episodes(filter)?)
    }

    /// Forgets. How many records went.
    ///
    /// Errors: those of the store; nothing is forgotten then.
    pub fn forget(&mut self, what: &Forget) -> Result<u64, MemoryError> {
        let building = if let Forget::Building(building) = what { building.clone() } else { String::new() };
        self.atomically(&building, |memory| {
            let mut buildings: BTreeSet<String> =
                memory.store.buildings()?.into_iter().map(|area| area.building).collect();
            if let Forget::Robot(robot) = what {
                for building in &buildings {
                    for mut thing in memory.store.things_of(building)? {
                        let had = thing.keys.remove(robot).is_some();
                        let before = thing.tried.clone();
                        for tallies in thing.tried.values_mut() {
                            tallies.remove(robot);
                        }
                        if had || before != thing.tried {
                            memory.store.put_thing(&thing)?;
                        }
                    }
                }
            }
            let gone = memory.store.forget(what)?;
            if let Forget::Building(building) = what {
                buildings.remove(building);
            }
            for building in buildings {
                memory.summarise_now(&building)?;
            }
            Ok(gone)
        })
    }

    /// How much is kept.
    ///
    /// Errors: those of the store.
    pub fn counts(&mut self) -> Result<Counts, MemoryError> {
        Ok(self.store.counts()?)
    }
}

/// Notes in a thing what became of an action.
fn count(thing: &mut Thing, episode: &Episode) {
    let tally = thing.tried.entry(episode.action).or_default();
    let Tally { done, failed } = tally.entry(episode.robot.clone()).or_default();
    *(if episode.done { done } else { failed }) += 1;
}

/// "Red mug" of a thing called "mug": the words that its names can be held against.
fn last_words<'a>(said: &'a str, thing: &Thing) -> &'a str {
    let name = thing.name();
    let count = name.split(' ').count();
    let start = said.rmatch_indices(' ').nth(count - 1).map_or(0, |(place, _)| place + 1);
    said.get(start..).unwrap_or(said)
}

/// Names of a thing that count, with their share of the votes.
pub fn names(thing: &Thing) -> impl Iterator<Item = (&str, f64)> {
    let all: f64 = thing.votes.iter().map(|(_, votes)| votes).sum::<f64>().max(1e-9);
    thing
        .votes
        .iter()
        .map(move |(name, votes)| (name.as_str(), votes / all))
        .filter(|(_, share)| *share >= NAMED)
}

/// A direction along the floor.
fn flat(direction: nalgebra::Vector3<f64>) -> [f64; 2] {
    let length = direction.x.hypot(direction.y);
    if length < 1e-6 { [0.0; 2] } else { [direction.x / length, direction.y / length] }
}

/// Common share of two lists of colours; neutral ones are one, since shadow makes each of the other.
fn common(a: &[(String, f64)], b: &[(String, f64)]) -> f64 {
    if a.is_empty() || b.is_empty() {
        return 1.0;
    }
    let kind = |color: &str| if NEUTRAL.contains(&color) { NEUTRAL[0].to_owned() } else { color.to_owned() };
    let mut left: BTreeMap<String, f64> = BTreeMap::new();
    for (color, share) in b {
        *left.entry(kind(color)).or_default() += share;
    }
    let mut both = 0.0;
    for (color, share) in a {
        if let Some(rest) = left.get_mut(&kind(color)) {
            let taken = share.min(*rest);
            *rest -= taken;
            both += taken;
        }
    }
    both
}

fn area(building: &str, id: Id, level: u8, parent: Option<Id>, cluster: &areas::Cluster) -> Area {
    Area {
        id,
        building: building.to_owned(),
        level,
        parent,
        room: cluster.room.clone(),
        summary: cluster.summary.clone(),
        center: cluster.center,
        views: cluster.views,
        features: cluster.features.clone(),
    }
}

/// Whether a look is one.
fn check(look: &Look) -> Result<(), MemoryError> {
    let refuse = |why: String| Err(bad("look", why));
    if look.building.is_empty() {
        return refuse("it names no building".to_owned());
    }
    if !(0.0..=std::f64::consts::PI).contains(&look.half_field) {
        return refuse("its field of view is no angle".to_owned());
    }
    if !look.taken.is_finite() || !look.building_from_camera.to_homogeneous().iter().all(|x| x.is_finite()) {
        return refuse("its time or the camera's pose is not finite".to_owned());
    }
    if look.seen.len() > MOST_SEEN {
        return refuse(format!("it shows {} things; at most {MOST_SEEN} are taken", look.seen.len()));
    }
    for (index, seen) in look.seen.iter().enumerate() {
        let shares =
            seen.colors.iter().map(|(_, share)| share).chain(seen.actions.iter().map(|(_, score)| score));
        let is_share = |share: &f64| (0.0..=1.0).contains(share);
        if !seen.place.is_finite() || !shares.chain([&seen.score, &seen.share]).all(is_share) {
            return refuse(format!(
                "thing {index} (`{}`) has a number that is not finite or no share",
                seen.name
            ));
        }
        if seen.name.len() > MOST_LETTERS || seen.description.len() > MOST_LETTERS {
            return refuse(format!("the name of thing {index} has more than {MOST_LETTERS} letters"));
        }
    }
    Ok(())
}
