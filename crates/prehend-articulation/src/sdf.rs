//! Models as SDFormat 1.9, for Gazebo: a thing whose root is fixed to the world.

use crate::inertia::inertia;
use crate::mesh::MeshFile;
use crate::model::{JointKind, Model, Shape};
use crate::urdf::{escaped, numbers};
use nalgebra::{Isometry3, Matrix3, Translation3};
use std::fmt::Write;

/// Damping of slides, N s/m, and of turns, N m s/rad, which nobody measured: enough that nothing swings for ever.
const DAMPING: [f64; 2] = [2.0, 0.1];

/// The model as SDFormat: links at position 0 with mass, collisions and visuals; joints with axes, limits and damping. Visuals are the
/// meshes of the links that have some, by paths against the file's own folder.
pub fn to_sdf(model: &Model, meshes: &[MeshFile]) -> String {
    let mut text = String::new();
    // Writing to a string does not fail.
    let _ = write(&mut text, model, meshes);
    text
}

fn write(text: &mut String, model: &Model, meshes: &[MeshFile]) -> std::fmt::Result {
    let name = escaped(&model.name);
    writeln!(text, "<?xml version=\"1.0\"?>\n<sdf version=\"1.9\">\n  <model name=\"{name}\">")?;
    for (index, (link, pose)) in model.links.iter().zip(model.poses(&[])).enumerate() {
        writeln!(text, "    <link name=\"{}\">\n      {}", escaped(&link.name), placed(&pose))?;
        let mass = inertia(link);
        let at = placed(&Translation3::from(mass.middle).into());
        writeln!(text, "      <inertial>\n        {at}\n        <mass>{:.6}</mass>", mass.mass)?;
        writeln!(text, "        <inertia>{}</inertia>\n      </inertial>", moments(&mass.about_middle))?;
        let own: Vec<&MeshFile> = meshes.iter().filter(|mesh| mesh.link == index).collect();
        for (number, mesh) in own.iter().enumerate() {
            let uri = escaped(&mesh.name);
            writeln!(
                text,
                "      <visual name=\"visual_{number}\">\n        <geometry><mesh><uri>{uri}</uri></mesh></geometry>\n      </visual>"
            )?;
        }
        let tags: &[&str] = if own.is_empty() { &["visual", "collision"] } else { &["collision"] };
        for (number, solid) in link.solids.iter().enumerate() {
            let shape = match solid.shape {
                Shape::Box(size) => format!("<box><size>{}</size></box>", numbers(size.iter())),
                Shape::Cylinder { radius, length } => {
                    format!("<cylinder><radius>{radius:.6}</radius><length>{length:.6}</length></cylinder>")
                }
            };
            for tag in tags {
                writeln!(
                    text,
                    "      <{tag} name=\"{tag}_{number}\">\n        {}\n        <geometry>{shape}</geometry>\n      </{tag}>",
                    placed(&solid.pose)
                )?;
            }
        }
        writeln!(text, "    </link>")?;
    }
    let named = |link: usize| model.links.get(link).map_or_else(String::new, |link| escaped(&link.name));
    writeln!(
        text,
        "    <joint name=\"{} stands\" type=\"fixed\">\n      <parent>world</parent>\n      <child>{}</child>\n    </joint>",
        named(0),
        named(0)
    )?;
    for joint in &model.joints {
        let (name, kind) = (escaped(&joint.name), joint.kind.name());
        writeln!(text, "    <joint name=\"{name}\" type=\"{kind}\">")?;
        let (parent, child) = (named(joint.parent), named(joint.child));
        writeln!(text, "      <parent>{parent}</parent>\n      <child>{child}</child>")?;
        if joint.kind != JointKind::Fixed {
            writeln!(text, "      <axis>\n        <xyz>{}</xyz>", numbers(joint.axis.iter()))?;
            if joint.kind != JointKind::Continuous {
                let [low, high] = joint.limits;
                writeln!(text, "        <limit><lower>{low:.6}</lower><upper>{high:.6}</upper></limit>")?;
            }
            let damping = DAMPING[usize::from(joint.kind.turns())];
            writeln!(text, "        <dynamics><damping>{damping}</damping></dynamics>\n      </axis>")?;
        }
        writeln!(text, "    </joint>")?;
    }
    writeln!(text, "  </model>\n</sdf>")
}

fn placed(pose: &Isometry3<f64>) -> String {
    let (roll, pitch, yaw) = pose.rotation.euler_angles();
    let t = pose.translation;
    format!("<pose>{}</pose>", numbers([t.x, t.y, t.z, roll, pitch, yaw].iter()))
}

fn moments(inertia: &Matrix3<f64>) -> String {
    let names = [("ixx", 0, 0), ("ixy", 0, 1), ("ixz", 0, 2), ("iyy", 1, 1), ("iyz", 1, 2), ("izz", 2, 2)];
    names.map(|(name, row, column)| format!("<{name}>{:.9}</{name}>", inertia[(row, column)])).concat()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Joint, Link, Solid};
    use nalgebra::{Point3, Vector3};

    #[test]
    fn links_joints_and_masses_are_written() {
        let link = |name: &str, size| Link {
            name: name.to_owned(),
            class: String::new(),
            solids: vec![Solid::cuboid(Point3::new(0.0, 0.0, 0.1), size)],
        };
        let joint = Joint {
            name: "slide".to_owned(),
            kind: JointKind::Prismatic,
            parent: 0,
            child: 1,
            origin: Point3::new(-0.1, 0.2, 0.3),
            axis: -Vector3::x_axis(),
            limits: [-0.1, 0.4],
            uncertainty: None,
        };
        let nothing = Link { name: "nothing".to_owned(), class: String::new(), solids: Vec::new() };
        let turn = Joint { name: "turn".to_owned(), kind: JointKind::Revolute, child: 2, ..joint.clone() };
        let model = Model {
            name: "a & b".to_owned(),
            links: vec![
                link("body", Vector3::new(0.2, 0.3, 0.4)),
                link("drawer", Vector3::new(0.1, 0.2, 0.1)),
                nothing,
            ],
            joints: vec![joint, turn],
        };
        let mesh = MeshFile { link: 1, name: "meshes/drawer_0.stl".to_owned(), bytes: Vec::new() };
        let text = to_sdf(&model, &[mesh]);
        for wanted in [
            "<model name=\"a &amp; b\">",
            "<link name=\"drawer\">\n      <pose>-0.100000 0.200000 0.300000 0.000000 0.000000 0.000000</pose>",
            "<mass>0.600000</mass>",
            "<uri>meshes/drawer_0.stl</uri>",
            "<parent>world</parent>\n      <child>body</child>",
            "<joint name=\"slide\" type=\"prismatic\">",
            "<xyz>-1.000000 0.000000 0.000000</xyz>",
            "<limit><lower>-0.100000</lower><upper>0.400000</upper></limit>",
            "<damping>0.1</damping>",
        ] {
            assert!(text.contains(wanted), "{wanted} in\n{text}");
        }
        // Nothing is left out for want of a mass.
        assert_eq!(text.matches("<inertial>").count(), 3);
        assert_eq!(text.matches("<collision ").count(), 2);
    }
}
