//! What a critic of an articulated thing may answer: the output of the joint critic and of the URDF critic of
//! `articulated-object-critics.md`, field by field, and nothing else.

use crate::answer::{AnswerFault, plain, read, unfenced};
use serde::{Deserialize, Serialize};

/// Longest text of an opinion that is kept, characters.
const LONGEST: usize = 600;
/// Scores from which the URDF critic says success (the document's *Success Criteria*).
const SUCCESS: f64 = 8.0;
/// What the JSON of the joint critic looks like.
const JOINT_SHAPE: &str = "{\"gt_description\", \"pred_description\", \"candidate_function_description\", \"failure_reason\", \
                           \"improvement_suggestion\", \"realism_rating\"}";
/// What the JSON of the URDF critic looks like.
const WHOLE_SHAPE: &str = "{\"link_position_score\", \"link_position_reasoning\", \"joint_score\", \"joint_evaluation_details\": \
                           [{\"joint_name\", \"type_score\", \"position_score\", \"reasoning\"}], \"success\"}";

/// `failure_reason` of the joint critic.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FailureReason {
    /// It slides and should turn, or the other way round.
    JointType,
    /// Its direction is wrong.
    JointAxis,
    /// It turns about another place.
    JointOrigin,
    /// It goes too far, not far enough, or the other way.
    JointLimit,
    /// Nothing is wrong.
    Success,
}

impl FailureReason {
    /// All, in the document's order of judgement.
    pub const ALL: [Self; 5] =
        [Self::JointType, Self::JointAxis, Self::JointOrigin, Self::JointLimit, Self::Success];

    /// The document's word.
    pub fn name(self) -> &'static str {
        match self {
            Self::JointType => "joint_type",
            Self::JointAxis => "joint_axis",
            Self::JointOrigin => "joint_origin",
            Self::JointLimit => "joint_limit",
            Self::Success => "success",
        }
    }

    /// Lowest and highest `realism_rating` that goes with it (the document's *Rating Rules*).
    pub fn ratings(self) -> [u8; 2] {
        match self {
            Self::JointType => [0, 0],
            Self::JointAxis => [1, 1],
            Self::JointOrigin => [2, 2],
            Self::JointLimit => [3, 3],
            Self::Success => [5, 10],
        }
    }
}

/// What is said of one joint. Texts are one line each.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct JointOpinion {
    /// What was recorded.
    pub gt_description: String,
    /// What the model does.
    pub pred_description: String,
    /// The model's joint in words.
    pub candidate_function_description: String,
    /// The first thing that is wrong.
    pub failure_reason: FailureReason,
    /// What to change; may be empty.
    pub improvement_suggestion: String,
    /// 0 to 10, within [`FailureReason::ratings`].
    pub realism_rating: f64,
}

/// What is said of a whole model. Texts are one line each.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModelOpinion {
    /// 0 to 10.
    pub link_position_score: f64,
    /// What speaks for it.
    pub link_position_reasoning: String,
    /// 0 to 10, as it was said: two of the document's own examples are not the average that its steps ask for.
    pub joint_score: f64,
    /// Each joint of the model once, in the order of the question.
    pub joint_evaluation_details: Vec<JointScores>,
    /// Both scores are at least 8.
    pub success: bool,
}

/// What is said of one joint of a whole model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct JointScores {
    /// Its name in the URDF.
    pub joint_name: String,
    /// 0 to 10.
    pub type_score: f64,
    /// 0 to 10.
    pub position_score: f64,
    /// By the URDF and by the pictures.
    pub reasoning: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct JointAnswer {
    gt_description: String,
    pred_description: String,
    candidate_function_description: String,
    failure_reason: String,
    improvement_suggestion: String,
    realism_rating: f64,
}

/// The joint critic's answer.
pub(crate) fn joint(text: &str) -> Result<JointOpinion, AnswerFault> {
    let answer: JointAnswer = read(unfenced(text), JOINT_SHAPE)?;
    let named = FailureReason::ALL.into_iter().find(|reason| reason.name() == answer.failure_reason);
    let failure_reason = named.ok_or(AnswerFault::UnknownFailure)?;
    let realism_rating = score("realism_rating", answer.realism_rating)?;
    let [low, high] = failure_reason.ratings();
    if !(f64::from(low)..=f64::from(high)).contains(&realism_rating) {
        return Err(AnswerFault::Rating { reason: failure_reason.name(), low, high });
    }
    Ok(JointOpinion {
        gt_description: said("gt_description", &answer.gt_description)?,
        pred_description: said("pred_description", &answer.pred_description)?,
        candidate_function_description: said(
            "candidate_function_description",
            &answer.candidate_function_description,
        )?,
        failure_reason,
        improvement_suggestion: plain(&answer.improvement_suggestion, LONGEST),
        realism_rating,
    })
}

/// The URDF critic's answer about a model with these joints.
pub(crate) fn model(text: &str, joints: &[String]) -> Result<ModelOpinion, AnswerFault> {
    let answer: ModelOpinion = read(unfenced(text), WHOLE_SHAPE)?;
    let link_position_score = score("link_position_score", answer.link_position_score)?;
    let joint_score = score("joint_score", answer.joint_score)?;
    let mut judged: Vec<Option<JointScores>> = vec![None; joints.len()];
    for (number, detail) in answer.joint_evaluation_details.into_iter().enumerate() {
        let position = number + 1;
        let index = joints.iter().position(|name| *name == detail.joint_name);
        let index = index.ok_or(AnswerFault::UnknownJoint { position })?;
        let scores = JointScores {
            type_score: score("type_score", detail.type_score)?,
            position_score: score("position_score", detail.position_score)?,
            reasoning: said("reasoning", &detail.reasoning)?,
            joint_name: detail.joint_name,
        };
        if judged[index].replace(scores).is_some() {
            return Err(AnswerFault::JointTwice { position });
        }
    }
    let joint_evaluation_details: Vec<JointScores> = judged.into_iter().flatten().collect();
    let (expected, found) = (joints.len(), joint_evaluation_details.len());
    if found != expected {
        return Err(AnswerFault::Joints { expected, found });
    }
    if answer.success != (link_position_score >= SUCCESS && joint_score >= SUCCESS) {
        return Err(AnswerFault::Success);
    }
    Ok(ModelOpinion {
        link_position_score,
        link_position_reasoning: said("link_position_reasoning", &answer.link_position_reasoning)?,
        joint_score,
        joint_evaluation_details,
        success: answer.success,
    })
}

fn score(field: &'static str, value: f64) -> Result<f64, AnswerFault> {
    if (0.0..=10.0).contains(&value) { Ok(value) } else { Err(AnswerFault::Score { field }) }
}

fn said(field: &'static str, text: &str) -> Result<String, AnswerFault> {
    let line = plain(text, LONGEST);
    if line.trim().is_empty() { Err(AnswerFault::NoText { field }) } else { Ok(line) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn good_joint(failure: &str, rating: f64) -> Value {
        json!({
            "gt_description": "The drawer slides out.",
            "pred_description": "It slides out.",
            "candidate_function_description": "A prismatic joint.",
            "failure_reason": failure,
            "improvement_suggestion": "None",
            "realism_rating": rating,
        })
    }

    fn good_model() -> Value {
        let joint = |name: &str| json!({ "joint_name": name, "type_score": 9.0, "position_score": 8, "reasoning": "It fits." });
        json!({
            "link_position_score": 8.5,
            "link_position_reasoning": "Nothing floats.",
            "joint_score": 8.5,
            "joint_evaluation_details": [joint("lid joint"), joint("door joint")],
            "success": true,
        })
    }

    fn names() -> Vec<String> {
        ["door joint", "lid joint"].map(str::to_owned).to_vec()
    }

    /// What is wrong with a good answer of the joint critic after a change; `None` for nothing.
    fn check_joint(change: impl FnOnce(&mut Value), fault: Option<AnswerFault>) {
        let mut answer = good_joint("success", 9.0);
        change(&mut answer);
        assert_eq!(joint(&answer.to_string()).err(), fault, "{answer}");
    }

    fn check_model(change: impl FnOnce(&mut Value), fault: Option<AnswerFault>) {
        let mut answer = good_model();
        change(&mut answer);
        assert_eq!(model(&answer.to_string(), &names()).err(), fault, "{answer}");
    }

    #[test]
    fn the_ratings_of_the_document_are_taken_and_no_others() {
        let rated = [
            ("joint_type", 0, 0),
            ("joint_axis", 1, 1),
            ("joint_origin", 2, 2),
            ("joint_limit", 3, 3),
            ("success", 5, 10),
        ];
        for (reason, low, high) in rated {
            for rating in 0..=10_u8 {
                let found = joint(&good_joint(reason, f64::from(rating)).to_string());
                if (low..=high).contains(&rating) {
                    assert_eq!(found.map(|found| found.failure_reason.name()), Ok(reason), "{rating}");
                } else {
                    assert_eq!(found, Err(AnswerFault::Rating { reason, low, high }), "{rating}");
                }
            }
        }
        assert!(joint(&good_joint("success", 7.5).to_string()).is_ok());
    }

    #[test]
    fn an_answer_about_a_joint_is_exact() {
        check_joint(|_| (), None);
        for word in ["", "Success", "axis", "joint_position"] {
            check_joint(|answer| answer["failure_reason"] = json!(word), Some(AnswerFault::UnknownFailure));
        }
        for rating in [json!(11), json!(-0.1), json!(1e300)] {
            let fault = AnswerFault::Score { field: "realism_rating" };
            check_joint(|answer| answer["realism_rating"] = rating, Some(fault));
        }
        for field in ["gt_description", "pred_description", "candidate_function_description"] {
            for text in ["", " \n ", "\u{1b}"] {
                check_joint(|answer| answer[field] = json!(text), Some(AnswerFault::NoText { field }));
            }
        }
        check_joint(|answer| answer["improvement_suggestion"] = json!(""), None);
        type Change = fn(&mut Value);
        let others: [Change; 5] = [
            |answer| answer["realism_rating"] = json!("9"),
            |answer| answer["realism_rating"] = json!(null),
            |answer| answer["confidence"] = json!(1),
            |answer| drop(answer.as_object_mut().map(|fields| fields.remove("gt_description"))),
            |answer| *answer = json!([answer.clone()]),
        ];
        for change in others {
            let mut answer = good_joint("success", 9.0);
            change(&mut answer);
            let found = joint(&answer.to_string());
            assert!(matches!(found, Err(AnswerFault::Shape { .. })), "{answer}: {found:?}");
        }
        assert!(matches!(joint("It slides."), Err(AnswerFault::NotJson { .. })));
        assert!(joint(&format!("```json\n{}\n```", good_joint("success", 9.0))).is_ok());
    }

    #[test]
    fn what_is_kept_is_one_short_line_each() {
        let mut answer = good_joint("success", 9.0);
        answer["gt_description"] = json!(format!("a\n\u{1b}[2J{}", "x".repeat(9000)));
        let found = joint(&answer.to_string()).unwrap();
        assert_eq!(found.gt_description.chars().count(), LONGEST);
        assert!(!found.gt_description.contains(char::is_control));
    }

    #[test]
    fn an_answer_about_a_model_has_each_joint_once() {
        check_model(|_| (), None);
        let found = model(&good_model().to_string(), &names()).unwrap();
        let order: Vec<&str> =
            found.joint_evaluation_details.iter().map(|detail| detail.joint_name.as_str()).collect();
        assert_eq!(order, ["door joint", "lid joint"]);
        let details = |answer: &mut Value, change: fn(&mut Vec<Value>)| {
            change(answer["joint_evaluation_details"].as_array_mut().unwrap());
        };
        check_model(
            |answer| details(answer, |all| drop(all.pop())),
            Some(AnswerFault::Joints { expected: 2, found: 1 }),
        );
        check_model(
            |answer| details(answer, |all| all[1]["joint_name"] = json!("door")),
            Some(AnswerFault::UnknownJoint { position: 2 }),
        );
        check_model(
            |answer| details(answer, |all| all[1]["joint_name"] = json!("lid joint")),
            Some(AnswerFault::JointTwice { position: 2 }),
        );
        check_model(
            |answer| details(answer, |all| all.push(all[0].clone())),
            Some(AnswerFault::JointTwice { position: 3 }),
        );
        check_model(
            |answer| details(answer, |all| all[0]["type_score"] = json!(10.01)),
            Some(AnswerFault::Score { field: "type_score" }),
        );
        check_model(
            |answer| details(answer, |all| all[0]["position_score"] = json!(-1)),
            Some(AnswerFault::Score { field: "position_score" }),
        );
        check_model(
            |answer| details(answer, |all| all[0]["reasoning"] = json!("")),
            Some(AnswerFault::NoText { field: "reasoning" }),
        );
        for field in ["link_position_score", "joint_score"] {
            check_model(|answer| answer[field] = json!(11), Some(AnswerFault::Score { field }));
            check_model(|answer| answer[field] = json!(7.9), Some(AnswerFault::Success));
        }
        check_model(|answer| answer["success"] = json!(false), Some(AnswerFault::Success));
        check_model(
            |answer| answer["link_position_reasoning"] = json!("\t"),
            Some(AnswerFault::NoText { field: "link_position_reasoning" }),
        );
        let none = json!({
            "link_position_score": 9, "link_position_reasoning": "One piece.", "joint_score": 10,
            "joint_evaluation_details": [], "success": true,
        });
        assert!(model(&none.to_string(), &[]).is_ok());
    }

    /// Scores of the document's three examples of the URDF critic, and how it rates them.
    #[test]
    fn the_examples_of_the_document_are_answers() {
        type Example = (f64, f64, [[f64; 2]; 2], bool);
        let examples: [Example; 3] = [
            (8.5, 9.0, [[10.0, 10.0], [9.0, 8.0]], true),
            (3.0, 5.5, [[10.0, 9.0], [8.0, 2.0]], false),
            (8.0, 4.0, [[2.0, 6.0], [2.0, 6.0]], false),
        ];
        for (links, joints, scores, success) in examples {
            let mut answer = good_model();
            answer["link_position_score"] = json!(links);
            answer["joint_score"] = json!(joints);
            answer["success"] = json!(success);
            for (index, [of_type, of_position]) in scores.into_iter().enumerate() {
                answer["joint_evaluation_details"][index]["type_score"] = json!(of_type);
                answer["joint_evaluation_details"][index]["position_score"] = json!(of_position);
            }
            assert_eq!(model(&answer.to_string(), &names()).map(|found| found.success), Ok(success));
        }
    }
}
