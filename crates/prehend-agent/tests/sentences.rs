//! Tables of sentences and what they mean: `tests/data/*.txt`.
//!
//! Contract: every line of `sentences.txt`, `articulated.txt` and `libero.txt` gives exactly the reading beside it; the files of
//! held out sentences were written before the grammar was tuned and must keep their score.

use prehend_agent::language::{Lexicon, parse};
use prehend_agent::policy::Policy;

fn understand(text: &str, lexicon: &Lexicon, policy: &Policy) -> String {
    if policy.check_sentence(text, lexicon).is_some() {
        return "unsafe".to_owned();
    }
    match parse(text, lexicon) {
        Ok(goals) => goals[0].to_string(),
        Err(_) => "not_understood".to_owned(),
    }
}

/// Lines that differ, and the number of lines.
fn score(table: &str) -> (Vec<String>, usize) {
    let lexicon = Lexicon::built_in();
    let policy = Policy::built_in().expect("the built-in policy is valid");
    let lines: Vec<(&str, &str)> = table
        .lines()
        .filter(|line| !line.starts_with('#') && !line.trim().is_empty())
        .map(|line| line.split_once(" => ").unwrap_or_else(|| panic!("no => in {line}")))
        .collect();
    let wrong = lines
        .iter()
        .filter_map(|(text, expected)| {
            let found = understand(text, &lexicon, &policy);
            (found != *expected).then(|| format!("{text}\n     found {found}\n  expected {expected}"))
        })
        .collect();
    (wrong, lines.len())
}

fn check_all(table: &str) {
    let (wrong, total) = score(table);
    assert!(wrong.is_empty(), "{} of {total} differ:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn sentences() {
    check_all(include_str!("data/sentences.txt"));
}

#[test]
fn libero() {
    check_all(include_str!("data/libero.txt"));
}

#[test]
fn articulated() {
    check_all(include_str!("data/articulated.txt"));
}

#[test]
fn articulated_held_out() {
    let (wrong, total) = score(include_str!("data/articulated_held_out.txt"));
    assert!(wrong.len() <= 3, "{} of {total} differ:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn held_out() {
    let (wrong, total) = score(include_str!("data/held_out.txt"));
    assert!(wrong.len() <= 1, "{} of {total} differ:\n{}", wrong.len(), wrong.join("\n"));
}

mod anything {
    //! No text makes the parser or the policy panic, or run away.

    use super::{Lexicon, Policy, understand};
    use proptest::prelude::*;
    use std::sync::LazyLock;

    static WORDS: LazyLock<(Lexicon, Policy)> =
        LazyLock::new(|| (Lexicon::built_in(), Policy::built_in().expect("the built-in policy is valid")));

    const SOME: [&str; 40] = [
        "put", "pick", "up", "the", "a", "red", "mug", "bowl", "in", "on", "next", "to", "left", "of", "and",
        "then", "it", "them", "that", "is", "not", "near", "between", "closest", "largest", "two", "both",
        "all", "where", "how", "many", ",", ".", "?", "from", "except", "one", "'s", "drop", "with",
    ];

    proptest! {
        #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

        #[test]
        fn unicode(text in "\\PC{0,80}") {
            understand(&text, &WORDS.0, &WORDS.1);
        }

        #[test]
        fn shuffled_words(words in proptest::collection::vec(proptest::sample::select(SOME.to_vec()), 0..24)) {
            understand(&words.join(" "), &WORDS.0, &WORDS.1);
        }
    }

    #[test]
    fn long_and_deep() {
        for unit in [
            "near the mug ",
            "the ",
            "and the mug ",
            "put the mug on the plate and ",
            "of ",
            "it's ",
            "((",
            "a,",
        ] {
            let text = format!("put the cup {}", unit.repeat(200));
            assert_eq!(understand(&text, &WORDS.0, &WORDS.1), "not_understood");
            understand(&format!("put the cup {} in the bowl", unit.repeat(25)), &WORDS.0, &WORDS.1);
        }
    }
}
