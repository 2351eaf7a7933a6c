//! What differs between a world and the models that were read of it.

use super::tree::{ReadJoint, ReadLink, ReadModel};
use nalgebra::{Isometry3, Vector3};
use prehend_sim::World;
use prehend_sim::scene::{Joint, JointKind, Link, PlacedObject};
use prehend_sim::world::BodyProperties;

/// Every difference as a sentence.
pub(crate) fn findings(world: &World, models: &[ReadModel]) -> Vec<String> {
    let objects = world.objects();
    // Floor and table; a room has no table.
    let in_room = world.scene().scene.room.is_some();
    let fixtures = world.scene().scene.furniture.len() + if in_room { 1 } else { 2 };
    if models.len() != fixtures + objects.len() {
        return vec![format!("{} models, expected {fixtures} + {}", models.len(), objects.len())];
    }
    let mut found = Vec::new();
    let (still, moving) = models.split_at(fixtures);
    found.extend(
        still.iter().filter(|model| !model.is_static).map(|model| format!("{} is not static", model.name)),
    );
    let bodies = world.object_bodies();
    for (index, (object, model)) in objects.iter().zip(moving).enumerate() {
        let own: Vec<&BodyProperties> = bodies.iter().filter(|body| body.object == index).collect();
        found.extend(of_object(world, object, &own, model));
    }
    found
}

fn of_object(
    world: &World,
    object: &PlacedObject,
    bodies: &[&BodyProperties],
    model: &ReadModel,
) -> Vec<String> {
    let name = &object.spec.name;
    let links = object.spec.model.as_ref().map_or(1, |known| known.links.len());
    if model.links.len() != links || bodies.len() != links {
        return vec![format!("{name}: {} links, expected {links}", model.links.len())];
    }
    let mut found = Vec::new();
    for (link, body) in model.links.iter().zip(bodies) {
        found.extend(of_link(link, body).into_iter().map(|what| format!("{name}/{}: {what}", link.name)));
        let parts = match &object.spec.model {
            Some(known) => known.links[body.link].parts.clone(),
            None => object.parts(),
        };
        let felt = parts.iter().filter(|part| !part.only_seen).count();
        if link.collisions != felt {
            found.push(format!("{name}/{}: {} collisions, expected {felt}", link.name, link.collisions));
        }
    }
    let joints: &[Joint] = object.spec.model.as_ref().map_or(&[], |known| &known.joints);
    let stands = object.spec.fixed && !joints.is_empty();
    if model.is_static != (object.spec.fixed && joints.is_empty()) {
        found.push(format!("{name}: static is {}", model.is_static));
    }
    let (anchors, moving): (Vec<&ReadJoint>, Vec<_>) =
        model.joints.iter().partition(|joint| joint.parent == "world");
    if anchors.len() != usize::from(stands) || anchors.iter().any(|joint| joint.kind != "fixed") {
        found.push(format!("{name}: {} joints to the world", anchors.len()));
    }
    if moving.len() != joints.len() {
        found.push(format!("{name}: {} joints, expected {}", moving.len(), joints.len()));
        return found;
    }
    for (read, joint) in moving.iter().zip(joints) {
        let position = world.joint_position(name, &joint.name).expect("a joint");
        let ends = [&model.links[joint.parent].name, &model.links[joint.child].name];
        let child = object.spec.model.as_ref().map(|known| &known.links[joint.child]);
        let what = of_joint(read, joint, position, ends, child.expect("a link"));
        found.extend(what.into_iter().map(|what| format!("{name}/{}: {what}", joint.name)));
    }
    found
}

/// Equal to within a millionth, or the rounding of physics' f32. NaN is equal to nothing.
fn same(read: f64, expected: f64) -> bool {
    (read - expected).abs() <= 1e-6 * expected.abs() + 1e-9
}

fn of_link(read: &ReadLink, body: &BodyProperties) -> Vec<String> {
    let mut found = Vec::new();
    let off: Isometry3<f64> = body.pose.inverse() * read.pose;
    if !(off.translation.vector.norm() < 1e-6 && off.rotation.angle() < 1e-5) {
        found.push(format!("its pose is off by {off}"));
    }
    if !same(read.mass, body.mass) {
        found.push(format!("its mass is {}, expected {}", read.mass, body.mass));
    }
    let away: Vector3<f64> = read.center - body.center;
    if away.norm() > 1e-7 || away.norm().is_nan() {
        found.push(format!("its centre of mass is off by {away}"));
    }
    let scale = body.inertia.norm();
    let differs = (read.inertia - body.inertia).norm();
    if differs > 1e-6 * scale || differs.is_nan() {
        found.push(format!("its inertia is {}, expected {}", read.inertia, body.inertia));
    }
    found
}

fn of_joint(read: &ReadJoint, joint: &Joint, position: f64, ends: [&String; 2], child: &Link) -> Vec<String> {
    let mut found = Vec::new();
    let rigid = joint.locked || joint.breaks_at.is_some();
    let kind = match joint.kind {
        _ if rigid => "fixed",
        JointKind::Prismatic => "prismatic",
        JointKind::Revolute => "revolute",
    };
    if read.kind != kind {
        found.push(format!("it is {}, expected {kind}", read.kind));
    }
    if [&read.parent, &read.child] != ends {
        found.push(format!("it joins {} and {}", read.parent, read.child));
    }
    if rigid {
        return found;
    }
    if (read.axis - joint.axis.into_inner()).norm() > 1e-9 {
        found.push(format!("its axis is {}, expected {}", read.axis, joint.axis.into_inner()));
    }
    // A joint at its stop may be beyond it by as much as physics lets it.
    let near = |read: f64, expected: f64| (read - expected).abs() < 2e-3;
    for (limit, expected) in read.limits.iter().zip(joint.limits) {
        let exact = expected - position;
        let beyond = exact * (expected - f64::midpoint(joint.limits[0], joint.limits[1])) < 0.0;
        if !(same(*limit, exact) || beyond && near(*limit, exact)) {
            found.push(format!("a limit is {limit}, expected {exact}"));
        }
    }
    let (stiffness, rest) = joint.spring.map_or((0.0, position), |spring| (spring.stiffness, spring.rest));
    let usual = 0.4 * 2.0 * (stiffness * child.mass).sqrt();
    let damping = if joint.damping > 0.0 { joint.damping } else { usual };
    let friction = if joint.spring.is_some() { 0.0 } else { joint.friction };
    let dynamics = [
        ("damping", read.damping, damping),
        ("friction", read.friction, friction),
        ("spring's rest", read.spring[0], rest - position),
        ("stiffness", read.spring[1], stiffness),
    ];
    for (what, read, expected) in dynamics {
        if !same(read, expected) {
            found.push(format!("its {what} is {read}, expected {expected}"));
        }
    }
    found
}
