//! A sentence embedder on a network with its inputs and outputs whose vectors are known.

use crate::support::{self, onnx::Axis::Free, onnx::Axis::Is, onnx::Graph, onnx::Kind};
use nalgebra::{Isometry3, Point3, Vector3};
use prehend_geometry::{OrientedBox, PointCloud};
use prehend_models::Session;
use prehend_models::embedder::{SentenceEmbedder, TextReader, unit};
use prehend_perception::Embedder;
use prehend_scene::Object;
use std::path::Path;
use tempfile::TempDir;

/// Every token gives the vector of its number: token i of twelve has 1 in feature i, wherever it stands.
pub(crate) fn network(types: bool) -> Graph {
    let tokens = [Free("batch_size"), Free("sequence_length")];
    let mut table = vec![0.0_f32; 12 * 12];
    (0..12).for_each(|token| table[token * 13] = 1.0);
    let graph = Graph::default()
        .input("input_ids", Kind::Int64, &tokens)
        .input("attention_mask", Kind::Int64, &tokens)
        .output("last_hidden_state", Kind::Float, &[Free("batch_size"), Free("sequence_length"), Is(12)])
        .floats("table", &[12, 12], &table)
        .node("Gather", &["table", "input_ids"], &["last_hidden_state"], &[("axis", &[0])]);
    if types { graph.input("token_type_ids", Kind::Int64, &tokens) } else { graph }
}

pub(crate) fn open(graph: Graph, folder: &Path) -> SentenceEmbedder {
    let runtime = support::runtime().expect("the caller has looked");
    let model = folder.join("model.onnx");
    graph.write(&model);
    let tokenizer = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/bert_tokenizer.json");
    let session = Session::load(&runtime, "minilm", &model).expect("a model");
    SentenceEmbedder::new(session, &tokenizer).expect("a sentence embedder")
}

/// The mean of some tokens and of start (2) and end (3), at unit length.
fn mean(tokens: &[usize]) -> Vec<f32> {
    let mut sum = [0.0; 12];
    tokens.iter().chain(&[2, 3]).for_each(|token| sum[*token] += 1.0);
    unit(&sum)
}

#[test]
fn sentences_of_several_lengths_are_one_batch() {
    if support::runtime().is_none() {
        return;
    }
    let folder = TempDir::new().expect("a folder");
    for types in [false, true] {
        let reader = open(network(types), folder.path());
        let found = reader.embed_texts(&["Red mugs", "cup", "a red bowl and blue"]).expect("vectors");
        // red 5, mug 6, ##s 7; cup 9; a 11, red 5, bowl 8, and is unknown 1, blue 10.
        let expected = [mean(&[5, 6, 7]), mean(&[9]), mean(&[11, 5, 8, 1, 10])];
        for (found, expected) in found.iter().zip(&expected) {
            assert!(found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-6), "{found:?}");
        }
        assert_eq!(found.len(), 3);
        assert_eq!(reader.embed_texts(&[]), Ok(Vec::new()));
        let likeness = reader.likeness(&found[1], &found);
        assert!(likeness[1] > 0.99 && (likeness.iter().sum::<f64>() - 1.0).abs() < 1e-9, "{likeness:?}");
    }
}

#[test]
fn objects_are_the_sentences_that_name_them() {
    if support::runtime().is_none() {
        return;
    }
    let folder = TempDir::new().expect("a folder");
    let embedder = open(network(true), folder.path());
    let object = |name: &str, color: &str| {
        let bounds = OrientedBox { pose: Isometry3::identity(), size: Vector3::repeat(0.1) };
        let cloud = PointCloud::from_points(vec![Point3::origin()]);
        Object {
            class_name: name.to_owned(),
            color_fractions: vec![(color.to_owned(), 1.0)],
            ..Object::unnamed("object_0".into(), cloud, bounds)
        }
    };
    let found = embedder.embed(&[object("mug", "red"), object("", "blue"), object("cup", "blue")]);
    assert_eq!(found, Ok(vec![mean(&[5, 6]), Vec::new(), mean(&[10, 9])]));
    assert_eq!(Embedder::name(&embedder), "minilm");
}
