//! From pixels to the numbers of a model.

use prehend_geometry::ColorImage;

/// Order of the colour channels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Channels {
    /// Red first.
    Rgb,
    /// Blue first, as OpenCV reads pictures.
    Bgr,
}

/// How a pixel's value v in 0 to 255 becomes a number: `(v / 255 - mean) / deviation`, channel by channel.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Normalisation {
    /// Order of the channels in the model.
    pub channels: Channels,
    /// Mean of each channel, in the model's order.
    pub mean: [f32; 3],
    /// Deviation of each channel, in the model's order; not 0.
    pub deviation: [f32; 3],
}

impl Normalisation {
    /// Shares of 255, nothing else.
    pub const fn unit(channels: Channels) -> Self {
        Self { channels, mean: [0.0; 3], deviation: [1.0; 3] }
    }

    /// Appends a picture as `[3, height, width]`.
    pub fn append(&self, image: &ColorImage, numbers: &mut Vec<f32>) {
        for channel in 0..3 {
            let of_pixel = match self.channels {
                Channels::Rgb => channel,
                Channels::Bgr => 2 - channel,
            };
            let (mean, deviation) = (self.mean[channel], self.deviation[channel]);
            numbers.extend(
                image.pixels.iter().map(|pixel| (f32::from(pixel[of_pixel]) / 255.0 - mean) / deviation),
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn channels_are_planes_in_the_order_of_the_model() {
        let image = ColorImage { width: 2, height: 1, pixels: vec![[255, 51, 0], [0, 102, 255]] };
        let numbers = |normalisation: Normalisation| {
            let mut numbers = Vec::new();
            normalisation.append(&image, &mut numbers);
            numbers
        };
        assert_eq!(numbers(Normalisation::unit(Channels::Rgb)), [1.0, 0.0, 0.2, 0.4, 0.0, 1.0]);
        assert_eq!(numbers(Normalisation::unit(Channels::Bgr)), [0.0, 1.0, 0.2, 0.4, 1.0, 0.0]);
        let centred =
            Normalisation { channels: Channels::Rgb, mean: [0.5, 0.2, 0.0], deviation: [0.5, 0.1, 2.0] };
        let expected = [1.0, -1.0, 0.0, 2.0, 0.0, 0.5];
        for (found, expected) in numbers(centred).iter().zip(expected) {
            assert!((found - expected).abs() < 1e-5, "{found} instead of {expected}");
        }
    }
}
