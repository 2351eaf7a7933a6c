//! From a sentence and the true scene to the goal it means there: what a person who sees the table would expect.
//!
//! The words are read by the same grammar and with the same forgiveness (spelling, synonyms) as the robot's, but everything about the scene comes from physics: classes, colours,
//! sizes and places are true. So a goal is judged by what the sentence means and not by what the robot took it for. Where the
//! sentence cannot or must not be carried out, the goal is a refusal with the reasons that are fair.

mod noun;
mod reading;
mod step;

pub(crate) use step::{SAME_PLACE, SHIFTED, area, near};

use crate::goal::{Answer, Expected, GoalSpec};
use noun::Scene;
use prehend_agent::language::{Goal, Lexicon, Question, parse};
use prehend_agent::policy::Policy;
use prehend_config::Findings;
use prehend_scene::Reason;
use prehend_sim::world::Truth;
use step::Steps;

/// The words that sentences are read with.
#[derive(Clone, Debug)]
pub struct Vocabulary {
    /// Grammar words.
    pub lexicon: Lexicon,
    /// What must be refused.
    pub policy: Policy,
    /// Which nouns mean the same.
    pub synonyms: prehend_perception::lexicon::Lexicon,
}

impl Vocabulary {
    /// The built-in words.
    ///
    /// Errors: findings when a built-in file is broken, which a test rules out.
    pub fn built_in() -> Result<Self, Findings> {
        let synonyms = include_str!("../../../config/language/synonyms.yaml");
        Ok(Self {
            lexicon: Lexicon::built_in(),
            policy: Policy::built_in()?,
            synonyms: prehend_perception::lexicon::Lexicon::parse("synonyms.yaml", synonyms)?,
        })
    }
}

/// What a sentence means in a scene. Never fails: what has no meaning there must be refused.
pub fn ground(sentence: &str, truth: &Truth, words: &Vocabulary) -> GoalSpec {
    if words.policy.check_sentence(sentence, &words.lexicon).is_some() {
        return GoalSpec::refusal(&[Reason::Unsafe]);
    }
    let Ok(readings) = parse(sentence, &words.lexicon) else {
        return GoalSpec::refusal(&[Reason::NotUnderstood]);
    };
    let mut reasons: Vec<Reason> = Vec::new();
    for reading in &readings {
        let scene = Scene::new(truth, words);
        let meaning = match reading {
            Goal::Steps(steps) => Steps::new(scene).ground(steps),
            Goal::Question(question) => Ok(answer(question, scene)),
            Goal::Lesson { .. } => Ok(GoalSpec::answer(Answer::Any)),
            Goal::Conditional { condition, then, otherwise } => {
                match answer(&condition.question, Scene::new(truth, words)).expected {
                    Expected::Answer(Answer::YesNo(holds)) => {
                        let steps = if holds != condition.negated { then } else { otherwise };
                        match steps.is_empty() {
                            true => Ok(GoalSpec::answer(Answer::Any)),
                            false => Steps::new(scene).ground(steps),
                        }
                    }
                    _ => Err(vec![Reason::NotFound, Reason::Ambiguous]),
                }
            }
        };
        match meaning {
            Ok(spec) => return spec,
            Err(more) => {
                for reason in more {
                    if !reasons.contains(&reason) {
                        reasons.push(reason);
                    }
                }
            }
        }
    }
    GoalSpec { expected: Expected::Refusal(reasons), may_move: Vec::new() }
}

fn answer(question: &Question, mut scene: Scene<'_>) -> GoalSpec {
    let answer = match question {
        Question::Count(phrase) => {
            let count = scene.fitting(phrase).map(|found| found.len() as u32);
            count.map_or(Answer::Any, Answer::Count)
        }
        Question::Exists(phrase) => match scene.fitting(phrase) {
            Ok(found) => Answer::YesNo(!found.is_empty()),
            Err(_) => Answer::Any,
        },
        Question::Is { subject, description } => {
            let subject = scene.fitting(subject).unwrap_or_default();
            match (subject.as_slice(), scene.fitting(description)) {
                ([one], Ok(found)) => Answer::YesNo(found.contains(one)),
                _ => Answer::Any,
            }
        }
        Question::Where(_)
        | Question::Which(_)
        | Question::Color(_)
        | Question::Measure(..)
        | Question::Compare { .. }
        | Question::Distance(..)
        | Question::Holding
        | Question::Abilities => Answer::Any,
    };
    GoalSpec::answer(answer)
}

#[cfg(test)]
mod tests;
