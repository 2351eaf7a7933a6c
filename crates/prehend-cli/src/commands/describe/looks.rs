//! Pictures for people and for a second opinion: the recorded looks as points and the model at the same positions, by one camera.

use nalgebra::{Isometry3, Point3, Vector3};
use prehend_articulation::critic::JointVerdict;
use prehend_articulation::{Iteration, Joint, Look, Observation};
use prehend_drawing::overlay;
use prehend_eval::articulated::drawables;
use prehend_geometry::ColorImage;
use prehend_sim::sensors::overview::{look_at, overview};
use prehend_sim::sensors::{RenderError, View};
use std::fmt::Write;

/// Colours of links in pictures, and how they are called: of the whole, then of its parts.
const COLORS: [([u8; 3], &str); 6] = [
    ([176, 172, 164], "grey"),
    ([226, 145, 60], "orange"),
    ([74, 134, 196], "blue"),
    ([98, 168, 92], "green"),
    ([178, 96, 160], "purple"),
    ([204, 190, 70], "yellow"),
];
/// Of parts that the model has no link for, and of the room.
const LOST: [u8; 3] = [60, 60, 60];
const ROOM: [u8; 3] = [225, 224, 220];
/// Size of a recorded point, metres, and the least and most pixels of half its side.
const POINT: f64 = 0.008;
const PIXELS: [f64; 2] = [1.0, 8.0];
/// How much darker the farthest point is than the nearest.
const DARKER: f64 = 0.45;
/// Size of a thing that is seen whole from the usual distance, metres.
const WHOLE: f64 = 0.65;
/// Share of their ways at which joints are open in pictures.
pub(super) const OPEN: f64 = 0.8;
/// Way of a part below which a look is as the first one, as a share of its farthest.
const STILL: f64 = 0.05;

fn colored(link: usize) -> ([u8; 3], &'static str) {
    // The whole keeps its colour for itself.
    COLORS[if link == 0 { 0 } else { 1 + (link - 1) % (COLORS.len() - 1) }]
}

/// How the colour of a link is called.
pub(super) fn color_name(link: usize) -> &'static str {
    colored(link).1
}

/// Middle of the whole in the map, and how much larger it is than what is seen whole from the usual distance, at least 1.
fn middle_and_scale(best: &Iteration) -> (Point3<f64>, f64) {
    let root = best.model.links.first();
    let size = root.and_then(|link| link.bounds()).map_or(0.0, |(low, high)| (high - low).norm());
    let middle = root.map_or_else(Point3::origin, |link| link.middle());
    (best.map_from_model * middle, (size / WHOLE).max(1.0))
}

/// Level unit direction from the whole towards who looks.
fn level_towards(observation: &Observation, target: &Point3<f64>) -> Vector3<f64> {
    let towards = observation.eye - target;
    Vector3::new(towards.x, towards.y, 0.0).try_normalize(1e-6).unwrap_or_else(|| -Vector3::x())
}

/// From the robot's side, a little aside and above, so that depth shows.
pub(super) fn camera(observation: &Observation, best: &Iteration) -> View {
    let (target, scale) = middle_and_scale(best);
    let level = level_towards(observation, &target);
    let aside = Isometry3::rotation(Vector3::z() * 0.5) * level;
    look_at(target + (aside * 0.9 + Vector3::z() * 0.5) * scale, target)
}

/// From the front, from the side and from above.
pub(super) fn sides(observation: &Observation, best: &Iteration) -> [(&'static str, View); 3] {
    let (target, scale) = middle_and_scale(best);
    let front = level_towards(observation, &target);
    let side = Vector3::z().cross(&front);
    // Not straight from above, where nothing is upright.
    let above = Vector3::z() + front * 0.02;
    [("Open, from the front:", front), ("Open, from the side:", side), ("Open, from above:", above)]
        .map(|(title, direction)| (title, look_at(target + direction * 1.1 * scale, target)))
}

/// Positions of the model's joints at a share of their ways.
pub(super) fn opened(best: &Iteration, share: f64) -> Vec<f64> {
    let way = |joint: &Joint| joint.limits[0] + share * (joint.limits[1] - joint.limits[0]);
    best.model.joints.iter().map(way).collect()
}

/// The model with its joints at positions in their order.
///
/// Errors: a pose that is not finite.
pub(super) fn drawn(best: &Iteration, positions: &[f64], view: &View) -> Result<ColorImage, RenderError> {
    let model = &best.model;
    let poses: Vec<Isometry3<f64>> =
        model.poses(positions).iter().map(|pose| best.map_from_model * pose).collect();
    overview(&drawables(model, &poses, |link| colored(link).0), view)
}

/// A recorded look: each point a square in the colour of its link, darker the farther it is.
pub(super) fn recorded(best: &Iteration, look: &Look, view: &View) -> ColorImage {
    let parts = look.parts.iter().enumerate().map(|(part, points)| {
        let link = best.links.get(part).copied().flatten();
        (points, link.map_or(LOST, |link| colored(link).0))
    });
    let clouds: Vec<(&Vec<Point3<f64>>, [u8; 3])> =
        [(&look.body, colored(0).0)].into_iter().chain(parts).collect();
    let camera_from_map = view.world_from_camera.inverse();
    let k = &view.intrinsics;
    let mut image = ColorImage::filled(k.width, k.height, ROOM);
    let mut depths = vec![f64::INFINITY; k.width * k.height];
    for (points, color) in clouds {
        for point in points {
            let seen = camera_from_map * point;
            let Some(pixel) = k.project(&seen) else { continue };
            let half = (0.5 * POINT * k.fx / seen.z).clamp(PIXELS[0], PIXELS[1]);
            let range = |middle: f64, most: usize| {
                // A cast of what is negative or too large gives the nearest end.
                ((middle - half).ceil() as usize)..((middle + half + 1.0).floor().max(0.0) as usize).min(most)
            };
            for v in range(pixel.y, k.height) {
                for u in range(pixel.x, k.width) {
                    let index = v * k.width + u;
                    if seen.z < depths[index] {
                        depths[index] = seen.z;
                        image.pixels[index] = color;
                    }
                }
            }
        }
    }
    let hit = depths.iter().copied().filter(|depth| depth.is_finite());
    let (near, far) = hit.fold((f64::INFINITY, 0.0_f64), |(near, far), z| (near.min(z), far.max(z)));
    for (pixel, depth) in image.pixels.iter_mut().zip(&depths).filter(|(_, depth)| depth.is_finite()) {
        let light = 1.0 - DARKER * (depth - near) / (far - near).max(1e-6);
        *pixel = pixel.map(|channel| (f64::from(channel) * light) as u8);
    }
    image
}

/// Where the part of a verdict was in a look, as a share of its farthest way; `None` where it was not seen, or did not move.
fn share(verdict: &JointVerdict, look: usize) -> Option<f64> {
    let seen = verdict.seen.as_ref()?;
    let far = seen.positions.iter().flatten().fold(0.0_f64, |far, position| far.max(position.abs()));
    let position = seen.positions.get(look).copied().flatten()?;
    (far > 0.0).then(|| position.abs() / far)
}

/// The looks before and after the part of a verdict moved: the first that shows it, and the one where it was farthest.
pub(super) fn motion(verdict: &JointVerdict) -> Option<(usize, usize)> {
    let looks = verdict.seen.as_ref()?.positions.len();
    let shares = (0..looks).filter_map(|look| share(verdict, look).map(|share| (look, share)));
    let before = shares.clone().next()?.0;
    let (after, _) = shares.max_by(|a, b| a.1.total_cmp(&b.1).then(b.0.cmp(&a.0)))?;
    (before != after).then_some((before, after))
}

/// Positions of the model's joints in a look. Of a joint that was refused before they were found, as far along its own way as the part
/// was along the one that was seen; 0 for what was not seen to move.
pub(super) fn positions(best: &Iteration, look: usize) -> Vec<f64> {
    let position = |joint: &Joint| {
        let part = best.links.iter().position(|link| *link == Some(joint.child))?;
        let verdict = best.verdicts.joints.iter().find(|verdict| verdict.part == part)?;
        let found = verdict.positions.get(look).copied().flatten();
        found.or_else(|| share(verdict, look).map(|share| share * joint.limits[1]))
    };
    best.model.joints.iter().map(|joint| position(joint).unwrap_or_default()).collect()
}

/// The look that shows most motion; `None` when all are as the first one.
fn moved(observation: &Observation, best: &Iteration) -> Option<usize> {
    let way =
        |look: usize| -> f64 { best.verdicts.joints.iter().filter_map(|verdict| share(verdict, look)).sum() };
    let (first, ways) = (way(0), (1..observation.looks.len()).map(|look| (look, way(look))));
    ways.max_by(|a, b| a.1.total_cmp(&b.1).then(b.0.cmp(&a.0)))
        .filter(|(_, way)| *way > first + STILL)
        .map(|(look, _)| look)
}

/// The looks that are shown, with the names of their pictures.
fn shown(observation: &Observation, best: &Iteration) -> Vec<(usize, [&'static str; 2])> {
    let first = (!observation.looks.is_empty()).then_some((0, ["recorded.png", "modelled.png"]));
    let moved = moved(observation, best).map(|look| (look, ["recorded_moved.png", "modelled_moved.png"]));
    first.into_iter().chain(moved).collect()
}

/// Names and bytes of the pictures: how the thing was found and where most of it had moved, each as it was recorded and as the model has it.
///
/// Errors: what cannot be drawn, in words.
pub(super) fn pictures(
    observation: &Observation,
    best: &Iteration,
) -> Result<Vec<(&'static str, Vec<u8>)>, String> {
    let view = camera(observation, best);
    let mut pictures = Vec::new();
    for (look, [seen, modelled]) in shown(observation, best) {
        let Some(recording) = observation.looks.get(look) else { continue };
        let model = drawn(best, &positions(best, look), &view).map_err(|error| error.to_string())?;
        for (name, image) in [(seen, recorded(best, recording, &view)), (modelled, model)] {
            pictures.push((name, overlay::png(&image).map_err(|error| error.to_string())?));
        }
    }
    Ok(pictures)
}

/// The same on the page.
pub(super) fn section(observation: &Observation, best: &Iteration) -> String {
    let mut html = "<h2>As it was recorded, and the model at the same positions</h2>".to_owned();
    for (look, [recorded, modelled]) in shown(observation, best) {
        // Writing to a string does not fail.
        let _ = write!(
            html,
            "<p><img src=\"{recorded}\" alt=\"recorded, look {number}\"> <img src=\"{modelled}\" alt=\"the model, look {number}\"><br>\
             Look {number} of {looks}: points that were seen, and the model.</p>",
            number = look + 1,
            looks = observation.looks.len(),
        );
    }
    html
}

#[cfg(test)]
mod tests {
    use super::*;
    use prehend_articulation::{MovablePart, Thresholds, describe};

    /// A box with a lid that was seen closed and open by an angle.
    fn seen() -> (Observation, Iteration) {
        let grid = |count: u32| (0..count).map(|i| (0.01 * f64::from(i / 30), 0.01 * f64::from(i % 30)));
        let plate = |tilt: f64| -> Vec<Point3<f64>> {
            grid(900)
                .map(|(along, across)| {
                    Point3::new(0.8 - along * tilt.cos(), across - 0.15, 0.2 + along * tilt.sin())
                })
                .collect()
        };
        let body: Vec<Point3<f64>> =
            grid(600).map(|(up, across)| Point3::new(0.5 + across, -0.15, up)).collect();
        let look = |tilt: f64| Look { body: body.clone(), parts: vec![plate(tilt)] };
        let observation = Observation {
            name: "box_0".to_owned(),
            class: "box".to_owned(),
            parts: vec![MovablePart { name: "lid_0".to_owned(), class: "lid".to_owned() }],
            looks: vec![look(0.0), look(1.0), look(0.4)],
            tracks: Vec::new(),
            eye: Point3::new(0.0, 0.0, 0.8),
        };
        let best = describe(&observation, Thresholds::default()).unwrap().best().clone();
        (observation, best)
    }

    fn pixels(image: &ColorImage, is: impl Fn([u8; 3]) -> bool) -> usize {
        image.pixels.iter().filter(|pixel| is(**pixel)).count()
    }

    fn is_orange([red, _, blue]: [u8; 3]) -> bool {
        i32::from(red) - i32::from(blue) > 60
    }

    #[test]
    fn the_looks_with_the_least_and_the_most_motion_are_shown() {
        let (mut observation, best) = seen();
        assert_eq!(motion(&best.verdicts.joints[0]), Some((0, 1)));
        assert_eq!(moved(&observation, &best), Some(1));
        let names: Vec<&str> = pictures(&observation, &best).unwrap().iter().map(|(name, _)| *name).collect();
        assert_eq!(names, ["recorded.png", "modelled.png", "recorded_moved.png", "modelled_moved.png"]);
        assert!(names.iter().all(|name| section(&observation, &best).contains(name)));
        observation.looks.truncate(1);
        let best = describe(&observation, Thresholds::default()).unwrap().best().clone();
        assert_eq!(motion(&best.verdicts.joints[0]), None);
        assert_eq!(pictures(&observation, &best).unwrap().len(), 2);
        assert_eq!(positions(&best, 0), [0.0]);
    }

    #[test]
    fn the_model_is_drawn_where_the_part_was_seen() {
        let (observation, best) = seen();
        let view = camera(&observation, &best);
        for look in 0..3 {
            let positions = positions(&best, look);
            assert!((positions[0] - [0.0, 1.0, 0.4][look]).abs() < 0.05, "{positions:?}");
            let recorded = recorded(&best, &observation.looks[look], &view);
            let drawn = drawn(&best, &positions, &view).unwrap();
            let both = recorded.pixels.iter().zip(&drawn.pixels);
            let both = both.filter(|(a, b)| is_orange(**a) && is_orange(**b)).count();
            let either = pixels(&recorded, is_orange).max(pixels(&drawn, is_orange));
            // Points are wider than the edge of a board.
            assert!(both * 2 > either, "look {look}: {both} of {either} pixels of the lid");
        }
    }

    #[test]
    fn what_is_nearer_hides_what_is_behind_it_and_what_is_behind_the_camera_is_not_drawn() {
        let (_, best) = seen();
        let view = look_at(Point3::origin(), Point3::new(1.0, 0.0, 0.0));
        let part = |x: f64| Look {
            body: vec![Point3::new(2.0, 0.0, 0.0)],
            parts: vec![vec![Point3::new(x, 0.0, 0.0)]],
        };
        let middle = |look: &Look| {
            let image = recorded(&best, look, &view);
            image.pixels[(image.height / 2) * image.width + image.width / 2]
        };
        assert!(is_orange(middle(&part(1.0))));
        assert!(!is_orange(middle(&part(3.0))));
        let behind = recorded(&best, &part(-1.0), &view);
        assert_eq!(pixels(&behind, is_orange), 0);
        let nothing = recorded(&best, &Look::default(), &view);
        assert_eq!(pixels(&nothing, |pixel| pixel != ROOM), 0);
    }
}
