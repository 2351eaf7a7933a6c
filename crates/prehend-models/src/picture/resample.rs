//! Pictures in another size, with the numbers Pillow gives: models were trained on its pictures.
//!
//! Source: Pillow, `src/libImaging/Resample.c`: two passes, each rounded to 8 bits, weights in fixed point.

use prehend_geometry::ColorImage;

/// How neighbours are weighted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Filter {
    /// The mean of the pixels whose centres fall into the new pixel (Pillow's `BOX`, an area average when shrinking).
    Area,
    /// A triangle as wide as the new pixel when shrinking (Pillow's `BILINEAR`).
    Bilinear,
    /// A cubic with a = -0.5, as wide as the new pixel when shrinking (Pillow's `BICUBIC`).
    Bicubic,
    /// Between the two nearest pixels, whatever the size (OpenCV's `INTER_LINEAR`); it leaves pixels out when shrinking.
    Linear,
}

impl Filter {
    /// Half width at scale 1.
    fn support(self) -> f64 {
        match self {
            Self::Area => 0.5,
            Self::Bilinear | Self::Linear => 1.0,
            Self::Bicubic => 2.0,
        }
    }

    fn weight(self, x: f64) -> f64 {
        let a = -0.5;
        let distance = x.abs();
        match self {
            Self::Area => f64::from(u8::from(x > -0.5 && x <= 0.5)),
            Self::Bilinear | Self::Linear => (1.0 - distance).max(0.0),
            Self::Bicubic if distance < 1.0 => ((a + 2.0) * distance - (a + 3.0)) * distance * distance + 1.0,
            Self::Bicubic if distance < 2.0 => (((distance - 5.0) * distance + 8.0) * distance - 4.0) * a,
            Self::Bicubic => 0.0,
        }
    }
}

/// Bits behind the point of a weight.
const PRECISION: u32 = 22;

/// First source pixel and weights of one new pixel; the weights sum to 1.
struct Window {
    first: usize,
    weights: Vec<i32>,
}

fn windows(from: usize, to: usize, filter: Filter) -> Vec<Window> {
    let scale = from as f64 / to as f64;
    let stretch = if filter == Filter::Linear { 1.0 } else { scale.max(1.0) };
    let support = filter.support() * stretch;
    (0..to)
        .map(|place| {
            let centre = (place as f64 + 0.5) * scale;
            let first = ((centre - support + 0.5) as usize).min(from - 1);
            let end = ((centre + support + 0.5) as usize).clamp(first + 1, from);
            let weights: Vec<f64> =
                (first..end).map(|x| filter.weight((x as f64 - centre + 0.5) / stretch)).collect();
            let sum: f64 = weights.iter().sum();
            let fixed = |weight: &f64| (weight / sum * f64::from(1 << PRECISION)).round() as i32;
            Window { first, weights: weights.iter().map(fixed).collect() }
        })
        .collect()
}

/// Weighted sum of pixels `stride` apart.
fn blend(pixels: &[[u8; 3]], start: usize, stride: usize, weights: &[i32]) -> [u8; 3] {
    let mut sums = [1_i32 << (PRECISION - 1); 3];
    for (step, weight) in weights.iter().enumerate() {
        let pixel = pixels[start + step * stride];
        for (sum, value) in sums.iter_mut().zip(pixel) {
            *sum += i32::from(value) * weight;
        }
    }
    sums.map(|sum| (sum >> PRECISION).clamp(0, 255) as u8)
}

/// The whole picture in another size; its shape may change. Both pictures must have pixels.
pub fn resample(image: &ColorImage, width: usize, height: usize, filter: Filter) -> ColorImage {
    let mut pixels = image.pixels.clone();
    if width != image.width {
        let windows = windows(image.width, width, filter);
        pixels = (0..image.height)
            .flat_map(|v| windows.iter().map(move |window| (v, window)))
            .map(|(v, window)| blend(&pixels, v * image.width + window.first, 1, &window.weights))
            .collect();
    }
    if height != image.height {
        let windows = windows(image.height, height, filter);
        pixels = windows
            .iter()
            .flat_map(|window| (0..width).map(move |u| (window, u)))
            .map(|(window, u)| blend(&pixels, window.first * width + u, width, &window.weights))
            .collect();
    }
    ColorImage { width, height, pixels }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A picture of one row in grey.
    fn row(values: &[u8]) -> ColorImage {
        ColorImage { width: values.len(), height: 1, pixels: values.iter().map(|v| [*v; 3]).collect() }
    }

    fn check(values: &[u8], filter: Filter, expected: &[u8]) {
        let image = row(values);
        let wide = resample(&image, expected.len(), 1, filter);
        assert_eq!(wide, row(expected), "{filter:?} in rows");
        // The same picture on its side.
        let column = ColorImage { width: 1, height: image.width, pixels: image.pixels.clone() };
        let high = resample(&column, 1, expected.len(), filter);
        assert_eq!(high.pixels, row(expected).pixels, "{filter:?} in columns");
    }

    /// Numbers of Pillow 13.0, `Image.fromarray(row).resize((n, 1), filter)`, and of OpenCV 5.0, `INTER_LINEAR`.
    #[test]
    fn numbers_are_those_of_pillow_and_opencv() {
        let values = [0, 10, 40, 90, 160, 250, 30, 200];
        check(&values, Filter::Area, &[5, 65, 205, 115]);
        check(&values, Filter::Area, &[5, 40, 125, 250, 115]);
        check(&values, Filter::Bilinear, &[10, 70, 169, 134]);
        check(&values, Filter::Bicubic, &[4, 66, 181, 130]);
        check(&[0, 100, 200], Filter::Bicubic, &[0, 31, 100, 169, 208]);
        check(&[0, 100, 200], Filter::Area, &[0, 0, 100, 200, 200]);
        check(&values, Filter::Linear, &[5, 65, 205, 115]);
        check(&values, Filter::Linear, &[3, 37, 125, 228, 149]);
        check(&values, Filter::Linear, &[8, 125, 58]);
        check(&[0, 100], Filter::Linear, &[0, 25, 75, 100]);
    }

    #[test]
    fn a_picture_in_its_own_size_and_one_of_one_colour_stay_what_they_are() {
        let image = row(&[3, 200, 7]);
        for filter in [Filter::Area, Filter::Bilinear, Filter::Bicubic, Filter::Linear] {
            assert_eq!(resample(&image, 3, 1, filter), image);
            let plain = ColorImage::filled(7, 5, [12, 130, 255]);
            assert_eq!(resample(&plain, 3, 11, filter), ColorImage::filled(3, 11, [12, 130, 255]));
        }
    }
}
