//! Things that touch: one frame takes them for one, another tells them apart.
//!
//! Where two things touch, geometry often takes them for one. It seldom takes one thing for two. So if any frame shows two things,
//! they are two. To find out as which things a frame sees a known object, we take the points of the object that the frame confirms.
//! Each of them lies at a pixel, and the pixel belongs to one thing of the frame.

use super::gone::Look;
use super::known::Known;
use prehend_scene::merge::MergeRule;
use serde::{Deserialize, Serialize};

/// When several things are several, or one.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct TouchingSettings {
    /// A thing of a frame covers a known object if at least this share of the object's confirmed points lies on it.
    pub covered: f64,
    /// A thing of a frame can be one of several that a known object is seen as if at least this share of the object's confirmed
    /// points lies on it. Less than `covered`, since several things divide the points among them.
    pub shown: f64,
    /// Greatest share of one object that lies on another when they are two.
    pub apart: f64,
    /// Least points of one of several things, as a share of those of the whole: less is a scrap.
    pub piece: f64,
}

impl Default for TouchingSettings {
    fn default() -> Self {
        Self { covered: 0.3, shown: 0.1, apart: 0.4, piece: 0.05 }
    }
}

/// The thing that each pixel of a frame of so many pixels is of: its number from 1, 0 where there is none.
pub(super) fn owners<'a>(seen: impl Iterator<Item = &'a Known>, pixels: usize) -> Vec<u16> {
    let mut owners = vec![0; pixels];
    for (number, thing) in (1..=u16::MAX).zip(seen) {
        for index in thing.object.crops.iter().flat_map(|crop| crop.mask.indices()) {
            if let Some(slot) = owners.get_mut(index) {
                *slot = number;
            }
        }
    }
    owners
}

fn is_nameless(thing: &Known) -> bool {
    thing.object.class_name.is_empty()
}

fn is_large(part: &Known, whole: &Known, settings: &TouchingSettings) -> bool {
    part.object.cloud.len() as f64 >= settings.piece * whole.object.cloud.len() as f64
}

/// For each thing of a frame whether it has no name and covers several known objects: it is a sighting of none of them.
pub(super) fn spanning(
    old: &[Known],
    looks: &[Look],
    seen: &[Known],
    rule: &MergeRule,
    settings: &TouchingSettings,
) -> Vec<bool> {
    let mut covered: Vec<Vec<&Known>> = vec![Vec::new(); seen.len()];
    for (known, look) in old.iter().zip(looks).filter(|(_, look)| !look.visibility.is_gone()) {
        for (number, share) in look.shares() {
            if share >= settings.covered
                && seen.get(number).is_some_and(|thing| is_large(known, thing, settings))
            {
                covered[number].push(known);
            }
        }
    }
    let apart = settings.apart;
    let are_two = |a: &Known, b: &Known| a.share_of(b, rule) <= apart && b.share_of(a, rule) <= apart;
    let several = |known: &[&Known]| {
        known.iter().enumerate().any(|(number, a)| known[number + 1..].iter().any(|b| are_two(a, b)))
    };
    seen.iter().zip(covered).map(|(thing, known)| is_nameless(thing) && several(&known)).collect()
}

/// For each known object without a name whether the frame sees it as several things that have none either and come near each
/// other: pieces that are apart may be of one thing, with something before it.
pub(super) fn are_several(
    old: &[Known],
    looks: &[Look],
    seen: &[Known],
    rule: &MergeRule,
    settings: &TouchingSettings,
) -> Vec<bool> {
    let meet = |a: &Known, b: &Known| a.share_of(b, rule) > 0.0;
    let several = |(known, look): (&Known, &Look)| {
        if !is_nameless(known) {
            return false;
        }
        let shown = look
            .shares()
            .filter(|(_, share)| *share >= settings.shown)
            .filter_map(|(number, _)| seen.get(number));
        let pieces: Vec<&Known> =
            shown.filter(|thing| is_nameless(thing) && is_large(thing, known, settings)).collect();
        pieces.iter().enumerate().any(|(number, a)| pieces[number + 1..].iter().any(|b| meet(a, b)))
    };
    old.iter().zip(looks).map(several).collect()
}

#[cfg(test)]
mod tests {
    use crate::hypothesis::{Hypothesis, Skipped};
    use crate::render::{Form, Thing, VGA, looking, relabel, render, thing};
    use crate::segment::segment;
    use crate::{MapBuilder, MapSettings, UpdateReport};

    /// Shows the map a frame from there, cut into these groups of things, none of which has a name.
    fn see(builder: &mut MapBuilder, things: &[Thing], eye: [f64; 3], groups: &[&[u16]]) -> UpdateReport {
        let mut frame = render(things, &VGA, &looking(eye, [0.43, 0.0, 0.0]), 0.002, 1);
        // Of the first thing, what is on the right side of the picture is the tenth.
        let is_torn = groups.concat().contains(&10);
        relabel(
            &mut frame,
            |label, u, _| if is_torn && label == 1 && u > VGA.width / 2 { 10 } else { label },
        );
        frame.view = format!("{eye:?}");
        frame.stamp = builder.map().stamp + 1.0;
        frame.detections.clear();
        let labels = std::mem::replace(&mut frame.labels.labels, vec![0; VGA.width * VGA.height]);
        let settings = MapSettings::recorded();
        let scene = segment(&frame, &settings.segment, None, 0);
        let cut = |group: &&[u16]| Hypothesis {
            pixels: (0..labels.len())
                .filter(|index| group.contains(&labels[*index]) && scene.grid.points[*index].is_some())
                .collect(),
            detections: Vec::new(),
            from_merged: false,
            cluster: 0,
        };
        let found = (groups.iter().map(cut).collect(), Skipped::default());
        builder.take(&frame, &scene, found, &[], None, false).unwrap()
    }

    fn builder() -> MapBuilder {
        MapBuilder::new("map", MapSettings::recorded())
    }

    /// Lengths of the objects of a map, metres, and in how many views each was seen.
    fn lengths(builder: &MapBuilder) -> Vec<(f64, u32)> {
        let length = |o: &prehend_scene::Object| (o.bounds.size.x.max(o.bounds.size.y), o.view_count);
        builder.map().objects.iter().map(length).collect()
    }

    const NEAR: [f64; 3] = [0.0, 0.1, 0.5];
    const LEFT: [f64; 3] = [0.3, 0.5, 0.5];
    const RIGHT: [f64; 3] = [0.5, -0.5, 0.5];

    #[test]
    fn what_one_frame_tells_apart_is_apart_from_then_on() {
        let block = |x: f64| thing("block", Form::Block([0.06, 0.06, 0.06]), x, 0.0, [34, 74, 188]);
        let pair = [block(0.40), block(0.461)];
        let (one, two): (&[&[u16]], &[&[u16]]) = (&[&[1, 2]], &[&[1], &[2]]);
        for order in [[one, two, one], [two, one, two], [two, one, one], [one, one, two]] {
            let mut builder = builder();
            for (eye, groups) in [NEAR, LEFT, RIGHT].into_iter().zip(order) {
                see(&mut builder, &pair, eye, groups);
            }
            let lengths = lengths(&builder);
            assert_eq!(lengths.len(), 2, "{order:?}: {lengths:?}");
            assert!(lengths.iter().all(|(length, _)| *length < 0.085), "{order:?}: {lengths:?}");
        }
        // Nothing tells them apart.
        let mut builder = builder();
        for eye in [NEAR, LEFT, RIGHT] {
            see(&mut builder, &pair, eye, one);
        }
        let [(length, 3)] = lengths(&builder)[..] else { panic!("{:?}", lengths(&builder)) };
        assert!(length > 0.11, "{length}");
    }

    #[test]
    fn what_is_hidden_in_its_middle_is_still_one() {
        let long = thing("box", Form::Block([0.05, 0.3, 0.04]), 0.45, 0.0, [236, 204, 38]);
        let before = thing("post", Form::Block([0.03, 0.05, 0.2]), 0.3, 0.0, [28, 28, 30]);
        let mut builder = builder();
        see(&mut builder, std::slice::from_ref(&long), [0.0, 0.0, 0.4], &[&[1]]);
        let report = see(&mut builder, &[long, before], [0.0, 0.0, 0.4], &[&[1], &[10], &[2]]);
        let lengths = lengths(&builder);
        assert_eq!(lengths.len(), 2, "{lengths:?} {report:?}");
        assert!((lengths[0].0 - 0.3).abs() < 0.02, "{lengths:?}");
    }

    #[test]
    fn what_carries_others_is_seen_again() {
        let on = |x: f64, y: f64, height: f64| {
            let form = Form::Block([0.05, 0.05, height]);
            Thing { at: [x, y, 0.02, 0.0], ..thing("block", form, x, y, [196, 30, 36]) }
        };
        let tray = thing("tray", Form::Block([0.24, 0.24, 0.02]), 0.43, 0.0, [232, 232, 228]);
        let things = [tray, on(0.37, 0.06, 0.012), on(0.49, -0.06, 0.05)];
        let mut builder = builder();
        for eye in [NEAR, LEFT, RIGHT] {
            let report = see(&mut builder, &things, eye, &[&[1], &[2], &[3]]);
            assert_eq!(report.added.len() + report.merged.len(), 3, "{report:?}");
        }
        let lengths = lengths(&builder);
        assert_eq!(lengths.iter().map(|(_, views)| *views).collect::<Vec<_>>(), [3; 3], "{lengths:?}");
        assert!(lengths[0].0 > 0.22, "{lengths:?}");
    }
}
