//! Tools of a robot that drives (ASP III-D): `go_to`, and the two maps.
//!
//! A goal is grounded in the map of the room. After a successful go_to the local map is current: it is built anew from where
//! the base stands, and the skills act on it alone. No tool changes the map of the room.

use super::{Freshness, RestsOn, ToolOutput, ToolValue, Toolbox};
use crate::language::{Lexicon, NounPhrase};
use crate::world::{Arrival, Fault, Remembered};
use nalgebra::{Isometry3, Point3};
use prehend_scene::spatial::{self, Sight};
use prehend_scene::{Intent, Object, ObjectKey, ObjectMap, Reason, Scope};
use std::collections::HashMap;
use std::sync::Arc;

/// A look takes a quarter of the stops of a tour or less: it is worth it when the thing is about as likely still there.
const LIKELY: f64 = 0.2;

/// A thing is seen again within so much around the box of what is found, metres.
const AROUND: f64 = 0.15;

/// Whether an object is at a place, seen from above.
fn is_there(object: &Object, place: [f64; 3]) -> bool {
    let at = object.bounds.pose.inverse() * Point3::from(place);
    let half = object.bounds.size / 2.0;
    at.x.abs() <= half.x + AROUND && at.y.abs() <= half.y + AROUND
}

impl Toolbox<'_> {
    /// The words of the agent.
    pub(crate) fn lexicon(&self) -> &Lexicon {
        self.lexicon
    }

    /// Whether the robot drives.
    pub fn rooms(&self) -> bool {
        self.rooms
    }

    /// What was seen of such a thing before, best first.
    pub(crate) fn remembered(&mut self, description: &str) -> Vec<Remembered> {
        self.world.remembered(description)
    }

    /// The map that retrieval and the spatial tools read now.
    pub fn scope(&self) -> Scope {
        self.scope
    }

    /// The map of the room. While it is not whole and the goal may move the robot, it looks where the things of the goal are remembered
    /// to be, or else at the whole room.
    ///
    /// Errors: [`Reason::Infeasible`] without a map when the goal may not move the robot; the fault of the tour.
    pub fn room(&mut self) -> Result<Arc<ObjectMap>, Fault> {
        if let Some(map) = &self.room {
            return Ok(Arc::clone(map));
        }
        let known = self.world.room_map()?;
        let is_whole = known.version > 0 && !self.world.room_is_partial();
        let map = match &self.may_explore {
            _ if is_whole => known,
            // What was seen for another goal is not all that this one is about.
            Some(_) => match self.visited()? {
                Some(map) => map,
                None => self.explored()?,
            },
            None if known.version > 0 => known,
            None => {
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

    /// Lets this goal drive round the room when there is no map of it. `about` names the things that it is about, each with its own
    /// phrase; empty when it is about all that there is.
    pub(crate) fn permit_tour(&mut self, about: Vec<String>) {
        self.may_explore = Some(about);
    }

    /// Whether a plan failed for want of things in a room that was seen in part only.
    pub(crate) fn not_seen_yet(&self, fault: &Fault) -> bool {
        self.scope == Scope::Room
            && matches!(fault.reason, Reason::NotFound | Reason::Infeasible)
            && self.world.room_is_partial()
    }

    /// Whether the map of the room shows only a part of it.
    pub(crate) fn room_is_partial(&self) -> bool {
        self.rooms && self.world.room_is_partial()
    }

    /// Looks at the whole room when that was not done for this goal and the hand is free; whether it did.
    ///
    /// Errors: the fault of the tour.
    pub(crate) fn look_further(&mut self) -> Result<bool, Fault> {
        if self.may_explore.is_none() || self.toured || self.state.held_object.is_some() {
            return Ok(false);
        }
        self.explore().map(|_| true)
    }

    /// `explore() -> State`: a tour of the room, whose stops become its map. Once in a goal.
    ///
    /// Errors: the fault of the tour.
    pub fn explore(&mut self) -> Result<ToolOutput, Fault> {
        if !self.toured {
            let map = self.explored()?;
            // The map began anew, and its keys with it.
            self.struck.clear();
            self.state.inventory.clear();
            self.take_room(&map);
        }
        let output = Some(ToolValue::State(self.state.clone()));
        Ok(ToolOutput { success: true, feedback_msg: "the room is mapped".to_owned(), output })
    }

    /// A look at where the things of the goal are remembered to be; `None` when one of them is not remembered, when one of several that
    /// fit alike is not seen there again, and when that failed.
    fn visited(&mut self) -> Result<Option<Arc<ObjectMap>>, Fault> {
        let about = self.may_explore.clone().unwrap_or_default();
        if about.is_empty() {
            return Ok(None);
        }
        let mut places: Vec<[f64; 3]> = Vec::new();
        let mut several: Vec<Remembered> = Vec::new();
        for description in &about {
            let mut known = self.world.remembered(description);
            known.retain(|thing| thing.still_there >= LIKELY);
            if known.is_empty() {
                return Ok(None);
            }
            places.extend(known.iter().map(|thing| thing.center));
            if known.len() > 1 {
                several.extend(known);
            }
        }
        let Some(map) = self.look_at(&places, &format!("remembered=\"{}\"", about.join(", ")))? else {
            return Ok(None);
        };
        let missing = self.first_missing(&several, &map);
        let said = match missing {
            None => format!("looked where they were: {} objects", map.objects.len()),
            Some(thing) => format!("the {} is not seen where it was", thing.words),
        };
        self.explored_so(missing.is_none(), said);
        Ok(missing.is_none().then_some(map))
    }

    /// Drives nearer to things of the room of which too little was seen for the plan that was made, to each once in a goal; `end` when the
    /// plan ends otherwise than with actions. Whether it looked.
    ///
    /// Errors: what ends the goal. A look that fails in another way leaves everything as it was.
    pub(crate) fn look_nearer(&mut self, end: Option<RestsOn>) -> Result<bool, Fault> {
        if self.scope != Scope::Room || self.may_explore.is_none() || self.state.held_object.is_some() {
            return Ok(false);
        }
        let Some(map) = self.room.clone() else { return Ok(false) };
        let open = self.doubts_in_room(&map, end);
        if open.is_empty() {
            return Ok(false);
        }
        let things = open.iter().filter_map(|key| map.get(key));
        let places: Vec<[f64; 3]> = things.map(|thing| spatial::centre(thing).into()).collect();
        let words: Vec<&str> = open.iter().map(|key| key.0.as_str()).collect();
        let Some(map) = self.look_at(&places, &format!("open=\"{}\"", words.join(", ")))? else {
            return Ok(false);
        };
        self.explored_so(true, format!("looked nearer: {} objects", map.objects.len()));
        let mut map = ObjectMap::clone(&map);
        map.objects.retain(|known| !self.struck.contains(&known.key));
        self.room = Some(Arc::new(map));
        Ok(true)
    }

    /// Drives to where places of the room are seen; `None` when that failed.
    ///
    /// Errors: what ends the goal.
    fn look_at(&mut self, places: &[[f64; 3]], what: &str) -> Result<Option<Arc<ObjectMap>>, Fault> {
        self.begin("explore", what)?;
        self.moved = true;
        self.leave();
        match self.world.visit(places) {
            Ok(map) => {
                self.state.map_version = map.version;
                Ok(Some(map))
            }
            Err(fault) => {
                let fault = self.failed("explore", fault);
                let ends = matches!(fault.reason, Reason::Stopped | Reason::Canceled);
                if ends { Err(fault) } else { Ok(None) }
            }
        }
    }

    /// Says what a look at the room came to.
    fn explored_so(&mut self, success: bool, feedback_msg: String) {
        let output = ToolOutput { success, feedback_msg, output: Some(ToolValue::State(self.state.clone())) };
        self.world.tool_answered("explore", &output);
    }

    /// The first of several things that fit one description which is not found where it is remembered to be, as everything of the goal
    /// is going to be found. Who chooses among several must see all of them: what one look does not show may still stand there.
    fn first_missing<'t>(&mut self, things: &'t [Remembered], map: &ObjectMap) -> Option<&'t Remembered> {
        let mut found: HashMap<&str, Vec<ObjectKey>> = HashMap::new();
        things.iter().find(|thing| {
            let keys = found.entry(&thing.words).or_insert_with(|| {
                self.world.retrieve(&thing.words, 0, Scope::Room).map(|found| found.keys).unwrap_or_default()
            });
            !keys.iter().filter_map(|key| map.get(key)).any(|object| is_there(object, thing.center))
        })
    }

    fn explored(&mut self) -> Result<Arc<ObjectMap>, Fault> {
        self.begin("explore", "")?;
        self.moved = true;
        self.leave();
        let map = self.world.explore().map_err(|fault| self.failed("explore", fault))?;
        self.toured = true;
        self.state.map_version = map.version;
        self.explored_so(true, format!("the room is mapped: {} objects", map.objects.len()));
        Ok(map)
    }

    /// `go_to(obj: ObjectKey, action: str) -> State`: drives to where an object of the map of the room can be acted on so, or seen. The
    /// object must be retrieved again afterwards, in the local map.
    ///
    /// Errors: [`Reason::Infeasible`] when the object is not one of the room; the fault of the drive.
    pub fn go_to(&mut self, object: &ObjectKey, intent: Option<&Intent>) -> Result<Arrival, Fault> {
        let words = intent.map_or_else(|| "look at".to_owned(), Intent::to_string);
        self.begin("go_to", &format!("obj={object} action=\"{words}\""))?;
        if self.room()?.get(object).is_none() {
            let message = format!("{object} is not in the map of the room; call object_retrieval first");
            return Err(self.failed("go_to", Fault::new(Reason::Infeasible, message)));
        }
        let arrival = match self.world.go_to(object, intent) {
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
