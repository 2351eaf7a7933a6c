//! What is known, kept up to date.

use super::refused;
use super::store::{self, Kept};
use prehend_articulation::{Catalogue, HandWay, Known, Thresholds};
use prehend_convert as convert;
use prehend_msgs::prehend_interfaces::msg::{ArticulatedThings, ErrorCode};
use prehend_msgs::prehend_interfaces::srv::Describe;
use prehend_scene::ObjectMap;
use std::path::PathBuf;

/// Newest maps that are kept: a motion is of one of them.
const MAPS: usize = 4;

/// What came of it.
#[derive(Debug, Default)]
pub(super) struct Done {
    /// The new list, when something of it may be another.
    pub(super) list: Option<ArticulatedThings>,
    /// What is told, with its status: described, failed.
    pub(super) said: Vec<(&'static str, String)>,
}

pub(super) struct Keeper {
    catalogue: Catalogue,
    folder: Option<PathBuf>,
    /// Of each thing of the catalogue, once it was written.
    files: Vec<Option<PathBuf>>,
    maps: Vec<ObjectMap>,
    /// Whether the list that was told last names something.
    told: bool,
}

impl Keeper {
    /// With what was known before.
    pub(super) fn new(kept: Vec<Kept>, folder: Option<PathBuf>) -> Self {
        let (things, files) = kept.into_iter().map(|kept| (kept.thing, Some(kept.file))).unzip();
        Self { catalogue: Catalogue::new(things), folder, files, maps: Vec::new(), told: false }
    }

    /// Takes a map: what was moved is described anew.
    pub(super) fn take_map(&mut self, map: ObjectMap) -> Done {
        let mut done = Done::default();
        for index in self.catalogue.seen(&map) {
            self.describe_again(index, Thresholds::default(), &mut done);
        }
        self.maps.push(map);
        if self.maps.len() > MAPS {
            self.maps.remove(0);
        }
        done.list = self.list();
        done
    }

    /// Takes how a hand moved something of the map of this version.
    pub(super) fn take_way(&mut self, way: &HandWay, version: u64) -> Done {
        let mut done = Done::default();
        let Some(map) = self.maps.iter().rev().find(|map| map.version == version).or(self.maps.last()) else {
            done.said.push(("failed", format!("{} was moved, and no map shows it", way.object)));
            return done;
        };
        if let Err(error) = self.catalogue.moved(way, map) {
            done.said.push(("failed", format!("{} was moved: {error}", way.object)));
        }
        done
    }

    /// Describes what is asked for, with a look at it in the newest map.
    pub(super) fn describe(&mut self, asked: &Describe::Request) -> (Describe::Response, Done) {
        let mut done = Done::default();
        let Some(map) = self.maps.last() else {
            let reason = "there is no object map yet: let the robot look first".to_owned();
            return (refused(ErrorCode::DESCRIBER_UNAVAILABLE, reason), done);
        };
        let index = match self.catalogue.wanted(&asked.object, map) {
            Ok(index) => index,
            Err(error) => return (refused(ErrorCode::DESCRIBER_UNKNOWN, error.to_string()), done),
        };
        let thresholds = if asked.adaptive { Thresholds::adaptive() } else { Thresholds::default() };
        if !self.describe_again(index, thresholds, &mut done) {
            let reason = done.said.last().map(|(_, said)| said.clone()).unwrap_or_default();
            return (refused(ErrorCode::DESCRIBER_TOO_LITTLE, reason), done);
        }
        let thing = &self.catalogue.things()[index];
        let placed = self.maps.last().map(|map| self.catalogue.placed(map)).unwrap_or_default();
        let place = placed.iter().find(|(other, _)| *other == index).map(|(_, placed)| placed);
        let json = |value: serde_json::Result<String>| value.unwrap_or_default();
        let response = Describe::Response {
            thing: convert::articulated_to_msg(thing, place),
            description: json(serde_json::to_string(&thing.described)),
            observation: json(serde_json::to_string(&thing.observation)),
            ..Default::default()
        };
        done.list = self.list();
        (response, done)
    }

    /// Describes a thing and keeps that; whether it could be described.
    fn describe_again(&mut self, index: usize, thresholds: Thresholds, done: &mut Done) -> bool {
        let thing = &self.catalogue.things()[index];
        let name = thing.observation.name.clone();
        match thing.describe(thresholds) {
            Ok(described) => {
                let parts = thing.observation.parts.iter().zip(&described.parts);
                let parts: Vec<String> =
                    parts.map(|(part, outcome)| format!("{}: {}", part.name, outcome.say())).collect();
                let rating = described.best().rating.overall;
                let looks = thing.observation.looks.len();
                let said = format!("{name}, {looks} looks, {rating:.1} of 10; {}", parts.join("; "));
                done.said.push(("described", said));
                self.catalogue.take(index, described);
                self.keep(index, done);
                true
            }
            Err(error) => {
                done.said.push(("failed", format!("{name}: {error}")));
                false
            }
        }
    }

    /// Writes a thing into the folder; one that cannot be written is known all the same.
    fn keep(&mut self, index: usize, done: &mut Done) {
        let Some(folder) = &self.folder else { return };
        self.files.resize(self.catalogue.things().len().max(self.files.len()), None);
        let thing: &Known = &self.catalogue.things()[index];
        let file = self.files[index]
            .clone()
            .unwrap_or_else(|| store::file_for(&thing.observation.name, folder, &self.files));
        match store::write(thing, &file) {
            Ok(()) => self.files[index] = Some(file),
            Err(error) => done.said.push(("failed", format!("it is known for this session only: {error}"))),
        }
    }

    /// What the newest map shows of what is known; nothing when there is nothing to tell, and was nothing before.
    fn list(&mut self) -> Option<ArticulatedThings> {
        let map = self.maps.last()?;
        let placed = self.catalogue.placed(map);
        if placed.is_empty() && !self.told {
            return None;
        }
        self.told = !placed.is_empty();
        let things: Vec<_> =
            placed.iter().map(|(index, placed)| (&self.catalogue.things()[*index], placed)).collect();
        Some(convert::articulated_list(&things, map))
    }
}
