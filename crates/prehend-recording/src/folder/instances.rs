//! Masks that a segmenter or detector drew: `instances.png` with `instances.json`.

use super::FrameError;
use crate::picture::read_grey16;
use prehend_perception::{Detection, LabelImage};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// What a segmenter said about a frame.
#[derive(Clone, Debug, PartialEq)]
pub struct Instances {
    /// Its masks, aligned with colour.
    pub labels: LabelImage,
    /// Its instances; one without a pixel in `labels` is an empty mask.
    pub detections: Vec<Detection>,
    /// A feature vector of each instance, in the order of `detections` and of one length; empty when it gave none.
    pub features: Vec<Vec<f32>>,
}

/// Why `instances.json` cannot be used.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum InstancesError {
    /// The text is not a list of instances.
    #[error("{0}; expected a list of {{\"label\", \"class_name\", \"score\"}}")]
    Json(String),
    /// Label 0 is what belongs to no instance.
    #[error("an instance has the label 0, which is the background")]
    Background,
    /// Two instances of one label.
    #[error("two instances have the label {label}")]
    Twice {
        /// The label.
        label: u16,
    },
    /// A score that is no confidence.
    #[error("the score of label {label} is {score}; expected 0 to 1")]
    Score {
        /// The label.
        label: u16,
        /// The score.
        score: f64,
    },
    /// A feature vector of another length than that of the first instance, or with numbers that are not finite.
    #[error(
        "the feature of label {label} has {found} finite numbers; that of the first instance has {expected}"
    )]
    Feature {
        /// The label.
        label: u16,
        /// Finite numbers it has.
        found: usize,
        /// Numbers of the first instance's feature.
        expected: usize,
    },
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Record {
    label: u16,
    #[serde(default)]
    class_name: String,
    #[serde(default = "sure")]
    score: f64,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    feature: Vec<f32>,
}

/// Score of an instance whose segmenter gives none.
fn sure() -> f64 {
    1.0
}

/// The list beside a picture of masks.
pub(super) fn list_of(picture: &Path) -> PathBuf {
    picture.with_extension("json")
}

impl Instances {
    /// Reads the masks of a frame; `None` without `instances.json`, since a picture alone is what people marked.
    pub(super) fn read(picture: &Path) -> Result<Option<Self>, FrameError> {
        let path = list_of(picture);
        let text = match std::fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(FrameError::Read { path, error }),
        };
        let (detections, features) =
            parse(&text).map_err(|error| FrameError::Instances { path: path.clone(), error })?;
        let masks = read_grey16(picture)?;
        let labels = LabelImage { width: masks.width, height: masks.height, labels: masks.values };
        Ok(Some(Self { labels, detections, features }))
    }

    /// The text of `instances.json`.
    pub(super) fn json(&self) -> Result<Vec<u8>, serde_json::Error> {
        let mut features = self.features.iter();
        let record = |detection: &Detection| Record {
            label: detection.label,
            class_name: detection.class_name.clone(),
            score: detection.score,
            feature: features.next().cloned().unwrap_or_default(),
        };
        serde_json::to_vec(&self.detections.iter().map(record).collect::<Vec<_>>())
    }
}

fn parse(text: &str) -> Result<(Vec<Detection>, Vec<Vec<f32>>), InstancesError> {
    let records: Vec<Record> =
        serde_json::from_str(text).map_err(|error| InstancesError::Json(error.to_string()))?;
    let expected = records.first().map_or(0, |record| record.feature.len());
    let mut known = BTreeSet::new();
    let (mut detections, mut features) = (Vec::new(), Vec::new());
    for Record { label, class_name, score, feature } in records {
        if label == 0 {
            return Err(InstancesError::Background);
        }
        if !known.insert(label) {
            return Err(InstancesError::Twice { label });
        }
        if !(0.0..=1.0).contains(&score) {
            return Err(InstancesError::Score { label, score });
        }
        let found = feature.iter().filter(|number| number.is_finite()).count();
        if found != expected || feature.len() != expected {
            return Err(InstancesError::Feature { label, found, expected });
        }
        detections.push(Detection { label, class_name, score });
        if expected > 0 {
            features.push(feature);
        }
    }
    Ok((detections, features))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_is_read_and_what_is_wrong_is_typed() {
        let (detections, features) =
            parse(r#"[{"label": 7, "class_name": "mug", "score": 0.5, "feature": [1, 0]}, {"label": 2, "feature": [0, 1]}]"#)
                .unwrap();
        assert_eq!(
            (detections[0].label, detections[0].class_name.as_str(), detections[0].score),
            (7, "mug", 0.5)
        );
        assert_eq!((detections[1].class_name.as_str(), detections[1].score), ("", 1.0));
        assert_eq!(features, [[1.0, 0.0], [0.0, 1.0]]);
        assert_eq!(parse("[]"), Ok((Vec::new(), Vec::new())));
        let score = |text: &str| matches!(parse(text), Err(InstancesError::Score { label: 1, .. }));
        assert!(score(r#"[{"label": 1, "score": 1.5}]"#) && score(r#"[{"label": 1, "score": -0.1}]"#));
        for (text, expected) in [
            (r#"[{"label": 0}]"#, InstancesError::Background),
            (r#"[{"label": 3}, {"label": 3}]"#, InstancesError::Twice { label: 3 }),
            (
                r#"[{"label": 3, "feature": [1]}, {"label": 4}]"#,
                InstancesError::Feature { label: 4, found: 0, expected: 1 },
            ),
            (
                r#"[{"label": 3, "feature": [1e39]}]"#,
                InstancesError::Feature { label: 3, found: 0, expected: 1 },
            ),
        ] {
            assert_eq!(parse(text), Err(expected), "{text}");
        }
        for text in ["{}", r#"[{"label": 70000}]"#, r#"[{"label": 1, "scor": 1}]"#, "a mug"] {
            assert!(matches!(parse(text), Err(InstancesError::Json(_))), "{text}");
        }
    }
}
