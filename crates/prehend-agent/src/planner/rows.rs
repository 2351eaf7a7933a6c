//! Rows of drawers and doors: which is the top one, the middle one, the second, and whether they are open.

use super::describe::counted;
use super::furniture::panels_of;
use super::ground::{Grounder, head_word};
use crate::language::NounPhrase;
use crate::world::Fault;
use prehend_scene::{Makes, Object, ObjectKey, ObjectMap, Reason, furniture, spatial};

/// Things at heights nearer than this to each other are in one row, metres.
const ROW: f64 = 0.02;
/// Least room above a drawer in which another one may be, as a share of its height.
const ROOM_FOR_ONE: f64 = 0.8;
/// Share of a front that the panels which are seen of it make up when all of them are.
const ROW_SEEN: f64 = 0.5;
/// Distance from the middle of a cabinet's height at which a row is the middle one, and at which it is another, as shares of the
/// row's own height.
const IN_ROW: f64 = 0.3;
const OTHER_ROW: f64 = 0.75;

/// Whether between a drawer or door and the top of what it belongs to, or the next of its panels, another as high has room.
fn has_room_above(panel: &Object, map: &ObjectMap) -> bool {
    let whole = Some(panel).filter(|panel| furniture::is_panel(&panel.class_name));
    let Some(whole) = whole.and_then(|panel| furniture::whole_of(panel, map)) else { return false };
    let of_it = |other: &&Object| {
        furniture::is_panel(&other.class_name)
            && other.key != panel.key
            && furniture::whole_of(other, map).is_some_and(|found| found.key == whole.key)
    };
    let bottom = |other: &Object| spatial::centre(other).z - spatial::height_of(other) / 2.0;
    let ceiling = map
        .objects
        .iter()
        .filter(of_it)
        .map(bottom)
        .filter(|low| *low > spatial::centre(panel).z)
        .fold(whole.bounds.top(), f64::min);
    ceiling - panel.bounds.top() > ROOM_FOR_ONE * spatial::height_of(panel)
}

impl Grounder<'_, '_, '_> {
    /// Heights of the middles, metres.
    pub(super) fn heights(&mut self, keys: &[ObjectKey]) -> Result<Vec<f64>, Fault> {
        let map = self.map()?;
        let height = |key| map.get(key).map_or(0.0, |object| spatial::centre(object).z);
        let heights: Vec<f64> = keys.iter().map(height).collect();
        // Things may stand in several groups.
        self.measured.extend(keys.iter().cloned().zip(heights.iter().copied()));
        Ok(heights)
    }

    /// Drawers and doors in the order in which an action is done to them: one that stands open is in the way of what is below it, so
    /// that the lowest is opened first and closed last. Others keep their order.
    pub(super) fn in_turn(&mut self, verb: &str, keys: Vec<ObjectKey>) -> Result<Vec<ObjectKey>, Fault> {
        let map = self.map()?;
        let table = &self.knowledge.lexicon.actions;
        let panels: Option<Vec<&Object>> = keys
            .iter()
            .map(|key| map.get(key).filter(|object| furniture::is_panel(&object.class_name)))
            .collect();
        let makes = |panel: &Object| table.rule(verb, &panel.class_name).and_then(|rule| rule.makes);
        let Some(mut panels) = panels.filter(|panels| panels.len() > 1) else { return Ok(keys) };
        let upwards = match panels.first().and_then(|panel| makes(panel)) {
            Some(Makes::Open) => 1.0,
            Some(Makes::Closed) => -1.0,
            Some(Makes::On | Makes::Off) | None => return Ok(keys),
        };
        panels.sort_by(|a, b| (upwards * spatial::centre(a).z).total_cmp(&(upwards * spatial::centre(b).z)));
        Ok(panels.into_iter().map(|panel| panel.key.clone()).collect())
    }

    /// The highest or lowest row, of each thing they belong to.
    ///
    /// Errors: not found when another drawer fits above the highest that is seen: the one that is meant is not seen then.
    pub(super) fn level(
        &mut self,
        np: &NounPhrase,
        top: bool,
        keys: Vec<ObjectKey>,
    ) -> Result<Vec<ObjectKey>, Fault> {
        let map = self.map()?;
        let mut kept = Vec::new();
        for group in by_whole(keys, &map) {
            let sign = if top { 1.0 } else { -1.0 };
            let values: Vec<f64> = self.heights(&group)?.into_iter().map(|height| sign * height).collect();
            kept.extend(super::choose::outermost(group, &values));
        }
        if top && kept.iter().filter_map(|key| map.get(key)).any(|panel| has_room_above(panel, &map)) {
            let noun = head_word(np);
            let message =
                format!("I do not see the top {noun}: there is room for another above those that I see.");
            return Err(Fault::new(Reason::NotFound, message));
        }
        Ok(kept)
    }

    /// The n-th row from the top or the bottom.
    pub(super) fn nth_level(
        &mut self,
        np: &NounPhrase,
        number: u32,
        top: bool,
        keys: Vec<ObjectKey>,
    ) -> Result<Vec<ObjectKey>, Fault> {
        let map = self.map()?;
        let mut kept = Vec::new();
        let total = keys.len();
        for group in by_whole(keys, &map) {
            let heights = self.heights(&group)?;
            let mut rows: Vec<(f64, Vec<ObjectKey>)> = Vec::new();
            let mut order: Vec<(f64, ObjectKey)> = heights.into_iter().zip(group).collect();
            order.sort_by(|a, b| if top { b.0.total_cmp(&a.0) } else { a.0.total_cmp(&b.0) });
            for (height, key) in order {
                match rows.last_mut() {
                    Some((row, keys)) if (*row - height).abs() < ROW => keys.push(key),
                    _ => rows.push((height, vec![key])),
                }
            }
            if let Some((_, row)) = rows.into_iter().nth((number as usize).saturating_sub(1)) {
                kept.extend(row);
            }
        }
        if kept.is_empty() || number == 0 {
            let message = format!("I see only {}, no number {number}.", counted(total, &head_word(np)));
            return Err(Fault::new(Reason::NotFound, message));
        }
        Ok(kept)
    }

    /// The drawer at half the height of its cabinet, when not all rows were seen: an open one hides those below it. `None` when
    /// an odd number of rows tells by itself, or the cabinet's height does not.
    ///
    /// Errors: not found when the only one that was seen is in another row.
    pub(super) fn middle_row(
        &mut self,
        np: &NounPhrase,
        keys: &[ObjectKey],
    ) -> Result<Option<Vec<ObjectKey>>, Fault> {
        let map = self.map()?;
        let panels: Vec<&Object> = keys
            .iter()
            .filter_map(|key| map.get(key))
            .filter(|o| furniture::is_panel(&o.class_name))
            .collect();
        let whole = panels.first().and_then(|panel| furniture::whole_of(panel, &map));
        let Some(whole) = whole.filter(|_| panels.len() == keys.len()) else { return Ok(None) };
        let of_it =
            |panel: &&Object| furniture::whole_of(panel, &map).is_some_and(|other| other.key == whole.key);
        let counted_out = keys.len() > 1 && !keys.len().is_multiple_of(2);
        if counted_out || !panels.iter().all(of_it) {
            return Ok(None);
        }
        let at = spatial::centre(whole);
        let middle = (whole.bounds.top() + map.support_height(at.x, at.y)) / 2.0;
        let off = |panel: &Object| (spatial::centre(panel).z - middle).abs() / panel.bounds.size.z.max(0.01);
        let near: Vec<ObjectKey> =
            panels.iter().filter(|panel| off(panel) < IN_ROW).map(|panel| panel.key.clone()).collect();
        match (near.as_slice(), panels.as_slice()) {
            ([_], _) => Ok(Some(near)),
            ([], [only]) if off(only) > OTHER_ROW => {
                let message = format!("I see only one {}, and it is not in the middle.", head_word(np));
                Err(Fault::new(Reason::NotFound, message))
            }
            _ => Ok(None),
        }
    }

    /// "the second drawer": from the top when they are above each other, else nobody can tell from where.
    pub(super) fn number(
        &mut self,
        np: &NounPhrase,
        number: u32,
        keys: Vec<ObjectKey>,
    ) -> Result<Vec<ObjectKey>, Fault> {
        let map = self.map()?;
        let stacked = by_whole(keys.clone(), &map).iter().all(|group| is_stacked(group, &map));
        if stacked || keys.len() < number as usize {
            return self.nth_level(np, number, true, keys);
        }
        let noun = head_word(np);
        let message = format!(
            "I see {}. Counted from where? Say for example \"the second {noun} from the left\".",
            counted(keys.len(), &noun)
        );
        Err(Fault::new(Reason::Ambiguous, message))
    }
}

/// Whether the map shows that something is open or closed.
pub(crate) fn seen_state(key: &ObjectKey, map: &ObjectMap) -> Option<Makes> {
    let part = map.get(key)?;
    let opening = furniture::opening(part, map)?;
    if opening.is_open() {
        return Some(Makes::Open);
    }
    // What is said to be closed already is not touched: half a drawer is not enough to say so, nor is one of a row whose others
    // were not seen, among which may be the one that is meant.
    let is_sure = opening.is_surely_closed() && is_row_seen(part, map);
    let is_face = furniture::shows_face(part, &opening);
    (is_sure || is_face && !furniture::is_drawer(&part.class_name)).then_some(Makes::Closed)
}

/// Whether the map shows that something is as an action makes it: what stands ajar is open, and yet can be opened.
pub(crate) fn is_made(key: &ObjectKey, makes: Makes, map: &ObjectMap) -> bool {
    seen_state(key, map) == Some(makes) && !(makes == Makes::Open && is_ajar(key, map))
}

/// Whether something stands ajar.
pub(super) fn is_ajar(key: &ObjectKey, map: &ObjectMap) -> bool {
    map.get(key).and_then(|part| furniture::opening(part, map)).is_some_and(|opening| opening.is_ajar())
}

/// Whether the drawers and doors that are seen of what a panel belongs to make up most of its front.
fn is_row_seen(panel: &Object, map: &ObjectMap) -> bool {
    let Some(whole) = furniture::whole_of(panel, map) else { return true };
    let seen: f64 =
        panels_of(&whole.key, map).iter().filter_map(|key| map.get(key)).map(furniture::face_of).sum();
    seen > ROW_SEEN * furniture::face_of(whole)
}

/// Objects by what they belong to, without pieces of drawers and doors; what belongs to nothing is one group.
fn by_whole(keys: Vec<ObjectKey>, map: &ObjectMap) -> Vec<Vec<ObjectKey>> {
    let mut groups: Vec<(Option<ObjectKey>, Vec<ObjectKey>)> = Vec::new();
    for key in keys {
        let whole =
            map.get(&key).and_then(|object| furniture::whole_of(object, map)).map(|whole| whole.key.clone());
        match groups.iter_mut().find(|(other, _)| *other == whole) {
            Some((_, group)) => group.push(key),
            None => groups.push((whole, vec![key])),
        }
    }
    let whole = |(whole, group): (Option<ObjectKey>, Vec<ObjectKey>)| {
        let panels: Vec<&Object> = group.iter().filter_map(|key| map.get(key)).collect();
        if whole.is_none() || panels.iter().any(|panel| !furniture::is_panel(&panel.class_name)) {
            return group;
        }
        furniture::without_pieces(panels).into_iter().map(|panel| panel.key.clone()).collect()
    };
    groups.into_iter().map(whole).collect()
}

/// Whether no two of these stand side by side.
fn is_stacked(keys: &[ObjectKey], map: &ObjectMap) -> bool {
    let mut heights: Vec<f64> =
        keys.iter().filter_map(|key| map.get(key)).map(|object| spatial::centre(object).z).collect();
    heights.sort_by(f64::total_cmp);
    let apart = heights.len() > 1 && heights.windows(2).all(|pair| pair[1] - pair[0] >= ROW);
    // Of one cabinet they are above each other; things on a table are so only when they do not stand side by side.
    let objects = || keys.iter().filter_map(|key| map.get(key));
    let of_one = objects().all(|object| furniture::whole_of(object, map).is_some());
    let spread = |axis: usize| {
        let values = || objects().map(|object| spatial::centre(object)[axis]);
        values().fold(f64::NEG_INFINITY, f64::max) - values().fold(f64::INFINITY, f64::min)
    };
    apart && (of_one || spread(2) > spread(0).max(spread(1)))
}
