//! Drawers and doors in the map: what they belong to, and how far open they are, by geometry alone.
//!
//! Map frame, metres and radians. A drawer is an object of its own; its cabinet is the object whose box it lies in or
//! sticks out of.

mod hinge;
mod sweep;

pub use hinge::{Hinge, hinge, is_door};
pub use sweep::{Sweep, sweep};

use crate::{Object, ObjectMap, spatial};
use nalgebra::{Point3, Vector3};
use prehend_geometry::LevelSpread;

/// How far a part may lie outside the height range of its whole, metres.
const HEIGHT_MARGIN: f64 = 0.03;
/// Greatest horizontal gap between a part and its whole, metres.
const PART_GAP: f64 = 0.06;
/// Farthest a panel stands out of its whole, metres.
const TRAVEL: f64 = 0.4;
/// Least offset of a front from the front of its cabinet that is open, metres.
const OPEN_OFFSET: f64 = 0.03;
/// Least offset and angle from which a hand goes in, as opening is meant, metres and radians: what is less open is ajar.
const WIDE: (f64, f64) = (0.07, 0.6);
/// Greatest offset of a drawer's front that is closed for sure, metres, and the least share of the drawer that its front spans then.
const CLOSED: (f64, f64) = (0.02, 0.6);
/// Least depth of what is more than a front, metres.
const DEEP: f64 = 0.10;
/// Least width of what a drawer or door belongs to, when only its top was seen, as a share of the drawer's.
const AS_WIDE: f64 = 0.7;
/// Share of a thing's points in the box of a drawer from which it is something of that drawer, and the margin, metres.
const OF_PANEL: (f64, f64) = (0.6, 0.01);
/// Least face of a drawer or door as a share of the largest beside it: what is less is a piece of one, seen past another.
const PIECE: f64 = 0.3;
/// Most points of a thing that are asked whether they are in a drawer.
const SAMPLE: usize = 500;
/// Share of a thing's points in the box of another of its name from which it is a scrap of that one: two that stand side by side
/// share no room.
const SCRAP: f64 = 0.4;
/// Thickness of a front as it is seen, metres.
const LAYER: f64 = 0.008;
/// Least angle of a door against the front of its cabinet that is open, radians.
const OPEN_ANGLE: f64 = 0.2;

/// Least cosine between the way a closed door looks and a side of its whole.
const PARALLEL: f64 = 0.96;

/// Classes of things that slide or turn in something larger, by the last word of their names.
const PANELS: [&str; 7] = ["drawer", "door", "flap", "hatch", "gate", "layer", "shutter"];

/// Whether things of this class move in something larger and look alike side by side: what is known of them is where they are now,
/// and two that meet are two.
pub fn is_panel(class: &str) -> bool {
    class.rsplit([' ', '_']).next().is_some_and(|last| PANELS.contains(&last))
}

/// Area of the face of a drawer or door by its box, square metres.
pub fn face_of(panel: &Object) -> f64 {
    spatial::length_of(panel) * spatial::height_of(panel)
}

/// Drawers and doors of one thing without pieces of others.
pub fn without_pieces(mut panels: Vec<&Object>) -> Vec<&Object> {
    let largest = panels.iter().map(|panel| face_of(panel)).fold(0.0, f64::max);
    panels.retain(|panel| face_of(panel) >= PIECE * largest);
    panels
}

/// How far open something is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Opening {
    /// How far its front stands before the front of what it belongs to, metres; of a door the offset of its middle.
    pub offset: f64,
    /// Angle between its front and the front of what it belongs to, radians.
    pub angle: f64,
    /// Outward horizontal unit normal of the front of what it belongs to.
    pub outward: Vector3<f64>,
    /// Width of the face it was judged by, as a share of the longer horizontal side of all that was seen of it.
    pub breadth: f64,
}

impl Opening {
    /// Whether that counts as open.
    pub fn is_open(&self) -> bool {
        self.offset > OPEN_OFFSET || self.angle > OPEN_ANGLE
    }

    /// Whether it is neither closed nor as open as an opening makes it.
    pub fn is_ajar(&self) -> bool {
        self.is_open() && self.offset < WIDE.0 && self.angle < WIDE.1
    }

    /// Whether that counts as closed for sure: a fragment of a drawer, or a front that stands out a little, says neither.
    pub fn is_surely_closed(&self) -> bool {
        !self.is_open() && self.offset.abs() < CLOSED.0 && self.breadth >= CLOSED.1
    }
}

/// Whether `part` is a part of `whole` by geometry: smaller, within its height, in its box or right before it.
pub fn is_part_of(part: &Object, whole: &Object) -> bool {
    if part.key == whole.key || is_panel(&whole.class_name) {
        return false;
    }
    let range = |object: &Object| {
        let middle = object.bounds.pose.translation.z;
        (middle - object.bounds.size.z / 2.0, middle + object.bounds.size.z / 2.0)
    };
    let ((low, high), (floor, top)) = (range(part), range(whole));
    // Of what stands behind its fronts only the top may be seen.
    let wide = |object: &Object| object.bounds.size.x.max(object.bounds.size.y);
    let is_below = is_panel(&part.class_name)
        && high <= top + HEIGHT_MARGIN
        && wide(whole) >= AS_WIDE * wide(part)
        && whole.bounds.size.x.min(whole.bounds.size.y) >= DEEP
        && stands_before(part, whole);
    if is_below {
        return true;
    }
    if part.bounds.size.z > whole.bounds.size.z + HEIGHT_MARGIN {
        return false;
    }
    let smaller =
        part.bounds.volume() < whole.bounds.volume() || part.bounds.size.z < 0.8 * whole.bounds.size.z;
    smaller
        && low >= floor - HEIGHT_MARGIN
        && high <= top + HEIGHT_MARGIN
        && (is_panel(&part.class_name) && stands_before(part, whole)
            || box_gap(part, whole) <= PART_GAP / 2.0
            || spatial::gap(part, whole) <= PART_GAP)
}

/// Whether the middle of a panel is in the box of `whole` or straight before one of its sides: of an open drawer only the front may
/// be seen.
fn stands_before(part: &Object, whole: &Object) -> bool {
    let local = whole.bounds.pose.inverse_transform_point(&spatial::centre(part));
    let (x, y) = (local.x.abs() - whole.bounds.size.x / 2.0, local.y.abs() - whole.bounds.size.y / 2.0);
    x <= HEIGHT_MARGIN && y <= TRAVEL || y <= HEIGHT_MARGIN && x <= TRAVEL
}

/// Horizontal distance of the nearest point of `part` to the box of `whole`, metres.
fn box_gap(part: &Object, whole: &Object) -> f64 {
    let half = whole.bounds.size / 2.0;
    let outside = |p: &Point3<f64>| {
        let local = whole.bounds.pose.inverse_transform_point(p);
        (local.x.abs() - half.x).max(0.0).hypot((local.y.abs() - half.y).max(0.0))
    };
    part.cloud.points.iter().map(outside).fold(f64::INFINITY, f64::min)
}

/// The object that a drawer or door belongs to: of those it is a part of the one it lies deepest in, a larger one only when it is
/// no part itself. What lies in another of its name is no whole, nor is what lies in a drawer while there is another.
pub fn whole_of<'m>(part: &Object, map: &'m ObjectMap) -> Option<&'m Object> {
    let panels = || map.objects.iter().filter(|other| is_panel(&other.class_name));
    let can_be = |other: &&Object| {
        other.class_name != part.class_name
            && is_part_of(part, other)
            && !panels().any(|panel| lies_in(other, panel, OF_PANEL.0))
    };
    let mut wholes: Vec<&Object> = map.objects.iter().filter(can_be).collect();
    let slides_along = |whole: &&Object| panels().any(|drawer| is_content(whole, drawer));
    if !wholes.iter().all(slides_along) {
        wholes.retain(|whole| !slides_along(whole));
    }
    // What lies in another of its name is what was seen of that one alone: an inner wall through an open drawer.
    let is_scrap = |whole: &Object| {
        let lies = |other: &Object| is_part_of(whole, other) && lies_in(whole, other, SCRAP);
        wholes.iter().any(|other| other.class_name == whole.class_name && lies(other))
    };
    wholes.iter().copied().filter(|whole| !is_scrap(whole)).min_by(|a, b| {
        let near = |whole: &Object| {
            (spatial::centre(part) - spatial::centre(whole)).norm() / spatial::length_of(whole).max(1e-3)
        };
        near(a).total_cmp(&near(b))
    })
}

/// Whether something is what lies in a drawer, or what was seen of its hollow: it is within the height and the breadth of the drawer,
/// however far it reaches along the drawer's way.
fn is_content(object: &Object, drawer: &Object) -> bool {
    if is_door(&drawer.class_name) || object.key == drawer.key {
        return false;
    }
    let half = drawer.bounds.size / 2.0;
    let step = object.cloud.len().div_ceil(SAMPLE).max(1);
    let points: Vec<&Point3<f64>> = object.cloud.points.iter().step_by(step).collect();
    let share_within = |half_across: f64, across: fn(&Point3<f64>) -> f64| {
        let is_within = |point: &&&Point3<f64>| {
            let local = drawer.bounds.pose.inverse_transform_point(point);
            across(&local).abs() <= half_across + OF_PANEL.1 && local.z.abs() <= half.z + OF_PANEL.1
        };
        points.iter().filter(is_within).count() as f64 / points.len().max(1) as f64
    };
    // Which of its sides is its front the box alone does not tell.
    share_within(half.x, |p| p.x).max(share_within(half.y, |p| p.y)) >= OF_PANEL.0
}

/// Whether at least this share of an object's points is in the box of another.
pub fn lies_in(object: &Object, other: &Object, share: f64) -> bool {
    let points = &object.cloud.points;
    let within = points.iter().filter(|point| other.bounds.contains(point, OF_PANEL.1)).count();
    !points.is_empty() && within as f64 >= share * points.len() as f64
}

/// How far a drawer or door stands open; `None` when what it belongs to is not seen, or too little of either.
pub fn opening(part: &Object, map: &ObjectMap) -> Option<Opening> {
    let whole = whole_of(part, map)?;
    let outward = outward_of(part, whole, map)?;
    let siblings = || {
        map.objects
            .iter()
            .filter(|other| other.key != part.key && other.class_name == part.class_name)
            .filter(|other| whole_of(other, map).is_some_and(|w| w.key == whole.key))
    };
    let carcass = quantile(whole.cloud.points.iter().map(|p| p.coords.dot(&outward)).collect(), 0.95)?;
    let place = front_of(part, &outward)?;
    // Overlaid fronts stand a little before the carcass: closed siblings tell by how much.
    let front = siblings()
        .filter_map(|sibling| front_of(sibling, &outward))
        .filter(|front| (front - carcass).abs() < OPEN_OFFSET)
        .fold(carcass, f64::max);
    let angle = facing(part).map_or(0.0, |normal| normal.dot(&outward).abs().clamp(0.0, 1.0).acos());
    // A drawer's front stays parallel; what is seen of its inside is no tilt.
    let angle = if part.class_name.ends_with("door") || part.class_name.is_empty() { angle } else { 0.0 };
    let across = Vector3::z().cross(&outward);
    let face = part.cloud.points.iter().filter(|p| (p.coords.dot(&outward) - place).abs() <= LAYER);
    let face: Vec<f64> = face.map(|p| p.coords.dot(&across)).collect();
    let width = quantile(face.clone(), 0.98)? - quantile(face, 0.02)?;
    let breadth = width / part.bounds.size.x.max(part.bounds.size.y).max(1e-3);
    Some(Opening { offset: place - front, angle, outward, breadth })
}

/// Least cosine between the way a front looks and the way to the camera at which its face, and not its edge, was seen.
const FACE_ON: f64 = 0.35;

/// Whether the face of a drawer or door was seen, rather than its edge: a door that stands open looks as if it were the closed one of
/// the side it stands at. The camera is taken to be at [`Object::viewer`].
pub fn shows_face(part: &Object, opening: &Opening) -> bool {
    let way = (part.viewer() - spatial::centre(part)).xy();
    let outward = opening.outward.xy();
    way.norm() > 1e-6 && way.dot(&outward) >= FACE_ON * way.norm() * outward.norm()
}

/// Outward horizontal normal of the front of a whole: the side that a closed door covers, else of the four sides of its box the one
/// its fronts lie at.
fn outward_of(part: &Object, whole: &Object, map: &ObjectMap) -> Option<Vector3<f64>> {
    let axes = [Vector3::x(), Vector3::y()].map(|axis| {
        let turned = whole.bounds.pose.rotation * axis;
        Vector3::new(turned.x, turned.y, 0.0)
    });
    if is_door(&part.class_name)
        && let Some(outward) = covered(part, whole)
        && let Some(axis) = axes.iter().find(|axis| axis.dot(&outward).abs() >= PARALLEL * axis.norm())
    {
        return (axis * axis.dot(&outward).signum()).try_normalize(1e-6);
    }
    let half = [whole.bounds.size.x / 2.0, whole.bounds.size.y / 2.0];
    let centre = spatial::centre(whole);
    let fronts = map.objects.iter().filter(|other| {
        other.class_name == part.class_name && (other.key == part.key || is_part_of(other, whole))
    });
    let mut scores = [0.0_f64; 4];
    for front in fronts {
        let offset = spatial::centre(front) - centre;
        for (index, score) in scores.iter_mut().enumerate() {
            let sign = if index % 2 == 0 { 1.0 } else { -1.0 };
            *score += sign * offset.dot(&axes[index / 2]) / half[index / 2].max(0.02);
        }
    }
    let best = (0..4).max_by(|a, b| scores[*a].total_cmp(&scores[*b]))?;
    let sign = if best % 2 == 0 { 1.0 } else { -1.0 };
    (axes[best / 2] * sign).try_normalize(1e-6)
}

/// Where a door looks behind whose leaf the middle of its whole is, as it is of a closed one: one that stands wide open has it beyond
/// its inner edge. The points and not their box tell: those of the leaf where it stood before may still be among them.
fn covered(door: &Object, whole: &Object) -> Option<Vector3<f64>> {
    let normal = facing(door)?;
    let along = Vector3::new(-normal.y, normal.x, 0.0);
    let places = |object: &Object, axis: &Vector3<f64>| -> Vec<f64> {
        object.cloud.points.iter().map(|p| p.coords.dot(axis)).collect()
    };
    let leaf = quantile(places(door, &normal), 0.5)?;
    let edges = [quantile(places(door, &along), 0.02)?, quantile(places(door, &along), 0.98)?];
    let off_leaf = |p: &&Point3<f64>| (p.coords.dot(&normal) - leaf).abs() > OPEN_OFFSET;
    let middle = |axis: &Vector3<f64>| {
        quantile(whole.cloud.points.iter().filter(off_leaf).map(|p| p.coords.dot(axis)).collect(), 0.5)
    };
    let beside = middle(&along)?;
    let behind = middle(&normal)? - leaf;
    (edges[0]..=edges[1]).contains(&beside).then(|| -normal * behind.signum())
}

/// Where the front lies along a direction: the outermost layer with many points. What is seen of the inside of an open drawer
/// is spread over many layers, and a handle is small.
fn front_of(part: &Object, outward: &Vector3<f64>) -> Option<f64> {
    let mut places: Vec<f64> =
        part.cloud.points.iter().map(|p| p.coords.dot(outward)).filter(|v| v.is_finite()).collect();
    places.sort_by(f64::total_cmp);
    // Points of the layer that ends at each place.
    let mut first = 0;
    let layers: Vec<usize> = (0..places.len())
        .map(|last| {
            while places[last] - places[first] > LAYER {
                first += 1;
            }
            last + 1 - first
        })
        .collect();
    let most = *layers.iter().max()?;
    let outermost = layers.iter().rposition(|count| 2 * count >= most)?;
    quantile(
        places
            .iter()
            .copied()
            .filter(|v| (places[outermost] - LAYER..=places[outermost]).contains(v))
            .collect(),
        0.5,
    )
}

/// The value that this share of all are less than.
fn quantile(mut values: Vec<f64>, share: f64) -> Option<f64> {
    values.retain(|value| value.is_finite());
    values.sort_by(f64::total_cmp);
    let last = values.len().checked_sub(1)?;
    values.get((last as f64 * share).round() as usize).copied()
}

/// Horizontal normal of the upright plane most of a cloud lies in: the direction in which it is thinnest.
fn facing(part: &Object) -> Option<Vector3<f64>> {
    let points = &part.cloud.points;
    if points.len() < 20 {
        return None;
    }
    LevelSpread::of(points.iter()).map(|spread| spread.across)
}

#[cfg(test)]
mod tests {
    use super::*;
    use prehend_geometry::{OrientedBox, PointCloud};

    fn object(key: &str, class: &str, points: Vec<Point3<f64>>) -> Object {
        let bounds = OrientedBox::upright_around(&points).expect("points");
        Object {
            class_name: class.to_owned(),
            confidence: 1.0,
            view_count: 1,
            ..Object::unnamed(key.into(), PointCloud::from_points(points), bounds)
        }
    }

    /// A patch of points between two corners, about 5 mm apart.
    fn patch(low: [f64; 3], high: [f64; 3]) -> Vec<Point3<f64>> {
        let steps = |axis: usize| ((high[axis] - low[axis]) / 0.005).round() as usize;
        let at = |axis: usize, i: usize| {
            if steps(axis) == 0 {
                low[axis]
            } else {
                low[axis] + (high[axis] - low[axis]) * i as f64 / steps(axis) as f64
            }
        };
        let mut out = Vec::new();
        for i in 0..=steps(0) {
            for j in 0..=steps(1) {
                for k in 0..=steps(2) {
                    out.push(Point3::new(at(0, i), at(1, j), at(2, k)));
                }
            }
        }
        out
    }

    /// A cabinet at x 0.6 to 0.8, its front toward the robot, with two drawers one above the other; the upper pulled out.
    fn cabinet(pulled: f64, turned: f64) -> ObjectMap {
        let turn = nalgebra::Rotation3::from_axis_angle(&Vector3::z_axis(), turned);
        let place = |points: Vec<Point3<f64>>| -> Vec<Point3<f64>> {
            let middle = Vector3::new(0.7, 0.0, 0.0);
            points.into_iter().map(|p| turn * (p - middle) + middle).collect()
        };
        let mut carcass = patch([0.6, -0.12, 0.3], [0.8, 0.12, 0.3]);
        for y in [-0.12, 0.12] {
            carcass.extend(patch([0.6, y, 0.0], [0.61, y, 0.3]));
        }
        let drawer = |low: f64, pulled: f64| {
            let front = 0.597 - pulled;
            let mut points = patch([front, -0.11, low], [front, 0.11, low + 0.12]);
            // The handle, and the floor and sides of what is out.
            points.extend(patch([front - 0.03, -0.05, low + 0.055], [front - 0.03, 0.05, low + 0.065]));
            if pulled > 0.01 {
                points.extend(patch([front, -0.11, low + 0.01], [0.597, 0.11, low + 0.01]));
            }
            place(points)
        };
        ObjectMap {
            objects: vec![
                object("cabinet_0", "wooden cabinet", place(carcass)),
                object("drawer_0", "drawer", drawer(0.02, 0.0)),
                object("drawer_1", "drawer", drawer(0.16, pulled)),
                object("apple_0", "apple", patch([0.4, 0.2, 0.0], [0.45, 0.25, 0.05])),
            ],
            ..ObjectMap::default()
        }
    }

    #[test]
    fn drawers_belong_to_their_cabinet_and_tell_how_open_they_are() {
        for turned in [0.0, 0.3, -0.5] {
            for pulled in [0.0, 0.005, 0.05, 0.08, 0.15] {
                let map = cabinet(pulled, turned);
                let at = |key: &str| map.get(&key.into()).expect("in the map");
                for key in ["drawer_0", "drawer_1"] {
                    let whole = whole_of(at(key), &map).map(|whole| whole.key.0.as_str());
                    assert_eq!(whole, Some("cabinet_0"), "{key} {pulled} {turned}");
                }
                let closed = opening(at("drawer_0"), &map).expect("seen");
                let upper = opening(at("drawer_1"), &map).expect("seen");
                assert!(!closed.is_open(), "{pulled} {turned}: {closed:?}");
                assert_eq!(upper.is_open(), pulled > 0.03, "{pulled} {turned}: {upper:?}");
                assert_eq!(upper.is_ajar(), pulled == 0.05, "{pulled} {turned}: {upper:?}");
                let outward =
                    nalgebra::Rotation3::from_axis_angle(&Vector3::z_axis(), turned) * -Vector3::x();
                assert!(upper.outward.dot(&outward) > 0.99, "{turned}: {:?}", upper.outward);
                assert!(shows_face(at("drawer_1"), &upper), "{turned}");
                let aside = Opening { outward: Vector3::z().cross(&outward), ..upper };
                assert!(turned != 0.0 || !shows_face(at("drawer_1"), &aside), "{turned}");
            }
        }
    }

    /// The hollow of an open drawer, called a box, reaches farther back than what was seen of the drawer.
    #[test]
    fn what_is_in_a_drawer_is_not_what_the_drawer_is_in() {
        let mut map = cabinet(0.15, 0.0);
        let mut hollow = patch([0.47, -0.1, 0.17], [0.67, 0.1, 0.17]);
        hollow.extend(patch([0.67, -0.1, 0.17], [0.67, 0.1, 0.25]));
        map.objects.push(object("box_0", "box", hollow));
        let whole = whole_of(map.get(&"drawer_1".into()).expect("in the map"), &map);
        assert_eq!(whole.map(|whole| whole.key.0.as_str()), Some("cabinet_0"));
        // Were it all that is seen, it would be the whole.
        map.objects.remove(0);
        let whole = whole_of(map.get(&"drawer_1".into()).expect("in the map"), &map);
        assert_eq!(whole.map(|whole| whole.key.0.as_str()), Some("box_0"));
    }

    #[test]
    fn a_scrap_of_the_cabinet_in_a_drawer_is_no_whole_and_a_smaller_cabinet_beside_it_is() {
        let mut map = cabinet(0.15, 0.0);
        let whole_of_upper = |map: &ObjectMap| {
            let drawer = map.get(&"drawer_1".into()).expect("in the map");
            whole_of(drawer, map).map(|whole| whole.key.0.clone())
        };
        map.objects.push(object("cabinet_1", "wooden cabinet", patch([0.58, -0.1, 0.16], [0.72, 0.1, 0.27])));
        assert_eq!(whole_of_upper(&map).as_deref(), Some("cabinet_0"));
        let beside = patch([0.6, 0.14, 0.0], [0.8, 0.34, 0.25]).into_iter();
        let beside = beside.chain(patch([0.6, 0.14, 0.25], [0.8, 0.34, 0.25])).collect();
        map.objects[4] = object("cabinet_1", "wooden cabinet", beside);
        map.objects.push(object("drawer_2", "drawer", patch([0.59, 0.15, 0.14], [0.59, 0.33, 0.24])));
        let other = whole_of(map.get(&"drawer_2".into()).expect("in the map"), &map);
        assert_eq!(other.map(|whole| whole.key.0.as_str()), Some("cabinet_1"));
        assert_eq!(whole_of_upper(&map).as_deref(), Some("cabinet_0"));
    }

    /// A cabinet with its front toward the robot at x 0.6 and a door in it, hinged at the left (`side` 1) or right, open by `angle`.
    fn closet(side: f64, angle: f64) -> ObjectMap {
        let mut carcass = patch([0.6, -0.12, 0.3], [0.8, 0.12, 0.3]);
        for y in [-0.12, 0.12] {
            carcass.extend(patch([0.6, y, 0.0], [0.8, y, 0.3]));
        }
        // In the frame of the hinge, closed: x outward, y towards the free edge.
        let mut door = patch([0.0, 0.0, 0.01], [0.0, 0.23, 0.29]);
        door.extend(patch([0.042, 0.205, 0.10], [0.042, 0.205, 0.20]));
        let (sin, cos) = angle.sin_cos();
        let placed = door.into_iter().map(|p| {
            let (out, along) = (p.x * cos + p.y * sin, p.y * cos - p.x * sin);
            Point3::new(0.594 - out, side * (0.115 - along), p.z)
        });
        ObjectMap {
            objects: vec![
                object("cabinet_0", "cabinet", carcass),
                object("door_0", "door", placed.collect()),
            ],
            ..ObjectMap::default()
        }
    }

    #[test]
    fn a_door_turns_about_the_edge_far_from_its_handle_and_opens_away_from_its_cabinet() {
        for side in [1.0, -1.0] {
            for angle in [0.0, 0.3, 0.8, 1.3] {
                let map = closet(side, angle);
                let found = hinge(map.get(&"door_0".into()).expect("door"), &map).expect("a hinge");
                let at = Point3::new(0.594, side * 0.115, 0.15);
                assert!((found.foot - at).norm() < 0.012, "{side} {angle}: {found:?}");
                assert!((found.angle - angle).abs() < 0.12, "{side} {angle}: {found:?}");
                assert!((found.radius - 0.23).abs() < 0.02, "{side} {angle}: {found:?}");
                // Hinged at the left it opens clockwise, seen from above.
                assert!(found.opens.z * side < -0.99, "{side} {angle}: {found:?}");
            }
        }
        // Behind its closed door nothing but the top of the cabinet is seen.
        let mut map = closet(1.0, 0.0);
        map.objects[0] = object("cabinet_0", "cabinet", patch([0.6, -0.12, 0.29], [0.8, 0.12, 0.3]));
        let found = hinge(map.get(&"door_0".into()).expect("door"), &map).expect("a hinge");
        assert!((found.foot - Point3::new(0.594, 0.115, 0.15)).norm() < 0.012, "{found:?}");
        let map = cabinet(0.1, 0.0);
        assert_eq!(hinge(map.get(&"drawer_1".into()).expect("drawer"), &map), None);
    }

    /// A microwave 0.32 m wide with its front at x 0.635, a door over all but the right fifth of it, hinged at the left and open by
    /// `angle`. The front is hidden by the door; seen are the top, the side to the right and, `stale`, the leaf where it stood
    /// when it was open.
    fn microwave(angle: f64, stale: Option<f64>) -> ObjectMap {
        let leaf = |angle: f64| -> Vec<Point3<f64>> {
            let (sin, cos) = f64::sin_cos(angle);
            // In the frame of the hinge, closed: x outward, y towards the free edge, where the handle is.
            let mut leaf = patch([0.0, 0.0, 0.01], [0.0, 0.24, 0.18]);
            leaf.extend(patch([0.042, 0.215, 0.04], [0.042, 0.215, 0.15]));
            let placed = leaf
                .into_iter()
                .map(|p| Point3::new(0.63 - p.y * sin - p.x * cos, 0.16 - p.y * cos + p.x * sin, p.z));
            placed.collect()
        };
        let mut body = patch([0.635, -0.16, 0.19], [0.855, 0.16, 0.19]);
        body.extend(patch([0.635, -0.16, 0.0], [0.855, -0.16, 0.19]));
        body.extend(stale.map(leaf).unwrap_or_default());
        ObjectMap {
            objects: vec![object("microwave_0", "microwave", body), object("door_0", "door", leaf(angle))],
            ..ObjectMap::default()
        }
    }

    #[test]
    fn a_door_over_the_front_of_its_whole_is_closed_and_one_that_stands_out_from_it_is_not() {
        let check = |angle: f64, stale: Option<f64>, is_open: bool| {
            let map = microwave(angle, stale);
            let found = opening(map.get(&"door_0".into()).expect("door"), &map).expect("seen");
            assert_eq!(found.is_open(), is_open, "{angle} {stale:?}: {found:?}");
            assert!(found.outward.x < -0.99, "{angle} {stale:?}: {found:?}");
            assert!((found.angle - angle).abs() < 0.10, "{angle} {stale:?}: {found:?}");
            let turned = hinge(map.get(&"door_0".into()).expect("door"), &map).expect("a hinge").angle;
            assert!((turned - angle).abs() < 0.10, "{angle} {stale:?}: {turned}");
        };
        for (angle, is_open) in
            [(0.0, false), (0.05, false), (0.5, true), (1.13, true), (1.4, true), (1.57, true)]
        {
            check(angle, None, is_open);
        }
        // Where the open door was seen before, the microwave still seems to reach.
        check(0.0, Some(1.13), false);
        check(0.0, Some(1.57), false);
    }

    #[test]
    fn half_a_drawer_is_not_said_to_be_closed_and_of_a_cabinet_the_top_suffices() {
        let mut map = cabinet(0.0, 0.0);
        let state = |map: &ObjectMap, key: &str| opening(map.get(&key.into()).expect("seen"), map);
        assert!(state(&map, "drawer_1").is_some_and(|opening| opening.is_surely_closed()));
        // Of the cabinet only the top was seen, from above and behind its fronts.
        map.objects[0] = object("cabinet_0", "wooden cabinet", patch([0.6, -0.12, 0.3], [0.8, 0.12, 0.31]));
        assert!(state(&map, "drawer_0").is_some_and(|opening| opening.is_surely_closed()));
        // The side of a drawer alone.
        map.objects[2] = object("drawer_1", "drawer", patch([0.6, 0.09, 0.16], [0.78, 0.11, 0.28]));
        assert!(!state(&map, "drawer_1").is_some_and(|opening| opening.is_surely_closed()));
        // What lies in an open drawer is not what the drawer belongs to.
        let mut map = cabinet(0.15, 0.0);
        map.objects.push(object("box_0", "box", patch([0.46, -0.1, 0.18], [0.58, 0.1, 0.19])));
        let whole = whole_of(map.get(&"drawer_1".into()).expect("seen"), &map).map(|whole| whole.key.clone());
        assert_eq!(whole, Some("cabinet_0".into()));
    }

    #[test]
    fn a_drawer_needs_the_room_before_it_open_or_not() {
        for open in [0.0, 0.15] {
            let map = cabinet(open, 0.0);
            let room = sweep(map.get(&"drawer_1".into()).expect("a drawer"), &map).expect("its room");
            let meets = |x: f64, y: f64| room.meets([x - 0.03, y - 0.03], [x + 0.03, y + 0.03]);
            assert!(meets(0.5, 0.0) && meets(0.4, 0.08), "{open}: {room:?}");
            assert!(!meets(0.25, 0.0) && !meets(0.5, 0.2) && !meets(0.75, 0.0), "{open}: {room:?}");
        }
        let map = cabinet(0.0, 0.0);
        assert_eq!(sweep(map.get(&"cabinet_0".into()).expect("a cabinet"), &map), None);
    }

    #[test]
    fn panels_are_known_by_their_last_word() {
        assert!(is_panel("drawer") && is_panel("microwave door") && is_panel("top_drawer"));
        assert!(!is_panel("door mat") && !is_panel("") && !is_panel("cabinet"));
    }

    #[test]
    fn other_things_are_no_parts() {
        let map = cabinet(0.1, 0.0);
        let apple = map.get(&"apple_0".into()).expect("apple");
        assert!(whole_of(apple, &map).is_none() && opening(apple, &map).is_none());
        let cabinet = map.get(&"cabinet_0".into()).expect("cabinet");
        assert!(whole_of(cabinet, &map).is_none());
    }
}
