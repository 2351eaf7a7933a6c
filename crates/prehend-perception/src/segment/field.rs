//! What a frame shows above the support, pixel by pixel, and where valleys run through it.

use super::SegmentSettings;
use super::bend::Bend;
use super::forest::Learned;
use super::noise::Noise;
use super::settings::SurfaceSettings;
use crate::{Keyframe, color};
use nalgebra::{Point2, Point3, Vector3};
use prehend_geometry::backproject::PointGrid;
use prehend_geometry::plane::Plane;
use rayon::prelude::*;

/// No surface.
pub(super) const NONE: u32 = u32::MAX;
/// Pixels that a thread takes at once.
pub(super) const AT_ONCE: usize = 8192;

/// What is above the support, pixel by pixel.
pub(super) struct Field<'a> {
    pub(super) frame: &'a Keyframe,
    pub(super) grid: &'a PointGrid,
    pub(super) settings: &'a SegmentSettings,
    pub(super) surfaces: &'a SurfaceSettings,
    pub(super) learned: Learned<'a>,
    /// `[height, width]` height above the support, metres; NaN where nothing was measured.
    pub(super) heights: Vec<f64>,
    /// `[height, width]` whether the point stands out of the noise of the support, alone or with those around it.
    pub(super) above: Vec<bool>,
    /// The pixels above the support, ascending.
    pub(super) standing: Vec<usize>,
    pub(super) eye: Point3<f64>,
    /// `[height, width]` depth along the optical axis, metres; 0 where nothing was measured.
    depths: Vec<f64>,
    /// `[height, width]` the column of each pixel.
    columns: Vec<u32>,
    noise: Noise,
    /// Greatest slope of a surface against the picture, metres of depth for each metre across.
    slope: f64,
}

/// Rows of a picture that a thread takes at once.
const BAND: usize = 24;

/// For each pixel of a row, the sum of the heights around it, metres, and the number of pixels that were measured.
struct RowSums {
    heights: Vec<f32>,
    counts: Vec<f32>,
}

impl RowSums {
    fn add(&mut self, other: &Self) {
        add(&mut self.heights, &other.heights);
        add(&mut self.counts, &other.counts);
    }
}

fn add(sums: &mut [f32], values: &[f32]) {
    sums.iter_mut().zip(values).for_each(|(sum, value)| *sum += value);
}

/// The four ways to go on in a picture.
pub(super) const WAYS: [(isize, isize); 4] = [(1, 0), (-1, 0), (0, 1), (0, -1)];

/// The pixels that are reached from one, itself first. `go` says where a way leads to from a pixel, if it leads to one that was not reached.
pub(super) fn flood(start: usize, mut go: impl FnMut(usize, (isize, isize)) -> Option<usize>) -> Vec<usize> {
    let mut reached = vec![start];
    let mut place = 0;
    while let Some(index) = reached.get(place).copied() {
        place += 1;
        reached.extend(WAYS.into_iter().filter_map(|way| go(index, way)));
    }
    reached
}

impl<'a> Field<'a> {
    pub(super) fn new(
        frame: &'a Keyframe,
        grid: &'a PointGrid,
        plane: Option<&Plane>,
        settings: &'a SegmentSettings,
        surfaces: &'a SurfaceSettings,
        learned: Learned<'a>,
    ) -> Self {
        let height = |point: &Option<Point3<f64>>| match (point, plane) {
            (Some(point), Some(plane)) => plane.distance(point),
            (Some(point), None) => point.z,
            (None, _) => f64::NAN,
        };
        let (mut heights, mut depths) = (Vec::new(), Vec::new());
        let measured = grid.points.par_iter().zip(&frame.depth.millimetres).with_min_len(AT_ONCE);
        measured
            .map(|(point, mm)| (height(point), f64::from(*mm) * 1e-3))
            .unzip_into_vecs(&mut heights, &mut depths);
        // Noise that cannot be measured is that of the settings; less than rounding to millimetres makes there is not.
        let of = |share: f64| Noise::white(settings.depth_sigma * share, surfaces.averaged);
        let noise = Noise::measure(&depths, grid.width, surfaces.window).unwrap_or_else(|| of(1.0));
        let noise = noise.at_least(of(surfaces.least_noise));
        if plane.is_some()
            && let Some(bend) = Bend::fit(&heights, grid.width, |index| noise.pixel * depths[index].powi(2))
        {
            heights
                .par_iter_mut()
                .enumerate()
                .with_min_len(AT_ONCE)
                .for_each(|(index, height)| *height -= bend.at(index));
        }
        let eye = Point3::from(frame.map_from_camera.translation.vector);
        let columns = (0..grid.height).flat_map(|_| 0..grid.width as u32).collect();
        let slope = surfaces.grazing.tan();
        let (above, standing) = (Vec::new(), Vec::new());
        let mut field = Self {
            frame,
            grid,
            settings,
            surfaces,
            learned,
            heights,
            above,
            standing,
            eye,
            depths,
            columns,
            noise,
            slope,
        };
        field.above = field.standing_out(1.0);
        field.standing = (0..field.above.len()).filter(|index| field.above[*index]).collect();
        field
    }

    /// Height above which a pixel is no support, metres.
    pub(super) fn least(&self, index: usize) -> f64 {
        self.settings.min_height + self.settings.noise * self.sigma(index)
    }

    /// Height above which the mean around a pixel is no support, metres.
    fn least_mean(&self, index: usize) -> f64 {
        self.settings.min_height + self.settings.noise * self.mean_noise(index)
    }

    /// Standard deviation of the mean around a pixel, metres.
    pub(super) fn mean_noise(&self, index: usize) -> f64 {
        self.noise.mean * self.depths[index].powi(2)
    }

    /// Whether a pixel lies on the support.
    pub(super) fn is_level(&self, index: usize) -> bool {
        self.heights[index].abs() <= self.settings.plane_distance + self.settings.noise * self.sigma(index)
    }

    /// Finds [`Field::above`]. A pixel stands out if its height does, or if the mean height around it does: the mean has less noise, so
    /// flat things show in it. For the mean, a height counts at most as much as it takes a single pixel to stand out. Otherwise a tall
    /// thing would raise the support beside it. The mean does not count in a mask: what is flat there is known by its mask (see
    /// [`crate::hypothesis`]).
    ///
    /// With a `side` of -1, what lies below the support as much.
    pub(super) fn standing_out(&self, side: f64) -> Vec<bool> {
        let (width, rows) = (self.grid.width.max(1), self.grid.height);
        let window = self.surfaces.window;
        let mut above = vec![false; self.heights.len()];
        above.par_chunks_mut(BAND * width).enumerate().for_each(|(band, above)| {
            // Those of the band, and as many above and below it as a window reaches.
            let first = (band * BAND).saturating_sub(window);
            let last = (band * BAND + above.len() / width + window).min(rows);
            let along: Vec<RowSums> = (first..last).map(|row| self.row_sums(row, side)).collect();
            for (number, above) in above.chunks_mut(width).enumerate() {
                let row = band * BAND + number;
                let around =
                    row.saturating_sub(window).max(first) - first..(row + window + 1).min(last) - first;
                let mut sums = RowSums { heights: vec![0.0; width], counts: vec![0.0; width] };
                along[around].iter().for_each(|row| sums.add(row));
                for (column, above) in above.iter_mut().enumerate() {
                    let index = row * width + column;
                    let height = side * self.heights[index];
                    *above = height > self.least(index)
                        || !height.is_nan() && self.frame.labels.labels[index] == 0 && {
                            let mean = sums.heights[column] / sums.counts[column].max(1.0);
                            f64::from(mean) > self.least_mean(index)
                        };
                }
            }
        });
        above
    }

    /// Sums over the pixels of a row around each of them.
    fn row_sums(&self, row: usize, side: f64) -> RowSums {
        let (width, window) = (self.grid.width, self.surfaces.window);
        let (mut heights, mut counts) = (vec![0.0; width + 2 * window], vec![0.0; width + 2 * window]);
        for column in 0..width {
            let index = row * width + column;
            let (height, most) = (side * self.heights[index], self.least(index));
            if !height.is_nan() {
                heights[window + column] = height.clamp(-most, most) as f32;
                counts[window + column] = 1.0;
            }
        }
        let along = |values: &[f32]| {
            let mut sums = vec![0.0; width];
            for step in 0..=2 * window {
                add(&mut sums, &values[step..step + width]);
            }
            sums
        };
        RowSums { heights: along(&heights), counts: along(&counts) }
    }

    /// Standard deviation of the depth of a pixel, metres.
    #[inline]
    pub(super) fn sigma(&self, index: usize) -> f64 {
        self.noise.pixel * self.depths[index].powi(2)
    }

    /// Whether something whose lowest part is so high comes down to the support; `index` is one of its pixels.
    pub(super) fn is_foot(&self, low: f64, index: usize) -> bool {
        low <= self.least(index) + self.surfaces.foot
    }

    /// `[height, width]` the number of the thing that has each pixel, from 1; 0 for none.
    pub(super) fn owners(&self, things: &[Vec<usize>]) -> Vec<u32> {
        let mut owner = vec![0; self.above.len()];
        for (number, thing) in things.iter().enumerate() {
            thing.iter().for_each(|index| owner[*index] = number as u32 + 1);
        }
        owner
    }

    /// Whether a detector drew most of it: then it is a thing.
    pub(super) fn is_drawn(&self, thing: &[usize]) -> bool {
        thing.iter().filter(|index| self.frame.labels.labels[**index] > 0).count() * 2 > thing.len()
    }

    /// The mean colour of the support.
    pub(super) fn support_color(&self) -> [u8; 3] {
        let level = (0..self.above.len()).step_by(7).filter(|index| self.is_level(*index));
        color::mean(level.map(|index| self.frame.color.pixels[index]))
    }

    /// Side of what a pixel shows when it faces the camera, metres.
    #[inline]
    pub(super) fn pitch(&self, index: usize) -> f64 {
        self.depths[index] / self.frame.intrinsics.fx
    }

    /// The pixel some columns and rows away.
    #[inline]
    pub(super) fn at(&self, index: usize, du: isize, dv: isize) -> Option<usize> {
        let width = self.grid.width;
        // A column before the first one is huge.
        let column = (self.columns[index] as usize).wrapping_add_signed(du);
        let other = index.checked_add_signed(dv * width as isize + du)?;
        (column < width && other < self.columns.len()).then_some(other)
    }

    /// Whether two pixels `steps` apart can lie on one surface.
    #[inline]
    pub(super) fn is_continuous(&self, a: usize, b: usize, steps: usize) -> bool {
        let slope = self.slope * self.pitch(a) * steps as f64;
        (self.depths[a] - self.depths[b]).abs()
            <= slope + self.surfaces.noise * self.noise.near * self.depths[a].powi(2)
    }

    /// Whether the colours of two pixels are too unlike for one thing.
    pub(super) fn is_border(&self, a: usize, b: usize) -> bool {
        let [a, b] = [a, b].map(|index| self.frame.color.pixels[index]);
        color::unlikeness(a, b) > self.surfaces.border * self.surfaces.unlike
    }

    /// The next pixel of a direction that was measured, across holes, if it is wanted, on the same surface and above the support. What is
    /// of another colour beyond a hole is another surface: the hole may hide the crease.
    #[inline]
    pub(super) fn next(
        &self,
        index: usize,
        (du, dv): (isize, isize),
        wanted: impl Fn(usize) -> bool,
    ) -> Option<usize> {
        for step in 1..=self.surfaces.hole + 1 {
            let other = self.at(index, du * step as isize, dv * step as isize)?;
            if self.heights[other].is_nan() {
                continue;
            }
            let is_one = self.above[other]
                && wanted(other)
                && self.is_continuous(index, other, step)
                && (step == 1 || !self.is_border(index, other));
            return is_one.then_some(other);
        }
        None
    }

    /// Mean of the points around a pixel above the support that are on its surface.
    fn smooth(&self, index: usize) -> Point3<f64> {
        let (mut sum, mut count) = (Vector3::zeros(), 0.0);
        let apart = self.slope * self.pitch(index) * 2.0
            + self.surfaces.noise * self.noise.near * self.depths[index].powi(2);
        let mut add = |other: usize| {
            if self.above[other]
                && (self.depths[index] - self.depths[other]).abs() <= apart
                && let Some(point) = self.grid.points[other]
            {
                sum += point.coords;
                count += 1.0;
            }
        };
        let (width, column) = (self.grid.width, self.columns[index] as usize);
        for dv in [-1, 0, 1] {
            let Some(row) = index.checked_add_signed(dv * width as isize) else { continue };
            if row >= self.above.len() {
                continue;
            }
            if column > 0 {
                add(row - 1);
            }
            add(row);
            if column + 1 < width {
                add(row + 1);
            }
        }
        Point3::from(sum / count)
    }

    /// Where a pixel is in the picture.
    pub(super) fn place(&self, index: usize) -> Point2<f64> {
        Point2::new(f64::from(self.columns[index]), (index / self.grid.width) as f64)
    }

    /// How far apart two pixels are in depth, metres.
    pub(super) fn step(&self, a: usize, b: usize) -> f64 {
        (self.depths[a] - self.depths[b]).abs()
    }

    /// For each pixel, how deep a valley that opens to the camera is that runs through it, in the deepest of four directions: as a share of
    /// half its width, and in standard deviations. Where things touch there is one; where nothing stands there is none.
    pub(super) fn valleys(&self) -> Vec<[f32; 2]> {
        let mut place = vec![NONE; self.above.len()];
        self.standing.iter().enumerate().for_each(|(at, index)| place[*index] = at as u32);
        let pixels = || self.standing.par_iter().with_min_len(AT_ONCE);
        let smooth: Vec<Point3<f64>> = pixels().map(|index| self.smooth(*index)).collect();
        let SurfaceSettings { reach, reach_noise, least_steps, most_steps, .. } = *self.surfaces;
        let valley = |index: usize| {
            let b = smooth[place[index] as usize];
            let sigma = self.noise.crease * self.depths[index].powi(2);
            let reach = reach.max(reach_noise * sigma);
            let toward = (self.eye - b).normalize();
            let pitch = self.pitch(index);
            let in_direction = |(du, dv, length): (isize, isize, f64)| {
                let steps = (reach / pitch / length).min(most_steps).max(least_steps).round() as isize;
                let at = |sign: isize| self.at(index, sign * steps * du, sign * steps * dv);
                let (first, last) = (at(-1)?, at(1)?);
                if place[first] == NONE || place[last] == NONE {
                    return None;
                }
                let (a, c) = (smooth[place[first] as usize], smooth[place[last] as usize]);
                let depth = (nalgebra::center(&a, &c) - b).dot(&toward);
                Some([depth / ((a - c).norm() / 2.0).max(1e-6), depth / sigma.max(1e-6)])
            };
            let deepest = [(1, 0, 1.0), (0, 1, 1.0), (1, 1, 1.4), (1, -1, 1.4)]
                .into_iter()
                .filter_map(in_direction)
                .fold([0.0_f64; 2], |best, one| if one[0] > best[0] { one } else { best });
            deepest.map(|number| number as f32)
        };
        let found: Vec<[f32; 2]> = pixels().map(|index| valley(*index)).collect();
        let mut valleys = vec![[0.0; 2]; self.above.len()];
        self.standing.iter().zip(found).for_each(|(index, valley)| valleys[*index] = valley);
        valleys
    }
}
