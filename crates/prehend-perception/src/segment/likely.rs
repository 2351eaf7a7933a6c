//! How probable it is that something is a thing: not noise, a patch of the table, a wall, or a fixture.
//!
//! Measures of its size, its shape and its outline tell, weighed by what was learned ([`super::learned`]); where in the picture it is tells
//! nothing. A piece of a thing counts as one.

use super::field::{Field, WAYS};
use super::standing::{Border, widest};
use crate::color;
use nalgebra::Point3;
use prehend_geometry::plane::spread;
use prehend_geometry::upright::{convex_hull, is_inside};
use rayon::prelude::*;

/// Numbers of what tells.
pub(super) const EVIDENCE: usize = 21;

/// What tells of each thing whether it is one.
pub(super) fn evidence(field: &Field<'_>, border: &Border, things: &[Vec<usize>]) -> Vec<[f64; EVIDENCE]> {
    let owner = field.owners(things);
    let support = field.support_color();
    things.par_iter().map(|thing| of_one(field, border, thing, &owner, support)).collect()
}

fn of_one(
    field: &Field<'_>,
    border: &Border,
    thing: &[usize],
    owner: &[u32],
    support: [u8; 3],
) -> [f64; EVIDENCE] {
    let count = thing.len() as f64;
    let share = |number: f64, of: f64| number / of.max(1e-9);
    let ground = field.grid.ground(thing);
    let hull = convex_hull(&ground);
    let long = widest(&hull);
    let area: f64 = thing.iter().map(|index| field.pitch(*index).powi(2)).sum();
    let mut heights: Vec<f64> = thing.iter().map(|index| field.heights[*index]).collect();
    let mut at = |part: f64| {
        let place = ((heights.len() - 1) as f64 * part) as usize;
        *heights.select_nth_unstable_by(place, f64::total_cmp).1
    };
    let [bottom, middle, top] = [0.02, 0.5, 0.98].map(&mut at);
    let sigma = thing.iter().map(|index| field.sigma(*index)).sum::<f64>() / count;
    let [thin, wide, across] = axes(&field.grid.of(thing));
    let steps = steps(field, thing, owner);
    let rim = steps.iter().sum::<usize>() as f64;
    let [outside, holes, others, level, jumps] = steps.map(|steps| share(steps as f64, rim));
    let own = color::mean(thing.iter().map(|index| field.frame.color.pixels[*index]));
    let step = (ground.len() / 200).max(1);
    let on = ground.iter().step_by(step).filter(|point| is_inside(&border.outline, point)).count();
    [
        count.ln(),
        area.sqrt(),
        long,
        share(area, long),
        bottom,
        middle,
        top,
        share(middle, sigma).min(100.0),
        (share(middle, sigma) * count.sqrt()).max(1e-9).ln(),
        thin,
        share(thin, sigma).min(100.0),
        share(thin, wide),
        across,
        color::unlikeness(own, support),
        share(count, rim.powi(2)),
        outside,
        holes,
        others,
        level,
        jumps,
        share(on as f64, ground.len().div_ceil(step) as f64),
    ]
}

/// Standard deviations along the thinnest and the widest direction of some points, metres, and how upright the thinnest is.
fn axes(points: &[Point3<f64>]) -> [f64; 3] {
    let Some((_, axes)) = spread(points.iter()) else { return [0.0; 3] };
    let (thinnest, widest) = (axes.eigenvalues.imin(), axes.eigenvalues.imax());
    let deviation = |axis: usize| axes.eigenvalues[axis].max(0.0).sqrt();
    [deviation(thinnest), deviation(widest), axes.eigenvectors.column(thinnest).z.abs()]
}

/// Steps over the outline of a thing: out of the picture, to what was not measured, to other things, to what is level with it, over a jump.
fn steps(field: &Field<'_>, thing: &[usize], owner: &[u32]) -> [usize; 5] {
    let mut steps = [0; 5];
    for index in thing {
        for (du, dv) in WAYS {
            let kind = match field.at(*index, du, dv) {
                None => 0,
                Some(next) if owner[next] == owner[*index] => continue,
                Some(next) if field.grid.points[next].is_none() => 1,
                Some(next) if owner[next] != 0 => 2,
                Some(next) if field.is_continuous(*index, next, 1) => 3,
                Some(_) => 4,
            };
            steps[kind] += 1;
        }
    }
    steps
}
