//! Evidence and diagnostics.

use super::error::{ConvertError, Result, finite};
use super::{mask_from_msg, mask_to_msg, seconds, stamp};
use prehend_msgs::prehend_interfaces::msg as ours;
use prehend_scene::{Deficiency, Diagnostics, Evidence, EvidenceType, Gaps, Region};

const EVIDENCE_TYPES: [(EvidenceType, &str); 4] = [
    (EvidenceType::Seg, ours::Evidence::TYPE_SEG),
    (EvidenceType::Det, ours::Evidence::TYPE_DET),
    (EvidenceType::Dream, ours::Evidence::TYPE_DREAM),
    (EvidenceType::Web, ours::Evidence::TYPE_WEB),
];

/// Evidence to message.
pub fn evidence_to_msg(evidence: &Evidence) -> ours::Evidence {
    let kind = EVIDENCE_TYPES.iter().find(|(kind, _)| *kind == evidence.kind).map_or("", |(_, name)| name);
    ours::Evidence {
        id: evidence.id.clone(),
        type_: kind.to_owned(),
        producer: evidence.producer.clone(),
        view: evidence.view.clone(),
        scale: evidence.scale as f32,
        confidence: evidence.confidence as f32,
        label: evidence.label.clone(),
        shape: match evidence.region {
            Region::Mask(_) => ours::Evidence::SHAPE_MASK,
            Region::Box(_) => ours::Evidence::SHAPE_BOX,
            Region::Point(_) => ours::Evidence::SHAPE_POINT,
        },
        region: mask_to_msg(evidence.region.mask()),
        stamp: stamp(evidence.stamp),
    }
}

/// Message to evidence.
pub fn evidence_from_msg(msg: &ours::Evidence) -> Result<Evidence> {
    finite("evidence", &[f64::from(msg.scale), f64::from(msg.confidence)])?;
    let kind = EVIDENCE_TYPES
        .iter()
        .find(|(_, name)| *name == msg.type_)
        .map(|(kind, _)| *kind)
        .ok_or_else(|| ConvertError::UnknownWord { what: "evidence type", word: msg.type_.clone() })?;
    let mask = mask_from_msg(&msg.region)?;
    Ok(Evidence {
        id: msg.id.clone(),
        kind,
        producer: msg.producer.clone(),
        view: msg.view.clone(),
        scale: f64::from(msg.scale),
        confidence: f64::from(msg.confidence).clamp(0.0, 1.0),
        label: msg.label.clone(),
        region: match msg.shape {
            ours::Evidence::SHAPE_MASK => Region::Mask(mask),
            ours::Evidence::SHAPE_BOX => Region::Box(mask),
            ours::Evidence::SHAPE_POINT => Region::Point(mask),
            other => {
                return Err(ConvertError::UnknownWord { what: "shape of a region", word: other.to_string() });
            }
        },
        stamp: seconds(&msg.stamp),
    })
}

/// All evidence of a message, or the first error.
pub fn all_evidence_from_msg(msgs: &[ours::Evidence]) -> Result<Vec<Evidence>> {
    msgs.iter().map(evidence_from_msg).collect()
}

/// Diagnostics to message, with the remedy Gamma of AAH eq. 11.
pub fn diagnostics_to_msg(diagnostics: &Diagnostics) -> ours::Diagnostics {
    let (deficiency, remedy) = match diagnostics.deficiency {
        None => ("", ""),
        Some(Deficiency::Omega) => ("omega", "refine_region"),
        Some(Deficiency::Zeta) => ("zeta", "zoom_in"),
        Some(Deficiency::Mu) => ("mu", "another_view"),
    };
    ours::Diagnostics {
        omega: diagnostics.omega,
        zeta: diagnostics.zeta,
        mu: diagnostics.mu,
        score: diagnostics.score,
        committed: diagnostics.committed,
        deficiency: deficiency.to_owned(),
        remedy: remedy.to_owned(),
        omega_gap: diagnostics.gaps.omega,
        zeta_gap: diagnostics.gaps.zeta,
        mu_gap: diagnostics.gaps.mu,
    }
}

/// Message to diagnostics.
pub fn diagnostics_from_msg(msg: &ours::Diagnostics) -> Result<Diagnostics> {
    let gaps = Gaps { omega: msg.omega_gap, zeta: msg.zeta_gap, mu: msg.mu_gap };
    finite("diagnostics", &[msg.omega, msg.zeta, msg.mu, msg.score, gaps.omega, gaps.zeta, gaps.mu])?;
    let deficiency = match msg.deficiency.as_str() {
        "" => None,
        "omega" => Some(Deficiency::Omega),
        "zeta" => Some(Deficiency::Zeta),
        "mu" => Some(Deficiency::Mu),
        other => return Err(ConvertError::UnknownWord { what: "deficiency", word: other.to_owned() }),
    };
    Ok(Diagnostics {
        omega: msg.omega,
        zeta: msg.zeta,
        mu: msg.mu,
        score: msg.score,
        committed: msg.committed,
        deficiency,
        gaps,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use prehend_geometry::Mask;

    #[test]
    fn a_region_keeps_its_shape_on_the_wire() {
        let mask = || Mask::from_indices(64, 48, &[70, 71, 135]);
        for region in [Region::Mask(mask()), Region::Box(mask().bounding_box()), Region::Point(mask())] {
            let evidence = Evidence {
                id: "a".to_owned(),
                kind: EvidenceType::Dream,
                producer: "imagination".to_owned(),
                view: "home".to_owned(),
                scale: 1.0,
                confidence: 0.5,
                label: "knob".to_owned(),
                region,
                stamp: 2.0,
            };
            let mut sent = evidence_to_msg(&evidence);
            assert_eq!(evidence_from_msg(&sent).expect("read"), evidence);
            sent.shape = 7;
            assert!(evidence_from_msg(&sent).is_err());
        }
    }
}
