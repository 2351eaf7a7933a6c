//! What stands above the support, cut into patches of about a centimetre, and how neighbouring ones meet.
//!
//! Patches grow from seeds on a grid at once, one step after the other (a compact watershed, Neubert and Protzel 2014). A step along a
//! valley or over a border of colour is long, so patches end there; none reaches over a jump in depth.

use super::field::{Field, NONE, WAYS, flood};
use crate::color;
use nalgebra::{Matrix3, Point3, SymmetricEigen, Vector3};
use std::collections::BTreeMap;

/// Side of a patch, metres, and its least and greatest side in pixels.
const SIDE: f64 = 0.012;
const SIDE_PIXELS: [f64; 2] = [6.0, 20.0];
/// Steps that a valley and a border of colour are longer than others.
const VALLEY: f32 = 16.0;
const BORDER: f32 = 8.0;
/// Valleys and borders beyond which steps are no longer: 0.3 is an edge of 146 degrees.
const DEEP: f32 = 0.3;
const UNLIKE: f32 = 0.18;
/// Buckets of the queue: more than the longest step.
const BUCKETS: usize = 32;
/// Pixels on either side of a border over which colours are compared.
const BESIDE: isize = 2;

/// Numbers of [`Edge::evidence`], and the places of some.
pub(super) const EVIDENCE: usize = 15;
const CONCAVE: usize = 8;
const JUMPS: usize = 10;
/// How far the normals of two patches turn towards each other at a fold: 20 degrees.
const FOLD: f64 = 0.35;

/// A piece of a surface.
#[derive(Clone, Debug)]
pub(super) struct Patch {
    pub(super) pixels: Vec<usize>,
    mean: Point3<f64>,
    /// Unit, towards the camera.
    normal: Vector3<f64>,
    color: [u8; 3],
}

/// How two patches meet.
#[derive(Clone, Copy, Debug, Default)]
struct Meeting {
    /// Steps from one to the other on one surface, over a jump, over a hole, and over the support.
    joined: f64,
    jumps: f64,
    holes: f64,
    opens: f64,
    /// Sums over the steps on one surface: how deep the valley is, how many standard deviations, how unlike the colours on its sides are.
    valley: f64,
    sigmas: f64,
    unlike: f64,
    /// Sum of the jumps, in centimetres up to 10.
    jump: f64,
}

/// Two patches that meet.
#[derive(Clone, Copy, Debug)]
pub(super) struct Edge {
    pub(super) patches: [u32; 2],
    /// What speaks for and against their being of one thing.
    pub(super) evidence: [f64; EVIDENCE],
    /// Length of their border as a share of a patch's side, at most 1.
    pub(super) length: f64,
    /// Steps from one to the other on one surface, over a hole, over a jump, and over the support.
    pub(super) steps: [f64; 4],
}

impl Edge {
    /// Whether the border is a fold or a jump, which surfaces end at, whatever they are of.
    pub(super) fn is_end(&self) -> bool {
        self.evidence[CONCAVE] > FOLD || self.evidence[JUMPS] > 0.5
    }
}

/// The patches, and how they meet.
pub(super) struct Patches {
    pub(super) patches: Vec<Patch>,
    pub(super) edges: Vec<Edge>,
}

impl Patches {
    pub(super) fn new(field: &Field<'_>) -> Self {
        let valleys = field.valleys();
        let side = side(field);
        let mut of = vec![NONE; field.above.len()];
        let mut count = grow(field, &cost(field, &valleys), side, &mut of);
        // What no seed reached is small and stands alone; what is smaller still is of no patch.
        let mut left_out = Vec::new();
        for start in field.standing.iter().copied() {
            if of[start] == NONE {
                of[start] = count;
                let piece = flood(start, |index, way| {
                    let next = field.next(index, way, |next| of[next] == NONE)?;
                    of[next] = count;
                    Some(next)
                });
                if piece.len() >= field.surfaces.min_pixels {
                    count += 1;
                } else {
                    left_out.extend(piece);
                }
            }
        }
        left_out.into_iter().for_each(|index| of[index] = NONE);
        let mut pixels: Vec<Vec<usize>> = vec![Vec::new(); count as usize];
        for index in field.standing.iter().copied().filter(|index| of[*index] != NONE) {
            pixels[of[index] as usize].push(index);
        }
        let patches: Vec<Patch> = pixels.into_iter().map(|pixels| Patch::new(field, pixels)).collect();
        let edges = edges(field, &valleys, &of)
            .into_iter()
            .map(|([a, b], meeting)| {
                Edge::new(field, [a, b], [&patches[a as usize], &patches[b as usize]], &meeting, side)
            })
            .collect();
        Self { patches, edges }
    }
}

impl Patch {
    fn new(field: &Field<'_>, pixels: Vec<usize>) -> Self {
        let points = || pixels.iter().filter_map(|index| field.grid.points[*index]);
        let count = points().count().max(1) as f64;
        let mean = Point3::from(points().map(|point| point.coords).sum::<Vector3<f64>>() / count);
        let covariance =
            points().map(|point| (point - mean) * (point - mean).transpose()).sum::<Matrix3<f64>>();
        let eigen = SymmetricEigen::new(covariance);
        let normal: Vector3<f64> = eigen.eigenvectors.column(eigen.eigenvalues.imin()).into_owned();
        let normal = if normal.dot(&(field.eye - mean)) < 0.0 { -normal } else { normal };
        let color = color::mean(pixels.iter().map(|index| field.frame.color.pixels[*index]));
        Self { pixels, mean, normal, color }
    }
}

impl Edge {
    fn new(
        field: &Field<'_>,
        patches: [u32; 2],
        [a, b]: [&Patch; 2],
        meeting: &Meeting,
        side: usize,
    ) -> Self {
        // What only comes near does not meet: of length 0, it has no weight.
        let met = meeting.joined + meeting.jumps + meeting.holes;
        let all = met.max(1.0);
        let joined = meeting.joined.max(1.0);
        let between = b.mean - a.mean;
        let apart = between.norm().max(1e-6);
        // Positive where the two bulge towards the camera (Stein et al. 2014, equation 1).
        let bulge = (b.normal - a.normal).dot(&between) / apart;
        let off = (a.normal.dot(&between).abs() + b.normal.dot(&between).abs()) / (2.0 * apart);
        let unlike = (color::unlikeness(a.color, b.color) * 2.5).min(1.0);
        let valley = (meeting.valley / joined).min(1.0);
        let sigmas = meeting.sigmas / joined;
        let beside = (meeting.unlike / joined * 2.5).min(1.0);
        let jumps = meeting.jumps / all;
        let jump = meeting.jump / meeting.jumps.max(1.0) / 10.0;
        let height = |patch: &Patch| {
            patch.pixels.get(patch.pixels.len() / 2).map_or(0.0, |index| field.heights[*index])
        };
        let low = (height(a).min(height(b)) / 0.05).clamp(0.0, 1.0);
        let sure = (sigmas / 2.0).min(1.0);
        let evidence = [
            valley,
            sure,
            valley * sure,
            unlike,
            beside,
            valley * beside,
            sure * beside,
            bulge.clamp(0.0, 1.0),
            (-bulge).clamp(0.0, 1.0),
            off,
            jumps,
            jumps * jump,
            meeting.holes / all,
            low,
            jumps * unlike,
        ];
        let steps = [meeting.joined, meeting.holes, meeting.jumps, meeting.opens];
        Self { patches, evidence, length: (met / side as f64).min(1.0), steps }
    }
}

/// Side of a patch, pixels, at the middle distance of what stands there.
fn side(field: &Field<'_>) -> usize {
    let mut pitches: Vec<f64> = field.standing.iter().step_by(16).map(|index| field.pitch(*index)).collect();
    if pitches.is_empty() {
        return SIDE_PIXELS[0] as usize;
    }
    let middle = pitches.len() / 2;
    let pitch = *pitches.select_nth_unstable_by(middle, f64::total_cmp).1;
    (SIDE / pitch).round().clamp(SIDE_PIXELS[0], SIDE_PIXELS[1]) as usize
}

/// Length of a step onto each pixel that stands.
fn cost(field: &Field<'_>, valleys: &[[f32; 2]]) -> Vec<u8> {
    let mut cost = vec![1; field.above.len()];
    for index in &field.standing {
        let [valley, sigmas] = valleys[*index];
        let deep = (valley / DEEP).min(1.0) * (sigmas / 2.0).min(1.0);
        let around = |du, dv| {
            let ends = [field.at(*index, du, dv), field.at(*index, -du, -dv)];
            let [Some(a), Some(b)] = ends else { return 0.0 };
            color::unlikeness(field.frame.color.pixels[a], field.frame.color.pixels[b]) as f32
        };
        let border = (around(1, 0).max(around(0, 1)) / UNLIKE).min(1.0);
        cost[*index] = 1 + (VALLEY * deep.max(0.0) + BORDER * border) as u8;
    }
    cost
}

/// Grows patches from a grid of seeds; gives how many there are.
fn grow(field: &Field<'_>, cost: &[u8], side: usize, of: &mut [u32]) -> u32 {
    let width = field.grid.width.max(1);
    let across = width.div_ceil(side);
    // The best seed of each cell of the grid: on open ground, near its middle.
    let mut seeds: Vec<Option<(usize, usize)>> = vec![None; across * field.grid.height.div_ceil(side)];
    for index in field.standing.iter().copied() {
        let (u, v) = (index % width, index / width);
        let off = (u % side).abs_diff(side / 2) + (v % side).abs_diff(side / 2);
        let rank = usize::from(cost[index]) * side + off;
        let seed = &mut seeds[v / side * across + u / side];
        if seed.is_none_or(|(best, _)| rank < best) {
            *seed = Some((rank, index));
        }
    }
    let mut buckets: Vec<Vec<(u32, u32)>> = vec![Vec::new(); BUCKETS];
    let mut count = 0;
    for (_, index) in seeds.into_iter().flatten() {
        buckets[0].push((index as u32, count));
        count += 1;
    }
    let (mut place, mut idle) = (0, 0);
    while idle < BUCKETS {
        let mut waiting = std::mem::take(&mut buckets[place]);
        idle = if waiting.is_empty() { idle + 1 } else { 0 };
        for (index, patch) in waiting.drain(..) {
            let index = index as usize;
            if of[index] != NONE {
                continue;
            }
            of[index] = patch;
            for way in WAYS {
                if let Some(next) = field.next(index, way, |next| of[next] == NONE) {
                    buckets[(place + usize::from(cost[next])) % BUCKETS].push((next as u32, patch));
                }
            }
        }
        place = (place + 1) % BUCKETS;
    }
    count
}

/// How patches meet, by their numbers, smaller first.
fn edges(field: &Field<'_>, valleys: &[[f32; 2]], of: &[u32]) -> BTreeMap<[u32; 2], Meeting> {
    let mut meetings: BTreeMap<[u32; 2], Meeting> = BTreeMap::new();
    for index in field.standing.iter().copied().filter(|index| of[*index] != NONE) {
        let most = (field.surfaces.bridge / field.pitch(index)) as isize;
        for (du, dv) in [(1, 0), (0, 1)] {
            // The next thing that is seen, and whether the support is seen before it.
            let mut is_open = false;
            let step = (1..=most.max(1)).find_map(|step| {
                let other = field.at(index, du * step, dv * step)?;
                is_open |= field.grid.points[other].is_some() && !field.above[other];
                field.above[other].then_some((step, other))
            });
            let Some((step, other)) = step else { continue };
            if of[other] == NONE || of[other] == of[index] {
                continue;
            }
            let meeting = meetings.entry([of[index].min(of[other]), of[index].max(of[other])]).or_default();
            if is_open {
                meeting.opens += 1.0;
            } else if !field.is_continuous(index, other, step as usize) {
                meeting.jumps += 1.0;
                meeting.jump += field.step(index, other).min(0.1) * 100.0;
            } else if step > field.surfaces.hole as isize + 1 {
                meeting.holes += 1.0;
            } else {
                let (here, there) = (valleys[index], valleys[other]);
                meeting.joined += 1.0;
                meeting.valley += f64::from(here[0].max(there[0]).clamp(0.0, 1.0));
                meeting.sigmas += f64::from(here[1].max(there[1]).clamp(0.0, 4.0));
                let sides =
                    [field.at(index, -BESIDE * du, -BESIDE * dv), field.at(other, BESIDE * du, BESIDE * dv)];
                let [a, b] = [sides[0].unwrap_or(index), sides[1].unwrap_or(other)]
                    .map(|index| field.frame.color.pixels[index]);
                meeting.unlike += color::unlikeness(a, b).min(0.4);
            }
        }
    }
    meetings
}
