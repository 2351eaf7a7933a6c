//! From the numbers of a mask to the pixels of a picture.

use prehend_geometry::Mask;
use prehend_perception::traits::ScoredMask;

/// Two neighbours of a new pixel and the share of the second.
fn neighbours(from: usize, to: usize) -> Vec<(usize, usize, f32)> {
    (0..to)
        .map(|place| {
            let centre = ((place as f64 + 0.5) * from as f64 / to as f64 - 0.5).max(0.0);
            let first = (centre as usize).min(from - 1);
            (first, (first + 1).min(from - 1), (centre - first as f64) as f32)
        })
        .collect()
}

/// A plane `[height, width]` in another size, linear between centres (PyTorch's `interpolate`, bilinear, `align_corners=False`).
/// Both sizes are `(width, height)` and not empty.
pub fn upscale(plane: &[f32], from: (usize, usize), to: (usize, usize)) -> Vec<f32> {
    if from == to {
        return plane.to_vec();
    }
    let (across, down) = (neighbours(from.0, to.0), neighbours(from.1, to.1));
    let mut numbers = Vec::with_capacity(to.0 * to.1);
    for (above, below, low) in down {
        let (above, below) = (&plane[above * from.0..][..from.0], &plane[below * from.0..][..from.0]);
        for (left, right, far) in &across {
            let blend = |row: &[f32]| row[*left] + (row[*right] - row[*left]) * far;
            let (above, below) = (blend(above), blend(below));
            numbers.push(above + (below - above) * low);
        }
    }
    numbers
}

/// The pixels whose number is above 0.
pub fn region(logits: &[f32], width: usize, height: usize, score: f64) -> ScoredMask {
    let inside: Vec<usize> = (0..logits.len()).filter(|index| logits[*index] > 0.0).collect();
    ScoredMask { mask: Mask::from_indices(width, height, &inside), score }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A new centre lies a quarter of a pixel beside an old one; beyond the outer centres the plane is flat.
    #[test]
    fn planes_grow_as_in_pytorch() {
        let expected = [0., 1., 3., 4., 2., 3., 5., 6., 6., 7., 9., 10., 8., 9., 11., 12.];
        assert_eq!(upscale(&[0., 4., 8., 12.], (2, 2), (4, 4)), expected);
        assert_eq!(upscale(&[0., 4., 8., 12.], (2, 2), (2, 2)), [0., 4., 8., 12.]);
        assert_eq!(upscale(&[5.0], (1, 1), (3, 2)), [5.0; 6]);
    }

    #[test]
    fn a_region_is_what_is_above_zero() {
        let found = region(&[-1.0, 0.0, 0.5, 2.0, -3.0, 1.0], 3, 2, 0.7);
        assert_eq!(found.mask.indices(), [2, 3, 5]);
        assert_eq!(found.score, 0.7);
    }
}
