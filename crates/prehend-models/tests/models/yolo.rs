//! YOLO on networks with its inputs and outputs whose answers are known: every number of a box depends on the letterbox, the
//! scale of the pixels and the order of the channels.

use crate::cells;
use crate::support::{self, onnx::Axis::Free, onnx::Axis::Is, onnx::Graph, onnx::Kind};
use prehend_geometry::{ColorImage, PixelBox};
use prehend_models::detector::{DetectorSettings, InputSize, Yolo};
use prehend_models::{ModelError, Session};
use prehend_perception::{Detector, InferenceError, Instance};
use std::path::Path;
use tempfile::TempDir;

const SETTINGS: DetectorSettings = DetectorSettings { score: 0.4, iou: 0.7 };
const SIZE: InputSize = InputSize { width: 64, height: 64 };

fn open(graph: Graph, folder: &Path, size: Option<InputSize>) -> Result<Yolo, ModelError> {
    let runtime = support::runtime().expect("the caller has looked");
    let (model, classes) = (folder.join("yolo.onnx"), folder.join("classes.txt"));
    graph.write(&model);
    std::fs::write(&classes, cells::CLASSES).expect("the classes");
    Yolo::new(Session::load(&runtime, "yolo", &model)?, &classes, size, SETTINGS)
}

/// 320 x 240, black, with a red and a blue square; each fills a cell of 8 x 8 of the frame of 64 x 64.
fn squares() -> ColorImage {
    let mut image = ColorImage::filled(320, 240, [0; 3]);
    support::paint(&mut image, [80, 80, 120, 120], [255, 0, 0]);
    support::paint(&mut image, [240, 160, 280, 200], [0, 0, 204]);
    image
}

fn check(found: &[Instance], expected: &[(&str, f64, [f64; 4])]) {
    assert_eq!(found.len(), expected.len(), "{found:?}");
    for (found, (name, score, [left, top, right, bottom])) in found.iter().zip(expected) {
        let bounds = PixelBox { left: *left, top: *top, right: *right, bottom: *bottom };
        assert_eq!(found.class_name, *name);
        assert!((found.score - score).abs() < 1e-3, "{found:?}");
        assert!(found.bounds.iou(&bounds) > 0.999, "{found:?} instead of {bounds:?}");
    }
}

const OF_SQUARES: [(&str, f64, [f64; 4]); 2] =
    [("first", 1.0, [80.0, 80.0, 120.0, 120.0]), ("third", 0.8, [240.0, 160.0, 280.0, 200.0])];

#[test]
fn boxes_come_back_to_the_pixels_they_came_from() {
    if support::runtime().is_none() {
        return;
    }
    let folder = TempDir::new().expect("a folder");
    let yolo = open(cells::yolo(Free("batch"), 8, 8, 8), folder.path(), Some(SIZE)).expect("a model");
    let found = yolo.detect(&[&squares()]).expect("an answer");
    check(&found[0], &OF_SQUARES);
}

#[test]
fn pictures_of_several_sizes_are_one_batch() {
    if support::runtime().is_none() {
        return;
    }
    let folder = TempDir::new().expect("a folder");
    // Twice as high as wide: 16 columns of the frame are grey on either side. The green square is the cell in row 2, column 3.
    let mut high = ColorImage::filled(32, 64, [0; 3]);
    support::paint(&mut high, [8, 16, 16, 24], [0, 255, 0]);
    let black = ColorImage::filled(10, 10, [0; 3]);
    let pictures = [&high, &squares(), &black];
    // A batch as long as it needs to be; the same with batches of 2, the last of which is filled up; one by one.
    for batch in [Free("batch"), Is(2), Is(1)] {
        let yolo = open(cells::yolo(batch, 8, 8, 8), folder.path(), Some(SIZE)).expect("a model");
        let found = yolo.detect(&pictures).expect("an answer");
        assert_eq!(found.len(), 3);
        check(&found[0], &[("second", 1.0, [8.0, 16.0, 16.0, 24.0])]);
        check(&found[1], &OF_SQUARES);
        check(&found[2], &[]);
        assert_eq!(yolo.detect(&[]), Ok(Vec::new()));
    }
}

#[test]
fn pictures_that_are_none_are_refused() {
    if support::runtime().is_none() {
        return;
    }
    let folder = TempDir::new().expect("a folder");
    let yolo = open(cells::yolo(Free("batch"), 8, 8, 8), folder.path(), Some(SIZE)).expect("a model");
    let cut = ColorImage { width: 4, height: 4, pixels: vec![[0; 3]; 15] };
    for image in [ColorImage::default(), cut] {
        let refused = yolo.detect(&[&squares(), &image]);
        assert!(matches!(refused, Err(InferenceError::Image { .. })), "{refused:?}");
    }
}

#[test]
fn other_networks_are_refused_with_what_was_expected() {
    let Some(_) = support::runtime() else { return };
    let folder = TempDir::new().expect("a folder");
    let refused = |graph: Graph, size: Option<InputSize>, words: &[&str]| {
        let error = open(graph, folder.path(), size).expect_err("another network").to_string();
        for word in words {
            assert!(error.contains(word), "{word} is missing in: {error}");
        }
    };
    let picture = || cells::pictures(Is(1), Is(64), Is(64));
    let answer = |kind, channels, anchors| {
        Graph::default().input("images", Kind::Float, &picture()).output(
            "output0",
            kind,
            &[Is(1), Is(channels), Is(anchors)],
        )
    };
    let mean = |graph: Graph| graph.node("ReduceMean", &["images"], &["mean"], &[]);
    let zeros = |graph: Graph, channels: usize, anchors: usize| {
        let constant = vec![0.0; channels * anchors];
        mean(graph)
            .floats("zeros", &[1, channels, anchors], &constant)
            .ints("one", &[1, 1, 1])
            .node("Reshape", &["mean", "one"], &["scalar"], &[])
            .node("Add", &["zeros", "scalar"], &["output0"], &[])
    };
    // Three classes and 32 coefficients of masks: a segmentation network.
    refused(
        zeros(answer(Kind::Float, 39, 64), 39, 64),
        None,
        &["expected exactly one float32 [batch, 7, anchors]", "found `output0` float32 [1, 39, 64]"],
    );
    // Half precision.
    let half = Graph::default()
        .input("images", Kind::Float16, &picture())
        .output("output0", Kind::Float16, &[Is(1), Is(3), Is(64), Is(64)])
        .node("Identity", &["images"], &["output0"], &[]);
    refused(
        half,
        None,
        &["expected exactly one float32 [batch, 3, height, width]", "found `images` float16 [1, 3, 64, 64]"],
    );
    // Boxes after suppression inside the network.
    refused(zeros(answer(Kind::Float, 300, 6), 300, 6), None, &["found `output0` float32 [1, 300, 6]"]);
    // The right network, but asked for pictures of another size.
    refused(
        zeros(answer(Kind::Float, 7, 64), 7, 64),
        Some(InputSize { width: 320, height: 320 }),
        &["input_size is 320 x 320, but the model takes 64 x 64 only"],
    );
}
