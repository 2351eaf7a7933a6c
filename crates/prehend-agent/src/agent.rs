//! The agent loop: understand, plan, act with retries, report.

mod aside;
mod executor;
mod locate;
mod rehearse;
mod remedy;
mod settle;
mod siblings;
mod travel;
mod words;

use crate::language::{Goal, Lexicon, parse, things_of};
use crate::planner::{Action, Knowledge, Plan, Settings, listed, refuse_at_once};
use crate::policy::Policy;
use crate::report::ended_unmoved;
pub use crate::report::{Outcome, Report};
use crate::tools::Toolbox;
use crate::world::{Fault, World};
use executor::Executor;
pub(crate) use executor::VIEWS;
use prehend_scene::{ObjectKey, Reason};
pub(crate) use remedy::{Remedy, remedy};
use siblings::{Undone, are_siblings, fills, full_words, is_full, is_of_one, told};
pub(crate) use words::done_words;
use words::puts_down;

/// The built-in agent: words, rules and settings.
#[derive(Clone, Debug)]
pub struct Agent {
    /// Words.
    pub lexicon: Lexicon,
    /// The operator's rules.
    pub policy: Policy,
    /// The robot and the margins.
    pub settings: Settings,
}

impl Agent {
    /// What a sentence means, checked against the policy; nothing is looked at.
    ///
    /// Errors: unsafe, not_understood, or infeasible whatever the scene.
    pub fn understand(&self, text: &str) -> Result<Vec<Goal>, Fault> {
        if let Some(violation) = self.policy.check_sentence(text, &self.lexicon) {
            return Err(Fault::new(Reason::Unsafe, violation.to_string()));
        }
        let mut readings =
            parse(text, &self.lexicon).map_err(|error| Fault::new(Reason::NotUnderstood, error.message))?;
        let refusal = readings.first().and_then(refuse_at_once);
        readings.retain(|reading| refuse_at_once(reading).is_none());
        match refusal {
            Some(refusal) if readings.is_empty() => Err(refusal),
            Some(_) | None => Ok(readings),
        }
    }

    /// Carries out a goal to its end. `held` is what is known to be in the gripper; a goal that moves the robot finds it out
    /// anew.
    pub fn run(&self, readings: &[Goal], world: &mut dyn World, held: Option<ObjectKey>) -> Report {
        let mut tools = Toolbox::new(world, &self.lexicon, held, self.settings.step_limit);
        let mut begun = false;
        let result = self.carry_out(readings, &mut tools, &mut begun);
        let (outcome, reason, mut message) = match result {
            Ok(message) => (Outcome::Done, None, message),
            Err(fault) => {
                // A look round before the plan was made has moved no thing.
                let acted = begun && tools.moved();
                let outcome = if acted { Outcome::Failed } else { ended_unmoved(fault.reason) };
                (outcome, Some(fault.reason), fault.message)
            }
        };
        if let Some(words) = tools.settle_words(outcome, reason) {
            message = format!("{message} {words}");
        }
        Report {
            outcome,
            reason,
            message,
            tool_calls: tools.calls(),
            state: tools.state().clone(),
            talk: None,
        }
    }

    /// Plans and acts; `begun` is set when the plan is made.
    fn carry_out(
        &self,
        readings: &[Goal],
        tools: &mut Toolbox<'_>,
        begun: &mut bool,
    ) -> Result<String, Fault> {
        let knowledge = Knowledge { lexicon: &self.lexicon, policy: &self.policy, settings: &self.settings };
        if readings.iter().any(|reading| !matches!(reading, Goal::Question(_) | Goal::Lesson { .. })) {
            // What it puts down on the way home is a thing that was moved.
            tools.settle().inspect_err(|_| *begun = true)?;
            tools.permit_tour(readings.first().and_then(things_of).unwrap_or_default());
        }
        let is_about_all = readings
            .iter()
            .any(|reading| matches!(reading, Goal::Question(question) if question.is_about_all()));
        // What is not where the map of the room shows it is left out, and the goal is grounded in the rest.
        let mut stale: Option<Fault> = None;
        for _ in 0..=self.settings.retries {
            tools.plan_in_room();
            let mut planned = self.plan_surely(readings, tools, knowledge);
            // Where things are remembered to be is not all of the room.
            if planned.as_ref().is_err_and(|fault| tools.not_seen_yet(fault)) && tools.look_further()? {
                planned = self.plan_surely(readings, tools, knowledge);
            }
            let actions = match (planned, stale.take()) {
                (Ok(Plan::Answer(text)), _) if is_about_all && tools.room_is_partial() => {
                    return Ok(format!("{text} I have not seen the whole room yet."));
                }
                (Ok(Plan::Answer(text)), _) => return Ok(text),
                (Ok(Plan::Actions(actions)), _) => actions,
                // What is left does not do: the thing that is gone is what was meant.
                (Err(fault), Some(stale)) if !matches!(fault.reason, Reason::Stopped | Reason::Canceled) => {
                    return Err(stale);
                }
                (Err(fault), _) => return Err(fault),
            };
            *begun = true;
            match self.execute(&actions, tools, knowledge) {
                Ok(done) => return Ok(format!("{}.", listed(&done))),
                Err(Ended { fault, gone: Some(gone) }) => {
                    tools.strike(&gone);
                    stale = Some(fault);
                }
                Err(Ended { fault, gone: None }) => return Err(fault),
            }
        }
        Err(stale.unwrap_or_else(|| Fault::new(Reason::Internal, "the plan was never executed")))
    }

    /// Executes a plan; what was done, in words.
    fn execute(
        &self,
        actions: &[Action],
        tools: &mut Toolbox<'_>,
        knowledge: Knowledge<'_>,
    ) -> Result<Vec<String>, Ended> {
        let end = |fault| Ended { fault, gone: None };
        let map = tools.map().map_err(end)?;
        let mut executor = Executor::new(actions, (tools, &map), knowledge);
        let mut done: Vec<String> = Vec::new();
        let mut undone: Vec<Undone<'_>> = Vec::new();
        for (number, action) in actions.iter().enumerate() {
            // What comes after an action that failed may need it, but for others of its kind.
            if undone.first().is_some_and(|failed| !are_siblings(failed.action, action)) {
                break;
            }
            match executor.act(action, &map) {
                Ok(words) => {
                    let before = number.checked_sub(1).map(|before| &actions[before]);
                    if before.is_some_and(|before| puts_down(before, action)) {
                        done.pop();
                    }
                    done.push(words);
                }
                // "Until the bowl is full": now it is.
                Err(fault) if !done.is_empty() && fills(action) && is_full(fault.reason) => {
                    executor.put_aside(&map).map_err(end)?;
                    done.push(full_words(action, &map));
                    break;
                }
                Err(fault) => {
                    let is_free = executor.tools.state().held_object.is_none();
                    let nothing_done = actions[..number].iter().all(|a| matches!(a, Action::Already(_)));
                    let fresh = nothing_done && undone.is_empty() && is_free;
                    // Of those that are left another one would bear the words "the top drawer".
                    let tools = &executor.tools;
                    let gone = executor.gone.take().filter(|key| {
                        fresh
                            && fault.reason == Reason::Stale
                            && tools.phrase_of(key).is_none()
                            && !executor.taken.contains(key)
                    });
                    if gone.is_some() {
                        return Err(Ended { fault, gone });
                    }
                    let goes_on = is_free && is_of_one(fault.reason);
                    undone.push(Undone { action, fault });
                    if !goes_on {
                        break;
                    }
                }
            }
        }
        told(done, undone, actions.len(), &map).map_err(end)
    }
}

/// How the execution of a plan ended otherwise than done.
struct Ended {
    fault: Fault,
    /// The object of the room that is not there any more, when another plan may do without it.
    gone: Option<ObjectKey>,
}
