//! Cutting what stands above the support into surfaces: regions of pixels without a jump in depth and without a crease that
//! opens towards the camera. Things that touch meet in such a crease (Stein et al. 2014, locally convex connected patches).
//!
//! Colour alone cuts nothing, because prints and shadows are no borders. But where colour changes, a shallower crease suffices: noise
//! seldom makes a crease all along a border of colour. Colour also helps to tell which surfaces belong to one thing ([`super::things`]).

use super::field::{Field, NONE, WAYS};
use super::pieces::pieces;
use std::collections::VecDeque;

/// Gives every pixel above the support the number of its surface, from 0, or [`NONE`]; and how many there are. Creases go to the
/// nearest surface.
pub(super) fn surfaces(field: &Field<'_>) -> (Vec<u32>, usize) {
    let creases = field.creases();
    let mut labels = vec![NONE; field.above.len()];
    let open = |index: usize| !creases[index];
    let mut count = 0;
    let mut queue = VecDeque::new();
    for region in pieces(field, regions(field, open, &labels)) {
        let area: f64 = region.iter().map(|index| field.pitch(*index).powi(2)).sum();
        if area >= field.surfaces.min_side.powi(2) {
            region.iter().for_each(|index| labels[*index] = count);
            queue.extend(region);
            count += 1;
        }
    }
    while let Some(index) = queue.pop_front() {
        for way in WAYS {
            if let Some(next) = field.next(index, way, |next| labels[next] == NONE) {
                labels[next] = labels[index];
                queue.push_back(next);
            }
        }
    }
    // What is left is small and stands alone: a tip, a piece between two holes.
    for region in regions(field, |_| true, &labels) {
        if region.len() >= field.surfaces.min_pixels {
            region.iter().for_each(|index| labels[*index] = count);
            count += 1;
        }
    }
    (labels, count as usize)
}

/// Connected regions of pixels above the support that are open and have no label yet.
fn regions(field: &Field<'_>, open: impl Fn(usize) -> bool, labels: &[u32]) -> Vec<Vec<usize>> {
    let mut seen = vec![false; labels.len()];
    let mut regions = Vec::new();
    for start in field.standing.iter().copied() {
        if seen[start] || labels[start] != NONE || !open(start) {
            continue;
        }
        seen[start] = true;
        let mut region = vec![start];
        let mut place = 0;
        while let Some(index) = region.get(place).copied() {
            place += 1;
            for way in WAYS {
                let wanted = |next: usize| !seen[next] && labels[next] == NONE && open(next);
                if let Some(next) = field.next(index, way, wanted) {
                    seen[next] = true;
                    region.push(next);
                }
            }
        }
        regions.push(region);
    }
    regions
}
