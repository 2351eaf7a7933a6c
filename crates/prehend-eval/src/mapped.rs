//! How much of what stands there is on the map, and how much of the map stands there.
//!
//! A true thing is found when an object's upright box agrees with its own by an intersection over union (IoU) of volumes of at least
//! the threshold, each box in one pair. Asked for are the things of which some view shows at least 100 pixels; an object that
//! agrees with one that is seen less counts neither for nor against the map.

use crate::boxes::{assign, upright_iou};
use crate::clutter::{Clutter, NoRoom, Settings, Shot, ShotError, TrueThing, Truth, shots};
use prehend_geometry::OrientedBox;
use prehend_perception::{Keyframe, KeyframeError, MapBuilder, MapSettings};
use prehend_scene::Object;
use serde::Serialize;

/// Least intersections over union with which a thing counts as found.
pub const THRESHOLDS: [f64; 2] = [0.25, 0.5];
/// An object that agrees less than this with anything shows nothing that is there.
const NOTHING: f64 = 0.02;

/// How many of how many.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    /// Things asked for.
    pub things: usize,
    /// Of them those that were found, by [`THRESHOLDS`].
    pub found: [usize; 2],
    /// Objects of the map that count, by [`THRESHOLDS`].
    pub objects: [usize; 2],
}

impl Counts {
    /// Holds the boxes of a map against the truth.
    pub fn of(truth: &Truth, objects: &[OrientedBox]) -> Self {
        let ious = |things: Vec<&TrueThing>| -> Vec<Vec<f64>> {
            let of = |thing: &TrueThing| {
                let bounds = thing.bounds();
                objects.iter().map(|object| upright_iou(&bounds, object)).collect()
            };
            things.into_iter().map(of).collect()
        };
        let visible = ious(truth.visible().collect());
        let hidden = ious(truth.things.iter().filter(|thing| !thing.is_visible()).collect());
        let mut counts = Self { things: visible.len(), ..Self::default() };
        for (place, least) in THRESHOLDS.into_iter().enumerate() {
            let pairs = assign(&visible, least);
            let taken: Vec<usize> = pairs.iter().flatten().copied().collect();
            let mut rest = hidden.clone();
            rest.iter_mut().for_each(|row| taken.iter().for_each(|object| row[*object] = 0.0));
            counts.found[place] = taken.len();
            counts.objects[place] = objects.len() - assign(&rest, least).iter().flatten().count();
        }
        counts
    }

    /// Both together.
    pub fn plus(self, other: Self) -> Self {
        let sum = |a: [usize; 2], b: [usize; 2]| [a[0] + b[0], a[1] + b[1]];
        Self {
            things: self.things + other.things,
            found: sum(self.found, other.found),
            objects: sum(self.objects, other.objects),
        }
    }
}

/// How one thing that was asked for came out.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Fate {
    /// Name of the thing.
    pub name: String,
    /// Most pixels that it has in a view.
    pub pixels: usize,
    /// Key of the object that agrees best with it; `None` when none touches its box.
    pub key: Option<String>,
    /// How well.
    pub iou: f64,
    /// Lengths of its box and of the object's, metres.
    pub sizes: [[f64; 3]; 2],
}

/// An object that was paired with nothing at the lower threshold.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Extra {
    /// Its key.
    pub key: String,
    /// The thing it agrees best with; `None` when nothing stands there.
    pub thing: Option<String>,
    /// How well.
    pub iou: f64,
}

/// One table with its maps.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Figures {
    /// Seed of the table.
    pub seed: u64,
    /// Every keyframe merged into one map.
    pub merged: Counts,
    /// The maps of single keyframes side by side.
    pub unmerged: Counts,
    /// The first keyframe alone.
    pub single: Counts,
    /// What was asked for, and what became of it on the merged map.
    pub things: Vec<Fate>,
    /// Objects of the merged map that are no such thing.
    pub extra: Vec<Extra>,
}

/// Why there are no figures.
#[derive(Debug, thiserror::Error)]
pub enum MappedError {
    /// The table cannot be laid out.
    #[error(transparent)]
    NoRoom(#[from] NoRoom),
    /// A frame cannot be drawn.
    #[error(transparent)]
    Shot(#[from] ShotError),
    /// A frame cannot be used.
    #[error("seed {seed}, keyframe {view}: {error}")]
    Keyframe {
        /// Seed of the table.
        seed: u64,
        /// Which keyframe of it, from 0.
        view: usize,
        /// Why not.
        error: KeyframeError,
    },
}

/// Draws a table, takes its keyframes, builds the maps and judges them.
///
/// Errors: [`MappedError`].
pub fn measure(settings: &Settings, map: MapSettings) -> Result<Figures, MappedError> {
    let seed = settings.seed;
    let clutter = Clutter::new(settings)?;
    let taken = shots(&clutter, settings)?.collect::<Result<Vec<Shot>, ShotError>>()?;
    let truth = Truth::of(seed, &clutter, &taken);
    let mut merged = MapBuilder::new("map", map);
    let mut apart: Vec<Vec<OrientedBox>> = Vec::new();
    for (number, shot) in taken.into_iter().enumerate() {
        let keyframe = keyframe(shot, number);
        let failed = |error| MappedError::Keyframe { seed, view: number, error };
        merged.update(&keyframe, None, false, seed).map_err(failed)?;
        let mut alone = MapBuilder::new("map", map);
        alone.update(&keyframe, None, false, seed).map_err(failed)?;
        apart.push(boxes(&alone.map().objects));
    }
    let objects = &merged.map().objects;
    Ok(Figures {
        seed,
        merged: Counts::of(&truth, &boxes(objects)),
        unmerged: Counts::of(&truth, &apart.concat()),
        single: Counts::of(&truth, apart.first().map_or(&[], Vec::as_slice)),
        things: fates(&truth, objects),
        extra: extra(&truth, objects),
    })
}

fn keyframe(shot: Shot, number: usize) -> Keyframe {
    let pose = shot.frame.map_from_camera.unwrap_or_default();
    shot.frame.into_keyframe(pose, number as f64)
}

/// Boxes of objects.
pub fn boxes(objects: &[Object]) -> Vec<OrientedBox> {
    objects.iter().map(|object| object.bounds).collect()
}

fn fates(truth: &Truth, objects: &[Object]) -> Vec<Fate> {
    let fate = |thing: &TrueThing| {
        let bounds = thing.bounds();
        let scored = objects.iter().map(|object| (upright_iou(&bounds, &object.bounds), object));
        let best = scored.filter(|(iou, _)| *iou > 0.0).max_by(|a, b| a.0.total_cmp(&b.0));
        Fate {
            name: thing.name.clone(),
            pixels: thing.pixels.values().copied().max().unwrap_or(0),
            key: best.map(|(_, object)| object.key.0.clone()),
            iou: best.map_or(0.0, |(iou, _)| iou),
            sizes: [thing.size, best.map_or([0.0; 3], |(_, object)| object.bounds.size.into())],
        }
    };
    truth.visible().map(fate).collect()
}

fn extra(truth: &Truth, objects: &[Object]) -> Vec<Extra> {
    let ious: Vec<Vec<f64>> = truth
        .things
        .iter()
        .map(|thing| objects.iter().map(|object| upright_iou(&thing.bounds(), &object.bounds)).collect())
        .collect();
    let paired: Vec<usize> = assign(&ious, THRESHOLDS[0]).into_iter().flatten().collect();
    let unpaired = (0..objects.len()).filter(|number| !paired.contains(number));
    unpaired
        .map(|number| {
            let scored = truth.things.iter().zip(&ious).map(|(thing, row)| (row[number], thing));
            let best = scored.filter(|(iou, _)| *iou > NOTHING).max_by(|a, b| a.0.total_cmp(&b.0));
            Extra {
                key: objects[number].key.0.clone(),
                thing: best.map(|(_, thing)| thing.name.clone()),
                iou: best.map_or(0.0, |(iou, _)| iou),
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    fn thing(x: f64, pixels: usize) -> TrueThing {
        TrueThing {
            name: format!("cube at {x}"),
            class: "cube".to_owned(),
            center: [x, 0.0, 0.0],
            yaw: 0.0,
            size: [0.1; 3],
            pixels: BTreeMap::from([("a".to_owned(), pixels), ("b".to_owned(), 3)]),
        }
    }

    #[test]
    fn found_missed_extra_and_hardly_seen() {
        let truth = Truth { seed: 1, things: vec![thing(0.0, 500), thing(1.0, 100), thing(2.0, 99)] };
        let at = |x: f64| OrientedBox {
            pose: nalgebra::Isometry3::translation(x, 0.0, 0.0),
            ..truth.things[0].bounds()
        };
        // The first is found at 0.25 only (IoU 1/3) and twice, the second is missed, the third does not count; one stands nowhere.
        let counts = Counts::of(&truth, &[at(0.05), at(-0.05), at(2.0), at(7.0)]);
        assert_eq!(counts, Counts { things: 2, found: [1, 0], objects: [3, 3] });
        let nothing = Counts::of(&truth, &[]);
        assert_eq!(nothing, Counts { things: 2, found: [0, 0], objects: [0, 0] });
        assert_eq!(counts.plus(nothing), Counts { things: 4, found: [1, 0], objects: [3, 3] });
    }
}
