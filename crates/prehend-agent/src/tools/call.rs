//! Tools called by name with JSON arguments, as a language model calls them.

use super::{Measure, ToolOutput, ToolValue, Toolbox};
use crate::language::read_intent;
use crate::world::Fault;
use prehend_scene::{Intent, ObjectKey, Reason};
use serde_json::Value;

/// A call that is no call.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ToolCallError {
    /// No such tool.
    #[error("there is no tool `{0}`")]
    UnknownTool(String),
    /// An argument is missing or of the wrong type.
    #[error("`{tool}` needs `{argument}`")]
    Argument {
        /// The tool.
        tool: String,
        /// The argument.
        argument: &'static str,
    },
}

impl Toolbox<'_> {
    /// Calls a tool by name. Every failure, also a malformed call, is a [`ToolOutput`] whose feedback says what to do.
    pub fn call(&mut self, name: &str, arguments: &Value) -> ToolOutput {
        match self.dispatch(name, arguments) {
            Ok(Ok(output)) => output,
            Ok(Err(fault)) => self.refusal(format!("{}: {}", fault.reason.code(), fault.message)),
            Err(error) => self.refusal(error.to_string()),
        }
    }

    /// What an action text of `interact` asks for.
    fn intent(&self, action: &str) -> Result<Intent, Fault> {
        read_intent(action, self.lexicon).ok_or_else(|| {
            let message = format!(
                "no skill for \"{action}\"; use grasp, place <relation>, drop <relation>, or a verb of the table of actions such as open, close or press"
            );
            Fault::new(Reason::Infeasible, message)
        })
    }

    pub(crate) fn refusal(&self, feedback_msg: String) -> ToolOutput {
        ToolOutput { success: false, feedback_msg, output: Some(ToolValue::State(self.state().clone())) }
    }

    /// Calls a tool by name, with its fault as it is.
    ///
    /// Errors: there is no such tool, or an argument is missing.
    pub(crate) fn dispatch(
        &mut self,
        name: &str,
        arguments: &Value,
    ) -> Result<Result<ToolOutput, Fault>, ToolCallError> {
        let missing = |argument| ToolCallError::Argument { tool: name.to_owned(), argument };
        let text =
            |argument| arguments.get(argument).and_then(Value::as_str).ok_or_else(|| missing(argument));
        let keys = |value: &Value| -> Option<Vec<ObjectKey>> {
            value.as_array()?.iter().map(|item| item.as_str().map(ObjectKey::from)).collect()
        };
        match name {
            "object_retrieval" => {
                let query = text("query")?;
                Ok(self.object_retrieval(query, 0).map(|(_, output)| output))
            }
            "interact" => {
                let (object, action) = (text("obj")?, text("action")?);
                let more = match arguments.get("with") {
                    Some(value) => keys(value).ok_or_else(|| missing("with"))?,
                    None => Vec::new(),
                };
                let object = ObjectKey::from(object);
                Ok(self.intent(action).and_then(|intent| self.interact(&object, &intent, &more, None)))
            }
            "go_to" => {
                let (object, action) = (text("obj")?, text("action")?);
                // What no skill does is to be looked at.
                let intent = read_intent(action, self.lexicon);
                Ok(self.go_to(&ObjectKey::from(object), intent.as_ref()).map(|arrival| ToolOutput {
                    success: true,
                    feedback_msg: if arrival.moved { "arrived" } else { "already there" }.to_owned(),
                    output: Some(ToolValue::State(self.state().clone())),
                }))
            }
            _ => {
                let Some((measure, _, _)) = Measure::ALL.into_iter().find(|(_, tool, _)| *tool == name)
                else {
                    return Err(ToolCallError::UnknownTool(name.to_owned()));
                };
                let objects = arguments.get("objects").and_then(keys).ok_or_else(|| missing("objects"))?;
                Ok(self.measure(measure, &objects))
            }
        }
    }
}
