//! A picture of drawables: colour, distance and whose surface each pixel is.

use super::drawable::Drawable;
use super::raster::{Linear, NOTHING, ScreenTriangle, ZBuffer};
use super::shade::{Light, Paint, Shader};
use crate::body::Owner;
use nalgebra::{Isometry3, Point3, Vector3};
use prehend_geometry::{ColorImage, Intrinsics, camera::BadIntrinsics};

/// Nothing nearer than this is drawn, metres: the camera may sit inside its own housing.
const NEAR: f64 = 0.01;

/// Where a picture is taken from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct View {
    /// Pose of the camera (x right, y down, z forward).
    pub world_from_camera: Isometry3<f64>,
    /// The camera.
    pub intrinsics: Intrinsics,
}

/// Whose surface each pixel shows: 0 is background (floor, table, furniture), `1 + i` is object `i` of the scene,
/// [`LabelImage::ROBOT`] is the robot.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LabelImage {
    /// Width, pixels.
    pub width: usize,
    /// Height, pixels.
    pub height: usize,
    /// `[height, width]` labels, row-major.
    pub labels: Vec<u16>,
}

impl LabelImage {
    /// Label of the robot's own links.
    pub const ROBOT: u16 = u16::MAX;

    /// Label of an owner's pixels.
    pub fn label_of(owner: Owner) -> u16 {
        match owner {
            Owner::Floor | Owner::Table | Owner::Furniture(_) => 0,
            Owner::Robot(_) => Self::ROBOT,
            Owner::Object(index) => u16::try_from(index + 1).unwrap_or(Self::ROBOT).min(Self::ROBOT - 1),
        }
    }
}

/// A picture without noise.
#[derive(Clone, Debug, PartialEq)]
pub struct Picture {
    /// Shaded colour.
    pub color: ColorImage,
    /// `[height, width]` distances along the optical axis, metres, row-major; 0 where there is nothing.
    pub depth: Vec<f32>,
    /// Whose surface each pixel shows.
    pub labels: LabelImage,
    /// Which named region each pixel shows; 0 is none. See [`Stage::region_classes`](super::Stage::region_classes).
    pub parts: LabelImage,
    /// `[height, width]` cosines between the surface normal and the way back to the camera, row-major; 0 where there is nothing.
    pub facing: Vec<f32>,
}

/// What cannot be drawn.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum RenderError {
    /// The intrinsics are not those of a camera.
    #[error(transparent)]
    Intrinsics(#[from] BadIntrinsics),
    /// The camera's pose is not finite.
    #[error("the pose of the camera is not finite")]
    CameraPose,
    /// A drawable's pose is not finite.
    #[error("the pose of drawable {index} is not finite")]
    DrawablePose {
        /// Its index.
        index: usize,
    },
}

/// Draws pictures; keeps its buffers from one to the next.
pub struct Renderer {
    buffer: ZBuffer,
    shader: Shader,
    triangles: Vec<Seen>,
    rays_of: Option<Intrinsics>,
    ray_x: Vec<f32>,
    ray_length: Vec<f32>,
}

/// A triangle on the screen, as shading wants it.
struct Seen {
    /// Index of its drawable.
    drawable: u32,
    surface: SeenSurface,
}

enum SeenSurface {
    /// World normal and light, the same all over.
    Flat { normal: Vector3<f32>, light: Light },
    /// World normal divided by z, linear on the screen: per pixel u, per pixel v, constant.
    Smooth([Vector3<f32>; 3]),
}

impl Default for Renderer {
    fn default() -> Self {
        Self::new()
    }
}

impl Renderer {
    /// A renderer with soft shadows for a camera.
    pub fn new() -> Self {
        Self::with_shadow_map(512)
    }

    /// A renderer whose shadow map has `texels` x `texels` cells, at least 8.
    pub fn with_shadow_map(texels: usize) -> Self {
        Self {
            buffer: ZBuffer::new(),
            shader: Shader::new(texels.max(8)),
            triangles: Vec::new(),
            rays_of: None,
            ray_x: Vec::new(),
            ray_length: Vec::new(),
        }
    }

    /// Draws one picture.
    ///
    /// Errors: [`RenderError`].
    pub fn render(&mut self, view: &View, drawables: &[Drawable]) -> Result<Picture, RenderError> {
        view.intrinsics.validate()?;
        if !finite(&view.world_from_camera) {
            return Err(RenderError::CameraPose);
        }
        if let Some(index) = drawables.iter().position(|d| !finite(&d.world_from_mesh)) {
            return Err(RenderError::DrawablePose { index });
        }
        let (width, height) = (view.intrinsics.width, view.intrinsics.height);
        self.buffer.clear(width, height, 0.0);
        self.triangles.clear();
        for (index, drawable) in drawables.iter().enumerate() {
            self.draw(view, drawable, index as u32);
        }
        self.shader.cast_shadows(drawables);
        Ok(self.shade(view, drawables))
    }

    fn draw(&mut self, view: &View, drawable: &Drawable, index: u32) {
        let camera_from_mesh = view.world_from_camera.inv_mul(&drawable.world_from_mesh);
        let mesh = &drawable.mesh;
        let k = &view.intrinsics;
        if outside(&(camera_from_mesh * mesh.center), mesh.radius, k) {
            return;
        }
        let turn = drawable.world_from_mesh.rotation.to_rotation_matrix().cast::<f32>();
        let points: Vec<Point3<f64>> = mesh.corners.iter().map(|c| camera_from_mesh * c.point).collect();
        let normals: Vec<Vector3<f32>> = mesh.corners.iter().map(|c| turn * c.normal).collect();
        for triangle in &mesh.triangles {
            let [a, b, c] = triangle.map(|i| i as usize);
            let corners = [(points[a], normals[a]), (points[b], normals[b]), (points[c], normals[c])];
            if corners.iter().all(|(p, _)| p.z >= NEAR) {
                self.draw_triangle(k, corners, index);
            } else {
                let (clipped, count) = clip(corners);
                for i in 2..count {
                    self.draw_triangle(k, [clipped[0], clipped[i - 1], clipped[i]], index);
                }
            }
        }
    }

    fn draw_triangle(&mut self, k: &Intrinsics, corners: [CameraCorner; 3], drawable: u32) {
        let on_screen = corners.map(|(p, _)| {
            let near = 1.0 / p.z;
            [k.fx * p.x * near + k.cx, k.fy * p.y * near + k.cy, near]
        });
        let Some(screen) = ScreenTriangle::new(on_screen) else { return };
        let nearness = screen.linear(on_screen.map(|p| p[2]));
        let [n0, n1, n2] = corners.map(|(_, n)| n);
        let surface = if n0 == n1 && n1 == n2 {
            SeenSurface::Flat { normal: n0, light: self.shader.light(&n0) }
        } else {
            let mut lines = [Vector3::zeros(); 3];
            for axis in 0..3 {
                let values = std::array::from_fn(|i| f64::from(corners[i].1[axis]) * on_screen[i][2]);
                let line: Linear = screen.linear(values);
                for (vector, value) in lines.iter_mut().zip(line) {
                    vector[axis] = value as f32;
                }
            }
            SeenSurface::Smooth(lines)
        };
        self.buffer.fill(&screen, nearness, self.triangles.len() as u32);
        self.triangles.push(Seen { drawable, surface });
    }

    fn shade(&mut self, view: &View, drawables: &[Drawable]) -> Picture {
        let k = &view.intrinsics;
        let (width, height) = (k.width, k.height);
        let size = width * height;
        let mut picture = Picture {
            color: ColorImage::filled(width, height, [0; 3]),
            depth: vec![0.0; size],
            labels: LabelImage { width, height, labels: vec![0; size] },
            parts: LabelImage { width, height, labels: vec![0; size] },
            facing: vec![0.0; size],
        };
        self.prepare_rays(k);
        let labels: Vec<u16> = drawables.iter().map(|d| LabelImage::label_of(d.owner)).collect();
        let paints: Vec<Paint> = drawables.iter().map(Paint::new).collect();
        let turn = view.world_from_camera.rotation.to_rotation_matrix().cast::<f32>();
        let right: Vector3<f32> = turn.matrix().column(0).into();
        let origin = view.world_from_camera.translation.vector.cast::<f32>();
        for v in 0..height {
            let y = ((v as f64 - k.cy) / k.fy) as f32;
            // World ray of pixel (u, v) with z = 1 in the camera: column sums of the rotation.
            let base: Vector3<f32> = turn.matrix().column(1) * y + turn.matrix().column(2);
            let row = v * width..(v + 1) * width;
            let seen = self.buffer.triangle[row.clone()].iter().zip(&self.buffer.nearness[row.clone()]);
            let rays = self.ray_x.iter().zip(&self.ray_length[row.clone()]);
            let color = picture.color.pixels[row.clone()].iter_mut();
            let depth = picture.depth[row.clone()].iter_mut();
            let label =
                picture.labels.labels[row.clone()].iter_mut().zip(&mut picture.parts.labels[row.clone()]);
            let facing = picture.facing[row].iter_mut();
            let out = color.zip(depth).zip(label.zip(facing));
            for (u, (((triangle, near), (x, length)), ((color, depth), ((label, part), facing)))) in
                seen.zip(rays).zip(out).enumerate()
            {
                let ray = right * *x + base;
                if *triangle == NOTHING {
                    *color = self.shader.sky(&(ray / *length));
                    continue;
                }
                let seen = &self.triangles[*triangle as usize];
                let z = 1.0 / near;
                let point = origin + ray * z;
                *depth = z;
                *label = labels[seen.drawable as usize];
                *part = drawables[seen.drawable as usize].region;
                let (normal, light) = match &seen.surface {
                    SeenSurface::Flat { normal, light } => (*normal, *light),
                    SeenSurface::Smooth(lines) => {
                        let (u, v) = (u as f32, v as f32);
                        let normal = lines[0] * u + lines[1] * v + lines[2];
                        let normal = normal / normal.norm().max(1e-9);
                        (normal, self.shader.light(&normal))
                    }
                };
                *facing = (-normal.dot(&ray) / length).clamp(0.0, 1.0);
                *color = self.shader.color(&paints[seen.drawable as usize], &point, &normal, light);
            }
        }
        picture
    }

    /// Lengths of the rays with z = 1, kept while the camera stays the same.
    fn prepare_rays(&mut self, k: &Intrinsics) {
        if self.rays_of == Some(*k) {
            return;
        }
        self.ray_x = (0..k.width).map(|u| ((u as f64 - k.cx) / k.fx) as f32).collect();
        self.ray_length.clear();
        for v in 0..k.height {
            let y = ((v as f64 - k.cy) / k.fy) as f32;
            self.ray_length.extend(self.ray_x.iter().map(|x| (x * x + y * y + 1.0).sqrt()));
        }
        self.rays_of = Some(*k);
    }
}

fn finite(pose: &Isometry3<f64>) -> bool {
    pose.translation.vector.iter().chain(pose.rotation.coords.iter()).all(|x| x.is_finite())
}

/// Whether a sphere in the camera frame is certainly not in the picture.
fn outside(center: &Point3<f64>, radius: f64, k: &Intrinsics) -> bool {
    let beyond = |axis: f64, focal: f64, low: f64, high: f64| {
        // Distances from the planes through the camera and the two borders of the picture.
        let (low, high) = (low / focal, high / focal);
        axis - low * center.z < -radius * (1.0 + low * low).sqrt()
            || axis - high * center.z > radius * (1.0 + high * high).sqrt()
    };
    center.z + radius < NEAR
        || beyond(center.x, k.fx, -k.cx - 1.0, k.width as f64 - k.cx)
        || beyond(center.y, k.fy, -k.cy - 1.0, k.height as f64 - k.cy)
}

/// A corner in the camera frame with its world normal.
type CameraCorner = (Point3<f64>, Vector3<f32>);

/// Cuts a triangle at the near plane: up to four corners, and how many.
fn clip(corners: [CameraCorner; 3]) -> ([CameraCorner; 4], usize) {
    let mut kept = [corners[0]; 4];
    let mut count = 0;
    for i in 0..3 {
        let (a, b) = (corners[i], corners[(i + 1) % 3]);
        if a.0.z >= NEAR {
            kept[count] = a;
            count += 1;
        }
        if (a.0.z >= NEAR) != (b.0.z >= NEAR) {
            let t = (NEAR - a.0.z) / (b.0.z - a.0.z);
            let mut point = a.0 + (b.0 - a.0) * t;
            point.z = NEAR;
            kept[count] = (point, a.1 + (b.1 - a.1) * t as f32);
            count += 1;
        }
    }
    (kept, count)
}
