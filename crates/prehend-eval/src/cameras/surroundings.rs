//! What stands around the things and is none of them: the walls of a bin, fixtures, walls behind the table, the links of a robot.

use crate::clutter::HEIGHT;
use nalgebra::{Isometry3, Point3, Translation3, UnitQuaternion, Vector3};
use prehend_sim::body::Owner;
use prehend_sim::sensors::mesh::Mesh;
use prehend_sim::sensors::{Drawable, Surface};
use rand::{Rng, RngExt};
use std::f64::consts::{FRAC_PI_2, PI};
use std::sync::Arc;

/// Share of the scenes with the walls of a bin, and with a wall behind the table.
const BIN: f64 = 0.4;
const WALL: f64 = 0.3;
/// Most fixtures and links.
const FIXTURES: usize = 3;
/// How far all of them stay away from the line of sight to the middle, metres.
const CLEAR: f64 = 0.05;

/// A solid at its place: half of its greatest extent tells how near it comes.
struct Solid {
    mesh: Mesh,
    place: Isometry3<f64>,
    reach: f64,
}

impl Solid {
    fn cuboid(size: [f64; 3], place: Isometry3<f64>) -> Self {
        Self { mesh: Mesh::cuboid(size), place, reach: Vector3::from(size).norm() / 2.0 }
    }

    fn cylinder(radius: f64, length: f64, place: Isometry3<f64>) -> Self {
        Self { mesh: Mesh::cylinder(radius, length), place, reach: radius.hypot(length / 2.0) }
    }

    fn drawable(self, color: [u8; 3]) -> Drawable {
        Drawable {
            mesh: Arc::new(self.mesh),
            world_from_mesh: self.place,
            color,
            surface: Surface::Plain,
            owner: Owner::Furniture(0),
            region: 0,
        }
    }
}

/// What stands around things that lie up to `spread` from the middle of the table; nothing of it stands between the camera's `eye` and them.
pub(super) fn around(rng: &mut impl Rng, spread: f64, eye: &Point3<f64>) -> Vec<Drawable> {
    let about = |angle: f64| UnitQuaternion::from_axis_angle(&Vector3::z_axis(), angle);
    let turned = |angle: f64, away: f64, height: f64| {
        let turn = about(angle);
        Isometry3::from_parts(Translation3::from(turn * Vector3::x() * away), turn)
            * Translation3::new(0.0, 0.0, HEIGHT + height)
    };
    let mut drawn = Vec::new();
    if rng.random_bool(BIN) {
        let color: [u8; 3] = std::array::from_fn(|_| rng.random_range(60..230));
        let (yaw, high, thick) =
            (rng.random_range(-PI..PI), rng.random_range(0.04..0.25), rng.random_range(0.003..0.02));
        let half: [f64; 2] = std::array::from_fn(|_| spread + rng.random_range(0.06..0.2));
        // Slanting outwards, as those of plastic bins do.
        let slant = UnitQuaternion::from_axis_angle(&Vector3::y_axis(), rng.random_range(0.0..0.25));
        drawn.extend((0..4).map(|side| {
            let place =
                turned(yaw + f64::from(side) * FRAC_PI_2, half[side as usize % 2], high / 2.0) * slant;
            Solid::cuboid([thick, 2.0 * half[1 - side as usize % 2], high], place).drawable(color)
        }));
    }
    if rng.random_bool(WALL) {
        let place = turned(rng.random_range(-PI..PI), rng.random_range(0.35..0.6), 0.2);
        let wall = Solid::cuboid([0.02, 3.0, 1.4], place);
        // Not between the camera and the things.
        if (place.inverse() * eye).x < -CLEAR {
            drawn.push(wall.drawable([rng.random_range(120..240); 3]));
        }
    }
    for _ in 0..rng.random_range(0..=FIXTURES) {
        let (angle, away) = (rng.random_range(-PI..PI), spread + rng.random_range(0.1..0.4));
        let size: [f64; 3] = std::array::from_fn(|_| rng.random_range(0.05..0.4));
        let solid = match rng.random_range(0..3) {
            0 => Solid::cuboid(size, turned(angle, away + size[0] / 2.0, size[2] / 2.0)),
            1 => Solid::cylinder(size[0] / 2.0, size[2], turned(angle, away + size[0] / 2.0, size[2] / 2.0)),
            // A link that reaches in from the side.
            _ => {
                let tip = UnitQuaternion::from_axis_angle(
                    &Vector3::y_axis(),
                    FRAC_PI_2 - rng.random_range(-0.6..0.9),
                );
                Solid::cylinder(
                    rng.random_range(0.03..0.08),
                    0.6,
                    turned(angle, away + 0.2, rng.random_range(0.1..0.35)) * tip,
                )
            }
        };
        let color: [u8; 3] = std::array::from_fn(|_| rng.random_range(40..240));
        if is_clear(&solid, eye) {
            drawn.push(solid.drawable(color));
        }
    }
    drawn
}

/// Whether a solid leaves the line from the eye to the middle of the table free.
fn is_clear(solid: &Solid, eye: &Point3<f64>) -> bool {
    let middle = Point3::new(0.0, 0.0, HEIGHT);
    let sight = middle - eye;
    let at = Point3::from(solid.place.translation.vector);
    let along = ((at - eye).dot(&sight) / sight.norm_squared().max(1e-9)).clamp(0.0, 1.0);
    (eye + sight * along - at).norm() > solid.reach + CLEAR
}

/// The base of a robot beside the things: a plate with a column on it.
pub(super) fn robot(rng: &mut impl Rng) -> Vec<Drawable> {
    let side = if rng.random_bool(0.5) { 1.0 } else { -1.0 };
    let at = |x: f64, z: f64| Isometry3::translation(side * x, 0.0, HEIGHT + z);
    let shade = [rng.random_range(90..210_u8); 3];
    let away = rng.random_range(0.5..0.6);
    let turned = Isometry3::from_parts(
        at(away - 0.1, 0.28).translation,
        UnitQuaternion::from_axis_angle(&Vector3::y_axis(), 1.2),
    );
    [
        Solid::cuboid([0.4, 0.8, 0.03], at(away, 0.015)),
        Solid::cylinder(0.06, 0.25, at(away, 0.15)),
        Solid::cylinder(0.045, 0.2, turned),
    ]
    .map(|solid| solid.drawable(shade))
    .into()
}
