#![allow(dead_code, reason = "each test file uses its part")]
//! SDF read back: XML as a tree, and the models in it.

use nalgebra::{Isometry3, Matrix3, Quaternion, Translation3, UnitQuaternion, Vector3};
use xml::reader::{EventReader, XmlEvent};

/// An element.
#[derive(Debug, Default)]
pub(crate) struct Element {
    pub(crate) tag: String,
    pub(crate) attributes: Vec<(String, String)>,
    pub(crate) text: String,
    pub(crate) children: Vec<Element>,
}

impl Element {
    /// Parses a document; gives its root.
    pub(crate) fn parse(text: &str) -> Self {
        let mut open = vec![Self::default()];
        for event in EventReader::from_str(text) {
            match event.expect("well-formed XML") {
                XmlEvent::StartElement { name, attributes, .. } => {
                    let attributes =
                        attributes.into_iter().map(|own| (own.name.local_name, own.value)).collect();
                    open.push(Self { tag: name.local_name, attributes, ..Self::default() });
                }
                XmlEvent::Characters(text) => open.last_mut().expect("an element").text.push_str(&text),
                XmlEvent::EndElement { .. } => {
                    let done = open.pop().expect("an element");
                    open.last_mut().expect("its parent").children.push(done);
                }
                _ => {}
            }
        }
        open.pop().and_then(|mut all| all.children.pop()).expect("a root")
    }

    pub(crate) fn all<'a, 't>(&'a self, tag: &'t str) -> impl Iterator<Item = &'a Self> + use<'a, 't> {
        self.children.iter().filter(move |child| child.tag == tag)
    }

    /// The first element down this path, such as `axis/limit/lower`.
    pub(crate) fn find(&self, path: &str) -> Option<&Self> {
        path.split('/').try_fold(self, |at, tag| at.all(tag).next())
    }

    pub(crate) fn attribute(&self, key: &str) -> &str {
        self.attributes.iter().find(|(known, _)| known == key).map_or("", |(_, value)| value)
    }

    pub(crate) fn numbers(&self, path: &str) -> Vec<f64> {
        let found = self.find(path).map_or("", |element| element.text.as_str());
        found.split_whitespace().map(|word| word.parse().expect("a number")).collect()
    }

    /// NaN, which is equal to nothing, when it is not there.
    fn number(&self, path: &str) -> f64 {
        self.numbers(path).first().copied().unwrap_or(f64::NAN)
    }

    fn pose(&self) -> Isometry3<f64> {
        match self.numbers("pose")[..] {
            [x, y, z, i, j, k, w] => Isometry3::from_parts(
                Translation3::new(x, y, z),
                UnitQuaternion::from_quaternion(Quaternion::new(w, i, j, k)),
            ),
            [] => Isometry3::identity(),
            ref other => panic!("a pose of {} numbers", other.len()),
        }
    }
}

/// A model as some reader found it.
#[derive(Clone, Debug)]
pub(crate) struct ReadModel {
    pub(crate) name: String,
    pub(crate) is_static: bool,
    pub(crate) links: Vec<ReadLink>,
    pub(crate) joints: Vec<ReadJoint>,
}

/// A link; `pose` is in the world's frame, inertia about the centre of mass along the link's axes.
#[derive(Clone, Debug)]
pub(crate) struct ReadLink {
    pub(crate) name: String,
    pub(crate) pose: Isometry3<f64>,
    pub(crate) mass: f64,
    pub(crate) center: Vector3<f64>,
    pub(crate) inertia: Matrix3<f64>,
    pub(crate) collisions: usize,
}

/// A joint; the axis is in the child's frame.
#[derive(Clone, Debug)]
pub(crate) struct ReadJoint {
    pub(crate) name: String,
    pub(crate) kind: String,
    pub(crate) parent: String,
    pub(crate) child: String,
    pub(crate) axis: Vector3<f64>,
    pub(crate) limits: [f64; 2],
    pub(crate) damping: f64,
    pub(crate) friction: f64,
    /// Position without force and stiffness.
    pub(crate) spring: [f64; 2],
}

/// The models of an SDF by its XML alone.
pub(crate) fn models(sdf: &str) -> Vec<ReadModel> {
    let root = Element::parse(sdf);
    assert_eq!((root.tag.as_str(), root.attribute("version")), ("sdf", "1.9"));
    root.find("world").expect("a world").all("model").map(model).collect()
}

fn model(element: &Element) -> ReadModel {
    let pose = element.pose();
    ReadModel {
        name: element.attribute("name").to_owned(),
        is_static: element.find("static").is_some_and(|found| found.text == "true"),
        links: element.all("link").map(|found| link(found, &pose)).collect(),
        joints: element.all("joint").map(joint).collect(),
    }
}

fn link(element: &Element, world_from_model: &Isometry3<f64>) -> ReadLink {
    let moment = |name: &str| element.number(&format!("inertial/inertia/{name}"));
    let [xy, xz, yz] = ["ixy", "ixz", "iyz"].map(moment);
    let [xx, yy, zz] = ["ixx", "iyy", "izz"].map(moment);
    ReadLink {
        name: element.attribute("name").to_owned(),
        pose: world_from_model * element.pose(),
        mass: element.number("inertial/mass"),
        center: element.find("inertial").map_or_else(Vector3::zeros, |own| own.pose().translation.vector),
        inertia: Matrix3::new(xx, xy, xz, xy, yy, yz, xz, yz, zz),
        collisions: element.all("collision").count(),
    }
}

fn joint(element: &Element) -> ReadJoint {
    let text = |path: &str| element.find(path).map_or(String::new(), |found| found.text.clone());
    // What SDF has when nothing is said.
    let or_zero = |path: &str| element.numbers(path).first().copied().unwrap_or(0.0);
    let axis = element.numbers("axis/xyz");
    ReadJoint {
        name: element.attribute("name").to_owned(),
        kind: element.attribute("type").to_owned(),
        parent: text("parent"),
        child: text("child"),
        axis: if axis.len() == 3 { Vector3::from_column_slice(&axis) } else { Vector3::zeros() },
        limits: [element.number("axis/limit/lower"), element.number("axis/limit/upper")],
        damping: or_zero("axis/dynamics/damping"),
        friction: or_zero("axis/dynamics/friction"),
        spring: [or_zero("axis/dynamics/spring_reference"), or_zero("axis/dynamics/spring_stiffness")],
    }
}
