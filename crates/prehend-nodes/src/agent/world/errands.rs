//! The base on its errands by go_to, and the map of the room that comes of them.

use super::{NodeWorld, unforeseen};
use prehend_agent::world::{Arrival, Fault};
use prehend_convert as convert;
use prehend_msgs::geometry_msgs::msg::Point;
use prehend_msgs::prehend_interfaces::action::{ExecuteGoal, GoTo};
use prehend_msgs::prehend_interfaces::msg::ErrorCode;
use prehend_scene::{Intent, ObjectKey, ObjectMap, Reason};
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// A look round the room that missed more than one stop for so many that it saw has not seen the whole room: stops that are side by
/// side show much of the same.
const MISSED: u32 = 3;

impl NodeWorld {
    /// The newest map of the room that was heard.
    pub(super) fn heard_room(&self) -> Arc<ObjectMap> {
        let room = self.clients.driving.as_ref().and_then(|driving| driving.room.borrow().clone());
        self.with_in_hand(room.unwrap_or_default())
    }

    /// Whether the map of the room comes from visits alone.
    pub(super) fn saw_a_part(&self) -> bool {
        self.clients.driving.as_ref().is_some_and(|driving| driving.partial.load(Ordering::Relaxed))
    }

    /// Drives round the room, and gives its map.
    pub(super) fn tour(&self) -> Result<Arc<ObjectMap>, Fault> {
        if self.rehearsal.is_some() {
            return Err(unforeseen());
        }
        let goal =
            GoTo::Goal { kind: "tour".to_owned(), goal_id: self.goal_id.clone(), ..Default::default() };
        self.look_round(goal, |seen| seen.missed > seen.keyframes / MISSED)
    }

    /// Drives where these places are seen, and gives the map of the room.
    pub(super) fn look_at(&self, places: &[[f64; 3]]) -> Result<Arc<ObjectMap>, Fault> {
        if self.rehearsal.is_some() {
            return Err(unforeseen());
        }
        let goal = GoTo::Goal {
            kind: "visit".to_owned(),
            goal_id: self.goal_id.clone(),
            places: places.iter().map(|[x, y, z]| Point { x: *x, y: *y, z: *z }).collect(),
            ..Default::default()
        };
        // A look at a part of a room that is known leaves it known.
        let is_whole = self.heard_room().version > 0 && !self.saw_a_part();
        self.look_round(goal, |_| !is_whole)
    }

    /// Drives where the arm gets at an object.
    pub(super) fn drive_to(&mut self, object: &ObjectKey, intent: Option<&Intent>) -> Result<Arrival, Fault> {
        let goal = GoTo::Goal {
            kind: "object".to_owned(),
            object_key: object.0.clone(),
            intent: convert::intent_to_msg(intent),
            goal_id: self.goal_id.clone(),
            plan_only: self.rehearsal.is_some(),
            ..Default::default()
        };
        let result = self.errand(goal)?;
        if let Some(rehearsal) = &mut self.rehearsal {
            rehearsal.prospects.extend(result.prospects.iter().cloned());
        }
        let map_from_arm = convert::pose_from_msg(&result.map_from_arm)
            .map_err(|error| Fault::new(Reason::Internal, format!("go_to: {error}")))?;
        if result.moved {
            // What was detected is of another place.
            self.detected.clear();
        }
        let pose = [result.pose.x, result.pose.y, result.pose.theta];
        Ok(Arrival { moved: result.moved, pose, map_from_arm })
    }

    /// Sends the base somewhere; its progress is told like that of a tool.
    fn errand(&self, goal: GoTo::Goal) -> Result<GoTo::Result, Fault> {
        let Some(driving) = &self.clients.driving else {
            return Err(Fault::new(Reason::Infeasible, "this robot does not drive"));
        };
        let told = self.feedback.clone();
        let heard = move |heard: GoTo::Feedback| {
            let near = if heard.distance_remaining > 0.0 {
                format!(" ({:.1} m)", heard.distance_remaining)
            } else {
                String::new()
            };
            let message = format!("{}: {}{near}", heard.phase, heard.message);
            // Nobody listens when the goal came through the service.
            let _ = told.send(ExecuteGoal::Feedback { tool: "go_to".to_owned(), message });
        };
        let result = self.act_heard(&driving.go_to, goal, "go_to", heard).map_err(|(fault, _)| fault)?;
        if result.error_code == ErrorCode::SUCCESS {
            return Ok(result);
        }
        let reason = Reason::parse(&result.reason).unwrap_or(Reason::Internal);
        Err(Fault::new(reason, result.error_message))
    }

    /// Drives where the map of the room is made and gives that map; `is_partial` says of what came of it whether it shows a part only.
    fn look_round(
        &self,
        goal: GoTo::Goal,
        is_partial: impl FnOnce(&GoTo::Result) -> bool,
    ) -> Result<Arc<ObjectMap>, Fault> {
        let result = self.errand(goal)?;
        match self.clients.driving.clone() {
            Some(driving) => {
                driving.partial.store(is_partial(&result), Ordering::Relaxed);
                self.newest_of(driving.room, result.map_version).map(|map| self.with_in_hand(map))
            }
            None => Ok(self.heard_room()),
        }
    }
}
