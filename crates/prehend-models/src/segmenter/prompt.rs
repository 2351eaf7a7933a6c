//! Prompts as the decoders take them: points of the frame with labels.

use super::{SamFamily, prepare};
use prehend_geometry::ColorImage;
use prehend_perception::{InferenceError, Prompt};

/// Labels of points (`PromptEncoder` of the authors).
const NO_POINT: f32 = -1.0;
const OFF: f32 = 0.0;
const ON: f32 = 1.0;
const CORNERS: [f32; 2] = [2.0, 3.0];

/// One prompt; as many labels as points.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PointPrompt {
    /// Points `[x, y]` in pixels of the frame.
    pub coords: Vec<[f32; 2]>,
    /// What each point is.
    pub labels: Vec<f32>,
}

/// The points of a prompt. SAM wants one that is none beside points without a box; SAM 2's export adds it itself.
///
/// Errors: [`InferenceError::Prompt`] when a point is outside the picture, there is none, or the box is empty or outside.
pub fn points(family: SamFamily, prompt: &Prompt, image: &ColorImage) -> Result<PointPrompt, InferenceError> {
    let (width, height) = (image.width as f64, image.height as f64);
    let refused =
        || InferenceError::Prompt { prompt: format!("{prompt:?}"), width: image.width, height: image.height };
    let inside = |[x, y]: &[f64; 2]| (0.0..=width).contains(x) && (0.0..=height).contains(y);
    let mut list: Vec<([f64; 2], f32)> = match prompt {
        Prompt::Points { on, off } => {
            if on.is_empty() || !on.iter().chain(off).all(inside) {
                return Err(refused());
            }
            on.iter().map(|point| (*point, ON)).chain(off.iter().map(|point| (*point, OFF))).collect()
        }
        Prompt::Box(bounds) => {
            let clipped = bounds.clipped(image.width, image.height);
            if !bounds.is_finite() || clipped.area() <= 0.0 {
                return Err(refused());
            }
            let corners = [[clipped.left, clipped.top], [clipped.right, clipped.bottom]];
            corners.into_iter().zip(CORNERS).collect()
        }
    };
    if family == SamFamily::MobileSam && matches!(prompt, Prompt::Points { .. }) {
        list.push(([0.0, 0.0], NO_POINT));
    }
    let [across, down] = prepare::scale(family, image);
    let coords = list.iter().map(|([x, y], _)| [(x * across) as f32, (y * down) as f32]).collect();
    Ok(PointPrompt { coords, labels: list.into_iter().map(|(_, label)| label).collect() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use prehend_geometry::PixelBox;

    fn image() -> ColorImage {
        ColorImage::filled(640, 480, [0; 3])
    }

    #[test]
    fn points_and_boxes_are_scaled_into_the_frame() {
        let prompt = Prompt::Points { on: vec![[320.0, 240.0]], off: vec![[0.0, 480.0]] };
        let sam = points(SamFamily::MobileSam, &prompt, &image()).expect("a prompt");
        assert_eq!(sam.coords, [[512.0, 384.0], [0.0, 768.0], [0.0, 0.0]]);
        assert_eq!(sam.labels, [1.0, 0.0, -1.0]);
        let sam2 = points(SamFamily::Sam2, &prompt, &image()).expect("a prompt");
        assert_eq!(sam2.coords, [[512.0, 512.0], [0.0, 1024.0]]);
        assert_eq!(sam2.labels, [1.0, 0.0]);
        let bounds = PixelBox { left: -5.0, top: 120.0, right: 160.0, bottom: 240.0 };
        let sam = points(SamFamily::MobileSam, &Prompt::Box(bounds), &image()).expect("a prompt");
        assert_eq!((sam.coords, sam.labels), (vec![[0.0, 192.0], [256.0, 384.0]], vec![2.0, 3.0]));
    }

    #[test]
    fn prompts_that_ask_for_nothing_are_refused() {
        let on = |point: [f64; 2]| Prompt::Points { on: vec![point], off: Vec::new() };
        let bounds = |left, right| Prompt::Box(PixelBox { left, top: 0.0, right, bottom: 10.0 });
        for prompt in [
            on([641.0, 0.0]),
            on([f64::NAN, 0.0]),
            Prompt::Points { on: Vec::new(), off: vec![[1.0, 1.0]] },
            bounds(10.0, 10.0),
            bounds(700.0, 800.0),
            bounds(0.0, f64::INFINITY),
        ] {
            let refused = points(SamFamily::Sam2, &prompt, &image());
            assert!(matches!(refused, Err(InferenceError::Prompt { .. })), "{prompt:?}: {refused:?}");
        }
    }
}
