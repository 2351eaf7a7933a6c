//! Imagination as a skill (AAH 3.1): before the robot acts, physics plays what it would do on what the evidence so far says of the part.

use crate::fusion::fuse;
use crate::subject::Subject;
use nalgebra::Point3;
use prehend_geometry::Mask;
use prehend_geometry::backproject::point_grid;
pub use prehend_imagination::Hand;
use prehend_imagination::{Act, Imagined, Seen, imagine};
use prehend_scene::{Crop, Evidence, EvidenceType, Region};
use prehend_skills::GripperModel;

/// Name of the skill, and of the producer of its records.
pub const IMAGINATION: &str = "imagination";
/// Different answers that are played; of two that are more alike than this one is enough.
const PLAYED: usize = 3;
const ALIKE: f64 = 0.5;
/// Farthest that is looked at, metres.
const RANGE: f64 = 3.0;
/// Parts that are pressed; the others are held.
const PRESSED: [&str; 3] = ["button", "key", "switch"];

/// The hand of a gripper that closes with this force, newtons.
pub fn hand(gripper: &GripperModel, force: f64) -> Hand {
    Hand {
        max_opening: gripper.max_opening,
        pad_width: gripper.pad_width,
        finger_thickness: gripper.finger_thickness,
        finger_length: gripper.finger_length,
        force,
    }
}

/// Plays each answer that the evidence has; a point where the best one was touched, as sure as it went well. `None` without a part, a
/// hand, or anything that is seen of it.
pub fn play(subject: &Subject, evidence: &[Evidence]) -> Option<Evidence> {
    let (part, hand) = (subject.part.as_ref()?, subject.hand.as_ref()?);
    let act = if PRESSED.contains(&part.kind.as_str()) { Act::Press } else { Act::Hold };
    let mut best: Option<(Imagined, &Crop)> = None;
    for (view, mask) in answers(evidence) {
        let Some(crop) = subject.object.crops.iter().find(|crop| crop.view == view) else { continue };
        let points = points_of(crop, &mask);
        let seen = Seen {
            thing: &subject.object.cloud.points,
            part: &points,
            outward: part.normal,
            support: subject.support(),
        };
        let Some(imagined) = imagine(&seen, hand, act) else { continue };
        if best.is_none_or(|(best, _)| imagined.success > best.success) {
            best = Some((imagined, crop));
        }
        if imagined.success >= 1.0 {
            break;
        }
    }
    let (imagined, crop) = best?;
    Some(Evidence {
        id: format!("{IMAGINATION}/{}/1x/point", crop.view),
        kind: EvidenceType::Dream,
        producer: IMAGINATION.to_owned(),
        view: crop.view.clone(),
        scale: 1.0,
        confidence: imagined.success,
        label: part.kind.clone(),
        region: Region::Point(disc(crop, &imagined.at, hand.pad_width / 2.0)?),
        stamp: crop.stamp,
    })
}

/// What the evidence says of where the part is: all together first, then who says something else.
fn answers(evidence: &[Evidence]) -> Vec<(String, Mask)> {
    let mut answers: Vec<(String, Mask)> =
        fuse(evidence, &|_| 1.0).map(|fused| (fused.view, fused.mask)).into_iter().collect();
    let masks = evidence.iter().filter(|record| matches!(record.region, Region::Mask(_)));
    for record in masks.filter(|record| record.region.mask().area() > 0) {
        let mask = record.region.mask();
        let is_said = answers.iter().any(|(view, said)| *view == record.view && said.iou(mask) >= ALIKE);
        if !is_said && answers.len() < PLAYED {
            answers.push((record.view.clone(), mask.clone()));
        }
    }
    answers
}

/// What a mask shows of a crop, map frame.
fn points_of(crop: &Crop, mask: &Mask) -> Vec<Point3<f64>> {
    let grid = point_grid(&crop.depth, &crop.own_intrinsics(), &crop.map_from_camera, RANGE);
    let width = crop.depth.width.max(1);
    let inside = |index: &usize| mask.contains(crop.x + index % width, crop.y + index / width);
    let indices: Vec<usize> = (0..grid.points.len()).filter(inside).collect();
    grid.of(&indices)
}

/// The disc of a radius in metres around a point of the map, in the image of a crop.
fn disc(crop: &Crop, at: &Point3<f64>, radius: f64) -> Option<Mask> {
    let intrinsics = &crop.intrinsics;
    let local = crop.map_from_camera.inverse() * at;
    let index = intrinsics.pixel_index(&local)?;
    let (u, v) = ((index % intrinsics.width) as f64, (index / intrinsics.width) as f64);
    let reach = (radius * intrinsics.fx / local.z).clamp(1.0, 50.0);
    let span = |middle: f64, size: usize| {
        let low = (middle - reach).max(0.0).floor() as usize;
        low..=((middle + reach).ceil() as usize).min(size.saturating_sub(1))
    };
    let pixels: Vec<usize> = span(v, intrinsics.height)
        .flat_map(|y| span(u, intrinsics.width).map(move |x| (x, y)))
        .filter(|(x, y)| (*x as f64 - u).hypot(*y as f64 - v) <= reach)
        .map(|(x, y)| y * intrinsics.width + x)
        .collect();
    Some(Mask::from_indices(intrinsics.width, intrinsics.height, &pixels))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(id: &str, view: &str, x: usize) -> Evidence {
        Evidence {
            id: id.to_owned(),
            kind: EvidenceType::Seg,
            producer: id.to_owned(),
            view: view.to_owned(),
            scale: 1.0,
            confidence: 0.9,
            label: String::new(),
            region: Region::Mask(Mask::filled_box(640, 480, x, 100, 60, 50)),
            stamp: 0.0,
        }
    }

    #[test]
    fn answers_that_differ_are_played_once_each() {
        let evidence = [
            record("a", "home", 100),
            record("b", "home", 102),
            record("c", "home", 400),
            record("d", "left", 100),
        ];
        let views: Vec<(String, usize)> =
            answers(&evidence).into_iter().map(|(view, mask)| (view, mask.x)).collect();
        assert_eq!(views.len(), 3, "{views:?}");
        assert_eq!(
            (views[1].clone(), views[2].clone()),
            (("home".to_owned(), 400), ("left".to_owned(), 100))
        );
        assert!(answers(&[]).is_empty());
    }
}
