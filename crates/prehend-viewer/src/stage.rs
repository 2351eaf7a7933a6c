//! What is shown at one moment.

use crate::floor::{Area, Floor, Patch, Stand};
use nalgebra::{Isometry3, Point3, Vector2, Vector3};
use prehend_geometry::{OrientedBox, PointCloud};
use prehend_motion::Shape;
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

impl Solid {
    /// The same in another stage.
    #[must_use]
    pub fn moved(self, other_from_stage: &Isometry3<f64>) -> Self {
        Self { stage_from_solid: other_from_stage * self.stage_from_solid, ..self }
    }
}

/// A part of a thing that one can act on.
#[derive(Clone, Debug, PartialEq)]
pub struct ShownPart {
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
    pub parts: Vec<ShownPart>,
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

/// What can be left out of a picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layer {
    /// The box that the tool does not leave.
    Fence,
    /// What the planner keeps clear of.
    Shapes,
    /// The map of the floor.
    Floor,
    /// Areas of the building.
    Areas,
    /// Names of things, parts and areas.
    Names,
}

/// How far from the robot the floor counts as a part of the stage, metres: a hall would make the robot a dot.
const SEEN_FLOOR: f64 = 6.0;

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
    pub fence: Option<OrientedBox>,
    /// What the planner keeps clear of, and what the robot holds as the planner sees it.
    pub shapes: Vec<Solid>,
    /// What the robot holds.
    pub held: Vec<Solid>,
    /// What it is called, at its place.
    pub held_name: Option<(String, Point3<f64>)>,
    /// The map of the floor; shared, because it changes seldom.
    pub floor: Option<Arc<Floor>>,
    /// Outline of the base in its own frame, x forward, y left, metres; empty when it does not drive.
    pub outline: Vec<[f64; 2]>,
    /// Where the base is and where it will be.
    pub stands: Vec<Stand>,
    /// The way that the base drives.
    pub route: Vec<Point3<f64>>,
    /// Areas of the building.
    pub areas: Arc<Vec<Area>>,
    /// What is left out.
    pub hidden: Vec<Layer>,
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

    /// Whether a layer is to be seen.
    pub fn shows(&self, layer: Layer) -> bool {
        !self.hidden.contains(&layer)
    }

    /// Leaves a layer out, or shows it again.
    pub fn toggle(&mut self, layer: Layer) {
        let before = self.hidden.len();
        self.hidden.retain(|hidden| *hidden != layer);
        if self.hidden.len() == before {
            self.hidden.push(layer);
        }
    }

    /// Least and greatest coordinates of robot, ghost, what is held, things, candidates, stands of the base, and the floor around the robot;
    /// `None` when there is none of them. Fence and shapes do not count: they are mostly empty air.
    pub fn extent(&self) -> Option<(Point3<f64>, Point3<f64>)> {
        let solids = self.robot.iter().chain(&self.ghost).chain(&self.held).map(|solid| {
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
        let stands = self
            .stands
            .iter()
            .map(|stand| (stand.stage_from_base.translation.vector, Vector3::new(0.3, 0.3, 0.0)));
        solids
            .chain(things)
            .chain(candidates)
            .chain(stands)
            .chain(self.floor_extent())
            .filter(|(middle, half)| middle.iter().chain(half.iter()).all(|number| number.is_finite()))
            .map(|(middle, half)| (Point3::from(middle - half), Point3::from(middle + half)))
            .reduce(|(low, high), (least, most)| (low.inf(&least), high.sup(&most)))
    }

    /// Middle and half of the size of the floor that is known near the robot, or near the middle of the grid without a robot.
    fn floor_extent(&self) -> Option<(Vector3<f64>, Vector3<f64>)> {
        let patches = &self.floor.as_ref()?.patches;
        let ends = |patch: &Patch| (Vector2::from(patch.low), Vector2::from(patch.high));
        let (low, high) = patches
            .iter()
            .map(ends)
            .reduce(|(low, high), (least, most)| (low.inf(&least), high.sup(&most)))?;
        let middle = match self.stands.first() {
            Some(stand) => stand.stage_from_base.translation.vector.xy(),
            None => (low + high) / 2.0,
        };
        let reach = Vector2::repeat(SEEN_FLOOR);
        let (low, high) = (low.sup(&(middle - reach)), high.inf(&(middle + reach)));
        let (middle, half) = ((low + high) / 2.0, (high - low) / 2.0);
        (half.min() > 0.0).then_some((middle.push(0.0), half.push(0.0)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::floor::{Occupancy, Standing};
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
    fn a_hall_counts_only_around_the_robot() {
        let hall = Patch { low: [-10.0, -200.0], high: [300.0, 2.0], ground: Occupancy::Free };
        let floor = Some(Arc::new(Floor { patches: vec![hall] }));
        let base = Stand { stage_from_base: Isometry3::translation(1.0, 0.0, 0.0), standing: Standing::Now };
        let stage = Stage { floor: floor.clone(), stands: vec![base], ..Default::default() };
        let (low, high) = stage.extent().expect("the floor");
        assert_relative_eq!(low, Point3::new(-5.0, -6.0, 0.0));
        assert_relative_eq!(high, Point3::new(7.0, 2.0, 0.0));
        let lost =
            Stand { stage_from_base: Isometry3::translation(f64::NAN, 0.0, 0.0), standing: Standing::Now };
        assert_eq!(Stage { floor, stands: vec![lost], ..Default::default() }.extent(), None);
    }

    #[test]
    fn a_layer_is_left_out_and_comes_back() {
        let mut stage = Stage::default();
        stage.toggle(Layer::Shapes);
        assert!(!stage.shows(Layer::Shapes) && stage.shows(Layer::Fence));
        stage.toggle(Layer::Shapes);
        assert!(stage.shows(Layer::Shapes));
    }

    #[test]
    fn a_line_is_one_line() {
        assert_eq!(PanelLine::new(Tone::Plain, "put the\nmug\taway").text, "put the mug away");
    }
}
