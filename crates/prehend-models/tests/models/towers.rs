//! CLIP and SigLIP on towers with their inputs and outputs whose vectors are known: the means of the four quarters of a picture,
//! channel by channel, and a table of vectors of words.

use crate::cells;
use crate::support::{self, onnx::Axis::Free, onnx::Axis::Is, onnx::Graph, onnx::Kind};
use prehend_geometry::ColorImage;
use prehend_models::embedder::{Family, Likeness, TextReader, Towers, unit};
use prehend_models::{ModelError, Session};
use prehend_perception::PictureReader;
use std::path::Path;
use tempfile::TempDir;

const BATCH: &str = "batch_size";
const SCALE: f64 = 4.0;
const BIAS: f64 = -1.0;

/// Twelve features: for each channel the mean of the four quarters.
pub(crate) fn image_tower(output: &str) -> Graph {
    let graph = Graph::default()
        .input("pixel_values", Kind::Float, &cells::pictures(Free(BATCH), Is(224), Is(224)))
        .output("last_hidden_state", Kind::Float, &[Free(BATCH), Is(3), Is(2), Is(2)])
        .output(output, Kind::Float, &[Free(BATCH), Is(12)])
        .ints("flat", &[0, 12]);
    cells::means(graph, "pixel_values", "last_hidden_state", 0, 112).node(
        "Reshape",
        &["last_hidden_state", "flat"],
        &[output],
        &[],
    )
}

/// The sum of the vectors of a text's own tokens: token i adds 1 to feature `i % 12`. With a mask only its own tokens count.
fn text_tower(output: &str, masked: bool) -> Graph {
    let mut table = vec![0.0_f32; 28 * 12];
    for token in 0..28 {
        table[token * 12 + token % 12] = 1.0;
    }
    let tokens = [Free(BATCH), Free("sequence_length")];
    let graph = Graph::default()
        .input("input_ids", Kind::Int64, &tokens)
        .output(output, Kind::Float, &[Free(BATCH), Is(12)])
        .floats("table", &[28, 12], &table)
        .ints("over_tokens", &[1])
        .node("Gather", &["table", "input_ids"], &["vectors"], &[]);
    let graph = if masked {
        graph
            .input("attention_mask", Kind::Int64, &tokens)
            .ints("last", &[2])
            .node("Cast", &["attention_mask"], &["shares"], &[("to", &[1])])
            .node("Unsqueeze", &["shares", "last"], &["column"], &[])
            .node("Mul", &["vectors", "column"], &["counted"], &[])
    } else {
        graph.node("Identity", &["vectors"], &["counted"], &[])
    };
    graph.node("ReduceSum", &["counted", "over_tokens"], &[output], &[("keepdims", &[0])])
}

fn open(family: Family, graphs: [Graph; 2], folder: &Path) -> Result<Towers, ModelError> {
    let runtime = support::runtime().expect("the caller has looked");
    let (tokenizer, likeness) = match family {
        Family::Clip => ("clip_tokenizer.json", Likeness::Softmax { scale: SCALE }),
        Family::Siglip => ("siglip_tokenizer.json", Likeness::Sigmoid { scale: SCALE, bias: BIAS }),
    };
    let tokenizer = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(tokenizer);
    let mut sessions = Vec::new();
    for (name, graph) in ["image", "text"].into_iter().zip(graphs) {
        let path = folder.join(format!("{name}.onnx"));
        graph.write(&path);
        sessions.push(Session::load(&runtime, name, &path)?);
    }
    let sessions = <[Session; 2]>::try_from(sessions).expect("two");
    Towers::new(family, sessions, &tokenizer, family.pad_token(), None, likeness)
}

/// Quarters red, green, blue and black; `beside` is what is left and right of them in a picture that is twice as wide.
fn quarters(beside: Option<[u8; 3]>) -> ColorImage {
    let left = if beside.is_some() { 112 } else { 0 };
    let mut image = ColorImage::filled(224 + 2 * left, 224, beside.unwrap_or_default());
    support::paint(&mut image, [left, 0, left + 112, 112], [255, 0, 0]);
    support::paint(&mut image, [left + 112, 0, left + 224, 112], [0, 255, 0]);
    support::paint(&mut image, [left, 112, left + 112, 224], [0, 0, 255]);
    support::paint(&mut image, [left + 112, 112, left + 224, 224], [0, 0, 0]);
    image
}

fn near(found: &[f32], expected: &[f32]) {
    assert_eq!(found.len(), expected.len());
    for (found, expected) in found.iter().zip(expected) {
        assert!((found - expected).abs() < 1e-4, "{found} instead of {expected}");
    }
}

#[test]
fn clip_gives_vectors_and_probabilities_of_its_towers() {
    if support::runtime().is_none() {
        return;
    }
    let folder = TempDir::new().expect("a folder");
    let graphs = [image_tower("image_embeds"), text_tower("text_embeds", true)];
    let towers = open(Family::Clip, graphs, folder.path()).expect("towers");
    // White beside the quarters must be cut away.
    let (wide, square) = (quarters(Some([255; 3])), quarters(None));
    let pictures = towers.embed_pictures(&[&wide, &square]).expect("vectors");
    let mean = [0.481_454_66, 0.457_827_5, 0.408_210_73];
    let deviation = [0.268_629_54, 0.261_302_6, 0.275_777_1];
    let expected: Vec<f32> =
        (0..12).map(|i| (f32::from(u8::from(i % 4 == i / 4)) - mean[i / 4]) / deviation[i / 4]).collect();
    near(&pictures[0], &unit(&expected));
    near(&pictures[1], &unit(&expected));
    // Start 26, end 27, "red" 25, "cup" 23: features 2, 3, 1 and 11.
    let texts = towers.embed_texts(&["red cup", "cup"]).expect("vectors");
    let vector = |features: &[usize]| {
        let mut vector = [0.0; 12];
        features.iter().for_each(|feature| vector[*feature] += 1.0);
        unit(&vector)
    };
    near(&texts[0], &vector(&[2, 3, 1, 11]));
    near(&texts[1], &vector(&[2, 3, 11]));
    let logit =
        |text: &[f32]| SCALE * pictures[0].iter().zip(text).map(|(a, b)| f64::from(a * b)).sum::<f64>();
    let first = 1.0 / (1.0 + (logit(&texts[1]) - logit(&texts[0])).exp());
    let found = towers.likeness(&pictures[0], &texts);
    assert!((found[0] - first).abs() < 1e-6 && (found[0] + found[1] - 1.0).abs() < 1e-9, "{found:?}");
    assert_eq!(towers.embed_texts(&[]), Ok(Vec::new()));
    assert_eq!(towers.embed_pictures(&[]), Ok(Vec::new()));
}

#[test]
fn siglip_squeezes_pictures_and_fills_texts_up() {
    if support::runtime().is_none() {
        return;
    }
    let folder = TempDir::new().expect("a folder");
    let graphs = [image_tower("pooler_output"), text_tower("pooler_output", false)];
    let towers = open(Family::Siglip, graphs, folder.path()).expect("towers");
    // Twice as high: squeezed it is the same.
    let square = quarters(None);
    let mut high = ColorImage::filled(224, 448, [0; 3]);
    for v in 0..448 {
        high.pixels[v * 224..(v + 1) * 224].copy_from_slice(&square.pixels[v / 2 * 224..(v / 2 + 1) * 224]);
    }
    let pictures = towers.embed_pictures(&[&square, &high]).expect("vectors");
    let expected: Vec<f32> = (0..12).map(|i| if i % 4 == i / 4 { 1.0 } else { -1.0 }).collect();
    near(&pictures[0], &unit(&expected));
    assert!(pictures[0].iter().zip(&pictures[1]).all(|(a, b)| (a - b).abs() < 0.01), "{pictures:?}");
    // 64 tokens: "red" 4, "cup" 5, the rest is the end token 1.
    let texts = towers.embed_texts(&["Red cup"]).expect("vectors");
    let mut expected = [0.0; 12];
    (expected[4], expected[5], expected[1]) = (1.0, 1.0, 62.0);
    near(&texts[0], &unit(&expected));
    let cosine: f64 = pictures[0].iter().zip(&texts[0]).map(|(a, b)| f64::from(a * b)).sum();
    let found = towers.likeness(&pictures[0], &texts);
    assert!((found[0] - 1.0 / (1.0 + (-(SCALE * cosine + BIAS)).exp())).abs() < 1e-6, "{found:?}");
}

#[test]
fn a_tower_without_the_projection_is_refused() {
    if support::runtime().is_none() {
        return;
    }
    let folder = TempDir::new().expect("a folder");
    let graphs = [image_tower("pooler_output"), text_tower("text_embeds", true)];
    let error = open(Family::Clip, graphs, folder.path()).expect_err("not projected").to_string();
    for words in ["is not CLIP's image tower", "expected `image_embeds`", "found `last_hidden_state`"] {
        assert!(error.contains(words), "{words} is missing in: {error}");
    }
}
