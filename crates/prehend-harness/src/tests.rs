use super::*;
use prehend_geometry::Mask;
use prehend_scene::{EvidenceType, Region};
use prehend_verify::{CommitRule, diagnose};

struct Verifier {
    asked: usize,
}

impl Judge for Verifier {
    type Error = ();
    fn assess(&mut self, evidence: &[Evidence]) -> Result<Diagnostics, ()> {
        self.asked += 1;
        Ok(diagnose(evidence, &CommitRule::default()))
    }
}

struct Lost;

impl Judge for Lost {
    type Error = &'static str;
    fn assess(&mut self, _: &[Evidence]) -> Result<Diagnostics, &'static str> {
        Err("lost")
    }
}

struct Scripted {
    name: &'static str,
    cures: &'static [Deficiency],
    answer: Vec<Evidence>,
}

impl Tool for Scripted {
    fn name(&self) -> &str {
        self.name
    }
    fn cures(&self, _: &[Evidence]) -> &[Deficiency] {
        self.cures
    }
    fn run(&mut self, _: &[Evidence]) -> Vec<Evidence> {
        std::mem::take(&mut self.answer)
    }
}

fn record(producer: &str, scale: f64, x: usize) -> Evidence {
    let mask = Mask::filled_box(640, 480, x, 100, 60, 50);
    let is_box = producer == "detector";
    Evidence {
        id: format!("{producer}{scale}"),
        kind: if is_box { EvidenceType::Det } else { EvidenceType::Seg },
        producer: producer.to_owned(),
        view: "home".to_owned(),
        scale,
        confidence: 0.9,
        label: String::new(),
        region: if is_box { Region::Box(mask) } else { Region::Mask(mask) },
        stamp: 0.0,
    }
}

fn tool(name: &'static str, cures: &'static [Deficiency], answer: Vec<Evidence>) -> Box<dyn Tool + Send> {
    Box::new(Scripted { name, cures, answer })
}

const OMEGA: &[Deficiency] = &[Deficiency::Omega];
const ZETA: &[Deficiency] = &[Deficiency::Zeta];
const MU: &[Deficiency] = &[Deficiency::Mu];

fn course(budget: f64, prior: &Prior) -> Course<'_> {
    Course { budget, prior, adviser: None }
}

fn run(initial: Vec<Evidence>, tools: Vec<Box<dyn Tool + Send>>, budget: f64) -> Gathered {
    gather(initial, tools, &mut Verifier { asked: 0 }, course(budget, &Prior::default()))
        .unwrap_or_else(|()| panic!("judge"))
}

fn names(gathered: &Gathered) -> Vec<&str> {
    gathered.steps.iter().map(|step| step.tool.as_str()).collect()
}

#[test]
fn the_remedy_for_the_diagnosis_is_chosen_and_the_loop_stops_at_the_commit() {
    let tools = vec![
        tool("knowledge", MU, vec![]),
        tool("zoom", ZETA, vec![record("geometry", 2.0, 100)]),
        tool("segment", &[Deficiency::Omega, Deficiency::Zeta], vec![record("geometry", 1.0, 100)]),
        tool("color", OMEGA, vec![record("color", 1.0, 100)]),
    ];
    let found = run(vec![record("detector", 1.0, 100)], tools, BUDGET);
    assert!(found.diagnostics.committed, "{found:?}");
    assert_eq!(names(&found), ["zoom", "segment"]);
    assert_eq!(found.steps[0].remedy_for, Some(Deficiency::Zeta));
}

#[test]
fn disagreement_asks_for_another_segmentation() {
    let initial =
        vec![record("detector", 1.0, 300), record("geometry", 1.0, 100), record("geometry", 2.0, 100)];
    let tools = vec![
        tool("knowledge", MU, vec![]),
        tool("zoom", ZETA, vec![record("color", 2.0, 100)]),
        tool("color", OMEGA, vec![record("color", 1.0, 100)]),
    ];
    let found = run(initial, tools, BUDGET);
    assert_eq!(found.steps[0].tool, "color");
    assert_eq!(found.steps[0].remedy_for, Some(Deficiency::Omega));
}

/// A producer that found nothing is asked again, at another scale, only after those that were not asked.
#[test]
fn who_found_nothing_comes_after_who_was_not_asked() {
    let tools = || -> Vec<Box<dyn Tool + Send>> {
        vec![
            Box::new(Scaled { name: "geometry", producer: "geometry", answer: Vec::new() }),
            Box::new(Scaled { name: "geometry zoomed", producer: "geometry", answer: Vec::new() }),
            Box::new(Scaled { name: "color", producer: "color", answer: vec![record("color", 1.0, 100)] }),
            Box::new(Scaled {
                name: "color zoomed",
                producer: "color",
                answer: vec![record("color", 2.0, 100)],
            }),
        ]
    };
    let found = run(vec![record("detector", 1.0, 100)], tools(), BUDGET);
    assert_eq!(names(&found), ["geometry", "color", "color zoomed"]);
    assert!(found.diagnostics.committed, "{found:?}");
    // Whatever is remembered of colour with such things: what was seen here counts more.
    let tally = |helped: f64| memory::Tally { helped, tried: 9 };
    let episode = memory::Episode {
        appearance: memory::Appearance {
            class: "drawer".to_owned(),
            part: "handle".to_owned(),
            sides: [0.1; 3],
            colors: Vec::new(),
        },
        skills: [("geometry zoomed", 9.0), ("color", 1.0), ("color zoomed", 1.0)]
            .map(|(name, helped)| (name.to_owned(), tally(helped)))
            .into(),
        producers: std::collections::BTreeMap::new(),
        score: 0.9,
        episodes: 9,
    };
    let mut known = memory::Memory::default();
    known.keep(episode.clone());
    let prior = known.recall(&episode.appearance);
    let initial = vec![record("detector", 1.0, 100)];
    let found =
        gather(initial, tools(), &mut Verifier { asked: 0 }, course(BUDGET, &prior)).expect("a judge");
    assert_eq!(names(&found)[..2], ["geometry", "color"]);
    // Nothing is there to diagnose: the order is the same.
    assert_eq!(names(&run(Vec::new(), tools(), BUDGET))[..2], ["geometry", "color"]);
}

/// One of the two looks of a producer.
struct Scaled {
    name: &'static str,
    producer: &'static str,
    answer: Vec<Evidence>,
}

impl Tool for Scaled {
    fn name(&self) -> &str {
        self.name
    }
    fn producer(&self) -> &str {
        self.producer
    }
    fn cures(&self, evidence: &[Evidence]) -> &[Deficiency] {
        if evidence.iter().any(|record| record.producer == self.producer) { ZETA } else { OMEGA }
    }
    fn run(&mut self, _: &[Evidence]) -> Vec<Evidence> {
        std::mem::take(&mut self.answer)
    }
}

#[test]
fn the_budget_is_never_exceeded_and_no_tool_runs_twice() {
    for budget in [0.0, 1.0, 2.0, 3.0, 9.0] {
        let tools = (0..5).map(|i| tool(["a", "b", "c", "d", "e"][i], OMEGA, vec![])).collect();
        let found = run(Vec::new(), tools, budget);
        assert!(found.spent <= budget && !found.diagnostics.committed);
        let mut used = names(&found);
        used.sort_unstable();
        used.dedup();
        assert_eq!(used.len(), found.steps.len());
        assert_eq!(found.steps.len() as f64, budget.min(5.0));
    }
}

#[test]
fn committed_evidence_runs_no_tool_and_a_lost_judge_is_an_error() {
    let initial =
        vec![record("detector", 1.0, 100), record("geometry", 1.0, 100), record("geometry", 2.0, 100)];
    let found = run(initial, vec![tool("a", OMEGA, vec![])], BUDGET);
    assert!(found.steps.is_empty() && found.diagnostics.committed);
    assert_eq!(gather(Vec::new(), Vec::new(), &mut Lost, course(BUDGET, &Prior::default())), Err("lost"));
}

struct Crashing;

impl Tool for Crashing {
    fn name(&self) -> &str {
        "crashing"
    }
    fn cures(&self, _: &[Evidence]) -> &[Deficiency] {
        OMEGA
    }
    fn run(&mut self, _: &[Evidence]) -> Vec<Evidence> {
        panic!("a skill that is broken")
    }
}

#[test]
fn a_skill_that_crashes_costs_its_turn_and_no_more() {
    let tools: Vec<Box<dyn Tool + Send>> = vec![
        Box::new(Crashing),
        tool(
            "segment",
            &[Deficiency::Omega],
            vec![record("geometry", 1.0, 100), record("geometry", 2.0, 100)],
        ),
    ];
    let found = run(vec![record("detector", 1.0, 100)], tools, BUDGET);
    assert!(found.diagnostics.committed, "{found:?}");
    assert!((found.spent - found.steps.len() as f64).abs() < 1e-9);
}

#[test]
fn records_that_are_no_numbers_are_never_enough() {
    let mut broken = record("geometry", 1.0, 100);
    broken.confidence = f64::NAN;
    let mut small = broken.clone();
    (small.id, small.scale) = ("geometry2".to_owned(), f64::NAN);
    let found = run(vec![broken, small], Vec::new(), BUDGET);
    assert!(!found.diagnostics.committed, "{found:?}");
}

#[test]
fn what_did_not_help_with_such_things_comes_last() {
    let episode = memory::Episode {
        appearance: memory::Appearance {
            class: "mug".to_owned(),
            part: "handle".to_owned(),
            sides: [0.1; 3],
            colors: Vec::new(),
        },
        skills: [("zoom".to_owned(), memory::Tally { helped: 0.0, tried: 9 })].into(),
        producers: std::collections::BTreeMap::new(),
        score: 0.9,
        episodes: 9,
    };
    let mut known = memory::Memory::default();
    known.keep(episode.clone());
    let names_with = |prior: &Prior| {
        let tools = vec![tool("zoom", OMEGA, vec![]), tool("color", OMEGA, vec![])];
        let found =
            gather(vec![record("detector", 1.0, 100)], tools, &mut Verifier { asked: 0 }, course(1.0, prior));
        found.expect("a judge").steps[0].tool.clone()
    };
    assert_eq!(names_with(&Prior::default()), "zoom");
    assert_eq!(names_with(&known.recall(&episode.appearance)), "color");
}

/// Chooses by name, and notes what it was asked.
struct Brain {
    wants: &'static [&'static str],
    asked: Vec<Vec<String>>,
}

impl Adviser for Brain {
    fn advise(&mut self, undecided: &Undecided<'_>) -> Option<Advice> {
        let names: Vec<String> = undecided.choices.iter().map(|choice| choice.tool.clone()).collect();
        let wanted = self.wants.get(self.asked.len()).copied();
        let choice = wanted.map(|wanted| names.iter().position(|name| name == wanted).unwrap_or(99));
        self.asked.push(names);
        choice.map(|choice| Advice { choice, why: "because".to_owned() })
    }
}

fn advised(wants: &'static [&'static str], tools: Vec<Box<dyn Tool + Send>>) -> (Gathered, Brain) {
    let mut brain = Brain { wants, asked: Vec::new() };
    let course = Course { budget: BUDGET, prior: &Prior::default(), adviser: Some(&mut brain) };
    let found = gather(vec![record("detector", 1.0, 100)], tools, &mut Verifier { asked: 0 }, course);
    (found.unwrap_or_else(|()| panic!("judge")), brain)
}

#[test]
fn the_adviser_is_asked_where_two_are_near_tied_and_nowhere_else() {
    let two = || vec![tool("a", MU, Vec::new()), tool("b", MU, Vec::new())];
    // A tie: the adviser's word counts, and is kept with its reason. One tool alone needs no advice.
    let (gathered, brain) = advised(&["b"], two());
    assert_eq!((names(&gathered), gathered.open), (vec!["b", "a"], 1));
    assert_eq!(gathered.steps[0].advice.as_deref(), Some("because"));
    assert_eq!(
        (gathered.steps[1].advice.as_deref(), brain.asked),
        (None, vec![vec!["a".to_owned(), "b".to_owned()]])
    );
    // Nothing to say, or nonsense: the heuristic stands.
    for wants in [&[][..], &["nobody"]] {
        let (gathered, brain) = advised(wants, two());
        assert_eq!(
            (names(&gathered), gathered.steps[0].advice.clone(), brain.asked.len()),
            (vec!["a", "b"], None, 1)
        );
    }
    // One is clearly worth more: nobody is asked.
    let clear = vec![tool("a", MU, Vec::new()), tool("b", OMEGA, vec![record("geometry", 1.0, 100)])];
    let (gathered, brain) = advised(&["a"], clear);
    assert_eq!((gathered.steps[0].tool.as_str(), gathered.open, brain.asked.len()), ("b", 0, 0));
}

#[test]
fn the_adviser_is_asked_when_a_deficiency_persists() {
    // Three that differ clearly, of which two do nothing for what is lacking.
    let of_cost = |name, cost| -> Box<dyn Tool + Send> { Box::new(Costly { name, cost }) };
    let tools = vec![of_cost("a", 0.2), of_cost("b", 0.4), of_cost("c", 0.8), of_cost("d", 1.6)];
    let (gathered, brain) = advised(&["d"], tools);
    assert_eq!(names(&gathered), ["a", "b", "d", "c"]);
    assert_eq!(brain.asked, [vec!["c".to_owned(), "d".to_owned()]]);
}

struct Costly {
    name: &'static str,
    cost: f64,
}

impl Tool for Costly {
    fn name(&self) -> &str {
        self.name
    }
    fn cures(&self, _: &[Evidence]) -> &[Deficiency] {
        OMEGA
    }
    fn cost(&self) -> f64 {
        self.cost
    }
    fn run(&mut self, _: &[Evidence]) -> Vec<Evidence> {
        Vec::new()
    }
}
