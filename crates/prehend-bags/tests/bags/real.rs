//! The real frames, when they are there, through a bag.

use crate::maps::map_of;
use crate::scene::{BEGIN, header};
use crate::write::{COLOR, DEPTH, Entry, INFO, entry, mcap_file};
use prehend_msgs::sensor_msgs::msg::{CameraInfo, Image};
use prehend_recording::{RecordedFrame, find_frames, read_labels};
use prehend_testing::{Needs, skipped};
use std::path::{Path, PathBuf};

fn data() -> Option<PathBuf> {
    let named = std::env::var_os("PREHEND_SHARED_DATA").map(PathBuf::from);
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    named.into_iter().chain([beside]).map(|d| d.join("rgbd_tabletop")).find(|d| d.is_dir())
}

fn messages(frame: &RecordedFrame, stamp: i64) -> [Entry; 3] {
    let i = frame.intrinsics;
    let image = |encoding: &str, pixel: usize, data: Vec<u8>| Image {
        header: header("camera", stamp),
        height: i.height as u32,
        width: i.width as u32,
        encoding: encoding.to_owned(),
        step: (i.width * pixel) as u32,
        data,
        ..Default::default()
    };
    let depth = frame.depth.millimetres.iter().flat_map(|value| value.to_le_bytes()).collect();
    let info = CameraInfo {
        header: header("camera", stamp),
        height: i.height as u32,
        width: i.width as u32,
        k: vec![i.fx, 0.0, i.cx, 0.0, i.fy, i.cy, 0.0, 0.0, 1.0],
        ..Default::default()
    };
    [
        entry(INFO, stamp, &info),
        entry(COLOR, stamp, &image("rgb8", 3, frame.color.pixels.as_flattened().to_vec())),
        entry(DEPTH, stamp, &image("16UC1", 2, depth)),
    ]
}

#[test]
fn the_front_object_of_each_real_frame_is_the_one_that_is_labelled() {
    let Some(data) = data() else {
        skipped(Needs::Shared, "no rgbd_tabletop; set PREHEND_SHARED_DATA to the folder that holds it");
        return;
    };
    let files = find_frames(&data).unwrap();
    let stamps = (0..).map(|number| BEGIN + number * 1_000_000_000);
    let all: Vec<Entry> =
        files.iter().zip(stamps).flat_map(|(files, stamp)| messages(&files.read().unwrap(), stamp)).collect();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("real.mcap");
    mcap_file(&path, &all);
    let saved = map_of(&path).unwrap();
    assert_eq!(saved.scenes.len(), files.len());
    for (files, scene) in files.iter().zip(&saved.scenes) {
        let labels = read_labels(files.color.parent().unwrap()).unwrap();
        assert_eq!(scene.map.objects.len(), 1, "{}", files.name);
        let iou = scene.map.objects[0].crops[0].mask.iou(&labels[0].mask);
        eprintln!("{}: IoU {iou:.3}", files.name);
        assert!(iou > 0.95, "{}: {iou}", files.name);
    }
}
