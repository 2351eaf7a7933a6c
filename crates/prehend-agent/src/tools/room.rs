//! Tools of a robot that drives (ASP III-D): `go_to`, and the two maps.
//!
//! A goal is grounded in the map of the room. After a successful go_to the local map is current: it is built anew from where
//! the base stands, and the skills act on it alone. No tool changes the map of the room.

use super::{Freshness, ToolOutput, ToolValue, Toolbox};
use crate::language::{Lexicon, NounPhrase};
use crate::world::{Arrival, Fault, Remembered};
use nalgebra::Isometry3;
use prehend_scene::spatial::Sight;
use prehend_scene::{Object, ObjectKey, ObjectMap, Reason, Scope};
use std::sync::Arc;

impl Toolbox<'_> {
    /// The words of the agent.
    pub(crate) fn lexicon(&self) -> &Lexicon {
        self.lexicon
    }

    /// Whether the robot drives.
    pub fn rooms(&self) -> bool {
        self.rooms
    }

    /// What was seen of such a thing before, when nothing is seen now.
    pub(crate) fn remembered(&mut self, description: &str) -> Option<Remembered> {
        self.world.remembered(description)
    }

    /// The map that retrieval and the spatial tools read now.
    pub fn scope(&self) -> Scope {
        self.scope
    }

    /// The map of the room; before the first tour one is driven, when the goal may move the robot.
    ///
    /// Errors: [`Reason::Infeasible`] without a map when the goal may not move the robot; the fault of the tour.
    pub fn room(&mut self) -> Result<Arc<ObjectMap>, Fault> {
        if let Some(map) = &self.room {
            return Ok(Arc::clone(map));
        }
        let map = match self.world.room_map()? {
            map if map.version > 0 => map,
            _ if self.may_explore => self.explored()?,
            _ => {
                let message = "I have not seen the room yet; tell me to look around first.";
                return Err(Fault::new(Reason::Infeasible, message));
            }
        };
        self.state.map_version = map.version;
        self.take_room(&map);
        Ok(map)
    }

    fn take_room(&mut self, map: &Arc<ObjectMap>) {
        self.room = Some(Arc::clone(map));
        self.viewpoint = self.world.base_pose().map(|[x, y, _]| [x, y]);
    }

    /// How the robot looks at objects of the map that is read: in the room from where it stood when the goal was grounded first,
    /// so that left stays left while it drives.
    pub(crate) fn sight(&self, objects: &[&Object]) -> Sight {
        match (self.scope, self.viewpoint) {
            (Scope::Room, Some(from)) => Sight::towards(from, objects),
            (Scope::Room, None) | (Scope::Local, _) => Sight::ARM,
        }
    }

    /// Lets this goal drive a tour when there is no map of the room.
    pub(crate) fn permit_tour(&mut self) {
        self.may_explore = true;
    }

    /// `explore() -> State`: a tour of the room, whose stops become its map. Once in a goal.
    ///
    /// Errors: the fault of the tour.
    pub fn explore(&mut self) -> Result<ToolOutput, Fault> {
        if !self.toured {
            let map = self.explored()?;
            self.take_room(&map);
        }
        let output = Some(ToolValue::State(self.state.clone()));
        Ok(ToolOutput { success: true, feedback_msg: "the room is mapped".to_owned(), output })
    }

    fn explored(&mut self) -> Result<Arc<ObjectMap>, Fault> {
        self.begin("explore", "")?;
        self.moved = true;
        self.leave();
        let map = self.world.explore().map_err(|fault| self.failed("explore", fault))?;
        self.toured = true;
        self.state.map_version = map.version;
        let output = ToolOutput {
            success: true,
            feedback_msg: format!("the room is mapped: {} objects", map.objects.len()),
            output: Some(ToolValue::State(self.state.clone())),
        };
        self.world.tool_answered("explore", &output);
        Ok(map)
    }

    /// `go_to(obj: ObjectKey, action: str) -> State`: drives to where an object of the map of the room can be acted on. The
    /// object must be retrieved again afterwards, in the local map.
    ///
    /// Errors: [`Reason::Infeasible`] when the object is not one of the room; the fault of the drive.
    pub fn go_to(&mut self, object: &ObjectKey, action: &str) -> Result<Arrival, Fault> {
        self.begin("go_to", &format!("obj={object} action=\"{action}\""))?;
        if self.room()?.get(object).is_none() {
            let message = format!("{object} is not in the map of the room; call object_retrieval first");
            return Err(self.failed("go_to", Fault::new(Reason::Infeasible, message)));
        }
        let arrival = match self.world.go_to(object, action) {
            Ok(arrival) => arrival,
            Err(fault) => {
                // It may have stopped anywhere on the way.
                self.moved = true;
                self.leave();
                return Err(self.failed("go_to", fault));
            }
        };
        self.moved |= arrival.moved;
        if arrival.moved || self.scope == Scope::Room {
            self.leave();
        }
        self.scope = Scope::Local;
        self.state.at_object = Some(object.clone());
        self.state.base_pose = Some(arrival.pose);
        self.map_from_arm = Some(arrival.map_from_arm);
        let output = ToolOutput {
            success: true,
            feedback_msg: if arrival.moved { "arrived" } else { "already there" }.to_owned(),
            output: Some(ToolValue::State(self.state.clone())),
        };
        self.world.tool_answered("go_to", &output);
        Ok(arrival)
    }

    /// Forgets what belongs to where the base stood.
    fn leave(&mut self) {
        self.map = None;
        self.state.inventory.clear();
        self.state.at_object = None;
        self.state.base_pose = None;
        self.map_from_arm = None;
        // From the pose of driving the camera does not overlook the workspace.
        self.freshness = Freshness::Stale;
    }

    /// The arm's base in the map of the room, since the last arrival.
    pub(crate) fn map_from_arm(&self) -> Option<Isometry3<f64>> {
        self.map_from_arm
    }

    /// Grounds in the map of the room again.
    pub(crate) fn plan_in_room(&mut self) {
        if self.rooms && self.scope != Scope::Room {
            self.scope = Scope::Room;
            self.state.inventory.clear();
        }
    }

    /// Leaves an object out of the map of the room for the rest of the goal: it was found not to be there.
    pub(crate) fn strike(&mut self, object: &ObjectKey) {
        if let Some(room) = &self.room {
            let mut map = ObjectMap::clone(room);
            map.objects.retain(|known| known.key != *object);
            self.room = Some(Arc::new(map));
            self.struck.push(object.clone());
        }
    }

    /// Keeps the phrase that meant an object of the room, to be grounded again where it is.
    pub(crate) fn keep_phrase(&mut self, object: &ObjectKey, phrase: NounPhrase) {
        if self.scope == Scope::Room {
            self.phrases.insert(object.clone(), phrase);
        }
    }

    /// The phrase that meant an object of the room, when it was kept.
    pub(crate) fn phrase_of(&self, object: &ObjectKey) -> Option<&NounPhrase> {
        self.phrases.get(object)
    }

    /// The words by which an object of the room was found.
    pub(crate) fn query_of(&self, object: &ObjectKey) -> Option<&str> {
        self.grounded_by.get(object).map(String::as_str)
    }
}
