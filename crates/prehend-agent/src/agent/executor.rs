//! One plan, carried out step by step with retries.

use super::remedy::{Remedy, has_touched, remedy};
use super::words::done_words;
use crate::planner::{Action, Knowledge, describe, is_furniture, listed};
use crate::tools::Toolbox;
use crate::world::Fault;
use nalgebra::Point3;
use prehend_scene::{
    Area, Compartment, Intent, Object, ObjectKey, ObjectMap, Reason, Relation, Skill, furniture, spatial,
};
use std::collections::HashMap;

/// Least distance up or down by which a drawer or door may be found again, metres: what is seen of it varies.
const ROW: f64 = 0.03;
/// How far beyond the area it was put into something may be seen, metres: it rolls a little, and is seen from one side.
const BESIDE_AREA: f64 = 0.025;
/// How something is put: whether it is let fall a short way, into which room of a divided target, and into which part of the table.
#[derive(Clone, Copy, Debug)]
pub(super) struct How {
    pub(super) drop: bool,
    pub(super) compartment: Option<Compartment>,
    pub(super) area: Option<Area>,
}

/// Further views of what an action is done to, when one shows too little: what a detector takes for something else it does so for as
/// long as the camera stands still.
pub(crate) const VIEWS: u32 = 2;

/// What is remembered of the objects of a plan, for finding them again in a new map.
#[derive(Clone, Debug)]
pub(super) struct Remembered {
    pub(super) class_name: String,
    pub(super) query: String,
    pub(super) place: Point3<f64>,
    /// Overall size, metres.
    pub(super) size: f64,
    /// How far up or down a drawer or door may be found again: farther is another one, however like it. Metres; `None` of what moves
    /// freely.
    pub(super) row: Option<f64>,
    /// Carries things, as tables do.
    pub(super) is_furniture: bool,
}

/// Who carries out one plan.
pub(super) struct Executor<'t, 'w> {
    pub(super) tools: &'t mut Toolbox<'w>,
    pub(super) knowledge: Knowledge<'t>,
    pub(super) memory: HashMap<ObjectKey, Remembered>,
    /// New keys of objects that got one in a later map.
    pub(super) aliases: HashMap<ObjectKey, ObjectKey>,
    /// What was put somewhere since, and where: an object of the room one can drive to.
    pub(super) moved_to: HashMap<ObjectKey, ObjectKey>,
    /// Where the things of the map are that the plan was made from: key, class, middle.
    pub(super) places: Vec<(ObjectKey, String, Point3<f64>)>,
    /// The object that was not found where the map of the room shows it.
    pub(super) gone: Option<ObjectKey>,
    /// What was in the hand: if it is lost, another that fits the words is not what was meant.
    pub(super) taken: Vec<ObjectKey>,
    /// Keys of the map the plan was made from; they mean what they meant then.
    pub(super) known: Vec<ObjectKey>,
    retries: u32,
    pub(super) clearings: u32,
    pub(super) front_view: Option<&'static str>,
}

impl<'t, 'w> Executor<'t, 'w> {
    /// Who carries out a plan that was made from `map`.
    pub(super) fn new(
        actions: &[Action],
        (tools, map): (&'t mut Toolbox<'w>, &ObjectMap),
        knowledge: Knowledge<'t>,
    ) -> Self {
        let mut executor = Self {
            places: places(map),
            tools,
            knowledge,
            memory: HashMap::new(),
            aliases: HashMap::new(),
            moved_to: HashMap::new(),
            known: map.objects.iter().map(|object| object.key.clone()).collect(),
            retries: knowledge.settings.retries,
            clearings: knowledge.settings.clearings,
            front_view: knowledge.settings.front_view,
            gone: None,
            taken: Vec::new(),
        };
        for action in actions {
            let keys: Vec<&ObjectKey> = match action {
                Action::Pick { object, .. } | Action::Act { object, .. } | Action::Go { object } => {
                    vec![object]
                }
                Action::Place { object, targets, .. } => std::iter::once(object).chain(targets).collect(),
                Action::Home | Action::Look | Action::Stop | Action::Already(_) => Vec::new(),
            };
            keys.into_iter().for_each(|key| executor.remember(key, map));
        }
        executor
    }

    /// Puts what is held on the table, if anything is.
    pub(super) fn put_aside(&mut self, named_in: &ObjectMap) -> Result<(), Fault> {
        let Some(object) = self.tools.state().held_object.clone() else { return Ok(()) };
        self.act(&Action::put_on_table(object, None), named_in).map(drop)
    }

    fn remember(&mut self, key: &ObjectKey, map: &ObjectMap) {
        let Some(object) = map.get(key) else { return };
        let remembered = Remembered {
            class_name: object.class_name.clone(),
            query: describe(key, map).trim_start_matches("the ").to_owned(),
            place: spatial::centre(object),
            size: object.bounds.size.norm(),
            row: furniture::is_panel(&object.class_name).then(|| (object.bounds.size.z / 2.0).max(ROW)),
            is_furniture: is_furniture(object),
        };
        self.memory.insert(key.clone(), remembered);
    }

    /// Remembers a thing of the local map that the plan does not know.
    pub(super) fn remember_here(&mut self, key: &ObjectKey, map: &ObjectMap) {
        self.remember(key, map);
        if let (Some(map_from_arm), Some(it)) = (self.tools.map_from_arm(), self.memory.get_mut(key)) {
            it.place = map_from_arm * it.place;
        }
    }

    /// One action with retries; what was done, in words.
    pub(super) fn act(&mut self, action: &Action, named_in: &ObjectMap) -> Result<String, Fault> {
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
            // A part that holds against the hand says more than a later try that did not come as far.
            let is_felt = matches!(action, Action::Act { .. }) && fault.reason == Reason::Infeasible;
            let told = felt.clone().filter(|_| !has_touched(fault.reason));
            if is_felt {
                felt = Some(fault.clone());
            }
            let is_free = self.tools.state().held_object.is_none();
            let (movable, why) = self.movable(&fault)?;
            let may_move = is_free && !movable.is_empty() && put_aside.len() < self.clearings as usize;
            let next = match (action, fault.reason) {
                // No handle is seen: another view may show it.
                (Action::Act { .. }, Reason::NoGrasp) if views < VIEWS => Remedy::LookFirst,
                // What one view shows of a thing may be too little to hold it by.
                (Action::Pick { .. } | Action::Place { .. }, Reason::NoGrasp | Reason::NoPlan)
                    if views == 0 && is_free =>
                {
                    Remedy::LookFirst
                }
                // Another view has shown none either.
                (Action::Pick { .. } | Action::Place { .. }, Reason::NoGrasp) if may_move => Remedy::MakeWay,
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
            if let (Remedy::MakeWay, Action::Pick { object, .. } | Action::Place { object, .. }) =
                (next, action)
            {
                let moved = self.make_way(object, fault, &movable);
                put_aside.push(moved.map_err(|fault| with_told(fault, &put_aside))?);
                continue;
            }
            attempt += 1;
            let enough = next == Remedy::LookFirst && views >= VIEWS;
            if next == Remedy::Give || attempt > self.retries || enough {
                let fault = match action {
                    Action::Pick { object, .. } | Action::Place { object, .. }
                        if !fault.in_the_way.is_empty() =>
                    {
                        self.blocked(object, fault, &why)?
                    }
                    _ => told.unwrap_or(fault),
                };
                return Err(with_told(fault, &put_aside));
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

    pub(super) fn attempt(&mut self, step: &Action, named_in: &ObjectMap) -> Result<String, Fault> {
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
        let panel = self.memory.get(object).is_some_and(|it| furniture::is_panel(&it.class_name));
        self.front_view.filter(|_| panel).unwrap_or("")
    }

    pub(super) fn alias(&self, key: &ObjectKey) -> ObjectKey {
        self.aliases.get(key).unwrap_or(key).clone()
    }

    pub(super) fn is_held(&self, key: &ObjectKey) -> bool {
        self.tools.state().held_object.as_ref() == Some(&self.alias(key))
    }

    pub(super) fn grasp(&mut self, object: &ObjectKey, part: Option<&str>) -> Result<(), Fault> {
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

    pub(super) fn place(&mut self, relation: Relation, targets: &[ObjectKey], how: How) -> Result<(), Fault> {
        let mut keys = Vec::new();
        for target in targets {
            keys.push(self.locate(target)?);
        }
        self.put(relation, &keys, how)
    }

    /// Puts what is held relative to objects of the local map.
    pub(super) fn put(&mut self, relation: Relation, keys: &[ObjectKey], how: How) -> Result<(), Fault> {
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

/// A fault with what was put aside before it.
fn with_told(fault: Fault, put_aside: &[String]) -> Fault {
    if put_aside.is_empty() {
        return fault;
    }
    let told = fault.message.trim_end_matches('.');
    let message = format!("{told}. I put {} aside for it.", listed(put_aside));
    Fault { message, ..fault }
}

/// Where every object of the room is: key, class and middle.
fn places(map: &ObjectMap) -> Vec<(ObjectKey, String, Point3<f64>)> {
    let place = |object: &Object| (object.key.clone(), object.class_name.clone(), spatial::centre(object));
    map.objects.iter().map(place).collect()
}
