//! Which tool is called next: benefit by cost from the verifier's gaps (AAH eq. 5, 15), and who is asked where that does not decide
//! (appendix 0.A.2).

use crate::memory::Prior;
use crate::{Step, Tool};
use prehend_scene::{Deficiency, Diagnostics, Evidence};

/// Discount eta_off of tools that were not proposed (AAH eq. 15).
const OFF_TARGET: f64 = 0.5;
/// The two best are near-tied when they differ by less than this share of the best (AAH 0.A.2).
const NEAR_TIE: f64 = 0.1;
/// So many retries for one deficiency, one after the other, say that the heuristic does not know better (AAH 0.A.2).
const RETRIES: usize = 2;

/// A tool that may be called next.
#[derive(Clone, Debug, PartialEq)]
pub struct Choice {
    /// Its place among the tools that are left.
    pub(crate) index: usize,
    /// Its name.
    pub tool: String,
    /// The deficiencies it may cure.
    pub cures: Vec<Deficiency>,
    /// Cost of the call.
    pub cost: f64,
    /// How well it did with such things: 1 is as usual.
    pub promise: f64,
    /// Its expected gain by its cost.
    pub worth: f64,
}

/// A decision that the heuristic leaves open.
#[derive(Clone, Copy, Debug)]
pub struct Undecided<'a> {
    /// Everything that was gathered.
    pub evidence: &'a [Evidence],
    /// What the verifier says of it.
    pub diagnostics: &'a Diagnostics,
    /// Budget that is left.
    pub budget: f64,
    /// What may be called next; at least two.
    pub choices: &'a [Choice],
}

/// A decision, and what speaks for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Advice {
    /// Index into [`Undecided::choices`]; one that is out of range counts as none.
    pub choice: usize,
    /// In words, for the trace.
    pub why: String,
}

/// Decides where the heuristic does not: the paper's LLM decision brain (AAH 0.A.2). What it says changes the order of looks, never a
/// verdict.
pub trait Adviser {
    /// What to call next; `None` leaves it to the heuristic.
    fn advise(&mut self, undecided: &Undecided<'_>) -> Option<Advice>;
}

/// The tools that the budget allows, each with its expected gain by its cost (eq. 5 with eq. 15). `barren` are the producers that found
/// nothing here: whatever they found elsewhere, the others come first.
pub(crate) fn choices(
    tools: &[Box<dyn Tool + Send>],
    diagnostics: &Diagnostics,
    evidence: &[Evidence],
    budget: f64,
    prior: &Prior,
    barren: &[String],
) -> Vec<Choice> {
    let mut choices = Vec::new();
    for (index, tool) in tools.iter().enumerate() {
        let (cures, cost, promise) = (tool.cures(evidence), tool.cost(), prior.promise(tool.name()));
        if cost > budget + 1e-9 {
            continue;
        }
        let is_barren = barren.iter().any(|producer| producer == tool.producer());
        let likely = if is_barren { 0.0 } else { promise };
        let worth = match evidence.is_empty() {
            true => likely - 1.0,
            false => likely * gain(cures, diagnostics) / cost.max(1e-9),
        };
        let (tool, cures) = (tool.name().to_owned(), cures.to_vec());
        choices.push(Choice { index, tool, cures, cost, promise, worth });
    }
    choices
}

/// Index among the tools of the one that is worth most; of equals the first.
pub(crate) fn best(choices: &[Choice]) -> Option<usize> {
    let mut best: Option<&Choice> = None;
    for choice in choices {
        if best.is_none_or(|best| choice.worth > best.worth + 1e-12) {
            best = Some(choice);
        }
    }
    best.map(|best| best.index)
}

/// Whether the heuristic leaves a decision open: the two best are near-tied, or the same deficiency persists after two retries for it.
/// Without evidence there is nothing to weigh.
pub(crate) fn is_undecided(undecided: &Undecided<'_>, steps: &[Step]) -> bool {
    let Undecided { evidence, diagnostics, choices, .. } = undecided;
    if evidence.is_empty() || choices.len() < 2 {
        return false;
    }
    let mut worths: Vec<f64> = choices.iter().map(|choice| choice.worth).collect();
    worths.sort_by(|a, b| b.total_cmp(a));
    let is_tied = worths[0] - worths[1] < NEAR_TIE * worths[0].abs();
    let retries = steps.iter().rev().take_while(|step| step.remedy_for == diagnostics.deficiency);
    is_tied || (diagnostics.deficiency.is_some() && retries.count() >= RETRIES)
}

/// Scale lambda of a deficiency (AAH appendix 0.A.2).
fn scale(deficiency: Deficiency) -> f64 {
    match deficiency {
        Deficiency::Omega => 1.0,
        Deficiency::Zeta => 0.8,
        Deficiency::Mu => 0.6,
    }
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
