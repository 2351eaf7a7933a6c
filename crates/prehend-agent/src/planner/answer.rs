//! Questions, answered from the map without motion.

use super::describe::{
    capital_describe, class_of, color_of, counted, describe, inventory_words, listed, noun, place_words,
    with_article,
};
use super::ground::{Grounder, head_word};
use crate::language::{Condition, Dimension, Head, NounPhrase, Quantity, Question};
use crate::tools::Measure;
use crate::world::{Fault, Remembered};
use prehend_scene::{Makes, ObjectKey, Reason};

impl Grounder<'_, '_, '_> {
    /// The answer to a question.
    ///
    /// Errors: a refusal when the question presumes something that is not so ("what colour is the mug?" without a mug).
    pub(super) fn answer(&mut self, question: &Question) -> Result<String, Fault> {
        let answer = self.answer_as_seen(question);
        let is_missing = answer.as_ref().is_err_and(|fault| fault.reason == Reason::NotFound);
        self.needs_front(&phrases_of(question), is_missing)?;
        answer
    }

    /// Whether a condition holds, and what was seen of it in words.
    ///
    /// Errors: a refusal when what it speaks of is not there, or what is seen does not tell.
    pub(super) fn decide(&mut self, condition: &Condition) -> Result<(bool, String), Fault> {
        let told = self.answer(&condition.question)?;
        // Answers to questions of yes or no begin so; others say what is not seen well enough.
        let holds = match told.split([' ', ',', ':']).next() {
            Some("Yes") => true,
            Some("No") => false,
            _ => {
                let message = format!("I cannot tell whether that is so: {told}");
                return Err(Fault::new(Reason::NotFound, message));
            }
        };
        Ok((holds != condition.negated, told))
    }

    /// The answer from what is seen so far.
    fn answer_as_seen(&mut self, question: &Question) -> Result<String, Fault> {
        match question {
            Question::Where(phrases) => {
                let mut sentences = Vec::new();
                for np in phrases {
                    sentences.push(self.where_is(np)?);
                }
                Ok(sentences.join(" "))
            }
            Question::Count(np) => {
                let keys = self.loose(&unbound(np))?;
                let noun = head_word(np);
                let verb = if keys.len() == 1 { "is" } else { "are" };
                Ok(format!("There {verb} {}{}.", counted(keys.len(), &noun), self.condition(np)))
            }
            Question::Exists(np) => {
                let keys = self.loose(&unbound(np))?;
                let map = self.map()?;
                let wanted = head_word(np);
                Ok(match keys.as_slice() {
                    [] => format!("No, I see no {wanted}{}.", self.condition(np)),
                    [key] => {
                        let place = map.get(key).map_or(String::new(), |object| place_words(object, &map));
                        format!("Yes: {} {place}.", describe(key, &map))
                    }
                    keys => format!("Yes, {}.", counted(keys.len(), &wanted)),
                })
            }
            Question::Which(np) => self.which(np),
            Question::Color(np) => {
                let key = self.one(np)?;
                let map = self.map()?;
                let color = map.get(&key).and_then(color_of).unwrap_or("of no single colour").to_owned();
                let name = map.get(&key).map_or("object", class_of).to_owned();
                Ok(format!("The {name} is {color}."))
            }
            Question::Measure(dimension, np) => {
                let key = self.one(np)?;
                let value = self.sizes(*dimension, std::slice::from_ref(&key))?.first().copied().unwrap_or(0.0);
                let map = self.map()?;
                let name = capital_describe(&key, &map);
                let size = map.get(&key).map_or([0.0; 3], |object| object.bounds.size.into());
                Ok(match dimension {
                    Dimension::Size => format!(
                        "{name} is about {:.0} x {:.0} mm and {:.0} mm high.",
                        size[0] * 1e3,
                        size[1] * 1e3,
                        size[2] * 1e3
                    ),
                    Dimension::Height => format!("{name} is about {:.0} mm high.", value * 1e3),
                    Dimension::Length => format!("{name} is about {:.0} mm long.", value * 1e3),
                    Dimension::Thickness => format!("{name} is about {:.0} mm thick.", value * 1e3),
                })
            }
            Question::Compare { dimension, more, options } => self.compare(*dimension, *more, options),
            Question::Is { subject, description } => self.is(subject, description),
            Question::Distance(a, b) => self.distance(a, b),
            Question::Holding => {
                let map = self.map()?;
                Ok(self.held().map_or("I hold nothing.".to_owned(), |key| format!("I hold {}.", describe(&key, &map))))
            }
            Question::Abilities => Ok("I can pick things up, put them in, on, next to, left or right of, in front of, behind or between \
                 other things, drop them, open and close drawers and doors, press buttons, take several steps, and answer where things are, how many there are, what is in \
                 something, and which is larger."
                .to_owned()),
        }
    }

    fn where_is(&mut self, np: &NounPhrase) -> Result<String, Fault> {
        if np.head == Head::Anything && np.modifiers.is_empty() && np.attributes.is_empty() {
            return self.which(np);
        }
        let keys = match self.candidates(&unbound(np)) {
            // The room was not seen in this session, or not all of it.
            Err(fault) if fault.reason == Reason::Infeasible || self.tools.not_seen_yet(&fault) => {
                let seen = self.tools.remembered(&np.text).into_iter().next().ok_or(fault)?;
                let holder = seen.on.rsplit(' ').next().unwrap_or_default();
                let holds = self.knowledge.lexicon.list("containers").has_word(holder);
                return Ok(recalled(&seen, holds));
            }
            found => found?,
        };
        let map = self.map()?;
        let held = self.held();
        let places: Vec<String> = keys
            .iter()
            .filter_map(|key| map.get(key))
            .map(|object| {
                if held.as_ref() == Some(&object.key) {
                    "in my gripper".to_owned()
                } else {
                    place_words(object, &map)
                }
            })
            .collect();
        Ok(match keys.as_slice() {
            [key] => format!("{} is {}.", capital_describe(key, &map), places.join("")),
            keys => format!("There are {}: {}.", counted(keys.len(), &head_word(np)), listed(&places)),
        })
    }

    fn which(&mut self, np: &NounPhrase) -> Result<String, Fault> {
        let keys = match self.candidates(np) {
            Ok(keys) => keys,
            Err(fault) if fault.reason == Reason::NotFound && self.only_empty(np)? => Vec::new(),
            Err(fault) => return Err(fault),
        };
        let map = self.map()?;
        let condition = self.condition(np);
        let plain = np.modifiers.is_empty() && np.selectors.is_empty() && np.attributes.is_empty();
        Ok(match keys.as_slice() {
            [] if plain => "I see nothing.".to_owned(),
            [] => format!("Nothing{condition}."),
            [key] if !plain => {
                let noun = map.get(key).map_or("object".to_owned(), noun);
                format!("It is {}{condition}.", with_article(&noun))
            }
            keys if plain => format!("I see {}.", inventory_words(keys, &map)),
            keys => format!("{}{condition}.", super::describe::capital(&inventory_words(keys, &map))),
        })
    }

    /// Whether nothing fits because nothing stands there, not because what the phrase goes by is missing.
    fn only_empty(&mut self, np: &NounPhrase) -> Result<bool, Fault> {
        for modifier in &np.modifiers {
            for target in &modifier.targets {
                if self.loose(target)?.is_empty() {
                    return Ok(false);
                }
            }
        }
        Ok(np.selectors.is_empty())
    }

    fn compare(&mut self, dimension: Dimension, more: bool, options: &[NounPhrase]) -> Result<String, Fault> {
        let mut keys: Vec<ObjectKey> = Vec::new();
        for option in options {
            keys.push(self.one(option)?);
        }
        let sizes = self.sizes(dimension, &keys)?;
        let mut order: Vec<(f64, &ObjectKey)> = sizes.into_iter().zip(&keys).collect();
        order.sort_by(|a, b| if more { b.0.total_cmp(&a.0) } else { a.0.total_cmp(&b.0) });
        let map = self.map()?;
        let word = match (dimension, more) {
            (Dimension::Size, true) => "larger",
            (Dimension::Size, false) => "smaller",
            (Dimension::Height, true) => "taller",
            (Dimension::Height, false) => "shorter",
            (Dimension::Length, true) => "longer",
            (Dimension::Length, false) => "narrower",
            (Dimension::Thickness, true) => "thicker",
            (Dimension::Thickness, false) => "thinner",
        };
        match order.as_slice() {
            [(first, key), (second, other), ..] => {
                let ratio = first.max(*second) / first.min(*second).max(1e-6);
                if ratio < 1.03 {
                    return Ok(format!(
                        "{} and {} are nearly the same.",
                        capital_describe(key, &map),
                        describe(other, &map)
                    ));
                }
                Ok(format!(
                    "{} is {word} ({:.0} mm against {:.0} mm).",
                    capital_describe(key, &map),
                    first * 1e3,
                    second * 1e3
                ))
            }
            _ => Err(Fault::new(Reason::NotUnderstood, "What shall I compare it with?")),
        }
    }

    fn is(&mut self, subject: &NounPhrase, description: &NounPhrase) -> Result<String, Fault> {
        let keys = self.candidates(&unbound(subject))?;
        let single = subject.quantity == Quantity::One && keys.len() > 1;
        // "is the red mug in the bowl?" among several mugs: whether one of them is.
        let mut full = description.clone();
        full.head = subject.head.clone();
        full.attributes.extend(subject.attributes.iter().cloned());
        full.modifiers.splice(0..0, subject.modifiers.iter().cloned());
        let fitting: Vec<ObjectKey> =
            self.loose(&full)?.into_iter().filter(|key| keys.contains(key)).collect();
        if self.wanted_state(&full).is_some() {
            // How its neighbours stand matters only to who asks for them.
            let mut unclear = Vec::new();
            for key in &keys {
                if self.state_of(key)?.is_none() {
                    unclear.push(key.clone());
                }
            }
            self.tools.unclear(unclear);
        }
        let all = fitting.len() == keys.len();
        let map = self.map()?;
        let wanted = self.predicate_words(description);
        let name = if keys.len() == 1 {
            capital_describe(&keys[0], &map)
        } else {
            format!("{} of {}", fitting.len(), keys.len())
        };
        if single || keys.len() > 1 && !all {
            return Ok(format!(
                "{}: {} of {} {} {wanted}.",
                if fitting.is_empty() { "No" } else { "Yes" },
                fitting.len(),
                keys.len(),
                if keys.len() == 1 { "is" } else { "are" }
            ));
        }
        if all && !keys.is_empty() {
            return Ok(format!("Yes, {} is {wanted}.", lower_first(&name)));
        }
        if let Some((wanted, _)) = self.wanted_state(&full) {
            let other = if wanted == Makes::Open { "closed" } else { "open" };
            let told = self.state_of(&keys[0])?.is_some();
            let words =
                if told { format!("is {other}") } else { "is not seen well enough to tell".to_owned() };
            return Ok(format!("{}{} {words}.", if told { "No, " } else { "" }, lower_first(&name)));
        }
        let place = map.get(&keys[0]).map_or(String::new(), |object| place_words(object, &map));
        Ok(format!("No, {} is {place}.", lower_first(&name)))
    }

    fn distance(&mut self, a: &NounPhrase, b: &NounPhrase) -> Result<String, Fault> {
        let pair = if a == b { self.ground(a, &[])? } else { vec![self.one(a)?, self.one(b)?] };
        let [first, second] = pair.as_slice() else {
            return Err(Fault::new(Reason::NotUnderstood, "A distance needs two things."));
        };
        let gap = self.tools.number(Measure::GapBetween, &pair)?;
        let centres = self.tools.number(Measure::DistanceBetween, &pair)?;
        let map = self.map()?;
        Ok(format!(
            "{} and {} are {centres:.2} m apart ({gap:.2} m of free space).",
            capital_describe(first, &map),
            describe(second, &map)
        ))
    }

    fn one(&mut self, np: &NounPhrase) -> Result<ObjectKey, Fault> {
        let mut np = np.clone();
        np.quantity = Quantity::One;
        let keys = self.ground(&np, &[])?;
        keys.into_iter()
            .next()
            .ok_or_else(|| Fault::new(Reason::NotFound, format!("I see no {}.", head_word(&np))))
    }

    /// " in the bowl": the modifiers of a phrase in words.
    fn condition(&mut self, np: &NounPhrase) -> String {
        let words: Vec<String> = np
            .modifiers
            .iter()
            .map(|modifier| {
                let targets: Vec<String> = modifier.targets.iter().map(|target| self.words(target)).collect();
                let not = if modifier.negated { " not" } else { "" };
                match targets.is_empty() {
                    true => format!("{not} {}", modifier.relation.words()),
                    false => format!("{not} {} {}", modifier.relation.words(), listed(&targets)),
                }
            })
            .collect();
        words.join(" and")
    }

    fn predicate_words(&mut self, description: &NounPhrase) -> String {
        let mut words: Vec<String> =
            description.attributes.iter().map(|attribute| attribute.word.clone()).collect();
        words.extend(
            description.excluded_attributes.iter().map(|attribute| format!("not {}", attribute.word)),
        );
        let condition = self.condition(description);
        if !condition.trim().is_empty() {
            words.push(condition.trim().to_owned());
        }
        if !description.selectors.is_empty() {
            words.push("so".to_owned());
        }
        listed(&words)
    }
}

/// What a question speaks of, with what that stands in or at.
fn phrases_of(question: &Question) -> Vec<NounPhrase> {
    let phrases: Vec<&NounPhrase> = match question {
        Question::Where(phrases) | Question::Compare { options: phrases, .. } => phrases.iter().collect(),
        Question::Count(np)
        | Question::Exists(np)
        | Question::Which(np)
        | Question::Color(np)
        | Question::Measure(_, np)
        | Question::Is { subject: np, .. } => vec![np],
        Question::Distance(a, b) => vec![a, b],
        Question::Holding | Question::Abilities => Vec::new(),
    };
    let modifiers = phrases.iter().flat_map(|np| &np.modifiers);
    let targets: Vec<NounPhrase> = modifiers.flat_map(|modifier| modifier.targets.clone()).collect();
    phrases.into_iter().cloned().chain(targets).collect()
}

/// The same phrase, however many fit.
fn unbound(np: &NounPhrase) -> NounPhrase {
    NounPhrase { quantity: if np.selectors.is_empty() { Quantity::All } else { np.quantity }, ..np.clone() }
}

fn lower_first(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or(String::new(), |first| first.to_lowercase().chain(chars).collect())
}

/// From this belief on a thing is said to be where it was seen, without a doubt.
const SURE: f64 = 0.5;

/// Where something was before; `holds` says that what it was on is a container.
fn recalled(seen: &Remembered, holds: bool) -> String {
    let Remembered { words, on, room, center: [x, y, _], ago, still_there } = seen;
    let place = match (on.as_str(), holds) {
        ("", _) => format!("at [{x:.1}, {y:.1}]"),
        (on, true) => format!("in {}", with_article(on)),
        (on, false) => format!("on {}", with_article(on)),
    };
    let room = if room.is_empty() { String::new() } else { format!(" in the {room}") };
    let doubt = if *still_there < SURE { "; it may be gone" } else { "" };
    format!("I have not looked yet; {} {} was {place}{room}{doubt}.", when(*ago), with_article(words))
}

/// A time that is so many seconds past, as one says it.
fn when(ago: f64) -> String {
    let counted = |count: f64, unit: &str| {
        let count = count.round().max(1.0);
        format!("{count:.0} {unit}{} ago", if count > 1.0 { "s" } else { "" })
    };
    match ago {
        ..90.0 => "a moment ago".to_owned(),
        ..5_400.0 => counted(ago / 60.0, "minute"),
        ..129_600.0 => counted(ago / 3_600.0, "hour"),
        _ => counted(ago / 86_400.0, "day"),
    }
}
