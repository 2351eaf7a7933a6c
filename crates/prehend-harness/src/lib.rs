//! The loop that gathers evidence until the verifier accepts (AAH Algorithm 1, reduced to the tools that are here).
//!
//! For: choosing which tool to run next under a budget, by the verifier's diagnosis (eq. 5, 11, 15). Not for: judging
//! (a [`Judge`] does, in another process when the nodes run), nor what the tools do. Read [`gather`] first.

pub mod fusion;
pub mod imagination;
pub mod memory;
pub mod skills;

use memory::Prior;
use prehend_scene::{Deficiency, Diagnostics, Evidence};
use std::panic::AssertUnwindSafe;

/// Budget B of AAH Table 4: calls of tools.
pub const BUDGET: f64 = 3.0;
/// Discount eta_off of tools that were not proposed (AAH eq. 15).
const OFF_TARGET: f64 = 0.5;

/// Scale lambda of a deficiency (AAH appendix 0.A.2).
fn scale(deficiency: Deficiency) -> f64 {
    match deficiency {
        Deficiency::Omega => 1.0,
        Deficiency::Zeta => 0.8,
        Deficiency::Mu => 0.6,
    }
}

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
    /// Budget that was used.
    pub spent: f64,
}

/// Runs tools until the verifier commits, the budget is used up or no tool is left. `evidence` is what is there already; it is
/// assessed before any tool runs and costs nothing. The first tool of `tools` is run first when nothing is there to diagnose. `prior` is
/// what is remembered of such things.
///
/// Errors: the judge's, at its first; nothing gathered without a judgement is of use.
pub fn gather<J: Judge>(
    mut evidence: Vec<Evidence>,
    mut tools: Vec<Box<dyn Tool + Send>>,
    judge: &mut J,
    budget: f64,
    prior: &Prior,
) -> Result<Gathered, J::Error> {
    let initial = judge.assess(&evidence)?;
    let mut diagnostics = initial;
    let (mut steps, mut spent) = (Vec::new(), 0.0);
    while !diagnostics.committed {
        let Some(next) = route(&tools, &diagnostics, &evidence, budget - spent, prior) else {
            break;
        };
        let mut tool = tools.remove(next);
        spent += tool.cost();
        // A skill that crashes costs its turn, and no more.
        let found = std::panic::catch_unwind(AssertUnwindSafe(|| tool.run(&evidence))).unwrap_or_default();
        let added = found.iter().map(|record| record.id.clone()).collect();
        let remedy_for = if evidence.is_empty() { None } else { diagnostics.deficiency };
        if !found.is_empty() {
            evidence.extend(found);
            diagnostics = judge.assess(&evidence)?;
        }
        steps.push(Step { tool: tool.name().to_owned(), remedy_for, added, diagnostics });
    }
    Ok(Gathered { evidence, initial, diagnostics, steps, spent })
}

/// Index of the tool with the greatest expected gain per cost (eq. 5 with eq. 15) that the budget allows; of equals the first.
fn route(
    tools: &[Box<dyn Tool + Send>],
    diagnostics: &Diagnostics,
    evidence: &[Evidence],
    budget: f64,
    prior: &Prior,
) -> Option<usize> {
    let mut best: Option<(f64, usize)> = None;
    for (index, tool) in tools.iter().enumerate().filter(|(_, tool)| tool.cost() <= budget + 1e-9) {
        let promise = prior.promise(tool.name());
        let worth = match evidence.is_empty() {
            true => promise - 1.0,
            false => promise * gain(tool.cures(evidence), diagnostics) / tool.cost().max(1e-9),
        };
        if best.is_none_or(|(most, _)| worth > most + 1e-12) {
            best = Some((worth, index));
        }
    }
    best.map(|(_, index)| index)
}

/// Expected gain of what cures these (eq. 15).
fn gain(cures: &[Deficiency], diagnostics: &Diagnostics) -> f64 {
    let gap = |deficiency: Deficiency| {
        let (gap, value) = match deficiency {
            Deficiency::Omega => (diagnostics.gaps.omega, diagnostics.omega),
            Deficiency::Zeta => (diagnostics.gaps.zeta, diagnostics.zeta),
            Deficiency::Mu => (diagnostics.gaps.mu, diagnostics.mu),
        };
        // Above its floor a diagnostic still counts for a little: the commit score may lack it.
        gap.max(0.1 * (1.0 - value))
    };
    let worth = |deficiency: &Deficiency| {
        let discount = if diagnostics.deficiency == Some(*deficiency) { 1.0 } else { OFF_TARGET };
        scale(*deficiency) * gap(*deficiency) * discount
    };
    cures.iter().map(worth).fold(0.0, f64::max)
}

#[cfg(test)]
mod tests;
