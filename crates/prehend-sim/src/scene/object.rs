//! An object as the scene file has it.

use super::placement::Placement;
use super::shape::Hollow;
use super::template::Template;
use super::{Color, Model, Scene, Shape};
use crate::body::{ConvexPart, object_parts};
use nalgebra::Isometry3;
use serde::Serialize;
use std::sync::Arc;

/// One object of a scene file.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ObjectSpec {
    /// Unique name; the judge's word for it, never seen by the robot.
    pub name: String,
    /// Class: any noun, lower case, spaces allowed; what the detector calls it.
    pub class: String,
    /// Shape with its sizes.
    pub shape: Shape,
    /// Colour.
    pub color: Color,
    /// The colour word of the scene file, when a word was used (for drawing up goals).
    pub color_name: Option<String>,
    /// Second colour: handle, label, inside or lid, by shape.
    pub second_color: Option<Color>,
    /// Mass, kg.
    pub mass: f64,
    /// Coulomb friction coefficient.
    pub friction: f64,
    /// Restitution, [0, 1].
    pub restitution: f64,
    /// Does not move.
    pub fixed: bool,
    /// Where it is, or where it may be.
    pub placement: Placement,
    /// Its links and joints, when it has some; `shape` then stands for its root link.
    pub model: Option<Box<Model>>,
    /// What its sizes are drawn from, when they are random.
    #[serde(skip)]
    pub(super) template: Option<Arc<Template>>,
}

impl ObjectSpec {
    /// Its parts in its own frame, joints where they start.
    pub fn parts(&self) -> Vec<ConvexPart> {
        match &self.model {
            Some(model) => model.parts(),
            None => object_parts(&self.shape, self.color, self.second_color),
        }
    }

    /// `object_from_shape`: where the centre of `shape` is in the object's frame.
    pub fn object_from_shape(&self) -> Isometry3<f64> {
        let root = self.model.as_ref().and_then(|model| model.links.first());
        root.map_or_else(Isometry3::identity, |link| link.link_from_shape)
    }

    /// `object_from_hollow` and the hollow of the object itself, or of one of its links with the joints where they start;
    /// `None` when that has none.
    pub(super) fn hollow(&self, link: Option<&str>) -> Option<(Isometry3<f64>, Hollow)> {
        let Some(model) = &self.model else {
            return Some((Isometry3::identity(), self.shape.hollow()?));
        };
        let index = model.links.iter().position(|known| link.is_none_or(|name| known.name == name))?;
        let link = &model.links[index];
        let half = link.shape.half_extents();
        let hollow = match link.shape.hollow() {
            None if link.is_enclosed => Hollow { half: [half.x, half.y], floor: -half.z },
            open => open?,
        };
        Some((model.start_poses()[index] * link.link_from_shape, hollow))
    }

    /// Whether things get into the hollow from the side only: a drawer under another, a room with a roof.
    pub(super) fn is_roofed(&self, link: Option<&str>) -> bool {
        let root = self.model.as_ref().and_then(|model| model.links.first());
        link.is_some() || root.is_some_and(|root| root.is_enclosed)
    }
}

impl Scene {
    /// What `NAME`, or `NAME/LINK`, means: the index of an object, and the link of it.
    pub(super) fn carrier<'n>(&self, by: &'n str) -> Option<(usize, Option<&'n str>)> {
        let named = |name: &str| self.objects.iter().position(|object| object.name == name);
        if let Some(index) = named(by) {
            return Some((index, None));
        }
        let (name, link) = by.rsplit_once('/')?;
        let index = named(name)?;
        let links = &self.objects[index].model.as_ref()?.links;
        links.iter().any(|known| known.name == link).then_some((index, Some(link)))
    }
}
