//! The map of the floor as surfaces, one for each kind of ground.

use super::light;
use crate::{Floor, Occupancy, Rgb};
use kiss3d::glamx::Vec3;
use kiss3d::scene::SceneNode3d;

/// How far below height 0 it is, m: the lines of the floor are above it.
const BELOW: f32 = 0.006;
/// Most rectangles of a surface: more would take longer than a frame.
const MOST: usize = 60_000;

fn color(ground: Occupancy) -> Rgb {
    match ground {
        Occupancy::Unknown => [24, 27, 33],
        Occupancy::Free => [40, 45, 54],
        Occupancy::Near => [72, 62, 66],
        Occupancy::Blocked => [136, 84, 78],
    }
}

/// Adds the surfaces of a floor to `group`.
pub(super) fn add_floor(group: &mut SceneNode3d, floor: &Floor) {
    for ground in Occupancy::ALL {
        let (mut corners, mut triangles) = (Vec::new(), Vec::new());
        for patch in floor.patches.iter().filter(|patch| patch.ground == ground).take(MOST) {
            let [[x0, y0], [x1, y1]] = [patch.low, patch.high].map(|end| end.map(|value| value as f32));
            if ![x0, y0, x1, y1].iter().all(|value| value.is_finite()) {
                continue;
            }
            let first = corners.len() as u32;
            corners.extend([[x0, y0], [x1, y0], [x1, y1], [x0, y1]].map(|[x, y]| Vec3::new(x, y, -BELOW)));
            triangles.extend([[first, first + 1, first + 2], [first, first + 2, first + 3]]);
        }
        if triangles.is_empty() {
            continue;
        }
        let mut node = group.add_trimesh(corners, triangles, Vec3::ONE, true);
        node.set_color(light(color(ground), 1.0));
        node.set_roughness(1.0);
    }
}
