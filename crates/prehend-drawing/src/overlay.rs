//! Drawing on a camera image: outlines, tints, dots and labels, from plain data.

use crate::font;
use image::{ExtendedColorType, ImageEncoder, codecs::png::PngEncoder};
use prehend_geometry::{ColorImage, Mask};

/// Pixels of a font dot in a label, and half the width of a line: of a few annotations, and of more than [`FEW`], where large labels would
/// stand far from what they name.
const STROKE: [(usize, f64); 2] = [(2, 1.0), (1, 0.5)];
/// Annotations that have room for large labels.
const FEW: usize = 12;
/// Pixels between two places of a label that are tried.
const STEP: i64 = 4;

/// One thing to mark in an image. Places are pixels (u right, v down) and may lie outside the image.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Annotation {
    /// Label; empty for none.
    pub label: String,
    /// Colour of everything that belongs to it.
    pub color: [u8; 3],
    /// Lines, each from the first to the last of its points; repeat the first point to close one.
    pub lines: Vec<Vec<[f64; 2]>>,
    /// Dots.
    pub dots: Vec<[f64; 2]>,
    /// A region to tint and outline.
    pub mask: Option<Mask>,
}

/// Colours that are told apart well, for giving each object its own (Okabe and Ito 2008, without black; lightened for dark ground).
pub const PALETTE: [[u8; 3]; 8] = [
    [230, 159, 0],
    [86, 180, 233],
    [0, 190, 140],
    [240, 228, 66],
    [60, 130, 240],
    [235, 110, 20],
    [220, 130, 190],
    [250, 250, 250],
];

/// Draws annotations on an image: tints first, then lines and dots, then labels that avoid each other.
pub fn annotate(image: &mut ColorImage, annotations: &[Annotation]) {
    for annotation in annotations {
        if let Some(mask) = &annotation.mask {
            tint(image, mask, annotation.color);
        }
    }
    let (scale, radius) = STROKE[usize::from(annotations.len() > FEW)];
    for annotation in annotations {
        for line in &annotation.lines {
            for pair in line.windows(2) {
                draw_line(image, pair[0], pair[1], radius, annotation.color);
            }
        }
        for dot in &annotation.dots {
            draw_dot(image, *dot, 2.0 * radius, annotation.color);
        }
    }
    let mut taken: Vec<[i64; 4]> = Vec::new();
    for annotation in annotations.iter().filter(|a| !a.label.is_empty()) {
        let Some([u0, v0, u1, v1]) = extent(annotation) else { continue };
        let label = fitting(&annotation.label, image.width.saturating_sub(6), scale);
        let (width, height) = text_size(&label, scale);
        let (width, height) = (width as i64 + 6, height as i64 + 6);
        let left = ((u0 + u1) / 2.0) as i64 - width / 2;
        let left = left.clamp(0, (image.width as i64 - width).max(0));
        let bottom = (image.height as i64 - height).max(0);
        let above = v0 as i64 - height - 2;
        // Above the object, else below it, else the next free place further up or down.
        let tries = (0..12 * height / STEP).flat_map(|k| [above - k * STEP, v1 as i64 + 3 + k * STEP]);
        let free = |top: &i64| {
            (0..=bottom).contains(top)
                && taken.iter().all(|[l, t, w, h]| {
                    left + width <= *l || l + w <= left || top + height <= *t || t + h <= *top
                })
        };
        let top = tries.clone().find(free).unwrap_or(above.clamp(0, bottom));
        taken.push([left, top, width, height]);
        let dark = annotation.color.iter().map(|c| u32::from(*c)).sum::<u32>() < 330;
        let ink = if dark { [255; 3] } else { [16; 3] };
        fill_box(image, left, top, width, height, annotation.color);
        draw_text(image, left + 3, top + 3, &label, scale, ink);
    }
}

/// Width and height of a text in pixels, with `scale` pixels to a dot of the font.
pub fn text_size(text: &str, scale: usize) -> (usize, usize) {
    let letters = text.chars().count();
    ((letters * (font::WIDTH + 1)).saturating_sub(1) * scale, font::HEIGHT * scale)
}

/// A text that is no wider than `width` pixels: as it is, or its start and two dots.
fn fitting(text: &str, width: usize, scale: usize) -> String {
    let most = (width / scale.max(1) + 1) / (font::WIDTH + 1);
    if text.chars().count() <= most {
        return text.to_owned();
    }
    text.chars().take(most.saturating_sub(2)).chain("..".chars()).take(most).collect()
}

/// Writes a text with its upper left corner at (left, top); what lies outside the image is cut off.
pub fn draw_text(image: &mut ColorImage, left: i64, top: i64, text: &str, scale: usize, color: [u8; 3]) {
    let scale = scale.max(1) as i64;
    for (n, letter) in text.chars().enumerate() {
        for column in 0..font::WIDTH {
            for row in 0..font::HEIGHT {
                if font::pixel(letter, column, row) {
                    let u = left + (n * (font::WIDTH + 1) + column) as i64 * scale;
                    fill_box(image, u, top + row as i64 * scale, scale, scale, color);
                }
            }
        }
    }
}

/// Draws a straight line with soft edges, `radius` pixels to both sides of its middle.
pub fn draw_line(image: &mut ColorImage, from: [f64; 2], to: [f64; 2], radius: f64, color: [u8; 3]) {
    let Some((from, to)) = clip_line(from, to, image, radius + 1.0) else { return };
    let (du, dv) = (to[0] - from[0], to[1] - from[1]);
    let length2 = (du * du + dv * dv).max(1e-12);
    let reach = radius + 1.0;
    let rows = span(from[1].min(to[1]) - reach, from[1].max(to[1]) + reach, image.height);
    for v in rows {
        let columns = span(from[0].min(to[0]) - reach, from[0].max(to[0]) + reach, image.width);
        for u in columns {
            let (pu, pv) = (u as f64 - from[0], v as f64 - from[1]);
            let t = ((pu * du + pv * dv) / length2).clamp(0.0, 1.0);
            let distance = (pu - t * du).hypot(pv - t * dv);
            blend(&mut image.pixels[v * image.width + u], color, radius + 0.5 - distance);
        }
    }
}

/// Draws a dot with a soft edge.
pub fn draw_dot(image: &mut ColorImage, center: [f64; 2], radius: f64, color: [u8; 3]) {
    draw_line(image, center, center, radius, color);
}

/// Tints a region and outlines it; does nothing when the mask is for an image of another size.
pub fn tint(image: &mut ColorImage, mask: &Mask, color: [u8; 3]) {
    if (mask.image_width, mask.image_height) != (image.width, image.height) {
        return;
    }
    for index in mask.indices() {
        let (u, v) = (index % image.width, index / image.width);
        let inner = u > 0
            && v > 0
            && mask.contains(u - 1, v)
            && mask.contains(u + 1, v)
            && mask.contains(u, v - 1)
            && mask.contains(u, v + 1);
        if let Some(pixel) = image.pixels.get_mut(index) {
            blend(pixel, color, if inner { 0.2 } else { 1.0 });
        }
    }
}

/// An image that cannot be written as PNG.
#[derive(Debug, thiserror::Error)]
pub enum PngError {
    /// Width times height is not the number of pixels.
    #[error("{width} x {height} is not the size of {pixels} pixels")]
    Size {
        /// Width, pixels.
        width: usize,
        /// Height, pixels.
        height: usize,
        /// Pixels there are.
        pixels: usize,
    },
    /// The encoder failed.
    #[error("the PNG encoder failed: {0}")]
    Encode(#[from] image::ImageError),
}

/// The bytes of a PNG file.
///
/// Errors: [`PngError`].
pub fn png(image: &ColorImage) -> Result<Vec<u8>, PngError> {
    let (width, height, pixels) = (image.width, image.height, image.pixels.len());
    if width.checked_mul(height) != Some(pixels) || pixels == 0 {
        return Err(PngError::Size { width, height, pixels });
    }
    let mut bytes = Vec::new();
    PngEncoder::new(&mut bytes).write_image(
        image.pixels.as_flattened(),
        width as u32,
        height as u32,
        ExtendedColorType::Rgb8,
    )?;
    Ok(bytes)
}

fn span(low: f64, high: f64, length: usize) -> std::ops::Range<usize> {
    let low = low.floor().clamp(0.0, length as f64) as usize;
    let high = (high.ceil() + 1.0).clamp(0.0, length as f64) as usize;
    low..high.max(low)
}

fn blend(pixel: &mut [u8; 3], color: [u8; 3], share: f64) {
    let share = share.clamp(0.0, 1.0);
    for (old, new) in pixel.iter_mut().zip(color) {
        *old = (f64::from(*old) * (1.0 - share) + f64::from(new) * share + 0.5) as u8;
    }
}

fn fill_box(image: &mut ColorImage, left: i64, top: i64, width: i64, height: i64, color: [u8; 3]) {
    let rows =
        top.clamp(0, image.height as i64) as usize..(top + height).clamp(0, image.height as i64) as usize;
    let columns =
        left.clamp(0, image.width as i64) as usize..(left + width).clamp(0, image.width as i64) as usize;
    for v in rows {
        if let Some(row) =
            image.pixels.get_mut(v * image.width + columns.start..v * image.width + columns.end)
        {
            row.fill(color);
        }
    }
}

/// The part of a line that is within `margin` pixels of the image (Liang and Barsky 1984); `None` when there is none.
fn clip_line(from: [f64; 2], to: [f64; 2], image: &ColorImage, margin: f64) -> Option<([f64; 2], [f64; 2])> {
    if !from.iter().chain(&to).all(|x| x.is_finite()) {
        return None;
    }
    let (mut t0, mut t1) = (0.0f64, 1.0f64);
    let size = [image.width as f64, image.height as f64];
    for axis in 0..2 {
        let step = to[axis] - from[axis];
        for (p, q) in [(-step, from[axis] + margin), (step, size[axis] + margin - from[axis])] {
            if p == 0.0 {
                if q < 0.0 {
                    return None;
                }
            } else if p < 0.0 {
                t0 = t0.max(q / p);
            } else {
                t1 = t1.min(q / p);
            }
        }
    }
    let at = |t: f64| [from[0] + t * (to[0] - from[0]), from[1] + t * (to[1] - from[1])];
    (t0 <= t1).then(|| (at(t0), at(t1)))
}

/// Left, top, right and bottom of an annotation; `None` when it has no place.
fn extent(annotation: &Annotation) -> Option<[f64; 4]> {
    let mut points: Vec<[f64; 2]> =
        annotation.lines.iter().flatten().chain(&annotation.dots).copied().collect();
    if let Some(mask) = annotation.mask.as_ref().filter(|mask| mask.area() > 0) {
        points.push([mask.x as f64, mask.y as f64]);
        points.push([(mask.x + mask.width) as f64, (mask.y + mask.height) as f64]);
    }
    points.retain(|p| p.iter().all(|x| x.is_finite()));
    let first = points.first()?;
    Some(points.iter().fold([first[0], first[1], first[0], first[1]], |[l, t, r, b], [u, v]| {
        [l.min(*u), t.min(*v), r.max(*u), b.max(*v)]
    }))
}
