//! ASP's tools (III-C): the only way the planner, or a language model, perceives and acts.
//!
//! Preconditions are checked here. Whatever moves objects makes the map stale and clears the inventory; the next
//! `object_retrieval` takes the map anew (remapping, ASP III-C).

mod call;
mod doubt;

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
use crate::world::{Comparison, Fault, PlannedStep, Retrieval, SkillOutcome, SkillRequest, World};
use nalgebra::Isometry3;
use prehend_scene::{
    ActionTable, Area, Intent, Object, ObjectKey, ObjectMap, PartEffect, Reason, Relation, Scope, Skill,
    SymbolicState,
};
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

    /// `interact(obj: ObjectKey, action: str) -> State`: finds how to act on an object and executes the skill
    /// (ASP IV-C). For a placement `object` is the first target, empty for the table; `more` are further ones, and what is put on the
    /// table is put into this area of it.
    ///
    /// Preconditions: the object is in the inventory; nothing is held for a grasp, something for a placement.
    /// Errors: the typed fault of the detection or the skill; a precondition that does not hold is
    /// [`Reason::Infeasible`].
    pub fn interact(
        &mut self,
        object: &ObjectKey,
        intent: &Intent,
        more: &[ObjectKey],
        area: Option<Area>,
    ) -> Result<ToolOutput, Fault> {
        let others = if more.is_empty() { String::new() } else { format!(" with={}", names(more)) };
        let place = area.map_or_else(String::new, |area| {
            let [x, y] = area.middle();
            format!(" around=({x:.2}, {y:.2}) m")
        });
        self.begin("interact", &format!("obj={object} action=\"{intent}\"{others}{place}"))?;
        match self.interacted(object, intent, more, area) {
            Ok(feedback) => {
                let value = Some(ToolValue::State(self.state.clone()));
                let output = ToolOutput { success: true, feedback_msg: feedback, output: value };
                self.world.tool_answered("interact", &output);
                Ok(output)
            }
            Err(fault) => Err(self.failed("interact", fault)),
        }
    }

    fn interacted(
        &mut self,
        object: &ObjectKey,
        intent: &Intent,
        more: &[ObjectKey],
        area: Option<Area>,
    ) -> Result<String, Fault> {
        let infeasible = |message: String| Fault::new(Reason::Infeasible, message);
        let mut targets: Vec<ObjectKey> = Vec::new();
        if !object.0.is_empty() {
            targets.push(object.clone());
        }
        targets.extend(more.iter().cloned());
        for key in &targets {
            if !self.state.inventory.contains(key) {
                return Err(infeasible(format!(
                    "{key} is not in the inventory; call object_retrieval first"
                )));
            }
        }
        if targets.is_empty() && !matches!(intent, Intent::Place { .. }) {
            return Err(infeasible(format!("\"{intent}\" needs an object; call object_retrieval first")));
        }
        if self.scope == Scope::Room {
            return Err(infeasible("the base has not been driven anywhere yet; call go_to first".to_owned()));
        }
        let map = self.map()?;
        let request = match (intent, &self.state.held_object) {
            (Intent::Act { verb, .. }, Some(held)) => {
                return Err(infeasible(format!(
                    "{held} is in the gripper; place it before you {verb} anything"
                )));
            }
            (Intent::Act { verb, part }, None) => {
                let found = self.world.detect_affordance(object, intent)?;
                self.part_request(object, verb, part.as_deref(), &found, &map)?
            }
            (Intent::Grasp { .. }, Some(held)) => {
                return Err(infeasible(format!("{held} is in the gripper; place it first")));
            }
            (Intent::Grasp { part }, None) => {
                let found = self.world.detect_affordance(object, intent)?;
                let by_part = best_part(&found, part.as_deref(), &self.lexicon.actions);
                // Who names a part that was found means that part and no other (`grasp_part`, ASP IV-C).
                let skill = if by_part.is_empty() { Skill::Grasp } else { Skill::GraspPart };
                SkillRequest {
                    skill,
                    object: object.clone(),
                    targets: Vec::new(),
                    relation: None,
                    area: None,
                    part: by_part,
                    effect: (skill == Skill::GraspPart).then_some(PartEffect::Hold),
                    direction: None,
                    map_version: map.version,
                }
            }
            (Intent::Place { .. }, None) => {
                return Err(infeasible("nothing is in the gripper; grasp something first".to_owned()));
            }
            (Intent::Place { relation, drop, compartment }, Some(held)) => {
                if targets.contains(held) {
                    return Err(infeasible(format!("{held} cannot be put relative to itself")));
                }
                SkillRequest {
                    skill: if *drop { Skill::Drop } else { Skill::Place },
                    object: held.clone(),
                    targets,
                    relation: Some(*relation),
                    area: area.filter(|_| *relation == Relation::Table),
                    part: compartment.map_or_else(String::new, |compartment| compartment.name().to_owned()),
                    effect: None,
                    direction: None,
                    map_version: map.version,
                }
            }
        };
        self.execute(&request)?;
        Ok(match (&request.relation, &self.state.held_object) {
            _ if request.effect.is_some_and(|effect| !effect.ends_held()) => {
                format!("done to the {} of {}", request.part, request.object)
            }
            (None, Some(held)) if !request.part.is_empty() => {
                format!("{held} is in the gripper, by its {}", request.part)
            }
            (None, Some(held)) => format!("{held} is in the gripper"),
            (None, None) => "done, but nothing is in the gripper".to_owned(),
            (Some(relation), _) => {
                format!(
                    "{} is {} {}",
                    request.object,
                    relation.name().replace('_', " "),
                    names(&request.targets)
                )
            }
        })
    }

    /// The skill, part and effect of an action on a part: the best part found that the table has a way for.
    fn part_request(
        &self,
        object: &ObjectKey,
        verb: &str,
        part: Option<&str>,
        found: &[crate::world::Part],
        map: &ObjectMap,
    ) -> Result<SkillRequest, Fault> {
        let table = &self.lexicon.actions;
        let class = map.get(object).map_or("", |object| object.class_name.as_str());
        let rule = table.rule(verb, class).or_else(|| table.rule(verb, part?)).ok_or_else(|| {
            Fault::new(Reason::Infeasible, format!("nothing is known of how to {verb} a {class}"))
        })?;
        // The name of a way is a kind of part; what was found may have a name of its own.
        let kind = |name: &str| table.part_kind(name).unwrap_or(name).to_owned();
        let serves = |found: &crate::world::Part| {
            let fits = part.is_none_or(|wanted| kind(wanted) == kind(&found.name));
            let way = rule.ways.iter().find(|way| way.skill == found.skill && way.part == kind(&found.name));
            way.filter(|_| fits).map(|way| (found.clone(), way.effect))
        };
        let (found, effect) = found.iter().find_map(serves).ok_or_else(|| {
            let wanted: Vec<&str> = rule.ways.iter().map(|way| way.part.as_str()).collect();
            let wanted = part.map_or_else(|| wanted.join(", "), str::to_owned);
            Fault::new(
                Reason::NoGrasp,
                format!("I find no part to {verb} {object} by (looked for: {wanted})"),
            )
        })?;
        Ok(SkillRequest {
            skill: found.skill,
            object: object.clone(),
            targets: Vec::new(),
            relation: None,
            area: None,
            part: found.name,
            effect: Some(effect),
            direction: rule.direction,
            map_version: map.version,
        })
    }

    /// Moves the camera to a survey pose and takes the map anew ("look"), or the arm home ("home"). `view` names a pose;
    /// without one the pose that suits `about` best is taken.
    ///
    /// Errors: the fault of the skill.
    pub fn survey(
        &mut self,
        skill: Skill,
        view: &str,
        about: Option<&ObjectKey>,
    ) -> Result<ToolOutput, Fault> {
        self.begin(skill.name(), view)?;
        let request = SkillRequest {
            skill,
            object: about.cloned().unwrap_or_default(),
            targets: Vec::new(),
            relation: None,
            area: None,
            part: view.to_owned(),
            effect: None,
            direction: None,
            map_version: self.state.map_version,
        };
        match self.execute(&request) {
            Ok(()) => {
                let value = Some(ToolValue::State(self.state.clone()));
                let output = ToolOutput {
                    success: true,
                    feedback_msg: format!("{} done", skill.name()),
                    output: value,
                };
                self.world.tool_answered(skill.name(), &output);
                // The camera stands well again: a new look from here will do.
                self.freshness = Freshness::Unseen;
                Ok(output)
            }
            Err(fault) => Err(self.failed(skill.name(), fault)),
        }
    }

    /// Executes a skill and follows what it did to the hand and the map.
    fn execute(&mut self, request: &SkillRequest) -> Result<(), Fault> {
        let result = self.world.execute(request);
        let after = match &result {
            Ok(after) => Some(after),
            Err(fault) => fault.after.as_ref(),
        };
        if let Some(SkillOutcome { held, map_stale }) = after {
            self.state.held_object = held.clone();
            // Objects were moved, or may have been: the next retrieval takes the map anew.
            self.forget_map();
            self.freshness = if *map_stale { Freshness::Stale } else { Freshness::SeenBySkill };
            self.moved |= result.is_ok() || *map_stale;
        } else {
            // Nobody says how far the skill came: things may have moved.
            self.forget_map();
            self.freshness = Freshness::Stale;
            self.moved = true;
        }
        result.map(|_| ())
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

/// The name of the best part found that a word means: of that very name, else of its kind, else what shape shows of it; empty when
/// there is none (then it is grasped anywhere).
fn best_part(found: &[crate::world::Part], wanted: Option<&str>, table: &ActionTable) -> String {
    let Some(wanted) = wanted else { return String::new() };
    let kind = |name: &str| table.part_kind(name).map(str::to_owned);
    let best = |fits: &dyn Fn(&crate::world::Part) -> bool| {
        found.iter().filter(|part| fits(part)).max_by(|a, b| a.score.total_cmp(&b.score))
    };
    best(&|part| part.name == wanted)
        .or_else(|| best(&|part| kind(wanted).is_some() && kind(&part.name) == kind(wanted)))
        .or_else(|| best(&|part| table.shape_part(wanted) == Some(part.name.as_str())))
        .map_or(String::new(), |part| part.name.clone())
}

/// Keys joined for a person.
pub(crate) fn names(keys: &[ObjectKey]) -> String {
    match keys {
        [] => "the table".to_owned(),
        keys => keys.iter().map(|key| key.0.as_str()).collect::<Vec<_>>().join(", "),
    }
}
