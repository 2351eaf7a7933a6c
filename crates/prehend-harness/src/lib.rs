//! The loop that gathers evidence until the verifier accepts (AAH Algorithm 1, reduced to the tools that are here).
//!
//! For: choosing which tool to run next under a budget, by the verifier's diagnosis (eq. 5, 11, 15), and who is asked where that does
//! not decide ([`Adviser`]). Not for: judging (a [`Judge`] does, in another process when the nodes run), nor what the tools do. Read
//! [`gather`] first.

pub mod fusion;
pub mod imagination;
pub mod memory;
mod route;
pub mod skills;
pub mod subject;

pub use route::{Advice, Adviser, Choice, Undecided};

use memory::Prior;
use prehend_scene::{Deficiency, Diagnostics, Evidence};
use std::panic::AssertUnwindSafe;

/// Budget B of AAH Table 4: calls of tools.
pub const BUDGET: f64 = 3.0;
/// Assesses evidence; the verifier.
pub trait Judge {
    /// Why no judgement could be had.
    type Error;
    /// Diagnostics of the evidence so far (AAH eq. 6 to 11).
    fn assess(&mut self, evidence: &[Evidence]) -> Result<Diagnostics, Self::Error>;
}

/// A source of evidence that can be called once: one tool with one set of parameters, u = (s, eta).
pub trait Tool {
    /// Name for the trace.
    fn name(&self) -> &str;
    /// The deficiencies it may cure of this evidence (the inverse of Gamma, eq. 11); not empty.
    fn cures(&self, evidence: &[Evidence]) -> &[Deficiency];
    /// Who looks. What finds nothing at one scale hardly finds more at another.
    fn producer(&self) -> &str {
        self.name()
    }
    /// Cost of the call; positive.
    fn cost(&self) -> f64 {
        1.0
    }
    /// Looks, knowing the evidence so far. No evidence is a possible answer.
    fn run(&mut self, evidence: &[Evidence]) -> Vec<Evidence>;
}

/// One turn of the loop.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    /// The tool that was called.
    pub tool: String,
    /// What it was called for; `None` for the first call.
    pub remedy_for: Option<Deficiency>,
    /// Why the adviser chose it; `None` where the heuristic did.
    pub advice: Option<String>,
    /// Ids of the records it gave.
    pub added: Vec<String>,
    /// What the verifier said then.
    pub diagnostics: Diagnostics,
}

/// Everything that was gathered.
#[derive(Clone, Debug, PartialEq)]
pub struct Gathered {
    /// All evidence, the initial one first.
    pub evidence: Vec<Evidence>,
    /// What the verifier said before any tool ran.
    pub initial: Diagnostics,
    /// The last diagnostics.
    pub diagnostics: Diagnostics,
    /// The turns in order.
    pub steps: Vec<Step>,
    /// How many of their choices the heuristic left open, whether an adviser was asked or not.
    pub open: usize,
    /// Budget that was used.
    pub spent: f64,
}

/// By what the loop goes.
pub struct Course<'a> {
    /// Budget B: the sum of the costs of the calls.
    pub budget: f64,
    /// What is remembered of such things.
    pub prior: &'a Prior,
    /// Who is asked where the heuristic does not decide; without one it does all the same.
    pub adviser: Option<&'a mut dyn Adviser>,
}

/// Runs tools until the verifier commits, the budget is used up or no tool is left. `evidence` is what is there already; it is
/// assessed before any tool runs and costs nothing. The first tool of `tools` is run first when nothing is there to diagnose.
///
/// Errors: the judge's, at its first; nothing gathered without a judgement is of use.
pub fn gather<J: Judge>(
    mut evidence: Vec<Evidence>,
    mut tools: Vec<Box<dyn Tool + Send>>,
    judge: &mut J,
    mut course: Course<'_>,
) -> Result<Gathered, J::Error> {
    let initial = judge.assess(&evidence)?;
    let mut diagnostics = initial;
    let (mut steps, mut spent, mut open) = (Vec::new(), 0.0, 0);
    let mut barren: Vec<String> = Vec::new();
    while !diagnostics.committed {
        let left = course.budget - spent;
        let choices = route::choices(&tools, &diagnostics, &evidence, left, course.prior, &barren);
        let Some(best) = route::best(&choices) else { break };
        let undecided =
            Undecided { evidence: &evidence, diagnostics: &diagnostics, budget: left, choices: &choices };
        let is_open = route::is_undecided(&undecided, &steps);
        open += usize::from(is_open);
        let advice = match course.adviser.as_deref_mut() {
            Some(adviser) if is_open => adviser.advise(&undecided),
            _ => None,
        };
        let advised = advice.and_then(|advice| Some((choices.get(advice.choice)?.index, advice.why)));
        let (next, advice) = advised.map_or((best, None), |(index, why)| (index, Some(why)));
        let mut tool = tools.remove(next);
        spent += tool.cost();
        // A skill that crashes costs its turn, and no more.
        let found = std::panic::catch_unwind(AssertUnwindSafe(|| tool.run(&evidence))).unwrap_or_default();
        let added = found.iter().map(|record| record.id.clone()).collect();
        let remedy_for = if evidence.is_empty() { None } else { diagnostics.deficiency };
        if found.is_empty() {
            barren.push(tool.producer().to_owned());
        } else {
            evidence.extend(found);
            diagnostics = judge.assess(&evidence)?;
        }
        steps.push(Step { tool: tool.name().to_owned(), remedy_for, advice, added, diagnostics });
    }
    Ok(Gathered { evidence, initial, diagnostics, steps, open, spent })
}

#[cfg(test)]
mod tests;
