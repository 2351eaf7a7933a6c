//! What lies under a pixel.

use crate::{Ray, Stage, Thing};
use nalgebra::Point3;
use prehend_geometry::OrientedBox;

/// How far the ray goes until it meets the box, m: 0 from inside of it, `None` when it misses.
pub fn distance_to_box(ray: &Ray, bounds: &OrientedBox) -> Option<f64> {
    let origin = bounds.pose.inverse_transform_point(&ray.origin);
    let direction = bounds.pose.inverse_transform_vector(&ray.direction);
    // Between two planes for each axis (the slab method).
    let (mut enter, mut leave) = (0.0_f64, f64::INFINITY);
    for axis in 0..3 {
        let half = bounds.size[axis] / 2.0;
        if direction[axis].abs() < 1e-12 {
            if origin[axis].abs() > half {
                return None;
            }
            continue;
        }
        let [a, b] = [-half, half].map(|plane| (plane - origin[axis]) / direction[axis]);
        enter = enter.max(a.min(b));
        leave = leave.min(a.max(b));
    }
    (enter <= leave).then_some(enter)
}

/// The thing whose box the ray meets first; when it also meets smaller things that stand in that one, the smallest of them: what stands
/// in a cupboard is meant before the cupboard.
pub fn thing_under<'a>(ray: &Ray, stage: &'a Stage) -> Option<&'a Thing> {
    let met = stage.things.iter().filter_map(|thing| Some((distance_to_box(ray, &thing.bounds)?, thing)));
    let (_, first) = met.clone().min_by(|(one, _), (other, _)| one.total_cmp(other))?;
    let in_it = met.map(|(_, thing)| thing).filter(|thing| {
        let middle = Point3::from(thing.bounds.pose.translation.vector);
        first.bounds.contains(&middle, 0.0) && thing.bounds.volume() <= first.bounds.volume()
    });
    in_it.min_by(|one, other| one.bounds.volume().total_cmp(&other.bounds.volume()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::things::tests::named;
    use approx::assert_relative_eq;
    use nalgebra::{Isometry3, Unit, Vector3};
    use std::sync::Arc;

    fn boxed(x: f64, y: f64, size: f64) -> OrientedBox {
        OrientedBox { pose: Isometry3::translation(x, y, 0.0), size: Vector3::repeat(size) }
    }

    fn along_x(y: f64) -> Ray {
        Ray { origin: Point3::new(-1.0, y, 0.0), direction: Vector3::x_axis() }
    }

    #[test]
    fn a_box_is_met_at_its_side_and_missed_beside_it_and_behind() {
        for (ray, expected) in [
            (along_x(0.0), Some(0.9)),
            (along_x(0.099), Some(0.9)),
            (along_x(0.101), None),
            (Ray { direction: -Vector3::x_axis(), ..along_x(0.0) }, None),
            (Ray { origin: Point3::new(0.05, 0.0, 0.0), ..along_x(0.0) }, Some(0.0)),
        ] {
            assert_eq!(distance_to_box(&ray, &boxed(0.0, 0.0, 0.2)), expected, "{ray:?}");
        }
        let turned = OrientedBox {
            pose: Isometry3::rotation(Vector3::z() * std::f64::consts::FRAC_PI_4),
            size: Vector3::repeat(0.2),
        };
        let met = distance_to_box(&along_x(0.0), &turned).expect("its edge");
        assert_relative_eq!(met, 1.0 - 0.1 * 2.0_f64.sqrt(), epsilon = 1e-9);
        let slanted = Ray { direction: Unit::new_normalize(Vector3::new(1.0, 1.0, 0.0)), ..along_x(-1.0) };
        assert!(distance_to_box(&slanted, &boxed(0.0, 0.0, 0.2)).is_some());
    }

    #[test]
    fn the_nearest_thing_is_meant_and_before_a_cupboard_what_stands_in_it() {
        let things = vec![
            named("far_0", boxed(2.0, 0.0, 0.2)),
            named("near_0", boxed(1.0, 0.0, 0.2)),
            named("cupboard_0", boxed(1.0, 2.0, 1.0)),
            named("cup_0", boxed(1.2, 2.0, 0.1)),
        ];
        let stage = Stage { things: Arc::new(things), ..Default::default() };
        for (y, expected) in
            [(0.0, Some("near_0")), (2.0, Some("cup_0")), (2.3, Some("cupboard_0")), (5.0, None)]
        {
            let found = thing_under(&along_x(y), &stage).map(|thing| thing.key.0.as_str());
            assert_eq!(found, expected, "{y}");
        }
    }
}
