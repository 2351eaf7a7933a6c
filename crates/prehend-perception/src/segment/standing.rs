//! What of the things found stands on the support: walls, furniture and what is beyond the table's border do not.

use super::field::{AT_ONCE, Field};
use super::left_out::{Reason, sifted};
use super::settings::StandingSettings;
use nalgebra::{Point2, Point3};
use prehend_geometry::upright::{convex_hull, is_inside};
use prehend_geometry::voxel::{Voxel, VoxelMap, voxel_of};
use rayon::prelude::*;

/// Points of a thing that are held against the border of the support.
const SAMPLE: usize = 500;

/// The border of the support.
pub(super) struct Border {
    /// Its convex outline; empty when there is no support.
    pub(super) outline: Vec<Point2<f64>>,
}

/// The things that stand on the support, in their order; what does not goes to `left`.
pub(super) fn standing(
    field: &Field<'_>,
    border: &Border,
    things: Vec<Vec<usize>>,
    left: &mut Vec<(Reason, Vec<usize>)>,
) -> Vec<Vec<usize>> {
    let owner = field.owners(&things);
    let against = |thing: &[usize]| {
        let points = field.grid.ground(thing);
        let hull = convex_hull(&points);
        let step = (points.len() / SAMPLE).max(1);
        let points: Vec<Point2<f64>> = points.into_iter().step_by(step).collect();
        let long = widest(&hull);
        let area: f64 = thing.iter().map(|index| field.pitch(*index).powi(2)).sum();
        let margin = field.surfaces.margin + if is_cut(field, thing) { long / 2.0 } else { 0.0 };
        if area < field.surfaces.min_side.powi(2) {
            Some(Reason::Small)
        } else if field.is_drawn(thing) {
            None
        } else if long > field.surfaces.max_side {
            Some(Reason::Large)
        } else if !is_on(&border.outline, &points, margin) {
            Some(Reason::Beyond)
        } else {
            (!has_foot(field, thing, &owner, long)).then_some(Reason::Hangs)
        }
    };
    let reasons = things.par_iter().map(|thing| against(thing)).collect();
    sifted(things, reasons, left)
}

/// The greatest extent of a convex outline, metres.
pub(super) fn widest(hull: &[Point2<f64>]) -> f64 {
    hull.iter().flat_map(|a| hull.iter().map(move |b| (b - a).norm())).fold(0.0, f64::max)
}

impl Border {
    /// That of the largest connected piece.
    pub(super) fn of(field: &Field<'_>) -> Self {
        Self { outline: largest(field) }
    }
}

/// Convex outline of the largest connected piece of the support; empty when there is none.
fn largest(field: &Field<'_>) -> Vec<Point2<f64>> {
    let StandingSettings { cell: side, cell_pixels, .. } = field.surfaces.standing;
    let mut cells: VoxelMap<(usize, bool)> = VoxelMap::default();
    let mut order = Vec::new();
    let mut count = |cell: Voxel, pixels: usize| {
        let slot = cells.entry(cell).or_insert((0, false));
        if slot.0 < cell_pixels && slot.0 + pixels >= cell_pixels {
            order.push(cell);
        }
        slot.0 += pixels;
    };
    let level: Vec<Vec<(Voxel, usize)>> = (0..field.heights.len().div_ceil(AT_ONCE))
        .into_par_iter()
        .map(|part| runs(field, part * AT_ONCE..((part + 1) * AT_ONCE).min(field.heights.len())))
        .collect();
    level.into_iter().flatten().for_each(|(cell, pixels)| count(cell, pixels));
    let mut largest = Vec::new();
    for start in order {
        let mut piece = Vec::new();
        let mut open = vec![start];
        while let Some(cell) = open.pop() {
            match cells.get_mut(&cell) {
                Some((count, seen)) if *count >= cell_pixels && !*seen => *seen = true,
                _ => continue,
            }
            piece.push(cell);
            let around = (-1..=1).flat_map(|dx| (-1..=1).map(move |dy| [cell[0] + dx, cell[1] + dy, 0]));
            open.extend(around);
        }
        if piece.len() > largest.len() {
            largest = piece;
        }
    }
    let corners = largest.iter().flat_map(|cell| {
        [(0, 0), (1, 0), (0, 1), (1, 1)]
            .map(|(dx, dy)| Point2::new(f64::from(cell[0] + dx) * side, f64::from(cell[1] + dy) * side))
    });
    convex_hull(&corners.collect::<Vec<_>>())
}

/// The cells of level pixels, and how many there are in a row: pixels of one cell come in runs.
fn runs(field: &Field<'_>, pixels: std::ops::Range<usize>) -> Vec<(Voxel, usize)> {
    let side = field.surfaces.standing.cell;
    let mut runs: Vec<(Voxel, usize)> = Vec::new();
    for index in pixels {
        let Some(point) = field.grid.points[index] else { continue };
        if !field.is_level(index) {
            continue;
        }
        let cell = voxel_of(&Point3::new(point.x, point.y, 0.0), side);
        match runs.last_mut() {
            Some((known, pixels)) if *known == cell => *pixels += 1,
            _ => runs.push((cell, 1)),
        }
    }
    runs
}

/// Whether most of a footprint is on the support, or no farther beyond its border than `margin`; where no support is known everything is.
fn is_on(border: &[Point2<f64>], points: &[Point2<f64>], margin: f64) -> bool {
    let near = |point: &&Point2<f64>| {
        is_inside(border, point)
            || (0..border.len()).any(|corner| {
                let (a, b) = (border[corner], border[(corner + 1) % border.len()]);
                let along = ((*point - a).dot(&(b - a)) / (b - a).norm_squared().max(1e-12)).clamp(0.0, 1.0);
                (*point - (a + (b - a) * along)).norm() <= margin
            })
    };
    border.len() < 3 || points.iter().filter(near).count() * 2 > points.len()
}

/// Whether a thing is cut by the left, right or lower border of the picture, beyond which the support may go on.
fn is_cut(field: &Field<'_>, thing: &[usize]) -> bool {
    let at_border =
        |index: &usize| [(-1, 0), (1, 0), (0, 1)].iter().any(|(du, dv)| field.at(*index, *du, *dv).is_none());
    thing.iter().any(at_border)
}

/// Whether the lowest points of a thing are near the support, or hidden below it, by another thing or by the picture's border. `long` is
/// its greatest level extent, metres.
fn has_foot(field: &Field<'_>, thing: &[usize], owner: &[u32], long: f64) -> bool {
    let mut heights: Vec<f64> = thing.iter().map(|index| field.heights[*index]).collect();
    let place = heights.len() / 50;
    let low = *heights.select_nth_unstable_by(place, f64::total_cmp).1;
    // Of a ball that is seen from above no more than the upper half is seen.
    let is_cut_below = thing.iter().any(|index| field.at(*index, 0, 1).is_none());
    if is_cut_below || low <= field.surfaces.margin + long / 2.0 {
        return true;
    }
    // The lower end of each column; along a slanting side the table is beside a thing, not below it.
    let hull = convex_hull(&field.grid.ground(thing));
    let mut lowest = vec![None; field.grid.width];
    for index in thing {
        let column = &mut lowest[index % field.grid.width];
        *column = (*column).max(Some(*index));
    }
    let is_below = |index: usize| field.grid.points[index].is_some_and(|point| is_inside(&hull, &point.xy()));
    let (mut on_thing, mut over_support) = (0, 0);
    for index in lowest.into_iter().flatten() {
        let below = (1..=field.surfaces.standing.below as isize)
            .filter_map(|step| field.at(index, 0, step))
            .find(|other| field.grid.points[*other].is_some());
        match below.map(|other| (other, owner[other], field.above[other])) {
            // What stands there hides the support below itself. What is seen from above hides its own foot.
            Some((other, 0, false)) => over_support += usize::from(is_below(other)),
            // A pixel between two things is of neither.
            Some((_, 0, true)) | None => {}
            Some(_) => on_thing += 1,
        }
    }
    on_thing >= over_support
}
