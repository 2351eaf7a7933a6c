//! The graph as a client of the protocol meets it.

use crate::goal;
use crate::json::{map_json, state_json};
use crate::observer::Observer;
use crate::outcome::Ending;
use crate::trace;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use prehend_convert as convert;
use prehend_msgs::names;
use prehend_msgs::prehend_interfaces::msg::ObjectMap;
use prehend_msgs::prehend_interfaces::srv::{CallTool, SubmitGoal};
use prehend_nodes::pictures;
use prehend_robots::RobotConfig;
use prehend_ros::{Client, QosProfile, RosArguments, RosError};
use prehend_scene::Reason;
use serde_json::{Value, json};
use std::future::Future;
use std::time::Duration;
use tokio::sync::{Mutex, mpsc};

/// Longest time for a goal.
const GOAL: Duration = Duration::from_secs(600);
/// Longest time for one tool call: a skill with its retries.
const CALL: Duration = Duration::from_secs(300);
/// Longest time until a stop is confirmed as a sentence.
const STOP: Duration = Duration::from_secs(10);
/// Longest wait for the end of another goal of this server.
const TURN: Duration = Duration::from_secs(4);
/// How often a running goal is told to end, and how long it is waited for each time.
const TRIES: u32 = 8;
const BEGINS: Duration = Duration::from_millis(400);
/// The sentence that ends the running goal.
const END: &str = "stop";

/// A graph that runs.
pub struct Robot {
    /// For goals, one at a time: each is followed through the trace.
    goals: Mutex<Observer>,
    /// For everything else, which never waits for a goal.
    watcher: Observer,
    tools: Client<CallTool::Service>,
    client: String,
    drives: bool,
}

impl Robot {
    /// Joins the graph.
    ///
    /// Errors: those of the middleware.
    pub fn join(domain: u16, robot: &RobotConfig, arguments: &RosArguments) -> Result<Self, RosError> {
        let watcher = Observer::join(domain, robot, arguments)?;
        let tools =
            watcher.node.create_client::<CallTool::Service>(names::CALL_TOOL, QosProfile::services())?;
        Ok(Self {
            goals: Mutex::new(Observer::join(domain, robot, arguments)?),
            watcher,
            tools,
            client: format!("mcp-{}", std::process::id()),
            drives: robot.navigation.is_some(),
        })
    }

    /// What is asked without a goal.
    pub fn watcher(&self) -> &Observer {
        &self.watcher
    }

    /// Whether the robot drives.
    pub fn drives(&self) -> bool {
        self.drives
    }

    /// Gives a goal and follows it to its end; `tell` gets a line for each step. When `canceled` completes, the goal is ended.
    ///
    /// Errors: in words; a goal that is refused or fails is none.
    pub async fn goal(
        &self,
        text: &str,
        tell: mpsc::UnboundedSender<String>,
        canceled: impl Future<Output = ()>,
    ) -> Result<Value, String> {
        // One that was cancelled takes a moment to end.
        let turn = tokio::time::timeout(TURN, self.goals.lock()).await;
        let mut observer =
            turn.map_err(|_| "busy: another goal of this server is being executed".to_owned())?;
        let mut is_canceled = false;
        let danger = async {
            canceled.await;
            is_canceled = true;
            Ending::failed(Reason::Canceled, "the client cancelled it")
        };
        let on_event = |event: &_| {
            // Nobody may listen any more.
            let _ = tell.send(trace::words(event));
        };
        let followed = goal::run(&mut observer, text, GOAL, on_event, danger).await;
        if is_canceled || followed.ending.reason.as_deref() == Some(Reason::Timeout.code()) {
            self.end_goal().await;
        }
        Ok(json!({
            "outcome": followed.ending.outcome.name(),
            "reason": followed.ending.reason,
            "message": followed.ending.message,
            "question": followed.planning.question,
            "seconds": (followed.seconds * 100.0).round() / 100.0,
        }))
    }

    /// Ends the running goal as a person does who says "stop"; again while one runs, since a goal that was just given may begin after it.
    async fn end_goal(&self) {
        for _ in 0..TRIES {
            let request = SubmitGoal::Request { text: END.to_owned(), ..Default::default() };
            if let Err(error) = self.watcher.goal.request(request, STOP).await {
                tracing::warn!("the goal was not ended: {error}");
                break;
            }
            tokio::time::sleep(BEGINS).await;
            let at_work = self.watcher.state.borrow().as_ref().is_some_and(|state| !state.goal_id.is_empty());
            if !at_work {
                return;
            }
        }
        self.watcher.stop_robot("a client of the Model Context Protocol cancelled its goal").await;
    }

    /// Stops all motion; latched.
    ///
    /// Errors: the cause, when nobody confirmed.
    pub async fn stop(&self) -> Result<Value, String> {
        let answer = self.watcher.set_stop(true, "a client of the Model Context Protocol").await?;
        Ok(json!({ "stopped": true, "message": answer }))
    }

    /// What the agent holds and knows.
    ///
    /// Errors: no agent was heard yet.
    pub fn state(&self) -> Result<Value, String> {
        let state =
            self.watcher.state.borrow().clone().ok_or("no agent was heard yet: does the graph run?")?;
        Ok(state_json(&state))
    }

    fn newest_map(&self) -> Result<ObjectMap, String> {
        self.watcher.map.borrow().clone().ok_or_else(|| "no object map was heard yet".to_owned())
    }

    /// The objects of the map.
    ///
    /// Errors: none was heard yet.
    pub fn map(&self) -> Result<Value, String> {
        Ok(map_json(&self.newest_map()?))
    }

    /// The map from above, as a PNG in base64.
    ///
    /// Errors: no map was heard yet.
    pub fn map_picture(&self) -> Result<String, String> {
        let map = convert::map_from_msg(&self.newest_map()?).map_err(|error| error.to_string())?;
        let png = pictures::png(&pictures::top_view(&map, &[])).map_err(|error| error.to_string())?;
        Ok(STANDARD.encode(png))
    }

    /// Calls a tool of the agent. When `canceled` completes, the session is ended.
    ///
    /// Errors: in words, when the call was not taken.
    pub async fn call(
        &self,
        name: &str,
        arguments: &Value,
        canceled: impl Future<Output = ()>,
    ) -> Result<Value, String> {
        let request = CallTool::Request {
            client: self.client.clone(),
            name: name.to_owned(),
            arguments: arguments.to_string(),
        };
        let answer = tokio::select! {
            answer = self.tools.request(request, CALL) => answer.map_err(|error| error.to_string())?,
            () = canceled => {
                self.end_goal().await;
                return Err("canceled: the client cancelled it".to_owned());
            }
        };
        if !answer.accepted {
            return Err(format!("{}: {}", answer.reason, answer.message));
        }
        let mut value: Value = serde_json::from_str(&answer.answer).unwrap_or(Value::String(answer.answer));
        if answer.ended && value.is_object() {
            value["session"] = json!("ended");
        }
        Ok(value)
    }
}
