//! The rules by which objects are compared and merged.

use serde::{Deserialize, Serialize};

/// Who says which thing of a keyframe is which object of the map.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum MergeMethod {
    /// One to one, best pairs first, for tables with few things close together: equal neighbours stay apart, pieces of one thing
    /// and drawers are joined.
    #[default]
    Prehend,
    /// ConceptGraphs (Gu et al. 2023, III-B): each detection on its own goes to the object with the highest `phi = phi_sem + phi_geo`.
    ConceptGraphs,
    /// ASP IV-A: ConceptGraphs' rule, and before it the same among the detections of a frame, against over-segmentation.
    Asp,
    /// Each sighting is an object: what merging is measured against.
    Off,
}

impl MergeMethod {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Prehend, Self::ConceptGraphs, Self::Asp, Self::Off];

    /// Its name in files and on command lines.
    pub fn name(self) -> &'static str {
        match self {
            Self::Prehend => "prehend",
            Self::ConceptGraphs => "conceptgraphs",
            Self::Asp => "asp",
            Self::Off => "off",
        }
    }

    /// The method with this name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|method| method.name() == name)
    }

    /// The method with the parameters of its paper.
    pub fn rule(self) -> MergeRule {
        match self {
            Self::Prehend => MergeRule::default(),
            Self::ConceptGraphs => MergeRule::concept_graphs(),
            Self::Asp => MergeRule::asp(),
            Self::Off => MergeRule::off(),
        }
    }
}

/// What one detection counts when features and colours are averaged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Averaging {
    /// One: `f_o = (n_o f_o + f_d) / (n_o + 1)` with the number `n_o` of detections of the object (Gu et al. 2023, III-B).
    #[default]
    Detections,
    /// The weight of its view, (0, 1]: less when it is small or cut by the image border.
    Views,
}

/// DBSCAN of merged clouds; the largest cluster stays.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Denoise {
    /// Distance of neighbours (eps), metres.
    pub radius: f64,
    /// Least neighbours of a core point, itself included.
    pub min_points: usize,
}

/// When two objects of the map become one.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Join {
    /// Share of one cloud that lies on the other, more than this.
    pub overlap: f64,
    /// Cosine of the features, more than this.
    pub cosine: f64,
}

/// How objects are compared and merged. A file may leave out fields; they are as in [`MergeRule::default`].
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct MergeRule {
    /// Which thing is which object.
    pub method: MergeMethod,
    /// Distance up to which two points count as the same place (`delta_nn`), metres.
    pub distance: f64,
    /// Least sum of geometric and semantic similarity of two views of one object (`delta_sim`; ConceptGraphs uses 1.1).
    pub threshold: f64,
    /// Least geometric similarity, whatever the names say; keeps equal neighbours apart. Of the method `prehend` only.
    pub min_geometry: f64,
    /// Voxel edge of merged clouds, metres.
    pub leaf: f64,
    /// Most crops kept, at most one of a view.
    pub crops: usize,
    /// Weights of features and colours.
    pub averaging: Averaging,
    /// Denoising of clouds that got points; `None` leaves them.
    pub denoise: Option<Denoise>,
    /// Merging of known objects by the methods `conceptgraphs` and `asp`; `None` does none.
    pub join: Option<Join>,
}

impl Default for MergeRule {
    fn default() -> Self {
        Self {
            method: MergeMethod::Prehend,
            distance: 0.012,
            threshold: 1.1,
            min_geometry: 0.25,
            leaf: 0.003,
            crops: 5,
            averaging: Averaging::Detections,
            denoise: None,
            join: None,
        }
    }
}

impl MergeRule {
    /// ConceptGraphs (Gu et al. 2023, III-A and III-B): `delta_nn` and voxels of 2.5 cm, `delta_sim` 1.1. What its text leaves open is
    /// as in its reference code: DBSCAN with eps 0.1 m and 10 points, known objects merged above 0.7 overlap and 0.7 cosine.
    ///
    /// Where it differs: the reference code denoises and joins all objects every few frames and once at the end. A live map has no end,
    /// so here both are done with every keyframe, for the objects it changed.
    pub fn concept_graphs() -> Self {
        Self {
            method: MergeMethod::ConceptGraphs,
            distance: 0.025,
            threshold: 1.1,
            min_geometry: 0.0,
            leaf: 0.025,
            denoise: Some(Denoise { radius: 0.1, min_points: 10 }),
            join: Some(Join { overlap: 0.7, cosine: 0.7 }),
            ..Self::default()
        }
    }

    /// ASP IV-A: ConceptGraphs' rule, with merging within each frame first. ASP names no voxel size; this is the smaller one of
    /// ConceptGraphs' reference code (1 cm, DBSCAN eps 5 cm), with which things on a table keep their shape.
    pub fn asp() -> Self {
        Self {
            method: MergeMethod::Asp,
            leaf: 0.01,
            denoise: Some(Denoise { radius: 0.05, min_points: 10 }),
            ..Self::concept_graphs()
        }
    }

    /// No merging.
    pub fn off() -> Self {
        Self { method: MergeMethod::Off, ..Self::default() }
    }
}
