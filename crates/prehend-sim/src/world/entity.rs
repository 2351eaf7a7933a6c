//! What the judge and the detector tell apart: objects, and links with a class of their own.

use crate::scene::{Link, PlacedObject, Shape};
use nalgebra::Isometry3;

/// An object of the scene, or a link of one that has a class of its own: a drawer, a door.
#[derive(Clone, Debug, PartialEq)]
pub struct Entity {
    /// Unique name: the object's, or `object/link`.
    pub name: String,
    /// Class.
    pub class: String,
    /// Index of the object in the scene.
    pub object: usize,
    /// Index of the link in the object's model; `None` is the object as a whole.
    pub link: Option<usize>,
    /// The shape that stands for it.
    pub shape: Shape,
    /// The shape is a room with a roof.
    pub(super) is_enclosed: bool,
    /// `body_from_shape`.
    pub(super) body_from_shape: Isometry3<f64>,
    /// Index of its body among the objects' bodies.
    pub(super) body: usize,
}

impl Entity {
    pub(super) fn object(index: usize, object: &PlacedObject) -> Self {
        Self {
            name: object.spec.name.clone(),
            class: object.spec.class.clone(),
            object: index,
            link: None,
            shape: object.spec.shape,
            is_enclosed: root_of(object).is_some_and(|root| root.is_enclosed),
            body_from_shape: object.spec.object_from_shape(),
            body: index,
        }
    }

    /// A link with a class of its own; one without takes the object's.
    pub(super) fn link(index: usize, object: &PlacedObject, link: usize, body: usize) -> Self {
        let spec = object.spec.model.as_ref().and_then(|model| model.links.get(link));
        Self {
            name: format!("{}/{}", object.spec.name, spec.map_or("", |link| link.name.as_str())),
            class: spec.and_then(|link| link.class.clone()).unwrap_or_else(|| object.spec.class.clone()),
            object: index,
            link: Some(link),
            shape: spec.map_or(object.spec.shape, |link| link.shape),
            is_enclosed: spec.is_some_and(|link| link.is_enclosed),
            body_from_shape: spec.map_or_else(Isometry3::identity, |link| link.link_from_shape),
            body,
        }
    }
}

fn root_of(object: &PlacedObject) -> Option<&Link> {
    object.spec.model.as_ref().and_then(|model| model.links.first())
}
