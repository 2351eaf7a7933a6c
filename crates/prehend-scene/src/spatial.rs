//! Spatial predicates and measures on objects of the map (ASP III-C, IV-C): basic operations on boxes and point clouds.
//!
//! Map frame, metres. Directions are those of a [`Sight`].

use crate::Object;
use nalgebra::{Point2, Point3, Vector2};
use prehend_geometry::upright::{convex_hull, is_inside};

/// The way somebody looks, seen from above: what is farther along it is behind, and left is a quarter turn counter-clockwise of it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sight {
    /// Of unit length.
    ahead: Vector2<f64>,
}

impl Sight {
    /// A fixed arm's in its own frame: along +x, left is +y, in front of is nearer to it (-x).
    pub const ARM: Self = Self { ahead: Vector2::new(1.0, 0.0) };

    /// From a place towards the middle of objects, seen from above; [`Sight::ARM`] when that is no direction.
    pub fn towards(from: [f64; 2], objects: &[&Object]) -> Self {
        let sum: Vector2<f64> = objects.iter().map(|object| centre(object).coords.xy()).sum();
        let ahead = sum / objects.len().max(1) as f64 - Vector2::from(from);
        match ahead.try_normalize(1e-6) {
            Some(ahead) if ahead.iter().all(|number| number.is_finite()) => Self { ahead },
            _ => Self::ARM,
        }
    }

    /// How far ahead of a point another lies, and how far to the left of it, metres.
    pub fn offset(&self, from: &Point3<f64>, to: &Point3<f64>) -> [f64; 2] {
        let way = (to - from).xy();
        [self.ahead.dot(&way), self.ahead.perp(&way)]
    }
}

/// Least offset of centres that makes "left of" and its like mean something, metres.
pub const DIRECTION_MARGIN: f64 = 0.02;
/// Greatest gap between things that are near each other, metres.
pub const NEAR_GAP: f64 = 0.12;
/// How far a centre may lie outside a footprint and still be carried, metres.
const FOOTPRINT_MARGIN: f64 = 0.005;
/// Most points of a cloud that a gap is measured with.
const GAP_POINTS: usize = 250;

/// The middle of an object's box.
pub fn centre(object: &Object) -> Point3<f64> {
    Point3::from(object.bounds.pose.translation.vector)
}

/// Distance between the centres, metres (ASP's `distance_between`).
pub fn distance_between(a: &Object, b: &Object) -> f64 {
    (centre(a) - centre(b)).norm()
}

/// Horizontal distance between the nearest points of two clouds, metres; of the centres when a cloud is empty.
pub fn gap(a: &Object, b: &Object) -> f64 {
    let flat = |object: &Object| -> Vec<Vector2<f64>> {
        let step = object.cloud.len().div_ceil(GAP_POINTS).max(1);
        object.cloud.points.iter().step_by(step).map(|p| Vector2::new(p.x, p.y)).collect()
    };
    let (pa, pb) = (flat(a), flat(b));
    let nearest =
        pa.iter().flat_map(|p| pb.iter().map(move |q| (p - q).norm_squared())).fold(f64::INFINITY, f64::min);
    if nearest.is_finite() { nearest.sqrt() } else { (centre(a).xy() - centre(b).xy()).norm() }
}

/// Size of an object: the side of a cube with the volume of its box, metres (ASP's `size_of`).
pub fn size_of(object: &Object) -> f64 {
    object.bounds.volume().max(0.0).cbrt()
}

/// Height of the box, metres.
pub fn height_of(object: &Object) -> f64 {
    object.bounds.size.z
}

/// Longest horizontal side of the box, metres.
pub fn length_of(object: &Object) -> f64 {
    object.bounds.size.x.max(object.bounds.size.y)
}

/// Shortest horizontal side of the box, metres.
pub fn width_of(object: &Object) -> f64 {
    object.bounds.size.x.min(object.bounds.size.y)
}

/// Shortest side of the box, metres.
pub fn thickness_of(object: &Object) -> f64 {
    object.bounds.size.min()
}

/// Least depth of what counts as hollow, metres.
const DISHED: f64 = 0.008;

/// Whether a thing is lower in its middle than at its rim, as plates, bowls and trays are: it can be held by the rim.
/// `false` for a cloud of fewer than 10 points in the middle or at the rim.
pub fn is_dished(object: &Object) -> bool {
    let reach = width_of(object) / 2.0;
    let (mut middle, mut rim) = (Vec::new(), Vec::new());
    for point in &object.cloud.points {
        let away = (point.coords - object.bounds.pose.translation.vector).xy().norm();
        if away < 0.45 * reach {
            middle.push(point.z);
        } else if away > 0.8 * reach {
            rim.push(point.z);
        }
    }
    if middle.len() < 10 || rim.len() < 10 {
        return false;
    }
    middle.sort_by(f64::total_cmp);
    rim.sort_by(f64::total_cmp);
    // Sides that are seen below the rim do not make a thing less hollow.
    rim[rim.len() * 8 / 10] - middle[middle.len() / 2] > DISHED
}

/// Whether `a` is to the left of `b`.
pub fn left_of(a: &Object, b: &Object, sight: &Sight) -> bool {
    let [_, left] = sight.offset(&centre(b), &centre(a));
    left > DIRECTION_MARGIN
}

/// Whether `a` is to the right of `b`.
pub fn right_of(a: &Object, b: &Object, sight: &Sight) -> bool {
    left_of(b, a, sight)
}

/// Whether `a` is nearer than `b` to who looks.
pub fn in_front_of(a: &Object, b: &Object, sight: &Sight) -> bool {
    let [ahead, _] = sight.offset(&centre(a), &centre(b));
    ahead > DIRECTION_MARGIN
}

/// Whether `a` is farther than `b` from who looks.
pub fn behind(a: &Object, b: &Object, sight: &Sight) -> bool {
    in_front_of(b, a, sight)
}

/// Whether two objects are near each other.
pub fn near(a: &Object, b: &Object) -> bool {
    gap(a, b) <= NEAR_GAP
}

/// Whether `a` stands between `b` and `c`: on the middle part of the line between them, not far beside it.
pub fn between(a: &Object, b: &Object, c: &Object) -> bool {
    let (p, from, to) = (centre(a).xy(), centre(b).xy(), centre(c).xy());
    let line = to - from;
    let length = line.norm();
    if length < 1e-6 {
        return false;
    }
    let along = (p - from).dot(&line) / (length * length);
    let beside = ((p - from) - line * along).norm();
    (0.1..=0.9).contains(&along) && beside <= (0.3 * length).max(0.06)
}

/// Whether `a` is in or on `b`: its middle is over the footprint of `b`, and it is not what carries `b`. What hides most of
/// its carrier is carried by the piece that looks out below it.
pub fn carried_by(a: &Object, b: &Object) -> bool {
    if covers(a, b) {
        return true;
    }
    let half = b.bounds.size / 2.0;
    let area = |object: &Object| object.bounds.size.x * object.bounds.size.y;
    let higher = centre(a).z > centre(b).z + 0.25 * (height_of(a).min(height_of(b)));
    let lies_in = area(a) < 0.7 * area(b) && centre(a).z > centre(b).z - half.z;
    (higher || lies_in) && is_over(&centre(a), b)
}

/// Whether a point is over the footprint of an object: in the box, and in what its points span. A corner of the box around a pan with its
/// handle is not over the pan.
fn is_over(point: &Point3<f64>, object: &Object) -> bool {
    let local = object.bounds.pose.inverse_transform_point(point);
    let half = object.bounds.size / 2.0;
    if local.x.abs() > half.x + FOOTPRINT_MARGIN || local.y.abs() > half.y + FOOTPRINT_MARGIN {
        return false;
    }
    let footprint: Vec<Point2<f64>> = object.cloud.points.iter().map(|point| point.xy()).collect();
    let hull = convex_hull(&footprint);
    let inwards = centre(object).xy() - point.xy();
    let margin = inwards.cap_magnitude(FOOTPRINT_MARGIN);
    // Too few points span nothing.
    hull.len() < 3 || is_inside(&hull, &(point.xy() + margin))
}

/// How far the top of what is seen of a hidden carrier may be above and below the underside of what rests on it, metres.
const REST_GAP: [f64; 2] = [0.02, 0.05];

/// Whether `a` rests on the top of what is seen of `b`, with the middle of that below it.
fn covers(a: &Object, b: &Object) -> bool {
    let local = a.bounds.pose.inverse_transform_point(&centre(b));
    let half = a.bounds.size / 2.0;
    let over = local.x.abs() <= half.x && local.y.abs() <= half.y;
    let gap = centre(a).z - half.z - b.bounds.top();
    over && (-REST_GAP[0]..=REST_GAP[1]).contains(&gap)
        && centre(a).z > centre(b).z + half.z.min(height_of(b) / 2.0)
}

/// Whether `a` lies inside `b`: carried by it, with its underside below the rim of `b`.
pub fn inside(a: &Object, b: &Object) -> bool {
    carried_by(a, b) && centre(a).z - height_of(a) / 2.0 < b.bounds.top() - 0.01
}

/// Whether `a` lies on `b`: carried by it, with its top above the top of `b`.
pub fn on(a: &Object, b: &Object) -> bool {
    carried_by(a, b) && a.bounds.top() > b.bounds.top() - 0.005
}

#[cfg(test)]
mod tests {
    use super::*;
    use nalgebra::{Isometry3, Vector3};
    use prehend_geometry::{OrientedBox, PointCloud};

    fn thing(position: [f64; 3], size: [f64; 3]) -> Object {
        let at = Vector3::from(position);
        let half = Vector3::from(size) / 2.0;
        let corners = (0..8)
            .map(|i| {
                let sign = |bit: usize| if i >> bit & 1 == 1 { 1.0 } else { -1.0 };
                Point3::from(at + Vector3::new(half.x * sign(0), half.y * sign(1), half.z * sign(2)))
            })
            .collect();
        Object {
            class_name: "thing".to_owned(),
            confidence: 1.0,
            view_count: 1,
            ..Object::unnamed(
                "thing_0".into(),
                PointCloud::from_points(corners),
                OrientedBox { pose: Isometry3::translation(at.x, at.y, at.z), size: Vector3::from(size) },
            )
        }
    }

    /// The box around a round pan and its handle has corners over neither: a can beside the pan stands in one of them.
    #[test]
    fn what_stands_in_a_corner_of_the_box_is_not_inside() {
        let round = (0..60).map(|step| f64::from(step) * std::f64::consts::TAU / 60.0);
        let rim = round.map(|angle| Point3::new(0.09 * angle.cos(), 0.09 * angle.sin(), 0.04));
        let handle = (0..10).map(|step| Point3::new(0.09 + 0.01 * f64::from(step), 0.0, 0.03));
        let floor = [Point3::new(0.0, 0.0, 0.0)];
        let cloud: Vec<Point3<f64>> = rim.chain(handle).chain(floor).collect();
        let bounds = OrientedBox::upright_around(&cloud).expect("a box");
        let pan = Object::unnamed("pan_0".into(), PointCloud::from_points(cloud), bounds);
        let can = |x: f64, y: f64| thing([x, y, 0.05], [0.06, 0.06, 0.1]);
        let is_in_box = |x: f64, y: f64| {
            let local = bounds.pose.inverse_transform_point(&Point3::new(x, y, 0.05));
            local.x.abs() < bounds.size.x / 2.0 && local.y.abs() < bounds.size.y / 2.0
        };
        let corners =
            [(0.14, 0.08), (0.14, -0.08), (0.12, 0.08), (0.12, -0.08), (-0.02, 0.12), (-0.02, -0.12)];
        let beside: Vec<(f64, f64)> = corners.into_iter().filter(|(x, y)| is_in_box(*x, *y)).collect();
        assert!(!beside.is_empty(), "{bounds:?}");
        assert!(beside.iter().all(|(x, y)| !inside(&can(*x, *y), &pan)), "{beside:?}");
        assert!(inside(&can(0.03, 0.02), &pan) && inside(&can(-0.05, 0.04), &pan));
    }

    #[test]
    fn directions_are_the_robots() {
        let (a, b) = (thing([0.4, 0.1, 0.02], [0.04; 3]), thing([0.5, -0.1, 0.02], [0.04; 3]));
        let arm = &Sight::ARM;
        assert!(left_of(&a, &b, arm) && right_of(&b, &a, arm) && !left_of(&b, &a, arm));
        assert!(in_front_of(&a, &b, arm) && behind(&b, &a, arm) && !behind(&a, &b, arm));
        assert!(!left_of(&a, &a, arm) && !in_front_of(&a, &a, arm));
        // From the other side everything is the other way round.
        let across = &Sight::towards([9.0, 0.0], &[&a, &b]);
        assert!(right_of(&a, &b, across) && behind(&a, &b, across));
        for nowhere in [Sight::towards([0.0; 2], &[]), Sight::towards([f64::NAN, 0.0], &[&a])] {
            assert_eq!(nowhere, Sight::ARM);
        }
    }

    #[test]
    fn distances_and_nearness() {
        let (a, b) = (thing([0.4, 0.0, 0.02], [0.04; 3]), thing([0.5, 0.0, 0.02], [0.04; 3]));
        assert!((distance_between(&a, &b) - 0.1).abs() < 1e-9);
        assert!((gap(&a, &b) - 0.06).abs() < 1e-9);
        assert!(near(&a, &b) && !near(&a, &thing([0.7, 0.0, 0.02], [0.04; 3])));
        assert!((size_of(&a) - 0.04).abs() < 1e-9);
    }

    #[test]
    fn plates_are_dished_and_boxes_and_balls_are_not() {
        let of = |height: &dyn Fn(f64) -> f64| {
            let mut object = thing([0.5, 0.1, 0.02], [0.18, 0.18, 0.04]);
            let points = (0..30).flat_map(|i| (0..30).map(move |j| (i, j))).filter_map(|(i, j)| {
                let (x, y) = (0.18 * (f64::from(i) / 29.0 - 0.5), 0.18 * (f64::from(j) / 29.0 - 0.5));
                let away = x.hypot(y);
                (away <= 0.09).then(|| Point3::new(0.5 + x, 0.1 + y, height(away)))
            });
            object.cloud = PointCloud::from_points(points.collect());
            object
        };
        assert!(is_dished(&of(&|away| if away < 0.06 { 0.005 } else { 0.005 + 0.6 * (away - 0.06) })));
        assert!(!is_dished(&of(&|_| 0.04)));
        assert!(!is_dished(&of(&|away| (0.09_f64.powi(2) - away * away).max(0.0).sqrt())));
        assert!(!is_dished(&thing([0.5, 0.1, 0.02], [0.18, 0.18, 0.04])));
    }

    #[test]
    fn between_is_on_the_line() {
        let (a, b) = (thing([0.4, -0.2, 0.0], [0.04; 3]), thing([0.4, 0.2, 0.0], [0.04; 3]));
        assert!(between(&thing([0.42, 0.03, 0.0], [0.04; 3]), &a, &b));
        assert!(!between(&thing([0.65, 0.0, 0.0], [0.04; 3]), &a, &b));
        assert!(!between(&thing([0.4, 0.4, 0.0], [0.04; 3]), &a, &b));
        assert!(!between(&a, &b, &b));
    }

    #[test]
    fn what_carries_what() {
        let bowl = thing([0.5, 0.0, 0.03], [0.16, 0.16, 0.06]);
        let apple = thing([0.51, 0.01, 0.05], [0.07, 0.07, 0.07]);
        assert!(inside(&apple, &bowl) && !carried_by(&bowl, &apple));
        let (low, high) = (thing([0.5, 0.0, 0.02], [0.04; 3]), thing([0.5, 0.005, 0.06], [0.04; 3]));
        assert!(on(&high, &low) && !inside(&high, &low) && !carried_by(&low, &high));
        assert!(!carried_by(&thing([0.5, 0.12, 0.035], [0.07; 3]), &bowl));
        // Of a box below a bowl only a strip of its front is seen.
        let strip = thing([0.45, 0.0, 0.035], [0.01, 0.05, 0.07]);
        let high = thing([0.5, 0.0, 0.115], [0.12, 0.12, 0.05]);
        assert!(on(&high, &strip) && !inside(&high, &strip) && !carried_by(&strip, &high));
        assert!(!carried_by(&thing([0.5, 0.0, 0.03], [0.12, 0.12, 0.06]), &strip), "beside it on the table");
    }
}
