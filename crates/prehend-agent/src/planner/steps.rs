//! Steps to actions, with what "it" means, what is held, and the policy on the plan.

use super::describe::capital;
use super::describe::{describe, plan_words, relation_words};
use super::feasible::{relation_to, sensible, ungraspable, unplaceable};
use super::ground::{Fact, Grounder};
use super::{Action, Plan};
use crate::language::{Destination, Head, NounPhrase, PlaceRelation, Selector, Spatial, Step, TableRegion};
use crate::tools::Measure;
use crate::world::Fault;
use prehend_scene::{Compartment, Object, ObjectKey, Reason, Relation, spatial};

impl Grounder<'_, '_, '_> {
    /// Grounds every step; nothing moves.
    pub(super) fn plan_steps(&mut self, steps: &[Step]) -> Result<Plan, Fault> {
        let mut actions: Vec<Action> = Vec::new();
        let mut held = self.held();
        for (index, step) in steps.iter().enumerate() {
            let next = steps.get(index + 1);
            match step {
                Step::Pick { objects, part } => {
                    let keys = self.ground_all(objects, &[])?;
                    self.objects = keys.clone();
                    if next.is_some_and(moves_them) && keys.len() != 1 {
                        // "take the fork and the knife and put them on the plate": one after the other.
                        continue;
                    }
                    self.pick(&keys, part.as_ref(), &mut held, &mut actions)?;
                }
                Step::Act { action, objects, part } => {
                    self.face(objects)?;
                    let (keys, part) = self.ground_acted(action, objects, part.as_ref())?;
                    self.objects = keys.clone();
                    for key in self.in_turn(action, keys)? {
                        let part = part.as_ref();
                        self.act(&key, action, part, &mut held, &mut actions)?;
                    }
                }
                Step::Place { objects, destination, .. }
                    if destination.relation == PlaceRelation::Stacked =>
                {
                    let keys = self.ground_all(objects, &[])?;
                    self.tower(keys, &mut held, &mut actions)?;
                }
                Step::Place { objects, destination, part, drop } => {
                    self.face(&destination.targets)?;
                    let keys = self.ground_all(objects, &[])?;
                    let (compartment, destination) = self.divided(destination);
                    let (relation, targets) = self.destination(&destination, &keys)?;
                    self.objects = keys.clone();
                    if !targets.is_empty() {
                        self.targets = targets.clone();
                    }
                    // "take it out of the bowl and put it on the plate": the table is no stop on the way.
                    if relation == Relation::Table && next.is_some_and(moves_them) && held.is_none() {
                        continue;
                    }
                    let meant = targets;
                    for key in keys {
                        self.put_aside_for(&key, &mut held, &mut actions);
                        let spot = self.spot(&destination, &key, &meant)?;
                        let targets = if spot.is_some() { Vec::new() } else { meant.clone() };
                        let place = Action::Place {
                            object: key.clone(),
                            relation,
                            targets: targets.clone(),
                            drop: *drop,
                            part: part.clone(),
                            compartment,
                            spot,
                            until_full: destination.until_full,
                        };
                        match self.put(&key, relation, &targets, &held)?.filter(|_| compartment.is_none()) {
                            Some(clause) => actions.push(Action::Already(clause)),
                            None => {
                                self.make_way(&key, relation, &targets, &held, &mut actions)?;
                                self.vacate_place_of(&destination, &key, &meant, &mut actions)?;
                                actions.push(place);
                                held = None;
                            }
                        }
                        self.facts.retain(|fact| fact.object != key);
                        self.facts.push(Fact { object: key, relation, targets: targets.clone() });
                    }
                }
                Step::Swap { objects } => {
                    let keys = self.ground_all(objects, &[])?;
                    if let Some(first) = keys.first() {
                        self.put_aside_for(first, &mut held, &mut actions);
                    }
                    self.swap(keys, &held, &mut actions)?;
                }
                Step::Go { target } => {
                    if !self.tools.rooms() {
                        let message =
                            "I stand in one place and cannot drive. I can reach what is in front of me.";
                        return Err(Fault::new(Reason::Infeasible, message));
                    }
                    let keys = self.ground(target, &[])?;
                    if let [_, _, ..] = keys.as_slice() {
                        return Err(self.ambiguous(target, &keys)?);
                    }
                    self.objects = keys.clone();
                    actions.extend(keys.into_iter().map(|object| Action::Go { object }));
                }
                Step::Home => actions.push(Action::Home),
                Step::Look => actions.push(Action::Look),
                Step::Stop => actions.push(Action::Stop),
                Step::Unsupported { .. } => {}
            }
        }
        let already = |action: &Action| match action {
            Action::Already(clause) => Some(format!("{}.", capital(clause))),
            _ => None,
        };
        // Nothing is left to do.
        if let Some(said) = actions.iter().map(already).collect::<Option<Vec<String>>>() {
            let text = if said.is_empty() { "There is nothing to do.".to_owned() } else { said.join(" ") };
            return Ok(Plan::Answer(text));
        }
        let plan = Plan::Actions(actions);
        self.check_policy(&plan)?;
        Ok(plan)
    }

    /// Puts on the table what a goal that failed has left in the hand, when another thing is to be taken: nobody asked to hold it, so
    /// nobody has to be asked where it goes.
    pub(super) fn put_aside_for(
        &self,
        key: &ObjectKey,
        held: &mut Option<ObjectKey>,
        actions: &mut Vec<Action>,
    ) {
        let is_left_over = held.is_some() && held.as_ref() == self.tools.left_over();
        if let Some(object) = held.take_if(|holding| is_left_over && holding != key) {
            actions.push(Action::put_on_table(object, None));
        }
    }

    /// Puts things on top of each other, the widest at the bottom.
    fn tower(
        &mut self,
        mut keys: Vec<ObjectKey>,
        held: &mut Option<ObjectKey>,
        actions: &mut Vec<Action>,
    ) -> Result<(), Fault> {
        let map = self.map()?;
        let width = |key: &ObjectKey| map.get(key).map_or(0.0, spatial::width_of);
        // What is held goes on top of something rather than under it.
        keys.sort_by(|a, b| {
            (held.as_ref() == Some(a)).cmp(&(held.as_ref() == Some(b))).then(width(b).total_cmp(&width(a)))
        });
        let [bottom, _, ..] = keys.as_slice() else {
            let all: Vec<String> = keys.iter().map(|key| describe(key, &map)).collect();
            let message = format!("I see only {} for that; a stack needs two things.", super::listed(&all));
            return Err(Fault::new(Reason::NotFound, message));
        };
        if self.carrier_of(bottom)?.is_some_and(|(_, carrier)| keys.contains(&carrier)) {
            actions.push(Action::put_on_table(bottom.clone(), None));
        }
        for pair in keys.windows(2) {
            let [lower, upper] = pair else { continue };
            let targets = vec![lower.clone()];
            self.put_aside_for(upper, held, actions);
            match self.put(upper, Relation::On, &targets, held)? {
                Some(clause) => actions.push(Action::Already(clause)),
                None => {
                    self.make_way(upper, Relation::On, &targets, held, actions)?;
                    actions.push(Action::place(upper.clone(), Relation::On, targets.clone()));
                    *held = None;
                }
            }
            self.facts.push(Fact { object: upper.clone(), relation: Relation::On, targets });
        }
        self.objects = keys;
        Ok(())
    }

    fn pick(
        &mut self,
        keys: &[ObjectKey],
        part: Option<&String>,
        held: &mut Option<ObjectKey>,
        actions: &mut Vec<Action>,
    ) -> Result<(), Fault> {
        let map = self.map()?;
        let [key] = keys else {
            let all: Vec<String> = keys.iter().map(|key| describe(key, &map)).collect();
            let message = format!(
                "I can hold one thing at a time, not {}. I can put them somewhere one after the other.",
                super::listed(&all)
            );
            return Err(Fault::new(Reason::Infeasible, message));
        };
        self.put_aside_for(key, held, actions);
        match held {
            Some(holding) if holding == key => return Ok(()),
            Some(holding) => {
                let message =
                    format!("I already hold {}. Tell me first where to put it.", describe(holding, &map));
                return Err(Fault::new(Reason::Infeasible, message));
            }
            None => {}
        }
        if let Some(fault) = map.get(key).and_then(|object| ungraspable(object, &map, self.knowledge)) {
            return Err(fault);
        }
        self.clear_over(key, actions)?;
        actions.push(Action::Pick { object: key.clone(), part: part.cloned() });
        *held = Some(key.clone());
        Ok(())
    }

    /// "The left compartment of the caddy" is the caddy, with the room of it that is meant; other destinations stay.
    fn divided(&self, destination: &Destination) -> (Option<Compartment>, Destination) {
        let whole = match (destination.relation, destination.targets.as_slice()) {
            (PlaceRelation::Known(Relation::In | Relation::On) | PlaceRelation::To, [np]) => {
                self.compartment_of(np)
            }
            _ => None,
        };
        match whole {
            Some((compartment, targets)) => {
                let relation = PlaceRelation::Known(Relation::In);
                (Some(compartment), Destination { relation, targets, ..destination.clone() })
            }
            None => (None, destination.clone()),
        }
    }

    /// The side of a room and what it is a room of, when a phrase names one.
    fn compartment_of(&self, np: &NounPhrase) -> Option<(Compartment, Vec<NounPhrase>)> {
        let Head::Noun(noun) = &np.head else { return None };
        let (said, noun) =
            noun.rsplit_once(' ').map_or((None, noun.as_str()), |(side, noun)| (Some(side), noun));
        let side = match (np.selectors.as_slice(), said) {
            ([Selector::Side(TableRegion::Left)], None) | ([], Some("left")) => Compartment::Left,
            ([Selector::Side(TableRegion::Right)], None) | ([], Some("right")) => Compartment::Right,
            ([Selector::Side(TableRegion::Front)], None) | ([], Some("front")) => Compartment::Front,
            ([Selector::Side(TableRegion::Back)], None) | ([], Some("back")) => Compartment::Back,
            _ => return None,
        };
        let [whole] = np.modifiers.as_slice() else { return None };
        let belongs = !whole.negated && matches!(whole.relation, Spatial::PartOf | Spatial::In | Spatial::At);
        (belongs && self.knowledge.lexicon.list("compartments").has_word(noun))
            .then(|| (side, whole.targets.clone()))
    }

    /// Relation and targets of a destination for these objects.
    fn destination(
        &mut self,
        destination: &Destination,
        objects: &[ObjectKey],
    ) -> Result<(Relation, Vec<ObjectKey>), Fault> {
        let targets = self.target_keys(destination, objects)?;
        let map = self.map()?;
        let relation = match destination.relation {
            PlaceRelation::Known(relation) => match (targets.as_slice(), objects.first()) {
                ([target], Some(object)) => map.get(target).map_or(relation, |target| {
                    sensible(relation, map.get(object), target, self.knowledge.lexicon)
                }),
                _ => relation,
            },
            PlaceRelation::To => match targets.first().and_then(|key| map.get(key)) {
                Some(target) => relation_to(target, self.knowledge.lexicon),
                None => Relation::Table,
            },
            PlaceRelation::TableRegion(_)
            | PlaceRelation::Corner(..)
            | PlaceRelation::Shift(..)
            | PlaceRelation::PlaceOf
            | PlaceRelation::Stacked
            | PlaceRelation::Under
            | PlaceRelation::Above
            | PlaceRelation::Floor => Relation::Table,
        };
        Ok((relation, targets))
    }

    fn target_keys(
        &mut self,
        destination: &Destination,
        objects: &[ObjectKey],
    ) -> Result<Vec<ObjectKey>, Fault> {
        let mut keys: Vec<ObjectKey> = Vec::new();
        for np in &destination.targets {
            let found = match np.head {
                // As a place, "it" is where something was put before, else what was spoken of.
                Head::It | Head::Them if !self.targets.is_empty() && self.is_same(objects) => {
                    self.targets.clone()
                }
                Head::It | Head::Them if !self.targets.is_empty() && !self.objects.is_empty() => {
                    let target = self.targets.clone();
                    let container =
                        matches!(destination.relation, PlaceRelation::Known(Relation::In | Relation::On));
                    if container { target } else { self.objects.clone() }
                }
                _ if let Some(whole) = self.topped(destination, np)? => vec![whole],
                _ if let Some(table) = self.table_for(np, objects)? => vec![table],
                _ => {
                    let before = std::mem::take(&mut self.objects);
                    let usable: Vec<ObjectKey> =
                        before.iter().filter(|key| !objects.contains(key)).cloned().collect();
                    self.objects = if usable.is_empty() { before.clone() } else { usable };
                    let grounded = self.ground(np, objects);
                    self.objects = before;
                    grounded?
                }
            };
            let is_pronoun = matches!(np.head, Head::It | Head::Them);
            let on = destination.relation == PlaceRelation::Known(Relation::On);
            for key in if is_pronoun && on { self.carriers(found)? } else { found } {
                if !keys.contains(&key) {
                    keys.push(key);
                }
            }
        }
        let single = matches!(
            destination.relation,
            PlaceRelation::To
                | PlaceRelation::PlaceOf
                | PlaceRelation::Shift(..)
                | PlaceRelation::Known(
                    Relation::On
                        | Relation::In
                        | Relation::NextTo
                        | Relation::LeftOf
                        | Relation::RightOf
                        | Relation::InFrontOf
                        | Relation::Behind
                )
        );
        if let (true, [np], true) = (single, destination.targets.as_slice(), keys.len() > 1) {
            return Err(self.ambiguous(np, &keys)?);
        }
        Ok(keys)
    }

    fn is_same(&self, objects: &[ObjectKey]) -> bool {
        !objects.is_empty() && objects.iter().all(|key| self.objects.contains(key))
    }

    /// Checks one placement; a clause when it is already so.
    fn put(
        &mut self,
        key: &ObjectKey,
        relation: Relation,
        targets: &[ObjectKey],
        held: &Option<ObjectKey>,
    ) -> Result<Option<String>, Fault> {
        let map = self.map()?;
        if let Some(holding) = held.as_ref().filter(|holding| *holding != key) {
            let message = format!(
                "I hold {}; I can move {} after you tell me where to put it.",
                describe(holding, &map),
                describe(key, &map)
            );
            return Err(Fault::new(Reason::Infeasible, message));
        }
        let objects: Vec<&Object> = targets.iter().filter_map(|target| map.get(target)).collect();
        if targets.contains(key) {
            return Err(Fault::new(
                Reason::Infeasible,
                format!("I cannot put {} relative to itself.", describe(key, &map)),
            ));
        }
        if let Some(object) = map.get(key) {
            if let Some(fault) = unplaceable(object, relation, &objects, &map, self.knowledge) {
                return Err(fault);
            }
            if held.is_none()
                && let Some(fault) = ungraspable(object, &map, self.knowledge)
            {
                return Err(fault);
            }
        }
        // In a room the map may be old: it is gone and looked there.
        let fresh = !self.tools.rooms() && held.is_none() && self.facts.is_empty();
        if fresh && self.is_so(key, relation, targets)? {
            let there = relation_words(relation, targets, &map);
            return Ok(Some(format!("{} is already {there}", describe(key, &map))));
        }
        Ok(None)
    }

    /// Whether a container or carrier holds the object already.
    fn is_so(&mut self, key: &ObjectKey, relation: Relation, targets: &[ObjectKey]) -> Result<bool, Fault> {
        let [target] = targets else { return Ok(false) };
        let pair = [key.clone(), target.clone()];
        match relation {
            Relation::In => self.tools.holds(Measure::Inside, &pair),
            Relation::On => self.tools.holds(Measure::On, &pair),
            _ => Ok(false),
        }
    }

    /// The operator's policy on the finished plan.
    pub(super) fn check_policy(&mut self, plan: &Plan) -> Result<(), Fault> {
        let Plan::Actions(actions) = plan else { return Ok(()) };
        let map = self.map()?;
        let (policy, settings) = (self.knowledge.policy, self.knowledge.settings);
        for action in actions {
            let Action::Place { targets, drop, spot, .. } = action else { continue };
            let what = plan_words(&Plan::Actions(vec![action.clone()]), &map);
            // In a room every place is within reach once the robot stands there; the gate judges it then.
            let reached = if self.tools.rooms() { &[] } else { targets.as_slice() };
            let outside = reached
                .iter()
                .filter_map(|key| map.get(key))
                .find_map(|target| policy.check_target(&what, &spatial::centre(target), &settings.workspace));
            let aimed = spot.as_ref().map(|spot| spot.area.middle()).and_then(|[x, y]| {
                policy.check_target(&what, &nalgebra::Point3::new(x, y, 0.0), &settings.workspace)
            });
            let outside = outside.or(aimed);
            let high = if *drop { policy.check_drop(&what, settings.drop_height) } else { None };
            if let Some(violation) = outside.or(high) {
                return Err(Fault::new(Reason::Unsafe, violation.to_string()));
            }
        }
        Ok(())
    }
}

/// Whether a step moves what the step before spoke of.
fn moves_them(step: &Step) -> bool {
    let pronoun = |np: &NounPhrase| matches!(np.head, Head::It | Head::Them);
    matches!(step, Step::Place { objects, .. } if objects.iter().all(pronoun))
}
