//! The stage as kiss3d keeps it.

use super::floor::add_floor;
use super::lines::{Line, PART, lines};
use super::merged::add_merged;
use super::panel::{write_names, write_panel};
use super::{BACKGROUND, light, vec3};
use crate::{Layer, ShownPart, Solid, Stage, Viewpoint};
use kiss3d::camera::{Camera2d, Camera3d, FixedView2d, OrbitCamera3d};
use kiss3d::color::Color;
use kiss3d::glamx::{Pose3, Quat, Vec3};
use kiss3d::light::Light;
use kiss3d::post_processing::Tonemap;
use kiss3d::scene::{SceneNode2d, SceneNode3d};
use kiss3d::window::Window;
use nalgebra::Isometry3;
use prehend_motion::Shape;
use prehend_scene::ObjectKey;
use std::sync::Arc;

/// Size of a point, pixels.
const POINT: f32 = 3.0;
/// Radius of the ball at a part, m.
const PART_RADIUS: f32 = 0.008;
/// From where the light comes, and how strong light from nowhere is.
const SUN: Vec3 = Vec3::new(-0.5, 0.4, -1.0);
const AMBIENT: f32 = 0.5;

/// A stage with what was made of it once, and not for every picture.
pub(super) struct Scene {
    stage: Stage,
    root: SceneNode3d,
    solids: SceneNode3d,
    floor: SceneNode3d,
    shapes: SceneNode3d,
    points: Vec<(Vec3, Color)>,
    lines: Vec<Line>,
}

impl Scene {
    /// An empty scene; the window, which must be there first, is set up for it.
    pub(super) fn new(window: &mut Window) -> Self {
        window.set_background_color(light(BACKGROUND, 1.0));
        window.set_ambient(AMBIENT);
        // Colours mean something here: they are shown as they are.
        window.set_tonemap(Tonemap::None);
        window.set_shadows_enabled(false);
        let mut root = SceneNode3d::empty();
        root.add_light(Light::directional(SUN).with_casts_shadows(false).with_intensity(2.0));
        let [solids, floor, shapes] = std::array::from_fn(|_| root.add_group());
        Self { stage: Stage::default(), root, solids, floor, shapes, points: Vec::new(), lines: Vec::new() }
    }

    /// What is shown.
    pub(super) fn stage(&self) -> &Stage {
        &self.stage
    }

    /// Shows another stage from now on.
    pub(super) fn show(&mut self, stage: Stage) {
        if !Arc::ptr_eq(&self.stage.things, &stage.things) {
            self.points = points(&stage);
        }
        self.lines = lines(&stage);
        let floor = |stage: &Stage| stage.floor.clone().filter(|_| stage.shows(Layer::Floor));
        let (before, now) = (floor(&self.stage), floor(&stage));
        if before.as_ref().map(Arc::as_ptr) != now.as_ref().map(Arc::as_ptr) {
            self.floor.remove();
            self.floor = self.root.add_group();
            if let Some(now) = now {
                add_floor(&mut self.floor, &now);
            }
        }
        self.solids.remove();
        self.solids = self.root.add_group();
        for solid in stage.robot.iter().chain(&stage.ghost) {
            add_solid(&mut self.solids, solid);
        }
        add_merged(&mut self.solids, &stage.held.iter().collect::<Vec<_>>());
        let shapes = |stage: &Stage| stage.shows(Layer::Shapes) && !stage.shapes.is_empty();
        if shapes(&self.stage) != shapes(&stage) || self.stage.shapes != stage.shapes {
            self.shapes.remove();
            self.shapes = self.root.add_group();
            if shapes(&stage) {
                add_merged(&mut self.shapes, &stage.shapes.iter().collect::<Vec<_>>());
            }
        }
        for part in stage.things.iter().flat_map(|thing| &thing.parts) {
            add_part(&mut self.solids, part);
        }
        self.stage = stage;
    }

    /// Selects a thing, or nothing.
    pub(super) fn select(&mut self, key: Option<ObjectKey>) {
        self.stage.selected = key;
        self.lines = lines(&self.stage);
    }

    /// Leaves a layer out, or shows it again.
    pub(super) fn toggle(&mut self, layer: Layer) {
        let mut stage = self.stage.clone();
        stage.toggle(layer);
        self.show(stage);
    }

    /// Draws one picture from where `camera` is, which is at `view`; whether the window is still open.
    pub(super) async fn draw(
        &mut self,
        window: &mut Window,
        camera: &mut OrbitCamera3d,
        view: &Viewpoint,
    ) -> bool {
        for (place, color) in &self.points {
            window.draw_point(*place, *color, POINT);
        }
        for Line { from, to, color, width } in &self.lines {
            window.draw_line(*from, *to, *color, *width, false);
        }
        if self.stage.shows(Layer::Names) {
            write_names(&self.stage, view, window);
        }
        let (mut behind, mut flat): (SceneNode2d, FixedView2d) = write_panel(&self.stage, view.width, window);
        let camera: &mut dyn Camera3d = camera;
        let flat: &mut dyn Camera2d = &mut flat;
        window.render(Some(&mut self.root), Some(&mut behind), Some(camera), Some(flat), None, None).await
    }
}

fn points(stage: &Stage) -> Vec<(Vec3, Color)> {
    let mut all = Vec::with_capacity(stage.point_count());
    for thing in stage.things.iter() {
        let own = light(thing.color, 1.0);
        let is_colored = thing.cloud.colors.len() == thing.cloud.len();
        for (index, place) in thing.cloud.points.iter().enumerate() {
            let color = if is_colored { light(thing.cloud.colors[index], 1.0) } else { own };
            all.push((vec3(place), color));
        }
    }
    all
}

fn pose(pose: &Isometry3<f64>) -> Pose3 {
    let (at, turn) = (pose.translation.vector, pose.rotation.coords.cast::<f32>());
    Pose3::from_parts(vec3(&at.into()), Quat::from_xyzw(turn.x, turn.y, turn.z, turn.w))
}

fn add_solid(group: &mut SceneNode3d, solid: &Solid) {
    let at = &solid.stage_from_solid;
    if !solid.shape.is_valid()
        || !at.translation.vector.iter().chain(at.rotation.coords.iter()).all(|n| n.is_finite())
    {
        return;
    }
    let mut stage_from_node = solid.stage_from_solid;
    let mut node = match &solid.shape {
        Shape::Box { half } => {
            let size = half.cast::<f32>() * 2.0;
            group.add_cube(size.x, size.y, size.z)
        }
        Shape::Cylinder { radius, half_length } => {
            // kiss3d's cylinders stand along y.
            let z_from_y = nalgebra::Vector3::x() * std::f64::consts::FRAC_PI_2;
            stage_from_node *= Isometry3::rotation(z_from_y);
            group.add_cylinder(*radius as f32, 2.0 * *half_length as f32)
        }
        Shape::Sphere { radius } => group.add_sphere(*radius as f32),
        Shape::Mesh { vertices, triangles } => {
            let vertices = vertices.iter().map(vec3).collect();
            group.add_trimesh(vertices, triangles.clone(), Vec3::ONE, true)
        }
    };
    node.set_pose(pose(&stage_from_node));
    node.set_color(light(solid.color, solid.opacity));
    node.set_roughness(0.8);
}

fn add_part(group: &mut SceneNode3d, part: &ShownPart) {
    let mut node = group.add_sphere(PART_RADIUS);
    node.set_position(vec3(&part.at));
    node.set_color(light(PART, 1.0));
}
