//! The agent loop: understand, plan, act with retries, report.

mod aside;
mod locate;
mod rehearse;
mod remedy;
mod settle;
mod siblings;
mod travel;
mod words;

use crate::language::{Goal, Lexicon, parse, things_of};
use crate::mind::Conversation;
use crate::planner::{Action, Knowledge, Plan, Settings, describe, is_furniture, listed, refuse_at_once};
use crate::policy::Policy;
use crate::tools::Toolbox;
use crate::world::{Fault, World};
use nalgebra::Point3;
use prehend_scene::{
    Area, Compartment, Intent, ObjectKey, ObjectMap, Reason, Relation, Skill, SymbolicState, fixture, spatial,
};
use remedy::has_touched;
pub(crate) use remedy::{Remedy, remedy};
pub(crate) use settle::FRAMES;
use siblings::{Undone, are_siblings, fills, full_words, is_full, is_of_one, told};
use std::collections::HashMap;
pub(crate) use words::done_words;
use words::puts_down;

/// Least distance up or down by which a drawer or door may be found again, metres: what is seen of it varies.
const ROW: f64 = 0.03;
/// How far beyond the area it was put into something may be seen, metres: it rolls a little, and is seen from one side.
const BESIDE_AREA: f64 = 0.025;
/// How something is put: whether it is let fall a short way, into which room of a divided target, and into which part of the table.
#[derive(Clone, Copy, Debug)]
struct How {
    drop: bool,
    compartment: Option<Compartment>,
    area: Option<Area>,
}

/// How a goal ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Everything was done, or the question is answered.
    Done,
    /// Nothing was moved.
    Refused,
    /// It was begun and did not succeed.
    Failed,
}

impl Outcome {
    /// Name on the wire.
    pub fn name(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Refused => "refused",
            Self::Failed => "failed",
        }
    }
}

/// The end of a goal.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    /// How it ended.
    pub outcome: Outcome,
    /// Why not done.
    pub reason: Option<Reason>,
    /// For the person.
    pub message: String,
    /// Tool calls made, without the spatial ones.
    pub tool_calls: u32,
    /// What is held and known at the end.
    pub state: SymbolicState,
    /// What was said with a language model, when one was asked.
    pub talk: Option<Box<Conversation>>,
}

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

/// Further views of what an action is done to, when one shows too little: what a detector takes for something else it does so for as
/// long as the camera stands still.
pub(crate) const VIEWS: u32 = 2;

/// What is remembered of the objects of a plan, for finding them again in a new map.
#[derive(Clone, Debug)]
struct Remembered {
    class_name: String,
    query: String,
    place: Point3<f64>,
    /// Overall size, metres.
    size: f64,
    /// How far up or down a drawer or door may be found again: farther is another one, however like it. Metres; `None` of what moves
    /// freely.
    row: Option<f64>,
    /// Carries things, as tables do.
    is_furniture: bool,
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
        let mut executor = Executor::new(actions, (tools, &map), knowledge, self);
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

/// A fault before anything moved is a refusal, unless it is a defect or a loss.
pub(crate) fn ended_unmoved(reason: Reason) -> Outcome {
    match reason {
        Reason::NotUnderstood
        | Reason::NotFound
        | Reason::Ambiguous
        | Reason::Infeasible
        | Reason::Unsafe
        | Reason::Busy
        | Reason::Stopped
        | Reason::NotArmed
        | Reason::NoGrasp
        | Reason::NoPlace
        | Reason::NoPlan
        | Reason::VerifierRefused
        | Reason::NotApproved
        | Reason::VerifierLost
        | Reason::Stale => Outcome::Refused,
        Reason::PeerLost
        | Reason::Slipped
        | Reason::OutcomeNotObserved
        | Reason::ControlFailed
        | Reason::Canceled
        | Reason::Timeout
        | Reason::SensorFault
        | Reason::Internal => Outcome::Failed,
    }
}

/// How the execution of a plan ended otherwise than done.
struct Ended {
    fault: Fault,
    /// The object of the room that is not there any more, when another plan may do without it.
    gone: Option<ObjectKey>,
}

struct Executor<'t, 'w> {
    tools: &'t mut Toolbox<'w>,
    knowledge: Knowledge<'t>,
    memory: HashMap<ObjectKey, Remembered>,
    /// New keys of objects that got one in a later map.
    aliases: HashMap<ObjectKey, ObjectKey>,
    /// What was put somewhere since, and where: an object of the room one can drive to.
    moved_to: HashMap<ObjectKey, ObjectKey>,
    /// Where the things of the map are that the plan was made from: key, class, middle.
    places: Vec<(ObjectKey, String, Point3<f64>)>,
    /// The object that was not found where the map of the room shows it.
    gone: Option<ObjectKey>,
    /// What was in the hand: if it is lost, another that fits the words is not what was meant.
    taken: Vec<ObjectKey>,
    /// Keys of the map the plan was made from; they mean what they meant then.
    known: Vec<ObjectKey>,
    retries: u32,
    clearings: u32,
    front_view: Option<&'static str>,
}

impl<'t, 'w> Executor<'t, 'w> {
    /// Who carries out a plan that was made from `map`.
    fn new(
        actions: &[Action],
        (tools, map): (&'t mut Toolbox<'w>, &ObjectMap),
        knowledge: Knowledge<'t>,
        agent: &Agent,
    ) -> Self {
        let mut executor = Self {
            places: travel::places(map),
            tools,
            knowledge,
            memory: HashMap::new(),
            aliases: HashMap::new(),
            moved_to: HashMap::new(),
            known: map.objects.iter().map(|object| object.key.clone()).collect(),
            retries: agent.settings.retries,
            clearings: agent.settings.clearings,
            front_view: agent.settings.front_view,
            gone: None,
            taken: Vec::new(),
        };
        for action in actions {
            executor.remember(action, map);
        }
        executor
    }

    /// Puts what is held on the table, if anything is.
    fn put_aside(&mut self, named_in: &ObjectMap) -> Result<(), Fault> {
        let Some(object) = self.tools.state().held_object.clone() else { return Ok(()) };
        self.act(&Action::put_on_table(object, None), named_in).map(drop)
    }

    fn remember(&mut self, action: &Action, map: &ObjectMap) {
        let keys: Vec<&ObjectKey> = match action {
            Action::Pick { object, .. } | Action::Act { object, .. } | Action::Go { object } => vec![object],
            Action::Place { object, targets, .. } => std::iter::once(object).chain(targets).collect(),
            Action::Home | Action::Look | Action::Stop | Action::Already(_) => Vec::new(),
        };
        for object in keys.into_iter().filter_map(|key| map.get(key)) {
            let remembered = Remembered {
                class_name: object.class_name.clone(),
                query: describe(&object.key, map).trim_start_matches("the ").to_owned(),
                place: spatial::centre(object),
                size: object.bounds.size.norm(),
                row: fixture::is_panel(&object.class_name).then(|| (object.bounds.size.z / 2.0).max(ROW)),
                is_furniture: is_furniture(object),
            };
            self.memory.insert(object.key.clone(), remembered);
        }
    }

    /// Remembers a thing of the local map that the plan does not know.
    fn remember_here(&mut self, key: &ObjectKey, map: &ObjectMap) {
        self.remember(&Action::Pick { object: key.clone(), part: None }, map);
        if let (Some(map_from_arm), Some(it)) = (self.tools.map_from_arm(), self.memory.get_mut(key)) {
            it.place = map_from_arm * it.place;
        }
    }

    /// One action with retries; what was done, in words.
    fn act(&mut self, action: &Action, named_in: &ObjectMap) -> Result<String, Fault> {
        let mut views = 0;
        let mut attempt = 0;
        let mut felt = None;
        let mut put_aside: Vec<String> = Vec::new();
        loop {
            let fault = match self.attempt(action, named_in) {
                Ok(words) if put_aside.is_empty() => return Ok(words),
                Ok(words) => return Ok(format!("{words} (I put {} aside for it)", listed(&put_aside))),
                Err(fault) => fault,
            };
            if let (Action::Pick { object, .. } | Action::Place { object, .. }, 1..) = (action, views)
                && !fault.in_the_way.is_empty()
                && self.tools.state().held_object.is_none()
            {
                let may = put_aside.len() < self.clearings as usize;
                put_aside.push(self.make_way(object, fault, may)?);
                continue;
            }
            // A part that holds against the hand says more than a later try that did not come as far.
            let is_felt = matches!(action, Action::Act { .. }) && fault.reason == Reason::Infeasible;
            let told = felt.clone().filter(|_| !has_touched(fault.reason));
            if is_felt {
                felt = Some(fault.clone());
            }
            let next = match (action, fault.reason) {
                // No handle is seen: another view may show it.
                (Action::Act { .. }, Reason::NoGrasp) if views < VIEWS => Remedy::LookFirst,
                // What one view shows of a thing may be too little to hold it by.
                (Action::Pick { .. } | Action::Place { .. }, Reason::NoGrasp | Reason::NoPlan)
                    if views == 0 && self.tools.state().held_object.is_none() =>
                {
                    Remedy::LookFirst
                }
                // From where the camera was it may have seen a part of the target only.
                (Action::Place { .. }, Reason::NoPlace) if views < VIEWS => Remedy::LookFirst,
                // What is in the hand was not shown to be what was asked for, and a hand that is full cannot try again.
                (Action::Pick { object, .. }, _) if self.is_held(object) => Remedy::Give,
                (Action::Act { object, action, part }, reason)
                    if has_touched(reason) && self.is_thrown(object, action, part.as_deref(), named_in) =>
                {
                    Remedy::Give
                }
                (_, reason) => remedy(reason),
            };
            attempt += 1;
            let enough = next == Remedy::LookFirst && views >= VIEWS;
            if next == Remedy::Give || attempt > self.retries || enough {
                return Err(told.unwrap_or(fault));
            }
            if next == Remedy::LookFirst {
                views += 1;
                let view = if views == 1 { self.view_for(action) } else { "" };
                let about = match action {
                    Action::Place { object, targets, .. } if self.is_held(object) => {
                        targets.first().map(|target| self.alias(target))
                    }
                    Action::Pick { object, .. }
                    | Action::Place { object, .. }
                    | Action::Act { object, .. } => Some(self.alias(object)),
                    Action::Go { .. } | Action::Home | Action::Look | Action::Stop | Action::Already(_) => {
                        None
                    }
                };
                self.tools.survey(Skill::Look, view, about.as_ref())?;
            } else if self.tools.state().held_object.is_none() {
                self.tools.forget_map();
            }
        }
    }

    /// Whether an action throws a part over to its other side: a second try would throw it back.
    fn is_thrown(&self, object: &ObjectKey, action: &str, part: Option<&str>, map: &ObjectMap) -> bool {
        let table = &self.knowledge.lexicon.actions;
        let class = map.get(object).map_or("", |object| object.class_name.as_str());
        let rule = table.rule(action, class).or_else(|| table.rule(action, part?));
        let over = |way: &prehend_scene::ActionWay| {
            way.skill == Skill::TipPush && way.effect == prehend_scene::PartEffect::Turn
        };
        rule.is_some_and(|rule| rule.direction.is_none() && rule.ways.iter().any(over))
    }

    fn attempt(&mut self, step: &Action, named_in: &ObjectMap) -> Result<String, Fault> {
        match step {
            Action::Pick { object, part } => {
                self.grasp(object, part.as_deref())?;
                Ok(done_words(step, named_in))
            }
            Action::Place { object, relation, targets, drop, part, compartment, spot, .. } => {
                let area = spot.as_ref().map(|spot| spot.area);
                let how = How { drop: *drop, compartment: *compartment, area };
                if compartment.is_none() && self.stands_already(object, *relation, targets, named_in)? {
                    return Ok(done_words(step, named_in));
                }
                if !self.is_held(object) {
                    self.grasp(object, part.as_deref())?;
                }
                if self.tools.rooms() {
                    self.place_there(object, *relation, targets, how)?;
                } else {
                    self.place(*relation, targets, how)?;
                }
                self.is_in_area(object, area)?;
                Ok(done_words(step, named_in))
            }
            Action::Act { object, action, part } => {
                let intent = Intent::Act { verb: action.clone(), part: part.clone() };
                let key = self.reach(object, Some(&intent))?;
                if !self.is_so_already(&key, action)? {
                    self.tools.interact(&key, &intent, &[], None)?;
                }
                Ok(done_words(step, named_in))
            }
            Action::Go { object } => {
                self.travel(object, None)?;
                Ok(done_words(step, named_in))
            }
            Action::Look if self.tools.rooms() => self.tools.explore().map(|_| done_words(step, named_in)),
            Action::Home => self.tools.survey(Skill::Home, "", None).map(|_| done_words(step, named_in)),
            Action::Look => self.tools.survey(Skill::Look, "", None).map(|_| done_words(step, named_in)),
            Action::Stop | Action::Already(_) => Ok(done_words(step, named_in)),
        }
    }

    /// The survey pose for a second look: upright faces for drawers and doors, else what suits the object best.
    fn view_for(&self, action: &Action) -> &'static str {
        let Action::Act { object, .. } = action else { return "" };
        let panel = self.memory.get(object).is_some_and(|it| fixture::is_panel(&it.class_name));
        self.front_view.filter(|_| panel).unwrap_or("")
    }

    fn alias(&self, key: &ObjectKey) -> ObjectKey {
        self.aliases.get(key).unwrap_or(key).clone()
    }

    fn is_held(&self, key: &ObjectKey) -> bool {
        self.tools.state().held_object.as_ref() == Some(&self.alias(key))
    }

    fn grasp(&mut self, object: &ObjectKey, part: Option<&str>) -> Result<(), Fault> {
        if self.is_held(object) {
            return Ok(());
        }
        let intent = Intent::Grasp { part: part.map(str::to_owned) };
        let key = self.reach(object, Some(&intent))?;
        self.tools.interact(&key, &intent, &[], None)?;
        self.taken.push(object.clone());
        match &self.tools.state().held_object {
            Some(held) if *held == key => Ok(()),
            Some(held) => {
                // The skill may know it by another key of the new map.
                self.aliases.insert(object.clone(), held.clone());
                Ok(())
            }
            None => Err(Fault::new(Reason::Slipped, format!("{key} is not in the gripper after the grasp"))),
        }
    }

    fn place(&mut self, relation: Relation, targets: &[ObjectKey], how: How) -> Result<(), Fault> {
        let mut keys = Vec::new();
        for target in targets {
            keys.push(self.locate(target)?);
        }
        self.put(relation, &keys, how)
    }

    /// Puts what is held relative to objects of the local map.
    fn put(&mut self, relation: Relation, keys: &[ObjectKey], how: How) -> Result<(), Fault> {
        let intent = Intent::Place { relation, drop: how.drop, compartment: how.compartment };
        let first = keys.first().cloned().unwrap_or_default();
        let more: Vec<ObjectKey> = keys.iter().skip(1).cloned().collect();
        self.tools.interact(&first, &intent, &more, how.area)?;
        Ok(())
    }

    /// Checks that what was put into an area is seen there.
    ///
    /// Errors: outcome_not_observed when it is seen elsewhere, or not at all.
    fn is_in_area(&mut self, object: &ObjectKey, area: Option<Area>) -> Result<(), Fault> {
        let Some(area) = area else { return Ok(()) };
        let key = self.alias(object);
        let map = self.tools.map()?;
        let place = map.get(&key).map(spatial::centre);
        match place {
            Some(place) if area.contains([place.x, place.y], BESIDE_AREA) => Ok(()),
            Some(place) => {
                let [x, y] = area.middle();
                let off = (place.x - x).hypot(place.y - y) * 100.0;
                let message =
                    format!("{} stands {off:.0} cm from where it was to be put.", describe(&key, &map));
                Err(Fault::new(Reason::OutcomeNotObserved, message))
            }
            None => {
                let message = format!("I do not see {key} where I put it.");
                Err(Fault::new(Reason::OutcomeNotObserved, message))
            }
        }
    }
}
