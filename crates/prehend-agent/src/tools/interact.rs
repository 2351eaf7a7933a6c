//! `interact` and the other tools that move the robot, and what a skill did to the hand and the map.

use super::{Freshness, ToolOutput, ToolValue, Toolbox, names};
use crate::world::{ActionablePart, Fault, SkillOutcome, SkillRequest};
use prehend_scene::{
    ActionTable, Area, Intent, ObjectKey, ObjectMap, PartEffect, Reason, Relation, Scope, Skill, is_same_part,
};

impl Toolbox<'_> {
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
        found: &[ActionablePart],
        map: &ObjectMap,
    ) -> Result<SkillRequest, Fault> {
        let table = &self.lexicon.actions;
        let class = map.get(object).map_or("", |object| object.class_name.as_str());
        let rule = table.rule(verb, class).or_else(|| table.rule(verb, part?)).ok_or_else(|| {
            Fault::new(Reason::Infeasible, format!("nothing is known of how to {verb} a {class}"))
        })?;
        // The name of a way is a kind of part; what was found may have a name of its own.
        let kind = |name: &str| table.part_kind(name).unwrap_or(name).to_owned();
        let serves = |found: &ActionablePart| {
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
    pub(super) fn execute(&mut self, request: &SkillRequest) -> Result<(), Fault> {
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
}

/// The name of the best part found that a word means: of that very name, else of its kind, else what shape shows of it; empty when
/// there is none (then it is grasped anywhere).
fn best_part(found: &[ActionablePart], wanted: Option<&str>, table: &ActionTable) -> String {
    let Some(wanted) = wanted else { return String::new() };
    let kind = |name: &str| table.part_kind(name).map(str::to_owned);
    let best = |fits: &dyn Fn(&ActionablePart) -> bool| {
        found.iter().filter(|part| fits(part)).max_by(|a, b| a.score.total_cmp(&b.score))
    };
    best(&|part| is_same_part(&part.name, wanted))
        .or_else(|| best(&|part| kind(wanted).is_some() && kind(&part.name) == kind(wanted)))
        .or_else(|| best(&|part| table.shape_part(wanted) == Some(part.name.as_str())))
        .map_or(String::new(), |part| part.name.clone())
}
