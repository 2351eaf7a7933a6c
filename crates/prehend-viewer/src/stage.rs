//! What is shown at one moment.

use nalgebra::{Isometry3, Point3, Vector3};
use prehend_geometry::{OrientedBox, PointCloud};
use prehend_motion::{Fence, Shape};
use prehend_scene::ObjectKey;
use std::sync::Arc;

/// A colour as a screen shows it (sRGB): red, green, blue.
pub type Rgb = [u8; 3];

/// A solid at its place.
#[derive(Clone, Debug, PartialEq)]
pub struct Solid {
    /// Pose of the shape in the stage.
    pub stage_from_solid: Isometry3<f64>,
    /// The shape.
    pub shape: Shape,
    /// Its colour.
    pub color: Rgb,
    /// How much it hides of what is behind it, (0, 1].
    pub opacity: f64,
}

/// A part of a thing that one can act on.
#[derive(Clone, Debug, PartialEq)]
pub struct Part {
    /// Its name, such as `handle`.
    pub name: String,
    /// What acts on it, such as `pinch_pull`; `None` for a part that was only seen.
    pub skill: Option<&'static str>,
    /// How sure it is, [0, 1].
    pub sure: f64,
    /// Its middle.
    pub at: Point3<f64>,
    /// The way out of it, a unit vector; `None` when it is not known.
    pub normal: Option<Vector3<f64>>,
}

/// An object of the map.
#[derive(Clone, Debug, PartialEq)]
pub struct Thing {
    /// Its key in the map.
    pub key: ObjectKey,
    /// What it is called; the key when nobody named it.
    pub name: String,
    /// How sure the name is, [0, 1].
    pub sure: f64,
    /// Its points; may be empty.
    pub cloud: PointCloud,
    /// The box around it.
    pub bounds: OrientedBox,
    /// Colour of points that have none of their own.
    pub color: Rgb,
    /// Its parts.
    pub parts: Vec<Part>,
    /// What is known of it, a line each.
    pub known: Vec<String>,
}

/// A pose of the tool that a skill may choose.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Candidate {
    /// Pose of the tool: z is the approach direction, the pads open along y.
    pub stage_from_tool: Isometry3<f64>,
    /// Distance between the pads, m.
    pub opening: f64,
    /// Whether it was chosen.
    pub chosen: bool,
}

/// How a line of the panel is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tone {
    /// What the lines below it are about.
    Title,
    /// As it is.
    Plain,
    /// Something went as wished.
    Good,
    /// Something did not.
    Bad,
}

/// A line of the panel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PanelLine {
    /// Its text, one line.
    pub text: String,
    /// How it is meant.
    pub tone: Tone,
}

impl PanelLine {
    /// A line; line breaks and other control characters in `text` become spaces.
    pub fn new(tone: Tone, text: impl AsRef<str>) -> Self {
        let text = text.as_ref().chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
        Self { text, tone }
    }
}

/// What is shown now.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Stage {
    /// The robot's links.
    pub robot: Vec<Solid>,
    /// The robot where a plan will bring it.
    pub ghost: Vec<Solid>,
    /// The objects of the map; shared, because the map changes seldom and the robot with every frame.
    pub things: Arc<Vec<Thing>>,
    /// Key of the thing that was clicked.
    pub selected: Option<ObjectKey>,
    /// Grasps and places that were found.
    pub candidates: Vec<Candidate>,
    /// The box that the tool does not leave.
    pub fence: Option<Fence>,
    /// Words beside the picture, top to bottom.
    pub panel: Vec<PanelLine>,
}

impl Stage {
    /// The thing that was clicked, when it is still there.
    pub fn selected_thing(&self) -> Option<&Thing> {
        let key = self.selected.as_ref()?;
        self.things.iter().find(|thing| thing.key == *key)
    }

    /// Number of points of all clouds.
    pub fn point_count(&self) -> usize {
        self.things.iter().map(|thing| thing.cloud.len()).sum()
    }

    /// Least and greatest coordinates of robot, ghost, things and candidates; `None` when there is none of them. The fence does not
    /// count: it is mostly empty air.
    pub fn extent(&self) -> Option<(Point3<f64>, Point3<f64>)> {
        let solids = self.robot.iter().chain(&self.ghost).map(|solid| {
            let radius = solid.shape.bounding_radius();
            (solid.stage_from_solid.translation.vector, Vector3::repeat(radius))
        });
        let things = self.things.iter().map(|thing| {
            let OrientedBox { pose, size } = &thing.bounds;
            let turned = pose.rotation.to_rotation_matrix().matrix().abs();
            (pose.translation.vector, turned * size / 2.0)
        });
        let candidates = self
            .candidates
            .iter()
            .map(|candidate| (candidate.stage_from_tool.translation.vector, Vector3::repeat(0.05)));
        solids
            .chain(things)
            .chain(candidates)
            .filter(|(middle, half)| middle.iter().chain(half.iter()).all(|number| number.is_finite()))
            .map(|(middle, half)| (Point3::from(middle - half), Point3::from(middle + half)))
            .reduce(|(low, high), (least, most)| (low.inf(&least), high.sup(&most)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use approx::assert_relative_eq;

    #[test]
    fn the_extent_holds_turned_boxes_and_leaves_out_what_is_no_number() {
        assert_eq!(Stage::default().extent(), None);
        let quarter = Vector3::z() * std::f64::consts::FRAC_PI_2;
        let bounds = OrientedBox {
            pose: Isometry3::new(Vector3::new(1.0, 0.0, 0.1), quarter),
            size: Vector3::new(0.4, 0.2, 0.2),
        };
        let thing = |bounds| crate::things::tests::named("mug_0", bounds);
        let broken = OrientedBox { pose: Isometry3::translation(f64::NAN, 0.0, 0.0), ..bounds };
        let stage = Stage { things: Arc::new(vec![thing(bounds), thing(broken)]), ..Default::default() };
        let (low, high) = stage.extent().expect("something is there");
        assert_relative_eq!(low, Point3::new(0.9, -0.2, 0.0), epsilon = 1e-9);
        assert_relative_eq!(high, Point3::new(1.1, 0.2, 0.2), epsilon = 1e-9);
    }

    #[test]
    fn a_line_is_one_line() {
        assert_eq!(PanelLine::new(Tone::Plain, "put the\nmug\taway").text, "put the mug away");
    }
}
