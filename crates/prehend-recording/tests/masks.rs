//! Masks from a segmenter in the map: what is drawn becomes an object of its name, however many masks there are.

#![expect(clippy::unwrap_used, reason = "a test may fail")]

use nalgebra::{Isometry3, Vector3};
use prehend_geometry::{ColorImage, DepthImage, Intrinsics};
use prehend_perception::{Detection, LabelImage, MapSettings};
use prehend_recording::{Instances, RecordedFrame, build, find_frames, read_labels};

const WIDTH: usize = 640;
const HEIGHT: usize = 480;

/// A box of 8 x 8 cm and 5 cm height on a table, from right above at 0.6 m; its mask has the label 40000.
fn frame() -> RecordedFrame {
    let intrinsics = Intrinsics { fx: 600.0, fy: 600.0, cx: 319.5, cy: 239.5, width: WIDTH, height: HEIGHT };
    let mut color = ColorImage::filled(WIDTH, HEIGHT, [170, 140, 100]);
    let mut millimetres = vec![600_u16; WIDTH * HEIGHT];
    let mut labels = vec![0_u16; WIDTH * HEIGHT];
    for v in 196..284 {
        for u in 276..364 {
            let index = v * WIDTH + u;
            (color.pixels[index], millimetres[index], labels[index]) = ([30, 60, 200], 550, 40_000);
        }
    }
    let down = Isometry3::new(Vector3::new(0.0, 0.0, 0.6), Vector3::x() * std::f64::consts::PI);
    RecordedFrame {
        name: "above".to_owned(),
        color,
        depth: DepthImage { width: WIDTH, height: HEIGHT, millimetres },
        intrinsics,
        map_from_camera: Some(down),
        instances: Some(Instances {
            labels: LabelImage { width: WIDTH, height: HEIGHT, labels },
            detections: vec![Detection { label: 40_000, class_name: "tea box".to_owned(), score: 0.9 }],
            features: Vec::new(),
        }),
    }
}

/// Keys and the number of objects of the map of one frame that went through a folder.
fn keys(frame: &RecordedFrame) -> Vec<String> {
    let folder = tempfile::tempdir().unwrap();
    frame.write(&folder.path().join("above")).unwrap();
    let frames = find_frames(folder.path()).unwrap();
    let (saved, _) = build(&frames, MapSettings::recorded(), 1).unwrap();
    saved.scenes[0].map.objects.iter().map(|object| object.key.0.clone()).collect()
}

#[test]
fn a_mask_names_its_object() {
    assert_eq!(keys(&frame()), ["tea_box_0"]);
}

#[test]
fn masks_of_a_segmenter_are_no_labels() {
    let folder = tempfile::tempdir().unwrap();
    frame().write(folder.path()).unwrap();
    assert_eq!(read_labels(folder.path()).unwrap(), []);
    std::fs::remove_file(folder.path().join("instances.json")).unwrap();
    assert_eq!(read_labels(folder.path()).unwrap()[0].mask.area(), 88 * 88);
}

#[test]
fn empty_masks_and_ten_thousand_masks_change_nothing() {
    let mut frame = frame();
    let instances = frame.instances.as_mut().unwrap();
    let mut table = (0..instances.labels.labels.len()).filter(|index| index % 640 < 200 || index % 640 > 440);
    for label in 1..=10_000 {
        instances.detections.push(Detection { label, class_name: format!("speck {label}"), score: 0.3 });
        // Every second mask is empty, the others have a few pixels of the bare table.
        for index in table.by_ref().take(usize::from(label % 2) * 30) {
            instances.labels.labels[index] = label;
        }
    }
    assert_eq!(keys(&frame), ["tea_box_0"]);
}
