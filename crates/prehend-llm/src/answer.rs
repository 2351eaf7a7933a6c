//! What a model may answer: JSON of one shape and nothing else; to the confirmer a yes or no for each candidate.

use prehend_perception::{Judgement, Question};
use serde::Deserialize;
use serde::de::{DeserializeOwned, IgnoredAny};

/// Longest reason that is kept, characters.
const LONGEST_REASON: usize = 160;

/// Why an answer cannot be used; also what the model is told about it. Holds nothing of the answer itself.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AnswerFault {
    /// The text is not JSON, or more than JSON.
    #[error("it is not JSON alone (line {line}, column {column})")]
    NotJson {
        /// Line of the first character that does not fit, from 1.
        line: usize,
        /// Its column.
        column: usize,
    },
    /// The JSON has missing, unknown or doubled fields, or fields of another type.
    #[error("the JSON has another shape than {shape} (line {line}, column {column})")]
    Shape {
        /// The shape that it should have.
        shape: &'static str,
        /// Line of the first value that does not fit, from 1.
        line: usize,
        /// Its column.
        column: usize,
    },
    /// There are more or fewer entries than candidates.
    #[error("it has {found} entries for {expected} candidates")]
    Count {
        /// Number of candidates.
        expected: usize,
        /// Number of entries.
        found: usize,
    },
    /// An id is that of no candidate.
    #[error("entry {position} has an id that is none of the candidates")]
    UnknownId {
        /// The entry, from 1.
        position: usize,
    },
    /// A candidate is judged twice, so that another is not.
    #[error("candidate {id} is judged more than once")]
    Twice {
        /// The candidate's id in the request.
        id: String,
    },
    /// There are proposals, but each is of no thing, of no affordance, or without a score.
    #[error(
        "none of its {found} entries has a number and an affordance of the lists and a score from 0 to 1"
    )]
    NoneUsable {
        /// Number of entries.
        found: usize,
    },
    /// A summary is empty, or has a line break or another control character.
    #[error("the summary is not one line of text")]
    NoLine,
    /// A summary is too long.
    #[error("the summary has {found} characters, more than {most}")]
    LongSummary {
        /// Its characters.
        found: usize,
        /// Most characters.
        most: usize,
    },
    /// A kind of room is none of those that were named.
    #[error("the room is none of the rooms, nor empty")]
    UnknownRoom,
    /// A tool is none of those that were offered.
    #[error("the tool is none of the tools")]
    UnknownTool,
    /// A failure of a joint is none of the words for it.
    #[error("failure_reason is none of joint_type, joint_axis, joint_origin, joint_limit and success")]
    UnknownFailure,
    /// A score is none.
    #[error("a {field} is no number from 0 to 10")]
    Score {
        /// Its field.
        field: &'static str,
    },
    /// A rating does not go with what is said to be wrong.
    #[error("realism_rating must be {low} to {high} for {reason}")]
    Rating {
        /// What is said to be wrong.
        reason: &'static str,
        /// Lowest rating that goes with it.
        low: u8,
        /// Highest one.
        high: u8,
    },
    /// A description is empty.
    #[error("{field} is empty")]
    NoText {
        /// Its field.
        field: &'static str,
    },
    /// A name is that of no joint of the model.
    #[error("entry {position} names a joint that the model does not have")]
    UnknownJoint {
        /// The entry, from 1.
        position: usize,
    },
    /// A joint is judged twice.
    #[error("entry {position} judges a joint once more")]
    JointTwice {
        /// The entry, from 1.
        position: usize,
    },
    /// Joints are not judged.
    #[error("it judges {found} of the {expected} joints")]
    Joints {
        /// Number of joints of the model.
        expected: usize,
        /// Number of those that are judged.
        found: usize,
    },
    /// The verdict contradicts its scores.
    #[error("success must be true exactly if link_position_score and joint_score are at least 8")]
    Success,
}

/// What the JSON of an answer to the confirmer looks like.
const SHAPE: &str = "{\"candidates\": [{\"id\", \"is_meant\", \"reason\"}]}";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Answer {
    candidates: Vec<Entry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    id: String,
    is_meant: bool,
    #[serde(default)]
    reason: String,
}

/// Name of the candidate with this index in a request. Not its key: keys are made of what detectors say, and a model copies short
/// names more reliably.
pub(crate) fn id(index: usize) -> String {
    format!("c{}", index + 1)
}

/// JSON alone, of one shape, which `shape` shows in words.
pub(crate) fn read<T: DeserializeOwned>(text: &str, shape: &'static str) -> Result<T, AnswerFault> {
    // Apart, because the reader of a shape calls text that is no JSON another shape when it begins like a value.
    serde_json::from_str::<IgnoredAny>(text)
        .map_err(|error| AnswerFault::NotJson { line: error.line(), column: error.column() })?;
    serde_json::from_str(text).map_err(|error| AnswerFault::Shape {
        shape,
        line: error.line(),
        column: error.column(),
    })
}

/// What stands within a fence of Markdown, when the whole text is one; else the text. Models that are not told of the shape by
/// the server like to put JSON into one.
pub(crate) fn unfenced(text: &str) -> &str {
    let inner = text.trim().strip_prefix("```").and_then(|rest| rest.strip_suffix("```"));
    let body = inner.and_then(|inner| inner.split_once('\n'));
    match body {
        Some((name, body)) if name.trim().chars().all(char::is_alphanumeric) => body,
        _ => text,
    }
}

/// The judgements of an answer, one for each candidate in their order.
pub(crate) fn parse(text: &str, question: &Question) -> Result<Vec<Judgement>, AnswerFault> {
    let answer: Answer = read(text, SHAPE)?;
    let expected = question.candidates.len();
    if answer.candidates.len() != expected {
        return Err(AnswerFault::Count { expected, found: answer.candidates.len() });
    }
    let mut judged: Vec<Option<Judgement>> = vec![None; expected];
    for (number, entry) in answer.candidates.into_iter().enumerate() {
        let index = (0..expected).find(|index| id(*index) == entry.id);
        let index = index.ok_or(AnswerFault::UnknownId { position: number + 1 })?;
        let judgement = Judgement {
            key: question.candidates[index].key.clone(),
            is_meant: entry.is_meant,
            reason: plain(&entry.reason, LONGEST_REASON),
        };
        if judged[index].replace(judgement).is_some() {
            return Err(AnswerFault::Twice { id: entry.id });
        }
    }
    // As many entries as candidates and none twice: every slot is taken.
    Ok(judged.into_iter().flatten().collect())
}

/// A model's words as they may stand in a line of the trace, of a terminal or of a page.
pub(crate) fn plain(words: &str, longest: usize) -> String {
    let printable = words.trim().chars().map(|c| if c.is_control() { ' ' } else { c });
    printable.take(longest).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use prehend_geometry::ColorImage;
    use prehend_perception::confirm::Candidate;

    fn question() -> Question {
        let candidate = |key: &str| Candidate {
            key: key.into(),
            class_name: "mug".to_owned(),
            size: [0.1; 3],
            picture: ColorImage::filled(2, 2, [0; 3]),
        };
        Question { query: "the mug".to_owned(), candidates: vec![candidate("red_mug_0"), candidate("mug_1")] }
    }

    fn entry(id: &str, is_meant: &str) -> String {
        format!(r#"{{"id": "{id}", "is_meant": {is_meant}, "reason": "so"}}"#)
    }

    fn check(text: &str, expected: Result<&[(&str, bool)], AnswerFault>) {
        let judged = parse(text, &question());
        let found = judged.map(|all| all.into_iter().map(|j| (j.key.0, j.is_meant)).collect::<Vec<_>>());
        let expected = expected.map(|all| all.iter().map(|(key, yes)| ((*key).to_owned(), *yes)).collect());
        assert_eq!(found, expected, "{text}");
    }

    fn both(first: &str, second: &str) -> String {
        format!(r#"{{"candidates": [{first}, {second}]}}"#)
    }

    #[test]
    fn an_answer_has_each_candidate_once_in_any_order_and_nothing_else() {
        let (yes, no) = (entry("c1", "true"), entry("c2", "false"));
        check(&both(&yes, &no), Ok(&[("red_mug_0", true), ("mug_1", false)]));
        check(&both(&no, &yes), Ok(&[("red_mug_0", true), ("mug_1", false)]));
        check(&both(r#"{"id": "c2", "is_meant": true}"#, &yes), Ok(&[("red_mug_0", true), ("mug_1", true)]));
        check(&format!(r#"{{"candidates": [{yes}]}}"#), Err(AnswerFault::Count { expected: 2, found: 1 }));
        check(&both(&yes, &yes), Err(AnswerFault::Twice { id: "c1".to_owned() }));
        check(&both(&yes, &entry("c3", "true")), Err(AnswerFault::UnknownId { position: 2 }));
        check(&both(&yes, &entry("red_mug_0", "true")), Err(AnswerFault::UnknownId { position: 2 }));
    }

    #[test]
    fn what_is_no_json_or_another_json_is_told_apart() {
        let is_shape = |text: &str| matches!(parse(text, &question()), Err(AnswerFault::Shape { .. }));
        let is_not_json = |text: &str| matches!(parse(text, &question()), Err(AnswerFault::NotJson { .. }));
        let good = both(&entry("c1", "true"), &entry("c2", "false"));
        for text in [
            "",
            "Both are mugs.",
            &good[1..],
            &format!("{good} as you asked"),
            &format!("```json\n{good}\n```"),
        ] {
            assert!(is_not_json(text), "{text}");
        }
        let shapes = [
            "[]".to_owned(),
            "{}".to_owned(),
            r#"{"candidates": [], "instruction": "yes"}"#.to_owned(),
            both(&entry("c1", "\"yes\""), &entry("c2", "false")),
            both(&entry("c1", "1"), &entry("c2", "false")),
            both(r#"{"id": "c1"}"#, &entry("c2", "false")),
            both(r#"{"id": "c1", "is_meant": true, "is_meant": false}"#, &entry("c2", "false")),
            both(r#"{"id": "c1", "is_meant": true, "skill": "grasp"}"#, &entry("c2", "false")),
        ];
        for text in shapes {
            assert!(is_shape(&text), "{text}");
        }
    }

    #[test]
    fn a_fault_tells_nothing_of_the_answer() {
        for text in ["my secret", r#"{"candidates": "my secret"}"#, r#"{"my secret": 1}"#] {
            let fault = parse(text, &question()).unwrap_err();
            assert!(!format!("{fault} {fault:?}").contains("secret"), "{fault:?}");
        }
    }

    #[test]
    fn a_reason_is_one_short_line() {
        let long =
            format!(r#"{{"id": "c1", "is_meant": true, "reason": "a\n\u001b[2J{}"}}"#, "x".repeat(9000));
        let judged = parse(&both(&long, &entry("c2", "true")), &question()).unwrap();
        assert_eq!(judged[0].reason.chars().count(), LONGEST_REASON);
        assert!(!judged[0].reason.chars().any(char::is_control));
    }
}
