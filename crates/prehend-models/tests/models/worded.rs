//! Detectors that are told in words what to look for, on networks with their inputs and outputs whose answers are known.

use crate::cells;
use crate::support::{self, onnx::Axis::Free, onnx::Axis::Is, onnx::Graph, onnx::Kind};
use prehend_geometry::{ColorImage, PixelBox};
use prehend_models::config::ModelsConfig;
use prehend_models::sight;
use prehend_perception::{Detector, InferenceError, Instance};
use std::path::Path;
use std::sync::Arc;
use tempfile::TempDir;

/// The detector `worded` of a folder with these files and settings, looking for prompts.
fn open(folder: &Path, settings: &str, prompts: &str) -> Result<Arc<dyn Detector + Send + Sync>, String> {
    let runtime = support::runtime().expect("the caller has looked");
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data");
    for file in ["clip_tokenizer.json", "bert_tokenizer.json"] {
        std::fs::copy(data.join(file), folder.join(file)).expect("a copy");
    }
    let file = folder.join("models.yaml");
    std::fs::write(&file, format!("models:\n  worded: {settings}\n")).expect("the file");
    let config = ModelsConfig::load(&file, folder).unwrap_or_else(|findings| panic!("{findings}"));
    let entries = sight::choose(&config, &["worded".to_owned()], &[prompts.to_owned()]);
    let sight = entries.and_then(|entries| sight::open(&entries, &runtime));
    sight.map(|sight| sight.detector.expect("a detector")).map_err(|error| error.to_string())
}

fn near(found: &Instance, name: &str, score: f64, [left, top, right, bottom]: [f64; 4]) {
    let bounds = PixelBox { left, top, right, bottom };
    assert_eq!(found.class_name, name, "{found:?}");
    assert!((found.score - score).abs() < 1e-3, "{found:?} instead of {score}");
    assert!(found.bounds.iou(&bounds) > 0.999, "{found:?} instead of {bounds:?}");
}

/// A text tower of 512 features: token i of the small tokenizer adds 1 to feature i.
fn text_tower() -> Graph {
    let mut table = vec![0.0_f32; 28 * 512];
    (0..28).for_each(|token| table[token * 512 + token] = 1.0);
    let tokens = [Free("batch_size"), Free("sequence_length")];
    Graph::default()
        .input("input_ids", Kind::Int64, &tokens)
        .input("attention_mask", Kind::Int64, &tokens)
        .output("text_embeds", Kind::Float, &[Free("batch_size"), Is(512)])
        .floats("table", &[28, 512], &table)
        .ints("over_tokens", &[1])
        .ints("last", &[2])
        .node("Gather", &["table", "input_ids"], &["vectors"], &[])
        .node("Cast", &["attention_mask"], &["shares"], &[("to", &[1])])
        .node("Unsqueeze", &["shares", "last"], &["column"], &[])
        .node("Mul", &["vectors", "column"], &["counted"], &[])
        .node("ReduceSum", &["counted", "over_tokens"], &["text_embeds"], &[("keepdims", &[0])])
}

/// YOLO-World over a frame of 8 x 8 cells of 8 pixels: a cell's score for a word is how red it is times the word's feature 25 (`red`),
/// plus how blue it is times its feature 23 (`cup`). The first axis of the words is `batch`.
fn yolo_world(batch: &str, words: Option<u64>) -> Graph {
    let cells = 64;
    let mut boxes = vec![0.0_f32; 4 * cells];
    for cell in 0..cells {
        let centre = |place: usize| (place as f32 + 0.5) * 8.0;
        let values = [centre(cell % 8), centre(cell / 8), 8.0, 8.0];
        values.into_iter().enumerate().for_each(|(row, value)| boxes[row * cells + cell] = value);
    }
    // From the 512 features of a word to what it wants of red, green and blue.
    let mut wants = vec![0.0_f32; 512 * 3];
    (wants[25 * 3], wants[23 * 3 + 2]) = (1.0, 1.0);
    let words = words.map_or(Free("classes"), Is);
    let graph = Graph::default()
        .input("images", Kind::Float, &cells::pictures(Free(batch), Free("width"), Free("height")))
        .input("txt_feats", Kind::Float, &[Free(batch), words, Is(512)])
        .output("output0", Kind::Float, &[Free(batch), Free("channels"), Free("anchors")])
        .ints("flat", &[0, 3, -1])
        .floats("wants", &[512, 3], &wants)
        .floats("boxes", &[1, 4, cells], &boxes)
        .floats("nothing", &[1], &[0.0])
        .ints("first", &[0]);
    cells::means(graph, "images", "grid", 0, 8)
        .node("Reshape", &["grid", "flat"], &["colours"], &[])
        .node("MatMul", &["txt_feats", "wants"], &["wanted"], &[])
        .node("MatMul", &["wanted", "colours"], &["scores"], &[])
        // Boxes for each picture: nothing of the first colours is added to them.
        .node("Gather", &["colours", "first"], &["row"], &[("axis", &[1])])
        .node("Mul", &["row", "nothing"], &["zeros"], &[])
        .node("Add", &["zeros", "boxes"], &["placed"], &[])
        .node("Concat", &["placed", "scores"], &["output0"], &[("axis", &[1])])
}

const WORLD: &str = "{kind: yolo_world, path: world.onnx, text: text.onnx, tokenizer: clip_tokenizer.json, \
    prompts: [a], score: 0.3, input_size: [64, 64]}";

/// 320 x 240, black, with a red and a blue square; each fills a cell of the frame.
fn squares() -> ColorImage {
    let mut image = ColorImage::filled(320, 240, [0; 3]);
    support::paint(&mut image, [80, 80, 120, 120], [255, 0, 0]);
    support::paint(&mut image, [240, 160, 280, 200], [0, 0, 204]);
    image
}

#[test]
fn yolo_world_finds_what_the_words_say() {
    if support::runtime().is_none() {
        return;
    }
    let folder = TempDir::new().expect("a folder");
    text_tower().write(&folder.path().join("text.onnx"));
    let black = ColorImage::filled(64, 64, [0; 3]);
    for words in [None, Some(6)] {
        yolo_world("batch", words).write(&folder.path().join("world.onnx"));
        let world = open(folder.path(), WORLD, "cup, red, a").expect("a model");
        let found = world.detect(&[&squares(), &black]).expect("an answer");
        assert_eq!((found.len(), found[0].len(), found[1].len()), (2, 2, 0), "{found:?}");
        // A word of one token has three with start and end: each of its features is 1 / sqrt 3.
        let part = 3.0_f64.sqrt().recip();
        near(&found[0][0], "red", part, [80.0, 80.0, 120.0, 120.0]);
        near(&found[0][1], "cup", 0.8 * part, [240.0, 160.0, 280.0, 200.0]);
        // Other words, other names.
        let world = open(folder.path(), WORLD, "red cup").expect("a model");
        let found = world.detect(&[&squares()]).expect("an answer").remove(0);
        near(&found[0], "red cup", 0.5, [80.0, 80.0, 120.0, 120.0]);
        near(&found[1], "red cup", 0.4, [240.0, 160.0, 280.0, 200.0]);
        assert_eq!(world.detect(&[]), Ok(Vec::new()));
    }
    let error = open(folder.path(), WORLD, "a, b, c, d, e, p, r").err().expect("too many");
    assert!(error.contains("7 prompts, but the file takes 6 at most"), "{error}");
    text_tower().write(&folder.path().join("world.onnx"));
    let error = open(folder.path(), WORLD, "cup").err().expect("another network");
    assert!(
        error.contains("expected `txt_feats` or `text_features` float32 [1 or batch, classes, 512]"),
        "{error}"
    );
}

const GROUNDING: &str =
    "{kind: grounding_dino, path: dino.onnx, tokenizer: bert_tokenizer.json, prompts: [a]}";

/// Grounding DINO with two queries. The first is as sure of a token as the pixels are red where the mask says a picture is, for the tokens
/// `red` (5) and `mug` (6), the second fits `bowl` (8) alone; tokens that the sentence does not have are masked. Boxes stand where
/// the test says.
fn grounding(logit: f32, boxes: [[f32; 4]; 2]) -> Graph {
    let tokens = [Free("batch_size"), Free("sequence_length")];
    // Logits of the vocabulary's twelve tokens for each query.
    let mut of_token = vec![-9.0_f32; 12 * 2];
    (of_token[5 * 2], of_token[6 * 2], of_token[8 * 2 + 1]) = (0.5, 1.0, logit);
    let masked = vec![f32::NEG_INFINITY; 2 * 256];
    Graph::default()
        .input("pixel_values", Kind::Float, &[Free("batch_size"), Is(3), Free("height"), Free("width")])
        .input("input_ids", Kind::Int64, &tokens)
        .input("token_type_ids", Kind::Int64, &tokens)
        .input("attention_mask", Kind::Int64, &tokens)
        .input("pixel_mask", Kind::Int64, &[Free("batch_size"), Free("height"), Free("width")])
        .output("logits", Kind::Float, &[Free("batch_size"), Free("num_queries"), Is(256)])
        .output("pred_boxes", Kind::Float, &[Free("batch_size"), Free("num_queries"), Is(4)])
        .floats("of_token", &[12, 2], &of_token)
        .floats("masked", &[1, 2, 256], &masked)
        .floats("boxes", &[1, 2, 4], boxes.as_flattened())
        .floats("nothing", &[1], &[0.0])
        .ints("red", &[0])
        .ints("over_pixels", &[1, 2])
        .ints("scalar", &[-1, 1, 1])
        .ints("from", &[0])
        .ints("until", &[256])
        .ints("token_axis", &[2])
        // Mean red where the mask is 1: 1 for a red picture, whatever it is filled up with.
        .floats("mean", &[1], &[0.485])
        .floats("deviation", &[1], &[0.229])
        .node("Gather", &["pixel_values", "red"], &["plane"], &[("axis", &[1])])
        .ints("plane_axis", &[1])
        .node("Squeeze", &["plane", "plane_axis"], &["reds"], &[])
        .node("Mul", &["reds", "deviation"], &["wide"], &[])
        .node("Add", &["wide", "mean"], &["shares"], &[])
        .node("Cast", &["pixel_mask"], &["inside"], &[("to", &[1])])
        .node("Mul", &["shares", "inside"], &["own"], &[])
        .node("ReduceSum", &["own", "over_pixels"], &["redness"], &[("keepdims", &[0])])
        .node("ReduceSum", &["inside", "over_pixels"], &["area"], &[("keepdims", &[0])])
        .node("Div", &["redness", "area"], &["ratio"], &[])
        .node("Reshape", &["ratio", "scalar"], &["factor"], &[])
        // [batch, tokens, 2] -> [batch, 2, tokens], filled up to 256.
        .node("Gather", &["of_token", "input_ids"], &["by_token"], &[("axis", &[0])])
        .node("Transpose", &["by_token"], &["by_query"], &[("perm", &[0, 2, 1])])
        .node("Mul", &["by_query", "factor"], &["scaled"], &[])
        .node("Mul", &["factor", "nothing"], &["zero"], &[])
        .node("Add", &["zero", "masked"], &["rest"], &[])
        .node("Concat", &["scaled", "rest"], &["long"], &[("axis", &[2])])
        .node("Slice", &["long", "from", "until", "token_axis"], &["logits"], &[])
        .node("Add", &["zero", "boxes"], &["pred_boxes"], &[])
}

#[test]
fn grounding_dino_names_boxes_after_the_phrases_they_fit() {
    if support::runtime().is_none() {
        return;
    }
    let folder = TempDir::new().expect("a folder");
    let boxes = [[0.5, 0.5, 0.2, 0.4], [0.1, 0.25, 0.1, 0.5]];
    grounding(2.0, boxes).write(&folder.path().join("dino.onnx"));
    let dino = open(folder.path(), GROUNDING, "Red mug, bowl").expect("a model");
    let share = |logit: f64| 1.0 / (1.0 + (-logit).exp());
    let red = ColorImage::filled(320, 240, [255, 0, 0]);
    // Another shape in the same call: the masks differ, the boxes are shares of each picture.
    let high = ColorImage::filled(200, 400, [255, 0, 0]);
    let found = dino.detect(&[&red, &high]).expect("an answer");
    assert_eq!((found[0].len(), found[1].len()), (2, 2), "{found:?}");
    near(&found[0][0], "bowl", share(2.0), [16.0, 0.0, 48.0, 120.0]);
    near(&found[0][1], "red mug", share(1.0), [128.0, 72.0, 192.0, 168.0]);
    near(&found[1][1], "red mug", share(1.0), [80.0, 120.0, 120.0, 280.0]);
    // Half as red: the logits halve. Both words are above 0.25, and the box is above 0.35.
    let dim = ColorImage::filled(320, 240, [128, 0, 0]);
    let found = dino.detect(&[&dim]).expect("an answer").remove(0);
    near(&found[1], "red mug", share(128.0 / 255.0), [128.0, 72.0, 192.0, 168.0]);
    // Asked for a bowl alone, nothing fits the first query.
    let dino = open(folder.path(), GROUNDING, "bowl").expect("a model");
    let found = dino.detect(&[&red]).expect("an answer").remove(0);
    assert_eq!(found.len(), 1, "{found:?}");
    near(&found[0], "bowl", share(2.0), [16.0, 0.0, 48.0, 120.0]);
    let prompts = (0..80).map(|number| format!("mug red bowl cup {number}"));
    let error =
        open(folder.path(), GROUNDING, &prompts.collect::<Vec<_>>().join(",")).err().expect("too long");
    assert!(error.contains("tokens; 256 at most"), "{error}");
}

#[test]
fn numbers_that_are_none_are_refused_but_for_masked_tokens() {
    if support::runtime().is_none() {
        return;
    }
    let folder = TempDir::new().expect("a folder");
    let image = ColorImage::filled(32, 24, [255, 0, 0]);
    for (logit, first, output) in [(f32::NAN, 0.5, "logits"), (2.0, f32::INFINITY, "pred_boxes")] {
        grounding(logit, [[first, 0.5, 0.2, 0.4], [0.1, 0.25, 0.1, 0.5]])
            .write(&folder.path().join("dino.onnx"));
        let dino = open(folder.path(), GROUNDING, "red mug, bowl").expect("a model");
        let error = dino.detect(&[&image]).expect_err("no number");
        assert!(
            matches!(&error, InferenceError::NotFinite { output: found, .. } if found == output),
            "{error}"
        );
    }
}
