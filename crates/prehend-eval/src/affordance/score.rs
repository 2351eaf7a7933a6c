//! Metrics of AAH appendix 0.B.1.4.

use super::Answer;
use serde::Serialize;

/// Figures over samples.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Score {
    /// Samples.
    pub n: usize,
    /// Mean of the samples' IoU.
    pub giou: f64,
    /// Sum of intersections by sum of unions.
    pub ciou: f64,
    /// Share of samples with an IoU above 0.5.
    pub p50: f64,
    /// Mean of that share over thresholds 0.50, 0.55 ... 0.95.
    pub p50_95: f64,
    /// Mean number of calls of skills.
    pub calls: f64,
    /// Mean time of the skills and of the judgement, milliseconds of wall time.
    pub ms: f64,
    /// Share of samples of which the verifier was sure.
    pub committed: f64,
    /// Share of those with an IoU above 0.5; 0 of none.
    pub committed_right: f64,
}

impl Score {
    /// Figures over answers; all zero of none.
    pub fn of<'a>(answers: impl IntoIterator<Item = &'a Answer>) -> Self {
        let all: Vec<&Answer> = answers.into_iter().collect();
        if all.is_empty() {
            return Self::default();
        }
        let n = all.len() as f64;
        let mean = |of: &dyn Fn(&Answer) -> f64| all.iter().map(|answer| of(answer)).sum::<f64>() / n;
        let above = |least: f64| mean(&|answer| f64::from(u8::from(answer.iou() > least)));
        let (both, union) = all
            .iter()
            .fold((0, 0), |(both, union), answer| (both + answer.intersection, union + answer.union));
        let sure: Vec<&&Answer> = all.iter().filter(|answer| answer.committed).collect();
        let right = sure.iter().filter(|answer| answer.iou() > 0.5).count();
        Self {
            n: all.len(),
            giou: mean(&|answer| answer.iou()),
            ciou: if union == 0 { 0.0 } else { both as f64 / union as f64 },
            p50: above(0.5),
            p50_95: (0..10).map(|step| above(0.5 + 0.05 * f64::from(step))).sum::<f64>() / 10.0,
            calls: mean(&|answer| answer.calls),
            ms: mean(&|answer| answer.ms),
            committed: sure.len() as f64 / n,
            committed_right: if sure.is_empty() { 0.0 } else { right as f64 / sure.len() as f64 },
        }
    }
}
