//! Exact Euclidean distances on a grid (Felzenszwalb and Huttenlocher, "Distance transforms of sampled functions", 2012).

/// Distance from every cell's centre to the centre of the nearest cell that is set, in cells; infinite when none is.
///
/// `set` is row-major, `width` cells a row; a length that is no multiple of `width` gives an empty answer.
pub fn distances(set: &[bool], width: usize) -> Vec<f64> {
    if width == 0 || !set.len().is_multiple_of(width) {
        return Vec::new();
    }
    let height = set.len() / width;
    let mut squares: Vec<f64> = set.iter().map(|is| if *is { 0.0 } else { f64::INFINITY }).collect();
    let mut line = vec![0.0; width.max(height)];
    let mut work = Parabolas::new(width.max(height));
    for x in 0..width {
        for y in 0..height {
            line[y] = squares[y * width + x];
        }
        work.lower_envelope(&mut line[..height]);
        for y in 0..height {
            squares[y * width + x] = line[y];
        }
    }
    for row in squares.chunks_mut(width) {
        work.lower_envelope(row);
    }
    squares.iter().map(|square| square.sqrt()).collect()
}

/// Room for one line's parabolas.
struct Parabolas {
    centre: Vec<usize>,
    value: Vec<f64>,
    from: Vec<f64>,
}

impl Parabolas {
    fn new(longest: usize) -> Self {
        Self { centre: vec![0; longest], value: vec![0.0; longest], from: vec![0.0; longest + 1] }
    }

    /// Replaces `f(q)` by the least over p of `f(p) + (q - p)²`.
    fn lower_envelope(&mut self, line: &mut [f64]) {
        let mut count = 0;
        for (q, value) in line.iter().enumerate() {
            if !value.is_finite() {
                continue;
            }
            let mut from = f64::NEG_INFINITY;
            while count > 0 {
                let (p, other) = (self.centre[count - 1] as f64, self.value[count - 1]);
                let here = q as f64;
                from = ((value + here * here) - (other + p * p)) / (2.0 * (here - p));
                if from > self.from[count - 1] {
                    break;
                }
                count -= 1;
                from = f64::NEG_INFINITY;
            }
            (self.centre[count], self.value[count], self.from[count]) = (q, *value, from);
            count += 1;
        }
        if count == 0 {
            return;
        }
        let mut at = 0;
        for (q, value) in line.iter_mut().enumerate() {
            while at + 1 < count && self.from[at + 1] < q as f64 {
                at += 1;
            }
            let away = q as f64 - self.centre[at] as f64;
            *value = self.value[at] + away * away;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{RngExt, SeedableRng};

    #[test]
    fn distances_are_those_of_looking_everywhere() {
        let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(3);
        for (width, height, share) in [(13, 9, 0.05), (20, 20, 0.01), (1, 7, 0.3), (8, 1, 0.3), (5, 5, 1.0)] {
            let set: Vec<bool> = (0..width * height).map(|_| rng.random::<f64>() < share).collect();
            let found = distances(&set, width);
            for (index, distance) in found.iter().enumerate() {
                let (x, y) = (index % width, index / width);
                let least = set
                    .iter()
                    .enumerate()
                    .filter(|(_, is)| **is)
                    .map(|(other, _)| {
                        (x as f64 - (other % width) as f64).hypot(y as f64 - (other / width) as f64)
                    })
                    .fold(f64::INFINITY, f64::min);
                assert!(*distance == least || (distance - least).abs() < 1e-9, "{distance} {least}");
            }
        }
        assert!(distances(&[true; 7], 2).is_empty() && distances(&[], 0).is_empty());
    }
}
