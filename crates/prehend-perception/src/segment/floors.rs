//! The floor of a hollow: too near the support to stand out of its noise, but enclosed by walls that come down to it.

use super::surfaces::{Field, WAYS};
use crate::hypothesis::is_inside;
use nalgebra::Point2;
use prehend_geometry::upright::convex_hull;

/// Least share of a floor that lies in the footprint of its thing.
const INSIDE: f64 = 0.9;
/// Least share of its border along which it goes over into a wall without a jump; the support behind a handle does so nowhere.
const JOINED: f64 = 0.3;

/// The things with their floors.
pub(super) fn with_floors(field: &Field<'_>, mut things: Vec<Vec<usize>>) -> Vec<Vec<usize>> {
    let mut owner = vec![0_u32; field.above.len()];
    for (number, thing) in things.iter().enumerate() {
        thing.iter().for_each(|index| owner[*index] = number as u32 + 1);
    }
    let mut seen = vec![false; owner.len()];
    for start in 0..owner.len() {
        if owner[start] != 0 || seen[start] {
            continue;
        }
        let region = Region::around(field, &owner, start, &mut seen);
        if let Some(number) = region
            .owner
            .filter(|_| region.joined > 0 && region.joined as f64 >= JOINED * region.border as f64)
        {
            let thing = &mut things[number as usize - 1];
            let footprint: Vec<Point2<f64>> =
                thing.iter().filter_map(|index| field.grid.points[*index]).map(|p| p.xy()).collect();
            let hull = convex_hull(&footprint);
            let floor: Vec<usize> =
                region.pixels.into_iter().filter(|index| field.grid.points[*index].is_some()).collect();
            let inside = floor
                .iter()
                .filter_map(|index| field.grid.points[*index])
                .filter(|p| is_inside(&hull, &p.xy()));
            if inside.count() as f64 >= INSIDE * floor.len() as f64 {
                thing.extend(floor);
            }
        }
    }
    things
}

/// Connected pixels that belong to no thing.
struct Region {
    pixels: Vec<usize>,
    /// The one thing around it, but for the border of the picture; `None` when there are several.
    owner: Option<u32>,
    /// Steps from measured pixels of it to things, and how many of them go over without a jump.
    border: usize,
    joined: usize,
}

impl Region {
    fn around(field: &Field<'_>, owner: &[u32], start: usize, seen: &mut [bool]) -> Self {
        let mut region = Self { pixels: vec![start], owner: None, border: 0, joined: 0 };
        let mut is_alone = true;
        let mut place = 0;
        seen[start] = true;
        while let Some(index) = region.pixels.get(place).copied() {
            place += 1;
            for (du, dv) in WAYS {
                let Some(next) = field.at(index, du, dv) else { continue };
                if owner[next] == 0 {
                    if !std::mem::replace(&mut seen[next], true) {
                        region.pixels.push(next);
                    }
                    continue;
                }
                is_alone &= region.owner.is_none_or(|other| other == owner[next]);
                region.owner = Some(owner[next]);
                // Shadows tell nothing.
                if field.grid.points[index].is_some() {
                    region.border += 1;
                    region.joined += usize::from(field.is_continuous(index, next, 1));
                }
            }
        }
        region.owner = region.owner.filter(|_| is_alone);
        region
    }
}
