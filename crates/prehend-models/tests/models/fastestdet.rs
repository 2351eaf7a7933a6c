//! FastestDet: its real weights on real frames, where they are at hand, and a network of its shape whose answer is known.

use crate::cells;
use crate::support;
use prehend_geometry::{ColorImage, PixelBox};
use prehend_models::Session;
use prehend_models::detector::{DetectorSettings, FastestDet, fastestdet};
use prehend_perception::Detector;
use serde_json::Value;

/// Boxes and scores by another implementation (Python, with Pillow's `BOX`); see the README beside the model.
#[test]
fn boxes_of_real_frames_are_those_of_the_reference() {
    let (Some(runtime), Some(model), Some(frames)) =
        (support::runtime(), support::shared("models/fastestdet"), support::shared("data/rgbd_tabletop"))
    else {
        return;
    };
    let text = std::fs::read_to_string(model.join("expected_detections.json")).expect("the reference");
    let reference: Value = serde_json::from_str(&text).expect("JSON");
    for threshold in ["0.65", "0.35"] {
        let session = Session::load(&runtime, "fastestdet", &model.join("FastestDet.onnx")).expect("a model");
        let score = threshold.parse().expect("a number");
        let settings = DetectorSettings { score, ..fastestdet::SETTINGS };
        let detector =
            FastestDet::new(session, &model.join("coco.names"), None, settings).expect("a FastestDet");
        for (name, expected) in reference["frames"].as_object().expect("frames") {
            let image = support::picture(&frames.join(name).join("color.png"));
            let found = detector.detect(&[&image]).expect("an answer").remove(0);
            let expected = expected[threshold].as_array().expect("boxes");
            assert_eq!(found.len(), expected.len(), "{name} at {threshold}: {found:?}");
            for (found, expected) in found.iter().zip(expected) {
                assert_eq!(found.class_name, expected["label"].as_str().expect("a label"), "{name}");
                let score = expected["score"].as_f64().expect("a score");
                assert!((found.score - score).abs() < 0.002, "{name}: {found:?} instead of {score}");
                let edges = [found.bounds.left, found.bounds.top, found.bounds.right, found.bounds.bottom];
                for (place, edge) in edges.into_iter().enumerate() {
                    let expected = expected["box"][place].as_f64().expect("an edge");
                    assert!((edge - expected).abs() < 0.5, "{name}: {found:?}, edge {place} {expected}");
                }
            }
        }
    }
}

#[test]
fn pictures_go_in_squeezed_and_with_blue_first() {
    let Some(runtime) = support::runtime() else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let (model, classes) = (folder.path().join("fastestdet.onnx"), folder.path().join("classes.txt"));
    cells::fastestdet().write(&model);
    std::fs::write(&classes, cells::CLASSES).expect("the classes");
    let session = Session::load(&runtime, "fastestdet", &model).expect("a model");
    let detector = FastestDet::new(session, &classes, None, fastestdet::SETTINGS).expect("a FastestDet");
    // Twice as wide as high: a cell of the network is 32 x 16 pixels. Red, the last channel, in row 3, column 5.
    let mut image = ColorImage::filled(704, 352, [0; 3]);
    support::paint(&mut image, [160, 48, 192, 64], [204, 0, 0]);
    let found = detector.detect(&[&image, &image]).expect("an answer");
    assert_eq!((found.len(), found[0].len()), (2, 1), "{found:?}");
    assert_eq!(found[0], found[1]);
    let instance = &found[0][0];
    assert_eq!(instance.class_name, "third");
    assert!((instance.score - 0.8_f64.powf(0.4)).abs() < 1e-4, "{instance:?}");
    // tx = ty = 0 is the corner of a cell, tw = th = 0 half of the picture.
    let expected = PixelBox::around(160.0, 48.0, 352.0, 176.0);
    assert!(instance.bounds.iou(&expected) > 0.9999, "{instance:?} instead of {expected:?}");
}
