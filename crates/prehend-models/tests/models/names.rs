//! Maps of the real frames with the names that FastestDet's real weights give.

use crate::support::{self, onnx::Axis::Free, onnx::Axis::Is, onnx::Graph, onnx::Kind};
use crate::towers;
use prehend_models::config::ModelsConfig;
use prehend_models::sight;
use prehend_perception::MapSettings;
use prehend_perception::retrieve::retrieve_by_likeness;
use prehend_recording::{SavedMap, build, build_seen, find_frames};
use std::path::Path;

#[test]
fn fastestdet_names_the_front_objects_of_the_real_frames() {
    let (Some(runtime), Some(models), Some(frames)) =
        (support::runtime(), support::shared("models"), support::shared("data/rgbd_tabletop"))
    else {
        return;
    };
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../config/models.yaml");
    let config = ModelsConfig::load(&file, &models).expect("valid");
    let entries = sight::choose(&config, &["fastestdet".to_owned()], &[]).expect("one detector");
    let sight = sight::open(&entries, &runtime).expect("a detector");
    let frames = find_frames(&frames).expect("frames");
    let settings = MapSettings::recorded();
    let (named, _) = build_seen(&frames, settings, 1, &sight).expect("a map");
    let (plain, _) = build(&frames, settings, 1).expect("a map");
    assert_eq!(named.embedder, "words");
    let mut names = Vec::new();
    for (named, plain) in named.scenes.iter().zip(&plain.scenes) {
        let ([object], [shape]) = (named.map.objects.as_slice(), plain.map.objects.as_slice()) else {
            panic!("{}: {:?}", named.name, named.map.objects.len());
        };
        // A name changes nothing else.
        assert_eq!((&object.cloud, &object.crops[0].mask), (&shape.cloud, &shape.crops[0].mask));
        eprintln!("{}: {} {:.2}", named.name, object.class_name, object.confidence);
        names.push((named.name.as_str(), object.class_name.as_str()));
    }
    // The network knows the 80 classes of COCO: a box of crackers is none of them.
    let expected = [("blue_mug", "cup"), ("cheezit", "book"), ("cylinder", "cup"), ("green_bowl", "bowl")];
    assert_eq!(names, expected);
}

/// Towers whose features are the colours of a picture's quarters; the word `red` is all that is red and nothing else.
pub(crate) fn colour_towers(folder: &Path) {
    towers::image_tower("image_embeds").write(&folder.join("image.onnx"));
    let mut table = vec![0.0_f32; 28 * 12];
    for feature in 0..12 {
        table[25 * 12 + feature] = if feature < 4 { 1.0 } else { -1.0 };
    }
    let tokens = [Free("batch_size"), Free("sequence_length")];
    Graph::default()
        .input("input_ids", Kind::Int64, &tokens)
        .output("text_embeds", Kind::Float, &[Free("batch_size"), Is(12)])
        .floats("table", &[28, 12], &table)
        .ints("over_tokens", &[1])
        .node("Gather", &["table", "input_ids"], &["vectors"], &[])
        .node("ReduceSum", &["vectors", "over_tokens"], &["text_embeds"], &[("keepdims", &[0])])
        .write(&folder.join("text.onnx"));
    let tokenizer = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/clip_tokenizer.json");
    std::fs::copy(tokenizer, folder.join("tokenizer.json")).expect("a copy");
}

#[test]
fn a_text_is_held_against_the_features_of_the_pictures() {
    let (Some(runtime), Some(frames)) = (support::runtime(), support::shared("data/rgbd_tabletop")) else {
        return;
    };
    let folder = tempfile::tempdir().expect("a folder");
    colour_towers(folder.path());
    let file = folder.path().join("models.yaml");
    let text = "models:\n  colours: {kind: clip, image: image.onnx, text: text.onnx, tokenizer: tokenizer.json, logit_scale: 10}\n";
    std::fs::write(&file, text).expect("the file");
    let config = ModelsConfig::load(&file, folder.path()).expect("valid");
    let entries = sight::choose(&config, &["colours".to_owned()], &[]).expect("an embedder");
    let sight = sight::open(&entries, &runtime).expect("towers");
    let frames = find_frames(&frames).expect("frames");
    let (saved, _) = build_seen(&frames, MapSettings::recorded(), 1, &sight).expect("a map");
    assert_eq!(saved.embedder, "colours");
    let place = folder.path().join("map");
    saved.save(&place).expect("saved");
    let saved = SavedMap::load(&place).expect("a map");
    let map = saved.all();
    assert!(map.objects.iter().all(|object| object.features.len() == 12), "one vector for each object");
    let reader = entries[0].reader(&runtime).expect("a reader").expect("a text tower");
    let mut likeness = reader.likeness_of("red", &map.objects).expect("an answer");
    let found = retrieve_by_likeness(&map, &likeness, 0);
    let red = &saved.scenes.iter().find(|scene| scene.name == "cheezit").expect("a scene").map.objects[0].key;
    assert_eq!(&found.matches[0].key, red, "{found:?}");
    let sum: f64 = likeness.iter().flatten().sum();
    assert!((sum - 1.0).abs() < 1e-9, "the pictures compete: {likeness:?}");
    // Features of another length are those of another model.
    let mut objects = map.objects.clone();
    objects[0].features.pop();
    likeness = reader.likeness_of("red", &objects).expect("an answer");
    assert_eq!(likeness.iter().filter(|likeness| likeness.is_none()).count(), 1);
    assert_eq!(likeness[0], None);
}
