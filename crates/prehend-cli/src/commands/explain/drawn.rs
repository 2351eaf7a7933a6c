//! The hands of decisions, drawn over what the camera saw before the goal.

use crate::run_folder::VIEW;
use nalgebra::{Isometry3, Point3};
use prehend_explain::{Decision, Explanation, Hand, Picture};
use prehend_geometry::{ColorImage, Intrinsics};
use prehend_nodes::pictures::{self, Mark};
use prehend_scene::ObjectMap;
use serde::{Deserialize, Serialize};
use std::path::Path;

/// Colours of the hand that was chosen, of those that were tried and passed over, and of the others.
const CHOSEN: [u8; 3] = [255, 0, 220];
const MISSED: [u8; 3] = [230, 70, 50];
const OTHER: [u8; 3] = [150, 150, 150];
/// Most decisions that are drawn, and most pixels round the hands.
const MOST: usize = 12;
const MARGIN: usize = 60;

/// With what and from where the picture `camera_before.png` of a run was taken.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Eye {
    /// The camera.
    pub(crate) intrinsics: Intrinsics,
    /// Where it was.
    pub(crate) base_from_camera: Isometry3<f64>,
}

/// A picture of each decision that was about hands: those that were weighed, over what the camera saw before anything moved. None when the
/// run has not kept from where that was seen.
pub(super) fn drawn(folder: &Path, explained: &Explanation) -> Vec<Picture> {
    let Some((image, eye)) = seen(folder) else { return Vec::new() };
    let about_hands = explained.decisions.iter().enumerate().filter(|(_, one)| !one.hands.is_empty());
    let pictures = about_hands.take(MOST).filter_map(|(index, decision)| {
        let png = pictures::png(&over(&image, eye, &decision.hands)?).ok()?;
        Some(Picture { caption: caption(decision), of: None, decision: Some(index), png })
    });
    pictures.collect()
}

fn caption(decision: &Decision) -> String {
    let chosen =
        if decision.hands.iter().any(|hand| hand.is_chosen) { "the chosen hand in magenta, " } else { "" };
    format!(
        "over what the camera saw before the goal: {chosen}those that were tried and passed over in red, others in grey"
    )
}

/// The picture before the goal, and the camera.
fn seen(folder: &Path) -> Option<(ColorImage, Eye)> {
    let eye: Eye = serde_json::from_slice(&std::fs::read(folder.join(VIEW)).ok()?).ok()?;
    let bytes = std::fs::read(folder.join("camera_before.png")).ok()?;
    let read = image::load_from_memory_with_format(&bytes, image::ImageFormat::Png).ok()?.to_rgb8();
    let (width, height) = (read.width() as usize, read.height() as usize);
    let pixels = read.pixels().map(|pixel| pixel.0).collect();
    Some((ColorImage { width, height, pixels }, eye))
}

/// The part of the picture with the hands in it, with the hands; `None` when none of them is in view.
fn over(image: &ColorImage, eye: Eye, hands: &[Hand]) -> Option<ColorImage> {
    let mark = |hand: &Hand| {
        let color = match (hand.is_chosen, &hand.missed) {
            (true, _) => CHOSEN,
            (false, Some(_)) => MISSED,
            (false, None) => OTHER,
        };
        Mark { color, lines: hand.lines().to_vec(), ..Mark::default() }
    };
    // The chosen one is the last, and lies on top.
    let marks: Vec<Mark> = hands.iter().map(mark).collect();
    let camera_from_base = eye.base_from_camera.inverse();
    let pixel = |at: &Point3<f64>| eye.intrinsics.project(&camera_from_base.transform_point(at));
    let points: Vec<_> = hands.iter().flat_map(Hand::lines).flatten().filter_map(|at| pixel(&at)).collect();
    let span = |values: &mut dyn Iterator<Item = f64>, most: usize| {
        let (low, high) = values.fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), v| (a.min(v), b.max(v)));
        // A picture has few pixels, and what is outside it is cut.
        let clamped = |value: f64| value.clamp(0.0, most as f64) as usize;
        (clamped(low).saturating_sub(MARGIN), clamped(high).saturating_add(MARGIN).min(most))
    };
    let in_view = |at: &nalgebra::Point2<f64>| {
        (0.0..image.width as f64).contains(&at.x) && (0.0..image.height as f64).contains(&at.y)
    };
    if !points.iter().any(in_view) {
        return None;
    }
    let (left, right) = span(&mut points.iter().map(|at| at.x), image.width);
    let (top, bottom) = span(&mut points.iter().map(|at| at.y), image.height);
    let empty = ObjectMap::default();
    let view = (&eye.intrinsics, &eye.base_from_camera);
    let whole = pictures::over_view(image.clone(), &empty, view, &|_| None, &marks);
    let rows = whole.pixels.chunks(whole.width).take(bottom).skip(top);
    let pixels = rows.flat_map(|row| row[left..right].iter().copied()).collect();
    Some(ColorImage { width: right - left, height: bottom - top, pixels })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hands_are_drawn_where_they_are_and_nothing_is_drawn_of_those_out_of_view() {
        let intrinsics = Intrinsics { fx: 300.0, fy: 300.0, cx: 160.0, cy: 120.0, width: 320, height: 240 };
        let eye = Eye { intrinsics, base_from_camera: Isometry3::identity() };
        let image = ColorImage { width: 320, height: 240, pixels: vec![[0; 3]; 320 * 240] };
        let hand = |x: f64, is_chosen: bool| Hand {
            position: [x, 0.0, 1.0],
            rotation: [0.0, 0.0, 0.0, 1.0],
            opening: 0.08,
            is_chosen,
            missed: None,
        };
        let drawn = over(&image, eye, &[hand(0.05, false), hand(0.0, true)]).expect("in view");
        assert!(drawn.width < 320 && drawn.height < 240, "the part with the hands: {}", drawn.width);
        assert!(drawn.pixels.contains(&CHOSEN));
        assert_eq!(over(&image, eye, &[hand(50.0, true)]), None);
        assert_eq!(over(&image, eye, &[]), None);
    }
}
