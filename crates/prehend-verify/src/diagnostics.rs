//! Diagnostics omega, zeta, mu and the commit rule (AAH eq. 6 to 11).

use crate::CommitRule;
use prehend_scene::{Deficiency, Diagnostics, Evidence, EvidenceType, Gaps, Region};

/// Agreement above which two regions support each other (AAH eq. 14: IoU >= 0.5).
const SUPPORT_IOU: f64 = 0.5;
/// Confidence from which a localizer counts as a high-confidence one (kappa of eq. 8).
const CONFIDENT: f64 = 0.5;

/// Computes omega, zeta, mu, v and the commit decision of a set of evidence about one object.
///
/// Deviations from the paper, and why:
/// - eq. 6 compares only records of different producers, since a tool agrees with itself whatever it sees; a box is
///   compared with a mask's bounding box, since a filled box punishes thin and diagonal things it cannot describe, and only when its
///   producer drew no mask.
/// - records of different views lie in different images and are compared only within their view.
/// - a point counts in mu only: that it lies in a mask says nothing of where the mask ends, which omega and zeta are about.
/// - eq. 7 without any pair gives 0 (nothing shows stability), not 1.
/// - eq. 14's self-confidence stays in mu after the weights are normalised to one, so weak evidence stays weak.
///
/// Records without a region (retrieved knowledge) count in mu only, when their label agrees with the hypothesis.
pub fn diagnose(evidence: &[Evidence], rule: &CommitRule) -> Diagnostics {
    let omega = consistency(evidence);
    let zeta = stability(evidence);
    let mu = sufficiency(evidence, rule);
    let score = rule.alpha * omega + rule.beta * zeta + rule.gamma * sigmoid(mu);
    let committed = score >= rule.delta && omega >= rule.omega_floor;
    let gaps = gaps(omega, zeta, mu, rule);
    // Of equal gaps the last wins: disagreement is to be settled before more evidence is gathered.
    let worst = [(Deficiency::Mu, gaps.mu), (Deficiency::Zeta, gaps.zeta), (Deficiency::Omega, gaps.omega)]
        .into_iter()
        .max_by(|a, b| a.1.total_cmp(&b.1))
        .map(|(deficiency, _)| deficiency);
    Diagnostics { omega, zeta, mu, score, committed, deficiency: worst.filter(|_| !committed), gaps }
}

/// How far each is below its floor (eq. 11). When none is, and the score lacks something nevertheless, how much of the score each lacks:
/// eq. 11 has nothing to choose by then.
fn gaps(omega: f64, zeta: f64, mu: f64, rule: &CommitRule) -> Gaps {
    let gaps = Gaps { omega: rule.omega_floor - omega, zeta: rule.zeta_floor - zeta, mu: rule.mu_floor - mu };
    if gaps.omega.max(gaps.zeta).max(gaps.mu) > 0.0 {
        return gaps;
    }
    Gaps {
        omega: rule.alpha * (1.0 - omega),
        zeta: rule.beta * (1.0 - zeta),
        mu: rule.gamma * (1.0 - sigmoid(mu)),
    }
}

/// Squashing function sigma of eq. 9: a sigmoid over [0, 1], centred at 0.5 and steep enough that 0 and 1 stay apart.
pub(crate) fn sigmoid(mu: f64) -> f64 {
    1.0 / (1.0 + (-10.0 * (mu - 0.5)).exp())
}

/// Which mu has this value of [`sigmoid`]; `None` where none has.
pub(crate) fn sigmoid_inverse(value: f64) -> Option<f64> {
    (value > 0.0 && value < 1.0).then(|| 0.5 + (value / (1.0 - value)).ln() / 10.0)
}

fn spatial(evidence: &Evidence) -> bool {
    evidence.region.mask().area() > 0
}

/// Whether two records both tell where the hypothesis ends, or are both points.
fn comparable(a: &Evidence, b: &Evidence) -> bool {
    a.region.has_extent() == b.region.has_extent()
}

/// Whether the same producer drew a mask in the view: then its box says less than that, and agrees with what is hollow or torn.
fn is_outdone(record: &Evidence, evidence: &[Evidence]) -> bool {
    let drew_mask = |other: &Evidence| {
        other.producer == record.producer
            && other.view == record.view
            && matches!(other.region, Region::Mask(_))
            && spatial(other)
    };
    matches!(record.region, Region::Box(_)) && evidence.iter().any(drew_mask)
}

/// Eq. 6.
fn consistency(evidence: &[Evidence]) -> f64 {
    pairs(evidence)
        .filter(|(a, b)| a.producer != b.producer && comparable(a, b))
        .filter(|(a, b)| !is_outdone(a, evidence) && !is_outdone(b, evidence))
        .map(|(a, b)| a.region.agreement(&b.region))
        .fold(0.0, f64::max)
}

/// Eq. 7 over pairs of one producer at different scales.
fn stability(evidence: &[Evidence]) -> f64 {
    let agreements: Vec<f64> = pairs(evidence)
        .filter(|(a, b)| a.producer == b.producer && (a.scale - b.scale).abs() > 1e-6 && comparable(a, b))
        .map(|(a, b)| a.region.agreement(&b.region))
        .collect();
    if agreements.is_empty() { 0.0 } else { agreements.iter().sum::<f64>() / agreements.len() as f64 }
}

fn pairs(evidence: &[Evidence]) -> impl Iterator<Item = (&Evidence, &Evidence)> {
    evidence.iter().enumerate().flat_map(move |(index, a)| {
        evidence[index + 1..]
            .iter()
            .filter(move |b| a.view == b.view && spatial(a) && spatial(b))
            .map(move |b| (a, b))
    })
}

/// Eq. 8 with the weights of eq. 13 and 14.
fn sufficiency(evidence: &[Evidence], rule: &CommitRule) -> f64 {
    let hypothesis = hypothesis_label(evidence);
    let localized = evidence.iter().any(|e| {
        matches!(e.kind, EvidenceType::Seg | EvidenceType::Det) && e.confidence >= CONFIDENT && spatial(e)
    });
    if !localized {
        return 0.0;
    }
    let mut total = 0.0;
    let mut supported = 0.0;
    for (index, record) in evidence.iter().enumerate() {
        let corroborated = evidence.iter().enumerate().any(|(other_index, other)| {
            if other_index == index || other.producer == record.producer {
                return false;
            }
            if spatial(record) {
                other.view == record.view
                    && spatial(other)
                    && record.region.agreement(&other.region) >= SUPPORT_IOU
            } else {
                !record.label.is_empty() && record.label == other.label
            }
        });
        let stable = !pairs(evidence)
            .filter(|(a, b)| a.producer == b.producer && (a.id == record.id || b.id == record.id))
            .any(|(a, b)| a.region.agreement(&b.region) < rule.zeta_floor);
        let weight = rule.weight(record.kind);
        total += weight;
        let conflict = !record.label.is_empty() && hypothesis.is_some_and(|label| label != record.label);
        if corroborated && stable && !conflict {
            supported += weight * record.confidence.clamp(0.0, 1.0);
        }
    }
    if total > 0.0 { (supported / total).clamp(0.0, 1.0) } else { 0.0 }
}

/// The label most confidence stands behind.
fn hypothesis_label(evidence: &[Evidence]) -> Option<&str> {
    let mut sums: Vec<(&str, f64)> = Vec::new();
    for record in evidence.iter().filter(|record| !record.label.is_empty()) {
        match sums.iter_mut().find(|(label, _)| *label == record.label) {
            Some((_, sum)) => *sum += record.confidence,
            None => sums.push((&record.label, record.confidence)),
        }
    }
    sums.into_iter().max_by(|a, b| a.1.total_cmp(&b.1)).map(|(label, _)| label)
}

#[cfg(test)]
mod tests {
    use super::*;
    use prehend_geometry::Mask;

    fn record(id: &str, kind: EvidenceType, producer: &str, scale: f64, rect: [usize; 4]) -> Evidence {
        let mask = Mask::filled_box(640, 480, rect[0], rect[1], rect[2], rect[3]);
        let region = if kind == EvidenceType::Det { Region::Box(mask) } else { Region::Mask(mask) };
        Evidence {
            id: id.to_owned(),
            kind,
            producer: producer.to_owned(),
            view: "home".to_owned(),
            scale,
            confidence: 0.9,
            label: String::new(),
            region,
            stamp: 0.0,
        }
    }

    fn clean() -> Vec<Evidence> {
        vec![
            record("a", EvidenceType::Det, "detector", 1.0, [100, 100, 60, 50]),
            record("b", EvidenceType::Det, "detector", 2.0, [101, 100, 60, 50]),
            record("c", EvidenceType::Seg, "geometry", 1.0, [100, 101, 60, 50]),
            record("d", EvidenceType::Seg, "geometry", 2.0, [100, 100, 59, 50]),
        ]
    }

    fn check(change: impl FnOnce(&mut Vec<Evidence>), committed: bool, deficiency: Option<Deficiency>) {
        let mut evidence = clean();
        change(&mut evidence);
        let found = diagnose(&evidence, &CommitRule::default());
        assert_eq!((found.committed, found.deficiency), (committed, deficiency), "{found:?}");
        for value in [found.omega, found.zeta, found.mu, found.score] {
            assert!((0.0..=1.0).contains(&value), "{found:?}");
        }
    }

    #[test]
    fn clean_evidence_commits_and_each_break_is_found() {
        check(|_| {}, true, None);
        check(Vec::clear, false, Some(Deficiency::Zeta));
        check(|e| e.truncate(1), false, Some(Deficiency::Zeta));
        // One producer alone never agrees with another.
        check(|e| e.truncate(2), false, Some(Deficiency::Omega));
        // The tools disagree.
        check(
            |e| {
                for i in [2, 3] {
                    e[i].region = Region::Mask(Mask::filled_box(640, 480, 300, 300, 60, 50));
                }
            },
            false,
            Some(Deficiency::Omega),
        );
        // The prediction wanders with the scale.
        check(
            |e| {
                e[1].region = Region::Box(Mask::filled_box(640, 480, 140, 140, 60, 50));
                e[3].region = Region::Mask(Mask::filled_box(640, 480, 60, 60, 60, 50));
            },
            false,
            Some(Deficiency::Zeta),
        );
        // Everything agrees, but nobody is sure.
        check(|e| e.iter_mut().for_each(|r| r.confidence = 0.2), false, Some(Deficiency::Mu));
        // Only one scale was looked at.
        check(|e| e.retain(|r| r.scale < 1.5), false, Some(Deficiency::Zeta));
    }

    #[test]
    fn a_box_does_not_make_up_for_its_torn_mask() {
        let mut evidence = clean();
        // What geometry saw spans the box, and is hollow.
        let hollow: Vec<usize> = (100..150)
            .flat_map(|v| (100..160).map(move |u| (u, v)))
            .filter(|(u, v)| *u < 103 || *u > 156 || *v < 103 || *v > 146)
            .map(|(u, v)| v * 640 + u)
            .collect();
        for record in &mut evidence[2..] {
            record.region = Region::Mask(Mask::from_indices(640, 480, &hollow));
        }
        let with_box = diagnose(&evidence, &CommitRule::default());
        assert!(with_box.omega > 0.9, "a box alone is held against what is around the mask: {with_box:?}");
        evidence.push(record("e", EvidenceType::Seg, "detector", 1.0, [100, 100, 60, 50]));
        let with_mask = diagnose(&evidence, &CommitRule::default());
        assert!(with_mask.omega < 0.5 && !with_mask.committed, "{with_mask:?}");
    }

    #[test]
    fn a_point_says_nothing_of_where_a_mask_ends() {
        let point = |id: &str, x: usize| Evidence {
            region: Region::Point(Mask::filled_box(640, 480, x, 120, 8, 8)),
            ..record(id, EvidenceType::Dream, "imagination", 1.0, [0, 0, 1, 1])
        };
        let mask = || record("a", EvidenceType::Seg, "geometry", 1.0, [100, 100, 60, 50]);
        let rule = CommitRule::default();
        let inside = diagnose(&[mask(), point("p", 125)], &rule);
        assert!(inside.omega < 1e-12 && inside.mu > 0.5, "{inside:?}");
        let outside = diagnose(&[mask(), point("p", 300)], &rule);
        assert!(outside.mu < 1e-12, "{outside:?}");
    }

    #[test]
    fn above_every_floor_what_the_score_lacks_most_is_the_deficiency() {
        let rule = CommitRule::default();
        let gaps = gaps(0.55, 0.9, 0.6, &rule);
        assert!(gaps.omega > gaps.zeta && gaps.omega > gaps.mu && gaps.zeta > 0.0, "{gaps:?}");
        let below = super::gaps(0.55, 0.2, 0.6, &rule);
        assert!(below.zeta > 0.4 && below.omega < 0.0, "{below:?}");
    }

    #[test]
    fn views_are_not_compared() {
        let mut evidence = clean();
        for i in [2, 3] {
            evidence[i].view = "left".to_owned();
        }
        assert!(diagnose(&evidence, &CommitRule::default()).omega < 1e-12);
    }

    #[test]
    fn conflicting_labels_lower_sufficiency() {
        let mut evidence = clean();
        for (i, label) in ["mug", "mug", "can", "can"].iter().enumerate() {
            evidence[i].label = (*label).to_owned();
        }
        let split = diagnose(&evidence, &CommitRule::default()).mu;
        let agreed = diagnose(&clean(), &CommitRule::default()).mu;
        assert!(split < agreed * 0.7, "{split} {agreed}");
    }
}
