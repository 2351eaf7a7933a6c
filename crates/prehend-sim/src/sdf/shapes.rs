//! Collision and visual shapes of one link.

use super::labels::Labels;
use super::meshes::Meshes;
use super::xml::{Xml, numbers};
use crate::body::{PartShape, RenderItem, TriangleMesh};
use crate::scene::Color;
use nalgebra::Isometry3;

/// How surfaces of a link rub and bounce.
#[derive(Clone, Copy, Debug)]
pub(super) struct Surface {
    pub(super) friction: f64,
    pub(super) restitution: f64,
}

/// Writes what is felt, then what is seen, of the pieces of one link. `name` is that of the link in the names of meshes.
///
/// Hulls of one colour and label are one visual: a bowl has fifty of them.
pub(super) fn write(
    xml: &mut Xml,
    name: &str,
    items: &[&RenderItem],
    surface: Surface,
    labels: Option<&Labels>,
    meshes: &mut Meshes,
) {
    let felt = items.iter().filter(|item| !item.part.only_seen);
    for (number, item) in felt.enumerate() {
        xml.element("collision", &[("name", &format!("collision_{number}"))], |xml| {
            xml.pose(&item.part.body_from_part);
            geometry(xml, &item.part.shape, &format!("{name}_{number}"), meshes);
            rubs(xml, surface);
        });
    }
    let mut number = 0;
    let mut merged: Vec<(Color, Option<u8>, TriangleMesh)> = Vec::new();
    for item in items {
        let label = labels.and_then(|labels| labels.of_item(item));
        let PartShape::Hull(hull) = &item.part.shape else {
            visual(xml, number, &item.part.body_from_part, (item.part.color, label), |xml| {
                geometry(xml, &item.part.shape, "", meshes);
            });
            number += 1;
            continue;
        };
        match merged.iter_mut().find(|(color, known, _)| (*color, *known) == (item.part.color, label)) {
            Some((_, _, mesh)) => append(mesh, hull, &item.part.body_from_part),
            None => {
                let mut mesh = TriangleMesh { vertices: Vec::new(), triangles: Vec::new() };
                append(&mut mesh, hull, &item.part.body_from_part);
                merged.push((item.part.color, label, mesh));
            }
        }
    }
    for (index, (color, label, mesh)) in merged.into_iter().enumerate() {
        visual(xml, number + index, &Isometry3::identity(), (color, label), |xml| {
            geometry(xml, &PartShape::Hull(mesh), &format!("{name}_seen_{index}"), meshes);
        });
    }
}

fn visual(
    xml: &mut Xml,
    number: usize,
    pose: &Isometry3<f64>,
    (color, label): (Color, Option<u8>),
    geometry: impl FnOnce(&mut Xml),
) {
    xml.element("visual", &[("name", &format!("visual_{number}"))], |xml| {
        xml.pose(pose);
        geometry(xml);
        let [r, g, b] = color.0.map(|channel| f64::from(channel) / 255.0);
        xml.element("material", &[], |xml| {
            xml.text("ambient", &numbers(&[r, g, b, 1.0]));
            xml.text("diffuse", &numbers(&[r, g, b, 1.0]));
            xml.text("specular", "0.1 0.1 0.1 1");
        });
        if let Some(label) = label {
            let system = [("filename", "gz-sim-label-system"), ("name", "gz::sim::systems::Label")];
            xml.element("plugin", &system, |xml| xml.text("label", &label.to_string()));
        }
    });
}

fn geometry(xml: &mut Xml, shape: &PartShape, name: &str, meshes: &mut Meshes) {
    let round = |xml: &mut Xml, radius: f64, length: f64| {
        xml.number("radius", radius);
        xml.number("length", length);
    };
    xml.element("geometry", &[], |xml| match shape {
        PartShape::Box { half } => xml.element("box", &[], |xml| xml.vector("size", &(half * 2.0))),
        PartShape::Sphere { radius } => xml.element("sphere", &[], |xml| xml.number("radius", *radius)),
        PartShape::Cylinder { radius, half_height } => {
            xml.element("cylinder", &[], |xml| round(xml, *radius, 2.0 * half_height));
        }
        PartShape::Capsule { radius, half_height } => {
            xml.element("capsule", &[], |xml| round(xml, *radius, 2.0 * half_height));
        }
        PartShape::Hull(mesh) => {
            let path = meshes.add(name, mesh);
            xml.element("mesh", &[], |xml| xml.text("uri", &path));
        }
    });
}

fn rubs(xml: &mut Xml, surface: Surface) {
    xml.element("surface", &[], |xml| {
        xml.element("friction", &[], |xml| {
            xml.element("ode", &[], |xml| {
                xml.number("mu", surface.friction);
                xml.number("mu2", surface.friction);
            });
        });
        if surface.restitution > 0.0 {
            xml.element("bounce", &[], |xml| xml.number("restitution_coefficient", surface.restitution));
        }
    });
}

fn append(mesh: &mut TriangleMesh, other: &TriangleMesh, pose: &Isometry3<f64>) {
    let first = mesh.vertices.len() as u32;
    mesh.vertices.extend(other.vertices.iter().map(|vertex| pose * vertex));
    mesh.triangles.extend(other.triangles.iter().map(|triangle| triangle.map(|corner| first + corner)));
}
