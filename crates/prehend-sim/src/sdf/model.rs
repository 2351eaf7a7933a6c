//! Models: what stands fixed, and the objects with their joints.

use super::labels::Labels;
use super::meshes::Meshes;
use super::names::Names;
use super::shapes::{self, Surface};
use super::xml::Xml;
use super::{Loss, SdfError};
use crate::World;
use crate::body::{Owner, RenderItem};
use crate::scene::{JointKind, PlacedObject};
use crate::world::{BodyProperties, JointProperties};
use nalgebra::Isometry3;

/// Angular damping above which something is one that rolls, 1/s.
const ROLLS: f64 = 10.0;

/// Floor, table and furniture, each a static model.
pub(super) fn fixtures(xml: &mut Xml, world: &World, names: &mut Names, meshes: &mut Meshes) {
    let items = world.render_items();
    let furniture = &world.scene().scene.furniture;
    let pieces = (0..furniture.len()).map(Owner::Furniture);
    for owner in [Owner::Floor, Owner::Table].into_iter().chain(pieces) {
        let own: Vec<&RenderItem> =
            items.iter().filter(|item| item.owner == owner && item.body == 0).collect();
        if own.is_empty() {
            continue;
        }
        let name = names.unique(match owner {
            Owner::Floor => "floor",
            Owner::Table => "table",
            Owner::Furniture(index) => &furniture[index].name,
            Owner::Robot(_) | Owner::Object(_) => "",
        });
        let surface =
            Surface { friction: world.fixture_friction(owner).unwrap_or_default(), restitution: 0.0 };
        xml.element("model", &[("name", &name)], |xml| {
            xml.text("static", "true");
            xml.element("link", &[("name", "link")], |xml| {
                shapes::write(xml, &name, &own, surface, None, meshes);
            });
        });
    }
}

/// An object as it is written.
struct Object<'a> {
    placed: &'a PlacedObject,
    /// Its bodies by link.
    bodies: Vec<&'a BodyProperties>,
    joints: Vec<&'a JointProperties>,
    /// Its pieces by link.
    items: Vec<Vec<&'a RenderItem>>,
}

/// The objects: a model each, with its links where they are now.
pub(super) fn objects(
    xml: &mut Xml,
    world: &World,
    labels: &Labels,
    names: &mut Names,
    meshes: &mut Meshes,
    losses: &mut Vec<Loss>,
) -> Result<(), SdfError> {
    let (bodies, joints, items) = (world.object_bodies(), world.object_joints(), world.render_items());
    let first_body = 1 + world.model().links().len();
    for (index, placed) in world.objects().iter().enumerate() {
        let own = bodies.iter().enumerate().filter(|(_, body)| body.object == index);
        let (numbers, own): (Vec<usize>, Vec<&BodyProperties>) = own.unzip();
        let of_body = |number: &usize| {
            let body = first_body + number;
            items.iter().filter(move |item| item.body == body).collect::<Vec<&RenderItem>>()
        };
        let object = Object {
            placed,
            bodies: own,
            joints: joints.iter().filter(|joint| joint.object == index).collect(),
            items: numbers.iter().map(of_body).collect(),
        };
        note_losses(&object, losses);
        write(xml, &object, labels, names, meshes)?;
    }
    Ok(())
}

fn write(
    xml: &mut Xml,
    object: &Object<'_>,
    labels: &Labels,
    names: &mut Names,
    meshes: &mut Meshes,
) -> Result<(), SdfError> {
    let spec = &object.placed.spec;
    let Some(root) = object.bodies.first() else { return Ok(()) };
    // SDF wants names that are unique among links and joints together.
    let mut inner = Names::default();
    let links: Vec<String> = (0..object.bodies.len())
        .map(|link| match &spec.model {
            Some(model) => inner.unique(&model.links[link].name),
            None => inner.unique("link"),
        })
        .collect();
    let still = root.fixed && object.joints.is_empty();
    for (body, link) in object.bodies.iter().zip(&links) {
        let weighs = body.mass > 0.0 && body.inertia.diagonal().iter().all(|moment| *moment > 0.0);
        if !body.fixed && !weighs {
            return Err(SdfError::Massless { name: format!("{}/{link}", spec.name), mass: body.mass });
        }
    }
    let name = names.unique(&spec.name);
    let base_from_root = root.pose;
    xml.element("model", &[("name", &name)], |xml| {
        xml.pose(&base_from_root);
        if still {
            xml.text("static", "true");
        }
        for ((body, items), link) in object.bodies.iter().zip(&object.items).zip(&links) {
            let surface = Surface { friction: body.friction, restitution: body.restitution };
            xml.element("link", &[("name", link)], |xml| {
                let root_from_link =
                    if body.link == 0 { Isometry3::identity() } else { base_from_root.inverse() * body.pose };
                xml.pose(&root_from_link);
                inertial(xml, body);
                shapes::write(xml, &format!("{name}_{link}"), items, surface, Some(labels), meshes);
            });
        }
        if root.fixed && !still {
            xml.element("joint", &[("name", &inner.unique("stands")), ("type", "fixed")], |xml| {
                xml.text("parent", "world");
                xml.text("child", &links[0]);
            });
        }
        for known in object.joints.iter().filter(|joint| !joint.broken) {
            let (parent, child) = (&links[known.spec.parent], &links[known.spec.child]);
            joint(xml, known, &inner.unique(&known.spec.name), parent, child);
        }
    });
    Ok(())
}

fn inertial(xml: &mut Xml, body: &BodyProperties) {
    if body.mass <= 0.0 {
        return;
    }
    xml.element("inertial", &[], |xml| {
        xml.pose(&Isometry3::from_parts(body.center.into(), nalgebra::UnitQuaternion::identity()));
        xml.number("mass", body.mass);
        xml.element("inertia", &[], |xml| {
            let moments =
                [("ixx", 0, 0), ("ixy", 0, 1), ("ixz", 0, 2), ("iyy", 1, 1), ("iyz", 1, 2), ("izz", 2, 2)];
            for (tag, row, column) in moments {
                xml.number(tag, body.inertia[(row, column)]);
            }
        });
    });
}

/// A joint whose zero is where it is now; its frame is the child's.
fn joint(xml: &mut Xml, joint: &JointProperties, name: &str, parent: &str, child: &str) {
    let kind = match joint.spec.kind {
        _ if joint.rigid => "fixed",
        JointKind::Prismatic => "prismatic",
        JointKind::Revolute => "revolute",
    };
    xml.element("joint", &[("name", name), ("type", kind)], |xml| {
        xml.text("parent", parent);
        xml.text("child", child);
        if joint.rigid {
            return;
        }
        xml.element("axis", &[], |xml| {
            xml.vector("xyz", &joint.spec.axis);
            xml.element("limit", &[], |xml| {
                let [lower, upper] = joint.spec.limits.map(|limit| limit - joint.position);
                // A joint that rests against its stop may be a little beyond it.
                xml.number("lower", lower.min(0.0));
                xml.number("upper", upper.max(0.0));
            });
            xml.element("dynamics", &[], |xml| {
                xml.number("damping", joint.damping);
                xml.number("friction", joint.friction);
                if let Some(spring) = joint.spec.spring {
                    xml.number("spring_reference", spring.rest - joint.position);
                    xml.number("spring_stiffness", spring.stiffness);
                }
            });
        });
    });
}

fn note_losses(object: &Object<'_>, losses: &mut Vec<Loss>) {
    let name = || object.placed.spec.name.clone();
    for joint in &object.joints {
        let called = joint.spec.name.clone();
        if let Some(latch) = joint.spec.latch.filter(|_| !joint.rigid) {
            losses.push(Loss::Latch { object: name(), joint: called, force: latch.force, at: latch.at });
        } else if let Some(force) = joint.spec.breaks_at.filter(|_| !joint.spec.locked && !joint.broken) {
            losses.push(Loss::Breaking { object: name(), joint: called, force });
        }
    }
    // With one joint there are only a parent and its child, which do not touch here either.
    if object.bodies.len() > 2 {
        losses.push(Loss::OwnContacts { object: name(), links: object.bodies.len() });
    }
    if object.bodies.iter().any(|body| !body.fixed && body.angular_damping > ROLLS) {
        losses.push(Loss::Rolling { object: name() });
    }
}
