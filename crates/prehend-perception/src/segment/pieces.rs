//! One surface that belongs to two things. Where things touch, noise may leave a way through the crease, or there is no crease because
//! both have one height.
//!
//! First a surface is cut: its rim and the borders of colour are taken away, and what is left are its pieces. Then two pieces that touch
//! become one again, unless all of this holds:
//!
//! - their colours differ;
//! - both come down to the support;
//! - only a neck joins them, or together they have a shape that one thing seldom has.
//!
//! So two things that touch stay apart, since they are seldom flush. And a print stays on its box, since it lies within the box's outline.

use super::field::{AT_ONCE, Field, NONE, WAYS};
use super::joined::find;
use super::settings::PieceSettings;
use crate::color;
use nalgebra::Point2;
use prehend_geometry::upright::convex_hull;
use rayon::prelude::*;
use std::collections::BTreeMap;

/// What is known of a piece.
struct Piece {
    pixels: usize,
    hull: Vec<Point2<f64>>,
    /// Whether it comes down to the support.
    stands: bool,
}

impl Piece {
    fn new(field: &Field<'_>, pixels: &[usize]) -> Self {
        let mut heights: Vec<f64> = pixels.iter().map(|index| field.heights[*index]).collect();
        let low = heights.len() / 50;
        let low = *heights.select_nth_unstable_by(low, f64::total_cmp).1;
        let width = field.grid.width;
        let places: Vec<Point2<f64>> =
            pixels.iter().map(|index| Point2::new((index % width) as f64, (index / width) as f64)).collect();
        Self {
            pixels: pixels.len(),
            hull: convex_hull(&places),
            stands: field.is_foot(low, pixels[pixels.len() / 2]),
        }
    }

    fn filled(&self) -> f64 {
        self.pixels as f64 / area(&self.hull).max(1.0)
    }
}

/// Area of a convex polygon.
fn area(hull: &[Point2<f64>]) -> f64 {
    let sides =
        (0..hull.len()).map(|corner| hull[corner].coords.perp(&hull[(corner + 1) % hull.len()].coords));
    sides.sum::<f64>() / 2.0
}

/// The regions, those of several things cut.
pub(super) fn pieces(field: &Field<'_>, regions: Vec<Vec<usize>>) -> Vec<Vec<usize>> {
    let mut region_of = vec![NONE; field.above.len()];
    for (number, region) in (0..).zip(&regions) {
        region.iter().for_each(|index| region_of[*index] = number);
    }
    // What is of one colour all over is one piece.
    let borders = borders(field, &region_of);
    let mut is_plain = vec![true; regions.len()];
    borders.iter().for_each(|index| is_plain[region_of[*index] as usize] = false);
    for (region, _) in regions.iter().zip(&is_plain).filter(|(_, is_plain)| **is_plain) {
        region.iter().for_each(|index| region_of[*index] = NONE);
    }
    let steps = steps_to_rim(field, &region_of, borders);
    let PieceSettings { rim, rim_pixels, .. } = field.surfaces.pieces;
    let is_core = |index: usize| {
        let reach = (rim / field.pitch(index)).min(f64::from(rim_pixels)).max(1.0) as u8;
        steps[index] == 0 || steps[index] > reach
    };
    // Which piece each pixel is of.
    let mut piece_of = vec![NONE; field.above.len()];
    let mut count = 0;
    let mut cut = Vec::new();
    for (region, is_plain) in regions.into_iter().zip(is_plain) {
        if is_plain {
            cut.push(region);
            continue;
        }
        let first = count;
        let mut front = Vec::new();
        for start in region.iter().copied() {
            if piece_of[start] != NONE || !is_core(start) {
                continue;
            }
            let from = front.len();
            front.push(start);
            piece_of[start] = count;
            spread(field, &region_of, &mut front, from, |_, next| {
                let is_new = piece_of[next] == NONE && is_core(next);
                if is_new {
                    piece_of[next] = count;
                }
                is_new
            });
            if front.len() - from < field.surfaces.min_pixels {
                // It is met again by what grows.
                front.drain(from..).for_each(|index| piece_of[index] = NONE);
            } else {
                count += 1;
            }
        }
        if count - first < 2 {
            cut.push(region);
            continue;
        }
        spread(field, &region_of, &mut front, 0, |index, next| {
            let is_new = piece_of[next] == NONE;
            if is_new {
                piece_of[next] = piece_of[index];
            }
            is_new
        });
        cut.extend(apart(field, &front, &piece_of, first, (count - first) as usize));
    }
    cut
}

/// Goes on from the pixels of a list, from one place on, to those beside them in their region that are taken, breadth first.
fn spread(
    field: &Field<'_>,
    region_of: &[u32],
    front: &mut Vec<usize>,
    from: usize,
    mut take: impl FnMut(usize, usize) -> bool,
) {
    let mut place = from;
    while let Some(index) = front.get(place).copied() {
        place += 1;
        for (du, dv) in WAYS {
            let next = field.at(index, du, dv).filter(|next| region_of[*next] == region_of[index]);
            if let Some(next) = next.filter(|next| take(index, *next)) {
                front.push(next);
            }
        }
    }
}

/// The pixels of regions on whose two sides the colours of their region are unlike.
fn borders(field: &Field<'_>, region_of: &[u32]) -> Vec<usize> {
    let beside = field.surfaces.pieces.beside as isize;
    let is_border = |index: usize, du: isize, dv: isize| {
        let ends = [field.at(index, du * beside, dv * beside), field.at(index, -du * beside, -dv * beside)];
        let [Some(a), Some(b)] = ends else { return false };
        region_of[a] == region_of[index] && region_of[b] == region_of[index] && field.is_border(a, b)
    };
    let standing = field.standing.par_iter().with_min_len(AT_ONCE).copied();
    standing
        .filter(|index| region_of[*index] != NONE)
        .filter(|index| is_border(*index, 1, 0) || is_border(*index, 0, 1))
        .collect()
}

/// For each pixel of a region, the steps to the nearest pixel of a border or of the region's rim: 1 on the border or rim itself, 0 if
/// there are more than a rim has at most.
fn steps_to_rim(field: &Field<'_>, region_of: &[u32], borders: Vec<usize>) -> Vec<u8> {
    let mut steps = vec![0; region_of.len()];
    borders.iter().for_each(|index| steps[*index] = 1);
    let mut front = borders;
    for index in field.standing.iter().copied().filter(|index| region_of[*index] != NONE) {
        let ends = |(du, dv): &(isize, isize)| {
            field.at(index, *du, *dv).is_some_and(|next| region_of[next] != region_of[index])
        };
        if steps[index] == 0 && WAYS.iter().any(ends) {
            steps[index] = 1;
            front.push(index);
        }
    }
    for step in 2..=field.surfaces.pieces.rim_pixels {
        for index in std::mem::take(&mut front) {
            for (du, dv) in WAYS {
                let Some(next) = field.at(index, du, dv) else { continue };
                if region_of[next] == region_of[index] && steps[next] == 0 {
                    steps[next] = step;
                    front.push(next);
                }
            }
        }
    }
    steps
}

/// The pieces of one region, those of one thing joined: those of one colour first, and small ones with all that they touch.
fn apart(field: &Field<'_>, pixels: &[usize], piece_of: &[u32], first: u32, count: usize) -> Vec<Vec<usize>> {
    let mut lists: Vec<Vec<usize>> = vec![Vec::new(); count];
    let mut borders: Borders = BTreeMap::new();
    for index in pixels.iter().copied() {
        let own = piece_of[index];
        lists[(own - first) as usize].push(index);
        for (du, dv) in [(1, 0), (0, 1)] {
            let other = field.at(index, du, dv).map_or(NONE, |next| piece_of[next]);
            if other != own && (first..first + count as u32).contains(&other) {
                let (a, b) = ((own - first) as usize, (other - first) as usize);
                *borders.entry((a.min(b), a.max(b))).or_default() += 1;
            }
        }
    }
    let color =
        |pixels: &Vec<usize>| color::mean(pixels.iter().map(|index| field.frame.color.pixels[*index]));
    let colors: Vec<[u8; 3]> = lists.iter().map(color).collect();
    let alike = |a: usize, b: usize| color::unlikeness(colors[a], colors[b]) < field.surfaces.unlike;
    let sizes: Vec<usize> = lists.iter().map(Vec::len).collect();
    let settings = &field.surfaces.pieces;
    let of_one = |a: usize, b: usize| sizes[a].min(sizes[b]) < settings.min_pixels || alike(a, b);
    let (lists, borders) = joined(lists, &borders, of_one);
    let pieces: Vec<Piece> = lists.iter().map(|pixels| Piece::new(field, pixels)).collect();
    let of_one = |a: usize, b: usize| {
        let length = borders.get(&(a, b)).copied().unwrap_or(0);
        !are_two(&pieces[a], &pieces[b], length, settings)
    };
    joined(lists, &borders, of_one).0
}

/// Along how many pixels pieces touch, by their numbers, smaller first.
type Borders = BTreeMap<(usize, usize), usize>;

/// The pieces, with those joined that touch and are of one, and along how many pixels what is left touches.
fn joined(
    lists: Vec<Vec<usize>>,
    borders: &Borders,
    of_one: impl Fn(usize, usize) -> bool,
) -> (Vec<Vec<usize>>, Borders) {
    let mut root: Vec<usize> = (0..lists.len()).collect();
    for (a, b) in borders.keys().filter(|(a, b)| of_one(*a, *b)) {
        let (a, b) = (find(&root, *a), find(&root, *b));
        root[a.max(b)] = a.min(b);
    }
    let mut left: Vec<Vec<usize>> = Vec::new();
    let mut place = vec![0; lists.len()];
    // A root comes before what hangs on it.
    for (number, pixels) in lists.into_iter().enumerate() {
        let root = find(&root, number);
        if root == number {
            place[number] = left.len();
            left.push(pixels);
        } else {
            place[number] = place[root];
            left[place[root]].extend(pixels);
        }
    }
    let mut between: Borders = BTreeMap::new();
    for ((a, b), length) in borders {
        let (a, b) = (place[*a], place[*b]);
        if a != b {
            *between.entry((a.min(b), a.max(b))).or_default() += length;
        }
    }
    (left, between)
}

/// Whether two pieces of unlike colours that touch along so many pixels are of two things.
fn are_two(a: &Piece, b: &Piece, length: usize, settings: &PieceSettings) -> bool {
    if !a.stands || !b.stands {
        return false;
    }
    if length as f64 <= settings.neck * (a.pixels.min(b.pixels) as f64).sqrt() {
        return true;
    }
    let both = convex_hull(&[a.hull.as_slice(), b.hull.as_slice()].concat());
    let filled = (a.pixels + b.pixels) as f64 / area(&both).max(1.0);
    filled < settings.filled * a.filled().min(b.filled())
}
