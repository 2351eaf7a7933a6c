//! The judge: what the goal wanted, what physics has, and what was claimed.

use crate::goal::{Answer, Expected, GoalSpec, Predicate};
use crate::place::{self, Side};
use prehend_scene::Reason;
use prehend_sim::world::{JointTruth, Motions, ObjectTruth, Truth};
use serde::{Deserialize, Serialize};

/// Least share of its range by which a joint must move to be turned.
const TURNED: f64 = 0.25;

/// How a goal ended, as the robot says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// It claims to have done it.
    Done,
    /// It refused, without motion.
    Refused,
    /// It tried and failed.
    Failed,
}

/// What the robot says about a goal.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Reported {
    /// How it ended.
    pub outcome: Outcome,
    /// Why, unless it was done.
    pub reason: Option<Reason>,
    /// What it said; the answer of a question.
    pub message: String,
}

/// An object that the goal did not ask to move, and that moved.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Collateral {
    /// Its name.
    pub object: String,
    /// How far, metres.
    pub metres: f64,
    /// Whether it fell off the table.
    pub fallen: bool,
}

/// What the judge found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Judgement {
    /// The outcome and its claim are both right.
    pub right: bool,
    /// Whether the world is as the goal wanted; `None` where the goal asks for no change and nothing was changed.
    pub physics_ok: Option<bool>,
    /// It claims to have done what was not done or should not have been.
    pub false_success: bool,
    /// The arm or the gripper moved between the snapshots.
    pub moved: bool,
    /// It moved although the answer or the refusal needs no motion, or more than a look.
    #[serde(default)]
    pub needless: bool,
    /// What does not hold, a line each.
    pub findings: Vec<String>,
    /// What else was moved.
    pub collateral: Vec<Collateral>,
}

/// Why there is no judgement.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum JudgeError {
    /// The goal names an object that a snapshot lacks.
    #[error("the goal speaks of `{name}`, which the snapshot {snapshot} the run does not have")]
    UnknownObject {
        /// The name.
        name: String,
        /// `before` or `after`.
        snapshot: &'static str,
    },
    /// A snapshot has a number that is not finite.
    #[error("the snapshot {snapshot} the run has a broken number for `{name}`")]
    Broken {
        /// The object.
        name: String,
        /// `before` or `after`.
        snapshot: &'static str,
    },
}

/// Judges one goal from the snapshots before and after it and the motions between them.
///
/// Right is: the predicates hold and it says done; or it refused with an expected reason; or it answered correctly. For a refusal it
/// must not move, but where what it saw decides (not found, ambiguous) and for an answer it may look: the arm may move then, as long
/// as the gripper does not and no thing is moved. Collateral of what was to be done is reported and does not make an outcome wrong.
/// Errors: [`JudgeError`].
pub fn judge(
    spec: &GoalSpec,
    before: &Truth,
    after: &Truth,
    motions: &Motions,
    reported: &Reported,
) -> Result<Judgement, JudgeError> {
    check_numbers(before, "before")?;
    check_numbers(after, "after")?;
    let collateral = collateral(spec, before, after)?;
    let during = |[start, end]: &[f64; 2]| *end > before.time && *start < after.time;
    let gripped = motions.gripper.iter().any(during);
    let moved = gripped || motions.arm.iter().any(during);
    let acted = gripped || !collateral.is_empty();
    let needless = match &spec.expected {
        Expected::World(_) | Expected::Carried => false,
        Expected::Answer(_) => acted,
        Expected::Refusal(reasons) => {
            let hangs_on_sight =
                reasons.iter().any(|reason| matches!(reason, Reason::NotFound | Reason::Ambiguous));
            if hangs_on_sight { acted } else { moved }
        }
    };
    let done = reported.outcome == Outcome::Done;
    let mut findings = Vec::new();
    let (right, physics_ok, false_success) = match &spec.expected {
        Expected::World(predicates) => {
            for predicate in predicates {
                if !holds(predicate, before, after)? {
                    findings.push(format!("not so: {}", describe(predicate)));
                }
            }
            let ok = findings.is_empty();
            if ok && !done {
                findings.push("it is so, but was not claimed".to_owned());
            }
            (ok && done, Some(ok), done && !ok)
        }
        Expected::Refusal(reasons) => {
            let fits = reported.reason.is_some_and(|reason| reasons.contains(&reason));
            let refused = reported.outcome == Outcome::Refused;
            if !refused {
                findings.push(format!("should have been refused ({})", codes(reasons)));
            } else if !fits {
                let reason = reported.reason.map_or("no reason", Reason::code);
                findings.push(format!("refused with {reason}, not {}", codes(reasons)));
            }
            if needless {
                findings.push("the robot moved".to_owned());
            }
            let disturbed = (!collateral.is_empty()).then_some(false);
            (refused && fits && !needless, disturbed, done)
        }
        Expected::Answer(answer) => {
            let correct = done && is_answer(answer, &reported.message);
            if !correct {
                findings.push(format!("expected an answer with {}", describe_answer(answer)));
            }
            if needless {
                findings.push("the robot moved".to_owned());
            }
            (correct && !needless, (!collateral.is_empty()).then_some(false), false)
        }
        Expected::Carried => (done, None, false),
    };
    Ok(Judgement { right, physics_ok, false_success, moved, needless, findings, collateral })
}

/// Whether a predicate holds after the run. Errors: [`JudgeError::UnknownObject`].
pub fn holds(predicate: &Predicate, before: &Truth, after: &Truth) -> Result<bool, JudgeError> {
    let find = |name: &String| find(after, name, "after");
    let aside = |object: &String, target: &String, side: Side| -> Result<bool, JudgeError> {
        Ok(place::is_aside(after, find(object)?, find(target)?, side))
    };
    let way = |name: &String| -> Result<f64, JudgeError> {
        Ok(place::moved(self::find(before, name, "before")?, find(name)?))
    };
    Ok(match predicate {
        Predicate::On { object, target } => place::is_on(after, find(object)?, find(target)?),
        Predicate::In { object, target } => place::is_in(find(object)?, find(target)?),
        Predicate::InRoom { object, target, side } => place::is_in_room(find(object)?, find(target)?, *side),
        Predicate::NextTo { object, target } => place::is_next_to(after, find(object)?, find(target)?),
        Predicate::LeftOf { object, target } => aside(object, target, Side::Left)?,
        Predicate::RightOf { object, target } => aside(object, target, Side::Right)?,
        Predicate::InFrontOf { object, target } => aside(object, target, Side::Front)?,
        Predicate::Behind { object, target } => aside(object, target, Side::Back)?,
        Predicate::Between { object, first, second } => {
            place::is_between(find(object)?, find(first)?, find(second)?)
        }
        Predicate::Held { object } => place::is_held(after, find(object)?),
        Predicate::OnTable { object } => place::is_on_table(after, find(object)?),
        Predicate::Away { object, targets } => {
            let thing = find(object)?;
            let far = if targets.is_empty() {
                after.objects.iter().filter(|o| o.name != *object).all(|o| place::gap(thing, o) >= 0.04)
            } else {
                let mut far = true;
                for target in targets {
                    far &= place::gap(thing, find(target)?) >= 0.10;
                }
                far
            };
            far && place::is_resting(thing) && way(object)? >= place::MOVED
        }
        Predicate::InArea { object, x, y } => {
            let thing = find(object)?;
            place::is_resting(thing)
                && (x[0]..=x[1]).contains(&thing.position[0])
                && (y[0]..=y[1]).contains(&thing.position[1])
        }
        Predicate::InState { object, state } => {
            mechanisms(after, object).any(|joint| joint.states.contains(state))
        }
        Predicate::WasInState { object, state } => mechanisms(after, object).any(|joint| {
            let before = mechanisms(before, object).find(|other| other.joint == joint.joint);
            // What held before the goal began is no doing of the robot's, unless it went farther.
            let farther = before.is_none_or(|before| {
                !before.held_states.contains(state)
                    || joint.reached[1] > before.reached[1]
                    || joint.reached[0] < before.reached[0]
            });
            joint.held_states.contains(state) && farther
        }),
        Predicate::Turned { object } => mechanisms(after, object).any(|joint| {
            let before = mechanisms(before, object).find(|other| other.joint == joint.joint);
            let range = (joint.limits[1] - joint.limits[0]).abs();
            before.is_some_and(|before| (joint.position - before.position).abs() > TURNED * range)
        }),
        Predicate::Moved { object } => way(object)? >= place::MOVED,
        Predicate::Unmoved { object } => way(object)? < place::MOVED,
        Predicate::AtLeast { count, of } => {
            let mut held = 0;
            for predicate in of {
                held += usize::from(holds(predicate, before, after)?);
            }
            held >= *count
        }
        Predicate::All(of) => {
            let mut all = true;
            for predicate in of {
                all &= holds(predicate, before, after)?;
            }
            all
        }
    })
}

/// Joints that move an object or a part of it; `object/joint` is that joint alone, as a key of a keyboard.
pub(crate) fn mechanisms<'a>(truth: &'a Truth, object: &'a str) -> impl Iterator<Item = &'a JointTruth> {
    let is_it = move |joint: &JointTruth| {
        let alone = object.strip_prefix(joint.object.as_str()).and_then(|rest| rest.strip_prefix('/'));
        joint.entity == object || joint.object == object || alone == Some(joint.joint.as_str())
    };
    truth.mechanisms.iter().filter(move |joint| is_it(joint))
}

fn find<'a>(truth: &'a Truth, name: &str, snapshot: &'static str) -> Result<&'a ObjectTruth, JudgeError> {
    truth
        .objects
        .iter()
        .find(|object| object.name == name)
        .ok_or_else(|| JudgeError::UnknownObject { name: name.to_owned(), snapshot })
}

fn check_numbers(truth: &Truth, snapshot: &'static str) -> Result<(), JudgeError> {
    let broken = truth.objects.iter().find(|object| {
        let numbers = object.position.iter().chain(&object.orientation).chain(&object.half_extents);
        !numbers.chain([&object.speed]).all(|x| x.is_finite())
    });
    match broken {
        Some(object) => Err(JudgeError::Broken { name: object.name.clone(), snapshot }),
        None => Ok(()),
    }
}

fn collateral(spec: &GoalSpec, before: &Truth, after: &Truth) -> Result<Vec<Collateral>, JudgeError> {
    let mut found = Vec::new();
    for old in &before.objects {
        let new = find(after, &old.name, "after")?;
        // What a moved object carried goes along with it.
        let along = old.inside.iter().chain(&old.on).any(|carrier| spec.may_move.contains(carrier));
        let metres = place::moved(old, new);
        if metres > place::MOVED && !along && !spec.may_move.contains(&old.name) {
            found.push(Collateral { object: old.name.clone(), metres, fallen: new.fallen });
        }
    }
    Ok(found)
}

/// Whether a message says an answer.
pub fn is_answer(answer: &Answer, message: &str) -> bool {
    let message = message.to_lowercase();
    // Keys such as `mug_0` stay one word, so that their numbers are not taken for counts.
    let words: Vec<&str> = message
        .split(|c: char| !(c.is_alphanumeric() || c == '_' || c == '\''))
        .filter(|word| !word.is_empty())
        .collect();
    match answer {
        Answer::Count(expected) => {
            let number = words.iter().find_map(|word| number(word));
            let number = number.or_else(|| words.iter().any(|w| ["a", "an"].contains(w)).then_some(1));
            number == Some(*expected)
        }
        Answer::YesNo(expected) => {
            let said = words.iter().find_map(|word| match *word {
                "yes" => Some(true),
                "no" | "not" | "isn't" | "aren't" | "none" | "nothing" => Some(false),
                _ => None,
            });
            said == Some(*expected)
        }
        Answer::Words { said, not_said } => {
            let says = |phrase: &String| {
                let phrase: Vec<&str> = phrase.split_whitespace().collect();
                let stem =
                    |word: &str| word.trim_end_matches(|c: char| c == '_' || c.is_ascii_digit()).to_owned();
                !phrase.is_empty()
                    && words.windows(phrase.len()).any(|window| {
                        window
                            .iter()
                            .zip(&phrase)
                            .all(|(word, wanted)| stem(word) == *wanted || word == wanted)
                    })
            };
            said.iter().all(says) && !not_said.iter().any(says)
        }
        Answer::Any => !words.is_empty(),
    }
}

/// The number that a word is, if it is one.
fn number(word: &str) -> Option<u32> {
    const WORDS: [&str; 13] = [
        "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven",
        "twelve",
    ];
    if ["no", "none", "nothing"].contains(&word) {
        return Some(0);
    }
    let place = WORDS.iter().position(|known| *known == word);
    place.and_then(|n| u32::try_from(n).ok()).or_else(|| word.parse().ok())
}

fn codes(reasons: &[Reason]) -> String {
    reasons.iter().map(|reason| reason.code()).collect::<Vec<_>>().join(" or ")
}

fn describe_answer(answer: &Answer) -> String {
    match answer {
        Answer::Count(count) => format!("the number {count}"),
        Answer::YesNo(yes) => (if *yes { "yes" } else { "no" }).to_owned(),
        Answer::Words { said, not_said } if not_said.is_empty() => format!("`{}`", said.join("`, `")),
        Answer::Words { said, not_said } => {
            format!("`{}` and without `{}`", said.join("`, `"), not_said.join("`, `"))
        }
        Answer::Any => "some words".to_owned(),
    }
}

/// A predicate in words.
pub fn describe(predicate: &Predicate) -> String {
    match predicate {
        Predicate::On { object, target } => format!("{object} on {target}"),
        Predicate::In { object, target } => format!("{object} in {target}"),
        Predicate::InRoom { object, target, side } => {
            format!("{object} in the {side:?} compartment of {target}").to_lowercase()
        }
        Predicate::NextTo { object, target } => format!("{object} next to {target}"),
        Predicate::LeftOf { object, target } => format!("{object} left of {target}"),
        Predicate::RightOf { object, target } => format!("{object} right of {target}"),
        Predicate::InFrontOf { object, target } => format!("{object} in front of {target}"),
        Predicate::Behind { object, target } => format!("{object} behind {target}"),
        Predicate::Between { object, first, second } => format!("{object} between {first} and {second}"),
        Predicate::Held { object } => format!("{object} held"),
        Predicate::OnTable { object } => format!("{object} on the table"),
        Predicate::Away { object, targets } if targets.is_empty() => format!("{object} away"),
        Predicate::Away { object, targets } => format!("{object} away from {}", targets.join(", ")),
        Predicate::InArea { object, x, y } => format!("{object} within x {x:?} and y {y:?}"),
        Predicate::InState { object, state } => format!("{object} {state}"),
        Predicate::WasInState { object, state } => format!("{object} was {state}"),
        Predicate::Turned { object } => format!("{object} turned"),
        Predicate::Moved { object } => format!("{object} moved"),
        Predicate::Unmoved { object } => format!("{object} where it was"),
        Predicate::AtLeast { count, of } => {
            format!("{count} of: {}", of.iter().map(describe).collect::<Vec<_>>().join("; "))
        }
        Predicate::All(of) => of.iter().map(describe).collect::<Vec<_>>().join(" and "),
    }
}

#[cfg(test)]
mod tests;
