//! Objects of a scene file.

use super::shape::{SHAPES, read_size};
use super::{FARTHEST, angle, interval, non_empty, probability, read_color};
use crate::scene::material::default_mass;
use crate::scene::{DEFAULT_FRICTION, ObjectSpec, Placement, Support};
use nalgebra::{Isometry3, Translation3, UnitQuaternion};
use prehend_config::{Map, Value};

pub(super) fn read_object(map: &mut Map<'_>) -> Option<ObjectSpec> {
    let name = map.req("name").and_then(|value| non_empty(&value));
    let class = match map.opt("class") {
        Some(value) => non_empty(&value).map(|class| class.to_lowercase()),
        None => map.req("class").and(None),
    };
    let kind = map.req("shape").and_then(|value| value.choice(SHAPES));
    let size = map.opt("size");
    let shape = kind.and_then(|kind| read_size(kind, size.as_ref()));
    let color = map.req("color").and_then(|value| read_color(&value));
    let second_color = match map.opt("second_color") {
        Some(value) => read_color(&value).map(|(color, _)| Some(color)),
        None => Some(None),
    };
    let mass = match map.opt("mass") {
        Some(value) => value.f64_in(0.001, 50.0),
        None => Some(shape.map_or(0.1, |shape| default_mass(&shape))),
    };
    let friction = map.or("friction", DEFAULT_FRICTION, |value| value.f64_in(0.0, 3.0));
    let restitution = map.or("restitution", 0.0, probability);
    let fixed = map.or("fixed", false, |value| value.bool());
    let placement = read_placement(map);
    let (color, color_name) = color?;
    Some(ObjectSpec {
        name: name?,
        class: class?,
        shape: shape?,
        color,
        color_name,
        second_color: second_color?,
        mass: mass?,
        friction: friction?,
        restitution: restitution?,
        fixed: fixed?,
        placement: placement?,
        model: None,
        template: None,
    })
}

/// Exactly one of `pose`, `region`, `on`, `in`; or `region` with `on`, in the frame of what it is on.
pub(super) fn read_placement(map: &mut Map<'_>) -> Option<Placement> {
    let pose = map.opt("pose");
    let region = map.opt("region");
    let on = map.opt("on");
    let inside = map.opt("in");
    if let (Some(by), Some(region), None, None) = (&on, &region, &pose, &inside) {
        let by = non_empty(by);
        let place = region.map(read_surface);
        let (x, y, z, yaw, lying) = place?;
        return Some(Placement::Surface { by: by?, x, y, z, yaw, lying });
    }
    let given = [&pose, &region, &on, &inside].iter().filter(|value| value.is_some()).count();
    if given != 1 {
        map.report(match given {
            0 => "where is it? give one of `pose`, `region`, `on`, `in`",
            _ => "give only one of `pose`, `region`, `on`, `in`",
        });
    }
    if let Some(value) = pose {
        return value.map(read_pose);
    }
    if let Some(value) = region {
        return value.map(read_region);
    }
    let (value, support) = match (on, inside) {
        (Some(value), _) => (value, Support::On),
        (None, Some(value)) => (value, Support::In),
        (None, None) => return None,
    };
    let offset = match map.opt("offset") {
        Some(value) => value.numbers::<2>().map(Some),
        None => Some(None),
    };
    let yaw = read_yaw(map);
    let lying = map.or("lying", false, |value| value.bool());
    Some(Placement::Supported { by: non_empty(&value)?, support, offset: offset?, yaw: yaw?, lying: lying? })
}

fn read_yaw(map: &mut Map<'_>) -> Option<Option<f64>> {
    match map.opt("yaw") {
        Some(value) => angle(value).map(Some),
        None => Some(None),
    }
}

/// `{xy, yaw, lying}` standing on the table, or `{xyz, yaw | rpy}` anywhere.
fn read_pose(map: &mut Map<'_>) -> Option<Placement> {
    let xy = map.opt("xy");
    let xyz = map.opt("xyz");
    let rpy = map.opt("rpy");
    let yaw = read_yaw(map);
    let lying = map.or("lying", false, |value| value.bool());
    match (xy, xyz) {
        (Some(value), None) => {
            if let Some(rpy) = rpy {
                rpy.report("`rpy` goes with `xyz`; give `yaw` or `lying` with `xy`");
                return None;
            }
            let [x, y] = near(&value, value.numbers::<2>()?)?;
            Some(Placement::Standing { x, y, yaw: yaw?, lying: lying? })
        }
        (None, Some(value)) => {
            let [x, y, z] = near(&value, value.numbers::<3>()?)?;
            let turn = match &rpy {
                Some(value) => {
                    let [r, p, y] = value.numbers::<3>()?;
                    UnitQuaternion::from_euler_angles(r, p, y)
                }
                None => UnitQuaternion::from_euler_angles(0.0, 0.0, yaw?.unwrap_or(0.0)),
            };
            if rpy.is_some() && map.has("yaw") {
                map.report("give `yaw` or `rpy`, not both");
                return None;
            }
            Some(Placement::Pose(Isometry3::from_parts(Translation3::new(x, y, z), turn)))
        }
        (None, None) => {
            map.report("give `xy` (standing on the table) or `xyz`");
            None
        }
        (Some(_), Some(value)) => {
            value.report("give `xy` or `xyz`, not both");
            None
        }
    }
}

fn near<const N: usize>(value: &Value<'_>, numbers: [f64; N]) -> Option<[f64; N]> {
    if numbers.iter().all(|number| number.abs() <= FARTHEST) {
        return Some(numbers);
    }
    value.report(format!("{numbers:?} is more than {FARTHEST} m from the origin"));
    None
}

/// x, y, z, yaw and lying.
type SurfacePlace = ([f64; 2], [f64; 2], Option<f64>, Option<f64>, bool);

fn read_surface(map: &mut Map<'_>) -> Option<SurfacePlace> {
    let x = map.req("x").and_then(|value| interval(&value, -5.0, 5.0));
    let y = map.req("y").and_then(|value| interval(&value, -5.0, 5.0));
    let z = match map.opt("z") {
        Some(value) => value.f64_in(-3.0, 3.0).map(Some),
        None => Some(None),
    };
    let yaw = read_yaw(map);
    let lying = map.or("lying", false, |value| value.bool());
    Some((x?, y?, z?, yaw?, lying?))
}

fn read_region(map: &mut Map<'_>) -> Option<Placement> {
    let x = map.req("x").and_then(|value| interval(&value, -FARTHEST, FARTHEST));
    let y = map.req("y").and_then(|value| interval(&value, -FARTHEST, FARTHEST));
    let yaw = read_yaw(map);
    let lying = map.or("lying", false, |value| value.bool());
    Some(Placement::Region { x: x?, y: y?, yaw: yaw?, lying: lying? })
}
