//! Which surfaces belong to one thing: the outside and the inside of a hollow; a body and its handle or its cap; the pieces of a surface
//! that a strip without depth tears apart. Surfaces that remain apart are things that touch.

use super::field::{Field, NONE};
use super::floors;
use super::joined::find;
use super::patches::Patches;
use super::surfaces::surfaces;
use crate::color;
use nalgebra::{Point2, Point3};
use prehend_geometry::upright::{convex_hull, is_inside};
use rayon::prelude::*;
use std::collections::BTreeMap;

/// Points that are compared.
const SAMPLE: usize = 1200;

/// One surface with its measures.
struct Surface {
    pixels: Vec<usize>,
    points: Vec<Point3<f64>>,
    /// Square metres towards the camera.
    area: f64,
    color: [u8; 3],
    hull: Vec<Point2<f64>>,
    /// Heights of its lower and its upper edge above the support, metres.
    bottom: f64,
    top: f64,
    /// How far its middle is before its left and right ends, as a share of its width; negative for the inside of a hollow.
    bulge: f64,
    /// Distance from the camera, metres.
    distance: f64,
    /// Standard deviation of its depth, metres.
    sigma: f64,
}

/// Pixels where two surfaces meet: along a crease, at a jump in depth, across a hole.
#[derive(Clone, Copy, Default)]
struct Contact {
    crease: usize,
    hole: usize,
}

/// The pixels of each thing.
pub(super) fn things(field: &Field<'_>) -> Vec<Vec<usize>> {
    let (labels, count) = surfaces(field);
    let mut pixels: Vec<Vec<usize>> = vec![Vec::new(); count];
    for index in field.standing.iter().filter(|index| labels[**index] != NONE) {
        pixels[labels[*index] as usize].push(*index);
    }
    let (surfaces, patches): (Vec<Surface>, Vec<Patches>) = pixels
        .into_par_iter()
        .map(|pixels| {
            let surface = measure(field, pixels);
            let patches = Patches::new(&surface.points, field.surfaces.bridge);
            (surface, patches)
        })
        .unzip();
    let contacts = contacts(field, &labels);
    let mut root: Vec<usize> = (0..count).collect();
    // The best host of each part: parts must not bridge things.
    let mut hosts: BTreeMap<usize, (f64, usize)> = BTreeMap::new();
    for a in 0..count {
        for b in a + 1..count {
            let Some(gap) = patches[a].gap(&patches[b], field.surfaces.bridge) else { continue };
            let contact = contacts.get(&(a as u32, b as u32)).copied().unwrap_or_default();
            if are_one(field, &surfaces[a], &surfaces[b], contact) {
                let (low, high) = (find(&root, a), find(&root, b));
                root[low.max(high)] = low.min(high);
            }
            let (part, host) = if surfaces[a].area < surfaces[b].area { (a, b) } else { (b, a) };
            if is_part(field, &surfaces[part], &surfaces[host]) {
                // Where they meet for longer; of those that only come near, the nearest.
                let fit = contact.crease as f64 + 1.0 - gap;
                let best = hosts.entry(part).or_insert((fit, host));
                if fit > best.0 {
                    *best = (fit, host);
                }
            }
        }
    }
    for (part, (_, host)) in hosts {
        let (low, high) = (find(&root, part), find(&root, host));
        root[low.max(high)] = low.min(high);
    }
    let mut things: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (number, surface) in surfaces.into_iter().enumerate() {
        things.entry(find(&root, number)).or_default().extend(surface.pixels);
    }
    floors::with_floors(field, things.into_values().collect())
}

fn measure(field: &Field<'_>, pixels: Vec<usize>) -> Surface {
    let points: Vec<Point3<f64>> = field.grid.of(&pixels);
    let mut heights: Vec<f64> = pixels.iter().map(|index| field.heights[*index]).collect();
    let margin = heights.len() / 50;
    let mut at = |place: usize| *heights.select_nth_unstable_by(place, f64::total_cmp).1;
    let (bottom, top) = (at(margin), at(pixels.len() * 49 / 50));
    let step = (points.len() / SAMPLE).max(1);
    let middle = pixels[pixels.len() / 2];
    Surface {
        area: pixels.iter().map(|index| field.pitch(*index).powi(2)).sum(),
        color: color::mean(pixels.iter().map(|index| field.frame.color.pixels[*index])),
        hull: convex_hull(&points.iter().map(|p| p.xy()).collect::<Vec<_>>()),
        bottom,
        top,
        bulge: bulge(&points, &field.eye),
        distance: points.iter().map(|p| (p - field.eye).norm()).sum::<f64>() / points.len().max(1) as f64,
        sigma: field.sigma(middle),
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

/// Whether two surfaces of any size that come near each other are of one thing.
fn are_one(field: &Field<'_>, a: &Surface, b: &Surface, contact: Contact) -> bool {
    let settings = &field.surfaces.things;
    let alike = color::unlikeness(a.color, b.color) < field.surfaces.unlike;
    let rim = settings.rim.max(field.surfaces.noise * a.sigma.max(b.sigma));
    let (near, far) = if a.distance < b.distance { (a, b) } else { (b, a) };
    // The inside of a hollow whose rim goes all around.
    let is_lining = |inner: &Surface, outer: &Surface| {
        inner.top <= outer.top + rim
            && inner.bulge <= settings.outside_bulge
            && share_inside(inner, outer) >= settings.inside
    };
    if is_lining(a, b) || is_lining(b, a) {
        return true;
    }
    // Its far wall, seen over the near one: of one height, as wide, and not the outside of something.
    let is_wall = far.bulge <= settings.hollow_bulge || alike && far.bulge <= settings.outside_bulge;
    if is_wall && (near.top - far.top).abs() <= rim && share_beside(field, near, far) >= settings.beside {
        return true;
    }
    let fewest = a.pixels.len().min(b.pixels.len()) as f64;
    alike && contact.hole > contact.crease && contact.hole as f64 >= settings.contact * fewest.sqrt()
}

/// Whether a surface juts out of another, or caps it.
fn is_part(field: &Field<'_>, part: &Surface, host: &Surface) -> bool {
    let settings = field.surfaces;
    if part.area < settings.min_side.powi(2) {
        return true;
    }
    let alike = color::unlikeness(part.color, host.color) < settings.unlike;
    if alike && part.area < settings.part * host.area && !stands_beside(field, part, host) {
        return true;
    }
    let side = |axis: usize| {
        let (low, high) =
            part.hull.iter().map(|p| p[axis]).fold((f64::MAX, f64::MIN), |(l, h), x| (l.min(x), h.max(x)));
        high - low
    };
    side(0).max(side(1)) < settings.things.cap
        && part.top > host.top
        && share_inside(part, host) >= settings.things.inside
}

/// Whether a surface comes down to the support beside another and is clearly lower or higher than it: a thing of its own. A handle hangs, or
/// goes up to the rim.
fn stands_beside(field: &Field<'_>, part: &Surface, host: &Surface) -> bool {
    let settings = &field.surfaces.things;
    let rim = settings.rim.max(field.surfaces.noise * part.sigma.max(host.sigma));
    field.is_foot(part.bottom, part.pixels[part.pixels.len() / 2])
        && (part.top < settings.handle * host.top || part.top > host.top + rim)
        && share_inside(part, host) < settings.inside
}

/// How surfaces meet, by their numbers, smaller first.
fn contacts(field: &Field<'_>, labels: &[u32]) -> BTreeMap<(u32, u32), Contact> {
    let mut contacts: BTreeMap<(u32, u32), Contact> = BTreeMap::new();
    for index in field.standing.iter().copied() {
        let own = labels[index];
        if own == NONE {
            continue;
        }
        let Some(point) = field.grid.points[index] else { continue };
        let most = (field.surfaces.bridge / field.pitch(index)) as isize;
        for (du, dv) in [(1, 0), (0, 1)] {
            for step in 1..=most.max(1) {
                let Some(other) = field.at(index, du * step, dv * step) else { break };
                let Some(there) = field.grid.points[other] else { continue };
                let label = labels[other];
                if label != NONE && label != own && (there - point).norm() < field.surfaces.bridge {
                    let contact = contacts.entry((own.min(label), own.max(label))).or_default();
                    *(if step == 1 { &mut contact.crease } else { &mut contact.hole }) += 1;
                }
                break;
            }
        }
    }
    contacts
}
