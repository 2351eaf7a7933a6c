use super::*;
use crate::embedder::Family;
use prehend_testing::{Needs, skipped};
use std::path::PathBuf;

/// Small tokenizers of the two families' make, written by `tests/peers/make_tokenizers.py`, which prints the numbers below.
fn small(family: Family) -> PathBuf {
    let name = match family {
        Family::Clip => "clip_tokenizer.json",
        Family::Siglip => "siglip_tokenizer.json",
    };
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name)
}

/// The first numbers of a text, the number that fills it up, and how many are its own.
fn check(family: Family, text: &str, first: &[i64], pad: i64, own: i64) {
    let tokens = Tokens::read(&small(family), family.length(), family.pad_token()).expect("a tokenizer");
    let TextNumbers { ids, mask } = tokens.of(text).expect("numbers");
    assert_eq!((ids.len(), mask.len()), (family.length(), family.length()));
    assert_eq!(ids[..first.len()], *first, "{text}");
    assert!(ids[first.len()..].iter().all(|id| *id == pad), "{text}: {ids:?}");
    assert_eq!(mask.iter().sum::<i64>(), own, "{text}: {mask:?}");
}

#[test]
fn texts_are_the_numbers_of_the_reference() {
    check(Family::Clip, "A  Red cup!", &[26, 11, 25, 23, 21], 27, 6);
    check(Family::Clip, "", &[26], 27, 2);
    check(Family::Siglip, "Red cups.", &[4, 5, 8], 1, 4);
    check(Family::Siglip, "red xcup", &[4, 3, 2], 1, 4);
}

#[test]
fn long_texts_are_cut_and_end_all_the_same() {
    let tokens = Tokens::read(&small(Family::Clip), 77, "<|endoftext|>").expect("a tokenizer");
    let TextNumbers { ids, mask } = tokens.of(&"a ".repeat(100)).expect("numbers");
    assert_eq!((ids.len(), ids[0], ids[75], ids[76], mask[76]), (77, 26, 11, 27, 1));
}

#[test]
fn what_is_no_tokenizer_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("tokenizer.json");
    let refused = |text: &str, pad: &str, expected: &str| {
        std::fs::write(&path, text).expect("the file");
        let error = Tokens::read(&path, 77, pad).expect_err(text).to_string();
        assert!(error.contains(expected), "{error}");
    };
    refused("{}", "</s>", "it is no tokenizer");
    let clip = std::fs::read_to_string(small(Family::Clip)).expect("the file");
    refused(&clip[..clip.len() / 2], "<|endoftext|>", "it is no tokenizer");
    refused(&clip, "</s>", "no token `</s>`");
}

/// The vocabulary of OpenAI's CLIP is not part of the repository.
#[test]
fn the_real_vocabulary_of_clip_gives_its_numbers() {
    let named = std::env::var_os("PREHEND_MODELS").map(PathBuf::from);
    let Some(file) = named.map(|f| f.join("clip/tokenizer.json")).filter(|file| file.is_file()) else {
        skipped(Needs::Weights, "no clip/tokenizer.json in the folder that PREHEND_MODELS names");
        return;
    };
    let tokens = Tokens::read(&file, 77, "<|endoftext|>").expect("a tokenizer");
    // By open_clip's own `SimpleTokenizer`; see tests/peers/make_tokenizers.py.
    for (text, expected) in REAL {
        let ids = tokens.of(text).expect("numbers").ids;
        assert_eq!(ids[..expected.len()], *expected, "{text}");
        assert!(ids[expected.len()..].iter().all(|id| *id == 49407), "{text}");
    }
}

const REAL: [(&str, &[i64]); 3] = [
    ("a photo of a cat", &[49406, 320, 1125, 539, 320, 2368]),
    ("the Red mug's HANDLE, 2 pieces!", &[49406, 518, 736, 9722, 568, 7245, 267, 273, 6194, 256]),
    (
        "crème brûlée – 砂糖",
        &[49406, 1075, 12138, 614, 711, 127, 119, 75, 13489, 1224, 163, 254, 224, 163, 111, 500],
    ),
];
