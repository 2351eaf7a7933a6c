use super::*;
use prehend_config::share::share_dir;
use prehend_harness::memory::Memory;
use prehend_harness::skills::{initial, tools};
use prehend_harness::subject::Subject;
use prehend_perception::Lexicon;
use prehend_perception::evidence::Knowledge;
use prehend_scene::{ActionTable, Deficiency};
use prehend_sim::world::ArmModel;
use std::sync::Arc;

#[test]
fn the_verifier_is_sure_of_what_is_right_and_asks_fewer_skills_than_the_chain() {
    let folder = share_dir();
    let urdf = std::fs::read_to_string(folder.join("urdf/xarm6.urdf")).expect("the arm");
    let arm = ArmModel::from_urdf(&urdf).expect("an arm");
    let words = Lexicon::load(&folder.join("config/language/synonyms.yaml")).expect("words");
    let knowledge =
        Knowledge::load(&folder.join("config/language/knowledge.yaml"), words).expect("knowledge");
    let (knowledge, actions) = (Arc::new(knowledge), ActionTable::built_in());
    let scenes = folder.join("config/scenes");
    let setting = Setting::default();
    let (mut harness, mut chain, mut again) = (Vec::new(), Vec::new(), Vec::new());
    let mut memory = Memory::default();
    for (number, kind) in KINDS.into_iter().take(4).enumerate() {
        let made = sample(&arm, &scenes, &knowledge, &actions, (kind, Subset::Plain, 40 + number as u64));
        let made = made.expect("a sample");
        assert!(!made.truth.is_empty());
        harness.push(made.answer(Method::Harness, &setting, &mut memory));
        chain.push(made.answer(Method::FixedChain, &setting, &mut memory));
        again.push(made.answer(Method::Harness, &setting, &mut memory));
    }
    let made = sample(&arm, &scenes, &knowledge, &actions, (KINDS[0], Subset::Plain, 40)).expect("a sample");
    a_look_completes_a_pair_or_complements(made.subject.as_ref().expect("a bell on the map"));
    let (success, is_right, _) = made.imagined().expect("a button to press");
    assert!(success > 0.5 && is_right, "{success}");
    let (harness, chain, again) = (Score::of(&harness), Score::of(&chain), Score::of(&again));
    assert!(harness.committed >= 0.5 && harness.committed_right >= 1.0, "{harness:?}");
    assert!(harness.calls < chain.calls && harness.giou > 0.5, "{harness:?} {chain:?}");
    assert!(again.calls <= harness.calls && !memory.is_empty(), "{again:?}");
}

fn a_look_completes_a_pair_or_complements(subject: &Arc<Subject>) {
    let skill = |name: &str| tools(subject).into_iter().find(|skill| skill.name() == name).expect("a skill");
    let mut evidence = initial(subject);
    let zoomed = skill("part geometry zoomed");
    assert_eq!(zoomed.cures(&evidence), [Deficiency::Omega, Deficiency::Mu]);
    evidence.extend(skill("part geometry").run(&evidence));
    assert_eq!(zoomed.cures(&evidence), [Deficiency::Zeta, Deficiency::Omega]);
    assert_eq!(skill("part color").cures(&evidence), [Deficiency::Omega, Deficiency::Mu]);
    let views: Vec<f64> = tools(subject)
        .iter()
        .filter(|skill| skill.name().starts_with("view "))
        .map(|view| view.cost())
        .collect();
    assert!(!views.is_empty() && views.iter().all(|cost| *cost > 1.5), "{views:?}");
}

#[test]
fn figures_are_those_of_the_paper() {
    let answer = |intersection, union, committed| Answer {
        intersection,
        union,
        calls: 2.0,
        ms: 1.0,
        committed,
        ..Answer::default()
    };
    let score = Score::of(&[answer(80, 100, true), answer(10, 100, true), answer(0, 50, false)]);
    let near = |a: f64, b: f64| (a - b).abs() < 1e-9;
    assert!(near(score.giou, (0.8 + 0.1) / 3.0) && near(score.ciou, 90.0 / 250.0), "{score:?}");
    // 0.8 is above 0.50, 0.55 ... 0.75: six of ten thresholds.
    assert!(near(score.p50, 1.0 / 3.0) && near(score.p50_95, 0.6 / 3.0), "{score:?}");
    assert!(near(score.committed, 2.0 / 3.0) && near(score.committed_right, 0.5), "{score:?}");
    assert_eq!(Score::of(&[]), Score::default());
}
