//! Models as URDF and back.

use crate::inertia::inertia;
use crate::mesh::MeshFile;
use crate::model::{Joint, JointKind, Link, Model, ModelError, Shape, Solid};
use nalgebra::{Isometry3, Point3, Translation3, Unit, UnitQuaternion, Vector3};
use std::fmt::Write;

/// What URDF wants of a joint that moves and nobody measured: effort in N or N m, speed in m/s or rad/s.
const EFFORT: f64 = 50.0;
const SPEED: f64 = 1.0;

/// Why a file is no model.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum UrdfError {
    /// It is no URDF.
    #[error("no URDF: {0}")]
    Parse(String),
    /// A kind of joint that things here do not have.
    #[error(
        "joint `{joint}` is of a kind that is not understood: fixed, prismatic, revolute and continuous are"
    )]
    Kind {
        /// Its name.
        joint: String,
    },
    /// A shape that is no box and no cylinder.
    #[error("link `{link}` has a shape that is not understood: boxes and cylinders are")]
    Shape {
        /// Its name.
        link: String,
    },
    /// A joint that turns its child's frame.
    #[error("the origin of joint `{joint}` is turned (rpy); that is not understood")]
    Turned {
        /// Its name.
        joint: String,
    },
    /// A joint that names a link that there is not.
    #[error("joint `{joint}` names link `{link}`, and there is none")]
    NoLink {
        /// The joint.
        joint: String,
        /// The link.
        link: String,
    },
    /// It is read, and is no model.
    #[error("{}", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))]
    Model(Vec<ModelError>),
}

/// The model as URDF: each solid as visual and collision, masses from volumes, axes as unit vectors.
pub fn to_urdf(model: &Model) -> String {
    to_urdf_with_meshes(model, &[])
}

/// The same, with meshes in the place of solids as visuals of the links that have some; collisions stay solids. Paths of files are
/// against the URDF's own folder.
pub fn to_urdf_with_meshes(model: &Model, meshes: &[MeshFile]) -> String {
    let mut text = String::new();
    // Writing to a string does not fail.
    let _ = write(&mut text, model, meshes);
    text
}

fn write(text: &mut String, model: &Model, meshes: &[MeshFile]) -> std::fmt::Result {
    writeln!(text, "<?xml version=\"1.0\"?>\n<robot name=\"{}\">", escaped(&model.name))?;
    for (index, link) in model.links.iter().enumerate() {
        writeln!(text, "  <link name=\"{}\">", escaped(&link.name))?;
        inertial(text, link)?;
        let own: Vec<&MeshFile> = meshes.iter().filter(|mesh| mesh.link == index).collect();
        for mesh in &own {
            let geometry = format!("<geometry><mesh filename=\"{}\"/></geometry>", escaped(&mesh.name));
            writeln!(text, "    <visual>\n      {geometry}\n    </visual>")?;
        }
        let tags: &[&str] = if own.is_empty() { &["visual", "collision"] } else { &["collision"] };
        for solid in &link.solids {
            for tag in tags {
                writeln!(text, "    <{tag}>\n      {}", origin(&solid.pose))?;
                let shape = match solid.shape {
                    Shape::Box(size) => format!("<box size=\"{}\"/>", numbers(size.iter())),
                    Shape::Cylinder { radius, length } => {
                        format!("<cylinder radius=\"{radius:.6}\" length=\"{length:.6}\"/>")
                    }
                };
                writeln!(text, "      <geometry>{shape}</geometry>\n    </{tag}>")?;
            }
        }
        writeln!(text, "  </link>")?;
    }
    for joint in &model.joints {
        let name = |link: usize| model.links.get(link).map_or_else(String::new, |link| escaped(&link.name));
        writeln!(text, "  <joint name=\"{}\" type=\"{}\">", escaped(&joint.name), joint.kind.name())?;
        writeln!(
            text,
            "    <parent link=\"{}\"/>\n    <child link=\"{}\"/>",
            name(joint.parent),
            name(joint.child)
        )?;
        writeln!(text, "    {}", origin(&Translation3::from(joint.origin.coords).into()))?;
        if joint.kind != JointKind::Fixed {
            writeln!(text, "    <axis xyz=\"{}\"/>", numbers(joint.axis.iter()))?;
        }
        if matches!(joint.kind, JointKind::Prismatic | JointKind::Revolute) {
            let [low, high] = joint.limits;
            writeln!(
                text,
                "    <limit lower=\"{low:.6}\" upper=\"{high:.6}\" effort=\"{EFFORT}\" velocity=\"{SPEED}\"/>"
            )?;
        }
        writeln!(text, "  </joint>")?;
    }
    writeln!(text, "</robot>")
}

/// Mass and inertia of a link: without them Gazebo leaves it out.
fn inertial(text: &mut String, link: &Link) -> std::fmt::Result {
    let inertia = inertia(link);
    let at = Isometry3::from_parts(Translation3::from(inertia.middle), UnitQuaternion::identity());
    writeln!(text, "    <inertial>\n      {}", origin(&at))?;
    writeln!(text, "      <mass value=\"{:.6}\"/>", inertia.mass)?;
    let [xx, yy, zz] = [0, 1, 2].map(|axis| inertia.about_middle[(axis, axis)]);
    let [xy, xz, yz] = [(0, 1), (0, 2), (1, 2)].map(|at| inertia.about_middle[at]);
    writeln!(
        text,
        "      <inertia ixx=\"{xx:.9}\" ixy=\"{xy:.9}\" ixz=\"{xz:.9}\" iyy=\"{yy:.9}\" iyz=\"{yz:.9}\" izz=\"{zz:.9}\"/>\n    </inertial>"
    )
}

fn origin(pose: &Isometry3<f64>) -> String {
    let (roll, pitch, yaw) = pose.rotation.euler_angles();
    format!(
        "<origin xyz=\"{}\" rpy=\"{}\"/>",
        numbers(pose.translation.vector.iter()),
        numbers([roll, pitch, yaw].iter())
    )
}

pub(crate) fn numbers<'a>(values: impl Iterator<Item = &'a f64>) -> String {
    // Without a minus before zero.
    values
        .map(|value| format!("{:.6}", if value.abs() < 5e-7 { 0.0 } else { *value }))
        .collect::<Vec<_>>()
        .join(" ")
}

pub(crate) fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// A model from URDF, of what [`to_urdf`] writes and likewise from others: boxes and cylinders, joints that do not turn their frames.
///
/// Errors: [`UrdfError`].
pub fn from_urdf(text: &str) -> Result<Model, UrdfError> {
    let robot = urdf_rs::read_from_string(text).map_err(|error| UrdfError::Parse(error.to_string()))?;
    let mut links = Vec::new();
    for link in &robot.links {
        let mut solids = Vec::new();
        let collisions = link.collision.iter().map(|part| (&part.origin, &part.geometry));
        let visuals = link.visual.iter().map(|part| (&part.origin, &part.geometry));
        let shapes: Vec<_> = if link.collision.is_empty() { visuals.collect() } else { collisions.collect() };
        for (pose, geometry) in shapes {
            let shape = match geometry {
                urdf_rs::Geometry::Box { size } => Shape::Box(Vector3::from(size.0)),
                urdf_rs::Geometry::Cylinder { radius, length } => {
                    Shape::Cylinder { radius: *radius, length: *length }
                }
                _ => return Err(UrdfError::Shape { link: link.name.clone() }),
            };
            solids.push(Solid { pose: isometry(pose), shape });
        }
        links.push(Link { name: link.name.clone(), class: String::new(), solids });
    }
    let mut joints = Vec::new();
    for joint in &robot.joints {
        let kind = match joint.joint_type {
            urdf_rs::JointType::Fixed => JointKind::Fixed,
            urdf_rs::JointType::Prismatic => JointKind::Prismatic,
            urdf_rs::JointType::Revolute => JointKind::Revolute,
            urdf_rs::JointType::Continuous => JointKind::Continuous,
            _ => return Err(UrdfError::Kind { joint: joint.name.clone() }),
        };
        if joint.origin.rpy.0.iter().any(|angle| angle.abs() > 1e-6) {
            return Err(UrdfError::Turned { joint: joint.name.clone() });
        }
        let index = |name: &str| {
            let found = links.iter().position(|link| link.name == name);
            found.ok_or_else(|| UrdfError::NoLink { joint: joint.name.clone(), link: name.to_owned() })
        };
        let axis = Unit::try_new(Vector3::from(joint.axis.xyz.0), 1e-9).unwrap_or_else(Vector3::x_axis);
        joints.push(Joint {
            name: joint.name.clone(),
            kind,
            parent: index(&joint.parent.link)?,
            child: index(&joint.child.link)?,
            origin: Point3::from(joint.origin.xyz.0),
            axis,
            limits: [joint.limit.lower, joint.limit.upper],
            uncertainty: None,
        });
    }
    // Link 0 is the root.
    if let Some(root) = (0..links.len()).find(|link| joints.iter().all(|joint| joint.child != *link))
        && root != 0
    {
        links.swap(0, root);
        let exchanged = |link: usize| {
            if link == 0 {
                root
            } else if link == root {
                0
            } else {
                link
            }
        };
        for joint in &mut joints {
            (joint.parent, joint.child) = (exchanged(joint.parent), exchanged(joint.child));
        }
    }
    let model = Model { name: robot.name, links, joints };
    model.check().map_err(UrdfError::Model)?;
    Ok(model)
}

fn isometry(pose: &urdf_rs::Pose) -> Isometry3<f64> {
    let [roll, pitch, yaw] = pose.rpy.0;
    Isometry3::from_parts(
        Translation3::from(Vector3::from(pose.xyz.0)),
        UnitQuaternion::from_euler_angles(roll, pitch, yaw),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn model() -> Model {
        let turned = Isometry3::new(Vector3::new(0.0, 0.1, 0.2), Vector3::new(0.3, -0.2, 0.9));
        let link = |name: &str, shape| Link {
            name: name.to_owned(),
            class: String::new(),
            solids: vec![Solid { pose: turned, shape }],
        };
        let joint = |name: &str, kind, child| Joint {
            name: name.to_owned(),
            kind,
            parent: 0,
            child,
            origin: Point3::new(0.1, -0.2, 0.3),
            axis: Unit::new_normalize(Vector3::new(1.0, 2.0, -1.0)),
            limits: if kind == JointKind::Continuous { [0.0; 2] } else { [-0.1, 0.4] },
            uncertainty: None,
        };
        Model {
            name: "a \"b\" & <c>".to_owned(),
            links: vec![
                link("body", Shape::Box(Vector3::new(0.2, 0.3, 0.4))),
                link("top drawer", Shape::Box(Vector3::new(0.1, 0.2, 0.01))),
                link("wheel", Shape::Cylinder { radius: 0.1, length: 0.02 }),
            ],
            joints: vec![joint("slide", JointKind::Prismatic, 1), joint("axle", JointKind::Continuous, 2)],
        }
    }

    #[test]
    fn what_is_written_is_read() {
        let model = model();
        let read = from_urdf(&to_urdf(&model)).expect("a model");
        assert_eq!(read.name, model.name);
        for (link, again) in model.links.iter().zip(&read.links) {
            assert_eq!(link.name, again.name);
            for (solid, again) in link.solids.iter().zip(&again.solids) {
                assert!((solid.half() - again.half()).norm() < 1e-6);
                let off = solid.pose.inverse() * again.pose;
                assert!(off.translation.vector.norm() < 1e-5 && off.rotation.angle() < 1e-5);
            }
        }
        for (joint, again) in model.joints.iter().zip(&read.joints) {
            assert_eq!((joint.kind, joint.parent, joint.child), (again.kind, again.parent, again.child));
            assert!((joint.axis.into_inner() - again.axis.into_inner()).norm() < 1e-5);
            assert!((joint.origin - again.origin).norm() < 1e-5);
        }
        assert_eq!(read.joints[0].limits, [-0.1, 0.4]);
        let mut hollow = model;
        hollow.links[2].solids.clear();
        assert_eq!(to_urdf(&hollow).matches("<mass value=\"0.010000\"/>").count(), 1);
    }

    #[test]
    fn what_is_no_model_is_told() {
        assert!(matches!(from_urdf("<robot"), Err(UrdfError::Parse(_))));
        let text = to_urdf(&model());
        let kind = text.replace("type=\"prismatic\"", "type=\"planar\"");
        assert!(matches!(from_urdf(&kind), Err(UrdfError::Kind { joint }) if joint == "slide"));
        let lost = text.replace("<child link=\"wheel\"/>", "<child link=\"spoon\"/>");
        assert!(matches!(from_urdf(&lost), Err(UrdfError::NoLink { link, .. }) if link == "spoon"));
        let limits = text.replace("upper=\"0.400000\"", "upper=\"-0.4\"");
        assert!(matches!(from_urdf(&limits), Err(UrdfError::Model(_))));
    }
}
