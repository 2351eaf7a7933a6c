//! Hands and things from above and from the side, as a drawing that needs no picture of a camera.

use super::{Hand, Seen};
use crate::html::escape;
use nalgebra::{Point2, Point3};
use std::fmt::Write;

/// How much is drawn round the hands and the thing, metres.
const MARGIN: f64 = 0.08;
/// What is so near to them is drawn, too, metres.
const NEAR: f64 = 0.2;
/// Pixels of a metre, at most, and of the drawing's longest side.
const SCALE: f64 = 1400.0;
const LONGEST: f64 = 420.0;

/// One of the two views: what is to the right and what is up on paper.
#[derive(Clone, Copy)]
struct View {
    name: &'static str,
    project: fn(&Point3<f64>) -> Point2<f64>,
    is_above: bool,
}

const VIEWS: [View; 2] = [
    // The robot looks along x, which is up on paper; its left is left.
    View { name: "from above", project: |at| Point2::new(-at.y, at.x), is_above: true },
    View { name: "from behind", project: |at| Point2::new(-at.y, at.z), is_above: false },
];

/// The corners of a thing's box: its footprint at its top, then the same at its bottom.
fn corners(thing: &Seen) -> Vec<Point3<f64>> {
    let ([cx, cy, cz], [a, b, c]) = (thing.center_mm, thing.size_mm);
    let (sin, cos) = thing.turn_deg.unwrap_or_default().to_radians().sin_cos();
    let mut corners = Vec::with_capacity(8);
    for up in [0.5, -0.5] {
        for (along, aside) in [(0.5, 0.5), (-0.5, 0.5), (-0.5, -0.5), (0.5, -0.5)] {
            let (x, y) = (along * a, aside * b);
            let at = Point3::new(cx + cos * x - sin * y, cy + sin * x + cos * y, cz + up * c);
            corners.push(at / 1e3);
        }
    }
    corners
}

/// A drawing of the hands about the thing of `key`, with what stands near it: the chosen hand bold, those that were passed over dashed. Empty
/// when there is nothing to draw.
pub(super) fn sketch(hands: &[Hand], key: &str, things: &[Seen]) -> String {
    let mut html = String::new();
    let thing = things.iter().find(|thing| thing.key == key);
    let mut focus: Vec<Point3<f64>> = hands.iter().flat_map(Hand::lines).flatten().collect();
    focus.extend(thing.into_iter().flat_map(corners));
    focus.retain(is_sane);
    if focus.is_empty() {
        return html;
    }
    let is_near = |other: &&Seen| {
        let [x, y, z] = other.center_mm;
        let reach = NEAR + Point3::from(other.size_mm).coords.norm() / 2e3;
        let at = Point3::new(x, y, z) / 1e3;
        other.key == key || (other.is_there && focus.iter().any(|near| (near - at).norm() < reach))
    };
    let near: Vec<&Seen> = things.iter().filter(is_near).collect();
    html.push_str("<div class=\"wide\">");
    for view in VIEWS {
        let legend = if hands.is_empty() { "" } else { legend(hands) };
        figure(&mut html, view, hands, (&[key.to_owned()], &near), &focus, legend);
    }
    html.push_str("</div>");
    html
}

/// A drawing of the whole map from above, with the things of `keys` apart from the others. Empty when nothing was seen.
pub(super) fn overview(keys: &[String], things: &[Seen]) -> String {
    let mut html = String::new();
    let shown: Vec<&Seen> =
        things.iter().filter(|thing| thing.is_there || keys.contains(&thing.key)).collect();
    let focus: Vec<Point3<f64>> = shown.iter().flat_map(|thing| corners(thing)).filter(is_sane).collect();
    if !focus.is_empty() {
        let legend = ": the map, with what this is about in colour";
        figure(&mut html, VIEWS[0], &[], (keys, &shown), &focus, legend);
    }
    html
}

fn is_sane(at: &Point3<f64>) -> bool {
    at.coords.iter().all(|value| value.is_finite() && value.abs() < 100.0)
}

fn figure(
    html: &mut String,
    view: View,
    hands: &[Hand],
    things: (&[String], &[&Seen]),
    focus: &[Point3<f64>],
    legend: &str,
) {
    html.push_str("<figure>");
    draw(html, view, hands, things, focus);
    let _ = write!(html, "<figcaption>{}{}</figcaption></figure>", view.name, escape(legend));
}

fn legend(hands: &[Hand]) -> &'static str {
    if hands.iter().any(|hand| hand.is_chosen) {
        ": the chosen hand bold, others grey, those that were tried and passed over dashed"
    } else {
        ": hands of which none was taken; those that were tried and passed over dashed"
    }
}

fn draw(
    html: &mut String,
    view: View,
    hands: &[Hand],
    (keys, things): (&[String], &[&Seen]),
    focus: &[Point3<f64>],
) {
    let seen: Vec<Point2<f64>> = focus.iter().map(view.project).collect();
    let side = |of: fn(&Point2<f64>) -> f64| {
        let low = seen.iter().map(of).fold(f64::INFINITY, f64::min) - MARGIN;
        let high = seen.iter().map(of).fold(f64::NEG_INFINITY, f64::max) + MARGIN;
        (low, high)
    };
    let ((left, right), (low, high)) = (side(|at| at.x), side(|at| at.y));
    let scale = SCALE.min(LONGEST / (right - left).max(high - low));
    let (width, height) = (scale * (right - left), scale * (high - low));
    let pixel = |at: &Point3<f64>| {
        let at = (view.project)(at);
        Point2::new(scale * (at.x - left), scale * (high - at.y))
    };
    // Writing to a string does not fail.
    let _ = write!(
        html,
        "<svg class=\"sketch\" viewBox=\"0 0 {width:.0} {height:.0}\" role=\"img\" aria-label=\"hands {}\">",
        view.name
    );
    for thing in things {
        let all = corners(thing);
        let shown: Vec<Point2<f64>> = all.iter().map(pixel).collect();
        let is_meant = keys.contains(&thing.key);
        let class = if is_meant { "its" } else { "by" };
        let outline = if view.is_above { shown[..4].to_vec() } else { bounds(&shown) };
        let points: Vec<String> = outline.iter().map(|at| format!("{:.1},{:.1}", at.x, at.y)).collect();
        let _ = write!(html, "<polygon class=\"{class}\" points=\"{}\"/>", points.join(" "));
        let middle = outline.iter().fold(Point2::origin(), |sum, at| sum + at.coords / outline.len() as f64);
        let [a, b, c] = thing.size_mm;
        let size = if is_meant { format!(", {a:.0} by {b:.0} by {c:.0} mm") } else { String::new() };
        let _ = write!(
            html,
            "<text x=\"{:.1}\" y=\"{:.1}\">{}{size}</text>",
            middle.x,
            middle.y,
            escape(&thing.key)
        );
    }
    for hand in hands {
        let class = match (hand.is_chosen, &hand.missed) {
            (true, _) => "taken",
            (false, Some(_)) => "missed",
            (false, None) => "other",
        };
        let _ = write!(html, "<path class=\"{class}\" d=\"");
        for [from, to] in hand.lines() {
            let (from, to) = (pixel(&from), pixel(&to));
            let _ = write!(html, "M{:.1} {:.1}L{:.1} {:.1}", from.x, from.y, to.x, to.y);
        }
        html.push_str("\">");
        if let Some(why) = &hand.missed {
            let _ = write!(html, "<title>{}</title>", escape(why));
        }
        html.push_str("</path>");
    }
    html.push_str("</svg>");
}

/// The rectangle round some points.
fn bounds(points: &[Point2<f64>]) -> Vec<Point2<f64>> {
    let low = points.iter().fold(Point2::new(f64::INFINITY, f64::INFINITY), |a, b| a.inf(b));
    let high = points.iter().fold(Point2::new(f64::NEG_INFINITY, f64::NEG_INFINITY), |a, b| a.sup(b));
    vec![low, Point2::new(high.x, low.y), high, Point2::new(low.x, high.y)]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn thing(key: &str, x: f64) -> Seen {
        Seen {
            key: key.to_owned(),
            center_mm: [x, 0.0, 50.0],
            size_mm: [80.0, 40.0, 100.0],
            turn_deg: Some(90.0),
            is_there: true,
            ..Seen::default()
        }
    }

    fn hand(x: f64, is_chosen: bool, missed: Option<&str>) -> Hand {
        let missed = missed.map(str::to_owned);
        Hand { position: [x, 0.0, 0.1], rotation: [1.0, 0.0, 0.0, 0.0], opening: 0.05, is_chosen, missed }
    }

    #[test]
    fn what_was_passed_over_is_apart_from_what_was_chosen_and_says_why() {
        let hands = [hand(0.41, false, Some("outside <the> workspace")), hand(0.4, true, None)];
        let things = [thing("mug_0", 400.0), thing("plate_0", 450.0), thing("far_0", 4000.0)];
        let drawn = sketch(&hands, "mug_0", &things);
        assert_eq!(drawn.matches("<svg").count(), 2);
        assert_eq!(drawn.matches("class=\"taken\"").count(), 2);
        assert_eq!(drawn.matches("<title>outside &lt;the&gt; workspace</title>").count(), 2);
        assert!(drawn.contains("plate_0") && !drawn.contains("far_0"), "{drawn}");
        assert!(sketch(&[], "nothing", &things).is_empty());
    }

    #[test]
    fn a_box_is_turned_as_the_thing_is() {
        let corners = corners(&thing("mug_0", 400.0));
        let (low, high) = corners
            .iter()
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), at| (low.min(at.x), high.max(at.x)));
        assert!((high - low - 0.04).abs() < 1e-9, "its long side lies across: {}", high - low);
    }
}
