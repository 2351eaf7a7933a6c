//! The agent's world: services and actions of the other nodes, with deadlines, ended by whatever ends the goal.

mod errands;
mod maps;
mod memory;
mod requests;
mod skills;
mod told;

use super::clients::Clients;
use super::eyes::Eyes;
use super::plan::Rehearsal;
use super::words::GoalWords;
use prehend_agent::talk::Turn;
use prehend_agent::tools::ToolOutput;
use prehend_agent::words::Words;
use prehend_agent::world::{
    ActionablePart, Arrival, Comparison, Fault, PlannedStep, Remembered, Retrieval, SkillOutcome,
    SkillRequest, World,
};
use prehend_msgs::prehend_interfaces::action::ExecuteGoal;
use prehend_robots::shell::Trace;
use prehend_scene::{Intent, ObjectKey, ObjectMap, Reason, Scope};
use skills::Detected;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Instant;
use tokio::runtime::Handle;
use tokio::sync::{mpsc, watch};

/// The world of one goal.
pub(super) struct NodeWorld {
    pub(super) runtime: Handle,
    pub(super) clients: Clients,
    pub(super) trace: Trace,
    pub(super) goal_id: String,
    /// Why the goal must end now.
    pub(super) interrupt: watch::Receiver<Option<Fault>>,
    pub(super) feedback: mpsc::UnboundedSender<ExecuteGoal::Feedback>,
    pub(super) detected: HashMap<ObjectKey, Detected>,
    /// Whether a person asked to hold what is in the gripper.
    pub(super) asked_to_hold: bool,
    /// When the tool at work was called, and with what.
    pub(super) called: Option<(Instant, String)>,
    pub(super) words: GoalWords,
    pub(super) eyes: Option<Eyes>,
    /// What is planned of a goal that is only planned.
    pub(super) rehearsal: Option<Rehearsal>,
}

impl World for NodeWorld {
    fn picture(&mut self) -> Option<Vec<u8>> {
        let eyes = self.eyes.clone()?;
        let map = self.newest_map().ok()?;
        self.wait(async move { Ok(eyes.look(&map).await) }).ok()?
    }

    fn words(&mut self) -> Option<&mut dyn Words> {
        Some(&mut self.words)
    }

    fn was_asked_to_hold(&self) -> bool {
        self.asked_to_hold
    }

    fn settle(&mut self) -> Result<SkillOutcome, Fault> {
        self.go_home()
    }

    fn update_map(&mut self) -> Result<Arc<ObjectMap>, Fault> {
        self.updated_map()
    }

    fn newest_map(&mut self) -> Result<Arc<ObjectMap>, Fault> {
        Ok(self.heard_map())
    }

    fn retrieve(&mut self, query: &str, k: u32, scope: Scope) -> Result<Retrieval, Fault> {
        self.retrieved(query, k, scope)
    }

    fn remembered(&mut self, description: &str) -> Vec<Remembered> {
        self.recalled(description)
    }

    fn rooms(&self) -> bool {
        self.clients.driving.is_some()
    }

    fn room_map(&mut self) -> Result<Arc<ObjectMap>, Fault> {
        Ok(self.heard_room())
    }

    fn explore(&mut self) -> Result<Arc<ObjectMap>, Fault> {
        self.tour()
    }

    fn visit(&mut self, places: &[[f64; 3]]) -> Result<Arc<ObjectMap>, Fault> {
        self.look_at(places)
    }

    fn room_is_partial(&self) -> bool {
        self.saw_a_part()
    }

    fn go_to(&mut self, object: &ObjectKey, intent: Option<&Intent>) -> Result<Arrival, Fault> {
        self.drive_to(object, intent)
    }

    fn base_pose(&self) -> Option<[f64; 3]> {
        self.clients.driving.as_ref()?.base_pose()
    }

    fn detect_affordance(
        &mut self,
        object: &ObjectKey,
        intent: &Intent,
    ) -> Result<Vec<ActionablePart>, Fault> {
        self.detect(object, intent)
    }

    fn step_planned(&mut self, step: &PlannedStep) {
        if let Some(rehearsal) = &mut self.rehearsal {
            rehearsal.step(step);
        }
    }

    fn execute(&mut self, request: &SkillRequest) -> Result<SkillOutcome, Fault> {
        self.run(request)
    }

    fn interrupted(&self) -> Option<Fault> {
        self.interrupt.borrow().clone()
    }

    fn compared(&mut self, comparison: &Comparison) {
        self.tell_comparison(comparison);
    }

    fn tool_called(&mut self, name: &str, arguments: &str) {
        self.tell_call(name, arguments);
    }

    fn tool_answered(&mut self, name: &str, output: &ToolOutput) {
        self.tell_answer(name, output);
    }

    fn model_said(&mut self, turn: &Turn) {
        self.tell_turn(turn);
    }
}

/// What a goal that is only planned comes to where it would have to look or drive first.
fn unforeseen() -> Fault {
    Fault::new(Reason::NotFound, "I would have to look round first: what comes then is not known before.")
}
