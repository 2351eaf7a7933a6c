//! Actions on parts: what they are done to, and what that is when a drawer or door is named.

use super::Action;
use super::describe::{class_of, counted, describe, listed};
use super::furniture::panels_of;
use super::ground::{Grounder, head_word};
use super::panels::will_hang_over;
use super::rows::{is_ajar, seen_state};
use crate::language::{Destination, Head, Lexicon, Modifier, NounPhrase, PlaceRelation, Quantity, Spatial};
use crate::world::Fault;
use prehend_scene::{Makes, Object, ObjectKey, Reason, Relation, Skill, furniture};

/// Pieces of furniture that are looked at from the front before a plan is made, at most.
const FACED: usize = 2;
/// Share of the views that named something from which it may be furniture that others took for a box: a look at its front tells, and
/// costs one motion. One view of seven is not enough.
const MAY_OPEN: f64 = 0.15;

/// Whether a look at the front shows most of an object.
pub(crate) fn faces_front(object: &Object, lexicon: &Lexicon) -> bool {
    opens(&object.class_name, lexicon)
}

/// Whether things of this name are drawers or doors, or have them.
fn opens(noun: &str, lexicon: &Lexicon) -> bool {
    furniture::is_panel(noun) || lexicon.actions.rule("open", noun).is_some()
}

impl Grounder<'_, '_, '_> {
    /// What an action is done to, and by which part. A phrase that names a part of something ("the handle of the drawer",
    /// "the power button") means the thing with that part when no thing of that name is there.
    pub(super) fn ground_acted(
        &mut self,
        action: &str,
        phrases: &[NounPhrase],
        part: Option<&String>,
    ) -> Result<(Vec<ObjectKey>, Option<String>), Fault> {
        if let [np] = phrases
            && let Some(keys) = self.spoken_for(action, np)?
        {
            return Ok((keys, part.cloned()));
        }
        let fault = match self.ground_all(phrases, &[]) {
            Ok(keys) => return Ok((keys, part.cloned())),
            Err(fault) => fault,
        };
        if let ([np], Reason::Ambiguous) = (phrases, fault.reason)
            && let Some(key) = self.not_yet(action, np)?
        {
            return Ok((vec![key], part.cloned()));
        }
        let ([np], None, Reason::NotFound) = (phrases, part, fault.reason) else { return Err(fault) };
        let Head::Noun(noun) = &np.head else { return Err(fault) };
        let Some(kind) = self.knowledge.lexicon.actions.part_kind(noun).map(str::to_owned) else {
            return Err(fault);
        };
        let whole = np.modifiers.iter().find(|modifier| {
            !modifier.negated && matches!(modifier.relation, Spatial::PartOf | Spatial::On | Spatial::At)
        });
        let owners = match whole {
            Some(Modifier { targets, .. }) => self.ground_all(targets, &[])?,
            None => self.owners_of(noun, &kind, np)?,
        };
        match owners.as_slice() {
            [] => Err(fault),
            [one] => Ok((vec![one.clone()], Some(noun.clone()))),
            several if np.quantity == Quantity::One => {
                let map = self.map()?;
                let all: Vec<String> = several.iter().map(|key| describe(key, &map)).collect();
                let message = format!("There is a {noun} on {}. Which one shall I {action}?", listed(&all));
                Err(Fault::new(Reason::Ambiguous, message))
            }
            several => Ok((several.to_vec(), Some(noun.clone()))),
        }
    }

    /// Looks at upright faces, once for a goal, when a phrase names a drawer or door and something is there that may have one: which
    /// of them is the top one, and which is open, shows only when all are seen.
    pub(super) fn face(&mut self, phrases: &[NounPhrase]) -> Result<(), Fault> {
        // Nothing moves before the plan is made but for this look.
        let here = !self.tools.rooms() && !self.tools.moved();
        let Some(view) = self.knowledge.settings.front_view.filter(|_| here) else {
            return Ok(());
        };
        // From above a front hardly shows, and whether it stands open even less. What of a cabinet or a microwave is opened is in
        // its front, too.
        if !phrases.iter().any(|np| self.speaks_of_front(np)) {
            return Ok(());
        }
        for thing in self.openable(phrases)?.into_iter().take(FACED) {
            // What the look before showed is kept: it may have given the thing another key.
            if self.map()?.get(&thing).is_some() {
                self.tools.survey(Skill::Look, view, Some(&thing))?;
                self.queries.clear();
            }
        }
        Ok(())
    }

    /// Whether a phrase names something whose front tells what it is about: drawers and doors, and what has them.
    fn speaks_of_front(&self, np: &NounPhrase) -> bool {
        matches!(&np.head, Head::Noun(noun) if opens(noun, self.knowledge.lexicon))
    }

    /// Notes the furniture whose front must be seen for a question that speaks of drawers or doors: of which none is seen, or not
    /// the one that is asked for.
    pub(super) fn needs_front(&mut self, phrases: &[NounPhrase], is_missing: bool) -> Result<(), Fault> {
        let is_panel = |np: &NounPhrase| matches!(&np.head, Head::Noun(noun) if furniture::is_panel(noun));
        let is_asked = |np: &NounPhrase| is_panel(np) || is_missing && self.speaks_of_front(np);
        if self.tools.rooms() || !phrases.iter().any(is_asked) {
            return Ok(());
        }
        for thing in self.openable(phrases)?.into_iter().take(FACED) {
            let map = self.map()?;
            let is_panel = map.get(&thing).is_some_and(|object| furniture::is_panel(&object.class_name));
            if is_missing || !is_panel && panels_of(&thing, &map).is_empty() {
                self.tools.unclear_too(&thing);
            }
        }
        Ok(())
    }

    /// What may have drawers or a door, each piece of furniture once: those that the phrases name, or all when they name none.
    fn openable(&mut self, phrases: &[NounPhrase]) -> Result<Vec<ObjectKey>, Fault> {
        let map = self.map()?;
        let table = &self.knowledge.lexicon.actions;
        let mut wholes: Vec<&Object> = Vec::new();
        let may_open =
            |object: &&Object| object.names(MAY_OPEN).any(|name| table.rule("open", name).is_some());
        for object in map.objects.iter().filter(may_open) {
            let panel = Some(object).filter(|object| furniture::is_panel(&object.class_name));
            let whole = panel.and_then(|panel| furniture::whole_of(panel, &map)).unwrap_or(object);
            if wholes.iter().all(|other| other.key != whole.key) {
                wholes.push(whole);
            }
        }
        let nouns = |np: &NounPhrase| {
            let of = np.modifiers.iter().flat_map(|modifier| &modifier.targets).cloned();
            let all: Vec<NounPhrase> = of.chain([np.clone()]).collect();
            all.into_iter().filter_map(|np| if let Head::Noun(noun) = np.head { Some(noun) } else { None })
        };
        let named: Vec<String> = phrases.iter().flat_map(nouns).collect();
        let is_named = |object: &&&Object| object.names(MAY_OPEN).any(|name| named.iter().any(|n| n == name));
        let of_name: Vec<ObjectKey> = wholes.iter().filter(is_named).map(|o| o.key.clone()).collect();
        Ok(if of_name.is_empty() { wholes.iter().map(|o| o.key.clone()).collect() } else { of_name })
    }

    /// What was spoken of before, when a phrase can mean it and the action can be done to it: in "put the apple in the top drawer and
    /// close it" the drawer, and the same drawer in "... and close the drawer".
    fn spoken_for(&mut self, action: &str, np: &NounPhrase) -> Result<Option<Vec<ObjectKey>>, Fault> {
        let map = self.map()?;
        let table = &self.knowledge.lexicon.actions;
        let served = |keys: &[ObjectKey]| -> Vec<ObjectKey> {
            let serves =
                |key: &&ObjectKey| map.get(key).is_some_and(|o| table.rule(action, class_of(o)).is_some());
            keys.iter().filter(serves).cloned().collect()
        };
        let groups = [served(&self.objects), served(&self.targets)];
        let Some(spoken) = groups.into_iter().find(|keys| !keys.is_empty()) else { return Ok(None) };
        match np.head {
            Head::It | Head::Them => Ok(Some(spoken)),
            Head::Noun(_) if np.quantity == Quantity::One && np.selectors.is_empty() => {
                let mut fitting = self.loose(np)?;
                if fitting.len() < 2 {
                    return Ok(None);
                }
                fitting.retain(|key| spoken.contains(key));
                Ok((fitting.len() == 1).then_some(fitting))
            }
            Head::Noun(_) | Head::Anything => Ok(None),
        }
    }

    /// Of several things that a phrase for one fits, the only one that is not yet as the action makes it: who says "close the
    /// drawer" means the one that is open.
    fn not_yet(&mut self, action: &str, np: &NounPhrase) -> Result<Option<ObjectKey>, Fault> {
        if np.quantity != Quantity::One || !matches!(np.head, Head::Noun(_)) {
            return Ok(None);
        }
        let fitting = self.loose(np)?;
        let map = self.map()?;
        let table = &self.knowledge.lexicon.actions;
        let mut left = Vec::new();
        for key in fitting {
            let made =
                map.get(&key).and_then(|o| table.rule(action, class_of(o))).and_then(|rule| rule.makes);
            let Some(makes) = made else { return Ok(None) };
            if self.state_of(&key)?.is_some_and(|state| state != makes) {
                left.push(key);
            }
        }
        Ok(if left.len() == 1 { left.pop() } else { None })
    }

    /// Keeps what singles out a drawer or door among its neighbours: from afar some of them may not have been seen, so that which is
    /// the top one is decided in front of them.
    pub(super) fn keep_row(&mut self, np: &NounPhrase, key: &ObjectKey) {
        let is_panel = matches!(&np.head, Head::Noun(noun) if furniture::is_panel(noun));
        if is_panel && !np.selectors.is_empty() {
            // What it belongs to is what is stood before.
            let phrase = NounPhrase { modifiers: Vec::new(), except: Vec::new(), ..np.clone() };
            self.tools.keep_phrase(key, phrase);
        }
    }

    /// Adds the action, or that it is so already.
    ///
    /// Errors: infeasible when nothing is known that does it to such a thing, or the hand is full.
    pub(super) fn act(
        &mut self,
        key: &ObjectKey,
        verb: &str,
        part: Option<&String>,
        held: &mut Option<ObjectKey>,
        actions: &mut Vec<Action>,
    ) -> Result<(), Fault> {
        let key = &self.moving_part(verb, key)?;
        let map = self.map()?;
        let class = map.get(key).map_or("object", class_of).to_owned();
        let table = &self.knowledge.lexicon.actions;
        // A part that was named may have a rule of its own ("press the power button" of the lamp).
        let rule = table.rule(verb, &class).or_else(|| table.rule(verb, part?));
        let Some(rule) = rule else {
            let kinds: Vec<String> = table
                .of_verb(verb)
                .flat_map(|rule| rule.on.iter().take(3))
                .map(|kind| format!("a {kind}"))
                .collect();
            let message = format!(
                "I do not know how to {verb} {}. I can {verb} {}.",
                describe(key, &map),
                listed(&kinds)
            );
            return Err(Fault::new(Reason::Infeasible, message));
        };
        let makes = rule.makes;
        self.put_aside_for(key, held, actions);
        if let Some(holding) = held.as_ref() {
            let message = format!(
                "I hold {} and need a free hand to {verb} {}. Tell me first where to put it.",
                describe(holding, &map),
                describe(key, &map)
            );
            return Err(Fault::new(Reason::Infeasible, message));
        }
        if let Some(state) = makes
            && self.is_surely_made(key, state)?
        {
            let word = if state == Makes::Open { "open" } else { "closed" };
            actions.push(Action::Already(format!("{} is {word} already", describe(key, &map))));
            return Ok(());
        }
        if makes == Some(Makes::Open) {
            self.clear_above(key, actions)?;
        }
        if let Some(state) = makes {
            self.states.push((key.clone(), state));
        }
        actions.push(Action::Act { object: key.clone(), action: verb.to_owned(), part: part.cloned() });
        Ok(())
    }

    /// Closes what stands open over a thing or its place, and opens what it shall be put into when that is closed or ajar, before the
    /// thing is in the hand.
    pub(super) fn make_way(
        &mut self,
        object: &ObjectKey,
        relation: Relation,
        targets: &[ObjectKey],
        held: &Option<ObjectKey>,
        actions: &mut Vec<Action>,
    ) -> Result<(), Fault> {
        let is_picked =
            |action: &mut Action| matches!(action, Action::Pick { object: picked, .. } if picked == object);
        // "Grab it and put it in the drawer": the hand is free until then.
        let picked = actions.pop_if(is_picked);
        if held.is_none() {
            self.clear_over(object, actions)?;
        }
        if held.is_none() || picked.is_some() {
            for target in targets {
                self.clear_over(target, actions)?;
            }
        }
        let target = match (targets, relation) {
            ([target], Relation::In) if self.is_to_be_opened(target)? => target,
            _ => {
                actions.extend(picked);
                return Ok(());
            }
        };
        let mut empty = None;
        // It is grasped after the opening instead.
        let is_here = picked.is_some() || held.is_none();
        // The hand is full, or the open drawer would hang over it.
        if !is_here || will_hang_over(target, object, &*self.map()?) {
            actions.push(Action::put_on_table(object.clone(), None));
        }
        self.act(target, "open", None, &mut empty, actions)
    }

    /// Whether what something shall be put into is closed, or ajar.
    fn is_to_be_opened(&mut self, target: &ObjectKey) -> Result<bool, Fault> {
        Ok(match self.surely(target)? {
            Some(_) => !self.is_surely_made(target, Makes::Open)?,
            // Nobody can tell from afar: it is gone to, and opened when it is closed.
            None => self.tools.rooms() && self.state_of(target)?.is_some(),
        })
    }

    /// As [`state_of`](Self::state_of), when it is beyond doubt: from across a room a gap of a few centimetres does not show, so that
    /// there only what earlier steps did counts.
    pub(super) fn surely(&mut self, key: &ObjectKey) -> Result<Option<Makes>, Fault> {
        match self.states.iter().rev().find(|(other, _)| other == key) {
            Some((_, state)) => Ok(Some(*state)),
            None if self.tools.rooms() => Ok(None),
            None => self.state_of(key),
        }
    }

    /// Whether it is beyond doubt that something is as an action makes it; what was left ajar is open, and yet can be opened.
    fn is_surely_made(&mut self, key: &ObjectKey, makes: Makes) -> Result<bool, Fault> {
        if self.surely(key)? != Some(makes) {
            return Ok(false);
        }
        let map = self.map()?;
        let panel = match panels_of(key, &map).as_slice() {
            [panel] => panel.clone(),
            _ => key.clone(),
        };
        let is_changed = self.states.iter().any(|(other, _)| other == key || *other == panel);
        Ok(makes != Makes::Open || is_changed || !is_ajar(&panel, &map))
    }

    /// Whether a drawer or door is open or closed, after the steps so far; `None` for what neither is, or what cannot be told.
    pub(super) fn state_of(&mut self, key: &ObjectKey) -> Result<Option<Makes>, Fault> {
        if let Some((_, state)) = self.states.iter().rev().find(|(other, _)| other == key) {
            return Ok(Some(*state));
        }
        let map = self.map()?;
        // A cabinet with one door is as open as that.
        if let [panel] = panels_of(key, &map).as_slice() {
            return self.state_of(panel);
        }
        let class = map.get(key).map_or("", class_of);
        // A bowl beside a cabinet is neither open nor closed.
        if self.knowledge.lexicon.actions.rule("open", class).is_none() {
            return Ok(None);
        }
        Ok(seen_state(key, &map))
    }

    /// The state that a word is for: "shut" is closed.
    fn named_state(&self, word: &str) -> Option<Makes> {
        let states = [("open_state", Makes::Open), ("closed_state", Makes::Closed)];
        let named = states.into_iter().find(|(key, _)| self.knowledge.lexicon.list(key).has_word(word));
        named.map(|(_, state)| state)
    }

    /// The state that a phrase wants ("the open drawer"), for kinds of things that can be opened.
    pub(super) fn wanted_state(&self, np: &NounPhrase) -> Option<(Makes, bool)> {
        let Head::Noun(noun) = &np.head else { return None };
        self.knowledge.lexicon.actions.rule("open", noun)?;
        let wanted = np.attributes.iter().find_map(|attribute| self.named_state(&attribute.word));
        wanted.map(|state| (state, true))
    }

    /// Objects of a phrase that are in the state it wants; not empty.
    pub(super) fn in_state(&mut self, np: &NounPhrase) -> Result<Vec<ObjectKey>, Fault> {
        let Some((state, _)) = self.wanted_state(np) else { return Ok(Vec::new()) };
        let mut plain = np.clone();
        plain.attributes.retain(|attribute| self.named_state(&attribute.word).is_none());
        plain.quantity = Quantity::All;
        plain.modifiers.clear();
        plain.selectors.clear();
        plain.except.clear();
        plain.excluded_attributes.clear();
        let all = self.candidates(&plain)?;
        let mut kept = Vec::new();
        for key in &all {
            match self.state_of(key)? {
                Some(found) if found == state => kept.push(key.clone()),
                Some(_) => {}
                None => self.tools.unclear_too(key),
            }
        }
        if kept.is_empty() {
            let word = if state == Makes::Open { "open" } else { "closed" };
            let message =
                format!("I see {}, but none that is {word}.", counted(all.len(), &head_word(&plain)));
            return Err(Fault::new(Reason::NotFound, message));
        }
        Ok(kept)
    }

    /// "On (the top of) the drawer", when no drawer is told apart: people call the piece of furniture so, whose top it is. `None`
    /// when the phrase means something else, or the drawers are of several.
    pub(super) fn topped(
        &mut self,
        destination: &Destination,
        np: &NounPhrase,
    ) -> Result<Option<ObjectKey>, Fault> {
        let on = destination.relation == PlaceRelation::Known(Relation::On);
        let is_panel = matches!(&np.head, Head::Noun(noun) if furniture::is_panel(noun));
        if !on
            || !is_panel
            || np.quantity != Quantity::One
            || !np.selectors.is_empty()
            || !np.attributes.is_empty()
        {
            return Ok(None);
        }
        let drawers = self.loose(np)?;
        let map = self.map()?;
        let mut wholes: Vec<&ObjectKey> = drawers
            .iter()
            .filter_map(|key| furniture::whole_of(map.get(key)?, &map))
            .map(|whole| &whole.key)
            .collect();
        wholes.dedup();
        let [one] = wholes.as_slice() else { return Ok(None) };
        self.tools.add_to_inventory(one);
        Ok(Some((*one).clone()))
    }

    /// "On (top of) it", said of a drawer or door: what it belongs to has the top. Everything else is itself.
    pub(super) fn carriers(&mut self, keys: Vec<ObjectKey>) -> Result<Vec<ObjectKey>, Fault> {
        let map = self.map()?;
        let mut carriers: Vec<ObjectKey> = Vec::new();
        for key in keys {
            let panel = map.get(&key).filter(|object| furniture::is_panel(&object.class_name));
            let whole =
                panel.and_then(|panel| furniture::whole_of(panel, &map)).map(|whole| whole.key.clone());
            if let Some(whole) = &whole {
                self.tools.add_to_inventory(whole);
            }
            let carrier = whole.unwrap_or(key);
            if !carriers.contains(&carrier) {
                carriers.push(carrier);
            }
        }
        Ok(carriers)
    }

    /// Whether one object is a part of another by geometry.
    pub(super) fn is_part(&mut self, key: &ObjectKey, whole: &ObjectKey) -> Result<bool, Fault> {
        let map = self.map()?;
        Ok(match (map.get(key), map.get(whole)) {
            (Some(part), Some(whole)) => furniture::is_part_of(part, whole),
            _ => false,
        })
    }
}
