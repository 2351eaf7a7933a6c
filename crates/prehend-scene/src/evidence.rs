//! Evidence records and the diagnostics computed from them (AAH section 3).

use prehend_geometry::Mask;
use serde::{Deserialize, Serialize};

/// Evidence type tau of AAH eq. 8 and eq. 13; it decides the weight w_tau.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum EvidenceType {
    /// A segmentation mask.
    Seg,
    /// A detection box.
    Det,
    /// Interaction imagination.
    Dream,
    /// Retrieved knowledge.
    Web,
}

/// A region of one image.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Region {
    /// A box, as its filled mask chi(b) (AAH eq. 6).
    Box(Mask),
    /// A mask.
    Mask(Mask),
    /// A point, as the disc of what it may be off by.
    Point(Mask),
}

impl Region {
    /// The filled mask.
    pub fn mask(&self) -> &Mask {
        match self {
            Self::Box(mask) | Self::Mask(mask) | Self::Point(mask) => mask,
        }
    }

    /// Whether it tells where something ends, and not only where it is.
    pub fn has_extent(&self) -> bool {
        !matches!(self, Self::Point(_))
    }

    /// Agreement of two regions of one image at the resolution of the coarser one, [0, 1]: a box is held against a mask's bounding box,
    /// since a filled box punishes thin and diagonal things that it cannot describe. Of a point and what has an extent it is the share of
    /// the point's disc that lies in it; of two points, their distance by the size of their discs (AAH below eq. 6 and 7).
    pub fn agreement(&self, other: &Self) -> f64 {
        match (self, other) {
            (Self::Mask(a), Self::Mask(b)) => a.iou(b),
            (Self::Point(a), Self::Point(b)) => near(a, b),
            (Self::Point(point), other) | (other, Self::Point(point)) => {
                point.intersection_area(other.mask()) as f64 / point.area().max(1) as f64
            }
            (a, b) => a.mask().bounding_box().iou(&b.mask().bounding_box()),
        }
    }
}

/// 1 at the same place, 0 when the discs are apart.
fn near(a: &Mask, b: &Mask) -> f64 {
    let middle = |mask: &Mask| {
        let (x, y) = (mask.x as f64 + mask.width as f64 / 2.0, mask.y as f64 + mask.height as f64 / 2.0);
        nalgebra::Point2::new(x, y)
    };
    let reach = (a.width.max(a.height) + b.width.max(b.height)) as f64 / 2.0;
    (1.0 - (middle(a) - middle(b)).norm() / reach.max(1.0)).max(0.0)
}

/// One typed evidence record xi (AAH eq. 2).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Evidence {
    /// Unique in its episode.
    pub id: String,
    /// Type tau.
    pub kind: EvidenceType,
    /// Which tool produced it; two records are independent only when their producers differ.
    pub producer: String,
    /// Name of the keyframe whose image the region lies in; records of different views are not compared.
    pub view: String,
    /// Zoom relative to the first look; 1 or 2.
    pub scale: f64,
    /// The tool's own confidence rho, [0, 1].
    pub confidence: f64,
    /// What the tool called it; may be empty.
    pub label: String,
    /// Region in the global image.
    pub region: Region,
    /// Time of the image, seconds.
    pub stamp: f64,
}

/// Which diagnostic is farthest below its threshold (AAH eq. 11).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Deficiency {
    /// Tools disagree: refine the region and segment again.
    Omega,
    /// The prediction drifts with the scale: zoom in and look again.
    Zeta,
    /// Too little evidence: invoke another tool or view.
    Mu,
}

/// How far each diagnostic is below the floor that the verifier is set to (the gaps of AAH eq. 11 and 15), negative above it; when none is
/// below, how much of the score each lacks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Gaps {
    /// Of omega.
    pub omega: f64,
    /// Of zeta.
    pub zeta: f64,
    /// Of mu.
    pub mu: f64,
}

/// The diagnostics of one evidence set (AAH eq. 6 to 11).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Diagnostics {
    /// Cross-skill consistency omega_t, [0, 1] (eq. 6).
    pub omega: f64,
    /// Cross-scale stability zeta_t, [0, 1] (eq. 7).
    pub zeta: f64,
    /// Evidence sufficiency mu_t, [0, 1] (eq. 8).
    pub mu: f64,
    /// Commit score v_t (eq. 9).
    pub score: f64,
    /// Whether the commit rule holds (eq. 10).
    pub committed: bool,
    /// Dominant deficiency l_t when not committed (eq. 11).
    pub deficiency: Option<Deficiency>,
    /// What is missing to each floor; whoever gathers evidence chooses the next tool by it.
    pub gaps: Gaps,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_agree_by_their_distance_and_with_a_mask_by_how_much_of_them_lies_in_it() {
        let point = |x| Region::Point(Mask::filled_box(640, 480, x, 100, 10, 10));
        for (other, expected) in [(100, 1.0), (105, 0.5), (110, 0.0), (400, 0.0)] {
            assert!((point(100).agreement(&point(other)) - expected).abs() < 1e-9, "{other}");
        }
        let mask = Region::Mask(Mask::filled_box(640, 480, 105, 90, 60, 60));
        for (at, expected) in [(120, 1.0), (100, 0.5), (50, 0.0)] {
            assert!((point(at).agreement(&mask) - expected).abs() < 1e-9, "{at}");
            assert!((mask.agreement(&point(at)) - expected).abs() < 1e-9, "{at}");
        }
        assert!(!point(1).has_extent() && mask.has_extent());
    }
}
