//! Parts one can act on, found by geometry alone: rim, handle, opening, flat top, body (ASP IV-A asks a model for these).

pub mod mechanism;
mod raised;
mod ring;
mod working;

pub(crate) use raised::raised;
pub use working::{WorkingPart, part_affordances, rule_of, working_parts};

use nalgebra::{Point3, Vector3};
use prehend_geometry::{HeightMap, PointCloud};
use prehend_scene::{ActionTable, Affordance, Intent, Object, Relation};
use ring::Ring;

/// Cell of the height map parts are found in, metres.
const CELL: f64 = 0.005;
/// Thickness of the band that counts as the upper edge, metres and share of the height.
const BAND: (f64, f64) = (0.006, 0.1);
/// Depth under the edge from which a middle is hollow, metres and share of the height.
const HOLLOW: (f64, f64) = (0.008, 0.22);
/// Deviation up to which a top is flat, metres.
const FLAT: f64 = 0.005;
/// Least horizontal extent of a handle beyond the body, metres.
const HANDLE_REACH: f64 = 0.012;

/// A part of an object.
#[derive(Clone, Debug, PartialEq)]
pub struct Part {
    /// `rim`, `handle`, `opening`, `top` or `body`.
    pub name: &'static str,
    /// Its points, map frame; not empty.
    pub cloud: PointCloud,
    /// Its centre, map frame; of an opening the middle of the rim.
    pub centroid: Point3<f64>,
    /// Outward unit normal, map frame.
    pub normal: Vector3<f64>,
    /// How well the geometry fits, [0, 1].
    pub score: f64,
}

/// Every part found in an object that stands on a support at `support_z` (map frame); `body` is always among them unless the cloud
/// is empty or not finite.
pub fn find_parts(object: &Object, support_z: f64) -> Vec<Part> {
    let cloud = &object.cloud;
    let Ok(heights) = HeightMap::from_cloud(cloud, CELL, support_z) else { return Vec::new() };
    let Some(centroid) = cloud.centroid() else { return Vec::new() };
    let top = upper_quantile(cloud);
    let height = (top - support_z).max(1e-3);
    let mut parts = Vec::new();
    let band = BAND.0.max(BAND.1 * height).min(height * 0.5);
    let edge: Vec<usize> = (0..cloud.len()).filter(|i| cloud.points[*i].z >= top - band).collect();
    let ring = Ring::fit(&edge.iter().map(|i| cloud.points[*i]).collect::<Vec<_>>());
    let hollow = ring.as_ref().map_or(0.0, |ring| hollowness(&heights, ring, top, height));
    if let Some(ring) = ring.as_ref().filter(|_| hollow >= 0.5) {
        hollow_parts(object, ring, &edge, top, band, hollow, &mut parts);
    }
    parts.extend(flat_top(cloud, ring.as_ref(), top, height, hollow));
    if let Some(ring) = &ring {
        parts.extend(handle(cloud, ring, hollow));
    }
    parts.push(Part { name: "body", cloud: cloud.clone(), centroid, normal: Vector3::z(), score: 0.5 });
    parts
}

/// Height that all but the highest hundredth of the points stay under: one stray point makes no edge.
fn upper_quantile(cloud: &PointCloud) -> f64 {
    let mut heights: Vec<f64> = cloud.points.iter().map(|p| p.z).collect();
    heights.sort_by(f64::total_cmp);
    heights.get(heights.len().saturating_sub(1 + heights.len() / 100)).copied().unwrap_or(0.0)
}

/// Share of the seen cells around the middle of the ring that lie deep under its edge; 0 when too few were seen.
fn hollowness(heights: &HeightMap, ring: &Ring, top: f64, height: f64) -> f64 {
    let depth = HOLLOW.0.max(HOLLOW.1 * height);
    let (mut seen, mut deep, mut cells) = (0, 0, 0);
    for index in 0..heights.observed.len() {
        let (x, y) = heights.center(index);
        if ring.radial(x, y) > 0.5 {
            continue;
        }
        cells += 1;
        if heights.observed[index] {
            seen += 1;
            deep += usize::from(heights.heights[index] < top - depth);
        }
    }
    // A middle nobody saw through a ring that goes all round is a deep cup seen from the side.
    if seen * 10 < cells {
        return if ring.coverage > 0.8 && ring.is_thin { 0.6 } else { 0.0 };
    }
    f64::from(deep as u32) / f64::from(seen.max(1) as u32) * if ring.coverage > 0.35 { 1.0 } else { 0.5 }
}

fn hollow_parts(
    object: &Object,
    ring: &Ring,
    edge: &[usize],
    top: f64,
    band: f64,
    hollow: f64,
    parts: &mut Vec<Part>,
) {
    let cloud = &object.cloud;
    let middle = Point3::new(ring.x, ring.y, top);
    let rim: Vec<usize> = edge
        .iter()
        .copied()
        .filter(|i| {
            let radial = ring.radial(cloud.points[*i].x, cloud.points[*i].y);
            (0.7..1.2).contains(&radial)
        })
        .collect();
    if rim.len() >= 8 {
        parts.push(Part {
            name: "rim",
            cloud: cloud.select(&rim),
            centroid: middle,
            normal: Vector3::z(),
            score: (hollow * (0.5 + 0.5 * ring.coverage)).clamp(0.0, 1.0),
        });
    }
    let inside: Vec<usize> = (0..cloud.len())
        .filter(|i| {
            let p = cloud.points[*i];
            p.z < top - band && ring.radial(p.x, p.y) < 0.9
        })
        .collect();
    let chosen = if inside.len() >= 5 { inside } else { rim };
    if !chosen.is_empty() {
        // A shallow dish is less of a container.
        let floor = chosen.iter().map(|i| cloud.points[*i].z).fold(top, f64::min);
        let deep = ((top - floor) / ring.reach().max(1e-3)).clamp(0.0, 0.5) * 2.0;
        parts.push(Part {
            name: "opening",
            cloud: cloud.select(&chosen),
            centroid: middle,
            normal: Vector3::z(),
            score: (hollow * (0.4 + 0.6 * deep)).clamp(0.0, 1.0),
        });
    }
}

/// The level upper side of a solid thing, or the level middle of a shallow one (a plate).
fn flat_top(cloud: &PointCloud, ring: Option<&Ring>, top: f64, height: f64, hollow: f64) -> Option<Part> {
    let level = |keep: &dyn Fn(&Point3<f64>) -> bool| -> Vec<usize> {
        (0..cloud.len()).filter(|i| keep(&cloud.points[*i])).collect()
    };
    let (indices, score) = if hollow >= 0.5 {
        let ring = ring?;
        if height > 0.4 * ring.reach() {
            return None;
        }
        let inner = level(&|p| ring.radial(p.x, p.y) < 0.6);
        let mut heights: Vec<f64> = inner.iter().map(|i| cloud.points[*i].z).collect();
        heights.sort_by(f64::total_cmp);
        let middle = *heights.get(heights.len() / 2)?;
        (level(&|p| ring.radial(p.x, p.y) < 0.8 && (p.z - middle).abs() < FLAT), 0.8)
    } else {
        let upper = level(&|p| p.z > top - 2.0 * FLAT);
        let share = covered_share(cloud, &upper);
        (upper, share)
    };
    if indices.len() < 10 || score < 0.3 || covered_cells(indices.iter().map(|i| &cloud.points[*i])) < 4 {
        return None;
    }
    let part = cloud.select(&indices);
    let centroid = part.centroid()?;
    Some(Part { name: "top", cloud: part, centroid, normal: Vector3::z(), score: score.clamp(0.0, 1.0) })
}

/// Share of the footprint's cells that the points with these indices cover.
fn covered_share(cloud: &PointCloud, indices: &[usize]) -> f64 {
    let all = covered_cells(cloud.points.iter());
    let some = covered_cells(indices.iter().map(|i| &cloud.points[*i]));
    some as f64 / all.max(1) as f64
}

fn covered_cells<'a>(points: impl Iterator<Item = &'a Point3<f64>>) -> usize {
    let mut found: Vec<(i64, i64)> =
        points.map(|p| ((p.x / CELL).floor() as i64, (p.y / CELL).floor() as i64)).collect();
    found.sort_unstable();
    found.dedup();
    found.len()
}

/// What sticks out beside a round body: a narrow group of points beyond the ring.
fn handle(cloud: &PointCloud, ring: &Ring, hollow: f64) -> Option<Part> {
    let outside: Vec<usize> =
        (0..cloud.len()).filter(|i| ring.outside(cloud.points[*i].x, cloud.points[*i].y) > 0.004).collect();
    let points: Vec<Point3<f64>> = outside.iter().map(|i| cloud.points[*i]).collect();
    let group = prehend_geometry::dbscan::clusters(&points, 0.012, 3).into_iter().next()?;
    let chosen: Vec<usize> = group.iter().map(|i| outside[*i]).collect();
    if chosen.len() < 10 {
        return None;
    }
    let part = cloud.select(&chosen);
    let reach = part.points.iter().map(|p| ring.outside(p.x, p.y)).fold(0.0, f64::max);
    let centroid = part.centroid()?;
    let outward = Vector3::new(centroid.x - ring.x, centroid.y - ring.y, 0.0).try_normalize(1e-6)?;
    let across = Vector3::new(-outward.y, outward.x, 0.0);
    let width = part.points.iter().map(|p| across.dot(&(p - centroid)).abs()).fold(0.0, f64::max) * 2.0;
    // A handle is narrow against the body, and most of what sticks out is in it.
    if reach < HANDLE_REACH || width > 1.2 * ring.reach() || chosen.len() * 3 < outside.len() * 2 {
        return None;
    }
    let score = (0.4 + 0.3 * hollow + 0.3 * (reach / 0.03).min(1.0)).clamp(0.0, 1.0);
    Some(Part { name: "handle", cloud: part, centroid, normal: outward, score })
}

/// Parts of an object by which it is taken, or in or on which something is put, best first.
///
/// Grasping prefers the body when it fits between pads `max_opening` apart, else the rim; "put in" wants an opening, "put on" a flat
/// top. A part that is named comes first. An action on a part has none here: see [`part_affordances`].
pub fn affordances(
    object: &Object,
    support_z: f64,
    intent: &Intent,
    max_opening: f64,
    table: &ActionTable,
) -> Vec<Affordance> {
    let Some(skill) = intent.skill() else { return Vec::new() };
    let narrow = object.bounds.size.x.min(object.bounds.size.y) < max_opening * 0.9;
    let mut ranked: Vec<(f64, Part)> = find_parts(object, support_z)
        .into_iter()
        .filter_map(|part| Some((preference(intent, part.name, narrow, table)?, part)))
        .collect();
    ranked.sort_by(|a, b| (b.0 + 0.2 * b.1.score).total_cmp(&(a.0 + 0.2 * a.1.score)));
    ranked
        .into_iter()
        .map(|(_, part)| Affordance {
            part: part.name.to_owned(),
            skill,
            cloud: part.cloud,
            centroid: part.centroid,
            normal: part.normal,
            score: part.score,
        })
        .collect()
}

/// How much an intent wants a part, [0, 2]; `None` when it cannot use it.
fn preference(intent: &Intent, part: &str, narrow: bool, table: &ActionTable) -> Option<f64> {
    match intent {
        Intent::Grasp { part: Some(named) } if table.shape_part(named) == Some(part) => Some(2.0),
        Intent::Grasp { .. } => match part {
            "body" => Some(if narrow { 1.0 } else { 0.4 }),
            "rim" => Some(0.8),
            "handle" => Some(0.5),
            _ => None,
        },
        Intent::Place { relation, .. } => {
            let (opening, top) = if *relation == Relation::In { (1.0, 0.5) } else { (0.6, 1.0) };
            match part {
                "opening" => Some(opening),
                "top" => Some(top),
                "body" => Some(0.1),
                _ => None,
            }
        }
        Intent::Act { .. } => None,
    }
}

#[cfg(test)]
mod tests;
