//! Two colour histograms: the object and its surroundings.

use super::Look;
use prehend_scene::Crop;

/// A colour model of an object against its surroundings.
pub(super) struct ColorModel {
    /// Steps per channel.
    bins: usize,
    inside: Vec<f64>,
    outside: Vec<f64>,
    /// How well the two are told apart, [0, 1]: one minus their overlap.
    pub(super) separation: f64,
}

impl ColorModel {
    /// Learns from the seeds and from what lies in the crop away from them.
    pub(super) fn learn(
        crop: &Crop,
        seeds: &[usize],
        (x0, y0, x1, y1): (usize, usize, usize, usize),
        look: Look,
    ) -> Self {
        let bins = match look {
            Look::First => 10,
            Look::Zoomed => 14,
        };
        let width = crop.color.width;
        let mut near = vec![false; crop.color.pixels.len()];
        // Pixels around a seed may be the object's: they teach nothing about the surroundings.
        for seed in seeds {
            let (u, v) = (seed % width, seed / width);
            for dv in v.saturating_sub(4)..(v + 5).min(crop.color.height) {
                near[dv * width + u.saturating_sub(4)..dv * width + (u + 5).min(width)].fill(true);
            }
        }
        let size = bins * bins * bins;
        let mut model = Self { bins, inside: vec![0.0; size], outside: vec![0.0; size], separation: 0.0 };
        for seed in seeds {
            model.add(crop.color.pixels[*seed], true);
        }
        for v in y0..y1 {
            for u in x0..x1 {
                if !near[v * width + u] {
                    model.add(crop.color.pixels[v * width + u], false);
                }
            }
        }
        for histogram in [&mut model.inside, &mut model.outside] {
            let total: f64 = histogram.iter().sum();
            if total > 0.0 {
                histogram.iter_mut().for_each(|count| *count /= total);
            }
        }
        let overlap: f64 = model.inside.iter().zip(&model.outside).map(|(a, b)| a.min(*b)).sum();
        model.separation = (1.0 - overlap).clamp(0.0, 1.0);
        model
    }

    /// Chromaticity in two channels, brightness in the third and coarser.
    fn bin(&self, [r, g, b]: [u8; 3]) -> (usize, usize, usize) {
        let sum = f64::from(r) + f64::from(g) + f64::from(b) + 24.0;
        let place = |share: f64| ((share * self.bins as f64 * 1.2) as usize).min(self.bins - 1);
        let light = ((sum / 792.0) * self.bins as f64 * 0.5) as usize;
        (place((f64::from(r) + 8.0) / sum), place((f64::from(g) + 8.0) / sum), light.min(self.bins - 1))
    }

    fn add(&mut self, pixel: [u8; 3], inside: bool) {
        let (a, b, light) = self.bin(pixel);
        let bins = self.bins;
        let histogram = if inside { &mut self.inside } else { &mut self.outside };
        // Spread a little, so that few pixels make a model.
        for (da, db, dl, weight) in [
            (0, 0, 0, 0.5),
            (1, 0, 0, 0.1),
            (-1, 0, 0, 0.1),
            (0, 1, 0, 0.1),
            (0, -1, 0, 0.1),
            (0, 0, 1, 0.05),
            (0, 0, -1, 0.05),
        ] {
            let shifted = |value: usize, by: i32| value.checked_add_signed(by as isize).filter(|v| *v < bins);
            if let (Some(a), Some(b), Some(light)) = (shifted(a, da), shifted(b, db), shifted(light, dl)) {
                histogram[(a * bins + b) * bins + light] += weight;
            }
        }
    }

    fn is_inside(&self, pixel: [u8; 3]) -> bool {
        let (a, b, light) = self.bin(pixel);
        let slot = (a * self.bins + b) * self.bins + light;
        self.inside[slot] > self.outside[slot].max(1e-4)
    }

    /// Pixels of the window that the object's model explains better, connected to a seed that it explains.
    pub(super) fn grow(
        &self,
        crop: &Crop,
        seeds: &[usize],
        (x0, y0, x1, y1): (usize, usize, usize, usize),
    ) -> Vec<usize> {
        let width = crop.color.width;
        let mut reached = vec![false; crop.color.pixels.len()];
        let mut stack: Vec<usize> = seeds.to_vec();
        let mut found = Vec::new();
        while let Some(index) = stack.pop() {
            let (u, v) = (index % width, index / width);
            let outside = u < x0 || u >= x1 || v < y0 || v >= y1;
            if outside || reached[index] || !self.is_inside(crop.color.pixels[index]) {
                continue;
            }
            reached[index] = true;
            found.push(index);
            stack.extend((u > x0).then(|| index - 1));
            stack.extend((u + 1 < x1).then_some(index + 1));
            stack.extend((v > y0).then(|| index - width));
            stack.extend((v + 1 < y1).then_some(index + width));
        }
        found
    }
}
