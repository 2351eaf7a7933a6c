//! What the map of the room knows of the things before the robot.
//!
//! The map of what is near begins anew wherever the base stops. The stops of the tour have seen the same things, and their names are
//! views like others: a detector that is wrong about a thing in one look is seldom wrong about it from everywhere.

use crate::{MapBuilder, RoomBuilder};
use nalgebra::Isometry3;
use prehend_scene::{Object, ObjectKey};
use std::collections::BTreeMap;

/// All views of the room together count at most as one look from near by, of three frames: from metres away names are less sure, and
/// something else may stand there by now.
const ONE_LOOK: f64 = 3.0;

/// Which things of the room were recognised from where the base stands: the key near by of each, by its key in the room.
#[derive(Clone, Debug, Default)]
pub struct Recall {
    known: BTreeMap<ObjectKey, ObjectKey>,
}

impl Recall {
    /// Forgets what was recognised: the base stands somewhere else.
    pub fn forget(&mut self) {
        self.known.clear();
    }

    /// Gives the names of the room's things to those near by that are the same, to each once. `room_from_near` leads from the frame of the
    /// map near by to that of the room. Gives what was recognised now: the key near by, and in the room.
    pub fn tell(
        &mut self,
        near: &mut MapBuilder,
        room: &RoomBuilder,
        room_from_near: &Isometry3<f64>,
    ) -> Vec<(ObjectKey, ObjectKey)> {
        let is_new = |object: &&Object| !self.known.values().any(|key| *key == object.key);
        let things: Vec<Object> =
            near.map().objects.iter().filter(is_new).map(|object| moved(object, room_from_near)).collect();
        let found = room.recognise(&things, |key| !self.known.contains_key(key));
        let mut told = Vec::new();
        for (thing, object) in things.into_iter().zip(found) {
            let Some(object) = object else { continue };
            let total: f64 = object.class_votes.iter().map(|(_, weight)| weight).sum();
            let share = (ONE_LOOK / total.max(1e-9)).min(1.0);
            let votes = object.class_votes.iter().map(|(name, weight)| (name.clone(), weight * share));
            near.add_names(&thing.key, votes.collect());
            self.known.insert(object.key.clone(), thing.key.clone());
            told.push((thing.key, object.key.clone()));
        }
        told
    }
}

/// An object in another frame.
fn moved(object: &Object, by: &Isometry3<f64>) -> Object {
    let mut moved = object.clone();
    moved.cloud = object.cloud.transformed(by);
    moved.bounds.pose = by * object.bounds.pose;
    moved.crops.iter_mut().for_each(|crop| crop.map_from_camera = by * crop.map_from_camera);
    moved
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::{Form, Thing, VGA, looking, render, thing};
    use crate::{MapSettings, RoomSettings};

    const SIGMA: f64 = 0.002;
    /// Where the arm stands in the room; heights are over the table there.
    const ARM: [f64; 3] = [1.2, 0.0, 0.7];

    /// A table with things on it, in the frame of the room.
    fn room(things: &[(&'static str, f64)]) -> Vec<Thing> {
        let mut all = vec![thing("table", Form::Block([0.7, 1.0, 0.7]), 2.0, 0.0, [150, 110, 70])];
        for (name, y) in things {
            let mut ball = thing(name, Form::Ball(0.035), 1.8, *y, [230, 130, 20]);
            ball.at[2] = 0.7;
            all.push(ball);
        }
        all
    }

    /// The map of two stops.
    fn toured(things: &[(&'static str, f64)]) -> RoomBuilder {
        let mut builder = RoomBuilder::new("map", RoomSettings::default());
        for (seed, y) in [(1, 0.3), (2, -0.3)] {
            let mut frame =
                render(&room(things), &VGA, &looking([0.5, y, 1.2], [2.0, 0.0, 0.7]), SIGMA, seed);
            frame.view = format!("tour_{seed}");
            builder.update(&frame, None, false).unwrap();
        }
        builder
    }

    /// The map near by of one frame from the arm, in its own frame.
    fn near(things: &[(&'static str, f64)]) -> MapBuilder {
        let mut frame = render(&room(things), &VGA, &looking([1.4, 0.0, 1.2], [1.85, 0.0, 0.7]), SIGMA, 9);
        frame.map_from_camera = room_from_arm(0.0).inverse() * frame.map_from_camera;
        let mut builder = MapBuilder::new("link_base", MapSettings::default());
        builder.update(&frame, None, false, 1).unwrap();
        builder
    }

    /// The localisation errs by so much.
    fn room_from_arm(off: f64) -> Isometry3<f64> {
        Isometry3::translation(ARM[0] + off, ARM[1] - off, ARM[2])
    }

    fn names(builder: &MapBuilder) -> Vec<(&str, f64)> {
        let objects = builder.map().objects.iter().filter(|object| object.class_name != "table");
        let mut names: Vec<(f64, &str, f64)> = objects
            .map(|object| (object.bounds.pose.translation.y, object.class_name.as_str(), object.confidence))
            .collect();
        names.sort_by(|a, b| a.0.total_cmp(&b.0));
        names.into_iter().map(|(_, name, confidence)| (name, confidence)).collect()
    }

    #[test]
    fn what_the_tour_called_a_thing_counts_near_by_and_once() {
        let room = toured(&[("orange", 0.1), ("apple", -0.1)]);
        // One look misnames the one, and does not name the other.
        let mut near = near(&[("ball", 0.1), ("", -0.1)]);
        assert_eq!(names(&near).iter().map(|(name, _)| *name).collect::<Vec<_>>(), ["", "ball"]);
        let mut recall = Recall::default();
        let told = recall.tell(&mut near, &room, &room_from_arm(0.02));
        assert_eq!(told.len(), 2, "{told:?}");
        let after = names(&near);
        assert_eq!((after[0].0, after[1].0), ("apple", "orange"), "{after:?}");
        assert!((0.55..0.8).contains(&after[1].1), "the look counts too: {after:?}");
        assert_eq!(recall.tell(&mut near, &room, &room_from_arm(0.02)), []);
        let before: Vec<(String, f64)> =
            names(&near).iter().map(|(name, share)| ((*name).to_owned(), *share)).collect();
        recall.forget();
        assert_eq!(recall.tell(&mut near, &room, &room_from_arm(0.02)).len(), 2);
        assert!(names(&near)[1].1 > before[1].1, "it is told again where the base stands anew");
    }

    #[test]
    fn what_stands_elsewhere_is_not_recognised() {
        let room = toured(&[("orange", 0.25)]);
        let mut near = near(&[("ball", -0.1)]);
        let told = Recall::default().tell(&mut near, &room, &room_from_arm(0.02));
        assert_eq!(told, []);
        assert_eq!(names(&near)[0].0, "ball");
    }
}
