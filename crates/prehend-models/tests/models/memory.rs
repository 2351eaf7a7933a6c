//! The memory with features of networks: pictures are found by what they show, and texts by a sentence model.

use crate::{names, sentence, support};
use prehend_memory::encode::{Encoder, ModelEncoder, Texts, Towers};
use prehend_memory::record::{Place, Seen};
use prehend_memory::store::Sqlite;
use prehend_memory::{Described, Look, Memory, Request, Settings, StoreError, WordEncoder};
use prehend_models::{ModelsConfig, Runtime};
use std::path::Path;

fn towers(runtime: &Runtime, folder: &Path) -> Towers {
    names::colour_towers(folder);
    let file = folder.join("models.yaml");
    let text = "models:\n  colours: {kind: clip, image: image.onnx, text: text.onnx, tokenizer: tokenizer.json, logit_scale: 10}\n";
    std::fs::write(&file, text).expect("the file");
    let config = ModelsConfig::load(&file, folder).expect("valid");
    Box::new(config.model("colours").expect("it").towers(runtime).expect("towers").expect("networks"))
}

/// A picture of one colour as PNG.
fn png(color: [u8; 3]) -> Vec<u8> {
    let image = image::RgbImage::from_pixel(240, 224, image::Rgb(color));
    let mut bytes = std::io::Cursor::new(Vec::new());
    image.write_to(&mut bytes, image::ImageFormat::Png).expect("a picture");
    bytes.into_inner()
}

fn seen(name: &str, share: f64) -> Seen {
    Seen {
        name: name.to_owned(),
        score: 0.9,
        colors: Vec::new(),
        place: Place { center: [1.0, 0.0, 0.8], size: [0.1; 3], yaw: 0.0 },
        share,
        parts: Vec::new(),
        actions: Vec::new(),
        key: None,
        description: String::new(),
    }
}

fn look(taken: f64, picture: Vec<u8>) -> Look {
    Look {
        building: "home".to_owned(),
        robot: "r".to_owned(),
        taken,
        building_from_camera: nalgebra::Isometry3::translation(0.0, 0.0, 1.0),
        half_field: 0.6,
        picture: Some(picture),
        caption: String::new(),
        seen: vec![seen("cup", 0.1)],
        present: Default::default(),
    }
}

#[test]
fn views_are_found_by_what_their_pictures_show() {
    let Some(runtime) = support::runtime() else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let encoder =
        ModelEncoder::new("colours", None, Some(towers(&runtime, folder.path()))).expect("an encoder");
    assert_eq!(encoder.dimensions(), 12);
    let file = folder.path().join("memory.db");
    let store = || Box::new(Sqlite::open(&file).expect("a store"));
    let mut memory =
        Memory::new(store(), Box::new(encoder), Default::default(), Default::default()).expect("a memory");
    let colors = [[20, 200, 20], [210, 10, 10], [10, 10, 210]];
    let views: Vec<i64> = colors
        .iter()
        .enumerate()
        .map(|(number, color)| memory.observe(&look(number as f64, png(*color))).expect("kept").view)
        .collect();
    let words = Described { words: "red".to_owned(), ..Described::default() };
    let request = Request { what: words, k: 3, ..Request::default() };
    let settings = Settings { alpha: 0.0, reranks: false, ..Settings::default() };
    let answer = memory.recall(&request, &settings).expect("an answer");
    assert_eq!(answer.views[0].0, views[1], "{:?}", answer.views);
    // A picture that is none costs its view and nothing else.
    let error = memory.observe(&look(9.0, b"no picture".to_vec())).expect_err("none").to_string();
    assert!(error.contains("colours gives no features: a picture"), "{error}");
    assert_eq!(memory.counts().expect("counts").views, 3);
    let other = WordEncoder::new(Default::default());
    let refused = Memory::new(store(), Box::new(other), Default::default(), Default::default()).map(drop);
    assert!(matches!(refused, Err(StoreError::OtherSpace { found, .. }) if found == "colours"));
}

#[test]
fn texts_are_read_by_the_sentence_model_and_wishes_by_the_towers() {
    let Some(runtime) = support::runtime() else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let texts = || -> Texts { Box::new(sentence::open(sentence::network(true), folder.path())) };
    let both = ModelEncoder::new("both", Some(texts()), Some(towers(&runtime, folder.path()))).expect("both");
    assert_ne!(both.text("red"), both.wish("red"));
    assert_eq!(both.text("red"), both.text("red"), "also the second time");
    assert_eq!(both.picture(None, &[seen("red", 0.2)]), both.wish("red"), "names stand for a picture");
    let alone = ModelEncoder::new("alone", Some(texts()), None).expect("one");
    assert_eq!(alone.text("red cup"), alone.wish("red cup"));
    assert_eq!(alone.picture(Some(b"not looked at"), &[seen("red", 0.2)]), alone.text("red"));
    assert_eq!(alone.picture(None, &[]).expect("zeros"), vec![0.0; 12]);
    let none = ModelEncoder::new("none", None, None).expect_err("no network").to_string();
    assert!(none.contains("no network"), "{none}");
}
