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
    fn cures(&self) -> &[Deficiency] {
        self.cures
    }
    fn run(&mut self) -> Vec<Evidence> {
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

fn run(initial: Vec<Evidence>, tools: Vec<Box<dyn Tool + Send>>, budget: f64) -> Gathered {
    gather(initial, tools, &mut Verifier { asked: 0 }, budget, &Prior::default())
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
    assert_eq!(gather(Vec::new(), Vec::new(), &mut Lost, BUDGET, &Prior::default()), Err("lost"));
}
