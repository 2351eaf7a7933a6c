//! The memory: what comes in, what is asked, what outcomes teach.

mod observe;
mod outcome;
mod proposed;
mod told;

pub use observe::Noted;
pub use outcome::Outcome;
pub use proposed::Proposed;

use crate::areas::{self, Levels, Told};
use crate::encode::Encoder;
use crate::error::MemoryError;
use crate::nouns::Nouns;
use crate::recall::{self, Answer, Settings};
use crate::record::{Action, Area, Episode, Id};
use crate::request::{Request, Wishes};
use crate::store::{Counts, EpisodeFilter, Forget, Store, StoreError};
use prehend_agent::language::rooms::RoomNames;
use prehend_perception::Lexicon;
use std::collections::{BTreeMap, BTreeSet};

/// Things that fit at least so well compared with the best one fit alike.
const ALIKE: f64 = 0.9;

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

    /// Makes zones, areas and the building of what was seen (the Area Summariser).
    ///
    /// Errors: those of the encoder and the store; nothing is changed then.
    pub fn summarise(&mut self, building: &str) -> Result<(), MemoryError> {
        self.atomically(building, |memory| memory.summarise_now(building, Told::new()))
    }

    /// With what a model said by now, and said before of what is as it was.
    fn summarise_now(&mut self, building: &str, mut told: Told) -> Result<(), MemoryError> {
        told::keep(&self.store.areas_of(building)?, &mut told);
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
        // The view that shows each thing best.
        let mut best: BTreeMap<Id, (f64, usize)> = BTreeMap::new();
        let ids: Vec<Id> = views.iter().map(|view| view.id).collect();
        for showing in self.store.shown_in(&ids)? {
            if let (Some(view), Some(thing)) = (view_of.get(&showing.view), thing_of.get(&showing.thing)) {
                inside[*view].push(*thing);
                let best = best.entry(showing.thing).or_insert((showing.share, *view));
                if showing.share > best.0 {
                    *best = (showing.share, *view);
                }
            }
        }
        let Levels { zones, areas, building: whole } =
            areas::summarise(&views, &things, &inside, &*self.encoder, &self.rooms, &told)?;
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
            let zone = best.get(&thing.id).and_then(|(_, view)| views[*view].area);
            if thing.area != zone {
                thing.area = zone;
                self.store.put_thing(thing)?;
            }
        }
        Ok(())
    }

    /// Takes at most so many new vectors into the index of likeness; about how many are left. Nothing waits for it: what is left is
    /// compared one by one.
    ///
    /// Errors: those of the store.
    pub fn index(&mut self, most: usize) -> Result<usize, MemoryError> {
        Ok(self.store.index(most)?)
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
            for building in memory.store.unsummarised()? {
                memory.summarise_now(&building, Told::new())?;
            }
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
            if let Forget::Building(_) = what {
                // The others are as they were.
                buildings.clear();
            }
            for building in buildings {
                // A model's sentence may tell of what is forgotten, also where the rule's list does not.
                memory.store.replace_areas(&building, &[])?;
                memory.summarise_now(&building, Told::new())?;
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

fn area(building: &str, id: Id, level: u8, parent: Option<Id>, cluster: &areas::Cluster) -> Area {
    Area {
        id,
        building: building.to_owned(),
        level,
        parent,
        room: cluster.room.clone(),
        summary: cluster.summary.clone(),
        rule: cluster.rule.clone(),
        center: cluster.center,
        views: cluster.views,
        features: cluster.features.clone(),
    }
}
