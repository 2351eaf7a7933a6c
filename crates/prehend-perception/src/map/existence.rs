//! Things that are none: what one frame took for a thing, and the others take for a piece of something else, or for several.
//!
//! A frame that has the surface of a known object in sight speaks for the object when it shows it as a thing of its own, and against it
//! when it shows that surface as one of another object. We count both, as McCormac et al. (Fusion++, 2018) do for the probability that
//! an object exists. They delete what is improbable. Here it becomes a piece of the other, so that whoever knows its key is told which
//! that is. A frame that hides more than half of the object says nothing.

use super::gone::Look;
use super::known::Known;
use prehend_scene::ObjectKey;
use serde::{Deserialize, Serialize};

/// When a known object is none.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ExistenceSettings {
    /// Share of the points in sight that lie on one other thing when a frame speaks against an object.
    pub on_one: f64,
    /// Frames against an object for each that speaks for it, and for one more, from which on it is none. A look is some three frames
    /// from one place, which err alike: what was seen once falls by the second look that shows it otherwise.
    pub against: u32,
    /// Share of the points in sight up to which the largest of the things that a frame shows in the place of one object is not that object.
    pub largest: f64,
    /// Least share of each of them: a mask runs over an edge by less.
    pub each: f64,
    /// Least share of all of them together.
    pub together: f64,
}

impl Default for ExistenceSettings {
    fn default() -> Self {
        Self { on_one: 0.8, against: 3, largest: 0.6, each: 0.1, together: 0.8 }
    }
}

/// For each thing of a frame the key of the object that it is. `spans` are those that were left out before the others were paired.
pub(super) fn keys(old: &[Known], spans: &[bool], pairs: &[Option<usize>]) -> Vec<Option<ObjectKey>> {
    let mut paired = pairs.iter().map(|place| Some(old[(*place)?].object.key.clone()));
    spans.iter().map(|spans| if *spans { None } else { paired.next().flatten() }).collect()
}

/// Counts what a frame says against objects, and notes in the track of each of which there is too much what it is a piece of.
/// `is_seen` says which objects the frame shows as things of their own; `keys` are those of the objects that its things are.
pub(super) fn doubt(
    old: &mut [Known],
    looks: &[Look],
    is_seen: &[bool],
    keys: &[Option<ObjectKey>],
    settings: &ExistenceSettings,
) {
    for ((known, look), is_seen) in old.iter_mut().zip(looks).zip(is_seen) {
        let visibility = look.visibility;
        if *is_seen || visibility.is_gone() || !visibility.is_in_sight() {
            continue;
        }
        let on_one = look.shares().find(|(_, share)| *share >= settings.on_one);
        let Some(other) = on_one.and_then(|(number, _)| keys.get(number)?.as_ref()) else { continue };
        let track = &mut known.track;
        track.overlooked += 1;
        if track.overlooked >= settings.against * (known.object.view_count + 1) {
            track.piece_of = Some(other.clone());
        }
    }
}

/// For each object whether it is none, because more frames show named things in its place than show it as one: a mask that ran over
/// several of them. Counts what this frame says; `keys` are those of the objects that its things are. What is not seen as anything now
/// becomes a piece of the largest of them.
pub(super) fn torn(
    old: &mut [Known],
    looks: &[Look],
    is_seen: &[bool],
    named: impl Fn(usize) -> bool,
    keys: &[Option<ObjectKey>],
    settings: &ExistenceSettings,
) -> Vec<bool> {
    let mut torn = vec![false; old.len()];
    for (place, (known, look)) in old.iter_mut().zip(looks).enumerate() {
        let visibility = look.visibility;
        if visibility.is_gone() || !visibility.is_in_sight() {
            continue;
        }
        let largest = look.shares().max_by(|a, b| a.1.total_cmp(&b.1));
        let Some((number, share)) = largest else { continue };
        if share > settings.largest {
            known.track.as_one += 1;
            continue;
        }
        let parts = look.shares().filter(|(number, share)| *share >= settings.each && named(*number));
        if parts.map(|(_, share)| share).sum::<f64>() < settings.together {
            continue;
        }
        known.track.as_several += 1;
        if known.track.as_several > known.track.as_one + 1 {
            torn[place] = true;
            if !is_seen[place] {
                known.track.piece_of = keys.get(number).cloned().flatten();
            }
        }
    }
    torn
}

#[cfg(test)]
mod tests {
    use super::keys;
    use crate::hypothesis::{Hypothesis, Skipped};
    use crate::map::known::Known;
    use crate::render::{Form, Thing, VGA, looking, relabel, render, thing};
    use crate::segment::segment;
    use crate::{Detection, Keyframe, MapBuilder, MapSettings, UpdateReport};
    use prehend_geometry::{OrientedBox, PointCloud};
    use prehend_scene::Object;
    use prehend_scene::merge::MergeRule;

    const EYE: [f64; 3] = [0.0, 0.1, 0.5];
    /// The label of the piece.
    const PIECE: u16 = 10;

    /// Takes a frame into the map, cut as its labels are.
    fn take(builder: &mut MapBuilder, frame: &Keyframe) -> UpdateReport {
        let scene = segment(frame, &MapSettings::default().segment, None, 0);
        let cut = |detection: &Detection| Hypothesis {
            pixels: (0..frame.labels.labels.len())
                .filter(|at| frame.labels.labels[*at] == detection.label && scene.grid.points[*at].is_some())
                .collect(),
            detections: vec![detection.label],
            from_merged: false,
            cluster: 0,
        };
        let found = (frame.detections.iter().map(cut).collect(), Skipped::default());
        builder.take(frame, &scene, found, &[], None, false).expect("a map")
    }

    /// Shows the map one more frame of the things; a detector takes what is in `block` for a thing of its own, and all else of the first
    /// thing for that.
    fn see(builder: &mut MapBuilder, things: &[Thing], block: impl Fn(u16, usize) -> bool) -> UpdateReport {
        let stamp = builder.map().stamp + 1.0;
        let mut frame = render(things, &VGA, &looking(EYE, [0.5, 0.0, 0.1]), 0.002, stamp as u64);
        relabel(&mut frame, |label, _, v| match label {
            0 => 0,
            label if block(label, v) => PIECE,
            label if label <= 2 => 1,
            other => other,
        });
        frame.stamp = stamp;
        frame.view = format!("{stamp}");
        frame.detections.retain(|detection| frame.labels.labels.contains(&detection.label));
        if frame.labels.labels.contains(&PIECE) {
            let class_name = "block".to_owned();
            frame.detections.push(Detection { label: PIECE, class_name, score: 0.8 });
        }
        take(builder, &frame)
    }

    #[test]
    fn things_have_the_keys_of_what_they_are_whichever_were_left_out() {
        let bounds = OrientedBox { pose: nalgebra::Isometry3::identity(), size: nalgebra::Vector3::zeros() };
        let known = |key: &str| {
            let object = Object::unnamed(key.into(), PointCloud::default(), bounds);
            Known::seen(object, 1.0, &MergeRule::default(), 1)
        };
        let old = ["a", "b"].map(known);
        let found = keys(&old, &[false, true, false, false], &[Some(1), None, Some(0)]);
        assert_eq!(found, [Some("b".into()), None, None, Some("a".into())]);
    }

    fn classes(builder: &MapBuilder) -> Vec<&str> {
        builder.map().objects.iter().map(|object| object.class_name.as_str()).collect()
    }

    fn builder() -> MapBuilder {
        MapBuilder::new("map", MapSettings::default())
    }

    fn chest() -> Thing {
        thing("chest", Form::Block([0.16, 0.3, 0.2]), 0.55, 0.0, [120, 80, 50])
    }

    #[test]
    fn what_one_frame_took_for_a_thing_is_none_when_others_show_it_as_a_piece() {
        let mut builder = builder();
        let chest = [chest()];
        see(&mut builder, &chest, |_, _| false);
        // A strip of its front.
        see(&mut builder, &chest, |_, v| (240..275).contains(&v));
        assert_eq!(classes(&builder), ["chest", "block"]);
        let block = builder.map().objects[1].key.clone();
        for frame in 0..5 {
            see(&mut builder, &chest, |_, _| false);
            assert_eq!(classes(&builder), ["chest", "block"], "{frame}");
        }
        let report = see(&mut builder, &chest, |_, _| false);
        assert_eq!(classes(&builder), ["chest"]);
        assert_eq!(report.joined, [(block.clone(), builder.map().objects[0].key.clone())]);
        assert_eq!(report.removed, [block]);
    }

    /// Shows the map one more frame of the chest, in as many rows as there are names for them, from above.
    fn see_rows(builder: &mut MapBuilder, names: &[&str]) {
        let stamp = builder.map().stamp + 1.0;
        let mut frame = render(&[chest()], &VGA, &looking(EYE, [0.5, 0.0, 0.1]), 0.002, stamp as u64);
        let rows: Vec<usize> = (0..frame.labels.labels.len())
            .filter(|at| frame.labels.labels[*at] > 0)
            .map(|at| at / VGA.width)
            .collect();
        let (first, last) =
            (rows.iter().min().copied().unwrap_or(0), rows.iter().max().copied().unwrap_or(0));
        relabel(&mut frame, |_, _, v| 1 + ((v - first) * names.len() / (last - first + 1)) as u16);
        frame.stamp = stamp;
        frame.view = format!("{stamp}");
        frame.detections = (1..)
            .zip(names)
            .map(|(label, name)| Detection { label, class_name: (*name).to_owned(), score: 0.8 })
            .collect();
        take(builder, &frame);
    }

    #[test]
    fn what_one_frame_took_for_one_is_several_when_more_frames_show_it_so() {
        let (one, three): (&[&str], &[&str]) = (&["chest"], &["box", "bag", "toy"]);
        let sizes = |builder: &MapBuilder| -> Vec<f64> {
            builder.map().objects.iter().map(|object| object.cloud.len() as f64).collect()
        };
        let mut builder = builder();
        see_rows(&mut builder, one);
        let all = sizes(&builder)[0];
        (0..4).for_each(|_| see_rows(&mut builder, three));
        let mut found = classes(&builder);
        found.sort_unstable();
        assert_eq!(found, ["bag", "box", "toy"]);
        assert!(sizes(&builder).iter().all(|size| *size < 0.7 * all), "{:?} of {all}", sizes(&builder));
        // Most frames show it as one.
        let mut builder = self::builder();
        for names in [one, one, three, one, three, one] {
            see_rows(&mut builder, names);
        }
        assert!(classes(&builder).contains(&"chest"), "{:?}", classes(&builder));
        assert!(sizes(&builder).iter().any(|size| *size > 0.9 * all), "{:?} of {all}", sizes(&builder));
    }

    #[test]
    fn a_strip_of_a_thing_that_is_known_waits_for_more_frames() {
        let mut builder = builder();
        let chest = [chest()];
        let strip = |_: u16, v: usize| (240..275).contains(&v);
        (0..3).for_each(|_| drop(see(&mut builder, &chest, |_, _| false)));
        for frame in 0..3 {
            see(&mut builder, &chest, strip);
            assert_eq!(classes(&builder), ["chest"], "{frame}");
        }
        see(&mut builder, &chest, strip);
        assert_eq!(classes(&builder), ["chest", "block"]);
    }

    #[test]
    fn a_strip_has_not_the_key_of_a_thing_that_is_gone() {
        let mut builder = builder();
        let block = thing("block", Form::Block([0.03, 0.24, 0.05]), 0.3, 0.1, [120, 80, 50]);
        let both = [chest(), block];
        (0..3).for_each(|_| drop(see(&mut builder, &both, |label, _| label == 2)));
        assert_eq!(classes(&builder).len(), 2, "{:?}", classes(&builder));
        let alone = [chest()];
        let report = see(&mut builder, &alone, |_, v| (240..275).contains(&v));
        assert_eq!(classes(&builder), ["chest"]);
        assert!(report.moved.is_empty() && report.removed.len() == 1, "{report:?}");
    }

    #[test]
    fn what_is_told_apart_now_and_then_stays_and_so_does_what_is_hidden() {
        let toy = thing("toy", Form::Block([0.04, 0.08, 0.06]), 0.445, 0.0, [120, 80, 50]);
        let both = [chest(), toy];
        let mut map = builder();
        // A mask over both, but for every third frame.
        for frame in 0..18 {
            see(&mut map, &both, |label, _| label == 2 && frame % 3 == 0);
        }
        assert!(classes(&map).contains(&"block"), "{:?}", classes(&map));
        // Something before the toy, of whose surface only a strip is seen, as one of the chest.
        let mut map = builder();
        see(&mut map, &both, |label, _| label == 2);
        let post = thing("post", Form::Block([0.02, 0.3, 0.3]), 0.3, 0.17, [28, 28, 30]);
        let hidden = [both[0].clone(), both[1].clone(), post];
        for _ in 0..12 {
            see(&mut map, &hidden, |_, _| false);
        }
        assert!(classes(&map).contains(&"block"), "{:?}", classes(&map));
    }
}
