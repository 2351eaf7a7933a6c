//! Drawers and doors in the map: what is one, what they belong to, and how far open they are by geometry alone.
//!
//! Map frame, metres and radians. A drawer is an object of its own; its cabinet is the object whose box it lies in or
//! sticks out of.

mod hinge;
mod sweep;
mod usual;

pub use hinge::{Hinge, hinge};
pub use sweep::{PULLED, Sweep, sweep};
pub use usual::{Usual, Vocabulary, install, is_door, is_drawer, is_panel};

use crate::{Object, ObjectMap, spatial};
use nalgebra::{Point3, Vector3};
use prehend_geometry::LevelSpread;
use prehend_geometry::stats::{ascending, nearest_rank};

/// How far a part may lie outside the height range of its whole, metres.
const HEIGHT_MARGIN: f64 = 0.03;
/// Greatest horizontal gap between a part and its whole, metres.
const PART_GAP: f64 = 0.06;
/// Farthest a panel stands out of its whole, metres.
const TRAVEL: f64 = 0.4;
/// Least offset of a front from the front of its cabinet that is open, metres.
const OPEN_OFFSET: f64 = 0.03;
/// Least offset and angle that an opening makes, metres and radians: what is less open is ajar. A skill pulls a drawer by 90 mm at least;
/// where its front is seen to be is some millimetres off.
const WIDE: (f64, f64) = (0.085, 0.6);
/// Greatest offset of a drawer's front that is closed for sure, metres, and the least share of the drawer that its front spans then.
const CLOSED: (f64, f64) = (0.02, 0.6);
/// Least depth of what is more than a front, metres.
const DEEP: f64 = 0.10;
/// Least width of what a drawer or door belongs to, when only its top was seen, as a share of the drawer's.
const AS_WIDE: f64 = 0.7;
/// Share of a thing's points in the box of a drawer from which it is something of that drawer, and the margin, metres.
const OF_PANEL: (f64, f64) = (0.6, 0.01);
/// Share of a thing's points in a drawer from which it is in that one, and not beside it.
const HELD: f64 = 0.5;
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

/// The object that a drawer or door belongs to. Drawers that are known to slide from one plane are of one thing: what most of them seem to
/// belong to.
pub fn whole_of<'m>(part: &Object, map: &'m ObjectMap) -> Option<&'m Object> {
    if part.slide.is_none() {
        return own_whole_of(part, map);
    }
    let mut found: Vec<(&Object, usize)> = Vec::new();
    let siblings = map.objects.iter().filter(|other| other.slide == part.slide);
    for whole in siblings.filter_map(|sibling| own_whole_of(sibling, map)) {
        match found.iter_mut().find(|(known, _)| known.key == whole.key) {
            Some((_, count)) => *count += 1,
            None => found.push((whole, 1)),
        }
    }
    let most = found
        .into_iter()
        .max_by(|(a, one), (b, other)| one.cmp(other).then(a.bounds.volume().total_cmp(&b.bounds.volume())));
    most.map(|(whole, _)| whole)
}

/// The object that a drawer or door belongs to by itself: of those it is a part of the one it lies deepest in, a larger one only when it
/// is no part itself. What lies in another of its name is no whole, nor is what lies in a drawer while there is another.
fn own_whole_of<'m>(part: &Object, map: &'m ObjectMap) -> Option<&'m Object> {
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

/// Whether a thing is in a drawer: most of it lies in the drawer's box, and what was seen of it not below that in the mean. What just fits
/// under an open drawer is not in it.
pub fn holds(drawer: &Object, thing: &Object) -> bool {
    let points = &thing.cloud.points;
    let mean = points.iter().map(|point| point.z).sum::<f64>() / points.len().max(1) as f64;
    mean > spatial::centre(drawer).z - drawer.bounds.size.z / 2.0 && lies_in(thing, drawer, HELD)
}

/// Whether at least this share of an object's points is in the box of another.
pub fn lies_in(object: &Object, other: &Object, share: f64) -> bool {
    let points = &object.cloud.points;
    let within = points.iter().filter(|point| other.bounds.contains(point, OF_PANEL.1)).count();
    !points.is_empty() && within as f64 >= share * points.len() as f64
}

/// How far a drawer or door stands open; `None` when what it belongs to is not seen, or too little of either. Of a drawer whose
/// [`Slide`](crate::Slide) is known its own front tells.
pub fn opening(part: &Object, map: &ObjectMap) -> Option<Opening> {
    if let Some(slide) = part.slide {
        let place = front_of(part, &slide.way)?;
        let breadth = breadth(part, &slide.way, place)?;
        return Some(Opening { offset: place - slide.closed, angle: 0.0, outward: slide.way, breadth });
    }
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
    let angle = if is_door(&part.class_name) || part.class_name.is_empty() { angle } else { 0.0 };
    let breadth = breadth(part, &outward, place)?;
    Some(Opening { offset: place - front, angle, outward, breadth })
}

/// Width of the face at this place along a direction, as a share of the longer horizontal side of all that was seen.
fn breadth(part: &Object, outward: &Vector3<f64>, place: f64) -> Option<f64> {
    let across = Vector3::z().cross(outward);
    let face = part.cloud.points.iter().filter(|p| (p.coords.dot(outward) - place).abs() <= LAYER);
    let face: Vec<f64> = face.map(|p| p.coords.dot(&across)).collect();
    let width = quantile(face.clone(), 0.98)? - quantile(face, 0.02)?;
    Some(width / part.bounds.size.x.max(part.bounds.size.y).max(1e-3))
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

/// Where the front lies along a direction, metres: the outermost layer with many points. What is seen of the inside of an open drawer
/// is spread over many layers, and a handle is small. `None` without points.
pub fn front_of(part: &Object, outward: &Vector3<f64>) -> Option<f64> {
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
fn quantile(values: Vec<f64>, share: f64) -> Option<f64> {
    nearest_rank(&ascending(values), share)
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
mod tests;
