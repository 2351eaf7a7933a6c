//! What a model says of zones, areas and buildings, and what it is asked (Affordance RAG IV-A.3).

use super::Memory;
use crate::areas::Told;
use crate::error::MemoryError;
use crate::record::{Area, Id};
use prehend_perception::summaries::{AreaKind, AreaQuestion, Summary};
use std::collections::BTreeSet;

/// Most descriptions that a question has, and most characters of each.
const MOST_TEXTS: usize = 20;
const MOST_LETTERS: usize = 300;
/// The levels, lowest first: the sentences of a level are asked with those of the level below it.
const LEVELS: [(u8, AreaKind); 3] = [(4, AreaKind::Zone), (5, AreaKind::Area), (6, AreaKind::Building)];

impl Memory {
    /// At most so many questions about areas of a building whose summary is the rule's, all of the lowest level that has some; those
    /// with the lists in `passed` are left out. None when a model has said everything: what did not change is not asked again.
    ///
    /// Errors: the store's.
    pub fn untold(
        &mut self,
        building: &str,
        passed: &BTreeSet<String>,
        most: usize,
    ) -> Result<Vec<AreaQuestion>, MemoryError> {
        let areas = self.store.areas_of(building)?;
        let rooms: Vec<String> = self.rooms.kinds().map(str::to_owned).collect();
        for (level, kind) in LEVELS {
            let mut found: Vec<AreaQuestion> = Vec::new();
            for area in areas.iter().filter(|area| area.level == level && is_untold(area, passed)) {
                if found.len() < most && found.iter().all(|known| known.things != area.summary) {
                    let texts = self.texts(area.id, level, &areas)?;
                    found.push(AreaQuestion {
                        kind,
                        things: area.summary.clone(),
                        texts,
                        rooms: rooms.clone(),
                    });
                }
            }
            if !found.is_empty() {
                return Ok(found);
            }
        }
        Ok(Vec::new())
    }

    /// Puts a model's sentences in the place of the rule's lists that they were asked with, with features of their own. Those whose
    /// list is not there any more change nothing.
    ///
    /// Errors: those of the encoder and the store; nothing is changed then.
    pub fn tell(&mut self, building: &str, told: Told) -> Result<(), MemoryError> {
        self.atomically(building, |memory| memory.summarise_now(building, told))
    }

    /// Descriptions of what an area holds, each once: of views, or of areas of the level below.
    fn texts(&mut self, area: Id, level: u8, areas: &[Area]) -> Result<Vec<String>, MemoryError> {
        let all: Vec<String> = if level == LEVELS[0].0 {
            self.store.views_of_areas(&[area])?.into_iter().map(|view| view.text).collect()
        } else {
            let parts = areas.iter().filter(|part| part.parent == Some(area));
            parts.map(|part| part.summary.clone()).collect()
        };
        let mut texts: Vec<String> = Vec::new();
        for text in all.into_iter().filter(|text| !text.is_empty()) {
            let text: String = text.chars().take(MOST_LETTERS).collect();
            if texts.len() < MOST_TEXTS && !texts.contains(&text) {
                texts.push(text);
            }
        }
        Ok(texts)
    }
}

fn is_untold(area: &Area, passed: &BTreeSet<String>) -> bool {
    area.rule.is_none() && !area.summary.is_empty() && !passed.contains(&area.summary)
}

/// Adds what a model said of areas, where nothing newer is known. A zone's word goes before that of the building with the same list:
/// only the zone has a kind of room.
pub(super) fn keep(areas: &[Area], told: &mut Told) {
    let mut areas: Vec<&Area> = areas.iter().collect();
    areas.sort_by_key(|area| area.level);
    for area in areas {
        if let Some(rule) = &area.rule {
            let said = || Summary { text: area.summary.clone(), room: area.room.clone() };
            told.entry(rule.clone()).or_insert_with(said);
        }
    }
}
