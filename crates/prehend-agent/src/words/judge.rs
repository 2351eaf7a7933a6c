//! What the witnesses of a word come to.

use super::{Lesson, Origin, Testimony};
use prehend_scene::ObjectKey;
use std::collections::BTreeMap;

/// Least weight that must speak for a meaning.
const LEAST: u32 = 2;
/// What speaks for it must be more than this many times what speaks against it.
const AGAINST: u32 = 2;

/// What a word is taken for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Judgement {
    /// Enough witnesses agree, and something of it is seen.
    Agreed(Lesson),
    /// Something was said, but not enough of it, or of nothing that is seen: in words, for the person.
    Undecided(String),
    /// Nobody said anything.
    Silent,
}

/// Judges testimonies; `find` gives what is seen that a label means. Labels that mean the same things are one meaning, and each
/// witness counts once, for the meaning that it names first.
pub fn judge(word: &str, heard: &[Testimony], find: &mut dyn FnMut(&str) -> Vec<ObjectKey>) -> Judgement {
    /// One meaning: its label, and who speaks for it.
    #[derive(Default)]
    struct Meaning {
        label: String,
        witnesses: Vec<String>,
        weight: u32,
    }
    // By what is seen of it; what is not seen, by its label.
    let mut meanings: BTreeMap<(Vec<ObjectKey>, String), Meaning> = BTreeMap::new();
    let mut spoken: Vec<&str> = Vec::new();
    for testimony in heard {
        if spoken.contains(&testimony.witness.as_str()) {
            continue;
        }
        spoken.push(&testimony.witness);
        let mut keys = find(&testimony.label);
        keys.sort();
        let name = if keys.is_empty() { testimony.label.clone() } else { String::new() };
        let meaning = meanings.entry((keys, name)).or_default();
        if meaning.label.is_empty() || testimony.label.len() > meaning.label.len() {
            meaning.label.clone_from(&testimony.label);
        }
        meaning.witnesses.push(testimony.witness.clone());
        meaning.weight += testimony.weight;
    }
    let all: u32 = meanings.values().map(|meaning| meaning.weight).sum();
    let Some(((keys, _), best)) = meanings.iter().max_by_key(|(_, meaning)| meaning.weight) else {
        return Judgement::Silent;
    };
    let against = all - best.weight;
    if !keys.is_empty() && best.weight >= LEAST && best.weight > AGAINST * against {
        return Judgement::Agreed(Lesson {
            word: word.to_owned(),
            means: best.label.clone(),
            origin: Origin::Learned,
            witnesses: best.witnesses.clone(),
            confirmed: 0,
            since: 0,
        });
    }
    let said: Vec<String> = meanings
        .iter()
        .map(|((keys, _), meaning)| {
            let unseen = if keys.is_empty() { ", which I do not see" } else { "" };
            format!("{} for \"{}\"{unseen}", meaning.witnesses.join(" and "), meaning.label)
        })
        .collect();
    let why = match (keys.is_empty(), against) {
        (true, 0) => "",
        (_, 0) => "; one source is not enough for me",
        (_, _) => "; they do not agree",
    };
    Judgement::Undecided(format!("it is taken by {}{why}", said.join(", by ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judged(heard: &[(&str, u32, &str)]) -> Judgement {
        let heard: Vec<Testimony> = heard
            .iter()
            .map(|(witness, weight, label)| Testimony {
                witness: (*witness).to_owned(),
                weight: *weight,
                label: (*label).to_owned(),
            })
            .collect();
        judge("moutai", &heard, &mut |label| match label {
            "bottle" | "wine bottle" => vec![ObjectKey("bottle_1".to_owned())],
            "knife" => vec![ObjectKey("knife_1".to_owned())],
            _ => Vec::new(),
        })
    }

    #[test]
    fn two_must_agree_and_each_counts_once() {
        let Judgement::Agreed(lesson) = judged(&[("a.org", 1, "bottle"), ("b.org", 1, "wine bottle")]) else {
            panic!("two agree")
        };
        assert_eq!((lesson.means.as_str(), lesson.witnesses.len()), ("wine bottle", 2));
        assert!(matches!(judged(&[("model", 2, "bottle")]), Judgement::Agreed(_)));
        assert!(matches!(judged(&[("a.org", 1, "bottle")]), Judgement::Undecided(_)));
        assert!(matches!(judged(&[("a.org", 1, "knife"), ("a.org", 1, "knife")]), Judgement::Undecided(_)));
        assert_eq!(judged(&[]), Judgement::Silent);
    }

    #[test]
    fn one_liar_costs_a_refusal_and_moves_nothing() {
        for heard in [
            &[("liar.org", 1, "knife"), ("b.org", 1, "bottle")][..],
            &[("liar.org", 1, "knife"), ("b.org", 1, "bottle"), ("c.org", 1, "bottle")],
            &[("liar.org", 1, "knife"), ("model", 2, "bottle")],
            &[("liar.org", 1, "knife"), ("liar.org", 1, "knife"), ("liar.org", 1, "knife")],
        ] {
            assert!(matches!(judged(heard), Judgement::Undecided(_)), "{heard:?}");
        }
        let heard = [("liar.org", 1, "knife"), ("b.org", 1, "bottle"), ("model", 2, "bottle")];
        assert!(
            matches!(judged(&heard), Judgement::Agreed(lesson) if lesson.means == "wine bottle" || lesson.means == "bottle")
        );
    }

    #[test]
    fn what_is_not_seen_is_not_taken() {
        let Judgement::Undecided(why) = judged(&[("a.org", 1, "tray"), ("b.org", 1, "tray")]) else {
            panic!()
        };
        assert!(why.contains("which I do not see"), "{why}");
    }
}
