//! What a look brings: which things are known, which are new, and which should have been there.

use super::Memory;
use crate::error::{MemoryError, bad};
use crate::recall::NEUTRAL;
use crate::record::{Id, Look, Seen, Sighting, Thing, View, describe};
use nalgebra::Point3;
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

/// What a look brought.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Noted {
    /// The view.
    pub view: Id,
    /// The thing of each sighting, in the look's order.
    pub things: Vec<Id>,
    /// Things that were known.
    pub known: Vec<Id>,
    /// Things that are new.
    pub new: Vec<Id>,
    /// Things that should have been there and were not.
    pub missed: Vec<Id>,
}

impl Memory {
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
        noted.things = things.iter().map(|thing| thing.id).collect();
        noted.missed = self.miss(look, eye, &things)?;
        Ok(noted)
    }

    /// The view as it is kept; it belongs to no zone before the next summary.
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
            if own == key {
                return Some(-1.0);
            }
            if look.present.contains(own) || look.seen.iter().any(|seen| seen.key.as_ref() == Some(own)) {
                return None;
            }
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

    pub(super) fn named_alike(&self, name: &str, thing: &Thing) -> bool {
        if name.is_empty() || thing.votes.is_empty() {
            return true;
        }
        thing.names().any(|(own, _)| self.nouns.names(name, own))
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
            model: String::new(),
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

/// Whether a look is one.
fn check(look: &Look) -> Result<(), MemoryError> {
    let refuse = |why: String| Err(bad("look", why));
    if look.building.is_empty() || [&look.building, &look.robot].iter().any(|name| name.contains('\0')) {
        return refuse("it names no building, or a name holds a zero".to_owned());
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
