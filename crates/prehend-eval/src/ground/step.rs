//! Steps of a goal to predicates.

use super::noun::{Group, Refusal, Scene};
use crate::goal::{Expected, GoalSpec, Predicate};
use prehend_agent::language::{
    Destination, Head, NounPhrase, PlaceRelation, Quantity, Step, TableRegion, Toward,
};
use prehend_scene::{Makes, PartEffect, Reason, Relation};
use prehend_sim::scene::Shape;
use prehend_sim::world::ObjectTruth;

/// How far from a named place something may end, and from the end of a shift with a length, metres; the least of a shift without one.
pub(crate) const SAME_PLACE: f64 = 0.05;
pub(crate) const SHIFTED: f64 = 0.04;
const LEAST_SHIFT: f64 = 0.03;
/// Widest thing that fits between the pads, metres.
const GRIP: f64 = 0.082;

/// Steps on their way to a goal.
pub(super) struct Steps<'a> {
    scene: Scene<'a>,
    /// What shall hold in the end, and which objects it is about.
    wanted: Vec<(Vec<usize>, Predicate)>,
    /// Objects held or put so far.
    touched: Vec<usize>,
    /// Where something was put last.
    targets: Vec<usize>,
}

impl<'a> Steps<'a> {
    pub(super) fn new(scene: Scene<'a>) -> Self {
        Self { scene, wanted: Vec::new(), touched: Vec::new(), targets: Vec::new() }
    }

    pub(super) fn ground(mut self, steps: &[Step]) -> Result<GoalSpec, Refusal> {
        for (index, step) in steps.iter().enumerate() {
            match step {
                Step::Pick { objects, .. } if steps.get(index + 1).is_some_and(moves_them) => {
                    // "take the fork and the knife and put them on the plate": one after the other.
                    self.objects(objects)?;
                }
                Step::Pick { objects, .. } => self.pick(objects)?,
                Step::Place { objects, destination, .. } => self.place(objects, destination)?,
                Step::Act { action, objects, .. } => self.act(action, objects)?,
                Step::Swap { objects } => self.swap(objects)?,
                Step::Go { .. } | Step::Home | Step::Look | Step::Stop => {}
                Step::Unsupported { .. } => return Err(vec![Reason::Infeasible, Reason::NotUnderstood]),
            }
        }
        let mut may_move: Vec<String> =
            self.touched.iter().map(|index| self.scene.object(*index).name.clone()).collect();
        may_move.sort();
        may_move.dedup();
        let predicates: Vec<Predicate> = self.wanted.into_iter().map(|(_, predicate)| predicate).collect();
        let expected = if predicates.is_empty() { Expected::Carried } else { Expected::World(predicates) };
        Ok(GoalSpec { expected, may_move })
    }

    fn pick(&mut self, objects: &[NounPhrase]) -> Result<(), Refusal> {
        let groups = self.objects(objects)?;
        let [group] = groups.as_slice() else { return Err(vec![Reason::Infeasible]) };
        if group.need > 1 {
            return Err(vec![Reason::Infeasible]);
        }
        self.want(group, |object| Ok(Predicate::Held { object }))?;
        // One gripper holds one thing: what was held before would have had to be put down.
        let held = self.wanted.iter().filter(|(_, predicate)| is_held(predicate)).count();
        if held > 1 { Err(vec![Reason::Infeasible]) } else { Ok(()) }
    }

    /// What was spoken of before and can be meant: "put the apple in the top drawer and close it" closes the drawer.
    fn spoken_for(&mut self, verb: &str, phrase: &NounPhrase) -> Option<Vec<usize>> {
        let actions = &self.scene.words.lexicon.actions;
        let served = |members: &[usize]| -> Vec<usize> {
            let serves = |index: &&usize| actions.rule(verb, &self.scene.object(**index).class).is_some();
            members.iter().filter(serves).copied().collect()
        };
        let spoken =
            [served(&self.scene.spoken), served(&self.targets)].into_iter().find(|m| !m.is_empty())?;
        match phrase.head {
            Head::It | Head::Them => Some(spoken),
            Head::Noun(_) if phrase.quantity == Quantity::One && phrase.selectors.is_empty() => {
                let mut fitting = self.scene.fitting(phrase).ok().filter(|found| found.len() > 1)?;
                fitting.retain(|index| spoken.contains(index));
                (fitting.len() == 1).then_some(fitting)
            }
            Head::Noun(_) | Head::Anything => None,
        }
    }

    /// Of several things that fit, the only one that is not yet as the action makes it: "close the drawer" means the open one.
    fn not_yet(&mut self, verb: &str, phrase: &NounPhrase) -> Option<Vec<usize>> {
        if phrase.quantity != Quantity::One || !matches!(phrase.head, Head::Noun(_)) {
            return None;
        }
        let mut fitting = self.scene.fitting(phrase).ok().filter(|found| found.len() > 1)?;
        let class = &self.scene.object(*fitting.first()?).class;
        let state = match self.scene.words.lexicon.actions.rule(verb, class)?.makes? {
            Makes::Open => "open",
            Makes::Closed => "closed",
            Makes::On => "on",
            Makes::Off => "off",
        };
        fitting.retain(|index| {
            let name = &self.scene.object(*index).name;
            let mut joints = self.scene.truth.mechanisms.iter().filter(|joint| joint.entity == *name);
            !joints.any(|joint| joint.states.iter().any(|held| held == state))
        });
        (fitting.len() == 1).then_some(fitting)
    }

    /// A part that is pressed and has a name of its own ("the 5 key on the phone"): the only joint of that name, on what the phrase
    /// names when it names something. With what it is about.
    fn pressed_part(&mut self, verb: &str, phrase: &NounPhrase) -> Option<(Vec<usize>, Predicate)> {
        let Head::Noun(noun) = &phrase.head else { return None };
        let rule = self.scene.words.lexicon.actions.rule(verb, noun)?;
        if rule.ways.first()?.effect != PartEffect::Press {
            return None;
        }
        let owners: Vec<usize> = phrase.modifiers.iter().flat_map(|modifier| &modifier.targets).try_fold(
            Vec::new(),
            |mut all, target| {
                all.extend(self.scene.fitting(target).ok()?);
                Some(all)
            },
        )?;
        let on_owner = |object: &str| {
            owners.is_empty() || owners.iter().any(|index| self.scene.object(*index).name == object)
        };
        let named = |joint: &&prehend_sim::world::JointTruth| joint.joint == *noun && on_owner(&joint.object);
        let mut joints = self.scene.truth.mechanisms.iter().enumerate().filter(|(_, joint)| named(joint));
        let ((place, joint), None) = (joints.next()?, joints.next()) else { return None };
        let object = format!("{}/{}", joint.object, joint.joint);
        // It is about that part alone, which is none of the objects.
        let about = vec![self.scene.truth.objects.len() + place];
        Some((about, Predicate::WasInState { object, state: "pressed".to_owned() }))
    }

    /// An action on a part: the state that the table of actions says it leaves.
    fn act(&mut self, verb: &str, objects: &[NounPhrase]) -> Result<(), Refusal> {
        if let [phrase] = objects
            && let Some(pressed) = self.pressed_part(verb, phrase)
        {
            self.wanted.push(pressed);
            return Ok(());
        }
        let mut groups = Vec::new();
        for phrase in objects {
            let meant = self.spoken_for(verb, phrase).or_else(|| self.not_yet(verb, phrase));
            groups.push(match meant {
                Some(members) => Group { need: members.len(), members },
                None => self.scene.resolve(phrase)?,
            });
        }
        self.scene.spoken = groups.iter().flat_map(|group| group.members.clone()).collect();
        for group in &groups {
            let (mut wanted, actions) = (Vec::new(), &self.scene.words.lexicon.actions);
            for index in &group.members {
                let object = self.scene.object(*index);
                let rule = actions.rule(verb, &object.class).ok_or_else(|| vec![Reason::Infeasible])?;
                let joints: Vec<_> = self
                    .scene
                    .truth
                    .mechanisms
                    .iter()
                    .filter(|joint| joint.entity == object.name || joint.object == object.name)
                    .collect();
                let name = object.name.clone();
                let effect = rule.ways.first().map(|way| way.effect);
                wanted.push(match (rule.makes, effect) {
                    (_, Some(PartEffect::TakeOut)) => Predicate::Held { object: name },
                    _ if joints.is_empty() => return Err(vec![Reason::Infeasible, Reason::NoGrasp]),
                    (Some(Makes::Open), _) => Predicate::InState { object: name, state: "open".to_owned() },
                    (Some(Makes::Closed), _) => {
                        Predicate::InState { object: name, state: "closed".to_owned() }
                    }
                    (Some(Makes::On | Makes::Off), _) => {
                        let on = rule.makes == Some(Makes::On);
                        let state = if on { "on" } else { "off" }.to_owned();
                        Predicate::InState { object: name, state }
                    }
                    (None, Some(PartEffect::Turn)) => Predicate::Turned { object: name },
                    (None, _) => Predicate::WasInState { object: name, state: "pressed".to_owned() },
                });
            }
            let mut wanted = wanted.into_iter();
            self.want(group, |_| wanted.next().ok_or_else(|| vec![Reason::NotUnderstood]))?;
        }
        Ok(())
    }

    fn place(&mut self, objects: &[NounPhrase], destination: &Destination) -> Result<(), Refusal> {
        let before = self.scene.spoken.clone();
        let mut groups = self.objects(objects)?;
        if destination.until_full {
            // How many there is room for physics alone knows; one of them at least.
            groups.iter_mut().for_each(|group| group.need = group.need.min(1));
        }
        let now: Vec<usize> = groups.iter().flat_map(|group| group.members.clone()).collect();
        let mut targets = Vec::new();
        for phrase in &destination.targets {
            let group = if matches!(phrase.head, Head::It | Head::Them) {
                // As a place, "it" is where the same thing was put before, else what was spoken of before.
                let members = if now == before { self.targets.clone() } else { before.clone() };
                if members.is_empty() {
                    return Err(vec![Reason::Ambiguous, Reason::NotFound, Reason::NotUnderstood]);
                }
                Group { need: members.len(), members }
            } else {
                self.scene.resolve_target(phrase)?
            };
            targets.push(group);
        }
        // "them" is everything that the step moved.
        self.scene.spoken = now;
        if !targets.is_empty() {
            self.targets = targets.iter().flat_map(|target: &Group| target.members.clone()).collect();
        }
        if destination.relation == PlaceRelation::Stacked {
            return self.stacked(&groups);
        }
        for group in &groups {
            self.place_group(group, destination, &targets)?;
        }
        Ok(())
    }

    /// So far from where it is now; "to the left" without a length is anywhere that way.
    fn shift(
        &mut self,
        group: &Group,
        toward: Toward,
        length: Option<u32>,
        targets: &[Group],
    ) -> Result<(), Refusal> {
        let metres = length.map(|length| f64::from(length) / 1e3);
        let mut wanted = Vec::new();
        for index in &group.members {
            let object = self.scene.object(*index);
            let [x, y, _] = object.position;
            let name = object.name.clone();
            let way = match toward {
                Toward::Side(TableRegion::Left) => [0.0, 1.0],
                Toward::Side(TableRegion::Right) => [0.0, -1.0],
                Toward::Side(TableRegion::Back) => [1.0, 0.0],
                Toward::Side(TableRegion::Front) => [-1.0, 0.0],
                Toward::Side(TableRegion::Center | TableRegion::Edge) => [0.0, 0.0],
                Toward::Target => {
                    let target = targets.iter().flat_map(|target| &target.members).next();
                    let target = target.ok_or_else(|| vec![Reason::NotFound])?;
                    let [to_x, to_y, _] = self.scene.object(*target).position;
                    let norm = (to_x - x).hypot(to_y - y).max(1e-6);
                    [(to_x - x) / norm, (to_y - y) / norm]
                }
            };
            wanted.push(match metres {
                Some(metres) => near(name, [x + metres * way[0], y + metres * way[1]], SHIFTED),
                None => {
                    let range = |at: f64, way: f64| match way {
                        way if way > 0.5 => [at + LEAST_SHIFT, 1.0],
                        way if way < -0.5 => [-1.0, at - LEAST_SHIFT],
                        _ => [-1.0, 1.0],
                    };
                    Predicate::InArea { object: name, x: range(x, way[0]), y: range(y, way[1]) }
                }
            });
        }
        let mut wanted = wanted.into_iter();
        self.want(group, |_| wanted.next().ok_or_else(|| vec![Reason::NotUnderstood]))
    }

    /// Each of two where the other is: in or on what that one is in or on, else at its place.
    fn swap(&mut self, objects: &[NounPhrase]) -> Result<(), Refusal> {
        let groups = self.objects(objects)?;
        let members: Vec<usize> = groups.iter().flat_map(|group| group.members.clone()).collect();
        let [first, second] = members.as_slice() else {
            return Err(vec![Reason::Ambiguous, Reason::NotUnderstood, Reason::Infeasible]);
        };
        for (one, other) in [(*first, *second), (*second, *first)] {
            let was = self.scene.object(other);
            let (place, carrier, container) =
                (was.position, was.on.first().cloned(), was.inside.first().cloned());
            let group = Group { need: 1, members: vec![one] };
            self.want(&group, |object| {
                Ok(match (&container, &carrier) {
                    (Some(target), _) => Predicate::In { object, target: target.clone() },
                    (None, Some(target)) => Predicate::On { object, target: target.clone() },
                    (None, None) => near(object, [place[0], place[1]], SAME_PLACE),
                })
            })?;
        }
        Ok(())
    }

    /// The objects of a step; all of them are what "them" means next.
    fn objects(&mut self, phrases: &[NounPhrase]) -> Result<Vec<Group>, Refusal> {
        let groups =
            phrases.iter().map(|phrase| self.scene.resolve(phrase)).collect::<Result<Vec<_>, _>>()?;
        self.scene.spoken = groups.iter().flat_map(|group| group.members.clone()).collect();
        for index in groups.iter().flat_map(|group| &group.members) {
            let object = self.scene.object(*index);
            if object.fixed || !is_graspable(object) {
                return Err(vec![Reason::Infeasible, Reason::NoGrasp]);
            }
        }
        Ok(groups)
    }

    /// All but one of these are on another of them.
    fn stacked(&mut self, groups: &[Group]) -> Result<(), Refusal> {
        let members: Vec<usize> = groups.iter().flat_map(|group| group.members.clone()).collect();
        let names: Vec<String> = members.iter().map(|index| self.scene.object(*index).name.clone()).collect();
        if names.len() < 2 {
            return Err(vec![Reason::NotFound]);
        }
        let on_another = |object: &String| {
            let others = names.iter().filter(|target| *target != object).cloned();
            let of = others.map(|target| Predicate::On { object: object.clone(), target }).collect();
            Predicate::AtLeast { count: 1, of }
        };
        let of = names.iter().map(on_another).collect();
        self.touched.extend(&members);
        self.wanted.push((members, Predicate::AtLeast { count: names.len() - 1, of }));
        Ok(())
    }

    fn place_group(
        &mut self,
        group: &Group,
        destination: &Destination,
        targets: &[Group],
    ) -> Result<(), Refusal> {
        let relation = match destination.relation {
            PlaceRelation::Known(relation) => relation,
            PlaceRelation::To => {
                let options = |object: &str, target: &str| {
                    let (object, target) = (object.to_owned(), target.to_owned());
                    let of = vec![
                        Predicate::On { object: object.clone(), target: target.clone() },
                        Predicate::NextTo { object, target },
                    ];
                    Ok(Predicate::AtLeast { count: 1, of })
                };
                return self.want_at(group, targets, options);
            }
            PlaceRelation::TableRegion(region) => {
                return self.want(group, |object| Ok(area(object, region)));
            }
            PlaceRelation::Corner(ahead, aside) => {
                return self.want(group, |object| {
                    let of = vec![area(object.clone(), ahead), area(object, aside)];
                    Ok(Predicate::AtLeast { count: 2, of })
                });
            }
            PlaceRelation::Shift(toward, length) => return self.shift(group, toward, length, targets),
            PlaceRelation::PlaceOf => {
                let members: Vec<usize> = targets.iter().flat_map(|target| target.members.clone()).collect();
                let [target] = members.as_slice() else { return Err(vec![Reason::Ambiguous]) };
                let place = self.scene.object(*target).position;
                // What stands there has to go.
                self.touched.push(*target);
                return self.want(group, |object| Ok(near(object, [place[0], place[1]], SAME_PLACE)));
            }
            PlaceRelation::Stacked => return self.stacked(std::slice::from_ref(group)),
            PlaceRelation::Under | PlaceRelation::Above => {
                return Err(vec![Reason::Infeasible, Reason::NotUnderstood]);
            }
            PlaceRelation::Floor => return Err(vec![Reason::Infeasible, Reason::Unsafe]),
        };
        let names = |targets: &[Group], scene: &Scene<'_>| -> Vec<String> {
            let members = targets.iter().flat_map(|target| &target.members);
            members.map(|index| scene.object(*index).name.clone()).collect()
        };
        match relation {
            Relation::Table => self.want(group, |object| Ok(Predicate::OnTable { object })),
            Relation::Away => {
                let targets = names(targets, &self.scene);
                self.want(group, |object| Ok(Predicate::Away { object, targets: targets.clone() }))
            }
            Relation::Between => {
                let targets = names(targets, &self.scene);
                let [first, second] = targets.as_slice() else {
                    return Err(vec![Reason::Ambiguous, Reason::NotUnderstood, Reason::Infeasible]);
                };
                self.want(group, |object| {
                    Ok(Predicate::Between { object, first: first.clone(), second: second.clone() })
                })
            }
            Relation::In => {
                self.check(group, targets, |object, target| {
                    target.shape.hollow().is_some() && enters(object, target)
                })?;
                // A drawer is opened for it.
                let links = targets.iter().flat_map(|target| &target.members).filter(|index| {
                    let name = &self.scene.object(**index).name;
                    self.scene.truth.mechanisms.iter().any(|joint| joint.entity == *name)
                });
                self.touched.extend(links);
                self.want_pair(group, targets, |object, target| Predicate::In { object, target })
            }
            Relation::On => {
                self.check(group, targets, |_, target| carries(target))?;
                self.want_pair(group, targets, |object, target| Predicate::On { object, target })
            }
            Relation::NextTo => {
                self.want_pair(group, targets, |object, target| Predicate::NextTo { object, target })
            }
            Relation::LeftOf => {
                self.want_pair(group, targets, |object, target| Predicate::LeftOf { object, target })
            }
            Relation::RightOf => {
                self.want_pair(group, targets, |object, target| Predicate::RightOf { object, target })
            }
            Relation::InFrontOf => {
                self.want_pair(group, targets, |object, target| Predicate::InFrontOf { object, target })
            }
            Relation::Behind => {
                self.want_pair(group, targets, |object, target| Predicate::Behind { object, target })
            }
        }
    }

    /// Refuses when no pair of an object and a target can do it.
    fn check(
        &self,
        group: &Group,
        targets: &[Group],
        can: impl Fn(&ObjectTruth, &ObjectTruth) -> bool,
    ) -> Result<(), Refusal> {
        let all = targets.iter().flat_map(|target| &target.members);
        let possible = all.clone().any(|target| {
            group
                .members
                .iter()
                .any(|index| index != target && can(self.scene.object(*index), self.scene.object(*target)))
        });
        if possible || all.count() == 0 { Ok(()) } else { Err(vec![Reason::Infeasible, Reason::NoPlace]) }
    }

    fn want_pair(
        &mut self,
        group: &Group,
        targets: &[Group],
        predicate: impl Fn(String, String) -> Predicate,
    ) -> Result<(), Refusal> {
        self.want_at(group, targets, |object, target| Ok(predicate(object.to_owned(), target.to_owned())))
    }

    /// For each object of the group: one of the members of each target.
    fn want_at(
        &mut self,
        group: &Group,
        targets: &[Group],
        predicate: impl Fn(&str, &str) -> Result<Predicate, Refusal>,
    ) -> Result<(), Refusal> {
        if targets.is_empty() {
            return Err(vec![Reason::NotUnderstood]);
        }
        let names: Vec<Vec<String>> = targets
            .iter()
            .map(|target| target.members.iter().map(|index| self.scene.object(*index).name.clone()).collect())
            .collect();
        let itself = targets.iter().any(|target| {
            target.members.len() == 1 && group.members.iter().any(|index| target.members.contains(index))
        });
        if itself {
            return Err(vec![Reason::Infeasible, Reason::NotUnderstood]);
        }
        self.want(group, |object| {
            let mut all = Vec::new();
            for names in &names {
                let others = names.iter().filter(|name| **name != object);
                let mut of = others.map(|name| predicate(&object, name)).collect::<Result<Vec<_>, _>>()?;
                match of.pop() {
                    Some(only) if of.is_empty() => all.push(only),
                    Some(last) => {
                        of.push(last);
                        all.push(Predicate::AtLeast { count: 1, of });
                    }
                    None => return Err(vec![Reason::Infeasible]),
                }
            }
            match all.pop() {
                Some(only) if all.is_empty() => Ok(only),
                Some(last) => {
                    all.push(last);
                    Ok(Predicate::All(all))
                }
                None => Err(vec![Reason::NotUnderstood]),
            }
        })
    }

    /// Adds a predicate for the objects of a group, in place of what was wanted of them before.
    fn want(
        &mut self,
        group: &Group,
        mut predicate: impl FnMut(String) -> Result<Predicate, Refusal>,
    ) -> Result<(), Refusal> {
        self.wanted.retain(|(about, _)| !about.iter().all(|index| group.members.contains(index)));
        self.touched.extend(&group.members);
        let mut of = Vec::new();
        for index in &group.members {
            of.push((vec![*index], predicate(self.scene.object(*index).name.clone())?));
        }
        if group.need >= group.members.len() {
            self.wanted.extend(of);
        } else {
            let of = of.into_iter().map(|(_, predicate)| predicate).collect();
            self.wanted.push((group.members.clone(), Predicate::AtLeast { count: group.need, of }));
        }
        Ok(())
    }
}

/// Whether a step only places what the step before spoke of.
fn moves_them(step: &Step) -> bool {
    let pronoun = |phrase: &NounPhrase| matches!(phrase.head, Head::It | Head::Them);
    matches!(step, Step::Place { objects, .. } if !objects.is_empty() && objects.iter().all(pronoun))
}

fn is_held(predicate: &Predicate) -> bool {
    match predicate {
        Predicate::Held { .. } => true,
        Predicate::AtLeast { of, .. } => of.iter().any(is_held),
        _ => false,
    }
}

/// Whether some pair of pads fits around it: across its narrowest side, or around the wall of something hollow.
fn is_graspable(object: &ObjectTruth) -> bool {
    if object.shape.hollow().is_some() {
        return true;
    }
    let mut sides = object.half_extents.map(|half| 2.0 * half);
    sides.sort_by(f64::total_cmp);
    sides[0] <= GRIP && (sides[1] <= GRIP || sides[0] <= 0.075)
}

/// Whether an object can lie in the hollow of another in some way.
fn enters(object: &ObjectTruth, target: &ObjectTruth) -> bool {
    let Some(hollow) = target.shape.hollow() else { return false };
    let mut sides = object.half_extents;
    sides.sort_by(f64::total_cmp);
    let room = [hollow.half[0].min(hollow.half[1]), hollow.half[0].max(hollow.half[1])];
    sides[0] < room[0] && sides[1] < room[1]
}

/// Whether something can be put on it.
fn carries(target: &ObjectTruth) -> bool {
    !matches!(
        target.shape,
        Shape::Sphere { .. } | Shape::Egg { .. } | Shape::Capsule { .. } | Shape::Bottle { .. }
    )
}

/// About a place.
pub(crate) fn near(object: String, [x, y]: [f64; 2], within: f64) -> Predicate {
    Predicate::InArea { object, x: [x - within, x + within], y: [y - within, y + within] }
}

/// The part of the table that a region word means; generous, since nobody measures it.
pub(crate) fn area(object: String, region: TableRegion) -> Predicate {
    let wide = [-1.0, 1.0];
    match region {
        TableRegion::Left => Predicate::InArea { object, x: wide, y: [0.05, 1.0] },
        TableRegion::Right => Predicate::InArea { object, x: wide, y: [-1.0, -0.05] },
        TableRegion::Front => Predicate::InArea { object, x: [0.0, 0.42], y: wide },
        TableRegion::Back => Predicate::InArea { object, x: [0.44, 1.0], y: wide },
        TableRegion::Center => Predicate::InArea { object, x: [0.28, 0.62], y: [-0.17, 0.17] },
        TableRegion::Edge => Predicate::Moved { object },
    }
}
