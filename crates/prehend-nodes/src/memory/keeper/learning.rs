//! What the robot learns of things: how skills on them turned out, and how their parts move.

use super::Keeper;
use prehend_memory::learn::score;
use prehend_memory::record::Episode;
use prehend_memory::{Action, Outcome};
use prehend_msgs::prehend_interfaces::msg::Outcome as OutcomeMsg;
use prehend_scene::{Scope, Skill};

impl Keeper {
    /// Keeps how the parts of the thing with this key move; what to say, or nothing when it is known already or not remembered.
    pub(in crate::memory) fn keep_model(
        &mut self,
        key: &str,
        name: &str,
        urdf: &str,
    ) -> Result<Option<String>, String> {
        // It is told again with every map.
        if self.models.get(key).is_some_and(|kept| kept == urdf) {
            return Ok(None);
        }
        let (building, robot) = (self.building.clone(), self.robot.clone());
        let kept = self.memory().and_then(|memory| memory.keep_model((&building, &robot), (key, name), urdf));
        let kept = self.noted(kept).map_err(|error| error.to_string())?;
        if kept.is_some() {
            self.models.insert(key.to_owned(), urdf.to_owned());
        }
        Ok(kept.map(|id| format!("how the parts of {name} {id} move")))
    }

    /// Learns what the verifier saw of a skill on something that is so called; what to say, or nothing when it is about nothing that
    /// is remembered. In a room `key` is what the base stands at.
    pub(in crate::memory) fn learn(
        &mut self,
        outcome: &OutcomeMsg,
        words: &str,
        key: &str,
        now: f64,
    ) -> Result<Option<String>, String> {
        let Some(action) = action_of(&outcome.skill) else { return Ok(None) };
        // What is put down is what was picked up; where the base stands is where it went.
        let (key, onto) = match action {
            Action::Place if self.scope == Scope::Room => {
                let Some(carried) = self.carried.clone() else { return Ok(None) };
                (carried, Some(key.to_owned()))
            }
            Action::Place => return Ok(None),
            _ => (key.to_owned(), None),
        };
        let episode = Episode {
            building: self.building.clone(),
            robot: self.robot.clone(),
            at: now,
            goal: String::new(),
            action,
            object: words.to_owned(),
            key: key.clone(),
            target: String::new(),
            done: outcome.succeeded,
            reason: outcome.reason.clone(),
        };
        if outcome.succeeded {
            self.carried = (action == Action::Pick).then_some(key);
        }
        let robot = self.robot.clone();
        let learned = self.memory().and_then(|memory| {
            let Some(id) = memory.learn(&Outcome { episode, thing: None, place: None, onto })? else {
                return Ok(None);
            };
            let thing = memory.store().things(&[id])?.into_iter().next();
            Ok(thing.map(|thing| (score(&thing, action, &robot), thing.words())))
        });
        let learned = self.noted(learned).map_err(|error| error.to_string())?;
        let how = if outcome.succeeded { "went well" } else { "failed" };
        Ok(learned.map(|(score, words)| match action {
            Action::Place => format!("place {words}: {how}"),
            _ => format!("{} {words}: {how}, thought to go well with {score:.2}", action.name()),
        }))
    }
}

/// What a skill does with the thing that it is about.
fn action_of(skill: &str) -> Option<Action> {
    match Skill::parse(skill)? {
        Skill::Grasp | Skill::GraspPart => Some(Action::Pick),
        Skill::TipPush => Some(Action::Press),
        Skill::PinchPull | Skill::HookPull => Some(Action::Open),
        Skill::Place | Skill::Drop => Some(Action::Place),
        Skill::Look | Skill::Home | Skill::GoTo => None,
    }
}
