//! The simulated detector: instance masks with class names and scores, as wrong as a real one's now and then.

use super::camera::Capture;
use super::dice;
use super::mask_ops::{Extent, erode, extents, neighbours};
use super::render::LabelImage;
use crate::scene::DetectorSpec;
use nalgebra::Isometry3;

/// Masks nearer to each other than this may be merged, pixels.
const TOUCHING: usize = 3;
/// A score that goes with a wrong class is lower by this much on average.
const WRONG_CLASS_PENALTY: f64 = 0.15;
/// Sizes of a view bin: metres, and units of the camera's axes.
const BIN: (f64, f64) = (0.04, 0.15);

/// One detected instance.
#[derive(Clone, Debug, PartialEq)]
pub struct Detection {
    /// Class name, as the scene file has it.
    pub class_name: String,
    /// Score, [0, 1].
    pub score: f64,
    /// Bounding box of the mask: left column, top row, width, height, pixels.
    pub bbox: [usize; 4],
}

/// What the detector says about one frame.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Detections {
    /// 0 is background, `i` is detection `i` counted from 1; a pixel belongs to one detection at most.
    pub labels: LabelImage,
    /// The detections, highest score first; their order says nothing about the scene file's.
    pub items: Vec<Detection>,
}

/// A detector of instances with known flaws; see [`DetectorSpec`].
///
/// Each thing that can go wrong is drawn once for an instance and frame. The share `persistence` of the draws depends on
/// the seed, the instance and the view bin only, so those errors stay as long as the camera does not move
/// (by about 4 cm or 9 degrees); the rest is drawn anew in each frame. The rates are the same either way.
#[derive(Clone, Debug)]
pub struct Detector {
    spec: DetectorSpec,
    classes: Vec<String>,
    seed: u64,
}

/// What is drawn.
#[derive(Clone, Copy)]
enum Draw {
    Miss = 1,
    WrongClass,
    WhichClass,
    Merge,
    Split,
    SplitAngle,
    Score,
}

/// Where and when a draw is made.
#[derive(Clone, Copy)]
struct Moment {
    bin: u64,
    frame: u64,
}

/// A region on its way to a detection.
#[derive(Clone, Copy)]
struct Candidate {
    /// Scene object (its label) whose class is reported.
    object: u16,
    /// 0, or 1 for the second half of a split mask.
    half: u64,
}

impl Detector {
    /// A detector for a scene whose object `i` has class `classes[i]`.
    pub fn new(spec: DetectorSpec, classes: Vec<String>, seed: u64) -> Self {
        Self { spec, classes, seed }
    }

    /// Detects the objects of frame number `frame`, taken from this pose.
    pub fn detect(&self, capture: &Capture, world_from_camera: &Isometry3<f64>, frame: u64) -> Detections {
        self.detect_in(&capture.labels, &capture.true_depth, world_from_camera, frame)
    }

    /// Detects the named regions of objects in frame number `frame`; `i` of this detector's classes is region `i`.
    pub fn detect_parts(
        &self,
        capture: &Capture,
        world_from_camera: &Isometry3<f64>,
        frame: u64,
    ) -> Detections {
        self.detect_in(&capture.parts, &capture.true_depth, world_from_camera, frame)
    }

    fn detect_in(
        &self,
        labels: &LabelImage,
        true_depth: &[f32],
        world_from_camera: &Isometry3<f64>,
        frame: u64,
    ) -> Detections {
        let LabelImage { width, height, .. } = *labels;
        if width == 0 || height == 0 || labels.labels.len() != width * height {
            return Detections::default();
        }
        let moment = Moment { bin: view_bin(world_from_camera), frame };
        let mut image = self.visible(labels, true_depth, moment);
        let groups = self.merge(&image, width, moment);
        let mut regions = self.regions(&mut image, &groups, width, moment);
        erode(&mut image, width, self.spec.erode_px);
        let found = extents(&image, width, regions.len());
        // Region 0 is the background.
        let mut items: Vec<(usize, Detection)> = regions
            .drain(..)
            .enumerate()
            .map(|(i, region)| (i + 1, region))
            .filter(|(i, _)| found[*i].area >= self.spec.min_px.max(1))
            .map(|(i, region)| (i, self.detection(region, &found[i], moment)))
            .collect();
        items.sort_by(|(_, a), (_, b)| b.score.total_cmp(&a.score).then_with(|| a.bbox.cmp(&b.bbox)));
        let mut new_label = vec![0u16; found.len()];
        for (rank, (region, _)) in items.iter().enumerate() {
            new_label[*region] = rank as u16 + 1;
        }
        for label in &mut image {
            *label = new_label.get(usize::from(*label)).copied().unwrap_or(0);
        }
        Detections {
            labels: LabelImage { width, height, labels: image },
            items: items.into_iter().map(|(_, detection)| detection).collect(),
        }
    }

    /// The labels of the objects that are big and near enough and not missed; 0 elsewhere.
    fn visible(&self, labels: &LabelImage, true_depth: &[f32], moment: Moment) -> Vec<u16> {
        let count = self.classes.len();
        let mut area = vec![0usize; count + 1];
        let mut distance = vec![0.0f64; count + 1];
        let object = |label: u16| (1..=count).contains(&usize::from(label)).then_some(usize::from(label));
        for (label, depth) in labels.labels.iter().zip(true_depth) {
            if let Some(i) = object(*label) {
                area[i] += 1;
                distance[i] += f64::from(*depth);
            }
        }
        let [near, far] = self.spec.range;
        let detected: Vec<bool> = (0..=count)
            .map(|i| {
                let mean = distance[i] / area[i].max(1) as f64;
                i > 0
                    && area[i] >= self.spec.min_px.max(1)
                    && (near..=far).contains(&mean)
                    && !self.happens(self.spec.miss, Draw::Miss, &[i as u64], moment)
            })
            .collect();
        labels
            .labels
            .iter()
            .map(|label| if object(*label).is_some_and(|i| detected[i]) { *label } else { 0 })
            .collect()
    }

    /// For each label, the label it is merged into (its own when it is not).
    fn merge(&self, image: &[u16], width: usize, moment: Moment) -> Vec<u16> {
        let mut into: Vec<u16> = (0..=self.classes.len()).map(|i| i as u16).collect();
        if self.spec.merge <= 0.0 {
            return into;
        }
        for (a, b) in neighbours(image, width, TOUCHING) {
            let (root_a, root_b) = (into[usize::from(a)], into[usize::from(b)]);
            if root_a != root_b
                && self.happens(self.spec.merge, Draw::Merge, &[u64::from(a), u64::from(b)], moment)
            {
                for root in &mut into {
                    if *root == root_b {
                        *root = root_a;
                    }
                }
            }
        }
        into
    }

    /// Renumbers `image` to regions from 1: merged objects share one, split objects have two.
    fn regions(&self, image: &mut [u16], groups: &[u16], width: usize, moment: Moment) -> Vec<Candidate> {
        let found = extents(image, width, self.classes.len());
        let mut regions: Vec<Candidate> = Vec::new();
        // For each label: its region, and for split ones the line (direction and offset) behind which the second begins.
        let mut target: Vec<(u16, Option<[f64; 3]>)> = vec![(0, None); groups.len()];
        for root in 1..groups.len() {
            let members: Vec<usize> =
                (1..groups.len()).filter(|i| usize::from(groups[*i]) == root && found[*i].area > 0).collect();
            let Some(largest) = members.iter().copied().max_by_key(|i| (found[*i].area, usize::MAX - i))
            else {
                continue;
            };
            regions.push(Candidate { object: largest as u16, half: 0 });
            let number = regions.len() as u16;
            let id = [largest as u64];
            let split = members.len() == 1 && self.happens(self.spec.split, Draw::Split, &id, moment);
            let line = split.then(|| {
                let angle = std::f64::consts::PI * dice::unit(self.draw(Draw::SplitAngle, &id, moment));
                let (u, v) = found[largest].center();
                regions.push(Candidate { object: largest as u16, half: 1 });
                [angle.cos(), angle.sin(), -(u * angle.cos() + v * angle.sin())]
            });
            for member in members {
                target[member] = (number, line);
            }
        }
        for (index, label) in image.iter_mut().enumerate() {
            let (number, line) = target[usize::from(*label)];
            let second = line
                .is_some_and(|[a, b, c]| a * (index % width) as f64 + b * (index / width) as f64 + c > 0.0);
            *label = number + u16::from(second);
        }
        regions
    }

    fn detection(&self, region: Candidate, extent: &Extent, moment: Moment) -> Detection {
        let id = [u64::from(region.object), region.half];
        let true_class = &self.classes[usize::from(region.object) - 1];
        let mut class = true_class;
        if self.happens(self.spec.wrong_class, Draw::WrongClass, &id, moment) {
            let mut others: Vec<&String> = self
                .spec
                .confusions
                .iter()
                .filter(|(name, _)| name == true_class)
                .flat_map(|(_, others)| others)
                .collect();
            if others.is_empty() {
                others = self.classes.iter().filter(|name| *name != true_class).collect();
                others.sort();
                others.dedup();
            }
            if !others.is_empty() {
                class = others[self.draw(Draw::WhichClass, &id, moment) as usize % others.len()];
            }
        }
        let penalty = if class == true_class { 0.0 } else { WRONG_CLASS_PENALTY };
        let noise = self.spec.score_noise * dice::normal(self.draw(Draw::Score, &id, moment));
        Detection {
            class_name: class.clone(),
            score: (self.spec.score + noise - penalty).clamp(0.01, 1.0),
            bbox: [extent.u.0, extent.v.0, extent.u.1 + 1 - extent.u.0, extent.v.1 + 1 - extent.v.0],
        }
    }

    fn happens(&self, rate: f64, draw: Draw, id: &[u64], moment: Moment) -> bool {
        dice::unit(self.draw(draw, id, moment)) < rate
    }

    fn draw(&self, draw: Draw, id: &[u64], moment: Moment) -> u64 {
        let id = dice::hash(id);
        let stays = dice::hash(&[self.seed, draw as u64, id, moment.frame, 1]);
        if dice::unit(stays) < self.spec.persistence {
            dice::hash(&[self.seed, draw as u64, id, moment.bin, 2])
        } else {
            dice::hash(&[self.seed, draw as u64, id, moment.frame, 3])
        }
    }
}

/// A name for the neighbourhood of a camera pose. Cells are shifted, so that round numbers (a camera that looks straight
/// down) lie inside a cell and not on its border.
fn view_bin(world_from_camera: &Isometry3<f64>) -> u64 {
    let turn = world_from_camera.rotation.to_rotation_matrix();
    let place = world_from_camera.translation.vector / BIN.0;
    let forward = turn.matrix().column(2) / BIN.1;
    let right = turn.matrix().column(0) / BIN.1;
    let cells: Vec<u64> = place
        .iter()
        .chain(forward.iter())
        .chain(right.iter())
        .map(|x| (x + 0.37).floor() as i64 as u64)
        .collect();
    dice::hash(&cells)
}
