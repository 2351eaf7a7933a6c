//! The harness, its ablations, and the chains it is held against.

use super::Sample;
use prehend_geometry::Mask;
use prehend_harness::fusion::fuse;
use prehend_harness::imagination::{IMAGINATION, play};
use prehend_harness::memory::{Episode, Memory, Prior};
use prehend_harness::skills::{initial, tools};
use prehend_harness::subject::Subject;
use prehend_harness::{BUDGET, Course, Gathered, Judge, Tool, gather};
use prehend_scene::{Diagnostics, Evidence};
use prehend_verify::{CommitRule, diagnose};
use serde::Serialize;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Instant;

/// Least IoU of what can be acted on: it stands for the outcome of an action, which no sample has.
const RIGHT: f64 = 0.5;

/// Skills of the A4-like chain after the detection.
const A4: [&str; 2] = [IMAGINATION, "part geometry"];

type Skills = Vec<Box<dyn Tool + Send>>;

/// Who decides which skills are called.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Method {
    /// Router, verifier, budget and memory (AAH Algorithm 1).
    Harness,
    /// Every skill in one order, then the fusion.
    FixedChain,
    /// Detection and its mask.
    DetectSegment,
    /// Imagination, detection and one segmentation, as A4-Agent has them.
    A4Like,
    /// Ablation: no verifier; the router goes on until the budget is used up.
    NoVerifier,
    /// Ablation: neither of the two memories.
    NoMemory,
    /// Ablation: the skills in one order, until the verifier accepts.
    NoRouter,
    /// Ablation: nothing is imagined.
    NoImagination,
}

impl Method {
    /// All, in the order of tables.
    pub const ALL: [Self; 8] = [
        Self::Harness,
        Self::FixedChain,
        Self::DetectSegment,
        Self::A4Like,
        Self::NoVerifier,
        Self::NoMemory,
        Self::NoRouter,
        Self::NoImagination,
    ];

    /// The harness and the chains it is held against.
    pub const CHAINS: [Self; 4] = [Self::Harness, Self::FixedChain, Self::DetectSegment, Self::A4Like];

    /// The harness without one of its parts.
    pub const ABLATIONS: [Self; 4] = [Self::NoVerifier, Self::NoMemory, Self::NoRouter, Self::NoImagination];

    /// Name in tables and JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::Harness => "harness",
            Self::FixedChain => "fixed_chain",
            Self::DetectSegment => "detect_segment",
            Self::A4Like => "a4_like",
            Self::NoVerifier => "no_verifier",
            Self::NoMemory => "no_memory",
            Self::NoRouter => "no_router",
            Self::NoImagination => "no_imagination",
        }
    }
}

/// Parameters that are swept.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Setting {
    /// The verifier's thresholds.
    pub rule: CommitRule,
    /// Calls that may be made.
    pub budget: f64,
}

impl Default for Setting {
    fn default() -> Self {
        Self { rule: CommitRule::default(), budget: BUDGET }
    }
}

/// What came out for one sample.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Answer {
    /// Pixels of the answer that belong to the part.
    pub intersection: usize,
    /// Pixels of the answer or of the part.
    pub union: usize,
    /// Skills that were called, the detection included.
    pub calls: f64,
    /// Time of skills and judgements, milliseconds.
    pub ms: f64,
    /// Whether the verifier was sure.
    pub committed: bool,
    /// Choices of the router.
    pub choices: usize,
    /// Those of them that its heuristic left open (AAH 0.A.2).
    pub open: usize,
}

impl Answer {
    /// IoU with the part; 0 when nothing was found.
    pub fn iou(&self) -> f64 {
        if self.union == 0 { 0.0 } else { self.intersection as f64 / self.union as f64 }
    }
}

/// The verifier within one process.
struct Verifier(CommitRule);

impl Judge for Verifier {
    type Error = Infallible;
    fn assess(&mut self, evidence: &[Evidence]) -> Result<Diagnostics, Infallible> {
        Ok(diagnose(evidence, &self.0))
    }
}

impl Sample {
    /// An episode of common sense: every skill is called, and the truth says whose masks were right.
    pub fn common_sense(&self, setting: &Setting) -> Option<Episode> {
        let subject = self.subject.as_ref()?;
        let gathered = all_of(tools(subject), subject, &setting.rule);
        let mut episode = Episode::of(subject.appearance(), &gathered);
        for record in &gathered.evidence {
            let agrees = self.best(&record.view, record.region.mask()).map_or(0.0, |answer| answer.iou());
            let tally = episode.producers.entry(record.producer.clone()).or_default();
            tally.tried += 1;
            tally.helped += agrees;
        }
        Some(episode)
    }

    /// What a method makes of a sample. The harness keeps what it was sure of and right in, and takes back what it was wrong in.
    pub fn answer(&self, method: Method, setting: &Setting, memory: &mut Memory) -> Answer {
        let Some(subject) = &self.subject else {
            return Answer { union: self.smallest(), ..Answer::default() };
        };
        let appearance = subject.appearance();
        let begun = Instant::now();
        let prior = match method {
            Method::Harness | Method::NoVerifier | Method::NoRouter | Method::NoImagination => {
                memory.recall(&appearance)
            }
            Method::FixedChain | Method::DetectSegment | Method::A4Like | Method::NoMemory => {
                Prior::default()
            }
        };
        let gathered = match method {
            Method::Harness | Method::NoMemory => gathered(tools(subject), subject, setting, &prior),
            Method::NoImagination => {
                let mut skills = tools(subject);
                skills.retain(|skill| skill.name() != IMAGINATION);
                gathered(skills, subject, setting, &prior)
            }
            Method::NoVerifier => {
                let never = CommitRule { delta: f64::INFINITY, ..setting.rule };
                gathered(tools(subject), subject, &Setting { rule: never, ..*setting }, &prior)
            }
            Method::NoRouter => chain(tools(subject), subject, &setting.rule, setting.budget, false),
            Method::FixedChain => all_of(tools(subject), subject, &setting.rule),
            Method::DetectSegment => all_of(Vec::new(), subject, &setting.rule),
            Method::A4Like => all_of(skills_named(subject, &A4), subject, &setting.rule),
        };
        let rule = setting.rule;
        let fused =
            fuse(&gathered.evidence, &|record| rule.weight(record.kind) * prior.trust(&record.producer));
        let ms = begun.elapsed().as_secs_f64() * 1e3;
        let mut answer =
            fused.as_ref().and_then(|fused| self.best(&fused.view, &fused.mask)).unwrap_or_default();
        if answer.union == 0 {
            answer.union = self.smallest();
        }
        // The detection is a call, too; another view is two.
        answer.calls = 1.0 + gathered.spent;
        answer.ms = ms;
        answer.committed = gathered.diagnostics.committed;
        (answer.choices, answer.open) = (gathered.steps.len(), gathered.open);
        if method == Method::Harness && answer.committed {
            match answer.iou() >= RIGHT {
                true => memory.keep(Episode::of(subject.appearance(), &gathered)),
                false => memory.take_back(&appearance),
            }
        }
        answer
    }

    /// How sure imagination is of what the detection says, whether that is right, and the time it took, milliseconds. `None` when there is
    /// nothing to play.
    pub fn imagined(&self) -> Option<(f64, bool, f64)> {
        let subject = self.subject.as_ref()?;
        let evidence = initial(subject);
        let begun = Instant::now();
        let played = play(subject, &evidence)?;
        let ms = begun.elapsed().as_secs_f64() * 1e3;
        let said = fuse(&evidence, &|_| 1.0)?;
        Some((played.confidence, self.best(&said.view, &said.mask)?.iou() >= RIGHT, ms))
    }

    /// The answer of a mask in a view against the part of the kind that it meets best; `None` when the view shows none.
    fn best(&self, view: &str, mask: &Mask) -> Option<Answer> {
        let parts = self.truth.iter().filter_map(|part| part.get(view));
        let against = |part: &Mask| {
            let intersection = part.intersection_area(mask);
            Answer { intersection, union: part.area() + mask.area() - intersection, ..Answer::default() }
        };
        parts.map(against).max_by(|a, b| a.iou().total_cmp(&b.iou()))
    }

    /// Pixels that are missed when nothing is found.
    fn smallest(&self) -> usize {
        self.truth.iter().filter_map(|part| part.values().map(Mask::area).max()).min().unwrap_or(1)
    }
}

fn gathered(skills: Skills, subject: &Subject, setting: &Setting, prior: &Prior) -> Gathered {
    let course = Course { budget: setting.budget, prior, adviser: None };
    match gather(initial(subject), skills, &mut Verifier(setting.rule), course) {
        Ok(gathered) => gathered,
        Err(never) => match never {},
    }
}

/// The skills of these names, in this order.
fn skills_named(subject: &Arc<Subject>, names: &[&str]) -> Skills {
    names.iter().filter_map(|name| tools(subject).into_iter().find(|skill| skill.name() == *name)).collect()
}

/// The skills in one order, to the end.
fn all_of(skills: Skills, subject: &Subject, rule: &CommitRule) -> Gathered {
    chain(skills, subject, rule, f64::INFINITY, true)
}

/// The skills in one order; to the end, or until the verifier accepts.
fn chain(skills: Skills, subject: &Subject, rule: &CommitRule, budget: f64, to_the_end: bool) -> Gathered {
    let mut evidence = initial(subject);
    let initial = diagnose(&evidence, rule);
    let mut diagnostics = initial;
    let (mut steps, mut spent) = (Vec::new(), 0.0);
    for mut tool in skills {
        if spent + tool.cost() > budget || diagnostics.committed && !to_the_end {
            break;
        }
        spent += tool.cost();
        let found = tool.run(&evidence);
        let added = found.iter().map(|record| record.id.clone()).collect();
        evidence.extend(found);
        diagnostics = diagnose(&evidence, rule);
        steps.push(prehend_harness::Step {
            tool: tool.name().to_owned(),
            remedy_for: None,
            advice: None,
            added,
            diagnostics,
        });
    }
    Gathered { evidence, initial, diagnostics, steps, open: 0, spent }
}
