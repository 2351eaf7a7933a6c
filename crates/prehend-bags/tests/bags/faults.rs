//! One thing of a good bag is broken, and the error must name exactly that.

use crate::maps::frames_of;
use crate::scene::{
    BEGIN, OPTICAL, camera, color_message, depth_message, image, info_message, seen, transform,
};
use crate::write::{COLOR, DEPTH, Entry, INFO, entries, entry, mcap_file, metadata, mount, static_entry};
use nalgebra::Isometry3;
use prehend_bags::{BagError, ContainerError, FrameFault, Options, Place, Recording};
use prehend_msgs::sensor_msgs::msg::{CameraInfo, Image};
use prehend_msgs::tf2_msgs::msg::TFMessage;
use prehend_recording::DepthError;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// A good bag of three frames.
fn bag() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("walk.mcap");
    mcap_file(&path, &entries(&[0.1, 0.0, -0.1], true));
    (folder, path)
}

fn fails(path: &Path) -> BagError {
    frames_of(path, &Options::default()).expect_err("it is broken")
}

/// The error of a bag with these messages.
fn fails_with(entries: &[Entry]) -> BagError {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("walk.mcap");
    mcap_file(&path, entries);
    fails(&path)
}

/// The error of a frame whose messages are changed.
fn fault(change: impl Fn(&mut Image, &mut Image, &mut CameraInfo)) -> FrameFault {
    let (pixels, millimetres) = seen(&camera(0.1));
    let mut color = color_message(&pixels, BEGIN);
    let mut depth = depth_message(&millimetres, BEGIN);
    let mut info = info_message(BEGIN);
    change(&mut color, &mut depth, &mut info);
    let all = [entry(COLOR, BEGIN, &color), entry(DEPTH, BEGIN, &depth), entry(INFO, BEGIN, &info)];
    match fails_with(&all) {
        BagError::Frame { fault, frame, .. } => {
            assert_eq!(frame, "1700000000.000000000");
            fault
        }
        other => panic!("{other}"),
    }
}

#[test]
fn a_truncated_mcap_file_says_where_it_ends_and_its_beginning_is_used_when_asked() {
    let (_folder, path) = bag();
    let bytes = std::fs::read(&path).unwrap();
    let cut = bytes.len() * 3 / 4;
    std::fs::write(&path, &bytes[..cut]).unwrap();
    let error = fails(&path);
    let BagError::Container(ContainerError::Truncated { end, .. }) = &error else { panic!("{error}") };
    assert_eq!(*end, Place::Byte(cut as u64));
    assert!(error.to_string().contains("--partial"), "{error}");
    let partial = Options { partial: true, ..Options::default() };
    let frames = frames_of(&path, &partial).unwrap();
    assert!((1..3).contains(&frames.len()), "{}", frames.len());
    let recording = Recording::scan(&path, &partial).unwrap();
    assert!(recording.summary().remarks[0].contains(&format!("byte {cut}")), "{:?}", recording.summary());
    // Every length is refused, and none is a panic.
    for cut in (0..bytes.len()).step_by(bytes.len() / 60) {
        std::fs::write(&path, &bytes[..cut]).unwrap();
        assert!(matches!(fails(&path), BagError::Container(ContainerError::Truncated { .. })), "{cut}");
        let _ = frames_of(&path, &partial);
    }
}

#[test]
fn a_corrupt_mcap_file_is_an_error_and_never_another_picture() {
    let (_folder, path) = bag();
    let good = frames_of(&path, &Options::default()).unwrap();
    let bytes = std::fs::read(&path).unwrap();
    let mut refused = 0;
    for at in (0..bytes.len()).step_by(bytes.len() / 97) {
        let mut spoilt = bytes.clone();
        spoilt[at] ^= 0xa5;
        std::fs::write(&path, &spoilt).unwrap();
        match frames_of(&path, &Options::default()) {
            // What the summary at the end says is not needed.
            Ok(frames) => assert_eq!(frames, good, "byte {at}"),
            Err(error) => {
                refused += 1;
                assert!(matches!(error, BagError::Container(_)), "byte {at}: {error}");
            }
        }
    }
    assert!(refused > 80, "{refused}");
    let mut spoilt = bytes.clone();
    spoilt[bytes.len() / 2] ^= 1;
    std::fs::write(&path, &spoilt).unwrap();
    let error = fails(&path);
    assert!(matches!(&error, BagError::Container(ContainerError::Damaged { .. })), "{error}");
    assert!(error.to_string().contains("the checksum of a chunk does not fit"), "{error}");
}

#[cfg(feature = "sqlite")]
#[test]
fn a_truncated_or_corrupt_sqlite_file_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("walk.db3");
    crate::write::sqlite_file(&path, &entries(&[0.1, 0.0], true));
    let bytes = std::fs::read(&path).unwrap();
    let cut = bytes.len() / 2;
    for (length, end) in [(cut, cut), (50, 50), (0, 0)] {
        std::fs::write(&path, &bytes[..length]).unwrap();
        let error = fails(&path);
        let end_is = Place::Byte(end as u64);
        let is_cut =
            matches!(&error, BagError::Container(ContainerError::Truncated { end, .. }) if *end == end_is);
        assert!(is_cut, "{error}");
    }
    let mut spoilt = bytes.clone();
    spoilt[cut..cut + 4096 * 40].fill(0xff);
    std::fs::write(&path, &spoilt).unwrap();
    let error = fails(&path);
    assert!(
        matches!(&error, BagError::Container(ContainerError::Damaged { place: Place::Row(_), .. })),
        "{error}"
    );
    std::fs::write(&path, [b"SQLite format 2\0".as_slice(), &bytes[16..]].concat()).unwrap();
    assert!(fails(&path).to_string().contains("does not begin as an SQLite file"));
}

#[test]
fn a_message_that_is_not_of_its_type_says_at_which_byte() {
    let mut all = entries(&[0.1], false);
    all[1].data.truncate(40);
    let error = fails_with(&all);
    let text = error.to_string();
    assert!(
        matches!(error, BagError::Container(ContainerError::Damaged { place: Place::Byte(1..), .. })),
        "{text}"
    );
    assert!(text.contains("a message of /camera/color/image_raw is no sensor_msgs/msg/Image"), "{text}");
}

#[test]
fn what_is_no_bag_says_what_is_expected() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("empty.mcap");
    std::fs::write(&path, b"").unwrap();
    assert!(matches!(fails(&path), BagError::Container(ContainerError::Truncated { .. })));
    std::fs::write(&path, b"not a bag at all").unwrap();
    assert!(fails(&path).to_string().contains("does not begin as an MCAP file"));
    mcap_file(&path, &[]);
    assert!(matches!(fails(&path), BagError::Empty { .. }));
    let missing = folder.path().join("missing.mcap");
    assert!(matches!(fails(&missing), BagError::Container(ContainerError::Read { .. })));
    metadata(folder.path(), "mcap", &["missing.mcap"]);
    assert!(matches!(fails(folder.path()), BagError::Container(ContainerError::Read { .. })));
    metadata(folder.path(), "mcap", &["walk.mcap.zstd"]);
    assert!(fails(folder.path()).to_string().contains("zstd -d"));
    std::fs::write(folder.path().join("metadata.yaml"), "a: [1").unwrap();
    assert!(matches!(fails(folder.path()), BagError::Container(ContainerError::Metadata { .. })));
}

#[test]
fn pictures_that_do_not_fit_are_refused() {
    assert!(matches!(fault(|_, d, _| d.is_bigendian = 7), FrameFault::ByteOrder { found: 7, .. }));
    assert!(matches!(fault(|c, _, _| c.step = 900), FrameFault::Step { expected: 960, found: 900, .. }));
    let short = fault(|c, _, _| c.data.truncate(1000));
    assert!(matches!(short, FrameFault::Length { expected: 230_400, found: 1000, .. }), "{short}");
    let huge = fault(|c, _, _| (c.width, c.height) = (u32::MAX, u32::MAX));
    assert!(matches!(huge, FrameFault::Pixels { .. }), "{huge}");
    let sizes = fault(|_, d, _| (d.width, d.height, d.step) = (160, 480, 320));
    assert!(matches!(sizes, FrameFault::Sizes { depth: [160, 480], .. }), "{sizes}");
    let zero = fault(|_, _, info| info.k = vec![0.0; 9]);
    assert!(matches!(zero, FrameFault::Intrinsics(_)), "{zero}");
    let lens = fault(|_, _, info| (info.distortion_model, info.d) = ("equidistant".to_owned(), vec![0.1; 4]));
    assert!(matches!(lens, FrameFault::Lens { .. }), "{lens}");
    let nothing = fault(|_, d, _| d.data.fill(0));
    assert!(matches!(nothing, FrameFault::Depth(DepthError::Nothing)), "{nothing}");
}

#[test]
fn depth_in_the_wrong_unit_is_refused() {
    let metres = fault(|_, d, _| d.data.chunks_exact_mut(2).for_each(|v| v.copy_from_slice(&[1, 0])));
    assert!(matches!(metres, FrameFault::Depth(DepthError::Unit { .. })), "{metres}");
    let millimetres = fault(|_, d, _| {
        let (_, values) = seen(&camera(0.1));
        let bytes: Vec<u8> = values.iter().flat_map(|value| f32::from(*value).to_le_bytes()).collect();
        *d = image("32FC1", 4, BEGIN, &bytes, 0);
    });
    assert!(millimetres.to_string().contains("in metres as 32FC1"), "{millimetres}");
}

#[test]
fn pictures_that_were_not_taken_together_are_no_frame() {
    let mut all = entries(&[0.1], false);
    let (_, millimetres) = seen(&camera(0.1));
    all[2] = entry(DEPTH, BEGIN, &depth_message(&millimetres, BEGIN + 500_000_000));
    let error = fails_with(&all);
    assert!(matches!(&error, BagError::NoPairs { nearest, .. } if (*nearest - 0.5).abs() < 1e-6), "{error}");
    assert!(error.to_string().contains("--tolerance"), "{error}");
}

#[test]
fn transforms_that_lead_nowhere_name_the_frames() {
    let (_folder, path) = bag();
    let options = Options { map_frame: Some("kitchen".to_owned()), ..Options::default() };
    let error = frames_of(&path, &options).unwrap_err();
    assert!(matches!(&error, BagError::NoChain { map, camera, .. } if map == "kitchen" && camera == OPTICAL));
    assert!(error.to_string().contains("tf knows camera_color_optical_frame, camera_link, map"), "{error}");

    let island = transform("map", "elsewhere", BEGIN, &Isometry3::identity());
    let mut all = entries(&[0.1], false);
    all.push(entry("/tf", BEGIN, &TFMessage { transforms: vec![island] }));
    assert!(matches!(fails_with(&all), BagError::NoChain { .. }));
}

#[test]
fn a_pose_that_is_none_is_refused() {
    for spoil in [
        |t: &mut prehend_msgs::geometry_msgs::msg::Transform| t.translation.x = f64::NAN,
        |t: &mut prehend_msgs::geometry_msgs::msg::Transform| t.rotation.w += 0.5,
    ] {
        let mut all = entries(&[0.1], false);
        let mut bad = transform("map", "camera_link", BEGIN, &mount());
        spoil(&mut bad.transform);
        all.extend([static_entry(), entry("/tf", BEGIN, &TFMessage { transforms: vec![bad] })]);
        let error = fails_with(&all);
        assert!(matches!(error, BagError::Transform(_)), "{error}");
        assert!(error.to_string().contains("from `camera_link` to `map`"), "{error}");
    }
}

#[test]
fn transforms_of_another_time_give_no_poses() {
    let mut all = entries(&[0.1], false);
    all.push(static_entry());
    for time in [BEGIN + 5_000_000_000, BEGIN + 6_000_000_000] {
        all.push(crate::write::pose_entry(time, &camera(0.1)));
    }
    let error = fails_with(&all);
    assert!(matches!(error, BagError::NoPoses { pairs: 1, .. }), "{error}");
}

#[test]
fn depth_from_another_place_is_refused() {
    let mut all = entries(&[0.1], true);
    let mut depth = depth_message(&seen(&camera(0.1)).1, BEGIN);
    depth.header.frame_id = "camera_depth_optical_frame".to_owned();
    let place = all.iter().position(|entry| entry.topic == DEPTH).unwrap();
    all[place] = entry(DEPTH, BEGIN, &depth);
    let beside = Isometry3::translation(0.0, 0.015, 0.0);
    let moved = transform("camera_link", "camera_depth_optical_frame", BEGIN, &(beside * mount()));
    all.push(entry("/tf_static", BEGIN, &TFMessage { transforms: vec![moved] }));
    let error = fails_with(&all);
    assert!(
        matches!(&error, BagError::NotAligned { metres, .. } if (metres - 0.015).abs() < 1e-9),
        "{error}"
    );
}

#[test]
fn a_camera_that_only_stands_on_its_own_mount_has_no_poses() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("walk.mcap");
    let mut all = entries(&[0.1], false);
    all.push(static_entry());
    mcap_file(&path, &all);
    let recording = Recording::scan(&path, &Options::default()).unwrap();
    assert_eq!(recording.summary().map_frame, None);
    assert!(recording.summary().remarks[0].contains("--map-frame camera_link"), "{:?}", recording.summary());
    let options = Options { map_frame: Some("camera_link".to_owned()), ..Options::default() };
    assert!(frames_of(&path, &options).unwrap()[0].map_from_camera.is_some());
}
