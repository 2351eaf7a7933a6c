//! What happens to masks: neighbours, splits, erosion. Images of numbers, 0 is nothing, row-major.

/// Pairs of numbers that come within `reach` pixels of each other along a row or a column, each once, smaller first.
pub(super) fn neighbours(image: &[u16], width: usize, reach: usize) -> Vec<(u16, u16)> {
    let mut pairs = Vec::new();
    let mut note = |a: u16, b: u16| {
        let pair = (a.min(b), a.max(b));
        if a != 0 && b != 0 && a != b && !pairs.contains(&pair) {
            pairs.push(pair);
        }
    };
    for (index, label) in image.iter().enumerate().filter(|(_, label)| **label != 0) {
        for step in 1..=reach {
            if index % width + step < width {
                note(*label, image[index + step]);
            }
            if let Some(below) = image.get(index + step * width) {
                note(*label, *below);
            }
        }
    }
    pairs.sort_unstable();
    pairs
}

/// Takes `steps` pixels off the edge of every region (also where two regions meet, not at the image border).
pub(super) fn erode(image: &mut [u16], width: usize, steps: usize) {
    let mut next = image.to_owned();
    for _ in 0..steps {
        for (index, label) in image.iter().enumerate() {
            if *label == 0 {
                continue;
            }
            let u = index % width;
            let keeps = (u == 0 || image[index - 1] == *label)
                && (u + 1 == width || image[index + 1] == *label)
                && (index < width || image[index - width] == *label)
                && (index + width >= image.len() || image[index + width] == *label);
            if !keeps {
                next[index] = 0;
            }
        }
        image.copy_from_slice(&next);
    }
}

/// Pixels of a region: how many, where, and between which columns and rows.
#[derive(Clone, Copy, Debug)]
pub(super) struct Extent {
    pub(super) area: usize,
    pub(super) sum_u: f64,
    pub(super) sum_v: f64,
    pub(super) u: (usize, usize),
    pub(super) v: (usize, usize),
}

impl Extent {
    const NONE: Self = Self { area: 0, sum_u: 0.0, sum_v: 0.0, u: (usize::MAX, 0), v: (usize::MAX, 0) };

    pub(super) fn center(&self) -> (f64, f64) {
        let n = self.area.max(1) as f64;
        (self.sum_u / n, self.sum_v / n)
    }
}

/// Extent of each region `0..=last`.
pub(super) fn extents(image: &[u16], width: usize, last: usize) -> Vec<Extent> {
    let mut extents = vec![Extent::NONE; last + 1];
    for (index, label) in image.iter().enumerate().filter(|(_, label)| **label != 0) {
        let Some(extent) = extents.get_mut(usize::from(*label)) else { continue };
        let (u, v) = (index % width, index / width);
        extent.area += 1;
        extent.sum_u += u as f64;
        extent.sum_v += v as f64;
        extent.u = (extent.u.0.min(u), extent.u.1.max(u));
        extent.v = (extent.v.0.min(v), extent.v.1.max(v));
    }
    extents
}
