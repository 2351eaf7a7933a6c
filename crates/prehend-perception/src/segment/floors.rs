//! The floor of a hollow: too near the support to stand out of its noise, but inside of the outline of what it belongs to.
//!
//! Seen from above, what of the support lies within a thing's outline is either its floor or shows through it: between a handle and its mug,
//! between the blades of scissors. A floor has the thing, or what lies in it, nearly all around. And it has one of these:
//!
//! - it goes over into a wall without a jump, and nothing of its border is open;
//! - it lies clearly higher than the support, by the mean of all its pixels;
//! - it is of the colour of the thing, and not of that of the support.

use super::field::{Field, flood};
use crate::color;
use prehend_geometry::upright::{convex_hull, is_inside};
use rayon::prelude::*;

/// The things with their floors.
pub(super) fn with_floors(field: &Field<'_>, mut things: Vec<Vec<usize>>) -> Vec<Vec<usize>> {
    let mut owner = field.owners(&things);
    let support = field.support_color();
    let floors: Vec<Vec<usize>> =
        things.par_iter().map(|thing| floor(field, thing, &owner, support)).collect();
    // What lies in the outlines of two is of the smaller one.
    let mut order: Vec<usize> = (0..things.len()).collect();
    order.sort_by_key(|number| things[*number].len());
    for number in order {
        for index in &floors[number] {
            if owner[*index] == 0 {
                owner[*index] = number as u32 + 1;
                things[number].push(*index);
            }
        }
    }
    things
}

/// The pixels of a thing's floor.
fn floor(field: &Field<'_>, thing: &[usize], owner: &[u32], support: [u8; 3]) -> Vec<usize> {
    let width = field.grid.width;
    let hull = convex_hull(&field.grid.ground(thing));
    if hull.len() < 3 {
        return Vec::new();
    }
    let (mut low, mut high) = ([usize::MAX; 2], [0; 2]);
    for index in thing {
        let place = [index % width, index / width];
        for axis in 0..2 {
            (low[axis], high[axis]) = (low[axis].min(place[axis]), high[axis].max(place[axis]));
        }
    }
    let side = high[0] - low[0] + 1;
    let at = |index: usize| {
        let (u, v) = (index % width, index / width);
        ((low[0]..=high[0]).contains(&u) && (low[1]..=high[1]).contains(&v))
            .then(|| (v - low[1]) * side + u - low[0])
    };
    // Within the outline; what has no depth is within where what is around it is.
    let inside: Vec<bool> = (low[1]..=high[1])
        .flat_map(|v| (low[0]..=high[0]).map(move |u| v * width + u))
        .map(|index| {
            owner[index] == 0 && field.grid.points[index].is_none_or(|point| is_inside(&hull, &point.xy()))
        })
        .collect();
    let mut seen = vec![false; inside.len()];
    let tint = color::mean(thing.iter().step_by(5).map(|index| field.frame.color.pixels[*index]));
    let mut floors = Vec::new();
    for v in low[1]..=high[1] {
        for u in low[0]..=high[0] {
            let start = v * width + u;
            if let Some(place) = at(start).filter(|place| inside[*place] && !seen[*place]) {
                seen[place] = true;
                let region = Region::around(field, start, &at, &inside, &mut seen, owner);
                if region.is_floor(field, tint, support) {
                    floors.extend(
                        region.pixels.into_iter().filter(|index| field.grid.points[*index].is_some()),
                    );
                }
            }
        }
    }
    floors
}

/// Connected pixels within the outline of a thing that belong to nothing.
struct Region {
    pixels: Vec<usize>,
    /// Steps out of it to things, to what is beyond the outline, and to things without a jump.
    walls: usize,
    open: usize,
    joined: usize,
}

impl Region {
    fn around(
        field: &Field<'_>,
        start: usize,
        at: &impl Fn(usize) -> Option<usize>,
        inside: &[bool],
        seen: &mut [bool],
        owner: &[u32],
    ) -> Self {
        let (mut walls, mut open, mut joined) = (0, 0, 0);
        let pixels = flood(start, |index, (du, dv)| {
            let next = field.at(index, du, dv);
            match next.map(|next| (next, at(next).filter(|cell| inside[*cell]))) {
                Some((next, Some(cell))) => {
                    return (!std::mem::replace(&mut seen[cell], true)).then_some(next);
                }
                Some((next, None)) if owner[next] != 0 => {
                    walls += 1;
                    let is_measured = field.grid.points[index].is_some();
                    joined += usize::from(is_measured && field.is_continuous(index, next, 1));
                }
                _ => open += 1,
            }
            None
        });
        Self { pixels, walls, open, joined }
    }

    /// Whether it is a floor; `tint` is the colour of the thing, `support` that of the support.
    fn is_floor(&self, field: &Field<'_>, tint: [u8; 3], support: [u8; 3]) -> bool {
        let settings = &field.surfaces.floors;
        let border = (self.walls + self.open) as f64;
        if self.open == 0 && self.joined > 0 && self.joined as f64 >= settings.joined * border {
            return true;
        }
        if self.open as f64 > settings.open * border || self.joined as f64 * 2.0 < settings.joined * border {
            return false;
        }
        let measured = || self.pixels.iter().filter(|index| field.grid.points[**index].is_some());
        let count = measured().count();
        if count < field.surfaces.min_pixels {
            return false;
        }
        let mean = measured().map(|index| field.heights[*index]).sum::<f64>() / count as f64;
        let own = color::mean(measured().map(|index| field.frame.color.pixels[*index]));
        let unlike = field.surfaces.unlike;
        mean >= settings.height + field.mean_noise(self.pixels[count / 2])
            || color::unlikeness(own, tint) < unlike
                && color::unlikeness(own, support) > field.surfaces.border * unlike
    }
}
