//! The second opinion beside the measuring critics. They stay the judge; where the vision-language model sees it otherwise, that is a
//! doubt, which is told and changes nothing.

use prehend_articulation::Described;
use prehend_articulation::critic::{JointFailure, JointVerdict, UrdfVerdict};
use prehend_llm::{FailureReason, JointOpinion, ModelOpinion};
use serde::Serialize;

/// Score below which the document calls something wrong: a success has 5 to 10, and what scores 0 to 4 is incorrect.
const WRONG: f64 = 5.0;

/// What was answered.
#[derive(Clone, Debug, Default)]
pub(super) struct Opinions {
    /// For each verdict of the joint critic; `None` where nobody was asked, or gave no answer.
    pub(super) joints: Vec<Option<JointOpinion>>,
    /// Of the whole.
    pub(super) model: Option<ModelOpinion>,
    /// Why something is missing that was asked for, a line each.
    pub(super) missing: Vec<String>,
}

/// A description as `description.json` has it.
#[derive(Serialize)]
pub(super) struct Told<'a> {
    #[serde(flatten)]
    described: &'a Described,
    joints: Vec<JointTold<'a>>,
    opinion: Option<&'a ModelOpinion>,
    doubts: Vec<String>,
    no_opinion: &'a [String],
}

#[derive(Serialize)]
struct JointTold<'a> {
    joint: &'a str,
    measured: &'static str,
    opinion: Option<&'a JointOpinion>,
}

impl Opinions {
    /// That of a verdict of the joint critic, by its index.
    pub(super) fn of_joint(&self, verdict: usize) -> Option<&JointOpinion> {
        self.joints.get(verdict)?.as_ref()
    }

    /// All contradictions between the measurement and the opinions, a line each.
    pub(super) fn doubts(&self, described: &Described) -> Vec<String> {
        let verdicts = &described.best().verdicts;
        let joints = verdicts.joints.iter().enumerate();
        let joints = joints.filter_map(|(index, verdict)| joint_doubt(verdict, self.of_joint(index)?));
        let whole = self.model.iter().flat_map(|opinion| model_doubts(&verdicts.urdf, opinion));
        joints.chain(whole).map(|what| format!("the vision-language model's view differs: {what}")).collect()
    }

    /// The description with them beside it.
    pub(super) fn told<'a>(&'a self, described: &'a Described) -> Told<'a> {
        let verdicts = described.best().verdicts.joints.iter().enumerate();
        let joints = verdicts.map(|(index, verdict)| JointTold {
            joint: &verdict.joint,
            measured: verdict.failure_reason.name(),
            opinion: self.of_joint(index),
        });
        Told {
            described,
            joints: joints.collect(),
            opinion: self.model.as_ref(),
            doubts: self.doubts(described),
            no_opinion: &self.missing,
        }
    }
}

/// What contradicts about one joint: one finds nothing wrong, and the other does. Two who find different things wrong agree that the
/// joint cannot stay.
fn joint_doubt(measured: &JointVerdict, opinion: &JointOpinion) -> Option<String> {
    let JointVerdict { joint, failure_reason, .. } = measured;
    let JointOpinion { failure_reason: reason, realism_rating: rating, improvement_suggestion, .. } = opinion;
    let is_wrong = *reason != FailureReason::Success && *rating < WRONG;
    match (*failure_reason == JointFailure::Success, is_wrong) {
        (true, true) => Some(format!(
            "{joint}: it says {} ({rating:.0} of 10, {improvement_suggestion:?}), the measurement finds nothing wrong",
            reason.name()
        )),
        (false, false) => Some(format!(
            "{joint}: it finds nothing wrong ({rating:.0} of 10), the measurement says {}",
            failure_reason.name()
        )),
        _ => None,
    }
}

/// What contradicts about a whole: one calls wrong what the other does not.
fn model_doubts(measured: &UrdfVerdict, opinion: &ModelOpinion) -> Vec<String> {
    let differs = |one: f64, other: f64| (one < WRONG) != (other < WRONG);
    let said = |what: &str, own: f64, why: &str, other: f64| {
        format!("{what}: it gives {own:.1} of 10 ({why:?}), the measurement {other:.1}")
    };
    let mut doubts = Vec::new();
    if differs(opinion.link_position_score, measured.link_position_score) {
        doubts.push(said(
            "positions of links",
            opinion.link_position_score,
            &opinion.link_position_reasoning,
            measured.link_position_score,
        ));
    }
    for own in &opinion.joint_evaluation_details {
        let details = &measured.joint_evaluation_details;
        let Some(other) = details.iter().find(|detail| detail.joint_name == own.joint_name) else { continue };
        for (what, score, measured) in [
            ("type", own.type_score, other.type_score),
            ("position", own.position_score, other.position_score),
        ] {
            if differs(score, measured) {
                doubts.push(said(&format!("{what} of {}", own.joint_name), score, &own.reasoning, measured));
            }
        }
    }
    doubts
}

#[cfg(test)]
mod tests {
    use super::*;
    use nalgebra::Point3;
    use prehend_articulation::critic::JointDetail;
    use prehend_articulation::{Look, MovablePart, Observation, Thresholds, describe};
    use prehend_llm::JointScores;

    const MEASURED: [JointFailure; 5] = [
        JointFailure::JointType,
        JointFailure::JointAxis,
        JointFailure::JointOrigin,
        JointFailure::JointLimit,
        JointFailure::Success,
    ];

    fn verdict(failure_reason: JointFailure) -> JointVerdict {
        JointVerdict {
            joint: "lid_0 joint".to_owned(),
            part: 0,
            gt_description: String::new(),
            pred_description: String::new(),
            candidate_function_description: String::new(),
            failure_reason,
            improvement_suggestion: "None".to_owned(),
            realism_rating: 9.0,
            seen: None,
            positions: Vec::new(),
        }
    }

    fn opinion(failure_reason: FailureReason) -> JointOpinion {
        JointOpinion {
            gt_description: "It turns.".to_owned(),
            pred_description: "It slides.".to_owned(),
            candidate_function_description: "A prismatic joint.".to_owned(),
            failure_reason,
            improvement_suggestion: "Make it revolute.".to_owned(),
            realism_rating: f64::from(failure_reason.ratings()[0]),
        }
    }

    fn details(scores: [f64; 3]) -> ModelOpinion {
        let [link_position_score, type_score, position_score] = scores;
        ModelOpinion {
            link_position_score,
            link_position_reasoning: "The lid floats.".to_owned(),
            joint_score: (type_score + position_score) / 2.0,
            joint_evaluation_details: vec![JointScores {
                joint_name: "lid_0 joint".to_owned(),
                type_score,
                position_score,
                reasoning: "It is a lid.".to_owned(),
            }],
            success: false,
        }
    }

    fn measured(scores: [f64; 3]) -> UrdfVerdict {
        let [link_position_score, type_score, position_score] = scores;
        UrdfVerdict {
            link_position_score,
            link_position_reasoning: String::new(),
            joint_score: 8.0,
            joint_evaluation_details: vec![JointDetail {
                joint_name: "lid_0 joint".to_owned(),
                type_score,
                position_score,
                reasoning: String::new(),
            }],
            success: true,
        }
    }

    fn seen() -> Observation {
        let plate = |tilt: f64| -> Vec<Point3<f64>> {
            (0..900)
                .map(|i| {
                    let (along, across) = (0.01 * f64::from(i / 30), 0.01 * f64::from(i % 30));
                    Point3::new(0.8 - along * tilt.cos(), across - 0.15, 0.2 + along * tilt.sin())
                })
                .collect()
        };
        let body: Vec<Point3<f64>> = (0..600)
            .map(|i| Point3::new(0.5 + 0.01 * f64::from(i % 30), -0.15, 0.01 * f64::from(i / 30)))
            .collect();
        let look = |tilt: f64| Look { body: body.clone(), parts: vec![plate(tilt)] };
        Observation {
            name: "box_0".to_owned(),
            class: "box".to_owned(),
            parts: vec![MovablePart { name: "lid_0".to_owned(), class: "lid".to_owned() }],
            looks: vec![look(0.0), look(1.0)],
            tracks: Vec::new(),
            eye: Point3::new(0.0, 0.0, 0.8),
        }
    }

    #[test]
    fn a_joint_is_doubted_where_only_one_of_both_finds_something_wrong() {
        for measured in MEASURED {
            for said in FailureReason::ALL {
                let doubt = joint_doubt(&verdict(measured), &opinion(said));
                let good = [measured == JointFailure::Success, said == FailureReason::Success];
                assert_eq!(doubt.is_some(), good[0] != good[1], "{measured:?}, {said:?}: {doubt:?}");
            }
        }
        let doubt = joint_doubt(&verdict(JointFailure::Success), &opinion(FailureReason::JointType));
        let expected = "lid_0 joint: it says joint_type (0 of 10, \"Make it revolute.\"), the measurement finds nothing wrong";
        assert_eq!(doubt.as_deref(), Some(expected));
        let doubt = joint_doubt(&verdict(JointFailure::JointAxis), &opinion(FailureReason::Success));
        let expected = "lid_0 joint: it finds nothing wrong (5 of 10), the measurement says joint_axis";
        assert_eq!(doubt.as_deref(), Some(expected));
    }

    #[test]
    fn a_model_is_doubted_where_scores_are_on_different_sides_of_wrong() {
        let check = |own: [f64; 3], other: [f64; 3], expected: &[&str]| {
            let doubts = model_doubts(&measured(other), &details(own));
            let whats: Vec<&str> = doubts.iter().filter_map(|doubt| doubt.split(": ").next()).collect();
            assert_eq!(whats, expected, "{own:?}, {other:?}");
        };
        check([9.0; 3], [9.0; 3], &[]);
        check([5.0; 3], [10.0; 3], &[]);
        check([1.0; 3], [4.9; 3], &[]);
        check([4.9, 9.0, 9.0], [7.0; 3], &["positions of links"]);
        check([9.0, 2.0, 9.0], [9.0; 3], &["type of lid_0 joint"]);
        check([9.0, 9.0, 9.0], [9.0, 9.0, 2.0], &["position of lid_0 joint"]);
        check([0.0; 3], [9.0; 3], &["positions of links", "type of lid_0 joint", "position of lid_0 joint"]);
        let mut other = measured([9.0; 3]);
        other.joint_evaluation_details.clear();
        assert!(model_doubts(&other, &details([9.0, 0.0, 0.0])).is_empty());
    }

    #[test]
    fn an_opinion_stands_beside_the_description_and_changes_none_of_it() {
        let described = describe(&seen(), Thresholds::default()).unwrap();
        let plain = serde_json::to_value(&described).unwrap();
        let without = serde_json::to_value(Opinions::default().told(&described)).unwrap();
        let joint = serde_json::json!({ "joint": "lid_0 joint", "measured": "success", "opinion": null });
        assert_eq!(without["joints"], serde_json::json!([joint]));
        assert_eq!(
            (&without["opinion"], &without["doubts"]),
            (&serde_json::Value::Null, &serde_json::json!([]))
        );
        let opinions = Opinions {
            joints: vec![Some(opinion(FailureReason::JointType))],
            model: Some(details([9.0, 1.0, 9.0])),
            missing: vec!["one is missing".to_owned()],
        };
        let with = serde_json::to_value(opinions.told(&described)).unwrap();
        assert_eq!(with["joints"][0]["opinion"]["failure_reason"], "joint_type");
        assert_eq!(with["joints"][0]["measured"], "success");
        assert_eq!(with["opinion"]["joint_evaluation_details"][0]["type_score"], 1.0);
        assert_eq!(with["no_opinion"][0], "one is missing");
        assert_eq!(with["doubts"].as_array().map(Vec::len), Some(2), "{}", with["doubts"]);
        assert!(with["doubts"][0].as_str().is_some_and(|doubt| doubt.contains("view differs: lid_0 joint")));
        for told in [&with, &without] {
            for (field, value) in plain.as_object().unwrap() {
                assert_eq!(&told[field], value, "{field}");
            }
        }
    }
}
