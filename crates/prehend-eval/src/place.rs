//! Where objects are to each other: the geometry of every predicate.
//!
//! A *footprint* is what an object covers of the table, seen from above: the hull of its box's corners, or of a circle for an
//! upright round thing. A *gap* is the distance of two footprints, 0 when they overlap.
//!
//! | predicate | true when |
//! |---|---|
//! | resting | slower than 5 cm/s, not held, not below the table's top |
//! | in | resting; the target is upright and hollow; the centre is over the inner footprint, above its floor, and the lowest point is below the rim by at least 2 mm |
//! | on | resting; the centre is over the footprint and higher than the target's; it touches the target, or something that is on it; or it is in a hollow target |
//! | on table | resting, touches the table, is on and in no object |
//! | next to | resting, not on or in the target; gap at most 12 cm |
//! | left of | resting, not on or in the target; the centre is at least 3 cm to the left, at most 1.2 times as far (plus 4 cm) to the front or back, gap at most 30 cm; the other directions likewise |
//! | between | resting; the centre is over the middle 80 % of the line between the two centres and at most 8 cm beside it, or 0.3 of its length if that is more |
//! | held | both fingers press on it, and it is 1 cm above the table |
//! | away | resting, moved by 5 cm or more; at least 10 cm from each target (4 cm from everything when there is none) |

use nalgebra::{Isometry3, Point2, Point3, Quaternion, Translation3, UnitQuaternion, Vector3};
use prehend_geometry::upright::convex_hull;
use prehend_sim::world::{ObjectTruth, Truth};
use serde::{Deserialize, Serialize};

/// Slower than this is at rest, m/s.
pub const RESTING_SPEED: f64 = 0.05;
/// Farther than this is moved, metres.
pub const MOVED: f64 = 0.05;
/// Largest gap of things next to each other, metres.
pub const NEXT_TO: f64 = 0.12;
/// Least distance to one side, metres.
pub const ASIDE: f64 = 0.03;
/// How far it may be to the front or back for each metre to the side, and on top of that, metres.
pub const CONE: (f64, f64) = (1.2, 0.04);
/// Largest gap of a thing that is left, right, in front of or behind another, metres.
pub const SIDE_REACH: f64 = 0.30;

/// A side, as the robot sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Side {
    /// +y.
    Left,
    /// -y.
    Right,
    /// -x.
    Front,
    /// +x.
    Back,
}

impl Side {
    /// The unit vector (x, y) to this side.
    pub fn direction(self) -> [f64; 2] {
        match self {
            Self::Left => [0.0, 1.0],
            Self::Right => [0.0, -1.0],
            Self::Front => [-1.0, 0.0],
            Self::Back => [1.0, 0.0],
        }
    }
}

/// Pose of an object, `base_from_object`; a broken orientation counts as none.
pub fn pose(object: &ObjectTruth) -> Isometry3<f64> {
    let [x, y, z] = object.position;
    let [qx, qy, qz, qw] = object.orientation;
    let turn = UnitQuaternion::try_new(Quaternion::new(qw, qx, qy, qz), 1e-6)
        .unwrap_or_else(UnitQuaternion::identity);
    Isometry3::from_parts(Translation3::new(x, y, z), turn)
}

/// Whether its own z axis points up, within 37 degrees.
pub fn is_upright(object: &ObjectTruth) -> bool {
    (pose(object).rotation * Vector3::z()).z > 0.8
}

/// Half its height as it lies, metres.
pub fn half_height(object: &ObjectTruth) -> f64 {
    let up = pose(object).rotation.inverse() * Vector3::z();
    let [hx, hy, hz] = object.half_extents;
    if object.shape.is_round() {
        if (hx - hz).abs() < 1e-9 && matches!(object.shape, prehend_sim::scene::Shape::Sphere { .. }) {
            return hx;
        }
        return hz * up.z.abs() + hx * up.x.hypot(up.y);
    }
    hx * up.x.abs() + hy * up.y.abs() + hz * up.z.abs()
}

/// Its lowest height, metres.
pub fn bottom(object: &ObjectTruth) -> f64 {
    object.position[2] - half_height(object)
}

/// Its footprint: corners of a convex polygon, counter-clockwise.
pub fn footprint(object: &ObjectTruth) -> Vec<Point2<f64>> {
    let pose = pose(object);
    let [hx, hy, hz] = object.half_extents;
    let mut points = Vec::new();
    if object.shape.is_round() {
        for k in 0..16 {
            let angle = f64::from(k) / 16.0 * std::f64::consts::TAU;
            for z in [-hz, hz] {
                points.push(pose * Point3::new(hx * angle.cos(), hy * angle.sin(), z));
            }
        }
    } else {
        for corner in 0..8 {
            let sign = |bit: i32| if corner >> bit & 1 == 1 { 1.0 } else { -1.0 };
            points.push(pose * Point3::new(sign(0) * hx, sign(1) * hy, sign(2) * hz));
        }
    }
    convex_hull(&points.into_iter().map(|p| p.xy()).collect::<Vec<_>>())
}

/// Distance of two footprints, metres; 0 when they overlap.
pub fn gap(a: &ObjectTruth, b: &ObjectTruth) -> f64 {
    polygon_gap(&footprint(a), &footprint(b))
}

/// Distance of two convex polygons, 0 when they overlap.
pub(crate) fn polygon_gap(a: &[Point2<f64>], b: &[Point2<f64>]) -> f64 {
    let inside = |polygon: &[Point2<f64>], p: &Point2<f64>| {
        polygon.len() > 2
            && edges(polygon).all(|(s, e)| (e.x - s.x) * (p.y - s.y) - (e.y - s.y) * (p.x - s.x) >= 0.0)
    };
    if a.iter().any(|p| inside(b, p)) || b.iter().any(|p| inside(a, p)) {
        return 0.0;
    }
    let crossing = edges(a).any(|(s, e)| edges(b).any(|(t, f)| cross(s, e, t, f)));
    if crossing {
        return 0.0;
    }
    let one_way = |a: &[Point2<f64>], b: &[Point2<f64>]| {
        a.iter()
            .flat_map(|p| edges(b).map(move |(s, e)| point_to_segment(p, &s, &e)))
            .fold(f64::MAX, f64::min)
    };
    one_way(a, b).min(one_way(b, a))
}

fn edges(polygon: &[Point2<f64>]) -> impl Iterator<Item = (Point2<f64>, Point2<f64>)> + '_ {
    (0..polygon.len()).map(|i| (polygon[i], polygon[(i + 1) % polygon.len()]))
}

fn cross(s: Point2<f64>, e: Point2<f64>, t: Point2<f64>, f: Point2<f64>) -> bool {
    let side = |a: Point2<f64>, b: Point2<f64>, p: Point2<f64>| {
        (b.x - a.x) * (p.y - a.y) - (b.y - a.y) * (p.x - a.x)
    };
    side(s, e, t) * side(s, e, f) < 0.0 && side(t, f, s) * side(t, f, e) < 0.0
}

fn point_to_segment(p: &Point2<f64>, s: &Point2<f64>, e: &Point2<f64>) -> f64 {
    let along = e - s;
    let t = ((p - s).dot(&along) / along.norm_squared().max(1e-18)).clamp(0.0, 1.0);
    (p - (s + along * t)).norm()
}

/// Whether it is at rest, free, and not fallen off.
pub fn is_resting(object: &ObjectTruth) -> bool {
    object.speed < RESTING_SPEED && !object.held && !object.fallen
}

/// Whether `object` is inside `target`; see the table above.
pub fn is_in(object: &ObjectTruth, target: &ObjectTruth) -> bool {
    let Some(hollow) = target.shape.hollow() else { return false };
    if object.name == target.name || !is_resting(object) || !is_upright(target) {
        return false;
    }
    let center = pose(target).inverse_transform_point(&Point3::from(object.position));
    let round = !matches!(target.shape, prehend_sim::scene::Shape::Tray { .. });
    let over = if round {
        center.x.hypot(center.y) < hollow.half[0]
    } else {
        center.x.abs() < hollow.half[0] && center.y.abs() < hollow.half[1]
    };
    let rim = target.position[2] + target.half_extents[2];
    let floor = target.position[2] + hollow.floor;
    over && object.position[2] > floor - 0.005 && bottom(object) < rim - 0.002
}

/// Whether `object` is in the room at this side of a divided `target`: in it, and off its middle towards the side by more than
/// across, each as a share of half of the target.
pub fn is_in_room(object: &ObjectTruth, target: &ObjectTruth, side: Side) -> bool {
    let off = pose(target).inverse_transform_point(&Point3::from(object.position));
    let turn = pose(target).rotation;
    let [dx, dy] = side.direction();
    // The sides are those of the robot; fixtures face it.
    let way = turn.inverse_transform_vector(&Vector3::new(dx, dy, 0.0));
    let share = [0, 1].map(|axis| off[axis] / target.half_extents[axis].max(1e-3));
    let along = share[0] * way.x + share[1] * way.y;
    let across = (share[0] * way.y - share[1] * way.x).abs();
    is_in(object, target) && along > across
}

/// Whether `object` is on `target`; see the table above.
pub fn is_on(truth: &Truth, object: &ObjectTruth, target: &ObjectTruth) -> bool {
    if is_in(object, target) {
        return true;
    }
    if object.name == target.name || !is_resting(object) || object.position[2] <= target.position[2] {
        return false;
    }
    if is_in(target, object) {
        // A bowl is not on the lemon in it, though its middle is higher and over it.
        return false;
    }
    let center = Point2::new(object.position[0], object.position[1]);
    let over = polygon_gap(&[center], &footprint(target)) <= 0.0;
    over && carried(truth, object, target, 6)
}

/// Whether it touches the target, or something lower that does, up to `depth` things apart.
fn carried(truth: &Truth, object: &ObjectTruth, target: &ObjectTruth, depth: usize) -> bool {
    let touches =
        |a: &ObjectTruth, b: &ObjectTruth| a.touches.contains(&b.name) || b.touches.contains(&a.name);
    touches(object, target)
        || depth > 0
            && truth.objects.iter().any(|between| {
                between.name != object.name
                    && between.position[2] < object.position[2]
                    && touches(object, between)
                    && carried(truth, between, target, depth - 1)
            })
}

/// Whether `object` stands on the table itself; see the table above.
pub fn is_on_table(truth: &Truth, object: &ObjectTruth) -> bool {
    let others = truth.objects.iter().filter(|other| other.name != object.name);
    is_resting(object)
        && object.touches.iter().any(|name| name == "table")
        && !others.clone().any(|other| is_in(object, other))
}

/// Whether `object` is next to `target`; see the table above.
pub fn is_next_to(truth: &Truth, object: &ObjectTruth, target: &ObjectTruth) -> bool {
    is_beside(truth, object, target) && gap(object, target) <= NEXT_TO
}

/// Whether `object` is on this side of `target`; see the table above.
pub fn is_aside(truth: &Truth, object: &ObjectTruth, target: &ObjectTruth, side: Side) -> bool {
    let (along, across) = offset(object, target, side);
    is_beside(truth, object, target)
        && along >= ASIDE
        && across.abs() <= CONE.0 * along + CONE.1
        && gap(object, target) <= SIDE_REACH
}

/// How far the centre of `object` is from that of `target` towards a side, and across it, metres.
pub fn offset(object: &ObjectTruth, target: &ObjectTruth, side: Side) -> (f64, f64) {
    let [dx, dy] = side.direction();
    let (x, y) = (object.position[0] - target.position[0], object.position[1] - target.position[1]);
    (x * dx + y * dy, x * dy - y * dx)
}

fn is_beside(truth: &Truth, object: &ObjectTruth, target: &ObjectTruth) -> bool {
    object.name != target.name
        && is_resting(object)
        && !is_on(truth, object, target)
        && !is_on(truth, target, object)
}

/// Whether `object` is between the two; see the table above.
pub fn is_between(object: &ObjectTruth, first: &ObjectTruth, second: &ObjectTruth) -> bool {
    let Some((share, beside, length)) = between(object, first, second) else { return false };
    is_resting(object) && (0.1..=0.9).contains(&share) && beside <= (0.3 * length).max(0.08)
}

/// Where the centre of `object` is along the line between two centres (0 to 1), how far beside it, and the line's length, metres.
pub fn between(object: &ObjectTruth, first: &ObjectTruth, second: &ObjectTruth) -> Option<(f64, f64, f64)> {
    let at = |o: &ObjectTruth| Point2::new(o.position[0], o.position[1]);
    let line = at(second) - at(first);
    let length = line.norm();
    if length < 1e-6 {
        return None;
    }
    let to = at(object) - at(first);
    Some((to.dot(&line) / length.powi(2), (to.perp(&line) / length).abs(), length))
}

/// Whether the gripper holds it; see the table above.
pub fn is_held(truth: &Truth, object: &ObjectTruth) -> bool {
    object.held && bottom(object) > truth.table_height + 0.01
}

/// How far its centre moved, metres.
pub fn moved(before: &ObjectTruth, after: &ObjectTruth) -> f64 {
    (Point3::from(before.position) - Point3::from(after.position)).norm()
}
