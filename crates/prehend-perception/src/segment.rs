//! Geometric segmentation: the supporting plane, and clusters of points that stand on it.
//!
//! It needs no names and no weights, so it sees what a detector misses, and it is the second, independent producer of
//! evidence.

mod bend;
mod cut;
mod field;
mod floors;
mod forest;
mod gap;
mod learned;
mod left_out;
mod lessons;
mod likely;
mod noise;
mod patches;
mod settings;
mod specks;
mod standing;
mod things;

#[cfg(test)]
mod tests;

use crate::Keyframe;
use field::Field;
use nalgebra::{Isometry3, Point3, Vector3};
use noise::Noise;
use prehend_geometry::backproject::{PointGrid, point_grid, point_grid_where};
use prehend_geometry::dbscan::dbscan;
use prehend_geometry::plane::{Plane, PlaneSearch, ransac};
use prehend_geometry::voxel::{VoxelMap, downsample, voxel_of};
use prehend_geometry::{DepthImage, Intrinsics, Mask, OrientedBox, PointCloud};
use prehend_scene::furniture;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

pub use forest::{Learned, Tree, odds, probability};
pub use left_out::{LeftOut, Reason, counted};
pub use lessons::Lesson;
pub use settings::{FloorSettings, StandingSettings, SurfaceSettings};

/// How the scene is cut into table and things.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct SegmentSettings {
    /// Least x, y, z of points that count, map frame, metres.
    pub region_low: Vector3<f64>,
    /// Greatest x, y, z of points that count, map frame, metres.
    pub region_high: Vector3<f64>,
    /// Depth beyond which nothing counts, metres.
    pub max_depth: f64,
    /// Greatest tilt of the support against gravity, radians.
    pub max_tilt: f64,
    /// Distance of inliers of the support, metres.
    pub plane_distance: f64,
    /// Least share of points that lie on the support.
    pub plane_share: f64,
    /// Least height above the support, metres; the depth noise comes on top.
    pub min_height: f64,
    /// Standard deviations of depth that come on top of it.
    pub noise: f64,
    /// Standard deviation of depth at 1 m, growing with the square, metres.
    pub depth_sigma: f64,
    /// Voxel edge of the clustering, metres.
    pub leaf: f64,
    /// Distance over which voxels join, metres.
    pub radius: f64,
    /// Least number of voxels around a core voxel, itself included.
    pub min_neighbours: usize,
    /// Least number of voxels of a cluster.
    pub min_voxels: usize,
    /// Least edge of a voxel in pixels where things are cut by surfaces: a level surface that is seen at 30 degrees has a point in each
    /// voxel of 2.
    pub voxel_pixels: f64,
    /// How much higher than the known support a level plane is at least when it is the top of a thing that stands on it, metres.
    pub top_from: f64,
    /// How much higher it is at most, metres: what is higher still was no thing's top, but the known support was the floor.
    pub top_to: f64,
    /// Cut into surfaces and join those of one thing, instead of clustering voxels: for real sensors and things that touch.
    pub surfaces: Option<SurfaceSettings>,
}

impl Default for SegmentSettings {
    fn default() -> Self {
        Self {
            region_low: Vector3::new(-0.2, -1.0, -0.4),
            region_high: Vector3::new(1.2, 1.0, 0.8),
            max_depth: 2.0,
            max_tilt: 0.17,
            plane_distance: 0.008,
            plane_share: 0.1,
            min_height: 0.006,
            noise: 2.0,
            depth_sigma: 0.002,
            leaf: 0.004,
            radius: 0.009,
            min_neighbours: 3,
            min_voxels: 8,
            voxel_pixels: 2.0,
            top_from: 0.05,
            top_to: 0.5,
            surfaces: None,
        }
    }
}

impl SegmentSettings {
    /// Settings for recordings: cut by surfaces, and things may lie anywhere around the camera.
    pub fn recorded() -> Self {
        Self::by_surfaces().anywhere()
    }

    /// Settings that cut by surfaces.
    pub fn by_surfaces() -> Self {
        Self { surfaces: Some(SurfaceSettings::default()), ..Self::default() }
    }

    /// The same for things that may lie anywhere around the camera.
    pub fn anywhere(self) -> Self {
        Self { region_low: Vector3::repeat(-ANYWHERE), region_high: Vector3::repeat(ANYWHERE), ..self }
    }

    /// The settings for a frame. If it is cut by surfaces, a voxel is at least as large as the distance between neighbouring pixels at the
    /// median depth: otherwise far things would fall to pieces. If not, the settings stay as they are.
    pub fn for_frame(&self, frame: &Keyframe) -> Self {
        if self.surfaces.is_none() {
            return *self;
        }
        let mut depths: Vec<u16> =
            frame.depth.millimetres.iter().copied().filter(|mm| *mm > 0).step_by(16).collect();
        if depths.is_empty() {
            return *self;
        }
        let middle = depths.len() / 2;
        let median = f64::from(*depths.select_nth_unstable(middle).1) * 1e-3;
        let grow = (self.voxel_pixels * median / frame.intrinsics.fx / self.leaf).max(1.0);
        Self { leaf: self.leaf * grow, radius: self.radius * grow, ..*self }
    }

    /// Settings for a second look at twice the zoom: smaller voxels and radius.
    pub fn finer(&self) -> Self {
        Self { leaf: self.leaf * 0.6, radius: self.radius * 0.7, min_height: self.min_height * 0.8, ..*self }
    }
}

/// Most pieces that are told to be no thing.
const MOST_LEFT_OUT: usize = 1000;

/// Half the edge of the cube that holds every place a recording can show, metres.
const ANYWHERE: f64 = 1e3;

/// A frame cut into support, clusters and the rest, pixel by pixel.
#[derive(Clone, Debug)]
pub struct Scene {
    /// Points of the frame; robot and what is outside the region are left out.
    pub grid: PointGrid,
    /// Where the robot itself was seen, `[height, width]`; empty when no robot boxes were given.
    pub robot: Vec<bool>,
    /// The support, when one was found.
    pub plane: Option<Plane>,
    /// `[height, width]` cluster of each pixel, from 1; 0 = support, robot or nothing.
    pub clusters: Vec<u16>,
    /// Number of clusters.
    pub count: usize,
    /// How probable it is of each cluster that it is a thing; empty where the settings do not cut by surfaces.
    pub probabilities: Vec<f64>,
    /// What stands out of the support and is in no cluster; empty where the settings do not cut by surfaces.
    pub left_out: Vec<LeftOut>,
}

impl Scene {
    /// How probable it is that a cluster, from 1, is a thing; 1 where nothing tells.
    pub(crate) fn probability(&self, cluster: u16) -> f64 {
        usize::from(cluster)
            .checked_sub(1)
            .and_then(|place| self.probabilities.get(place))
            .copied()
            .unwrap_or(1.0)
    }

    /// What stands out of the support and is none of the things, whose pixels are given: the largest pieces, largest first.
    pub(crate) fn left_out_beside<'a>(&self, things: impl Iterator<Item = &'a [usize]>) -> Vec<LeftOut> {
        let mut is_used = vec![false; self.count + 1];
        things.flatten().for_each(|index| is_used[usize::from(self.clusters[*index])] = true);
        let mut unused = vec![Vec::new(); self.count + 1];
        for (index, cluster) in self.clusters.iter().enumerate().filter(|(_, cluster)| **cluster > 0) {
            if !is_used[usize::from(*cluster)] {
                unused[usize::from(*cluster)].push(index);
            }
        }
        let unused = unused.iter().filter_map(|pixels| left(&self.grid, Reason::Small, pixels));
        let mut left_out: Vec<LeftOut> = self.left_out.iter().cloned().chain(unused).collect();
        left_out.sort_by_cached_key(|left| std::cmp::Reverse(left.mask.area()));
        left_out.truncate(MOST_LEFT_OUT);
        left_out
    }

    /// Height of a point above the support; above z = 0 when there is no support.
    pub fn height(&self, point: &Point3<f64>) -> f64 {
        self.plane.map_or(point.z, |plane| plane.distance(point))
    }
}

/// Cuts a keyframe; its parts must have been validated. `known` is the support of earlier frames: it is used when this frame
/// shows none, or only the top of something on it. `seed` drives the plane search.
pub fn segment(frame: &Keyframe, settings: &SegmentSettings, known: Option<Plane>, seed: u64) -> Scene {
    let (grid, robot, plane) = prepared(frame, settings, known, seed);
    if let Some(surfaces) = &settings.surfaces {
        return of_surfaces(frame, (grid, robot, plane), settings, surfaces);
    }
    let eye = Point3::from(frame.map_from_camera.translation.vector);
    let (clusters, count) = cluster_above(&grid, plane.as_ref(), &eye, settings);
    Scene { grid, robot, plane, clusters, count, probabilities: Vec::new(), left_out: Vec::new() }
}

/// A region that is left out, unless it is empty.
fn left(grid: &PointGrid, reason: Reason, pixels: &[usize]) -> Option<LeftOut> {
    let mask = || Mask::from_indices(grid.width, grid.height, pixels);
    (!pixels.is_empty()).then(|| LeftOut { reason, mask: mask() })
}

/// The points of a frame, where the robot is in it, and the support.
fn prepared(
    frame: &Keyframe,
    settings: &SegmentSettings,
    known: Option<Plane>,
    seed: u64,
) -> (PointGrid, Vec<bool>, Option<Plane>) {
    let mut grid = point_grid(&frame.depth, &frame.intrinsics, &frame.map_from_camera, settings.max_depth);
    let robot = remove_foreign(&mut grid, settings, &frame.robot, &frame.map_from_camera, &frame.intrinsics);
    let found = find_support(&grid, settings, seed);
    let plane = match (found, known) {
        (Some(found), Some(known)) if is_top(&found, &known, &grid, settings) => Some(known),
        (found, known) => found.or(known),
    };
    (grid, robot, plane)
}

/// The lessons of a frame about patches, surfaces and things; `truth` has what each pixel shows, a thing from 1, or 0. Empty where the settings
/// do not cut by surfaces. Surfaces are joined by what was `learned` about patches. `seed` drives the plane search.
pub fn lessons(
    frame: &Keyframe,
    settings: &SegmentSettings,
    learned: Learned<'_>,
    truth: &[u16],
    seed: u64,
) -> [Vec<Lesson>; 3] {
    let settings = settings.for_frame(frame);
    let (grid, _, plane) = prepared(frame, &settings, None, seed);
    match &settings.surfaces {
        Some(surfaces) => {
            let field = Field::new(frame, &grid, plane.as_ref(), &settings, surfaces, learned);
            let truth = lessons::Truth(truth);
            let [patches, surfaces] = things::lessons(&field, &truth);
            let border = standing::Border::of(&field);
            let things = candidates(&field, &border, &mut Vec::new());
            let of_things = likely::evidence(&field, &border, &things).into_iter().zip(&things).map(
                |(evidence, thing)| Lesson {
                    evidence: evidence.to_vec(),
                    weight: 1.0,
                    is_one: truth.is_thing(thing),
                },
            );
            [patches, surfaces, of_things.collect()]
        }
        None => Default::default(),
    }
}

/// A keyframe in which no support and no clusters are looked for; its parts must have been validated.
pub fn uncut(frame: &Keyframe, settings: &SegmentSettings) -> Scene {
    uncut_where(frame, settings, |_| true)
}

/// As [`uncut`], but only with the points that have a label. It has all points if fewer than `least` have one, or if the frame shows parts
/// or the robot.
pub(crate) fn uncut_as_drawn(frame: &Keyframe, settings: &SegmentSettings, least: usize) -> Scene {
    if frame.parts.is_none() && frame.robot.is_empty() {
        let scene = uncut_where(frame, settings, |index| frame.labels.labels[index] > 0);
        if scene.grid.points.iter().flatten().take(least).count() == least {
            return scene;
        }
    }
    uncut(frame, settings)
}

fn uncut_where(
    frame: &Keyframe,
    settings: &SegmentSettings,
    is_wanted: impl Fn(usize) -> bool + Sync,
) -> Scene {
    let pose = &frame.map_from_camera;
    let mut grid = point_grid_where(&frame.depth, &frame.intrinsics, pose, settings.max_depth, is_wanted);
    let robot = remove_foreign(&mut grid, settings, &frame.robot, pose, &frame.intrinsics);
    let clusters = vec![0; grid.points.len()];
    Scene { grid, robot, plane: None, clusters, count: 0, probabilities: Vec::new(), left_out: Vec::new() }
}

/// What stands on the support and is more than noise; the rest goes to `others`.
fn candidates(
    field: &Field<'_>,
    border: &standing::Border,
    others: &mut Vec<(Reason, Vec<usize>)>,
) -> Vec<Vec<usize>> {
    let things = standing::standing(field, border, things::things(field), others);
    specks::without_specks(field, things, others)
}

/// A frame cut by surfaces; things are numbered from the largest.
fn of_surfaces(
    frame: &Keyframe,
    (grid, robot, plane): (PointGrid, Vec<bool>, Option<Plane>),
    settings: &SegmentSettings,
    surfaces: &SurfaceSettings,
) -> Scene {
    let learned = Learned { patches: learned::PATCHES, surfaces: learned::SURFACES, things: learned::THINGS };
    let field = Field::new(frame, &grid, plane.as_ref(), settings, surfaces, learned);
    let border = standing::Border::of(&field);
    let mut others = Vec::new();
    let candidates = candidates(&field, &border, &mut others);
    let mut things: Vec<(Vec<usize>, f64)> = Vec::new();
    for (evidence, thing) in likely::evidence(&field, &border, &candidates).into_iter().zip(candidates) {
        let odds = odds(learned.things, &evidence);
        if odds < surfaces.likely && !field.is_drawn(&thing) {
            others.push((Reason::Unlikely, thing));
        } else {
            things.push((thing, probability(odds)));
        }
    }
    others.push((Reason::Robot, (0..robot.len()).filter(|index| robot[*index]).collect()));
    things.sort_by_key(|(pixels, _)| std::cmp::Reverse(pixels.len()));
    things.truncate(usize::from(u16::MAX) - 1);
    let mut clusters = vec![0_u16; grid.points.len()];
    for (number, (pixels, _)) in things.iter().enumerate() {
        pixels.iter().for_each(|index| clusters[*index] = number as u16 + 1);
    }
    let mut probabilities: Vec<f64> = things.iter().map(|(_, probability)| *probability).collect();
    let pieces = of_furniture(frame, &grid, plane.as_ref(), settings);
    for piece in pieces.iter().take(usize::from(u16::MAX) - 1 - things.len()) {
        probabilities.push(1.0);
        piece.iter().for_each(|index| clusters[*index] = probabilities.len() as u16);
    }
    for (_, pixels) in &mut others {
        pixels.retain(|index| clusters[*index] == 0);
    }
    let left_out = others.into_iter().filter_map(|(reason, pixels)| left(&grid, reason, &pixels)).collect();
    Scene { count: probabilities.len(), grid, robot, plane, clusters, probabilities, left_out }
}

/// What a detector calls drawers and doors, with all that is connected with them. What was learned about things on tables does not hold for
/// it: fronts are cut by their own rules (see [`crate::hypothesis`]).
fn of_furniture(
    frame: &Keyframe,
    grid: &PointGrid,
    plane: Option<&Plane>,
    settings: &SegmentSettings,
) -> Vec<Vec<usize>> {
    let panels: BTreeSet<u16> =
        frame.detections.iter().filter(|d| furniture::is_panel(&d.class_name)).map(|d| d.label).collect();
    if panels.is_empty() {
        return Vec::new();
    }
    let eye = Point3::from(frame.map_from_camera.translation.vector);
    let (clusters, count) = cluster_above(grid, plane, &eye, settings);
    let mut pieces = vec![Vec::new(); count];
    let mut is_drawn = vec![false; count];
    for (index, cluster) in clusters.iter().enumerate().filter(|(_, cluster)| **cluster > 0) {
        let piece = usize::from(*cluster) - 1;
        pieces[piece].push(index);
        is_drawn[piece] |= panels.contains(&frame.labels.labels[index]);
    }
    pieces.into_iter().zip(is_drawn).filter_map(|(piece, is_drawn)| is_drawn.then_some(piece)).collect()
}

/// Cuts a crop of a frame over a known support: the second look at one object. `x`, `y` place the crop in the whole image.
pub fn segment_crop(
    depth: &DepthImage,
    (x, y): (usize, usize),
    whole: &Intrinsics,
    map_from_camera: &Isometry3<f64>,
    plane: Option<Plane>,
    settings: &SegmentSettings,
) -> Scene {
    let intrinsics = Intrinsics {
        cx: whole.cx - x as f64,
        cy: whole.cy - y as f64,
        width: depth.width,
        height: depth.height,
        ..*whole
    };
    let mut grid = point_grid(depth, &intrinsics, map_from_camera, settings.max_depth);
    let robot = remove_foreign(&mut grid, settings, &[], map_from_camera, &intrinsics);
    let eye = Point3::from(map_from_camera.translation.vector);
    let (clusters, count) = cluster_above(&grid, plane.as_ref(), &eye, settings);
    Scene { grid, robot, plane, clusters, count, probabilities: Vec::new(), left_out: Vec::new() }
}

/// Takes out points outside the region and points of the robot; says where the robot was.
fn remove_foreign(
    grid: &mut PointGrid,
    settings: &SegmentSettings,
    robot: &[OrientedBox],
    map_from_camera: &Isometry3<f64>,
    intrinsics: &Intrinsics,
) -> Vec<bool> {
    if robot.is_empty() && sees_only_region(settings, map_from_camera, intrinsics) {
        return Vec::new();
    }
    let mut seen = if robot.is_empty() { Vec::new() } else { vec![false; grid.points.len()] };
    let (low, high) = (settings.region_low, settings.region_high);
    for (index, slot) in grid.points.iter_mut().enumerate() {
        let Some(point) = slot else { continue };
        let inside = (0..3).all(|axis| point[axis] >= low[axis] && point[axis] <= high[axis]);
        if robot.iter().any(|part| part.contains(point, 0.0)) {
            seen[index] = true;
            *slot = None;
        } else if !inside {
            *slot = None;
        }
    }
    seen
}

/// Whether everything a camera can see up to the greatest depth lies in the region.
fn sees_only_region(
    settings: &SegmentSettings,
    map_from_camera: &Isometry3<f64>,
    intrinsics: &Intrinsics,
) -> bool {
    let Intrinsics { width, height, .. } = *intrinsics;
    let corners = [(0, 0), (width, 0), (0, height), (width, height)];
    let farthest = corners
        .map(|(u, v)| intrinsics.unproject(u as f64, v as f64, settings.max_depth).coords.norm())
        .into_iter()
        .fold(0.0, f64::max);
    let eye = map_from_camera.translation.vector;
    (0..3).all(|axis| {
        eye[axis] - farthest >= settings.region_low[axis]
            && eye[axis] + farthest <= settings.region_high[axis]
    })
}

/// Whether a plane is the top of something that stands on the known support: above it in the middle of what is seen on it.
fn is_top(found: &Plane, known: &Plane, grid: &PointGrid, settings: &SegmentSettings) -> bool {
    let (mut sum, mut count) = (0.0, 0_usize);
    for point in grid.points.iter().flatten().step_by(16).filter(|point| found.distance(point).abs() < 0.01) {
        sum += known.distance(point);
        count += 1;
    }
    count > 0 && (settings.top_from..settings.top_to).contains(&(sum / count as f64))
}

/// Standard deviation of depth at 1 m, growing with the square, as measured in a frame, metres; that of the settings where it is less, or
/// where too little has depth.
pub(crate) fn depth_sigma(depth: &DepthImage, settings: &SegmentSettings) -> f64 {
    let metres: Vec<f64> = depth.millimetres.iter().map(|mm| f64::from(*mm) * 1e-3).collect();
    Noise::measure(&metres, depth.width, 0)
        .map_or(settings.depth_sigma, |noise| noise.pixel.max(settings.depth_sigma))
}

/// Points for the plane search: a hundred along the width of the picture.
pub(crate) fn sample(grid: &PointGrid) -> Vec<Point3<f64>> {
    let step = (grid.width / 100).max(1);
    (0..grid.height)
        .step_by(step)
        .flat_map(|v| (0..grid.width).step_by(step).filter_map(move |u| grid.points[v * grid.width + u]))
        .collect()
}

/// The plane that carries things: level within the tilt, with enough points on it.
fn find_support(grid: &PointGrid, settings: &SegmentSettings, seed: u64) -> Option<Plane> {
    let sample = sample(grid);
    let search = PlaneSearch {
        prior: Some((Vector3::z_axis(), settings.max_tilt)),
        distance: settings.plane_distance,
        iterations: 150,
    };
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let (plane, inliers) = ransac(&sample, &search, &mut rng)?;
    let enough = inliers.len() >= 50 && inliers.len() as f64 >= settings.plane_share * sample.len() as f64;
    enough.then_some(plane)
}

/// DBSCAN over the voxels of what stands above the support.
fn cluster_above(
    grid: &PointGrid,
    plane: Option<&Plane>,
    eye: &Point3<f64>,
    settings: &SegmentSettings,
) -> (Vec<u16>, usize) {
    let mut labels = vec![0_u16; grid.points.len()];
    let mut above = Vec::new();
    for (index, point) in grid.points.iter().enumerate() {
        let Some(point) = point else { continue };
        let height = plane.map_or(point.z, |plane| plane.distance(point));
        let noise = settings.noise * settings.depth_sigma * (point - eye).norm_squared();
        if height > settings.min_height + noise {
            above.push(index);
        }
    }
    let cloud = PointCloud::from_points(grid.of(&above));
    let centroids = downsample(&cloud, settings.leaf).points;
    let found = dbscan(&centroids, settings.radius, settings.min_neighbours);
    // The centroid of a voxel's points lies in the voxel, so its voxel names the pixels.
    let count = found.iter().flatten().max().map_or(0, |last| last + 1);
    let mut voxels = vec![0_usize; count];
    let mut cluster_of: VoxelMap<usize> = VoxelMap::default();
    for (centroid, label) in centroids.iter().zip(&found) {
        if let Some(label) = label {
            voxels[*label] += 1;
            cluster_of.insert(voxel_of(centroid, settings.leaf), *label);
        }
    }
    // Small clusters are noise; the rest is numbered anew, largest first.
    let mut order: Vec<usize> = (0..count).filter(|c| voxels[*c] >= settings.min_voxels).collect();
    order.sort_by_key(|c| std::cmp::Reverse(voxels[*c]));
    order.truncate(usize::from(u16::MAX) - 1);
    let mut number = vec![0_u16; count];
    for (place, cluster) in order.iter().enumerate() {
        number[*cluster] = place as u16 + 1;
    }
    for (index, point) in above.iter().zip(&cloud.points) {
        if let Some(cluster) = cluster_of.get(&voxel_of(point, settings.leaf)) {
            labels[*index] = number[*cluster];
        }
    }
    (labels, order.len())
}
