//! What a model does is not believed: each action is held against the policy before it, and `finish` against what was observed.

use super::Course;
use crate::agent::done_words;
use crate::language::read_intent;
use crate::mind::broken::ends;
use crate::planner::{Action, Plan, judge, listed, plan, plan_words};
use crate::world::Fault;
use prehend_scene::{Intent, ObjectKey, Reason};
use serde_json::Value;

impl Course<'_, '_> {
    /// The action that a call asks for, when the policy and plain sense allow it; `None` is for the tool itself to refuse.
    ///
    /// Errors: unsafe, infeasible, or the fault of a tool.
    pub(super) fn judged(&mut self, tool: &str, arguments: &Value) -> Result<Option<Action>, Fault> {
        let text = |key: &str| arguments.get(key).and_then(Value::as_str).unwrap_or_default();
        let words = text("action");
        if let Some(violation) = self.agent.policy.check_sentence(words, &self.agent.lexicon) {
            return Err(Fault::new(Reason::Unsafe, violation.to_string()));
        }
        let object = ObjectKey::from(text("obj"));
        let action = if tool == "go_to" {
            Some(Action::Go { object })
        } else {
            let more = arguments.get("with").and_then(Value::as_array);
            let more = more.into_iter().flatten().filter_map(Value::as_str).map(ObjectKey::from);
            let targets: Vec<ObjectKey> =
                std::iter::once(object.clone()).filter(|key| !key.0.is_empty()).chain(more).collect();
            let held = self.tools.state().held_object.clone();
            match (read_intent(words, &self.agent.lexicon), held) {
                (Some(Intent::Grasp { part }), _) => Some(Action::Pick { object, part }),
                (Some(Intent::Act { verb, part }), _) => Some(Action::Act { object, action: verb, part }),
                (Some(Intent::Place { relation, drop, compartment }), Some(object)) => Some(Action::Place {
                    object,
                    relation,
                    targets,
                    drop,
                    part: None,
                    compartment,
                    spot: None,
                    until_full: false,
                }),
                (Some(Intent::Place { .. }), None) | (None, _) => None,
            }
        };
        if let Some(action) = &action
            && !self.tools.rooms()
        {
            judge(action, self.tools, self.knowledge())?;
        }
        Ok(action)
    }

    /// Takes in how an action ended.
    pub(super) fn note(&mut self, action: Option<Action>, is_done: bool) {
        let Some(mut action) = action else { return };
        if let Action::Pick { object, .. } = &action
            && let Some(held) = self.tools.state().held_object.clone()
            && held != *object
        {
            // The skill knows it by another key of the new map.
            self.renamed.insert(held, object.clone());
        }
        if let Action::Place { object, .. } = &mut action
            && let Some(before) = self.renamed.get(object)
        {
            *object = before.clone();
        }
        match (is_done, &action) {
            (true, _) => self.observed.note(action),
            (
                false,
                Action::Pick { object, .. }
                | Action::Place { object, .. }
                | Action::Act { object, .. }
                | Action::Go { object },
            ) => {
                let object = object.clone();
                self.observed.forget(&object);
            }
            (false, Action::Home | Action::Look | Action::Stop | Action::Already(_)) => {}
        }
    }

    /// What `finish` comes to: the message for the person, or why it is not accepted.
    ///
    /// Errors: those of a map update.
    pub(super) fn confirmed(
        &mut self,
        message: &str,
        claims: &[Value],
    ) -> Result<Result<String, String>, Fault> {
        let done = self.observed.actions();
        if self.is_question() && done.is_empty() {
            let measured = self.expected.iter().find_map(|plan| match plan {
                Plan::Answer(text) => Some(text),
                Plan::Actions(_) => None,
            });
            return Ok(Ok(match measured {
                Some(text) => format!("{text} (The language model says: {message})"),
                None => format!("The language model says, unchecked: {message}"),
            }));
        }
        if self.last_failed {
            return Ok(Err("the last action was not done".to_owned()));
        }
        let plans: Vec<&[Action]> = self
            .expected
            .iter()
            .filter_map(|plan| match plan {
                Plan::Actions(actions) => Some(actions.as_slice()),
                Plan::Answer(_) => None,
            })
            .collect();
        let is_expected = plans.iter().any(|plan| self.observed.covers(plan));
        if !is_expected && !self.expected.is_empty() {
            // It may have come about in another way.
            let now = plan(&self.order.readings, self.tools, self.knowledge());
            match now {
                Ok(Plan::Answer(text)) => return Ok(Ok(text)),
                Ok(rest @ Plan::Actions(_)) => {
                    let map = self.tools.map()?;
                    return Ok(Err(format!(
                        "this was asked for and not observed: {}",
                        plan_words(&rest, &map)
                    )));
                }
                Err(fault) if ends(fault.reason) => return Err(fault),
                Err(fault) => {
                    return Ok(Err(format!(
                        "what was asked for was not observed: {}",
                        fault.message.trim_end_matches('.')
                    )));
                }
            }
        }
        let done = self.observed.actions();
        if done.is_empty() {
            return Ok(Err("nothing was observed to be done".to_owned()));
        }
        if !is_expected && let Some(why) = self.observed.contradiction(claims) {
            return Ok(Err(why));
        }
        let map = self.tools.map()?;
        let words: Vec<String> =
            self.observed.actions().iter().map(|action| done_words(action, &map)).collect();
        Ok(Ok(format!("{}.", listed(&words))))
    }
}
