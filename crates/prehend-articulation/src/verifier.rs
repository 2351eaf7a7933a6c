//! When to stop: the threshold verifier and its adaptive variant (`articulated-object-critics.md`, Verifier Module).
//!
//! Conditions in the document's order: most iterations, overall threshold, position and joint thresholds, patience.

use serde::{Deserialize, Serialize};

/// What the critics gave one iteration, 0 to 10.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Rating {
    /// `feedback_score`: overall.
    pub overall: f64,
    /// `position_score`, when links were judged.
    pub position: Option<f64>,
    /// `joint_score`, when joints were judged.
    pub joint: Option<f64>,
}

/// The document's parameters.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Thresholds {
    /// `position_threshold`.
    pub position: f64,
    /// `joint_threshold`.
    pub joint: f64,
    /// `overall_threshold`.
    pub overall: f64,
    /// `max_iterations`.
    pub max_iterations: usize,
    /// Iterations without improvement.
    pub patience: usize,
    /// Of the adaptive variant: `threshold_decay`, `min_threshold`, `adaptation_interval`.
    pub adaptive: Option<(f64, f64, usize)>,
}

impl Default for Thresholds {
    fn default() -> Self {
        Self { position: 7.0, joint: 8.0, overall: 7.5, max_iterations: 10, patience: 3, adaptive: None }
    }
}

impl Thresholds {
    /// The adaptive variant with the document's defaults.
    pub fn adaptive() -> Self {
        Self { adaptive: Some((0.95, 5.0, 3)), ..Self::default() }
    }
}

/// What the verifier says after an iteration.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Decision {
    /// Go on.
    Continue,
    /// Condition 1.
    MaxIterations {
        /// How many there may be.
        most: usize,
    },
    /// Condition 2.
    Overall {
        /// The score.
        score: f64,
        /// The threshold as it was then.
        threshold: f64,
    },
    /// Condition 3.
    Components {
        /// `position_score`.
        position: f64,
        /// `joint_score`.
        joint: f64,
    },
    /// None of the document's: the next proposal would be the same.
    NothingElse,
    /// Condition 4.
    NoImprovement {
        /// For how many iterations.
        patience: usize,
        /// The best overall score.
        best: f64,
    },
}

impl Decision {
    /// `get_stop_reason`; `None` while it goes on.
    pub fn reason(&self) -> Option<String> {
        Some(match self {
            Self::Continue => return None,
            Self::NothingElse => "Nothing else to propose from what was seen".to_owned(),
            Self::MaxIterations { most } => format!("Reached maximum iterations {most}"),
            Self::Overall { score, threshold } => {
                format!("Reached overall threshold {threshold:.2}/10 (current: {score:.1}/10)")
            }
            Self::Components { position, joint } => {
                format!(
                    "Position and joint both reached threshold (position: {position:.1}/10, joint: {joint:.1}/10)"
                )
            }
            Self::NoImprovement { patience, best } => {
                format!("No improvement for {patience} consecutive iterations (best: {best:.1}/10)")
            }
        })
    }

    /// Whether it stopped because the model is good enough.
    pub fn is_success(&self) -> bool {
        matches!(self, Self::Overall { .. } | Self::Components { .. })
    }
}

/// The verifier of one loop.
#[derive(Clone, Debug)]
pub struct Verifier {
    thresholds: Thresholds,
    iteration: usize,
    best: Option<f64>,
    without: usize,
}

impl Verifier {
    /// Before the first iteration.
    pub fn new(thresholds: Thresholds) -> Self {
        Self { thresholds, iteration: 0, best: None, without: 0 }
    }

    /// Takes the rating of the next iteration. A rating that is no number counts as 0.
    pub fn take(&mut self, rating: &Rating) -> Decision {
        let number = |value: f64| if value.is_finite() { value } else { 0.0 };
        self.iteration += 1;
        let score = number(rating.overall);
        if let Some((decay, least, interval)) = self.thresholds.adaptive
            && interval > 0
            && self.iteration.is_multiple_of(interval)
        {
            // The document adapts before it decides, never upwards.
            let adapted = (self.thresholds.overall * decay).max(least);
            self.thresholds.overall = adapted.min(self.thresholds.overall);
        }
        if self.iteration >= self.thresholds.max_iterations {
            return Decision::MaxIterations { most: self.thresholds.max_iterations };
        }
        if score >= self.thresholds.overall {
            return Decision::Overall { score, threshold: self.thresholds.overall };
        }
        if let (Some(position), Some(joint)) = (rating.position.map(number), rating.joint.map(number))
            && position >= self.thresholds.position
            && joint >= self.thresholds.joint
        {
            return Decision::Components { position, joint };
        }
        if self.best.is_none_or(|best| score > best) {
            self.best = Some(score);
            self.without = 0;
        } else {
            self.without += 1;
        }
        if self.without >= self.thresholds.patience {
            let best = self.best.unwrap_or_default();
            return Decision::NoImprovement { patience: self.thresholds.patience, best };
        }
        Decision::Continue
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(thresholds: Thresholds, ratings: &[(f64, Option<f64>, Option<f64>)]) -> Vec<Decision> {
        let mut verifier = Verifier::new(thresholds);
        ratings
            .iter()
            .map(|(overall, position, joint)| {
                verifier.take(&Rating { overall: *overall, position: *position, joint: *joint })
            })
            .collect()
    }

    /// The document's examples. Two of them contradict its own steps, and here the steps count: the first goes on at iteration 3 with
    /// 7.9 of 7.5; the adaptive one goes on at iteration 6 with 7.4 of the 7.22 that was adapted before the decision.
    #[test]
    fn the_examples_of_the_document() {
        let low = |overall| (overall, None, None);
        let said = run(Thresholds::default(), &[low(5.0), low(4.8), low(4.9), low(4.7)]);
        assert_eq!(said[..3], [Decision::Continue, Decision::Continue, Decision::Continue]);
        assert_eq!(
            said[3].reason().as_deref(),
            Some("No improvement for 3 consecutive iterations (best: 5.0/10)")
        );
        let rising: Vec<_> = (0..10).map(|step| low(5.0 + 0.3 * f64::from(step))).collect();
        let said = run(Thresholds { overall: 8.0, ..Thresholds::default() }, &rising);
        assert_eq!(said[9], Decision::MaxIterations { most: 10 });
        assert!(said[..9].iter().all(|decision| *decision == Decision::Continue));
        let scored = [
            (5.2, Some(6.0), Some(4.5)),
            (6.8, Some(7.2), Some(6.5)),
            (7.4, Some(8.1), Some(7.8)),
            (7.4, Some(8.5), Some(8.0)),
        ];
        let said = run(Thresholds::default(), &scored);
        assert_eq!(said[3], Decision::Components { position: 8.5, joint: 8.0 });
        assert!(said[3].is_success());
        let adaptive = Thresholds { overall: 8.0, ..Thresholds::adaptive() };
        let said = run(adaptive, &[6.5, 6.8, 7.0, 7.2, 7.3, 7.4, 7.5].map(low));
        assert_eq!(said[5].reason().as_deref(), Some("Reached overall threshold 7.22/10 (current: 7.4/10)"));
        assert!(said[..5].iter().all(|decision| *decision == Decision::Continue));
    }

    #[test]
    fn what_is_no_number_is_no_success() {
        let said = run(Thresholds::default(), &[(f64::NAN, Some(f64::NAN), Some(9.0))]);
        assert_eq!(said, [Decision::Continue]);
        let said = run(Thresholds::default(), &[(f64::INFINITY, None, None)]);
        assert_eq!(said, [Decision::Continue]);
    }
}
