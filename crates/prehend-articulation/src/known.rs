//! All things with moving parts that a robot has met, and where they are now.

use crate::describe::{Described, describe};
use crate::gather::{self, GatherError};
use crate::model::ModelError;
use crate::observation::{Observation, ObservationError, Track};
use crate::place::{self, Mechanism, Placed};
use crate::verifier::Thresholds;
use nalgebra::{Isometry3, Point3};
use prehend_scene::{Object, ObjectKey, ObjectMap, furniture};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Most looks at one thing that are kept; each costs time in every description.
const MOST_LOOKS: usize = 6;
/// Share of a box in common from which two boxes are one thing that has not moved.
const SAME_PLACE: f64 = 0.4;

/// How a hand moved something.
#[derive(Clone, Debug, PartialEq)]
pub struct HandWay {
    /// What it acted on, by its key in the map before the motion.
    pub object: ObjectKey,
    /// `map_from_hand`, in order.
    pub poses: Vec<Isometry3<f64>>,
    /// Whether a stop was felt at the end.
    pub stopped: bool,
}

/// A thing, what was seen of it and what it was described as.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Known {
    /// What was seen, in the frame of the first look.
    pub observation: Observation,
    /// The newest description.
    pub described: Option<Described>,
    /// Key in the newest map that shows it; empty when none did in this session.
    #[serde(skip)]
    key: String,
    /// Parts by their keys in that map.
    #[serde(skip)]
    names: BTreeMap<String, usize>,
    /// Version of the map of the last look.
    #[serde(skip)]
    version: u64,
    /// Whether a hand moved it since that look.
    #[serde(skip)]
    was_moved: bool,
}

/// Why a thing that was read is none.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum KnownError {
    /// What was seen is not sound.
    #[error(transparent)]
    Observation(#[from] ObservationError),
    /// No iteration is the best.
    #[error("its description has no best iteration")]
    NoBest,
    /// The model is none.
    #[error("its model is none: {}", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))]
    Model(Vec<ModelError>),
    /// Parts and links do not match.
    #[error("its description is of other parts than those that were seen")]
    Other,
}

/// All of them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Catalogue {
    things: Vec<Known>,
}

impl Known {
    /// One that was described in an earlier session.
    pub fn remembered(observation: Observation, described: Option<Described>) -> Self {
        Self {
            observation,
            described,
            key: String::new(),
            names: BTreeMap::new(),
            version: 0,
            was_moved: false,
        }
    }

    /// Whether what was read of it belongs together.
    ///
    /// Errors: [`KnownError`].
    pub fn check(&self) -> Result<(), KnownError> {
        self.observation.check()?;
        let Some(described) = &self.described else { return Ok(()) };
        let parts = self.observation.parts.len();
        let best = described.iterations.get(described.best).ok_or(KnownError::NoBest)?;
        best.model.check().map_err(KnownError::Model)?;
        let links = best.model.links.len();
        let is_pose = |pose: &Isometry3<f64>| pose.to_homogeneous().iter().all(|value| value.is_finite());
        let belongs = described.parts.len() == parts
            && best.links.len() == parts
            && best.links.iter().flatten().all(|link| *link < links)
            && is_pose(&best.map_from_model);
        if belongs { Ok(()) } else { Err(KnownError::Other) }
    }

    /// Describes it anew from all that was seen.
    ///
    /// Errors: [`ObservationError`].
    pub fn describe(&self, thresholds: Thresholds) -> Result<Described, ObservationError> {
        describe(&self.observation, thresholds)
    }

    /// The joints of its parts where it was found.
    pub fn mechanisms(&self, placed: &Placed) -> Vec<Mechanism> {
        let described = self.described.as_ref();
        described.map(|known| place::mechanisms(known.best(), placed, &known.parts)).unwrap_or_default()
    }

    /// Adds what a map shows of it. `placed` says where it stands now, when its model tells.
    fn look(&mut self, whole: &Object, map: &ObjectMap, placed: Option<&Placed>) -> Result<(), GatherError> {
        let mut now = gather::observe(whole, map);
        if let (Some(placed), Some(known)) = (placed, &self.described)
            && placed.map_from_model != known.best().map_from_model
        {
            now = gather::moved(now, &(known.best().map_from_model * placed.map_from_model.inverse()));
        }
        let keys: Vec<String> = now.parts.iter().map(|part| part.name.clone()).collect();
        for (part, found) in placed.iter().flat_map(|placed| placed.parts.iter().enumerate()) {
            let Some((key, _)) = found else { continue };
            if let Some(at) = keys.iter().position(|name| *name == key.0) {
                now.parts[at].name.clone_from(&self.observation.parts[part].name);
            }
        }
        distinct(&mut now);
        now.name.clone_from(&self.observation.name);
        let names: Vec<String> = now.parts.iter().map(|part| part.name.clone()).collect();
        let joined = gather::join(&mut self.observation, now)?;
        let named = keys.into_iter().zip(names);
        self.names = named.filter_map(|(key, name)| Some((key, *joined.get(&name)?))).collect();
        self.key.clone_from(&whole.key.0);
        self.version = map.version;
        self.was_moved = false;
        if self.observation.looks.len() > MOST_LOOKS {
            forget_a_look(&mut self.observation);
        }
        Ok(())
    }
}

/// Gives parts of one name different ones: a key of the map may be the name that another part has here.
fn distinct(observation: &mut Observation) {
    for index in 1..observation.parts.len() {
        let is_taken = |name: &str| observation.parts[..index].iter().any(|part| part.name == name);
        let name = observation.parts[index].name.clone();
        if is_taken(&name) {
            let free = (2..).map(|number| format!("{name} ({number})")).find(|name| !is_taken(name));
            observation.parts[index].name = free.unwrap_or(name);
        }
    }
}

/// Leaves out the look, neither the first nor the last, around which the fewest stops were felt, and the ways from and to it.
fn forget_a_look(observation: &mut Observation) {
    let beside = |look: usize, track: &Track| track.after == look || track.after + 1 == look;
    let stops =
        |look: usize| observation.tracks.iter().filter(|track| track.stopped && beside(look, track)).count();
    let inner = 1..observation.looks.len().saturating_sub(1);
    let Some(look) = inner.min_by_key(|look| stops(*look)) else { return };
    observation.looks.remove(look);
    observation.tracks.retain(|track| !beside(look, track));
    observation.tracks.iter_mut().filter(|track| track.after > look).for_each(|track| track.after -= 1);
}

impl Catalogue {
    /// With things of earlier sessions.
    pub fn new(things: Vec<Known>) -> Self {
        Self { things }
    }

    /// The things.
    pub fn things(&self) -> &[Known] {
        &self.things
    }

    /// Takes a description of one of them.
    pub fn take(&mut self, index: usize, described: Described) {
        if let Some(thing) = self.things.get_mut(index) {
            thing.described = Some(described);
        }
    }

    /// Takes how a hand moved something that `map` shows as it was before. Index of the thing, with its look before the motion; `None`
    /// for what has no moving parts.
    ///
    /// Errors: [`GatherError`].
    pub fn moved(&mut self, way: &HandWay, map: &ObjectMap) -> Result<Option<usize>, GatherError> {
        let Some(panel) = panel_of(way, map) else { return Ok(None) };
        let Some(whole) = furniture::whole_of(panel, map) else { return Ok(None) };
        let (index, placed) = self.looked_at(whole, map)?;
        let thing = &mut self.things[index];
        let Some(part) = thing.names.get(&panel.key.0).copied() else { return Ok(None) };
        let to_first = match (&placed, &thing.described) {
            (Some(placed), Some(known)) => known.best().map_from_model * placed.map_from_model.inverse(),
            _ => Isometry3::identity(),
        };
        thing.observation.tracks.push(Track {
            part,
            after: thing.observation.looks.len() - 1,
            poses: way.poses.iter().map(|pose| to_first * pose).collect(),
            stopped: way.stopped,
        });
        thing.was_moved = true;
        Ok(Some(index))
    }

    /// Takes a new map: what a hand has moved is looked at. Indices of the things of which more is known now: that nothing has changed
    /// after a hand pulled says something, too.
    pub fn seen(&mut self, map: &ObjectMap) -> Vec<usize> {
        let mut new = Vec::new();
        for (index, thing) in self.things.iter_mut().enumerate() {
            if !thing.was_moved || thing.version == map.version {
                continue;
            }
            let Some(whole) = map.get(&ObjectKey(thing.key.clone())) else { continue };
            let placed = thing.described.as_ref().and_then(|known| place_again(known, whole, map));
            // It was there a moment ago: what its model does not explain is what has moved.
            let is_there = placed.is_some() || is_where_it_was(&thing.observation, whole);
            if is_there && thing.look(whole, map, placed.as_ref()).is_ok() {
                new.push(index);
            }
        }
        new
    }

    /// The thing that is meant by a key or class, with a look at it as the map shows it.
    ///
    /// Errors: [`GatherError`].
    pub fn wanted(&mut self, wanted: &str, map: &ObjectMap) -> Result<usize, GatherError> {
        Ok(self.looked_at(gather::thing(wanted, map)?, map)?.0)
    }

    /// Where the described things are: each at one place, and nothing twice. Those that stand where they were described come first.
    pub fn placed(&self, map: &ObjectMap) -> Vec<(usize, Placed)> {
        let mut found: Vec<(usize, Placed)> = Vec::new();
        let wholes: Vec<&Object> = map
            .objects
            .iter()
            .filter(|object| {
                !furniture::is_panel(&object.class_name) && !gather::parts_of(object, map).is_empty()
            })
            .collect();
        for may_have_moved in [false, true] {
            for (index, thing) in self.things.iter().enumerate() {
                let Some(known) = &thing.described else { continue };
                if found.iter().any(|(other, _)| *other == index) {
                    continue;
                }
                let free = wholes.iter().filter(|whole| !found.iter().any(|(_, at)| at.thing == whole.key));
                let fits = free
                    .filter_map(|whole| place::place(known.best(), whole, map, may_have_moved))
                    .min_by(|a, b| a.off.total_cmp(&b.off));
                found.extend(fits.map(|placed| (index, placed)));
            }
        }
        found
    }

    /// The thing that an object of the map is, with a look at it, and where its model is if that tells; a new one when it is none that is
    /// known.
    fn looked_at(&mut self, whole: &Object, map: &ObjectMap) -> Result<(usize, Option<Placed>), GatherError> {
        let placed = self.placed(map).into_iter().find(|(_, placed)| placed.thing == whole.key);
        let (index, placed) = match placed {
            Some((index, placed)) => (index, Some(placed)),
            None => {
                let same =
                    |thing: &Known| thing.key == whole.key.0 && is_where_it_was(&thing.observation, whole);
                let index = self.things.iter().position(same);
                (index.unwrap_or(self.things.len()), None)
            }
        };
        if index == self.things.len() {
            let mut fresh = gather::observe(whole, map);
            fresh.looks.clear();
            self.things.push(Known::remembered(fresh, None));
        }
        let thing = &mut self.things[index];
        if thing.version != map.version || thing.key != whole.key.0 || thing.observation.looks.is_empty() {
            thing.look(whole, map, placed.as_ref())?;
        }
        Ok((index, placed))
    }
}

/// Where a thing is that was there a moment ago.
fn place_again(known: &Described, whole: &Object, map: &ObjectMap) -> Option<Placed> {
    [false, true].into_iter().find_map(|moved| place::place(known.best(), whole, map, moved))
}

/// Whether an object stands where the thing was looked at last.
fn is_where_it_was(observation: &Observation, whole: &Object) -> bool {
    let Some(last) = observation.looks.last() else { return true };
    let bounds = |points: &[Point3<f64>]| {
        let first = points.first().copied().unwrap_or_else(Point3::origin);
        points.iter().fold((first, first), |(low, high), point| {
            (Point3::from(low.coords.inf(&point.coords)), Point3::from(high.coords.sup(&point.coords)))
        })
    };
    let (a, b) = (bounds(&last.body), bounds(&whole.cloud.points));
    let volume = |(low, high): (Point3<f64>, Point3<f64>)| (high - low).map(|side| side.max(0.0)).product();
    let common = volume((a.0.coords.sup(&b.0.coords).into(), a.1.coords.inf(&b.1.coords).into()));
    common >= SAME_PLACE * volume(a).min(volume(b)).max(f64::MIN_POSITIVE)
}

/// The drawer or door that a hand moved: what it acted on, or the part of that which is nearest to where the hand began.
fn panel_of<'m>(way: &HandWay, map: &'m ObjectMap) -> Option<&'m Object> {
    let object = map.get(&way.object)?;
    if furniture::is_panel(&object.class_name) {
        return Some(object);
    }
    let hand = Point3::from(way.poses.first()?.translation.vector);
    let distance = |panel: &Object| {
        panel.cloud.points.iter().map(|point| (point - hand).norm()).fold(f64::INFINITY, f64::min)
    };
    gather::parts_of(object, map).into_iter().min_by(|a, b| distance(a).total_cmp(&distance(b)))
}
