//! The floor of a hollow: too near the support to stand out of its noise, but enclosed by walls that come down to it.

use super::field::{Field, WAYS};
use nalgebra::Point2;
use prehend_geometry::upright::{convex_hull, is_inside};

/// The things with their floors.
pub(super) fn with_floors(field: &Field<'_>, mut things: Vec<Vec<usize>>) -> Vec<Vec<usize>> {
    let mut owner = vec![0_u32; field.above.len()];
    for (number, thing) in things.iter().enumerate() {
        thing.iter().for_each(|index| owner[*index] = number as u32 + 1);
    }
    let settings = &field.surfaces.floors;
    let mut seen = vec![false; owner.len()];
    // Outlines of things, as they are asked for: a thing may have many holes.
    let mut hulls: Vec<Option<Vec<Point2<f64>>>> = vec![None; things.len()];
    for start in enclosed(&owner, field.grid.width) {
        let region = FreeRegion::around(field, &owner, start, &mut seen);
        if let Some(number) = region
            .owner
            .filter(|_| region.joined > 0 && region.joined as f64 >= settings.joined * region.border as f64)
        {
            let thing = &mut things[number as usize - 1];
            let hull =
                hulls[number as usize - 1].get_or_insert_with(|| convex_hull(&field.grid.ground(thing)));
            let floor: Vec<usize> =
                region.pixels.into_iter().filter(|index| field.grid.points[*index].is_some()).collect();
            let level = field.grid.ground(&floor);
            let inside = level.iter().filter(|p| is_inside(hull, p)).count();
            if inside as f64 >= settings.inside * floor.len() as f64 {
                hull.extend(level);
                *hull = convex_hull(hull);
                thing.extend(floor);
            }
        }
    }
    things
}

/// A row's pixels from `start` to `end` that belong to no thing.
struct Run {
    start: usize,
    end: usize,
    /// The thing beside it, [`NOBODY`] or [`SEVERAL`]; of the first run of a region all that are beside the region.
    owner: u32,
    /// A run of the same region that comes no later.
    root: usize,
}

/// No thing is beside a run.
const NOBODY: u32 = 0;
/// More than one is.
const SEVERAL: u32 = u32::MAX;

/// The first pixels of the connected regions that belong to no thing and have one thing around them, ascending. Row by row: most of a
/// picture is one region with many things around it.
fn enclosed(owner: &[u32], width: usize) -> Vec<usize> {
    let mut runs: Vec<Run> = Vec::new();
    // The runs of the row above.
    let mut above = 0..0;
    for (v, row) in owner.chunks_exact(width.max(1)).enumerate() {
        let first = runs.len();
        let mut u = 0;
        while u < width {
            if row[u] != NOBODY {
                u += 1;
                continue;
            }
            let start = u;
            u += row[u..].iter().position(|one| *one != NOBODY).unwrap_or(width - u);
            let mut run =
                Run { start: v * width + start, end: v * width + u, owner: NOBODY, root: runs.len() };
            let beside = [start.checked_sub(1).map(|left| row[left]), row.get(u).copied()];
            beside.into_iter().flatten().for_each(|one| run.owner = both(run.owner, one));
            let [up, down] = [
                run.start.checked_sub(width).map(|from| &owner[from..run.end - width]),
                owner.get(run.start + width..run.end + width),
            ];
            for one in up.into_iter().chain(down).flatten() {
                run.owner = both(run.owner, *one);
            }
            runs.push(run);
        }
        for run in first..runs.len() {
            // Runs that end left of this one touch none of the next either.
            while above.start < above.end && runs[above.start].end + width <= runs[run].start {
                above.start += 1;
            }
            for other in above.clone() {
                if runs[other].start + width >= runs[run].end {
                    break;
                }
                let (a, b) = (root(&mut runs, run), root(&mut runs, other));
                let (low, high) = (a.min(b), a.max(b));
                if low != high {
                    runs[low].owner = both(runs[low].owner, runs[high].owner);
                    runs[high].root = low;
                }
            }
        }
        above = first..runs.len();
    }
    let is_enclosed =
        |(place, run): &(usize, &Run)| run.root == *place && ![NOBODY, SEVERAL].contains(&run.owner);
    runs.iter().enumerate().filter(is_enclosed).map(|(_, run)| run.start).collect()
}

/// What is beside two things together.
fn both(a: u32, b: u32) -> u32 {
    match (a, b) {
        (NOBODY, other) | (other, NOBODY) => other,
        (a, b) if a == b => a,
        _ => SEVERAL,
    }
}

/// The first run of a region, as far as it is known; halves the path on its way.
fn root(runs: &mut [Run], mut run: usize) -> usize {
    while runs[run].root != run {
        runs[run].root = runs[runs[run].root].root;
        run = runs[run].root;
    }
    run
}

/// Connected pixels that belong to no thing.
struct FreeRegion {
    pixels: Vec<usize>,
    /// The one thing around it, but for the border of the picture; `None` when there are several.
    owner: Option<u32>,
    /// Steps from measured pixels of it to things, and how many of them go over without a jump.
    border: usize,
    joined: usize,
}

impl FreeRegion {
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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Pixel by pixel.
    fn brute(owner: &[u32], width: usize) -> Vec<usize> {
        let mut seen = vec![false; owner.len()];
        let mut found = Vec::new();
        for start in 0..owner.len() {
            if owner[start] != NOBODY || seen[start] {
                continue;
            }
            let (mut open, mut around) = (vec![start], NOBODY);
            seen[start] = true;
            while let Some(index) = open.pop() {
                let u = index % width;
                let beside = [
                    (u > 0).then(|| index - 1),
                    (u + 1 < width).then_some(index + 1),
                    index.checked_sub(width),
                    Some(index + width).filter(|next| *next < owner.len()),
                ];
                for next in beside.into_iter().flatten() {
                    around = both(around, owner[next]);
                    if owner[next] == NOBODY && !std::mem::replace(&mut seen[next], true) {
                        open.push(next);
                    }
                }
            }
            if ![NOBODY, SEVERAL].contains(&around) {
                found.push(start);
            }
        }
        found
    }

    proptest! {
        #[test]
        fn regions_are_those_of_pixels(owner in prop::collection::vec(prop_oneof![4 => 0..1_u32, 3 => 1..4_u32], 48), width in prop_oneof![Just(6_usize), Just(8), Just(48), Just(1)]) {
            prop_assert_eq!(enclosed(&owner, width), brute(&owner, width));
        }
    }
}
