//! From masks and clusters of one frame to objects. A detection is cut where geometry says that it holds two things. Detections are joined
//! where geometry says that they are one thing. Each is completed to the cluster that it lies in. A cluster without a detection becomes an
//! object without a name.

mod contact;
mod grow;
mod panel;

use crate::segment::Scene;
use crate::{Detection, Keyframe, color};
use nalgebra::{Point2, Point3};
use prehend_geometry::upright::{convex_hull, is_inside};
use prehend_geometry::voxel::VoxelGrid;
use prehend_scene::furniture;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::collections::BTreeMap;

pub use contact::ContactSettings;
pub use panel::PanelSettings;

/// When a frame's regions count as one thing or as a thing at all.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct HypothesisSettings {
    /// Pixels taken off every mask before its points are used.
    pub erode: usize,
    /// Fewest pixels of a part of a detection.
    pub min_pixels: usize,
    /// Least size of a part of a detection relative to its largest part; smaller ones are noise.
    pub min_part: f64,
    /// Gap up to which two clusters in one mask are one thing, metres.
    pub bridge: f64,
    /// The gap up to which two are one thing when one lies above the other, as a multiple of that.
    pub stacked: f64,
    /// The gap up to which a scrap of a mask belongs to what has its colour, as a multiple of that.
    pub scrap: f64,
    /// Greatest extent of a bottle's cap, metres.
    pub cap: f64,
    /// How far a cap may be from the shoulder, metres.
    pub neck: f64,
    /// Greatest gap between a drawer's front and its handle, metres.
    pub handle_gap: f64,
    /// Fewest points of something too flat to stand out of the noise pixel by pixel.
    pub flat_points: usize,
    /// Its least mean height above the support, metres.
    pub flat_height: f64,
    /// Where masks are taken as they were drawn, those with fewer pixels than this are not eroded: little would be left.
    pub small: usize,
    /// A mask is of what carries the things when more than this many times as many of its pixels are level with the support as above it,
    /// and it is as long and wide as below. No dish is so large.
    pub support_level: f64,
    /// Least length of what carries the things, metres.
    pub support_length: f64,
    /// Least width of what carries the things, metres.
    pub support_width: f64,
    /// Pixels over which a mask grows within its cluster: what was taken off it, and a pixel more. Beyond that only colour tells whose a
    /// rest is, or masks would take pieces of what the detector missed.
    pub grow: usize,
    /// Least share of a cluster that an unclaimed rest must have to be a thing of its own.
    pub min_rest: f64,
    /// Least extent and height of a thing without a name, metres.
    pub min_extent: f64,
    /// Least unlikeness of two colours that tells things apart; see [`color::unlikeness`].
    pub unlike: f64,
    /// Whether nameless things that are near each other and of one colour are one.
    pub join_nameless: bool,
    /// Joining the pieces of a split mask.
    pub contact: ContactSettings,
    /// Cutting what is named as a drawer or door into fronts.
    pub panel: PanelSettings,
}

impl Default for HypothesisSettings {
    fn default() -> Self {
        Self {
            erode: 1,
            min_pixels: 25,
            min_part: 0.2,
            bridge: 0.02,
            stacked: 3.0,
            scrap: 2.0,
            cap: 0.045,
            neck: 0.12,
            handle_gap: 0.08,
            flat_points: 60,
            flat_height: 0.002,
            small: 400,
            support_level: 4.0,
            support_length: 0.5,
            support_width: 0.25,
            grow: 2,
            min_rest: 0.15,
            min_extent: 0.01,
            unlike: 0.12,
            join_nameless: true,
            contact: ContactSettings::default(),
            panel: PanelSettings::default(),
        }
    }
}

/// Rows of a picture that a thread takes at once.
const ROWS: usize = 48;

/// One thing in one frame.
#[derive(Clone, Debug, PartialEq)]
pub struct Hypothesis {
    /// Pixels, row-major indices, all with a point.
    pub pixels: Vec<usize>,
    /// Labels of the detections it comes from; empty when only geometry saw it.
    pub detections: Vec<u16>,
    /// Whether its detection holds several things, so that its name may be another's.
    pub from_merged: bool,
    /// Cluster it lies in; 0 when it is too flat for one.
    pub cluster: u16,
}

/// What was not used, for the trace.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Skipped {
    /// Detections without a pixel in the label image.
    pub undrawn: usize,
    /// Detections whose mask has too few pixels, as that of what the picture's border cuts off.
    pub slivers: usize,
    /// Detections without usable points: nothing stands there, or no depth.
    pub without_points: usize,
    /// Those of them of which most pixels have no depth, and which are more than an edge.
    pub unmeasured: usize,
    /// Labels in the image that no detection has.
    pub unknown_labels: usize,
    /// Clusters too small to be a thing.
    pub specks: usize,
}

/// Masks below this share of the picture, thousandths, may be edges only, where depth cameras measure nothing.
const EDGE: usize = 1;

impl Skipped {
    /// Counts a detection of which `pixels` are left, when they are too few.
    fn count_small(
        &mut self,
        detection: &Detection,
        pixels: usize,
        frame: &Keyframe,
        settings: &HypothesisSettings,
    ) {
        if pixels >= settings.min_pixels {
            return;
        }
        let is_drawn = pixels > 0 || frame.labels.labels.contains(&detection.label);
        *(if is_drawn { &mut self.slivers } else { &mut self.undrawn }) += 1;
    }
}

/// Cuts a frame into things, named ones first.
pub fn hypotheses(
    frame: &Keyframe,
    scene: &Scene,
    settings: &HypothesisSettings,
) -> (Vec<Hypothesis>, Skipped) {
    let mut skipped = Skipped::default();
    let claims = claims(frame, settings, &mut skipped);
    let drawn =
        |detection: &Detection| claims.get(usize::from(detection.label)).map_or(&[][..], Vec::as_slice);
    // Each mask alone.
    let parts: Vec<Option<Vec<Hypothesis>>> = frame
        .detections
        .par_iter()
        .map(|detection| {
            let pixels = drawn(detection);
            let is_used = pixels.len() >= settings.min_pixels && !is_support(pixels, scene, settings);
            is_used.then(|| parts_of(detection.label, pixels, frame, scene, settings))
        })
        .collect();
    let mut found = Vec::new();
    for (detection, parts) in frame.detections.iter().zip(parts) {
        let pixels = drawn(detection);
        skipped.count_small(detection, pixels.len(), frame, settings);
        let Some(parts) = parts else { continue };
        if parts.is_empty() {
            skipped.without_points += 1;
            let measured = pixels.iter().filter(|index| frame.depth.metres(**index).is_some()).count();
            let is_edge = pixels.len() < EDGE * frame.labels.labels.len() / 1000;
            skipped.unmeasured += usize::from(!is_edge && measured * 2 < pixels.len());
        }
        found.extend(parts);
    }
    grow::complete(frame, scene, settings, &mut found, &mut skipped);
    if settings.join_nameless {
        join_nameless(frame, scene, settings, &mut found);
    }
    contact::join_split(frame, scene, settings, &mut found);
    // Mostly they are some ascending runs.
    found.par_iter_mut().for_each(|hypothesis| hypothesis.pixels.sort());
    panel::settle(frame, scene, settings, &mut found);
    (found, skipped)
}

/// The masks of a frame as they were drawn, without a look at the geometry; small ones keep their border.
pub(crate) fn claimed(
    frame: &Keyframe,
    settings: &HypothesisSettings,
    skipped: &mut Skipped,
) -> Vec<Hypothesis> {
    let whole = claims(frame, &HypothesisSettings { erode: 0, ..*settings }, skipped);
    let eroded = claims(frame, settings, &mut Skipped::default());
    let mut found = Vec::new();
    for detection in &frame.detections {
        let label = usize::from(detection.label);
        let drawn = whole.get(label).map_or(&[][..], Vec::as_slice);
        skipped.count_small(detection, drawn.len(), frame, settings);
        if drawn.len() < settings.min_pixels {
            continue;
        }
        let pixels = eroded
            .get(label)
            .filter(|_| drawn.len() >= settings.small)
            .map_or_else(|| drawn.to_vec(), Vec::clone);
        found.push(Hypothesis { pixels, detections: vec![detection.label], from_merged: false, cluster: 0 });
    }
    found
}

/// Joins nameless things that are near and of one colour: a strip without depth, such as a shiny rim, tears a cup in two.
fn join_nameless(
    frame: &Keyframe,
    scene: &Scene,
    settings: &HypothesisSettings,
    found: &mut Vec<Hypothesis>,
) {
    let mut place = 0;
    while place < found.len() {
        let one = &found[place];
        let twin = (place + 1..found.len()).find(|other| {
            let other = &found[*other];
            one.detections.is_empty()
                && other.detections.is_empty()
                && color::unlikeness(mean_color(frame, &one.pixels), mean_color(frame, &other.pixels))
                    < settings.unlike
                && is_bridged(one, &other.pixels, scene, settings)
        });
        match twin {
            Some(twin) => {
                let other = found.remove(twin);
                found[place].pixels.extend(other.pixels);
            }
            None => place += 1,
        }
    }
}

/// Pixels of each label, from 0, after erosion: a pixel stays when its neighbours within `erode` steps have the same label. Greater labels
/// have none.
fn claims(frame: &Keyframe, settings: &HypothesisSettings, skipped: &mut Skipped) -> Vec<Vec<usize>> {
    let width = frame.labels.width;
    let known: Vec<u16> = frame.detections.iter().map(|d| d.label).collect();
    let greatest = frame.labels.labels.iter().copied().max().unwrap_or(0);
    let mut is_known = vec![false; usize::from(greatest) + 1];
    for label in known {
        if let Some(slot) = is_known.get_mut(usize::from(label)) {
            *slot = label > 0;
        }
    }
    let mut labels = Cow::Borrowed(&frame.labels.labels);
    for _ in 0..settings.erode {
        labels = Cow::Owned(eroded(&labels, width));
    }
    let mut claims: Vec<Vec<usize>> = vec![Vec::new(); is_known.len()];
    let mut unknown = vec![false; is_known.len()];
    for (index, label) in labels.iter().enumerate() {
        if *label == 0 {
            continue;
        }
        if is_known[usize::from(*label)] {
            claims[usize::from(*label)].push(index);
        } else {
            unknown[usize::from(*label)] = true;
        }
    }
    skipped.unknown_labels += unknown.iter().filter(|u| **u).count();
    claims
}

/// Labels without those that have another label beside them.
fn eroded(labels: &[u16], width: usize) -> Vec<u16> {
    let mut left = labels.to_vec();
    let width = width.max(1);
    left.par_chunks_mut(ROWS * width).enumerate().for_each(|(band, rows)| {
        for (v, row) in rows.chunks_mut(width).enumerate().map(|(v, row)| (band * ROWS + v, row)) {
            let here = &labels[v * width..(v + 1) * width];
            // Beyond the picture's border everything goes on.
            let above = &labels[v.saturating_sub(1) * width..][..width];
            let below = labels.get((v + 1) * width..(v + 2) * width).unwrap_or(here);
            for (u, slot) in row.iter_mut().enumerate().filter(|(_, label)| **label > 0) {
                let beside = [here[u.saturating_sub(1)], here[(u + 1).min(width - 1)], above[u], below[u]];
                if beside != [*slot; 4] {
                    *slot = 0;
                }
            }
        }
    });
    left
}

/// Whether a mask shows what carries the things ("table"): where it runs over the edge of one of them, it must not name it.
fn is_support(pixels: &[usize], scene: &Scene, settings: &HypothesisSettings) -> bool {
    if scene.plane.is_none() {
        return false;
    }
    let (mut level, mut raised) = (0_usize, 0_usize);
    let (mut low, mut high) = ([f64::INFINITY; 2], [f64::NEG_INFINITY; 2]);
    for index in pixels {
        let Some(point) = scene.grid.points[*index] else { continue };
        *(if scene.clusters[*index] == 0 { &mut level } else { &mut raised }) += 1;
        for (axis, place) in [point.x, point.y].into_iter().enumerate() {
            (low[axis], high[axis]) = (low[axis].min(place), high[axis].max(place));
        }
    }
    let sides = [high[0] - low[0], high[1] - low[1]];
    level as f64 > settings.support_level * raised as f64
        && sides[0].max(sides[1]) > settings.support_length
        && sides[0].min(sides[1]) > settings.support_width
}

/// The things one detection holds: its clusters, joined when they are near, with the low points inside each footprint.
fn parts_of(
    label: u16,
    pixels: &[usize],
    frame: &Keyframe,
    scene: &Scene,
    settings: &HypothesisSettings,
) -> Vec<Hypothesis> {
    let mut by_cluster: BTreeMap<u16, Vec<usize>> = BTreeMap::new();
    // Neighbours are mostly of one cluster.
    for run in pixels.chunk_by(|a, b| scene.clusters[*a] == scene.clusters[*b]) {
        let measured = run.iter().filter(|index| scene.grid.points[**index].is_some());
        let mut measured = measured.peekable();
        if measured.peek().is_some() {
            by_cluster.entry(scene.clusters[run[0]]).or_default().extend(measured);
        }
    }
    let low = by_cluster.remove(&0).unwrap_or_default();
    let mut groups: Vec<(u16, Vec<usize>)> =
        by_cluster.into_iter().filter(|(_, pixels)| pixels.len() * 2 >= settings.min_pixels).collect();
    groups.sort_by_key(|(_, pixels)| std::cmp::Reverse(pixels.len()));
    if groups.is_empty() {
        return flat_thing(label, low, scene, settings);
    }
    // Join clusters that are one thing with a gap in it.
    let mut parts: Vec<Hypothesis> = Vec::new();
    for (cluster, pixels) in groups {
        let near = parts.iter().position(|part| is_bridged(part, &pixels, scene, settings));
        match near {
            Some(place) => parts[place].pixels.extend(pixels),
            None => parts.push(Hypothesis { pixels, detections: vec![label], from_merged: false, cluster }),
        }
    }
    let most = parts.iter().map(|part| part.pixels.len()).max().unwrap_or(0) as f64;
    let (mut parts, scraps): (Vec<Hypothesis>, Vec<Hypothesis>) =
        parts.into_iter().partition(|part| part.pixels.len() as f64 >= settings.min_part * most);
    let class = frame.detections.iter().find(|d| d.label == label).map_or("", |d| d.class_name.as_str());
    let is_panel = furniture::is_panel(class);
    // The tip of a handle behind its mug, or the cap of a bottle seen from above: small, apart, but of the same mask and colour. The handle of a
    // drawer stands farther out and may have a colour of its own.
    for scrap in scraps {
        let alike = |part: &Hypothesis| {
            if is_panel {
                return is_near(&part.pixels, &scrap.pixels, scene, settings.handle_gap);
            }
            color::unlikeness(mean_color(frame, &scrap.pixels), mean_color(frame, &part.pixels))
                < settings.unlike
                && (is_near(&part.pixels, &scrap.pixels, scene, settings.scrap * settings.bridge)
                    || is_bridged(part, &scrap.pixels, scene, settings))
        };
        if let Some(place) = parts.iter().position(alike) {
            parts[place].pixels.extend(scrap.pixels);
        }
    }
    parts.retain(|part| part.pixels.len() >= settings.min_pixels);
    let several = parts.len() > 1;
    for part in &mut parts {
        part.from_merged = several;
    }
    // The floor of a bowl and the middle of a plate are low, but inside.
    for part in &mut parts {
        let hull = footprint(&part.pixels, scene);
        part.pixels.extend(
            low.iter().filter(|index| scene.grid.points[**index].is_some_and(|p| is_inside(&hull, &p.xy()))),
        );
    }
    parts
}

/// A thing too flat to stand out of the noise pixel by pixel, but not on average.
fn flat_thing(label: u16, low: Vec<usize>, scene: &Scene, settings: &HypothesisSettings) -> Vec<Hypothesis> {
    let points: Vec<Point3<f64>> = scene.grid.of(&low);
    if points.len() < settings.min_pixels.max(settings.flat_points) {
        return Vec::new();
    }
    let mean = points.iter().map(|p| scene.height(p)).sum::<f64>() / points.len() as f64;
    if mean < settings.flat_height {
        return Vec::new();
    }
    vec![Hypothesis { pixels: low, detections: vec![label], from_merged: false, cluster: 0 }]
}

/// Whether pixels of another cluster belong to the part: near it, or above or below it.
fn is_bridged(part: &Hypothesis, pixels: &[usize], scene: &Scene, settings: &HypothesisSettings) -> bool {
    let (own, other) = (footprint(&part.pixels, scene), footprint(pixels, scene));
    let lies_in = |pixels: &[usize], hull: &[Point2<f64>]| {
        let inside = |index: &&usize| scene.grid.points[**index].is_some_and(|p| is_inside(hull, &p.xy()));
        pixels.iter().filter(inside).count() * 2 > pixels.len()
    };
    let stacked = lies_in(pixels, &own);
    let reach = if stacked { settings.bridge * settings.stacked } else { settings.bridge };
    // Nothing but its own neck, hidden from above, holds a cap that high over a shoulder.
    let is_cap = |hull: &[Point2<f64>]| extent(hull) < settings.cap;
    let capped = is_cap(&other) && stacked || is_cap(&own) && lies_in(&part.pixels, &other);
    is_near(&part.pixels, pixels, scene, if capped { settings.neck } else { reach })
}

/// Greatest distance of two corners.
fn extent(hull: &[Point2<f64>]) -> f64 {
    let from = |a: &Point2<f64>| hull.iter().map(|b| (b - a).norm()).fold(0.0, f64::max);
    hull.iter().map(from).fold(0.0, f64::max)
}

/// Whether any two points of two sets of pixels are within `reach`.
fn is_near(mine: &[usize], theirs: &[usize], scene: &Scene, reach: f64) -> bool {
    let points = |pixels: &[usize]| -> Vec<Point3<f64>> {
        let step = (pixels.len() / 1500).max(1);
        pixels.iter().step_by(step).filter_map(|index| scene.grid.points[*index]).collect()
    };
    let mine = points(mine);
    let grid = VoxelGrid::new(&mine, reach);
    points(theirs).iter().any(|p| grid.any_within(p, reach))
}

/// Convex hull of the footprint.
fn footprint(pixels: &[usize], scene: &Scene) -> Vec<Point2<f64>> {
    convex_hull(&scene.grid.ground(pixels))
}

/// Mean colour of a hypothesis.
fn mean_color(frame: &Keyframe, pixels: &[usize]) -> [u8; 3] {
    color::mean(pixels.iter().map(|index| frame.color.pixels[*index]))
}
