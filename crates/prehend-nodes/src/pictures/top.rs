//! A map from above.

use nalgebra::{Isometry3, Point2, Point3};
use prehend_drawing::overlay::{self, Annotation};
use prehend_geometry::ColorImage;
use prehend_scene::ObjectMap;

/// Longer side of the picture, and room around what it shows, pixels.
const SIDE: f64 = 900.0;
const MARGIN: f64 = 60.0;
/// Least side of what is shown, metres.
const LEAST: f64 = 0.2;
/// Lengths a scale bar may have, metres.
const BARS: [f64; 9] = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0];
/// Width that the scale bar and its text take, pixels.
const LEGEND: f64 = 420.0;
const GROUND: [u8; 3] = [32, 34, 38];
const INK: [u8; 3] = [230, 230, 230];

/// Where the map's x and y fall: x is up, y is left, as in front of a robot that looks along x.
struct Sheet {
    low: Point2<f64>,
    high: Point2<f64>,
    /// Pixels of a metre.
    scale: f64,
}

impl Sheet {
    fn around(points: impl Iterator<Item = Point2<f64>>) -> Self {
        let (mut low, mut high) = (Point2::new(f64::MAX, f64::MAX), Point2::new(f64::MIN, f64::MIN));
        for point in points {
            (low, high) = (low.inf(&point), high.sup(&point));
        }
        if low.x > high.x {
            (low, high) = (Point2::origin(), Point2::origin());
        }
        let grow = ((high - low).map(|side| (LEAST - side).max(0.0))) / 2.0;
        (low, high) = (low - grow, high + grow);
        let scale = (SIDE - 2.0 * MARGIN) / (high - low).max();
        let narrow = (LEGEND / scale - (high.y - low.y)).max(0.0) / 2.0;
        (low.y, high.y) = (low.y - narrow, high.y + narrow);
        Self { low, high, scale }
    }

    fn pixel(&self, x: f64, y: f64) -> [f64; 2] {
        [MARGIN + (self.high.y - y) * self.scale, MARGIN + (self.high.x - x) * self.scale]
    }

    fn size(&self) -> (usize, usize) {
        let sides = (self.high - self.low) * self.scale;
        // Room for the scale bar at the bottom.
        ((sides.y + 2.0 * MARGIN) as usize, (sides.x + 3.0 * MARGIN) as usize)
    }
}

/// The objects of a map from above, in their own colours, with footprints, keys, camera positions (crosses, with a line where each
/// looks) and a scale bar. x is up and y is left.
pub fn top_view(map: &ObjectMap, cameras: &[Isometry3<f64>]) -> ColorImage {
    let shown = map.objects.iter().flat_map(|object| object.cloud.points.iter().map(|p| p.xy()));
    let sheet = Sheet::around(shown.chain(cameras.iter().map(|pose| pose.translation.vector.xy().into())));
    let (width, height) = sheet.size();
    let mut image = ColorImage::filled(width, height, GROUND);
    let radius = (0.0015 * sheet.scale).max(0.5);
    for object in &map.objects {
        let own = object.cloud.colors.len() == object.cloud.len();
        let mut order: Vec<usize> = (0..object.cloud.len()).collect();
        order.sort_by(|a, b| object.cloud.points[*a].z.total_cmp(&object.cloud.points[*b].z));
        for index in order {
            let color = if own { object.cloud.colors[index] } else { object.color };
            let point = object.cloud.points[index];
            overlay::draw_dot(&mut image, sheet.pixel(point.x, point.y), radius, color);
        }
    }
    for pose in cameras {
        let [u, v] = sheet.pixel(pose.translation.x, pose.translation.y);
        for [du, dv] in [[6.0, 0.0], [0.0, 6.0]] {
            overlay::draw_line(&mut image, [u - du, v - dv], [u + du, v + dv], 1.0, INK);
        }
        let ahead = pose * Point3::new(0.0, 0.0, 30.0 / sheet.scale);
        overlay::draw_line(&mut image, [u, v], sheet.pixel(ahead.x, ahead.y), 0.5, INK);
    }
    let annotations: Vec<Annotation> = map
        .objects
        .iter()
        .enumerate()
        .map(|(number, object)| {
            let corner = |x: f64, y: f64| {
                let size = object.bounds.size / 2.0;
                let corner = object.bounds.pose * Point3::new(x * size.x, y * size.y, 0.0);
                sheet.pixel(corner.x, corner.y)
            };
            let ring = [(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0), (-1.0, -1.0)];
            Annotation {
                label: super::label(object),
                color: overlay::PALETTE[number % overlay::PALETTE.len()],
                lines: vec![ring.iter().map(|(x, y)| corner(*x, *y)).collect()],
                ..Annotation::default()
            }
        })
        .collect();
    overlay::annotate(&mut image, &annotations);
    draw_bar(&mut image, sheet.scale);
    image
}

/// A bar of a round length near a fifth of the picture, with its length beside it.
fn draw_bar(image: &mut ColorImage, scale: f64) {
    let wanted = SIDE / 5.0 / scale;
    let length = BARS.iter().copied().rev().find(|bar| *bar <= wanted).unwrap_or(BARS[0]);
    let (left, bottom) = (MARGIN / 2.0, image.height as f64 - MARGIN / 2.0);
    let right = left + length * scale;
    overlay::draw_line(image, [left, bottom], [right, bottom], 1.0, INK);
    for end in [left, right] {
        overlay::draw_line(image, [end, bottom - 6.0], [end, bottom + 6.0], 1.0, INK);
    }
    let text = format!("{:.0} mm, x up, y left", length * 1e3);
    overlay::draw_text(image, right as i64 + 10, bottom as i64 - 7, &text, 2, INK);
}

#[cfg(test)]
mod tests {
    use super::*;
    use nalgebra::Vector3;
    use prehend_geometry::{OrientedBox, PointCloud};
    use prehend_scene::Object;

    #[test]
    fn x_is_up_y_is_left_and_a_metre_is_the_same_both_ways() {
        let points = [Point2::new(0.0, 0.0), Point2::new(0.5, 1.0)];
        let sheet = Sheet::around(points.into_iter());
        let ([u0, v0], [u1, v1]) = (sheet.pixel(0.0, 0.0), sheet.pixel(0.5, 1.0));
        assert!(u1 < u0 && v1 < v0);
        assert!(((u0 - u1) - 2.0 * (v0 - v1)).abs() < 1e-9, "{u0} {u1} {v0} {v1}");
        // What is long and narrow leaves room for the words beside the bar.
        let narrow = Sheet::around([Point2::new(0.0, 0.0), Point2::new(2.0, 0.01)].into_iter());
        assert!(narrow.size().0 as f64 >= LEGEND + 2.0 * MARGIN - 1.0, "{:?}", narrow.size());
    }

    #[test]
    fn an_empty_map_has_a_picture_and_an_object_its_colour() {
        let empty = top_view(&ObjectMap::default(), &[]);
        assert_eq!(empty.pixels.len(), empty.width * empty.height);
        let red = [200, 10, 10];
        let cloud = PointCloud { points: vec![Point3::new(0.1, 0.2, 0.3)], colors: vec![red] };
        let bounds = OrientedBox { pose: Isometry3::translation(0.1, 0.2, 0.3), size: Vector3::repeat(0.1) };
        let objects = vec![Object::unnamed("can_0".into(), cloud, bounds)];
        let picture = top_view(&ObjectMap { objects, ..ObjectMap::default() }, &[]);
        assert!(picture.pixels.contains(&red));
    }
}
