//! Which topics are found, and what they may hold.

use crate::maps::frames_of;
use crate::scene::{BEGIN, CAMERA, camera, color_message, depth_message, image, info_message, seen};
use crate::write::{COLOR, DEPTH, Entry, INFO, entries, entry, mcap_file};
use image::{DynamicImage, ImageBuffer, ImageFormat};
use prehend_bags::{BagError, ChooseError, Options, Recording, TopicNames};
use prehend_msgs::sensor_msgs::msg::CompressedImage;
use prehend_recording::RecordedFrame;
use std::io::Cursor;

/// The one frame of a bag with these pictures.
fn frame(color: Entry, depth: Entry) -> RecordedFrame {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("one.mcap");
    mcap_file(&path, &[entry(INFO, BEGIN, &info_message(BEGIN)), color, depth]);
    frames_of(&path, &Options::default()).unwrap().remove(0)
}

fn color_as(encoding: &str, of: impl Fn([u8; 3]) -> Vec<u8>, filled: usize) -> Entry {
    let (pixels, _) = seen(&camera(0.1));
    let bytes: Vec<u8> = pixels.iter().flat_map(|pixel| of(*pixel)).collect();
    let pixel = bytes.len() / pixels.len();
    entry(COLOR, BEGIN, &image(encoding, pixel, BEGIN, &bytes, filled))
}

fn plain() -> [Entry; 2] {
    let (pixels, millimetres) = seen(&camera(0.1));
    [
        entry(COLOR, BEGIN, &color_message(&pixels, BEGIN)),
        entry(DEPTH, BEGIN, &depth_message(&millimetres, BEGIN)),
    ]
}

#[test]
fn every_colour_encoding_gives_the_same_picture() {
    let [color, depth] = plain();
    let expected = frame(color, depth.clone());
    assert_eq!(expected.color.pixels, seen(&camera(0.1)).0);
    for other in [
        color_as("bgr8", |[r, g, b]| vec![b, g, r], 0),
        color_as("rgba8", |[r, g, b]| vec![r, g, b, 7], 0),
        color_as("bgra8", |[r, g, b]| vec![b, g, r, 7], 0),
        color_as("rgb8", |pixel| pixel.to_vec(), 64),
        compressed(ImageFormat::Png, "rgb8; png compressed bgr8"),
    ] {
        assert_eq!(frame(other, depth.clone()), expected);
    }
    let grey = frame(color_as("mono8", |[r, ..]| vec![r], 0), depth.clone());
    assert!(grey.color.pixels.iter().zip(&expected.color.pixels).all(|(g, c)| *g == [c[0]; 3]));
    let jpeg = frame(compressed(ImageFormat::Jpeg, "rgb8; jpeg compressed bgr8"), depth);
    let pairs = || jpeg.color.pixels.as_flattened().iter().zip(expected.color.pixels.as_flattened());
    let error: f64 = pairs().map(|(a, b)| f64::from(a.abs_diff(*b))).sum::<f64>() / pairs().count() as f64;
    assert!(error < 3.0, "{error}");
}

fn encoded(picture: DynamicImage, format: ImageFormat) -> Vec<u8> {
    let mut bytes = Cursor::new(Vec::new());
    picture.write_to(&mut bytes, format).unwrap();
    bytes.into_inner()
}

fn compressed(kind: ImageFormat, format: &str) -> Entry {
    let (pixels, _) = seen(&camera(0.1));
    let size = [CAMERA.width as u32, CAMERA.height as u32];
    let picture = ImageBuffer::from_raw(size[0], size[1], pixels.as_flattened().to_vec()).unwrap();
    let data = encoded(DynamicImage::ImageRgb8(picture), kind);
    let header = crate::scene::header(crate::scene::OPTICAL, BEGIN);
    let message = CompressedImage { header, format: format.to_owned(), data };
    entry(&format!("{COLOR}/compressed"), BEGIN, &message)
}

fn compressed_depth(format: &str, config: &[u8], values: Vec<u16>) -> Entry {
    let picture = ImageBuffer::from_raw(CAMERA.width as u32, CAMERA.height as u32, values).unwrap();
    let png = encoded(DynamicImage::ImageLuma16(picture), ImageFormat::Png);
    let header = crate::scene::header(crate::scene::OPTICAL, BEGIN);
    let data = [config, &png].concat();
    let message = CompressedImage { header, format: format.to_owned(), data };
    entry(&format!("{DEPTH}/compressedDepth"), BEGIN, &message)
}

#[test]
fn every_depth_encoding_gives_the_same_depths() {
    let [color, depth] = plain();
    let expected = frame(color.clone(), depth);
    let (_, millimetres) = seen(&camera(0.1));
    assert_eq!(expected.depth.millimetres, millimetres);
    let metres = |value: u16| if value == 0 { f32::NAN } else { f32::from(value) * 1e-3 };
    let floats: Vec<u8> = millimetres.iter().flat_map(|value| metres(*value).to_le_bytes()).collect();
    let big: Vec<u8> = millimetres.iter().flat_map(|value| value.to_be_bytes()).collect();
    let mut big = image("16UC1", 2, BEGIN, &big, 6);
    big.is_bigendian = 1;
    for other in [
        entry(DEPTH, BEGIN, &image("32FC1", 4, BEGIN, &floats, 0)),
        entry(DEPTH, BEGIN, &big),
        compressed_depth("16UC1; compressedDepth png", &[0; 12], millimetres.clone()),
        compressed_depth("16UC1; png compressed ", &[], millimetres.clone()),
    ] {
        assert_eq!(frame(color.clone(), other), expected);
    }
    // Metres as steps of their inverse: 0.55 m to 0.8 m within half a millimetre.
    let (a, b) = (20_000.0_f32, 3.0_f32);
    let step = |value: &u16| if *value == 0 { 0 } else { (a / metres(*value) + b).round() as u16 };
    let config = [[0; 4], a.to_le_bytes(), b.to_le_bytes()].concat();
    let quantised = millimetres.iter().map(step).collect();
    let other = frame(color, compressed_depth("32FC1; compressedDepth png", &config, quantised));
    let worst = other.depth.millimetres.iter().zip(&millimetres).map(|(a, b)| a.abs_diff(*b)).max();
    assert!(worst <= Some(1), "{worst:?}");
}

/// The topics that are chosen when `more` is in the bag, too.
fn chosen(more: &[Entry], names: TopicNames) -> Result<[String; 3], BagError> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("many.mcap");
    let all = [entries(&[0.1], false), more.to_vec()].concat();
    mcap_file(&path, &all);
    let options = Options { topics: names, ..Options::default() };
    Ok(Recording::scan(&path, &options)?.summary().topics.clone())
}

#[test]
fn the_camera_is_found_among_other_topics() {
    let mut rival = plain()[0].clone();
    let mut unaligned = depth_message(&seen(&camera(0.1)).1, BEGIN);
    unaligned.header.frame_id = "camera_depth_optical_frame".to_owned();
    let depth_elsewhere =
        Entry { topic: "/camera/depth/image_rect_raw".to_owned(), ..entry("", BEGIN, &unaligned) };
    let infrared =
        Entry { topic: "/camera/infra1/image_raw".to_owned(), ..color_as("mono8", |p| vec![p[0]], 0) };
    let mut info = entry("/camera/depth/camera_info", BEGIN, &info_message(BEGIN));
    info.logged += 1;
    let more = [depth_elsewhere, infrared, info, compressed(ImageFormat::Png, "rgb8; png")];
    assert_eq!(chosen(&more, TopicNames::default()).unwrap(), [COLOR, DEPTH, INFO]);

    rival.topic = "/other/image_raw".to_owned();
    let error = chosen(&[rival.clone()], TopicNames::default()).unwrap_err();
    let text = error.to_string();
    assert!(matches!(error, BagError::Choose { error: ChooseError::Ambiguous { .. }, .. }), "{text}");
    assert!(
        text.contains("/camera/color/image_raw or /other/image_raw; say which with --color-topic"),
        "{text}"
    );
    let names = TopicNames { color: Some("/other/image_raw".to_owned()), ..TopicNames::default() };
    assert_eq!(chosen(&[rival], names).unwrap(), ["/other/image_raw", DEPTH, INFO]);
}

#[test]
fn pictures_of_no_known_encoding_are_no_camera() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("one.mcap");
    let color = color_as("yuv422", |[r, g, _]| vec![r, g], 0);
    mcap_file(&path, &[entry(INFO, BEGIN, &info_message(BEGIN)), color, plain()[1].clone()]);
    let error = frames_of(&path, &Options::default()).unwrap_err();
    assert!(matches!(&error, BagError::Choose { error: ChooseError::None { .. }, .. }), "{error}");
    let topics = TopicNames { color: Some(COLOR.to_owned()), ..TopicNames::default() };
    let error = frames_of(&path, &Options { topics, ..Options::default() }).unwrap_err();
    assert!(error.to_string().contains("encoded as `yuv422`; expected rgb8"), "{error}");
}

#[test]
fn a_wrong_name_tells_what_is_there() {
    for option in ["--color-topic", "--depth-topic", "--info-topic"] {
        let mut names = TopicNames::default();
        let name = Some("/nowhere".to_owned());
        match option {
            "--color-topic" => names.color = name,
            "--depth-topic" => names.depth = name,
            _ => names.info = name,
        }
        let text = chosen(&[], names).unwrap_err().to_string();
        assert!(text.contains(&format!("{option} /nowhere")), "{text}");
        assert!(text.contains(&format!("{DEPTH} (sensor_msgs/msg/Image)")), "{text}");
    }
}
