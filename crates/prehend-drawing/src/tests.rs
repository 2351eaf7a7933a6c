//! Overlays and PNG files.

use crate::overlay::{Annotation, annotate, draw_line, draw_text, png, text_size};
use prehend_geometry::{ColorImage, Mask};

#[test]
fn a_mask_is_tinted_and_outlined_and_labelled() {
    let mut image = ColorImage::filled(200, 120, [100; 3]);
    let annotation = Annotation {
        label: "mug_0".into(),
        color: [255, 0, 0],
        mask: Some(Mask::filled_box(200, 120, 80, 60, 30, 20)),
        ..Annotation::default()
    };
    annotate(&mut image, &[annotation]);
    let at = |u: usize, v: usize| image.pixels[v * 200 + u];
    assert_eq!(at(80, 60), [255, 0, 0]);
    assert_eq!(at(95, 70), [131, 80, 80]);
    assert_eq!(at(60, 70), [100; 3]);
    // The label stands above the mask, on a ground of its colour.
    let (width, height) = text_size("mug_0", 2);
    assert_eq!((width, height), (58, 14));
    assert_eq!(at(95 - 29, 60 - 3), [255, 0, 0]);
}

#[test]
fn labels_do_not_cover_each_other() {
    let annotation = |u: f64| Annotation {
        label: "apple".into(),
        color: [0, 255, 0],
        dots: vec![[u, 60.0]],
        ..Annotation::default()
    };
    let green = |annotations: &[Annotation]| {
        let mut image = ColorImage::filled(200, 120, [0; 3]);
        annotate(&mut image, annotations);
        image.pixels.iter().filter(|p| **p == [0, 255, 0]).count()
    };
    let (one, two) = (green(&[annotation(100.0)]), green(&[annotation(100.0), annotation(110.0)]));
    assert!(two + 20 > 2 * one, "{two} pixels of two labels, {one} of one");
}

#[test]
fn labels_of_many_stay_near_what_they_name() {
    // Thirty in six rows, each 20 pixels from the next.
    let place = |number: usize| [20.0 + 34.0 * (number % 5) as f64, 20.0 + 20.0 * (number / 5) as f64];
    let annotations: Vec<Annotation> = (0..30)
        .map(|number| Annotation {
            label: format!("a{number}"),
            color: [number as u8 + 100, 200, 0],
            dots: vec![place(number)],
            ..Annotation::default()
        })
        .collect();
    let mut image = ColorImage::filled(200, 140, [0; 3]);
    annotate(&mut image, &annotations);
    for (number, annotation) in annotations.iter().enumerate() {
        let [u, v] = place(number);
        let far = |index: &usize| {
            (index % 200).abs_diff(u as usize) > 20 || (index / 200).abs_diff(v as usize) > 18
        };
        let of_it = (0..image.pixels.len()).filter(|index| image.pixels[*index] == annotation.color);
        assert_eq!(of_it.filter(far).count(), 0, "{}", annotation.label);
    }
}

#[test]
fn a_label_is_cut_to_the_width_of_the_image() {
    let label = |text: &str| {
        let mut image = ColorImage::filled(100, 60, [0; 3]);
        let dots = vec![[50.0, 50.0]];
        annotate(
            &mut image,
            &[Annotation { label: text.into(), color: [0, 255, 0], dots, ..Annotation::default() }],
        );
        image
    };
    // Eight letters have room; of more there are six and two dots.
    assert!(label("a long name") == label("a long.."));
    assert!(label("a longer") != label("a long.."));
}

#[test]
fn drawing_outside_or_nowhere_is_harmless() {
    let clean = ColorImage::filled(20, 10, [7; 3]);
    for (from, to) in [
        ([-1e9, -1e9], [-1e9, 1e9]),
        ([f64::NAN, 0.0], [5.0, 5.0]),
        ([f64::INFINITY, 0.0], [5.0, 5.0]),
        ([100.0, 100.0], [1e300, 100.0]),
    ] {
        let mut image = clean.clone();
        draw_line(&mut image, from, to, 1.0, [255; 3]);
        assert_eq!(image, clean);
    }
    let mut image = clean.clone();
    draw_text(&mut image, -1000, 4, "far away é", 2, [255; 3]);
    draw_text(&mut image, 1000, 1000, "far away", 2, [255; 3]);
    assert_eq!(image, clean);
    let wrong_size = Annotation { mask: Some(Mask::filled_box(9, 9, 1, 1, 3, 3)), ..Annotation::default() };
    annotate(&mut image, &[wrong_size, Annotation { label: "nowhere".into(), ..Annotation::default() }]);
    assert_eq!(image, clean);
    // A line across the whole image is drawn where it is.
    draw_line(&mut image, [-1e6, 5.0], [1e6, 5.0], 0.5, [255; 3]);
    assert!((0..20).all(|u| image.pixels[5 * 20 + u] == [255; 3] && image.pixels[2 * 20 + u] == [7; 3]));
}

#[test]
fn png_reads_back() {
    let mut image = ColorImage::filled(3, 2, [1, 2, 3]);
    image.pixels[4] = [250, 0, 9];
    let bytes = png(&image).unwrap();
    let back = image::load_from_memory(&bytes).unwrap().to_rgb8();
    assert_eq!(back.dimensions(), (3, 2));
    assert_eq!(back.get_pixel(1, 1).0, [250, 0, 9]);
    assert!(png(&ColorImage { width: 4, ..image }).is_err());
    assert!(png(&ColorImage::default()).is_err());
}
