//! Light: one sun-like lamp with a shadow map, a soft ambient, and two patterns.
//!
//! Light is white and brightness only scales a colour, so hue and saturation stay those of the scene file.

use super::drawable::{Drawable, Surface};
use super::raster::{ScreenTriangle, ZBuffer};
use crate::body::Owner;
use nalgebra::{Isometry3, Matrix3, Point3, Rotation3, Translation3, UnitQuaternion, Vector3};

/// Where the lamp stands, seen from the table: to the robot's right, high up.
const LAMP: [f64; 3] = [0.05, -0.50, 1.0];
/// Brightness of a surface that no lamp light reaches, and of one that faces the lamp.
const AMBIENT: f32 = 0.52;
const FULL: f32 = 1.03;
/// Share of the lamp's light that is kept in full shadow.
const SHADOW: f32 = 0.25;
/// Colour of the room.
const ROOM: [f32; 3] = [196.0, 204.0, 212.0];
/// Cells of a texture along each side.
const TEXELS: usize = 256;

pub(super) struct Shader {
    shadow: ZBuffer,
    texels: usize,
    to_lamp: Vector3<f32>,
    /// Rows: shadow map u, v and height towards the lamp, each of a world point (x, y, z, 1).
    map_from_world: [[f32; 4]; 3],
    margin: f32,
    wood: Vec<f32>,
}

/// How bright a surface is where the lamp reaches it, and where it does not.
#[derive(Clone, Copy)]
pub(super) struct Light {
    lit: f32,
    dark: f32,
}

/// A drawable as shading wants it.
pub(super) struct Paint {
    color: [f32; 3],
    surface: Surface,
    /// `mesh_from_world` rotation and translation, for patterns.
    turn: Matrix3<f32>,
    shift: Vector3<f32>,
}

impl Paint {
    pub(super) fn new(drawable: &Drawable) -> Self {
        let mesh_from_world = drawable.world_from_mesh.inverse();
        Self {
            color: drawable.color.map(f32::from),
            surface: drawable.surface,
            turn: *mesh_from_world.rotation.to_rotation_matrix().cast::<f32>().matrix(),
            shift: mesh_from_world.translation.vector.cast(),
        }
    }
}

impl Shader {
    pub(super) fn new(texels: usize) -> Self {
        Self {
            shadow: ZBuffer::new(),
            texels,
            to_lamp: Vector3::from(LAMP).normalize().cast(),
            map_from_world: [[0.0; 4]; 3],
            margin: 0.0,
            wood: wood(),
        }
    }

    /// Draws the shadow map: what the lamp sees of everything but the ground.
    pub(super) fn cast_shadows(&mut self, drawables: &[Drawable]) {
        let casting: Vec<&Drawable> = drawables.iter().filter(|d| d.owner != Owner::Floor).collect();
        let (mut low, mut high) = (Point3::from([f64::MAX; 3]), Point3::from([f64::MIN; 3]));
        // The map covers what moves and what stands about; a table only fills what is left of it.
        for d in casting.iter().filter(|d| d.owner != Owner::Table || casting.len() == 1) {
            let center = d.world_from_mesh * d.mesh.center;
            let reach = Vector3::repeat(d.mesh.radius);
            low = low.inf(&(center - reach));
            high = high.sup(&(center + reach));
        }
        self.shadow.clear(self.texels, self.texels, f32::MIN);
        if casting.is_empty() {
            return;
        }
        let center = nalgebra::center(&low, &high);
        let radius = ((high - low).norm() / 2.0).max(0.05);
        let turn = Rotation3::face_towards(&Vector3::from(LAMP), &Vector3::x()).inverse();
        let lamp_from_world =
            Isometry3::from_parts(Translation3::identity(), UnitQuaternion::from_rotation_matrix(&turn))
                * Translation3::from(-center.coords);
        let scale = self.texels as f64 / (2.0 * radius);
        let half = self.texels as f64 / 2.0;
        // A cell's slope towards the lamp can be steep: a cell and a half of height is forgiven.
        self.margin = (1.5 / scale).max(0.003) as f32;
        let matrix = lamp_from_world.to_homogeneous();
        for (row, (factor, offset)) in [(scale, half), (-scale, half), (1.0, 0.0)].into_iter().enumerate() {
            let mut line: [f32; 4] = std::array::from_fn(|k| (matrix[(row, k)] * factor) as f32);
            line[3] += offset as f32;
            self.map_from_world[row] = line;
        }
        for d in casting {
            let lamp_from_mesh = lamp_from_world * d.world_from_mesh;
            let points: Vec<[f64; 3]> = d
                .mesh
                .corners
                .iter()
                .map(|c| {
                    let p = lamp_from_mesh * c.point;
                    [p.x * scale + half, -p.y * scale + half, p.z]
                })
                .collect();
            for triangle in &d.mesh.triangles {
                let corners = triangle.map(|i| points[i as usize]);
                if let Some(screen) = ScreenTriangle::new(corners) {
                    let height = screen.linear(corners.map(|p| p[2]));
                    self.shadow.fill(&screen, height, 0);
                }
            }
        }
    }

    /// Brightness of a surface with this unit normal.
    #[inline]
    pub(super) fn light(&self, normal: &Vector3<f32>) -> Light {
        let slope = normal.dot(&self.to_lamp);
        // Half Lambert (Mitchell et al. 2007) keeps form visible on the side away from the lamp.
        let half = 0.5 + 0.5 * slope;
        let ambient = AMBIENT + 0.06 * normal.z;
        let lamp = (FULL - 0.06 - AMBIENT) * half * half;
        let dark = ambient + SHADOW * lamp;
        Light { lit: if slope > 0.0 { ambient + lamp } else { dark }, dark }
    }

    /// Colour of a point of a surface with this unit normal, both in the world.
    #[inline]
    pub(super) fn color(
        &self,
        paint: &Paint,
        point: &Vector3<f32>,
        normal: &Vector3<f32>,
        light: Light,
    ) -> [u8; 3] {
        let mut scale = light.dark;
        if light.lit > light.dark {
            scale += (light.lit - light.dark) * self.lit(point, normal);
        }
        if paint.surface != Surface::Plain {
            scale *= self.pattern(paint, point, normal);
        }
        let byte = |c: f32| (c * scale + 0.5).min(255.0) as u8;
        let [mut r, mut g, mut b] = paint.color;
        if paint.surface == Surface::Tiles {
            // A floor fades into the room.
            let far = ((point.x.hypot(point.y) - 1.6) / 2.4).clamp(0.0, 1.0);
            let fade = |c: f32, room: f32| c + (room - c) * far * far * (3.0 - 2.0 * far);
            (r, g, b) = (fade(r, ROOM[0]), fade(g, ROOM[1]), fade(b, ROOM[2]));
        }
        [byte(r), byte(g), byte(b)]
    }

    /// Share of the lamp's light that reaches a point, smoothed over neighbouring cells of the map.
    #[inline]
    fn lit(&self, point: &Vector3<f32>, normal: &Vector3<f32>) -> f32 {
        let point = point + normal * self.margin;
        let row = |m: &[f32; 4]| m[0] * point.x + m[1] * point.y + m[2] * point.z + m[3];
        let (u, v) = (row(&self.map_from_world[0]), row(&self.map_from_world[1]));
        let height = row(&self.map_from_world[2]) + self.margin;
        let edge = (self.texels - 2) as f32;
        if !(u >= 1.0 && v >= 1.0 && u < edge && v < edge) {
            return 1.0;
        }
        let (column, line) = (u as usize, v as usize);
        // The 4 x 4 cells around the point: their corners tell whether an edge of a shadow is near.
        let texels = self.texels;
        let first = (line - 1) * texels + column - 1;
        let Some(cells) = self.shadow.nearness.get(first..first + 3 * texels + 4) else { return 1.0 };
        let free = |i: usize| height > cells[i];
        let corner = free(0);
        if free(3) == corner
            && free(3 * texels) == corner
            && free(3 * texels + 3) == corner
            && free(texels + 1) == corner
        {
            return f32::from(u8::from(corner));
        }
        let (du, dv) = (u - column as f32, v - line as f32);
        let across = [1.0 - du, 1.0, 1.0, du];
        let down = [1.0 - dv, 1.0, 1.0, dv];
        let mut sum = 0.0;
        for (j, down) in down.iter().enumerate() {
            for (i, across) in across.iter().enumerate() {
                sum += f32::from(u8::from(free(j * texels + i))) * across * down;
            }
        }
        sum / 9.0
    }

    #[inline]
    fn pattern(&self, paint: &Paint, point: &Vector3<f32>, normal: &Vector3<f32>) -> f32 {
        let local = paint.turn * point + paint.shift;
        match paint.surface {
            Surface::Plain => 1.0,
            Surface::Wood => {
                if normal.z < 0.7 {
                    return 0.9;
                }
                // 1.5 mm a cell across the planks, 6 mm along them; the offset keeps both positive within 50 m.
                let (u, v) = (local.x * 160.0 + 32768.0, local.y * 640.0 + 32768.0);
                let (u0, v0) = (u as usize, v as usize);
                let (du, dv) = (u - u0 as f32, v - v0 as f32);
                let (u0, v0) = (u0 % TEXELS, v0 % TEXELS);
                let (u1, v1) = ((u0 + 1) % TEXELS, (v0 + 1) % TEXELS);
                let at = |u: usize, v: usize| self.wood[v * TEXELS + u];
                let top = at(u0, v0) * (1.0 - du) + at(u1, v0) * du;
                let bottom = at(u0, v1) * (1.0 - du) + at(u1, v1) * du;
                top * (1.0 - dv) + bottom * dv
            }
            Surface::Tiles => {
                let x = local.x.rem_euclid(0.4);
                let y = local.y.rem_euclid(0.4);
                let joint = x < 0.006 || y < 0.006;
                let odd = ((local.x / 0.4).floor() as i32 + (local.y / 0.4).floor() as i32).rem_euclid(2);
                if joint { 0.86 } else { 1.0 - 0.04 * odd as f32 }
            }
        }
    }

    /// Colour of the room where there is nothing, in this unit direction of the world.
    #[inline]
    pub(super) fn sky(&self, direction: &Vector3<f32>) -> [u8; 3] {
        let up = (direction.z * 0.5 + 0.5).clamp(0.0, 1.0);
        ROOM.map(|c: f32| (c * (0.82 + 0.24 * up)).min(255.0) as u8)
    }
}

/// Brightness of planks: long streaks, seamless.
fn wood() -> Vec<f32> {
    use super::dice;
    let noise = |u: usize, v: usize, cell_u: usize, cell_v: usize| {
        let (nu, nv) = (TEXELS / cell_u, TEXELS / cell_v);
        let at = |i: usize, j: usize| {
            dice::unit(dice::hash(&[7, cell_u as u64, cell_v as u64, (i % nu) as u64, (j % nv) as u64]))
                as f32
        };
        let smooth = |t: f32| t * t * (3.0 - 2.0 * t);
        let (i, j) = (u / cell_u, v / cell_v);
        let du = smooth((u % cell_u) as f32 / cell_u as f32);
        let dv = smooth((v % cell_v) as f32 / cell_v as f32);
        let top = at(i, j) * (1.0 - du) + at(i + 1, j) * du;
        let bottom = at(i, j + 1) * (1.0 - du) + at(i + 1, j + 1) * du;
        top * (1.0 - dv) + bottom * dv
    };
    let plank = TEXELS / 4;
    (0..TEXELS * TEXELS)
        .map(|index| {
            let (u, v) = (index % TEXELS, index / TEXELS);
            let tone = dice::unit(dice::hash(&[11, (v / plank) as u64])) as f32;
            let streak = noise(u, v, 64, 4) * 0.5 + noise(u, v, 32, 2) * 0.3 + noise(u, v, 128, 16) * 0.2;
            let joint = if v % plank == 0 { 0.93 } else { 1.0 };
            (0.93 + 0.03 * (tone - 0.5) + 0.12 * (streak - 0.5)) * joint
        })
        .collect()
}
