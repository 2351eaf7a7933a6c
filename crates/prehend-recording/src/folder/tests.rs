use super::*;
use image::{ImageBuffer, Luma, Rgb};
use std::fs;
use tempfile::TempDir;
use tiff::encoder::TiffEncoder;
use tiff::encoder::colortype::Gray32Float;

const CAMERA: &str = r#"{"fx": 50.0, "fy": 50.0, "cx": 15.5, "cy": 11.5, "width": 32, "height": 24}"#;

fn write_pictures(color: &Path, depth: &Path, millimetres: u16) {
    ImageBuffer::from_fn(32, 24, |u, _| Rgb([u as u8, 100, 50])).save(color).unwrap();
    ImageBuffer::from_fn(32, 24, |u, _| Luma([if u == 0 { 0 } else { millimetres }])).save(depth).unwrap();
}

/// A folder with one good frame.
fn frame() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    write_pictures(&folder.path().join("color.png"), &folder.path().join("depth.png"), 600);
    fs::write(folder.path().join("intrinsics.json"), CAMERA).unwrap();
    folder
}

fn read(folder: &TempDir) -> Result<RecordedFrame, FrameError> {
    find_frames(folder.path())?[0].read()
}

/// Breaks one thing of a good frame; the error's text must name it.
fn check(expected: &str, spoil: impl Fn(&Path)) {
    let folder = frame();
    spoil(folder.path());
    let error = read(&folder).expect_err(expected).to_string();
    assert!(error.contains(expected), "expected `{expected}` in: {error}");
}

#[test]
fn a_frame_is_read_as_it_was_recorded() {
    let folder = frame();
    let one = read(&folder).unwrap();
    assert_eq!((one.color.width, one.color.height, one.color.pixels[5]), (32, 24, [5, 100, 50]));
    assert_eq!((one.depth.metres(0), one.depth.metres(1)), (None, Some(0.6)));
    assert_eq!((one.intrinsics.fx, one.map_from_camera), (50.0, None));
    let keyframe = one.into_keyframe(Isometry3::identity(), 2.0);
    assert!(keyframe.validate().is_ok());
}

#[test]
fn every_layout_is_found() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    fs::write(root.join("intrinsics.json"), CAMERA).unwrap();
    for kind in ["color", "depth", "pose"] {
        fs::create_dir(root.join(kind)).unwrap();
    }
    for name in ["b", "a"] {
        let file = format!("{name}.png");
        write_pictures(&root.join("color").join(&file), &root.join("depth").join(&file), 600);
    }
    fs::write(root.join("pose/b.json"), r#"{"position": [0, 0, 1], "quaternion": [0, 0, 0, 1]}"#).unwrap();
    let frames: Vec<_> = find_frames(root).unwrap().iter().map(|files| files.read().unwrap()).collect();
    let poses: Vec<_> =
        frames.iter().map(|f| (f.name.as_str(), f.map_from_camera.map(|p| p.translation.z))).collect();
    assert_eq!(poses, [("a", None), ("b", Some(1.0))]);

    let folder = tempfile::tempdir().unwrap();
    let one = folder.path().join("one");
    fs::create_dir(&one).unwrap();
    write_pictures(&one.join("color.png"), &one.join("depth.png"), 600);
    fs::write(folder.path().join("intrinsics.json"), CAMERA).unwrap();
    assert_eq!(find_frames(folder.path()).unwrap()[0].read().unwrap().name, "one");
}

/// Writes depth as floats in place of `depth.png`.
fn write_tiff(folder: &Path, metres: f32) {
    fs::remove_file(folder.join("depth.png")).unwrap();
    let values: Vec<f32> =
        (0..32 * 24).map(|index| if index % 32 == 0 { f32::NAN } else { metres }).collect();
    let mut encoder = TiffEncoder::new(fs::File::create(folder.join("depth.tiff")).unwrap()).unwrap();
    encoder.write_image::<Gray32Float>(32, 24, &values).unwrap();
}

#[test]
fn depth_may_be_floats_in_metres() {
    let folder = frame();
    let expected = read(&folder).unwrap();
    write_tiff(folder.path(), 0.6);
    assert_eq!(read(&folder).unwrap(), expected);
    check("Floats are metres", |root| write_tiff(root, 600.0));
    check("no pixel has a depth", |root| write_tiff(root, f32::INFINITY));
    check("depth.tiff is not a whole TIFF", |root| {
        write_tiff(root, 0.6);
        let bytes = fs::read(root.join("depth.tiff")).unwrap();
        fs::write(root.join("depth.tiff"), &bytes[..bytes.len() / 2]).unwrap();
    });
}

#[test]
fn a_scale_in_the_intrinsics_is_used() {
    let folder = frame();
    let camera = CAMERA.replace('}', r#", "depth_scale_m_per_unit": 0.0002, "distortion": [0, 0.0]}"#);
    fs::write(folder.path().join("intrinsics.json"), camera).unwrap();
    assert_eq!(read(&folder).unwrap().depth.millimetres[1], 120);
}

#[test]
fn what_is_wrong_is_said() {
    let cut = |path: PathBuf| {
        let bytes = fs::read(&path).unwrap();
        fs::write(&path, &bytes[..bytes.len() / 2]).unwrap();
    };
    let spoilt = |path: PathBuf| {
        let mut bytes = fs::read(&path).unwrap();
        let middle = bytes.len() / 2;
        bytes[middle..].iter_mut().for_each(|byte| *byte ^= 0x5a);
        fs::write(&path, bytes).unwrap();
    };
    let camera = |from: &str, to: &str| {
        let text = CAMERA.replace(from, to);
        move |root: &Path| fs::write(root.join("intrinsics.json"), &text).unwrap()
    };
    let depth = |value: u16| {
        move |root: &Path| write_pictures(&root.join("color.png"), &root.join("depth.png"), value)
    };
    check("color.png is not a whole PNG", |root| cut(root.join("color.png")));
    check("depth.png is not a whole PNG", |root| cut(root.join("depth.png")));
    check("depth.png is not a whole PNG", |root| spoilt(root.join("depth.png")));
    check("depth.png is missing", |root| fs::remove_file(root.join("depth.png")).unwrap());
    check("color.png is missing", |root| fs::remove_file(root.join("color.png")).unwrap());
    check("intrinsics.json", |root| fs::remove_file(root.join("intrinsics.json")).unwrap());
    check("16-bit grey is depth", |root| {
        fs::copy(root.join("depth.png"), root.join("color.png")).map(drop).unwrap();
    });
    check("expected 16-bit grey", |root| {
        fs::copy(root.join("color.png"), root.join("depth.png")).map(drop).unwrap();
    });
    check("depth 16 x 12", |root| {
        ImageBuffer::from_pixel(16, 12, Luma([600_u16])).save(root.join("depth.png")).unwrap();
    });
    check("write the camera's calibration", camera("\"fx\": 50.0", "\"fx\": 0.0"));
    check("missing field `cy`", camera("\"cy\": 11.5, ", ""));
    check(
        "intrinsics are for 640 x 480",
        camera("\"width\": 32, \"height\": 24", "\"width\": 640, \"height\": 480"),
    );
    check("undistort them", camera("}", r#", "distortion": [0.1, -0.2]}"#));
    check("depth_scale_m_per_unit is 0", camera("}", r#", "depth_scale_m_per_unit": 0.0}"#));
    check("no pixel has a depth", depth(0));
    check("not millimetres", depth(1));
    check("not millimetres", depth(40_000));
    check("4 x 4 matrix", |root| fs::write(root.join("pose.json"), "[1, 2]").unwrap());
    check("not finite", |root| fs::write(root.join("pose.json"), "[[NaN]]").unwrap());
}

#[test]
fn a_folder_without_frames_says_what_it_expects() {
    let folder = tempfile::tempdir().unwrap();
    assert!(matches!(find_frames(folder.path()), Err(FrameError::NoFrames { .. })));
    assert!(matches!(find_frames(&folder.path().join("nowhere")), Err(FrameError::Read { .. })));
}

/// Writes masks into the folder of a good frame: the left half is label 1, the right half label 2.
fn mark(root: &Path, list: &str) {
    ImageBuffer::from_fn(32, 24, |u, _| Luma([1 + (u / 16) as u16]))
        .save(root.join("instances.png"))
        .unwrap();
    fs::write(root.join("instances.json"), list).unwrap();
}

#[test]
fn masks_of_a_segmenter_become_detections() {
    let folder = frame();
    mark(folder.path(), r#"[{"label": 2, "class_name": "mug", "score": 0.8}, {"label": 1}, {"label": 9}]"#);
    let keyframe = read(&folder).unwrap().into_keyframe(Isometry3::identity(), 0.0);
    assert!(keyframe.validate().is_ok());
    assert_eq!((keyframe.labels.labels[0], keyframe.labels.labels[31]), (1, 2));
    let told: Vec<_> =
        keyframe.detections.iter().map(|d| (d.label, d.class_name.as_str(), d.score)).collect();
    assert_eq!(told, [(2, "mug", 0.8), (1, "", 1.0), (9, "", 1.0)]);
    // Without the list the picture is what people marked.
    fs::remove_file(folder.path().join("instances.json")).unwrap();
    assert_eq!(read(&folder).unwrap().instances, None);
}

#[test]
fn masks_that_cannot_be_used_are_refused() {
    check("instances.png is missing", |root| fs::write(root.join("instances.json"), "[]").unwrap());
    check("instances.png 16 x 12", |root| {
        mark(root, "[]");
        ImageBuffer::from_pixel(16, 12, Luma([1_u16])).save(root.join("instances.png")).unwrap();
    });
    check("expected 16-bit grey", |root| {
        mark(root, "[]");
        fs::copy(root.join("color.png"), root.join("instances.png")).map(drop).unwrap();
    });
    check("two instances have the label 1", |root| mark(root, r#"[{"label": 1}, {"label": 1}]"#));
    check("expected a list of", |root| mark(root, "nothing"));
}

#[test]
fn a_frame_is_read_as_it_was_written() {
    let folder = frame();
    mark(folder.path(), r#"[{"label": 2, "class_name": "mug", "feature": [0.25, 0.5]}]"#);
    let text = r#"{"position": [0.5, -1.25, 2], "quaternion": [0.5, 0.5, 0.5, 0.5]}"#;
    fs::write(folder.path().join("pose.json"), text).unwrap();
    let mut frame = read(&folder).unwrap();
    let other = tempfile::tempdir().unwrap();
    let copy = other.path().join("copy");
    frame.write(&copy).unwrap();
    frame.name = "copy".to_owned();
    assert_eq!(find_frames(other.path()).unwrap()[0].read().unwrap(), frame);
    frame.depth.width = 7;
    assert!(matches!(frame.write(&copy), Err(WriteError::Encode { .. })));
    assert!(matches!(frame.write(&copy.join("color.png")), Err(WriteError::Write { .. })));
}
