//! ASP's tools (III-C): the only way the planner, or a language model, perceives and acts.
//!
//! Preconditions are checked here. Whatever moves objects makes the map stale and clears the inventory; the next
//! `object_retrieval` takes the map anew (remapping, ASP III-C).

mod call;
mod doubt;
mod interact;
mod room;
mod schema;
mod spatial;
mod words;

pub use crate::output::{ToolOutput, ToolValue};
pub use call::ToolCallError;
pub(crate) use doubt::{FRAMES, RestsOn};
pub use schema::schema;
pub use spatial::Measure;

use crate::language::{Lexicon, NounPhrase};
use crate::talk::Turn;
use crate::world::{Comparison, Fault, PlannedStep, Retrieval, World};
use nalgebra::Isometry3;
use prehend_scene::{Object, ObjectKey, ObjectMap, Reason, Scope, Skill, SymbolicState};
use std::collections::HashMap;
use std::sync::Arc;

/// The tools over one world, for one goal.
pub struct Toolbox<'w> {
    world: &'w mut dyn World,
    lexicon: &'w Lexicon,
    state: SymbolicState,
    map: Option<Arc<ObjectMap>>,
    freshness: Freshness,
    moved: bool,
    /// What the plan that is being made went by.
    considered: doubt::Considered,
    calls: u32,
    limit: u32,
    /// Whether the robot drives.
    rooms: bool,
    /// The map that is read: that of the room until the base was driven to something.
    scope: Scope,
    room: Option<Arc<ObjectMap>>,
    /// When this goal may drive round the room: the things that may be looked for where they are remembered to be; empty when all of
    /// the room must be seen.
    may_explore: Option<Vec<String>>,
    toured: bool,
    map_from_arm: Option<Isometry3<f64>>,
    /// Where the base stood when the map of the room was first read, metres.
    viewpoint: Option<[f64; 2]>,
    /// By which query each object of the room was found: it is asked again after arrival (ASP III-D ii).
    grounded_by: HashMap<ObjectKey, String>,
    /// Phrases that single out one of several parts of an object of the room ("the top drawer").
    phrases: HashMap<ObjectKey, NounPhrase>,
    /// Objects of the room that were found not to be there.
    struck: Vec<ObjectKey>,
    /// What unknown words are taken for in this goal.
    words: words::Learned,
}

/// How the next map is to be had.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Freshness {
    /// A new look is due, from where the camera is.
    Unseen,
    /// A skill took a look of its own after the last motion.
    SeenBySkill,
    /// Things may be elsewhere: look from the home pose (remapping, ASP III-C).
    Stale,
}

impl std::fmt::Debug for Toolbox<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Toolbox")
            .field("state", &self.state)
            .field("calls", &self.calls)
            .finish_non_exhaustive()
    }
}

impl<'w> Toolbox<'w> {
    /// Tools with at most `limit` calls; `held` is what is known to be in the gripper.
    pub fn new(world: &'w mut dyn World, lexicon: &'w Lexicon, held: Option<ObjectKey>, limit: u32) -> Self {
        let state = SymbolicState { held_object: held, ..SymbolicState::default() };
        let rooms = world.rooms();
        Self {
            world,
            lexicon,
            state,
            map: None,
            freshness: Freshness::Unseen,
            moved: false,
            considered: doubt::Considered::default(),
            calls: 0,
            limit,
            rooms,
            scope: if rooms { Scope::Room } else { Scope::Local },
            room: None,
            may_explore: None,
            toured: false,
            map_from_arm: None,
            viewpoint: None,
            grounded_by: HashMap::new(),
            phrases: HashMap::new(),
            struck: Vec::new(),
            words: words::Learned::default(),
        }
    }

    /// What the agent sees (ASP III-B).
    pub fn state(&self) -> &SymbolicState {
        &self.state
    }

    /// What is in the gripper and nobody asked to hold: a goal that failed has left it there.
    pub fn left_over(&self) -> Option<&ObjectKey> {
        self.state.held_object.as_ref().filter(|_| !self.world.was_asked_to_hold())
    }

    /// Whether a skill has moved the robot.
    pub fn moved(&self) -> bool {
        self.moved
    }

    /// Number of calls so far; spatial tools do not count.
    pub fn calls(&self) -> u32 {
        self.calls
    }

    /// The map the inventory was taken from.
    ///
    /// Errors: those of a map update when there is none yet or it is stale.
    pub fn map(&mut self) -> Result<Arc<ObjectMap>, Fault> {
        if self.scope == Scope::Room {
            return self.room();
        }
        if let Some(map) = &self.map {
            return Ok(Arc::clone(map));
        }
        let map = match self.freshness {
            Freshness::SeenBySkill => self.world.newest_map()?,
            Freshness::Unseen => self.world.update_map()?,
            Freshness::Stale => {
                self.survey(Skill::Home, "", None)?;
                self.world.update_map()?
            }
        };
        self.freshness = Freshness::SeenBySkill;
        self.state.map_version = map.version;
        self.considered.looked(map.stamp);
        self.map = Some(Arc::clone(&map));
        Ok(map)
    }

    /// Begins a goal that moves the robot: what is held is what is found now, not what an earlier goal left. An earlier motion
    /// may have been cut short; going home and looking again after it is no part of this goal.
    ///
    /// Errors: the fault of the skill.
    pub fn settle(&mut self) -> Result<(), Fault> {
        if let Some(fault) = self.world.interrupted() {
            return Err(fault);
        }
        let result = self.world.settle();
        let after = match &result {
            Ok(after) => Some(after),
            Err(fault) => fault.after.as_ref(),
        };
        if let Some(after) = after {
            self.state.held_object = after.held.clone();
            if after.map_stale {
                self.freshness = Freshness::Stale;
            }
            self.moved |= result.is_err() && after.map_stale;
        }
        result.map(drop)
    }

    /// Forgets the map and the inventory; the next map takes a new look.
    pub fn forget_map(&mut self) {
        self.map = None;
        if self.freshness != Freshness::Stale {
            self.freshness = Freshness::Unseen;
        }
        self.state.inventory.clear();
    }

    /// `object_retrieval(query: str) -> State`: adds the objects that a text means to the inventory.
    ///
    /// The output's feedback names what was rejected and why. Errors: a fault of the map or the retrieval.
    pub fn object_retrieval(&mut self, query: &str, k: u32) -> Result<(Retrieval, ToolOutput), Fault> {
        self.begin("object_retrieval", &format!("query=\"{query}\""))?;
        let scope = self.scope;
        let result = self.map().and_then(|_| self.world.retrieve(query, k, scope));
        let result = result.and_then(|retrieval| self.catch_up().map(|()| retrieval));
        let result = result.and_then(|retrieval| match retrieval.keys.as_slice() {
            [] => self.retrieve_taken_for(query, k, retrieval),
            _ => Ok((retrieval, None)),
        });
        let (mut retrieval, taken_for) = match result {
            Ok(found) => found,
            Err(fault) => return Err(self.failed("object_retrieval", fault)),
        };
        let asked = taken_for.as_ref().map_or(query, |taken| taken.query.as_str());
        retrieval.keys.retain(|key| !self.struck.contains(key));
        self.considered.found(&retrieval.keys, &retrieval.doubtful);
        if scope == Scope::Room {
            for key in &retrieval.keys {
                self.grounded_by.insert(key.clone(), asked.to_owned());
            }
        }
        for key in &retrieval.keys {
            self.add_to_inventory(key);
        }
        let feedback = match retrieval.keys.as_slice() {
            [] => match retrieval.rejected.first() {
                Some(near) => format!("nothing is {query}; nearest is {}: {}", near.key, near.reason),
                None => format!("nothing is {query}"),
            },
            keys => {
                let why = taken_for.as_ref().map_or(String::new(), |taken| format!(" ({})", taken.why));
                format!("found {}{why}", names(keys))
            }
        };
        let output = ToolOutput {
            success: !retrieval.keys.is_empty(),
            feedback_msg: feedback,
            output: Some(ToolValue::State(self.state.clone())),
        };
        self.world.tool_answered("object_retrieval", &output);
        Ok((retrieval, output))
    }

    /// Takes the map anew from where the camera is; what is found again stays in the inventory.
    ///
    /// Errors: those of a map update.
    pub(crate) fn look_again(&mut self) -> Result<(), Fault> {
        let mut known = std::mem::take(&mut self.state.inventory);
        self.forget_map();
        let map = self.map()?;
        known.retain(|key| map.get(key).is_some());
        self.state.inventory = known;
        Ok(())
    }

    /// Empties the inventory.
    pub(crate) fn clear_inventory(&mut self) {
        self.state.inventory.clear();
    }

    /// Takes a newer map for the one at hand: what was retrieved is of it, and a skill's look may be told later than its end.
    fn catch_up(&mut self) -> Result<(), Fault> {
        if self.scope == Scope::Local && self.map.is_some() {
            let newest = self.world.newest_map()?;
            if newest.version > self.state.map_version {
                self.state.map_version = newest.version;
                self.map = Some(newest);
            }
        }
        Ok(())
    }

    /// Adds an object of the map to the inventory without a query (it was named by another tool).
    pub fn add_to_inventory(&mut self, key: &ObjectKey) {
        if !self.state.inventory.contains(key) {
            self.state.inventory.push(key.clone());
        }
    }

    fn begin(&mut self, name: &str, arguments: &str) -> Result<(), Fault> {
        if let Some(fault) = self.world.interrupted() {
            return Err(fault);
        }
        if self.calls >= self.limit {
            return Err(Fault::new(
                Reason::Timeout,
                format!("the goal took more than {} tool calls", self.limit),
            ));
        }
        self.calls += 1;
        self.world.tool_called(name, arguments);
        Ok(())
    }

    /// As [`Self::begin`], for tools that only compute.
    fn begin_free(&mut self, name: &str, arguments: &str) -> Result<(), Fault> {
        match self.world.interrupted() {
            Some(fault) => Err(fault),
            None => {
                self.world.tool_called(name, arguments);
                Ok(())
            }
        }
    }

    fn failed(&mut self, name: &str, fault: Fault) -> Fault {
        let output = ToolOutput {
            success: false,
            feedback_msg: format!("{}: {}", fault.reason.code(), fault.message),
            output: Some(ToolValue::State(self.state.clone())),
        };
        self.world.tool_answered(name, &output);
        fault
    }

    /// What the camera sees now, with the keys of things.
    pub(crate) fn picture(&mut self) -> Option<Vec<u8>> {
        // The keys are those of a map that is at hand.
        self.map().ok()?;
        self.world.picture()
    }

    /// Several things that fit were compared.
    pub(crate) fn compared(&mut self, comparison: &Comparison) {
        self.world.compared(comparison);
    }

    /// A step of a goal that is only planned is planned.
    pub(crate) fn step_planned(&mut self, step: &PlannedStep) {
        self.world.step_planned(step);
    }

    /// A language model has made a turn.
    pub(crate) fn model_said(&mut self, turn: &Turn) {
        self.world.model_said(turn);
    }

    /// Why the goal must end now, if it must.
    pub fn interrupted(&self) -> Option<Fault> {
        self.world.interrupted()
    }

    fn object<'m>(map: &'m ObjectMap, key: &ObjectKey) -> Option<&'m Object> {
        map.get(key)
    }
}

/// Keys joined for a person.
pub(crate) fn names(keys: &[ObjectKey]) -> String {
    match keys {
        [] => "the table".to_owned(),
        keys => keys.iter().map(|key| key.0.as_str()).collect::<Vec<_>>().join(", "),
    }
}
