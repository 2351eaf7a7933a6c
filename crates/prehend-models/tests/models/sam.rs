//! Segment Anything on networks with its inputs and outputs whose masks are known: discs around the points, as large as the picture
//! is red. A wrong order of channels, a wrong scale of numbers or of points, or a wrong size of the mask moves or resizes them.

use crate::support::{self, onnx::Axis::Free, onnx::Axis::Is, onnx::Graph, onnx::Kind};
use prehend_geometry::{ColorImage, PixelBox};
use prehend_models::segmenter::{AutomaticSettings, Sam, SamFamily};
use prehend_models::{ModelError, Session};
use prehend_perception::traits::ScoredMask;
use prehend_perception::{InferenceError, Prompt, Segmenter};
use std::path::Path;
use tempfile::TempDir;

/// Size of the pictures: a pixel is 16 pixels of the frame.
const WIDTH: usize = 64;
const HEIGHT: usize = 48;

const FEATURES: [(&str, [u64; 4]); 3] = [
    ("image_embed", [1, 256, 64, 64]),
    ("high_res_feats_0", [1, 32, 256, 256]),
    ("high_res_feats_1", [1, 64, 128, 128]),
];

fn shaped(graph: Graph, name: &str, shape: [u64; 4], output: bool) -> Graph {
    let axes = shape.map(Is);
    if output { graph.output(name, Kind::Float, &axes) } else { graph.input(name, Kind::Float, &axes) }
}

/// Every number of every feature is the mean of the red channel of what comes in.
fn encoder(family: SamFamily) -> Graph {
    let (mut graph, features) = match family {
        SamFamily::MobileSam => {
            let graph = Graph::default()
                .input("input_image", Kind::Float, &[Free("height"), Free("width"), Is(3)])
                .node("ReduceMean", &["input_image"], &["means"], &[("axes", &[0, 1])]);
            (graph, vec![("image_embeddings", FEATURES[0].1)])
        }
        SamFamily::Sam2 => {
            let graph = Graph::default()
                .input("image", Kind::Float, &[Is(1), Is(3), Is(1024), Is(1024)])
                .node("ReduceMean", &["image"], &["means"], &[("axes", &[0, 2, 3])]);
            (graph, FEATURES.to_vec())
        }
    };
    graph = graph
        .ints("three", &[3])
        .ints("red", &[0])
        .ints("one_number", &[1, 1, 1, 1])
        .node("Reshape", &["means", "three"], &["channels"], &[])
        .node("Gather", &["channels", "red"], &["mean"], &[("axis", &[0])])
        .node("Reshape", &["mean", "one_number"], &["number"], &[]);
    for (name, shape) in features {
        let constant = format!("{name}_shape");
        graph = shaped(graph, name, shape, true).ints(&constant, &shape.map(|length| length as i64)).node(
            "Expand",
            &["number", &constant],
            &[name],
            &[],
        );
    }
    graph
}

/// Two masks for each prompt: the disc around the sum of its points, each as often as its label says, and a disc of half that radius;
/// the model says 0.9 and 0.6 of them. The radius in pixels of the frame is `unit` times the features.
fn decoder(family: SamFamily, unit: f32) -> Graph {
    let (prompts, columns, rows) = match family {
        SamFamily::MobileSam => (Is(1), WIDTH, HEIGHT),
        SamFamily::Sam2 => (Free("prompts"), 256, 256),
    };
    let free = || match family {
        SamFamily::MobileSam => Is(1),
        SamFamily::Sam2 => Free("prompts"),
    };
    let side = 1024 / columns;
    let place = |index: usize| (index as f32 + 0.5) * side as f32;
    let x: Vec<f32> = (0..rows * columns).map(|cell| place(cell % columns)).collect();
    let y: Vec<f32> = (0..rows * columns).map(|cell| place(cell / columns)).collect();
    let plane = [1, 1, rows, columns];
    let mut graph = Graph::default();
    let features: Vec<(&str, [u64; 4])> = match family {
        SamFamily::MobileSam => vec![("image_embeddings", FEATURES[0].1)],
        SamFamily::Sam2 => FEATURES.to_vec(),
    };
    for (name, shape) in &features {
        let mean = format!("{name}_mean");
        graph = shaped(graph, name, *shape, false).node("ReduceMean", &[name], &[&mean], &[]);
    }
    let means: Vec<String> = features.iter().map(|(name, _)| format!("{name}_mean")).collect();
    let means: Vec<&str> = means.iter().map(String::as_str).collect();
    graph = graph
        .input("point_coords", Kind::Float, &[prompts, Free("points"), Is(2)])
        .input("point_labels", Kind::Float, &[free(), Free("points")])
        .input("mask_input", Kind::Float, &[free(), Is(1), Is(256), Is(256)])
        .input("has_mask_input", Kind::Float, &[Is(1)])
        .output("masks", Kind::Float, &[free(), Free("masks"), Free("rows"), Free("columns")])
        .output("iou_predictions", Kind::Float, &[free(), Free("masks")])
        .floats("x", &plane, &x)
        .floats("y", &plane, &y)
        .floats("unit", &[1], &[unit / features.len() as f32])
        .floats("quarter", &[1], &[0.25])
        .floats("zero", &[1], &[0.0])
        .floats("scores", &[1, 2], &[0.6, 0.9])
        .ints("over_points", &[1])
        .ints("behind", &[2])
        .ints("first", &[0])
        .ints("second", &[1])
        .ints("of_plane", &[-1, 1, 1, 1])
        .node("Unsqueeze", &["point_labels", "behind"], &["weights"], &[])
        .node("Mul", &["point_coords", "weights"], &["weighted"], &[])
        .node("ReduceSum", &["weighted", "over_points"], &["centre"], &[("keepdims", &[0])])
        .node("Gather", &["centre", "first"], &["centre_x"], &[("axis", &[1])])
        .node("Gather", &["centre", "second"], &["centre_y"], &[("axis", &[1])])
        .node("Reshape", &["centre_x", "of_plane"], &["cx"], &[])
        .node("Reshape", &["centre_y", "of_plane"], &["cy"], &[])
        .node("Sub", &["x", "cx"], &["dx"], &[])
        .node("Sub", &["y", "cy"], &["dy"], &[])
        .node("Mul", &["dx", "dx"], &["dx2"], &[])
        .node("Mul", &["dy", "dy"], &["dy2"], &[])
        .node("Add", &["dx2", "dy2"], &["distance2"], &[])
        .node("Sum", &means, &["features"], &[])
        .node("Mul", &["features", "unit"], &["radius"], &[])
        .node("Mul", &["radius", "radius"], &["radius2"], &[])
        .node("Mul", &["radius2", "quarter"], &["small2"], &[])
        .node("Sub", &["radius2", "distance2"], &["large_mask"], &[])
        .node("Sub", &["small2", "distance2"], &["small_mask"], &[])
        .node("Concat", &["small_mask", "large_mask"], &["masks"], &[("axis", &[1])])
        .node("Mul", &["centre_x", "zero"], &["nothing"], &[])
        .node("Add", &["nothing", "scores"], &["iou_predictions"], &[]);
    if family == SamFamily::MobileSam {
        graph = graph.input("orig_im_size", Kind::Float, &[Is(2)]);
    }
    graph
}

fn open(family: SamFamily, graphs: [Graph; 2], folder: &Path) -> Result<Sam, ModelError> {
    let runtime = support::runtime().expect("the caller has looked");
    let mut sessions = Vec::new();
    for (name, graph) in ["encoder", "decoder"].into_iter().zip(graphs) {
        let path = folder.join(format!("{name}.onnx"));
        graph.write(&path);
        sessions.push(Session::load(&runtime, name, &path)?);
    }
    let decoder = sessions.pop().expect("two");
    Sam::new(family, sessions.pop().expect("two"), decoder)
}

/// A model whose large discs have a radius of 8 pixels of the picture along x: 128 pixels of the frame. The picture is red enough for
/// 2 by the numbers of its encoder.
fn discs(family: SamFamily, folder: &Path) -> (Sam, ColorImage) {
    let (red, number) = match family {
        SamFamily::MobileSam => (200, 200.0),
        SamFamily::Sam2 => (200, (200.0 / 255.0 - 0.485) / 0.229),
    };
    let sam = open(family, [encoder(family), decoder(family, 128.0 / number)], folder).expect("a model");
    (sam, ColorImage::filled(WIDTH, HEIGHT, [red, 20, 90]))
}

/// Checks a disc around (x, y); rows of SAM 2's frame are 1024 / 48 instead of 16 to a pixel.
fn check(family: SamFamily, found: &ScoredMask, [x, y]: [f64; 2]) {
    let rows = match family {
        SamFamily::MobileSam => 8.0,
        SamFamily::Sam2 => 128.0 * HEIGHT as f64 / 1024.0,
    };
    let inside: Vec<usize> = (0..WIDTH * HEIGHT)
        .filter(|index| {
            let (dx, dy) = ((index % WIDTH) as f64 + 0.5 - x, (index / WIDTH) as f64 + 0.5 - y);
            (dx / 8.0).powi(2) + (dy / rows).powi(2) < 1.0
        })
        .collect();
    let expected = prehend_geometry::Mask::from_indices(WIDTH, HEIGHT, &inside);
    let iou = found.mask.iou(&expected);
    assert!(iou > 0.97, "{family:?}: IoU {iou}, {} pixels for {}", found.mask.area(), expected.area());
    assert!((found.score - 0.9).abs() < 1e-6, "{}", found.score);
}

fn on(point: [f64; 2]) -> Prompt {
    Prompt::Points { on: vec![point], off: Vec::new() }
}

#[test]
fn each_prompt_has_the_best_of_its_masks() {
    if support::runtime().is_none() {
        return;
    }
    for family in [SamFamily::MobileSam, SamFamily::Sam2] {
        let folder = TempDir::new().expect("a folder");
        let (sam, image) = discs(family, folder.path());
        // A box has its corners with the labels 2 and 3; the network adds up 2 x (0, 0) + 3 x (10, 8).
        let corner = PixelBox { left: 0.0, top: 0.0, right: 10.0, bottom: 8.0 };
        let prompts = [on([20.0, 15.0]), on([40.0, 30.0]), Prompt::Box(corner), on([20.0, 20.0])];
        let found = sam.segment(&image, &prompts).expect("an answer");
        assert_eq!(found.len(), 4);
        for (found, centre) in found.iter().zip([[20.0, 15.0], [40.0, 30.0], [30.0, 24.0], [20.0, 20.0]]) {
            check(family, found, centre);
        }
        assert_eq!(sam.segment(&image, &[]), Ok(Vec::new()));
        let outside = sam.segment(&image, &[on([64.5, 3.0])]);
        assert!(matches!(outside, Err(InferenceError::Prompt { .. })), "{outside:?}");
    }
}

#[test]
fn everything_is_found_once_from_a_grid() {
    if support::runtime().is_none() {
        return;
    }
    for family in [SamFamily::MobileSam, SamFamily::Sam2] {
        let folder = TempDir::new().expect("a folder");
        let (sam, image) = discs(family, folder.path());
        let few = AutomaticSettings { points_per_side: 2, stability: 0.5, ..AutomaticSettings::default() };
        let found = sam.all(&image, &few).expect("an answer");
        // The discs of half the radius are below the predicted IoU.
        assert_eq!(found.len(), 4, "{family:?}");
        for centre in [[16.0, 12.0], [48.0, 12.0], [16.0, 36.0], [48.0, 36.0]] {
            let same =
                found.iter().filter(|region| region.mask.contains(centre[0] as usize, centre[1] as usize));
            same.for_each(|region| check(family, region, centre));
        }
        // Twelve points along a side are 5 pixels apart: most of their discs share more than 0.3 of their boxes with another.
        let dense = AutomaticSettings { points_per_side: 12, overlap: 0.3, ..few };
        let found = sam.all(&image, &dense).expect("an answer");
        assert!((10..60).contains(&found.len()), "{family:?}: {} of 144", found.len());
        let strict = AutomaticSettings { predicted_iou: 0.95, ..few };
        assert_eq!(sam.all(&image, &strict), Ok(Vec::new()));
    }
}

#[test]
fn the_halves_of_two_families_do_not_fit() {
    if support::runtime().is_none() {
        return;
    }
    let folder = TempDir::new().expect("a folder");
    let graphs = [encoder(SamFamily::Sam2), decoder(SamFamily::MobileSam, 1.0)];
    let error = open(SamFamily::Sam2, graphs, folder.path()).expect_err("another decoder").to_string();
    for words in [
        "is not the decoder of SAM 2",
        "`high_res_feats_0`",
        "expected no other input, found `image_embeddings`",
    ] {
        assert!(error.contains(words), "{words} is missing in: {error}");
    }
}
