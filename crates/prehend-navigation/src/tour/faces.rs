//! Sides of furniture that the base can look at.

use super::TourParams;
use crate::footprint::Footprint;
use crate::grid::{Costmap, LETHAL, neighbours};

/// Furniture is no deeper than twice this, metres.
const DEEP: f64 = 0.9;
/// Faces are about as near as others within this, metres.
const ABOUT: f64 = 0.15;

/// A side of an occupied cell.
pub(super) struct Face {
    pub(super) at: [f64; 2],
    pub(super) normal: [f64; 2],
}

/// Sides of occupied cells at floor from which the base can look at them, but those of walls.
pub(super) fn faces(
    map: &Costmap,
    reachable: &[bool],
    footprint: &Footprint,
    params: &TourParams,
) -> Vec<Face> {
    let layout = map.layout();
    let costs = map.costs();
    // Floor at a face is too near to stand on: it counts when the base can stand a footprint away from it.
    let near_reach = near(map, reachable, footprint.circumscribed_radius() + 2.0 * layout.resolution);
    let mut faces = Vec::new();
    for index in 0..costs.len() {
        if costs[index] != LETHAL {
            continue;
        }
        let (column, row) = layout.at(index);
        let centre = layout.centre((column, row));
        for (x, y) in neighbours(layout, column, row) {
            let other = y * layout.width + x;
            if costs[other] == LETHAL || !map.is_known(other) || !near_reach[other] {
                continue;
            }
            let normal = [x as f64 - column as f64, y as f64 - row as f64];
            if is_wall(map, (column, row), normal, params) {
                continue;
            }
            let half = layout.resolution / 2.0;
            faces.push(Face { at: [centre[0] + half * normal[0], centre[1] + half * normal[1]], normal });
        }
    }
    faces
}

/// Cells within a distance of cells that are set.
fn near(map: &Costmap, set: &[bool], distance: f64) -> Vec<bool> {
    let cells = distance / map.layout().resolution;
    crate::distance::distances(set, map.layout().width).into_iter().map(|away| away <= cells).collect()
}

/// Whether a face is one of a wall: going into its cell against its normal, the occupied strip ends soon, and either nothing is known
/// behind it (an outer wall) or it is long (a wall within the room; a leg is short).
fn is_wall(map: &Costmap, cell: (usize, usize), normal: [f64; 2], params: &TourParams) -> bool {
    let resolution = map.layout().resolution;
    let inwards = [-normal[0] as isize, -normal[1] as isize];
    let most = (params.wall / resolution).round() as usize;
    let (thickness, behind) = strip(map, cell, inwards, most + 1);
    if thickness > most {
        return false;
    }
    if behind.is_none_or(|index| !map.is_known(index)) {
        return true;
    }
    let long = (params.long_wall / resolution).round() as usize;
    let along = [inwards[1], inwards[0]];
    let (ahead, _) = strip(map, cell, along, long);
    let (back, _) = strip(map, cell, [-along[0], -along[1]], long);
    ahead + back > long
}

/// How many cells in a direction are occupied, this one among them, `most` at most; and what comes then, if it is in the grid.
fn strip(
    map: &Costmap,
    (column, row): (usize, usize),
    [dx, dy]: [isize; 2],
    most: usize,
) -> (usize, Option<usize>) {
    let layout = map.layout();
    for depth in 1..=most {
        let step = depth as isize;
        let (Some(x), Some(y)) = (column.checked_add_signed(dx * step), row.checked_add_signed(dy * step))
        else {
            return (depth, None);
        };
        if x >= layout.width || y >= layout.height {
            return (depth, None);
        }
        let index = y * layout.width + x;
        if map.costs()[index] != LETHAL {
            return (depth, Some(index));
        }
    }
    (most, None)
}

/// The faces that are about as near to a place as the nearest one, when that is not farther away than furniture is deep.
pub(super) fn faces_before(faces: &[Face], [x, y]: [f64; 2]) -> Vec<u32> {
    let away = |face: &Face| (face.at[0] - x).hypot(face.at[1] - y);
    let nearest = faces.iter().map(away).fold(f64::INFINITY, f64::min);
    if nearest > DEEP {
        return Vec::new();
    }
    let near = |(index, face): (usize, &Face)| (away(face) <= nearest + ABOUT).then_some(index as u32);
    faces.iter().enumerate().filter_map(near).collect()
}
