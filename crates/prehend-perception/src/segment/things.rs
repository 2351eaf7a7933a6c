//! From patches to things, in two steps of one kind: patches become surfaces, and surfaces become things. Each time, what speaks for and
//! against every pair is weighed by numbers that were learned ([`super::learned`]), and all pairs are decided at once ([`super::cut`]).
//!
//! Of patches only what happens at their border counts. Of surfaces also their shapes: the outside and the inside of a hollow, a body and
//! its handle or its cap, the pieces of a surface that a strip without depth tears apart. What remains apart are things that touch.

use super::cut::groups;
use super::field::Field;
use super::floors;
use super::forest::odds;
use super::gap::Cells;
use super::lessons::{Lesson, Truth};
use super::patches::{self, Patches};
use crate::color;
use nalgebra::{Point2, Point3};
use prehend_geometry::upright::{convex_hull, is_inside};
use rayon::prelude::*;
use std::collections::BTreeMap;

/// Points that are compared.
const SAMPLE: usize = 600;

/// Difference of heights that tells rims apart, metres.
const RIM: f64 = 0.012;
/// Side of what is tiny, metres.
const TINY: f64 = 0.02;
/// Numbers of what the shapes of two surfaces tell.
const SHAPES: usize = 34;

/// What speaks for and against two surfaces being of one thing.
struct Pair {
    surfaces: [u32; 2],
    /// What their shapes tell, then what the borders of their patches tell.
    evidence: [f64; SHAPES + patches::EVIDENCE],
}

/// One surface with its measures.
struct Surface {
    pixels: Vec<usize>,
    points: Vec<Point3<f64>>,
    /// Square metres towards the camera.
    area: f64,
    color: [u8; 3],
    hull: Vec<Point2<f64>>,
    /// Its outline in the picture, pixels.
    outline: Vec<Point2<f64>>,
    /// Heights of its lower and its upper edge above the support, metres.
    bottom: f64,
    top: f64,
    /// How far its middle is before its left and right ends, as a share of its width; negative for the inside of a hollow.
    bulge: f64,
    /// Distance from the camera, metres.
    distance: f64,
}

/// How two surfaces meet.
#[derive(Clone, Copy, Default)]
struct Contact {
    /// Steps from one to the other on one surface, over a hole, over a jump, over the support.
    steps: [f64; 4],
    /// What the borders of their patches weigh together, and how long they are in patches.
    weight: f64,
    length: f64,
    /// Sums of the evidence about these borders.
    evidence: [f64; patches::EVIDENCE],
}

/// The pixels of each thing.
pub(super) fn things(field: &Field<'_>) -> Vec<Vec<usize>> {
    let (surfaces, contacts) = surfaces(field, Patches::new(field));
    let weight =
        |pair: Pair| (pair.surfaces, odds(field.learned.surfaces, &pair.evidence) + field.surfaces.joined);
    let group = groups(surfaces.len(), pairs(field, &surfaces, &contacts).into_iter().map(weight));
    let group = without_slivers(field, &surfaces, &contacts, group);
    let mut things: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (surface, group) in surfaces.into_iter().zip(group) {
        things.entry(group).or_default().extend(surface.pixels);
    }
    floors::with_floors(field, things.into_values().collect())
}

/// The groups of surfaces; those that are nowhere wider than what a camera smears at an edge go to the one that they meet most without a
/// jump. Beyond a jump they may be of the support behind.
fn without_slivers(
    field: &Field<'_>,
    surfaces: &[Surface],
    contacts: &BTreeMap<[u32; 2], Contact>,
    mut group: Vec<usize>,
) -> Vec<usize> {
    let mut owner = vec![usize::MAX; field.above.len()];
    let mut is_sliver = vec![true; surfaces.len()];
    for (surface, group) in surfaces.iter().zip(&group) {
        surface.pixels.iter().for_each(|index| owner[*index] = *group);
    }
    let reach = field.surfaces.smear as isize;
    let is_core = |index: usize| {
        [(reach, 0), (-reach, 0), (0, reach), (0, -reach)]
            .iter()
            .all(|(du, dv)| field.at(index, *du, *dv).is_some_and(|other| owner[other] == owner[index]))
    };
    for (surface, group) in surfaces.iter().zip(&group) {
        is_sliver[*group] &= !surface.pixels.iter().any(|index| is_core(*index));
    }
    let mut meets: BTreeMap<usize, BTreeMap<usize, f64>> = BTreeMap::new();
    for ([a, b], contact) in contacts {
        let [a, b] = [group[*a as usize], group[*b as usize]];
        let steps: f64 = contact.steps[..2].iter().sum();
        for (sliver, other) in [(a, b), (b, a)] {
            if a != b && is_sliver[sliver] && !is_sliver[other] {
                *meets.entry(sliver).or_default().entry(other).or_default() += steps;
            }
        }
    }
    for group in &mut group {
        let most = meets.get(group).and_then(|others| others.iter().max_by(|a, b| a.1.total_cmp(b.1)));
        if let Some((other, _)) = most.filter(|(_, steps)| **steps > 0.0) {
            *group = *other;
        }
    }
    group
}

/// What can be learned from a frame: the evidence about each pair of patches and of surfaces, and whether they are of one thing.
pub(super) fn lessons(field: &Field<'_>, truth: &Truth<'_>) -> [Vec<Lesson>; 2] {
    let patches = Patches::new(field);
    let owners: Vec<Option<u16>> = patches.patches.iter().map(|patch| truth.owner(&patch.pixels)).collect();
    let of_patches = patches.edges.iter().filter(|edge| edge.length > 0.0).filter_map(|edge| {
        let [a, b] = edge.patches.map(|patch| owners[patch as usize]);
        // The walls of a hollow are of one thing, but not one surface.
        if a == b && edge.is_end() {
            return None;
        }
        Some(Lesson { evidence: edge.evidence.to_vec(), weight: edge.length, is_one: Truth::is_one(a?, b?)? })
    });
    let of_patches = of_patches.collect();
    let (surfaces, contacts) = surfaces(field, patches);
    let owners: Vec<Option<u16>> = surfaces.iter().map(|surface| truth.owner(&surface.pixels)).collect();
    let of_surfaces = pairs(field, &surfaces, &contacts).into_iter().filter_map(|pair| {
        let [a, b] = pair.surfaces;
        let is_one = Truth::is_one(owners[a as usize]?, owners[b as usize]?)?;
        let pixels = surfaces[a as usize].pixels.len().min(surfaces[b as usize].pixels.len());
        Some(Lesson { evidence: pair.evidence.to_vec(), weight: pixels as f64, is_one })
    });
    [of_patches, of_surfaces.collect()]
}

/// Patches joined to surfaces, and how these meet, by their numbers, smaller first.
fn surfaces(field: &Field<'_>, patches: Patches) -> (Vec<Surface>, BTreeMap<[u32; 2], Contact>) {
    let weights: Vec<f64> = patches
        .edges
        .iter()
        .map(|edge| (odds(field.learned.patches, &edge.evidence) + field.surfaces.smooth) * edge.length)
        .collect();
    let pairs = patches.edges.iter().map(|edge| edge.patches).zip(weights.iter().copied());
    let group = groups(patches.patches.len(), pairs);
    let mut contacts: BTreeMap<[u32; 2], Contact> = BTreeMap::new();
    for (edge, weight) in patches.edges.iter().zip(weights) {
        let [a, b] = edge.patches.map(|patch| group[patch as usize] as u32);
        if a != b {
            let contact = contacts.entry([a.min(b), a.max(b)]).or_default();
            (0..4).for_each(|kind| contact.steps[kind] += edge.steps[kind]);
            contact.weight += weight;
            contact.length += edge.length;
            let sums = contact.evidence.iter_mut().zip(&edge.evidence);
            sums.for_each(|(sum, part)| *sum += part * edge.length);
        }
    }
    let mut pixels: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (patch, group) in patches.patches.into_iter().zip(group) {
        pixels.entry(group).or_default().extend(patch.pixels);
    }
    let surfaces =
        pixels.into_values().collect::<Vec<_>>().into_par_iter().map(|pixels| measure(field, pixels));
    (surfaces.collect(), contacts)
}

/// The pairs of surfaces that come near each other, with what speaks for and against their being of one thing.
fn pairs(field: &Field<'_>, surfaces: &[Surface], contacts: &BTreeMap<[u32; 2], Contact>) -> Vec<Pair> {
    let bridge = field.surfaces.bridge;
    let cells: Vec<Cells> = surfaces.par_iter().map(|surface| Cells::new(&surface.points, bridge)).collect();
    let near = |a: usize| {
        let cells = &cells;
        (a + 1..surfaces.len()).filter_map(move |b| {
            let gap = cells[a].gap(&cells[b], bridge)?;
            let pair = [a as u32, b as u32];
            let contact = contacts.get(&pair).copied().unwrap_or_default();
            let shapes = shapes(field, &surfaces[a], &surfaces[b], gap, &contact);
            let borders = contact.evidence.map(|sum| sum / contact.length.max(1.0));
            let evidence = std::array::from_fn(|number| match number.checked_sub(SHAPES) {
                Some(number) => borders[number],
                None => shapes[number],
            });
            Some(Pair { surfaces: pair, evidence })
        })
    };
    (0..surfaces.len()).into_par_iter().flat_map_iter(near).collect()
}

/// What the shapes of two surfaces tell.
fn shapes(field: &Field<'_>, a: &Surface, b: &Surface, gap: f64, contact: &Contact) -> [f64; SHAPES] {
    let (near, far) = if a.distance < b.distance { (a, b) } else { (b, a) };
    let (small, large) = if a.area < b.area { (a, b) } else { (b, a) };
    let fewest = (small.pixels.len().min(large.pixels.len()) as f64).sqrt();
    let [joined, holes, jumps, opens] = contact.steps.map(|steps| (steps / fewest / 2.0).min(1.0));
    let unlike = color::unlikeness(a.color, b.color);
    let alike = (-unlike / field.surfaces.unlike).exp();
    let within = share_inside(small, large);
    let around = share_inside(large, small);
    let level = (-(near.top - far.top).abs() / RIM).exp();
    let bulge = |surface: &Surface| (surface.bulge / 0.2).clamp(-1.0, 1.0);
    let hollow = (-bulge(far)).max(0.0);
    let beside = share_beside(field, near, far);
    let ratio = (small.area / large.area.max(1e-9)).sqrt();
    let tiny = (-small.area / TINY.powi(2)).exp();
    // What is of one thing seldom has dents: how much of the convex outline is filled by both, and by the one that fills its own less.
    let filled = share_filled(small.pixels.len() + large.pixels.len(), &[&small.outline, &large.outline]);
    let alone = [small, large].map(|surface| share_filled(surface.pixels.len(), &[&surface.outline]));
    let alone = alone[0].min(alone[1]);
    let foot = |surface: &Surface| {
        f64::from(u8::from(field.is_foot(surface.bottom, surface.pixels[surface.pixels.len() / 2])))
    };
    let (foot_small, foot_large) = (foot(small), foot(large));
    let on = 1.0 / (1.0 + ((large.top - small.bottom - RIM / 2.0) / (RIM / 4.0)).clamp(-30.0, 30.0).exp());
    let against = (contact.weight / contact.length.max(0.5) / 6.0).clamp(-1.0, 1.0);
    let sum = (contact.weight / 20.0).clamp(-1.0, 1.0);
    [
        joined,
        holes,
        jumps,
        opens,
        (unlike * 2.5).min(1.0),
        alike,
        within,
        around,
        level,
        bulge(near),
        bulge(far),
        beside,
        ratio,
        tiny,
        foot_small,
        foot_large,
        on,
        gap / field.surfaces.bridge,
        against,
        sum,
        alike * within,
        alike * holes,
        alike * joined,
        filled,
        alone - filled,
        beside * level,
        beside * level * hollow,
        alike * beside * level,
        foot_small * foot_large,
        tiny * alike,
        tiny * joined,
        on * alike,
        within * hollow * alike,
        against * alike,
    ]
}

fn measure(field: &Field<'_>, pixels: Vec<usize>) -> Surface {
    let points: Vec<Point3<f64>> = field.grid.of(&pixels);
    let mut heights: Vec<f64> = pixels.iter().map(|index| field.heights[*index]).collect();
    let margin = heights.len() / 50;
    let mut at = |place: usize| *heights.select_nth_unstable_by(place, f64::total_cmp).1;
    let (bottom, top) = (at(margin), at(pixels.len() * 49 / 50));
    let step = (points.len() / SAMPLE).max(1);
    Surface {
        area: pixels.iter().map(|index| field.pitch(*index).powi(2)).sum(),
        color: color::mean(pixels.iter().map(|index| field.frame.color.pixels[*index])),
        hull: convex_hull(&points.iter().map(|p| p.xy()).collect::<Vec<_>>()),
        outline: convex_hull(&pixels.iter().map(|index| field.place(*index)).collect::<Vec<_>>()),
        bottom,
        top,
        bulge: bulge(&points, &field.eye),
        distance: points.iter().map(|p| (p - field.eye).norm()).sum::<f64>() / points.len().max(1) as f64,
        points: points.into_iter().step_by(step).collect(),
        pixels,
    }
}

/// See [`Surface::bulge`].
fn bulge(points: &[Point3<f64>], eye: &Point3<f64>) -> f64 {
    let mean = points.iter().map(|p| p.coords).sum::<nalgebra::Vector3<f64>>() / points.len().max(1) as f64;
    let toward = (eye.coords - mean).xy();
    let length = toward.norm();
    if length < 1e-6 {
        return 0.0;
    }
    let toward = toward / length;
    let across = |p: &Point3<f64>| p.x * toward.y - p.y * toward.x;
    let (low, high) = points.iter().map(across).fold((f64::MAX, f64::MIN), |(l, h), x| (l.min(x), h.max(x)));
    let width = high - low;
    // Means of how near the ends and the middle are.
    let (mut near, mut counts) = ([0.0; 3], [0.0_f64; 3]);
    for point in points {
        let place = (across(point) - low) / width.max(1e-9);
        let band = match place {
            p if p < 0.2 => 0,
            p if (0.4..0.6).contains(&p) => 1,
            p if p > 0.8 => 2,
            _ => continue,
        };
        near[band] += point.x * toward.x + point.y * toward.y;
        counts[band] += 1.0;
    }
    if counts.iter().any(|count| *count < 3.0) {
        return 0.0;
    }
    let [left, middle, right] = std::array::from_fn(|band| near[band] / counts[band]);
    (middle - (left + right) / 2.0) / width
}

/// Share of a surface that lies in the footprint of another.
fn share_inside(inner: &Surface, outer: &Surface) -> f64 {
    let inside = inner.points.iter().filter(|point| is_inside(&outer.hull, &point.xy())).count();
    inside as f64 / inner.points.len().max(1) as f64
}

/// Share of a convex outline around some that so many pixels fill.
fn share_filled(pixels: usize, outlines: &[&Vec<Point2<f64>>]) -> f64 {
    let corners: Vec<Point2<f64>> = outlines.iter().flat_map(|outline| outline.iter().copied()).collect();
    let hull = convex_hull(&corners);
    let sides = hull.iter().zip(hull.iter().cycle().skip(1));
    let area = sides.map(|(a, b)| a.coords.perp(&b.coords)).sum::<f64>() / 2.0;
    (pixels as f64 / area.max(1.0)).min(1.0)
}

/// Intersection over union of the ranges that two surfaces take across the line of sight.
fn share_beside(field: &Field<'_>, near: &Surface, far: &Surface) -> f64 {
    let Some(toward) = near.points.first().map(|point| (field.eye - point).xy()) else { return 0.0 };
    let range = |surface: &Surface| {
        let across = surface.points.iter().map(|p| p.x * toward.y - p.y * toward.x);
        across.fold((f64::MAX, f64::MIN), |(low, high), x| (low.min(x), high.max(x)))
    };
    let ((a0, a1), (b0, b1)) = (range(near), range(far));
    (a1.min(b1) - a0.max(b0)).max(0.0) / (a1.max(b1) - a0.min(b0)).max(1e-9)
}
