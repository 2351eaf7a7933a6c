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
/// witness counts once, for the meaning that it names first. Who names a kind that holds the meaning and more ("dish" of what others call a
/// bowl) speaks neither for nor against it: a liar may say something of that kind, too.
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
        let (mut label, mut keys) = (testimony.label.as_str(), find(&testimony.label));
        // What is "a wooden block" elsewhere may be of another colour here.
        if let Some((_, head)) = label.rsplit_once(' ').filter(|_| keys.is_empty()) {
            keys = find(head);
            label = if keys.is_empty() { label } else { head };
        }
        keys.sort();
        let name = if keys.is_empty() { label.to_owned() } else { String::new() };
        let meaning = meanings.entry((keys, name)).or_default();
        if meaning.label.is_empty() || label.len() > meaning.label.len() {
            label.clone_into(&mut meaning.label);
        }
        meaning.witnesses.push(testimony.witness.clone());
        meaning.weight += testimony.weight;
    }
    // Of two that weigh the same the one that says more.
    let by_weight =
        |entry: &(&(Vec<ObjectKey>, String), &Meaning)| (entry.1.weight, usize::MAX - entry.0.0.len());
    let Some(((keys, name), best)) = meanings.iter().max_by_key(by_weight) else {
        return Judgement::Silent;
    };
    let holds = |other: &[ObjectKey]| !keys.is_empty() && keys.iter().all(|key| other.contains(key));
    let others =
        meanings.iter().filter(|((other, label), _)| (other, label) != (keys, name) && !holds(other));
    let against: u32 = others.map(|(_, meaning)| meaning.weight).sum();
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
            "container" => ["bottle_1", "bowl_1"].map(|key| ObjectKey(key.to_owned())).to_vec(),
            "utensil" => ["knife_1", "spoon_1"].map(|key| ObjectKey(key.to_owned())).to_vec(),
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
    fn a_kind_speaks_neither_for_nor_against() {
        assert!(matches!(
            judged(&[("a.org", 1, "utensil"), ("liar.org", 1, "knife")]),
            Judgement::Undecided(_)
        ));
        let heard = [("a.org", 1, "container"), ("b.org", 1, "bottle"), ("c.org", 1, "bottle")];
        assert!(matches!(judged(&heard), Judgement::Agreed(lesson) if lesson.means == "bottle"));
    }

    #[test]
    fn what_is_not_seen_as_it_is_described_may_be_seen_by_its_noun() {
        let heard = [("a.org", 1, "glass bottle"), ("b.org", 1, "bottle")];
        assert!(matches!(judged(&heard), Judgement::Agreed(lesson) if lesson.means == "bottle"));
    }

    #[test]
    fn what_is_not_seen_is_not_taken() {
        let Judgement::Undecided(why) = judged(&[("a.org", 1, "tray"), ("b.org", 1, "tray")]) else {
            panic!()
        };
        assert!(why.contains("which I do not see"), "{why}");
    }
}
