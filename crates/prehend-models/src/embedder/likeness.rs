//! From the angle between two vectors to a probability.

/// How a cosine becomes a probability.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Likeness {
    /// CLIP: the texts compete (softmax over `scale` x cosine).
    Softmax {
        /// exp of the trained `logit_scale`.
        scale: f64,
    },
    /// SigLIP: every text stands alone (sigmoid of `scale` x cosine + `bias`).
    Sigmoid {
        /// exp of the trained `logit_scale`.
        scale: f64,
        /// The trained `logit_bias`.
        bias: f64,
    },
}

/// A vector at unit length; zeros stay zeros.
pub fn unit(vector: &[f32]) -> Vec<f32> {
    let length = vector.iter().map(|x| f64::from(*x).powi(2)).sum::<f64>().sqrt();
    let scale = if length > 0.0 { 1.0 / length } else { 0.0 };
    vector.iter().map(|x| (f64::from(*x) * scale) as f32).collect()
}

impl Likeness {
    /// Probability of each text for a picture; all are unit vectors of one space.
    pub fn of(&self, picture: &[f32], texts: &[Vec<f32>]) -> Vec<f64> {
        let cosine = |text: &Vec<f32>| -> f64 {
            picture.iter().zip(text).map(|(a, b)| f64::from(*a) * f64::from(*b)).sum()
        };
        match self {
            Self::Sigmoid { scale, bias } => {
                texts.iter().map(|text| 1.0 / (1.0 + (-(scale * cosine(text) + bias)).exp())).collect()
            }
            Self::Softmax { scale } => {
                let logits: Vec<f64> = texts.iter().map(|text| scale * cosine(text)).collect();
                // Taken off from all of them, so that no power overflows.
                let most = logits.iter().copied().fold(f64::NEG_INFINITY, f64::max);
                let powers: Vec<f64> = logits.iter().map(|logit| (logit - most).exp()).collect();
                let sum: f64 = powers.iter().sum();
                powers.into_iter().map(|power| power / sum).collect()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(likeness: Likeness, cosines: &[f32], expected: &[f64]) {
        let texts: Vec<Vec<f32>> = cosines.iter().map(|c| vec![*c, (1.0 - c * c).sqrt()]).collect();
        let found = likeness.of(&[1.0, 0.0], &texts);
        assert_eq!(found.len(), expected.len());
        for (found, expected) in found.iter().zip(expected) {
            assert!((found - expected).abs() < 1e-4, "{likeness:?}: {found} instead of {expected}");
        }
    }

    #[test]
    fn cosines_become_probabilities_as_the_families_were_trained() {
        let e = std::f64::consts::E;
        check(Likeness::Softmax { scale: 10.0 }, &[0.3, 0.2], &[e / (1.0 + e), 1.0 / (1.0 + e)]);
        check(Likeness::Softmax { scale: 1e4 }, &[1.0, 0.2], &[1.0, 0.0]);
        check(Likeness::Softmax { scale: 100.0 }, &[], &[]);
        check(Likeness::Sigmoid { scale: 10.0, bias: -2.0 }, &[0.3, 0.2], &[e / (1.0 + e), 0.5]);
    }

    #[test]
    fn vectors_come_to_unit_length() {
        assert_eq!(unit(&[3.0, -4.0]), [0.6, -0.8]);
        assert_eq!(unit(&[0.0, 0.0]), [0.0, 0.0]);
    }
}
