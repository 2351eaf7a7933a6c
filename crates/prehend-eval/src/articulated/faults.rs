//! One fault planted in a model that is right.

use super::things::Thing;
use nalgebra::{Translation3, Unit, UnitQuaternion, Vector3};
use prehend_articulation::critic::{JointFailure, LinkFailure, Verdicts};
use prehend_articulation::{JointKind, Model, Shape, Solid};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use serde::Serialize;

/// What is planted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Fault {
    /// Slides instead of turning, or the other way round.
    Type,
    /// The axis turned by 5 to 90 degrees.
    Axis,
    /// The origin moved by 1 to 20 cm across the axis.
    Origin,
    /// It opens the other way.
    Reversed,
    /// The upper limit halved.
    Halved,
    /// The upper limit doubled.
    Doubled,
    /// A part held 4 to 15 cm before its place.
    Floating,
    /// A part 4 to 12 cm inside of its whole.
    Intersecting,
    /// A part left out.
    Missing,
    /// A part on the other side of the middle.
    Mirrored,
}

impl Fault {
    /// All of them.
    pub const ALL: [Self; 10] = [
        Self::Type,
        Self::Axis,
        Self::Origin,
        Self::Reversed,
        Self::Halved,
        Self::Doubled,
        Self::Floating,
        Self::Intersecting,
        Self::Missing,
        Self::Mirrored,
    ];

    /// Its word.
    pub fn name(self) -> &'static str {
        match self {
            Self::Type => "type",
            Self::Axis => "axis",
            Self::Origin => "origin",
            Self::Reversed => "reversed",
            Self::Halved => "halved",
            Self::Doubled => "doubled",
            Self::Floating => "floating",
            Self::Intersecting => "intersecting",
            Self::Missing => "missing",
            Self::Mirrored => "mirrored",
        }
    }

    /// Whether the verdicts say so of the right joint or link.
    pub fn is_named(self, verdicts: &Verdicts, part: usize, link: &str) -> bool {
        let joint = |wanted| verdicts.joints.iter().any(|v| v.part == part && v.failure_reason == wanted);
        let placed = |wanted| verdicts.links.iter().any(|v| v.link == link && v.failure == wanted);
        match self {
            Self::Type => joint(JointFailure::JointType),
            Self::Axis => joint(JointFailure::JointAxis),
            Self::Origin => joint(JointFailure::JointOrigin),
            Self::Reversed | Self::Halved | Self::Doubled => joint(JointFailure::JointLimit),
            Self::Floating => placed(LinkFailure::Floating),
            Self::Intersecting => placed(LinkFailure::Intersecting),
            Self::Missing => placed(LinkFailure::Missing),
            Self::Mirrored => placed(LinkFailure::Symmetry),
        }
    }
}

/// A model with a fault, and the links of its parts.
pub struct Planted {
    /// The model.
    pub model: Model,
    /// Link of each part.
    pub links: Vec<Option<usize>>,
}

/// A right model as a candidate has it.
pub fn gold(thing: &Thing) -> Planted {
    let links = (1..thing.model.links.len()).map(Some).collect();
    Planted { model: thing.model.clone(), links }
}

/// Plants a fault in the joint or link of a part; `None` where the thing cannot have it.
pub fn plant(thing: &Thing, fault: Fault, part: usize, rng: &mut ChaCha8Rng) -> Option<Planted> {
    let mut planted = gold(thing);
    let model = &mut planted.model;
    let link = part + 1;
    let outward = outward(thing, part);
    let joint = &mut model.joints[part];
    let across = {
        let side = if joint.axis.z.abs() < 0.7 { Vector3::z() } else { Vector3::x() };
        let first = joint.axis.cross(&side).normalize();
        let angle = rng.random_range(0.0..std::f64::consts::TAU);
        UnitQuaternion::from_axis_angle(&joint.axis, angle) * first
    };
    match fault {
        Fault::Type => {
            if joint.kind == JointKind::Prismatic {
                // About an edge of its face, upright.
                joint.kind = JointKind::Revolute;
                joint.limits = [0.0, 1.6];
                joint.axis = Vector3::z_axis();
            } else {
                joint.kind = JointKind::Prismatic;
                joint.limits = [0.0, 0.4];
                joint.axis = Unit::new_normalize(outward);
            }
        }
        Fault::Axis => {
            let angle = rng.random_range(5.0_f64..90.0).to_radians();
            let turn = UnitQuaternion::from_axis_angle(&Unit::new_normalize(across), angle);
            joint.axis = turn * joint.axis;
        }
        Fault::Origin => {
            if !joint.kind.turns() {
                return None;
            }
            let off = across * rng.random_range(0.01..0.20);
            joint.origin += off;
            // The link stays where it is.
            shift(&mut model.links[link].solids, -off);
        }
        Fault::Reversed => joint.axis = -joint.axis,
        Fault::Halved => joint.limits[1] /= 2.0,
        Fault::Doubled => joint.limits[1] *= 2.0,
        // A drawer before its place is an open drawer.
        Fault::Floating if joint.kind == JointKind::Prismatic => return None,
        Fault::Floating => shift(&mut model.links[link].solids, outward * rng.random_range(0.04..0.15)),
        Fault::Intersecting => {
            shift(&mut model.links[link].solids, -outward * rng.random_range(0.04..0.12));
        }
        Fault::Missing => {
            model.links.remove(link);
            model.joints.remove(part);
            for joint in model.joints.iter_mut().filter(|joint| joint.child > link) {
                joint.child -= 1;
            }
            planted.links[part] = None;
            for of in planted.links.iter_mut().flatten().filter(|of| **of > link) {
                *of -= 1;
            }
        }
        Fault::Mirrored => {
            let middle = model.links[0].middle();
            let there = model.links[link].middle() + joint.origin.coords;
            let off = 2.0 * (middle - there).component_mul(&Vector3::new(0.0, 1.0, 0.0));
            if off.norm() < 0.05 {
                return None;
            }
            let about = there.y;
            for solid in &mut model.links[link].solids {
                // Reflected, not only moved: the handle changes sides within the part.
                let y = solid.pose.translation.y + joint.origin.y;
                solid.pose.translation.y = 2.0 * about - y + off.y - joint.origin.y;
            }
        }
    }
    Some(planted)
}

fn shift(solids: &mut [Solid], by: Vector3<f64>) {
    for solid in solids {
        solid.pose = Translation3::from(by) * solid.pose;
    }
}

/// Across the face of a part, towards the side on which it is held, in the thing's frame.
fn outward(thing: &Thing, part: usize) -> Vector3<f64> {
    let Some(face) = thing.model.links[part + 1].solids.first() else { return -Vector3::x() };
    let thin = match face.shape {
        Shape::Box(size) => size.imin(),
        Shape::Cylinder { .. } => 2,
    };
    let normal = face.pose.rotation * Vector3::ith(thin, 1.0);
    let there = face.pose.translation.vector + thing.model.joints[part].origin.coords;
    let side = there - thing.model.links[0].middle().coords;
    if normal.dot(&side) < 0.0 { -normal } else { normal }
}
