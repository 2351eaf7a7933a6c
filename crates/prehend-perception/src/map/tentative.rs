//! Things that wait: what a frame calls a thing of its own where the map knows the surface of another one.
//!
//! A detector misnames the piece of a cabinet that shows between two handles: the map would have one block more for as long as it takes
//! to see that it is none. So such a thing is tentative, as a track is in M of N logic (Blackman and Popoli, Design and Analysis of
//! Modern Tracking Systems, 1999), until enough frames in short succession call it the same in the same place.

use nalgebra::Point3;
use prehend_scene::Object;
use serde::{Deserialize, Serialize};

/// When what waits is a thing.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct TentativeSettings {
    /// Frames that must call it so. A look is some three frames from one place, which err alike: one more is of another look.
    pub frames: u32,
    /// Frames in a row that may not, after which it is forgotten: two looks.
    pub missing: u64,
}

impl Default for TentativeSettings {
    fn default() -> Self {
        Self { frames: 4, missing: 6 }
    }
}

/// A thing that waits.
#[derive(Clone, Debug)]
struct Waiting {
    class_name: String,
    centre: Point3<f64>,
    frames: u32,
    last: u64,
}

/// The things that wait.
#[derive(Clone, Debug, Default)]
pub(super) struct Tentative(Vec<Waiting>);

impl Tentative {
    /// Takes in that the frame of this update shows the thing; whether it is one now.
    pub(super) fn is_confirmed(&mut self, thing: &Object, update: u64, settings: &TentativeSettings) -> bool {
        self.0.retain(|waiting| update - waiting.last <= settings.missing);
        let centre = Point3::from(thing.bounds.pose.translation.vector);
        let near = thing.bounds.size.norm() / 2.0;
        let is_it = |waiting: &Waiting| {
            waiting.class_name == thing.class_name && (waiting.centre - centre).norm() <= near
        };
        let place = self.0.iter().position(is_it).unwrap_or_else(|| {
            let class_name = thing.class_name.clone();
            self.0.push(Waiting { class_name, centre, frames: 0, last: update });
            self.0.len() - 1
        });
        let waiting = &mut self.0[place];
        // Two pieces that one frame shows are one frame.
        waiting.frames += u32::from(waiting.frames == 0 || waiting.last != update);
        (waiting.last, waiting.centre) = (update, centre);
        if waiting.frames < settings.frames {
            return false;
        }
        self.0.swap_remove(place);
        true
    }

    /// Nothing stands where it stood.
    pub(super) fn forget(&mut self) {
        self.0.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use nalgebra::{Isometry3, Vector3};
    use prehend_geometry::{OrientedBox, PointCloud};

    fn thing(class_name: &str, x: f64) -> Object {
        let pose = Isometry3::translation(x, 0.0, 0.0);
        let bounds = OrientedBox { pose, size: Vector3::repeat(0.03) };
        let class_name = class_name.to_owned();
        Object { class_name, ..Object::unnamed("a".into(), PointCloud::default(), bounds) }
    }

    #[test]
    fn enough_frames_in_short_succession_make_it_a_thing() {
        let settings = TentativeSettings::default();
        // Frames by number, each with a name and a place, and those in which the thing is confirmed.
        let check = |shown: &[(u64, &str, f64)], confirmed: &[u64]| {
            let mut tentative = Tentative::default();
            let found: Vec<u64> = shown
                .iter()
                .filter(|(update, name, x)| tentative.is_confirmed(&thing(name, *x), *update, &settings))
                .map(|(update, _, _)| *update)
                .collect();
            assert_eq!(found, confirmed, "{shown:?}");
        };
        let mug = |update| (update, "mug", 0.0);
        check(&[1, 2, 3, 4].map(mug), &[4]);
        check(&[1, 2, 3].map(mug), &[]);
        check(&[1, 2, 8, 14].map(mug), &[14]);
        check(&[1, 2, 3, 10].map(mug), &[]);
        check(&[mug(1), mug(1), mug(2), mug(2), mug(3)], &[]);
        check(&[mug(1), mug(2), (3, "block", 0.0), mug(3), (4, "mug", 0.2), mug(5)], &[5]);
    }
}
