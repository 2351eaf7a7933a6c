//! `prehend mcp`: the robot to other programs, over the Model Context Protocol.
//!
//! A program has no more rights than a sentence: goals go to the agent as sentences, tool calls as those of a language model, under the
//! same policy, verifier and checks. It may always stop the robot, and never clears the stop.
//! Source: Model Context Protocol, by its official Rust SDK.

mod http;
mod robot;

pub use http::{HttpOptions, serve_http};
pub use robot::Robot;

use prehend_agent::mind::tools;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ErrorData, Implementation,
    JsonObject, ListToolsResult, PaginatedRequestParams, ProgressNotificationParam, ServerCapabilities,
    ServerConfig, Tool, ToolAnnotations,
};
use rmcp::service::RequestContext;
use rmcp::{RoleServer, ServerHandler};
use serde_json::{Value, json};
use std::sync::Arc;
use tokio::sync::mpsc;

/// What a client is told of this server.
const INSTRUCTIONS: &str = "\
A robot arm that is driven by language (Prehend). `goal` gives it a sentence such as \"put the red mug in the bowl\" and waits for the end. \
The other tools act step by step: object_retrieval finds objects and gives their keys, the spatial tools compare them, interact grasps \
and places them, finish ends it. Every motion is judged by the robot's own policy and verifier. `stop` stops all motion at once; only a \
person clears it.";

/// One client's server.
#[derive(Clone)]
pub struct Server {
    robot: Arc<Robot>,
}

impl Server {
    /// A server of this robot.
    pub fn new(robot: Arc<Robot>) -> Self {
        Self { robot }
    }
}

/// Tools besides those of the agent.
fn own_tools() -> Vec<(&'static str, &'static str, Value, bool)> {
    vec![
        (
            "goal",
            "Gives the robot a goal in words, carries it out and tells how it ended: outcome done, refused or failed, a reason and a \
             message. Takes up to minutes; progress is told, and cancelling stops it. \"why did you not take the blue one?\" and other \
             questions about its last goal are answered from what it did; nothing moves for them.",
            json!({ "text": { "type": "string" } }),
            false,
        ),
        ("stop", "Stops all motion at once. The stop stays until a person clears it.", json!({}), false),
        (
            "state",
            "What the robot holds and has found, whether it is stopped, and the goal it works at.",
            json!({}),
            true,
        ),
        (
            "map",
            "The objects the robot sees: key, class, colour, where and how large, metres in the frame of the arm.",
            json!({}),
            true,
        ),
        ("map_picture", "The same as a picture from above, with the keys.", json!({}), true),
    ]
}

fn object(schema: Value) -> Arc<JsonObject> {
    match schema {
        Value::Object(fields) => Arc::new(fields),
        _ => Arc::default(),
    }
}

fn listed(drives: bool) -> Vec<Tool> {
    let own = own_tools().into_iter().map(|(name, description, properties, reads)| {
        let required: Vec<&String> =
            properties.as_object().map(|fields| fields.keys().collect()).unwrap_or_default();
        let schema = json!({
            "type": "object", "properties": properties, "required": required, "additionalProperties": false,
        });
        let annotations = ToolAnnotations::new().read_only(reads);
        Tool::new(name, description, object(schema)).with_annotations(annotations)
    });
    // A program asks its own person, and refuses by not calling.
    let agents = tools(drives).into_iter().filter(|tool| !["ask", "refuse"].contains(&tool.name.as_str()));
    let agents = agents.map(|tool| Tool::new(tool.name, tool.description, object(tool.parameters)));
    own.chain(agents).collect()
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
            .with_server_info(Implementation::new("prehend", env!("CARGO_PKG_VERSION")))
            .with_instructions(INSTRUCTIONS)
    }

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(listed(self.robot.drives())))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let arguments = Value::Object(request.arguments.unwrap_or_default());
        let name = request.name.as_ref();
        let answer = match name {
            "goal" => {
                let Some(text) = arguments.get("text").and_then(Value::as_str) else {
                    return Err(ErrorData::invalid_params("`goal` needs `text`, a sentence", None));
                };
                let (tell, told) = mpsc::unbounded_channel();
                let telling = tell_progress(told, &context);
                let goal = self.robot.goal(text, tell, context.ct.cancelled());
                let (report, ()) = tokio::join!(goal, telling);
                report
            }
            "stop" => self.robot.stop().await,
            "state" => self.robot.state(),
            "map" => self.robot.map(),
            "map_picture" => {
                return Ok(match self.robot.map_picture() {
                    Ok(png) => CallToolResult::success(vec![ContentBlock::image(png, "image/png")]),
                    Err(error) => CallToolResult::error(vec![ContentBlock::text(error)]),
                }
                .into());
            }
            _ if listed(self.robot.drives()).iter().any(|tool| tool.name == name) => {
                self.robot.call(name, &arguments, context.ct.cancelled()).await
            }
            _ => return Err(ErrorData::invalid_params(format!("there is no tool `{name}`"), None)),
        };
        Ok(match answer {
            Ok(value) => CallToolResult::structured(value),
            Err(error) => CallToolResult::error(vec![ContentBlock::text(error)]),
        }
        .into())
    }
}

/// Tells a client that asked for it how a long call goes on.
async fn tell_progress(mut told: mpsc::UnboundedReceiver<String>, context: &RequestContext<RoleServer>) {
    let token = context.meta.get_progress_token();
    let mut step = 0.0;
    while let Some(message) = told.recv().await {
        let Some(token) = &token else { continue };
        step += 1.0;
        let progress = ProgressNotificationParam::new(token.clone(), step).with_message(message);
        if context.peer.notify_progress(progress).await.is_err() {
            // The client is gone; what it asked for goes on until it is cancelled.
            tracing::debug!("progress was not told");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_tool_has_a_schema_and_none_names_a_pose() {
        let tools = listed(true);
        let names: Vec<&str> = tools.iter().map(|tool| tool.name.as_ref()).collect();
        for name in
            ["goal", "stop", "state", "map", "map_picture", "object_retrieval", "interact", "go_to", "finish"]
        {
            assert!(names.contains(&name), "{name}: {names:?}");
        }
        assert!(!names.contains(&"ask") && !listed(false).iter().any(|tool| tool.name == "go_to"));
        for tool in &tools {
            assert_eq!(tool.input_schema.get("type"), Some(&json!("object")), "{}", tool.name);
            let text = serde_json::to_string(&tool.input_schema).expect("JSON");
            assert!(!["pose", "joint", "force"].iter().any(|word| text.contains(word)), "{text}");
        }
    }
}
