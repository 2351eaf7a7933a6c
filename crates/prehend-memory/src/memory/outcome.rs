//! What outcomes teach, and what was done.

use super::Memory;
use crate::error::{MemoryError, bad};
use crate::record::{Action, Episode, Id, Place, Tally, Thing};

/// Search around a place for an outcome's thing, metres.
const OUTCOME_REACH: f64 = 0.5;

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

impl Memory {
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

    /// Keeps how the parts of a thing move, as URDF. The thing is the one with this key in the map of a robot, if it is called so; its
    /// number, or nothing when it is not remembered.
    ///
    /// Errors: those of the store; nothing is written then.
    pub fn keep_model(
        &mut self,
        (building, robot): (&str, &str),
        (key, name): (&str, &str),
        urdf: &str,
    ) -> Result<Option<Id>, MemoryError> {
        if building.is_empty() || key.is_empty() {
            return Err(bad("model", "it names no building or no thing"));
        }
        self.atomically(building, |memory| {
            let things = memory.store.things_of(building)?;
            let is_meant = |thing: &Thing| {
                thing.keys.get(robot).is_some_and(|own| own == key)
                    && memory.named_alike(last_words(name, thing), thing)
            };
            let Some(mut thing) = things.into_iter().find(is_meant) else { return Ok(None) };
            if thing.model != urdf {
                urdf.clone_into(&mut thing.model);
                memory.store.put_thing(&thing)?;
            }
            Ok(Some(thing.id))
        })
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

    /// The thing that an episode was about: so called, and by its key, else near its place.
    fn meant(&mut self, episode: &Episode, place: Option<[f64; 3]>) -> Result<Option<Thing>, MemoryError> {
        let is_key = |thing: &Thing| thing.keys.get(&episode.robot).is_some_and(|key| *key == episode.key);
        let around = match place {
            Some([x, y, _]) => self.store.things_near(&episode.building, [x, y], OUTCOME_REACH)?,
            None => self.store.things_of(&episode.building)?,
        };
        // A key may be of what it stood on: who drives to a table may take a mug from it.
        let name = episode.object.as_str();
        let is_called = |thing: &Thing| self.named_alike(last_words(name, thing), thing);
        let fits: Vec<Thing> = around.into_iter().filter(is_called).collect();
        if !episode.key.is_empty()
            && let Some(thing) = fits.iter().find(|thing| is_key(thing))
        {
            return Ok(Some(thing.clone()));
        }
        let Some(center) = place else { return Ok(None) };
        let here = Place { center, size: [0.0; 3], yaw: 0.0 };
        Ok(fits.into_iter().min_by(|a, b| a.place.distance(&here).total_cmp(&b.place.distance(&here))))
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
