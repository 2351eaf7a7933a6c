//! `config/nodes/object_map.yaml`.

use super::models::ModelSettings;
use prehend_config::{Findings, Value};
use prehend_llm::{Purpose, VlmSettings};
use prehend_perception::Cut;
use prehend_scene::merge::{Averaging, MergeMethod, MergeRule};
use std::path::Path;

/// What the file decides.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Settings {
    /// The vision-language model that confirms; `None` asks nobody.
    pub(super) vlm: Option<VlmSettings>,
    /// How the local map cuts a frame into things.
    pub(super) cut: Cut,
    /// How the local map merges.
    pub(super) merge: MergeRule,
    /// The network models that look at the colour image; `None` when a detector on the graph does.
    pub(super) models: Option<ModelSettings>,
}

impl Settings {
    /// Reads a file, all of whose keys are known.
    pub(super) fn read(path: &Path) -> Result<Self, Findings> {
        prehend_config::read_file(path, |root| {
            root.map(|map| {
                let vlm = map.or("vlm", None, |value| VlmSettings::read(&value, Purpose::CONFIRM));
                let cut = map.or("cut", Cut::default(), |value| value.choice(&Cut::ALL));
                let merge = map.or("merge", MergeRule::default(), |value| read_merge(&value));
                let models = map.or("models", None, |value| ModelSettings::read(&value));
                Some(Self { vlm: vlm?, cut: cut?, merge: merge?, models: models? })
            })
        })
    }
}

/// The mapping `merge`: a method, and what differs from its paper; null and absent keys are as the paper has them.
fn read_merge(value: &Value<'_>) -> Option<MergeRule> {
    value.map(|map| {
        let methods = MergeMethod::ALL.map(|method| (method.name(), method));
        let rule = map.or("method", MergeMethod::default(), |value| value.choice(&methods))?.rule();
        let mut number = |key, default, low, high| {
            map.or(
                key,
                default,
                |value: Value<'_>| {
                    if value.is_null() { Some(default) } else { value.f64_in(low, high) }
                },
            )
        };
        let threshold = number("threshold", rule.threshold, 0.0, 2.0);
        let distance = number("distance", rule.distance, 0.001, 0.2);
        let leaf = number("voxel", rule.leaf, 0.001, 0.2);
        let averaging = map.or("averaging", rule.averaging, |value| {
            value.choice(&[("detections", Averaging::Detections), ("views", Averaging::Views)])
        });
        let crops = map.or("crops", rule.crops as f64, |value| value.f64_in(1.0, 50.0));
        Some(MergeRule {
            threshold: threshold?,
            distance: distance?,
            leaf: leaf?,
            averaging: averaging?,
            crops: crops? as usize,
            ..rule
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_in_the_repository_is_read_asks_no_model_cuts_by_surfaces_and_merges_as_ever() {
        let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../config/nodes/object_map.yaml");
        assert_eq!(
            Settings::read(Path::new(file)),
            Ok(Settings { vlm: None, cut: Cut::Surfaces, merge: MergeRule::default(), models: None })
        );
    }

    #[test]
    fn rules_are_chosen_by_name_and_keep_the_numbers_of_their_papers() {
        let read = |text: &str| prehend_config::read("test.yaml", text, |root| read_merge(&root));
        assert_eq!(read("method: conceptgraphs"), Ok(MergeRule::concept_graphs()));
        assert_eq!(
            read("{method: asp, threshold: 1.3, distance: null, voxel: 0.02, averaging: views}"),
            Ok(MergeRule { threshold: 1.3, leaf: 0.02, averaging: Averaging::Views, ..MergeRule::asp() })
        );
        for wrong in
            ["method: conceptgraph", "treshold: 1.0", "voxel: 0.0", "distance: 25", "threshold: .nan"]
        {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }
}
