//! What a goal would come to: the same planner, tools and skills, over a world that plans each motion and makes none.
//!
//! The first thing that would be moved is planned to its end. What comes after it depends on how the world looks then, and is told in
//! words alone.

use super::Agent;
use super::executor::{Executor, How};
use super::remedy::{Remedy, remedy};
use crate::language::Goal;
use crate::planner::{Action, Knowledge, Plan, action_words, describe, listed};
use crate::report::{Outcome, Report, ended_unmoved};
use crate::tools::Toolbox;
use crate::world::{Fault, PlannedStep, StepStatus, World};
use prehend_scene::{Intent, ObjectKey, ObjectMap, Reason};

/// Why a step is not planned yet.
const AFTER_THE_LAST: &str = "planned when the step before it is done: it depends on what is seen then";
const WHEN_THERE: &str = "what is done there is planned when the robot is there and sees it";

impl Agent {
    /// Plans a goal as [`run`](Self::run) would, tells the world each step ([`World::step_planned`]), and carries out none of them. The
    /// world must be one whose skills and drives only plan. `held` is what is in the gripper.
    ///
    /// A goal that would be carried out is reported as done, with what would be done as its message.
    pub fn rehearse(&self, readings: &[Goal], world: &mut dyn World, held: Option<ObjectKey>) -> Report {
        let mut tools = Toolbox::new(world, &self.lexicon, held, self.settings.step_limit);
        let (outcome, reason, message) = match self.rehearsed(readings, &mut tools) {
            Ok(message) => (Outcome::Done, None, message),
            Err(fault) => (ended_unmoved(fault.reason), Some(fault.reason), fault.message),
        };
        let (tool_calls, state) = (tools.calls(), tools.state().clone());
        Report { outcome, reason, message, tool_calls, state, talk: None }
    }

    fn rehearsed(&self, readings: &[Goal], tools: &mut Toolbox<'_>) -> Result<String, Fault> {
        let knowledge = Knowledge { lexicon: &self.lexicon, policy: &self.policy, settings: &self.settings };
        let planned = self.plan_here(readings, tools, knowledge)?;
        let doubts = self.doubts(&planned, tools)?;
        let actions = match planned {
            Ok(Plan::Actions(actions)) => actions,
            Ok(Plan::Answer(text)) => return Ok(text),
            Err(fault) if tools.not_seen_yet(&fault) => {
                let message = format!("{} I would look round the room for it first.", fault.message);
                return Err(Fault::new(fault.reason, message));
            }
            Err(fault) if !doubts.is_empty() => {
                let names: Vec<String> = doubts.iter().map(|key| key.0.clone()).collect();
                let message =
                    format!("{} I would look at {} from elsewhere first.", fault.message, listed(&names));
                return Err(Fault::new(fault.reason, message));
            }
            Err(fault) => return Err(fault),
        };
        let map = tools.map()?;
        let mut executor = Executor::new(&actions, (tools, &map), knowledge);
        let words: Vec<String> = actions.iter().map(|action| action_words(action, &map)).collect();
        let mut later: Option<&'static str> = None;
        let mut refused = None;
        for (action, words) in actions.iter().zip(&words) {
            let (status, detail) = match later {
                Some(why) => (StepStatus::Later, why.to_owned()),
                None => match executor.foresee(action, &map) {
                    Ok(then) => {
                        later = then;
                        let detail = then.filter(|why| *why == WHEN_THERE).unwrap_or_default();
                        (StepStatus::Planned, detail.to_owned())
                    }
                    Err(fault) => {
                        later = Some(AFTER_THE_LAST);
                        let aside = executor.would_put_aside(action, &fault)?;
                        if aside.is_empty() {
                            let told = (StepStatus::Refused(fault.reason), told(action, &fault));
                            refused = Some(Fault::new(fault.reason, told.1.clone()));
                            told
                        } else {
                            let names = listed(&aside);
                            (StepStatus::Later, format!("{}; I would put {names} aside first", fault.message))
                        }
                    }
                },
            };
            executor.tools.step_planned(&PlannedStep { words: words.clone(), status, detail });
        }
        match refused {
            Some(fault) => Err(fault),
            None => Ok(format!("I would {}.", words.join(", then "))),
        }
    }
}

/// A fault of a step, and what would be tried before it counts.
fn told(action: &Action, fault: &Fault) -> String {
    let is_thing = matches!(action, Action::Pick { .. } | Action::Place { .. } | Action::Act { .. });
    let looks = match fault.reason {
        Reason::NoGrasp | Reason::NoPlan | Reason::NoPlace => is_thing,
        reason => remedy(reason) == Remedy::LookFirst,
    };
    match looks {
        true => format!("{}; I would look from elsewhere and try again", fault.message),
        false => fault.message.clone(),
    }
}

impl Executor<'_, '_> {
    /// What would be put aside before an action that fails so is tried again.
    fn would_put_aside(&mut self, action: &Action, fault: &Fault) -> Result<Vec<String>, Fault> {
        if !matches!(action, Action::Pick { .. } | Action::Place { .. }) {
            return Ok(Vec::new());
        }
        let (movable, _) = self.movable(fault)?;
        let map = self.tools.map()?;
        Ok(movable.iter().map(|key| describe(key, &map)).collect())
    }

    /// Plans one action; why the steps after it are not planned, if so.
    fn foresee(&mut self, action: &Action, named_in: &ObjectMap) -> Result<Option<&'static str>, Fault> {
        match action {
            Action::Home | Action::Look | Action::Stop | Action::Already(_) => Ok(None),
            Action::Go { object } => self.travel(object, None).map(|()| Some(WHEN_THERE)),
            Action::Act { object, action, part } if self.tools.rooms() && !self.is_held(object) => {
                let intent = Intent::Act { verb: action.clone(), part: part.clone() };
                self.travel(object, Some(&intent)).map(|()| Some(WHEN_THERE))
            }
            Action::Pick { object, part } | Action::Place { object, part, .. }
                if self.tools.rooms() && !self.is_held(object) =>
            {
                let intent = Intent::Grasp { part: part.clone() };
                self.travel(object, Some(&intent)).map(|()| Some(WHEN_THERE))
            }
            Action::Place { targets, relation, drop, compartment, .. } if self.tools.rooms() => {
                let intent = Intent::Place { relation: *relation, drop: *drop, compartment: *compartment };
                match targets.first() {
                    Some(target) => self.travel(target, Some(&intent)).map(|()| Some(WHEN_THERE)),
                    None => Ok(Some(WHEN_THERE)),
                }
            }
            Action::Pick { .. } => self.attempt(action, named_in).map(|_| None),
            Action::Act { .. } => self.attempt(action, named_in).map(|_| Some(AFTER_THE_LAST)),
            Action::Place { object, relation, targets, drop, part, compartment, spot, .. } => {
                if !self.is_held(object) {
                    self.grasp(object, part.as_deref())?;
                }
                let area = spot.as_ref().map(|spot| spot.area);
                self.place(*relation, targets, How { drop: *drop, compartment: *compartment, area })?;
                Ok(Some(AFTER_THE_LAST))
            }
        }
    }
}
