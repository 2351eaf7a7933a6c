//! Pictures through a lens made straight (Brown's model as OpenCV and `image_pipeline` have it: `plumb_bob`, `rational_polynomial`).

use super::FrameFault;
use prehend_geometry::{ColorImage, Intrinsics};
use prehend_msgs::sensor_msgs::msg::CameraInfo;

/// A lens: `k1 k2 p1 p2 k3 k4 k5 k6`.
pub(super) struct Lens([f64; 8]);

impl Lens {
    /// The lens of a camera; `None` when it bends nothing.
    pub(super) fn of(info: &CameraInfo) -> Result<Option<Self>, FrameFault> {
        if info.d.iter().all(|coefficient| *coefficient == 0.0) {
            return Ok(None);
        }
        let count = info.d.len();
        let is_known = match info.distortion_model.as_str() {
            "plumb_bob" | "radtan" => matches!(count, 4 | 5),
            "rational_polynomial" => count == 8,
            _ => false,
        };
        if !is_known || !info.d.iter().all(|coefficient| coefficient.is_finite()) {
            return Err(FrameFault::Lens { model: info.distortion_model.clone(), count });
        }
        let mut all = [0.0; 8];
        all[..count].copy_from_slice(&info.d);
        Ok(Some(Self(all)))
    }

    /// Where a ray through (x, y, 1) meets the image plane behind the lens.
    fn bent(&self, x: f64, y: f64) -> [f64; 2] {
        let [k1, k2, p1, p2, k3, k4, k5, k6] = self.0;
        let r2 = x * x + y * y;
        let radial = (1.0 + r2 * (k1 + r2 * (k2 + r2 * k3))) / (1.0 + r2 * (k4 + r2 * (k5 + r2 * k6)));
        [
            x * radial + 2.0 * p1 * x * y + p2 * (r2 + 2.0 * x * x),
            y * radial + p1 * (r2 + 2.0 * y * y) + 2.0 * p2 * x * y,
        ]
    }

    /// For each pixel of the straight picture, row-major, the place in the bent one that shows it, pixels.
    pub(super) fn sources(&self, camera: &Intrinsics) -> Vec<[f64; 2]> {
        let place = |u: usize, v: usize| {
            let [x, y] = self.bent((u as f64 - camera.cx) / camera.fx, (v as f64 - camera.cy) / camera.fy);
            [x * camera.fx + camera.cx, y * camera.fy + camera.cy]
        };
        (0..camera.height).flat_map(|v| (0..camera.width).map(move |u| place(u, v))).collect()
    }
}

/// The values of the nearest pixels, since depths of two things have no mean; outside of the picture nothing was measured.
pub(super) fn straight<T: Copy + Default>(values: &[T], size: [usize; 2], sources: &[[f64; 2]]) -> Vec<T> {
    let [width, height] = size.map(|side| side as f64);
    let value = |[u, v]: &[f64; 2]| {
        let (u, v) = (u.round(), v.round());
        let inside = u >= 0.0 && v >= 0.0 && u < width && v < height;
        if inside { values[v as usize * size[0] + u as usize] } else { T::default() }
    };
    sources.iter().map(value).collect()
}

/// Linearly between the four nearest pixels; black outside of the picture.
pub(super) fn straight_color(image: &ColorImage, sources: &[[f64; 2]]) -> Vec<[u8; 3]> {
    let (right, bottom) = ((image.width - 1) as f64, (image.height - 1) as f64);
    let mixed = |[u, v]: &[f64; 2]| {
        if !(0.0..=right).contains(u) || !(0.0..=bottom).contains(v) {
            return [0; 3];
        }
        let (left, top) = (*u as usize, *v as usize);
        let (part_u, part_v) = (u.fract(), v.fract());
        let at =
            |u: usize, v: usize| image.pixels[v.min(image.height - 1) * image.width + u.min(image.width - 1)];
        let corners = [at(left, top), at(left + 1, top), at(left, top + 1), at(left + 1, top + 1)];
        std::array::from_fn(|channel| {
            let [a, b, c, d] = corners.map(|corner| f64::from(corner[channel]));
            let (upper, lower) = (a + (b - a) * part_u, c + (d - c) * part_u);
            (upper + (lower - upper) * part_v).round() as u8
        })
    };
    sources.iter().map(mixed).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const CAMERA: Intrinsics =
        Intrinsics { fx: 100.0, fy: 100.0, cx: 50.0, cy: 40.0, width: 101, height: 81 };

    fn info(model: &str, d: &[f64]) -> CameraInfo {
        CameraInfo { distortion_model: model.to_owned(), d: d.to_vec(), ..Default::default() }
    }

    /// Expected: cv2.projectPoints of (0.3, -0.2, 1) with the same matrix and coefficients.
    #[test]
    fn rays_meet_the_plane_where_opencv_says() {
        for (model, d, expected) in [
            ("plumb_bob", &[-0.3, 0.1, 0.01, -0.02, 0.05][..], [78.143_995_5, 21.194_003]),
            (
                "rational_polynomial",
                &[0.5, -0.2, 0.001, 0.002, 0.1, 0.4, -0.1, 0.05][..],
                [80.376_151_01, 19.779_565_99],
            ),
        ] {
            let lens = Lens::of(&info(model, d)).unwrap().unwrap();
            let [u, v] = lens.sources(&CAMERA)[20 * 101 + 80];
            let error = (u - expected[0]).abs().max((v - expected[1]).abs());
            assert!(error < 1e-4, "{model}: {u} {v}");
        }
    }

    #[test]
    fn a_lens_that_bends_nothing_is_none_and_an_unknown_one_an_error() {
        assert!(Lens::of(&info("", &[])).unwrap().is_none());
        assert!(Lens::of(&info("plumb_bob", &[0.0; 5])).unwrap().is_none());
        for (model, d) in
            [("equidistant", &[0.1; 4][..]), ("plumb_bob", &[0.1; 8]), ("plumb_bob", &[f64::NAN; 5])]
        {
            assert!(matches!(Lens::of(&info(model, d)), Err(FrameFault::Lens { .. })), "{model}");
        }
    }

    #[test]
    fn depths_are_not_mixed_and_colours_are() {
        let sources = [[0.4, 0.0], [0.6, 0.0], [-0.6, 0.0], [1.0, 0.0]];
        assert_eq!(straight(&[500_u16, 900], [2, 1], &sources), [500, 900, 0, 900]);
        let image = ColorImage { width: 2, height: 1, pixels: vec![[0, 100, 200], [100, 100, 0]] };
        let straight = straight_color(&image, &sources);
        assert_eq!(straight, [[40, 100, 120], [60, 100, 80], [0, 0, 0], [100, 100, 0]]);
    }
}
