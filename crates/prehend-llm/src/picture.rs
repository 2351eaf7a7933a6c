//! Pictures as they stand in a request.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use image::imageops::FilterType;
use image::{ImageFormat, RgbImage};
use prehend_geometry::ColorImage;
use std::io::Cursor;

/// The picture as a `data:` URL of a PNG, scaled down until no side has more than `longest` pixels. `None` when it is empty, or
/// its pixels are not as many as its sides say.
pub(crate) fn data_url(picture: &ColorImage, longest: u32) -> Option<String> {
    let (width, height) = (u32::try_from(picture.width).ok()?, u32::try_from(picture.height).ok()?);
    if width == 0 || height == 0 || longest == 0 {
        return None;
    }
    let image = RgbImage::from_raw(width, height, picture.pixels.as_flattened().to_vec())?;
    if image.as_raw().len() != picture.width * picture.height * 3 {
        return None;
    }
    let most = width.max(height);
    let image = if most > longest {
        let scaled = |side: u32| (u64::from(side) * u64::from(longest) / u64::from(most)).max(1) as u32;
        image::imageops::resize(&image, scaled(width), scaled(height), FilterType::Triangle)
    } else {
        image
    };
    let mut png = Cursor::new(Vec::new());
    image.write_to(&mut png, ImageFormat::Png).ok()?;
    Some(format!("data:image/png;base64,{}", STANDARD.encode(png.into_inner())))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decoded(url: &str) -> RgbImage {
        let png = STANDARD.decode(url.strip_prefix("data:image/png;base64,").unwrap()).unwrap();
        image::load_from_memory(&png).unwrap().to_rgb8()
    }

    #[test]
    fn a_picture_arrives_as_it_was() {
        let mut picture = ColorImage::filled(3, 2, [10, 20, 30]);
        picture.pixels[4] = [255, 0, 7];
        let found = decoded(&data_url(&picture, 64).unwrap());
        assert_eq!(found.dimensions(), (3, 2));
        assert_eq!(found.get_pixel(1, 1).0, [255, 0, 7]);
        assert_eq!(found.get_pixel(0, 0).0, [10, 20, 30]);
    }

    #[test]
    fn a_large_picture_is_scaled_and_keeps_its_shape() {
        let found = decoded(&data_url(&ColorImage::filled(400, 100, [9, 9, 9]), 64).unwrap());
        assert_eq!(found.dimensions(), (64, 16));
        let found = decoded(&data_url(&ColorImage::filled(1, 4000, [9, 9, 9]), 64).unwrap());
        assert_eq!(found.dimensions(), (1, 64));
    }

    #[test]
    fn what_is_no_picture_is_refused() {
        assert_eq!(data_url(&ColorImage::default(), 64), None);
        assert_eq!(data_url(&ColorImage { width: 9, ..ColorImage::filled(3, 2, [0; 3]) }, 64), None);
        assert_eq!(data_url(&ColorImage { width: 1, ..ColorImage::filled(3, 2, [0; 3]) }, 64), None);
    }
}
