//! Sentence sets: one JSON object a line, with a scene file, a sentence, and what is right in the end, judged by physics.
//!
//! `{"scene": FILE, "goal": TEXT, "want": {"outcome": "done"|"refused", "reason": CODE or [CODES]?, "facts": [["on", "red apple",
//! "plate"], ...]?, "says": [WORDS]?, "not_says": [WORDS]?, "count": N?, "yes": BOOL?}, "construction": NAME?, "seed": N?}`. Facts are in the names of the scene
//! file. Read [`lines`] first.

use crate::goal::{Answer, Expected, GoalSpec, Predicate};
use crate::scenario::{Kind, Scenario};
use prehend_scene::Reason;
use serde::Deserialize;

/// What lines without a construction are counted under.
const OTHER: &str = "other";
/// Reasons of a refusal when none is wanted in particular: the sentence or the scene does not allow it.
const REFUSALS: [Reason; 5] =
    [Reason::NotUnderstood, Reason::NotFound, Reason::Ambiguous, Reason::Infeasible, Reason::Unsafe];

/// A line of a sentence set.
#[derive(Clone, Debug, PartialEq)]
pub struct Line {
    /// Its number in the file, from 1.
    pub number: usize,
    /// Scene file.
    pub scene: String,
    /// The sentence.
    pub goal: String,
    /// Construction of the language that it is an example of.
    pub construction: String,
    /// Seed for the places, when the line gives one.
    pub seed: Option<u64>,
    /// What is right.
    pub spec: GoalSpec,
}

/// Why a sentence set cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {what}")]
pub struct LineError {
    /// The line, from 1.
    pub line: usize,
    /// What is wrong with it, and what would be right.
    pub what: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Raw {
    scene: String,
    goal: String,
    want: Want,
    #[serde(default)]
    construction: Option<String>,
    #[serde(default)]
    seed: Option<u64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Want {
    outcome: String,
    #[serde(default)]
    reason: Option<OneOrMore>,
    #[serde(default)]
    facts: Vec<Vec<String>>,
    #[serde(default)]
    says: Vec<String>,
    #[serde(default)]
    not_says: Vec<String>,
    #[serde(default)]
    count: Option<u32>,
    #[serde(default)]
    yes: Option<bool>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum OneOrMore {
    One(String),
    More(Vec<String>),
}

/// The lines of a sentence set; empty lines and lines that begin with `#` or `//` are none.
///
/// Errors: the first line that is wrong.
pub fn lines(text: &str) -> Result<Vec<Line>, LineError> {
    let is_line = |line: &str| !line.is_empty() && !line.starts_with('#') && !line.starts_with("//");
    text.lines()
        .enumerate()
        .map(|(index, line)| (index + 1, line.trim()))
        .filter(|(_, line)| is_line(line))
        .map(|(number, line)| read(number, line).map_err(|what| LineError { line: number, what }))
        .collect()
}

fn read(number: usize, line: &str) -> Result<Line, String> {
    let raw: Raw = serde_json::from_str(line).map_err(|error| error.to_string())?;
    let spec = spec(&raw.want)?;
    let construction = raw.construction.unwrap_or_else(|| OTHER.to_owned());
    Ok(Line { number, scene: raw.scene, goal: raw.goal, construction, seed: raw.seed, spec })
}

fn spec(want: &Want) -> Result<GoalSpec, String> {
    let facts: Vec<Predicate> = want.facts.iter().map(|fact| predicate(fact)).collect::<Result<_, _>>()?;
    let words = (!want.says.is_empty() || !want.not_says.is_empty())
        .then(|| Answer::Words { said: want.says.clone(), not_said: want.not_says.clone() });
    let answer = want.count.map(Answer::Count).or(want.yes.map(Answer::YesNo)).or(words);
    let is_answer = answer.is_some();
    match want.outcome.as_str() {
        "refused" if !facts.is_empty() || is_answer => {
            Err("what is refused changes nothing: it takes neither `facts` nor `says`".to_owned())
        }
        "refused" => {
            let codes = match &want.reason {
                None => return Ok(GoalSpec::refusal(&REFUSALS)),
                Some(OneOrMore::One(code)) => vec![code.clone()],
                Some(OneOrMore::More(codes)) => codes.clone(),
            };
            let reason =
                |code: &String| Reason::parse(code).ok_or_else(|| format!("there is no reason `{code}`"));
            let reasons: Vec<Reason> = codes.iter().map(reason).collect::<Result<_, _>>()?;
            Ok(GoalSpec::refusal(&reasons))
        }
        "done" if want.reason.is_some() => Err("what is done has no `reason`".to_owned()),
        "done" if is_answer && !facts.is_empty() => {
            Err("an answer changes nothing: give `facts` or `says`, not both".to_owned())
        }
        "done" if let Some(answer) = answer => Ok(GoalSpec::answer(answer)),
        "done" if facts.is_empty() => Ok(GoalSpec { expected: Expected::Carried, may_move: Vec::new() }),
        "done" => Ok(GoalSpec::world(facts)),
        other => Err(format!("`outcome` is done or refused, not `{other}`")),
    }
}

fn predicate(fact: &[String]) -> Result<Predicate, String> {
    let [name, arguments @ ..] = fact else { return Err("a fact is [NAME, OBJECT, ...]".to_owned()) };
    let wrong = |takes: &str| format!("the fact `{name}` takes {takes}");
    let one = || match arguments {
        [object] => Ok(object.clone()),
        _ => Err(wrong("one object")),
    };
    let two = || match arguments {
        [object, target] => Ok((object.clone(), target.clone())),
        _ => Err(wrong("an object and a target")),
    };
    let state = |state: &str| -> Result<Predicate, String> {
        Ok(Predicate::InState { object: one()?, state: state.to_owned() })
    };
    Ok(match name.as_str() {
        "on" => two().map(|(object, target)| Predicate::On { object, target })?,
        "in" => two().map(|(object, target)| Predicate::In { object, target })?,
        "next_to" => two().map(|(object, target)| Predicate::NextTo { object, target })?,
        "left_of" => two().map(|(object, target)| Predicate::LeftOf { object, target })?,
        "right_of" => two().map(|(object, target)| Predicate::RightOf { object, target })?,
        "in_front_of" => two().map(|(object, target)| Predicate::InFrontOf { object, target })?,
        "behind" => two().map(|(object, target)| Predicate::Behind { object, target })?,
        "between" => match arguments {
            [object, first, second] => {
                Predicate::Between { object: object.clone(), first: first.clone(), second: second.clone() }
            }
            _ => return Err(wrong("an object and two targets")),
        },
        "held" => Predicate::Held { object: one()? },
        "on_table" => Predicate::OnTable { object: one()? },
        "moved" => Predicate::Moved { object: one()? },
        "unmoved" => Predicate::Unmoved { object: one()? },
        "away" => match arguments {
            [object, targets @ ..] => Predicate::Away { object: object.clone(), targets: targets.to_vec() },
            [] => return Err(wrong("an object and what it is away from")),
        },
        "open" | "closed" | "on_state" | "off_state" => state(name.trim_end_matches("_state"))?,
        "pressed" => Predicate::WasInState { object: one()?, state: "pressed".to_owned() },
        _ => {
            return Err(format!(
                "there is no fact `{name}`; there are on, in, next_to, left_of, right_of, in_front_of, behind, between, held, on_table, moved, unmoved, away, open, closed, on_state, off_state, pressed"
            ));
        }
    })
}

impl Line {
    /// The scenario of this line in the text of its scene file; `names` are those of the scene's objects.
    ///
    /// Errors: a fact names something that is not in the scene.
    pub fn scenario(&self, scene_yaml: String, names: &[String], seed: u64) -> Result<Scenario, String> {
        let facts = match &self.spec.expected {
            Expected::World(facts) => facts.as_slice(),
            Expected::Refusal(_) | Expected::Answer(_) | Expected::Carried => &[],
        };
        // A part of a thing is named after it: `cabinet/top drawer`.
        let is_known = |name: &String| names.contains(&name.split('/').next().unwrap_or_default().to_owned());
        let unknown = facts.iter().flat_map(Predicate::names).find(|name| !is_known(name));
        if let Some(name) = unknown {
            return Err(format!(
                "line {}: `{name}` is not in {}; there are {}",
                self.number,
                self.scene,
                names.join(", ")
            ));
        }
        Ok(Scenario {
            seed: self.seed.unwrap_or(seed),
            kind: Kind::Task,
            sentence: self.goal.clone(),
            scene_yaml,
            spec: self.spec.clone(),
            group: self.construction.clone(),
            subject: None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(line: &str) -> Result<Line, String> {
        lines(line).map(|mut all| all.remove(0)).map_err(|error| error.to_string())
    }

    #[test]
    fn lines_are_read_with_what_is_right() {
        let text = r#"
            # a comment
            {"scene": "s.yaml", "goal": "put it there", "want": {"outcome": "done", "facts": [["on", "apple", "plate"], ["unmoved", "mug"]]}, "construction": "one step", "seed": 7}
            {"scene": "s.yaml", "goal": "fly", "want": {"outcome": "refused", "reason": ["infeasible", "not_understood"]}}
            {"scene": "s.yaml", "goal": "how many?", "want": {"outcome": "done", "count": 2}}
            {"scene": "s.yaml", "goal": "go home", "want": {"outcome": "done"}}
        "#;
        let all = lines(text).unwrap();
        assert_eq!(all.iter().map(|line| line.number).collect::<Vec<_>>(), [3, 4, 5, 6]);
        assert_eq!((all[0].construction.as_str(), all[0].seed), ("one step", Some(7)));
        assert_eq!(all[0].spec.may_move, ["apple"]);
        assert_eq!(all[1].spec, GoalSpec::refusal(&[Reason::Infeasible, Reason::NotUnderstood]));
        assert_eq!(all[1].construction, OTHER);
        assert_eq!(all[2].spec, GoalSpec::answer(Answer::Count(2)));
        assert_eq!(all[3].spec.expected, Expected::Carried);
    }

    #[test]
    fn what_is_wrong_is_told_with_its_line() {
        let want = |want: &str| format!(r#"{{"scene": "s", "goal": "g", "want": {want}}}"#);
        for (text, says) in [
            ("{}".to_owned(), "line 1: missing field"),
            (want(r#"{"outcome": "done", "fact": []}"#), "unknown field `fact`"),
            (want(r#"{"outcome": "perhaps"}"#), "done or refused, not `perhaps`"),
            (want(r#"{"outcome": "refused", "reason": "bored"}"#), "no reason `bored`"),
            (want(r#"{"outcome": "refused", "facts": [["held", "a"]]}"#), "changes nothing"),
            (want(r#"{"outcome": "done", "facts": [["on", "a"]]}"#), "`on` takes an object and a target"),
            (want(r#"{"outcome": "done", "facts": [["under", "a", "b"]]}"#), "no fact `under`; there are on"),
            (want(r#"{"outcome": "done", "facts": [[]]}"#), "a fact is"),
        ] {
            let found = one(&text).unwrap_err();
            assert!(found.contains(says), "{text}: {found}");
        }
    }

    #[test]
    fn facts_name_what_is_in_the_scene() {
        let line = one(r#"{"scene": "s", "goal": "g", "want": {"outcome": "done", "facts": [["in", "apple", "cabinet/top drawer"]]}}"#).unwrap();
        let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        let scenario = line.scenario("name: s".to_owned(), &names(&["apple", "cabinet"]), 4).unwrap();
        assert_eq!((scenario.seed, scenario.sentence.as_str()), (4, "g"));
        let wrong = line.scenario(String::new(), &names(&["apple"]), 4).unwrap_err();
        assert!(wrong.contains("`cabinet/top drawer` is not in s"), "{wrong}");
    }
}
