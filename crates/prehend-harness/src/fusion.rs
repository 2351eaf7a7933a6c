//! The region that all evidence comes to (AAH eq. 12), without a model: what agrees with the best supported mask votes on its pixels.

use prehend_geometry::Mask;
use prehend_scene::{Evidence, EvidenceType, Region};
use std::collections::BTreeMap;

/// Least agreement with the best mask from which another one votes (as eq. 14 has it for support).
const ALIKE: f64 = 0.5;

/// A region of one view.
#[derive(Clone, Debug, PartialEq)]
pub struct Fused {
    /// Name of the view.
    pub view: String,
    /// The region in its image.
    pub mask: Mask,
    /// Ids of the records that voted, the best supported one first.
    pub records: Vec<String>,
}

/// Fuses masks; boxes only support them. `weight` is what a record counts besides its own confidence: its type's weight, and how far its
/// producer was to be trusted with such things before. `None` without any mask.
pub fn fuse(evidence: &[Evidence], weight: &dyn Fn(&Evidence) -> f64) -> Option<Fused> {
    let counts = |record: &Evidence| weight(record) * record.confidence.clamp(0.0, 1.0);
    let is_mask = |record: &&Evidence| matches!(&record.region, Region::Mask(mask) if mask.area() > 0);
    // What is known of a kind of thing says nothing of where its edge is.
    let supports = |record: &Evidence, other: &&Evidence| {
        other.producer != record.producer && other.view == record.view && other.kind != EvidenceType::Web
    };
    let support = |record: &Evidence| {
        let others = evidence.iter().filter(|other| supports(record, other));
        counts(record)
            + others.map(|other| record.region.agreement(&other.region) * counts(other)).sum::<f64>()
    };
    let best = evidence.iter().filter(is_mask).max_by(|a, b| support(a).total_cmp(&support(b)))?;
    let same_view = |record: &&Evidence| record.view == best.view && record.id != best.id;
    let alike = evidence.iter().filter(is_mask).filter(same_view);
    let alike = alike.filter(|record| record.region.mask().iou(best.region.mask()) >= ALIKE);
    let voters: Vec<&Evidence> = std::iter::once(best).chain(alike).collect();
    // A producer has one vote, however often it looked.
    let looks =
        |record: &Evidence| voters.iter().filter(|other| other.producer == record.producer).count() as f64;
    let votes_of = |record: &Evidence| counts(record) / looks(record);
    let all: f64 = voters.iter().map(|record| votes_of(record)).sum();
    let mut votes: BTreeMap<usize, f64> = BTreeMap::new();
    for record in &voters {
        for index in record.region.mask().indices() {
            *votes.entry(index).or_insert(0.0) += votes_of(record);
        }
    }
    let chosen: Vec<usize> =
        votes.into_iter().filter(|(_, vote)| *vote >= all / 2.0).map(|(index, _)| index).collect();
    let whole = best.region.mask();
    Some(Fused {
        view: best.view.clone(),
        mask: Mask::from_indices(whole.image_width, whole.image_height, &chosen),
        records: voters.iter().map(|record| record.id.clone()).collect(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(id: &str, producer: &str, rect: [usize; 4], confidence: f64) -> Evidence {
        Evidence {
            id: id.to_owned(),
            kind: EvidenceType::Seg,
            producer: producer.to_owned(),
            view: "home".to_owned(),
            scale: 1.0,
            confidence,
            label: String::new(),
            region: Region::Mask(Mask::filled_box(640, 480, rect[0], rect[1], rect[2], rect[3])),
            stamp: 0.0,
        }
    }

    #[test]
    fn what_agrees_votes_and_what_stands_alone_does_not() {
        let evidence = [
            record("a", "detector", [100, 100, 40, 40], 0.6),
            record("b", "geometry", [102, 100, 40, 40], 0.9),
            record("c", "color", [104, 100, 40, 40], 0.5),
            record("d", "alone", [300, 300, 60, 60], 1.0),
        ];
        let fused = fuse(&evidence, &|_| 1.0).expect("masks");
        // The middle one agrees most with the others; a pixel needs half of 2.0.
        assert_eq!(fused.records, ["b", "a", "c"]);
        assert!(
            fused.mask.contains(102, 110) && fused.mask.contains(141, 110) && !fused.mask.contains(100, 110)
        );
        assert!(!fused.mask.contains(320, 320));
    }

    #[test]
    fn nothing_and_broken_records_give_nothing() {
        assert_eq!(fuse(&[], &|_| 1.0), None);
        assert_eq!(fuse(&[record("a", "detector", [700, 500, 40, 40], 1.0)], &|_| 1.0), None);
        let broken = record("a", "detector", [100, 100, 4, 4], f64::NAN);
        assert!(fuse(&[broken.clone(), record("b", "geometry", [100, 100, 4, 4], 0.5)], &|_| 1.0).is_some());
        assert!(fuse(&[broken], &|_| f64::NAN).is_some());
    }
}
