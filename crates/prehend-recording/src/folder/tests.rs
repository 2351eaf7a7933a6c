use super::*;
use image::{ImageBuffer, Luma, Rgb};
use std::fs;
use tempfile::TempDir;

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
