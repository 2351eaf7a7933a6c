//! What is wrong with a scene although every key is right.

use super::place::{Solid, orientation};
use super::{ObjectSpec, Placement, Scene, Support};
use prehend_config::{Value, nearest};

/// How deep a thing may stand in the table, metres, before it is an error.
const SINK: f64 = 0.0015;

/// Reports everything that is wrong; `places` are the objects' places in the document, in the same order.
pub(super) fn check(scene: &Scene, places: &[Value<'_>]) {
    let pairs: Vec<(&ObjectSpec, &Value<'_>)> = scene.objects.iter().zip(places).collect();
    for (index, (object, place)) in pairs.iter().enumerate() {
        if pairs[..index].iter().any(|(earlier, _)| earlier.name == object.name) {
            place.report(format!("the name `{}` is used twice", object.name));
        }
        check_placement(scene, object, place);
    }
    if let Some(name) = repeated(scene.furniture.iter().map(|furniture| furniture.name.as_str()))
        && let Some(place) = places.first()
    {
        place.report(format!("two pieces of furniture are called `{name}`"));
    }
    check_overlaps(scene, &pairs);
    check_circles(scene, &pairs);
}

fn repeated<'a>(names: impl Iterator<Item = &'a str>) -> Option<String> {
    let mut seen = Vec::new();
    for name in names {
        if seen.contains(&name) {
            return Some(name.to_owned());
        }
        seen.push(name);
    }
    None
}

fn check_placement(scene: &Scene, object: &ObjectSpec, place: &Value<'_>) {
    let name = &object.name;
    let ground = if scene.room.is_some() { "in the room" } else { "on the table" };
    match &object.placement {
        Placement::Standing { x, y, .. } => {
            if !scene.table.holds(*x, *y, 0.0) {
                place.report(format!("`{name}` at [{x}, {y}] is not {ground}"));
            }
        }
        Placement::Pose(pose) => {
            if scene.room.is_none() && pose.translation.vector.amax() > 5.0 {
                place.report(format!("`{name}` is more than 5 m from the robot"));
            }
            if let Some(solid) = known_solid(scene, object) {
                let center = solid.pose.translation;
                let below = solid.bottom() < scene.table.height - SINK
                    && solid.top() > scene.table.height - scene.table.thickness;
                if scene.table.holds(center.x, center.y, 0.0) && below {
                    let depth = (scene.table.height - solid.bottom()) * 1000.0;
                    place.report(format!("`{name}` reaches {depth:.0} mm into the table"));
                }
            }
        }
        Placement::Region { x, y, .. } => {
            let corners = [(x[0], y[0]), (x[0], y[1]), (x[1], y[0]), (x[1], y[1])];
            if !corners.iter().any(|(cx, cy)| scene.table.holds(*cx, *cy, 0.0))
                && !scene.table.holds((x[0] + x[1]) / 2.0, (y[0] + y[1]) / 2.0, 0.0)
            {
                place.report(format!("the region of `{name}` is not {ground}"));
            }
        }
        Placement::Surface { by, .. } => check_support(scene, object, by, Support::On, place),
        Placement::Supported { by, support, .. } => check_support(scene, object, by, *support, place),
    }
}

fn check_support(scene: &Scene, object: &ObjectSpec, by: &str, support: Support, place: &Value<'_>) {
    let name = &object.name;
    let Some((carrier, link)) = scene.carrier(by) else {
        let others = scene.objects.iter().map(|other| other.name.as_str()).filter(|other| other != name);
        match nearest(by, others) {
            Some(near) => place.report(format!("there is no object `{by}`; did you mean `{near}`?")),
            None => place.report(format!("there is no object `{by}` for `{name}` to be on or in")),
        }
        return;
    };
    let carrier = &scene.objects[carrier];
    if link.is_some() && support == Support::On {
        place.report(format!("`{name}` cannot be on a link; `in: {by}` puts it inside"));
    }
    if support == Support::In {
        match carrier.hollow(link) {
            None => {
                place.report(format!("a {} has no inside: `{by}` cannot hold `{name}`", carrier.shape.name()))
            }
            Some((_, hollow)) => {
                let own = object.shape.half_extents();
                let narrow = own.x.min(own.y).min(own.z);
                if narrow > hollow.half[0].min(hollow.half[1]) {
                    place.report(format!("`{name}` does not fit into `{by}`"));
                }
            }
        }
    }
}

/// The solid of an object whose pose the file gives fully.
fn known_solid(scene: &Scene, object: &ObjectSpec) -> Option<Solid> {
    match &object.placement {
        Placement::Pose(pose) => Some(Solid::new(object, *pose)),
        Placement::Standing { x, y, yaw, lying } => {
            let yaw = match yaw {
                Some(yaw) => *yaw,
                None if object.shape.is_round() && !lying => 0.0,
                None => return None,
            };
            Some(Solid::standing(object, *x, *y, scene.table.height, orientation(yaw, *lying)))
        }
        Placement::Region { .. } | Placement::Surface { .. } | Placement::Supported { .. } => None,
    }
}

fn check_overlaps(scene: &Scene, pairs: &[(&ObjectSpec, &Value<'_>)]) {
    let furniture: Vec<(&str, Solid)> =
        scene.furniture.iter().map(|spec| (spec.name.as_str(), Solid::furniture(spec))).collect();
    let mut earlier: Vec<(&str, Solid)> = Vec::new();
    for (object, place) in pairs {
        let Some(solid) = known_solid(scene, object) else {
            continue;
        };
        for (other, other_solid) in furniture.iter().chain(&earlier) {
            if other_solid.intersects(&solid) {
                place.report(format!("`{}` overlaps `{other}`", object.name));
            }
        }
        earlier.push((&object.name, solid));
    }
}

fn check_circles(scene: &Scene, pairs: &[(&ObjectSpec, &Value<'_>)]) {
    for (object, place) in pairs {
        let mut at: &ObjectSpec = object;
        for step in 0..=scene.objects.len() {
            let (Placement::Supported { by, .. } | Placement::Surface { by, .. }) = &at.placement else {
                break;
            };
            let Some((next, _)) = scene.carrier(by) else {
                break;
            };
            let next = &scene.objects[next];
            if next.name == object.name || step == scene.objects.len() {
                place.report(format!("`{}` is carried by itself in a circle", object.name));
                break;
            }
            at = next;
        }
    }
}
