//! One call of a model: what it ends, asks or does.

use super::{Course, Step};
use crate::agent::{Remedy, VIEWS, remedy};
use crate::mind::broken::{Broken, ends};
use crate::mind::observed::fact;
use crate::mind::prompt::REFUSALS;
use crate::planner::Action;
use crate::talk::Call;
use crate::tools::{FRAMES, ToolOutput};
use crate::world::Fault;
use prehend_scene::{Reason, Skill};
use serde_json::{Value, json};

/// How often `finish` may be held against what was observed in vain.
const VAIN: u32 = 3;

impl Course<'_, '_> {
    /// Does what a call that can be read asks for.
    pub(super) fn step(&mut self, call: &Call, arguments: &Value) -> Result<Step, Broken> {
        let text = |key: &str| arguments.get(key).and_then(Value::as_str).unwrap_or_default();
        match call.name.as_str() {
            "ask" => {
                let question = one_line(text("question"));
                self.talk.question = Some(question.clone());
                Err(Fault::new(Reason::Ambiguous, question).into())
            }
            "refuse" => {
                let reason = Reason::parse(text("reason")).filter(|reason| REFUSALS.contains(reason));
                let reason = reason.unwrap_or(Reason::NotUnderstood);
                Err(Fault::new(reason, one_line(text("message"))).into())
            }
            "finish" => {
                let facts = arguments.get("facts").and_then(Value::as_array).cloned().unwrap_or_default();
                match self.confirmed(&one_line(text("message")), &facts)? {
                    Ok(message) => Ok(Step::Done(message)),
                    Err(why) => {
                        self.vain += 1;
                        if self.vain >= VAIN {
                            let message = format!("The language model says that it is done, but {why}.");
                            return Err(Fault::new(Reason::OutcomeNotObserved, message).into());
                        }
                        let told = format!("not finished: {why}");
                        Ok(Step::Answer(json!({ "success": false, "feedback_msg": told }), true))
                    }
                }
            }
            "interact" | "go_to" => self.act(&call.name, arguments),
            _ => {
                let mut called = self.tools.dispatch(&call.name, arguments);
                // One frame may have missed it; another call would read the same map.
                for _ in 0..FRAMES {
                    let is_missing = call.name == "object_retrieval"
                        && !self.tools.rooms()
                        && matches!(&called, Ok(Ok(output)) if !output.success);
                    if !is_missing {
                        break;
                    }
                    self.tools.look_again()?;
                    called = self.tools.dispatch(&call.name, arguments);
                }
                let answer = match called {
                    Ok(Ok(output)) => serde_json::to_value(output).unwrap_or_default(),
                    Ok(Err(fault)) if ends(fault.reason) => return Err(fault.into()),
                    Ok(Err(fault)) => self.refusal(told(&fault)),
                    Err(error) => self.refusal(error.to_string()),
                };
                Ok(Step::Answer(answer, false))
            }
        }
    }

    /// An action: judged, carried out, and noted when its outcome was observed.
    fn act(&mut self, tool: &str, arguments: &Value) -> Result<Step, Broken> {
        let result = match self.judged(tool, arguments) {
            Ok(action) => {
                let result = self.carried_out(tool, arguments, action.as_ref());
                self.note(action, result.is_ok());
                result
            }
            Err(fault) => Err(fault),
        };
        self.last_failed = result.is_err();
        self.has_acted = true;
        if result.is_ok() {
            self.repeated.clear();
        }
        let answer = match result {
            Ok(output) => {
                let mut answer = serde_json::to_value(output).unwrap_or_default();
                if let Some(fact) = self.observed.actions().last().and_then(fact) {
                    answer["fact"] = fact;
                }
                answer
            }
            Err(fault) if ends(fault.reason) => return Err(fault.into()),
            Err(fault) => self.refusal(told(&fault)),
        };
        Ok(Step::Answer(answer, true))
    }

    /// Calls the tool of an action. Evidence that is too thin, or a thing lost from sight, is looked at from elsewhere first, as the
    /// built-in planner does: no tool of a model looks.
    fn carried_out(
        &mut self,
        tool: &str,
        arguments: &Value,
        action: Option<&Action>,
    ) -> Result<ToolOutput, Fault> {
        let mut views = 0;
        loop {
            let called = self.tools.dispatch(tool, arguments);
            let fault =
                match called.unwrap_or_else(|error| Err(Fault::new(Reason::Infeasible, error.to_string()))) {
                    Ok(output) => return Ok(output),
                    Err(fault) => fault,
                };
            views += 1;
            let (keys, about) = match action {
                Some(Action::Pick { object, .. } | Action::Act { object, .. }) => {
                    (vec![object.clone()], Some(object))
                }
                Some(Action::Place { targets, .. }) => (targets.clone(), targets.first()),
                _ => (Vec::new(), None),
            };
            let Some(about) = about.filter(|_| remedy(fault.reason) == Remedy::LookFirst && views <= VIEWS)
            else {
                return Err(fault);
            };
            let view = self.agent.view_of(about, views == 1, self.tools)?;
            self.tools.survey(Skill::Look, view, Some(about))?;
            let map = self.tools.map()?;
            if !keys.iter().all(|key| map.get(key).is_some()) {
                return Err(fault);
            }
            keys.iter().for_each(|key| self.tools.add_to_inventory(key));
        }
    }
}

/// A fault as a tool tells it.
fn told(fault: &Fault) -> String {
    format!("{}: {}", fault.reason.code(), fault.message)
}

/// A model's words as one short line for a person.
fn one_line(text: &str) -> String {
    let plain = text.trim().chars().map(|c| if c.is_control() { ' ' } else { c });
    plain.take(400).collect()
}
