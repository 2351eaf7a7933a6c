//! Answers to questions about a run, from its explanation alone.

mod taken;

use super::question::{self, ASKABLE, Asked};
use super::{Came, Decision, Explanation, Kind, Words, seen, text};
use prehend_perception::lexicon::Lexicon;
use prehend_perception::query::Query;
use serde::Serialize;

/// An answer.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Answer {
    /// The question as it was asked.
    pub question: String,
    /// What it was taken to ask; `None` when it cannot be answered.
    pub asked: Option<Asked>,
    /// The answer, a sentence each.
    pub said: Vec<String>,
    /// Keys of the things it is about.
    pub objects: Vec<String>,
    /// The decisions it rests on: indices into the explanation's.
    pub decisions: Vec<usize>,
}

/// Answers a question about an explained run.
pub fn answer(explained: &Explanation, question: &str, words: &Words) -> Answer {
    let asked = question::read(question, words);
    let mut teller = Teller {
        explained,
        names: &words.names,
        said: Vec::new(),
        objects: Vec::new(),
        decisions: Vec::new(),
    };
    match &asked {
        Some(asked) => teller.tell(asked),
        None => teller.say(format!("I cannot answer that from a trace. You can ask: {}", ASKABLE.join(" "))),
    }
    let Teller { said, objects, decisions, .. } = teller;
    Answer { question: question.to_owned(), asked, said, objects, decisions }
}

impl Answer {
    /// Says that it is about a goal before the last one, when it is.
    pub(super) fn of_earlier(&mut self, goal: Option<String>) {
        if let Some(goal) = goal {
            self.said.insert(
                0,
                format!("Nothing was chosen for what was asked last; when I was told \"{goal}\":"),
            );
        }
    }
}

struct Teller<'a> {
    explained: &'a Explanation,
    names: &'a Lexicon,
    said: Vec<String>,
    objects: Vec<String>,
    decisions: Vec<usize>,
}

impl<'a> Teller<'a> {
    fn say(&mut self, sentence: impl Into<String>) {
        let sentence = sentence.into();
        if !self.said.contains(&sentence) {
            self.said.push(sentence);
        }
    }

    fn tell(&mut self, asked: &Asked) {
        match asked {
            Asked::Why(phrase) => self.each(phrase, Self::why),
            Asked::WhyNot(phrase) => self.others(phrase),
            Asked::Instead { of, not } => {
                self.each(of, Self::why);
                self.others(not);
            }
            Asked::About(phrase) => self.each(phrase, |teller, key| {
                teller.describe(key);
                if teller.explained.acted_on(key) { teller.why(key) } else { teller.why_not(key) }
            }),
            Asked::Stop => self.stop(),
            Asked::Refuse => self.refusals(),
            Asked::Otherwise => self.otherwise(),
            Asked::Sure(Some(phrase)) if !self.meant(phrase).is_empty() => self.each(phrase, Self::sure_of),
            // "How sure was the grasp?"
            Asked::Sure(_) => self.sure(),
            Asked::Seen => self.seen(),
            Asked::Understood => self.understood(),
            Asked::Did => self.did(),
            Asked::Time => self.time(),
        }
    }

    fn decided(&self, fits: impl Fn(&Decision) -> bool) -> Vec<(usize, &'a Decision)> {
        self.explained.decisions.iter().enumerate().filter(|(_, decision)| fits(decision)).collect()
    }

    fn rest_on(&mut self, index: usize) {
        if !self.decisions.contains(&index) {
            self.decisions.push(index);
        }
    }

    /// Tells of each thing that a description means.
    fn each(&mut self, phrase: &str, tell: impl Fn(&mut Self, &str)) {
        if self.explained.seen.is_empty() {
            self.say(format!("I had not looked, so I had not seen \"{phrase}\"."));
            return self.stop();
        }
        let keys = self.meant(phrase);
        if keys.is_empty() {
            self.say(format!("Nothing that I saw is \"{phrase}\"."));
            return self.seen();
        }
        for key in &keys {
            tell(self, key);
        }
        self.objects.extend(keys);
    }

    /// Tells why things were not taken; of several that are meant, of those that were not.
    fn others(&mut self, phrase: &str) {
        let meant = self.meant(phrase);
        let is_mixed = meant.iter().any(|key| !self.explained.acted_on(key));
        self.each(phrase, |teller, key| {
            if !(is_mixed && teller.explained.acted_on(key)) {
                teller.why_not(key);
            }
        });
    }

    /// The things that a description means; "the blue one" is of the kind that the goal speaks of, where there is such a one.
    fn meant(&self, phrase: &str) -> Vec<String> {
        let things = &self.explained.seen;
        if !Query::parse(phrase, self.names).is_any() {
            return seen::meant(things, phrase, self.names);
        }
        let mut keys = Vec::new();
        for (_, choice) in self.decided(|decision| decision.kind == Kind::Choice) {
            let alike = choice.rejected.iter().filter(|one| {
                let contrasts = super::reason::contrasts(&one.reason);
                !contrasts.is_empty() && contrasts.iter().all(|(is, _)| !self.names.measured(is).is_empty())
            });
            keys.extend(choice.objects.iter().cloned().chain(alike.map(|one| one.key.clone())));
        }
        let kin: Vec<_> = things.iter().filter(|thing| keys.contains(&thing.key)).cloned().collect();
        let meant = seen::meant(&kin, phrase, self.names);
        if meant.is_empty() { seen::meant(things, phrase, self.names) } else { meant }
    }

    fn name(&self, key: &str) -> String {
        let thing = self.explained.seen.iter().find(|thing| thing.key == key);
        thing.map_or_else(|| key.to_owned(), |thing| format!("the {} ({key})", thing.name()))
    }

    fn describe(&mut self, key: &str) {
        if let Some(thing) = self.explained.seen.iter().find(|thing| thing.key == key) {
            self.say(text::thing(thing));
        }
    }

    fn stop(&mut self) {
        match &self.explained.ending {
            None if self.explained.is_at_work => {
                self.say("I have not stopped: I am still at work on it.");
                let bad = self.decided(|one| one.came == Came::Badly);
                if let Some((index, decision)) = bad.last() {
                    self.rest_on(*index);
                    self.say(format!("What went against it so far, last: {}.", decision.what));
                }
            }
            None => self.say("The trace has no end of the goal: the run was killed or interrupted, and why is not recorded."),
            Some(end) if end.outcome == "done" => {
                self.say(format!("I ended because it was done: {}", end.message));
                let bad = self.decided(|one| one.came == Came::Badly && one.kind == Kind::Motion);
                for (index, decision) in bad {
                    self.rest_on(index);
                    self.say(format!("On the way: {}.", decision.what));
                }
            }
            Some(end) => {
                let reason = end.reason.as_ref().map(|code| format!(" ({code})")).unwrap_or_default();
                self.say(format!("It ended as {}{reason}: {}", end.outcome, end.message));
                self.decisive();
            }
        }
    }

    fn decisive(&mut self) {
        let Some(index) = self.explained.decisive else {
            return self.say("Which decision led to it is not recorded.");
        };
        let decision = &self.explained.decisions[index];
        self.rest_on(index);
        self.say(format!("Decided by: {}{}.", decision.what, numbers(decision)));
        if let Some(rule) = &decision.rule {
            self.say(format!("The rule: {rule}."));
        }
        if decision.otherwise.is_empty() {
            self.say("What would have changed it is not recorded.");
        }
        for way in &decision.otherwise {
            self.say(format!("What would have changed it: {way}."));
        }
    }

    fn refusals(&mut self) {
        let refused = |one: &Decision| one.came == Came::Badly && one.kind == Kind::Verdict;
        let verdicts = self.decided(refused);
        let end = self.explained.ending.as_ref().filter(|end| end.outcome == "refused");
        if end.is_some() || self.explained.decisive.is_some() {
            self.stop();
        }
        if verdicts.is_empty() && end.is_none() {
            return self.say("I refused nothing: the verifier permitted every plan that it was asked about.");
        }
        for (index, decision) in verdicts {
            self.rest_on(index);
            self.say(format!("{}: {}.", capital(&decision.what), decision.because.join("; ")));
        }
    }

    fn otherwise(&mut self) {
        if self.explained.decisive.is_some() {
            return self.decisive();
        }
        // What was acted on says more than where it was put.
        let acted = |one: &Decision| one.kind == Kind::Evidence && !one.otherwise.is_empty();
        let evidence = self.decided(acted).pop();
        let of = |one: &Decision| evidence.is_none_or(|(_, other)| one.objects == other.objects);
        let choice =
            self.decided(|one| one.kind == Kind::Choice && !one.otherwise.is_empty() && of(one)).pop();
        let found: Vec<_> = [choice, evidence].into_iter().flatten().collect();
        if found.is_empty() {
            return self.say("What would have changed it is not recorded.");
        }
        for (index, decision) in found {
            self.rest_on(index);
            self.say(format!("{}. {}.", capital(&decision.what), decision.otherwise.join("; ")));
        }
    }

    fn sure(&mut self) {
        let acted =
            self.decided(|one| matches!(one.kind, Kind::Choice | Kind::Evidence) && !one.objects.is_empty());
        if acted.is_empty() {
            return self
                .say("How sure I was is not recorded: nothing was looked for and no evidence was gathered.");
        }
        for (index, decision) in acted {
            self.rest_on(index);
            self.say(format!("{}{}.", capital(&decision.what), numbers(decision)));
        }
    }

    fn sure_of(&mut self, key: &str) {
        let thing = self.explained.seen.iter().find(|thing| thing.key == key);
        match thing.and_then(|thing| Some((thing, thing.confidence?))) {
            Some((thing, share)) => {
                self.say(format!("{} is called \"{}\" by {share:.2} of the votes.", thing.key, thing.class));
            }
            None => self.say(format!("With which share of the votes {key} has its name is not recorded.")),
        }
        let about = |one: &Decision| {
            matches!(one.kind, Kind::Choice | Kind::Evidence) && one.objects.iter().any(|other| other == key)
        };
        for (index, decision) in self.decided(about) {
            self.rest_on(index);
            self.say(format!("{}{}.", capital(&decision.what), numbers(decision)));
        }
    }

    fn seen(&mut self) {
        if self.explained.seen.is_empty() {
            return self.say("I had not looked: no map is recorded.");
        }
        let is_there = |is: bool| self.explained.seen.iter().filter(move |thing| thing.is_there == is);
        let list = |is: bool| {
            is_there(is).map(|thing| format!("{} ({})", thing.key, thing.name())).collect::<Vec<_>>()
        };
        self.say(format!("In the last map, or held: {}.", list(true).join(", ")));
        if !list(false).is_empty() {
            self.say(format!("Seen before, and not there any more: {}.", list(false).join(", ")));
        }
        self.decided(|one| one.kind == Kind::Look).into_iter().for_each(|(index, _)| self.rest_on(index));
    }

    fn understood(&mut self) {
        let goal = self.explained.goal.as_deref().unwrap_or("a sentence that is not recorded");
        match self.explained.readings.as_slice() {
            [] => {
                self.say(format!("I was told \"{goal}\", and no reading of it is recorded."));
                self.stop();
            }
            readings => {
                self.say(format!("I was told \"{goal}\", and read it as {}.", readings.join(", or as ")))
            }
        }
        self.decided(|one| one.kind == Kind::Reading).into_iter().for_each(|(index, _)| self.rest_on(index));
    }

    fn did(&mut self) {
        let done = self.decided(|one| matches!(one.kind, Kind::Motion | Kind::Outcome));
        if done.is_empty() {
            self.say("I did not move.");
            return self.stop();
        }
        for (index, decision) in done {
            self.rest_on(index);
            self.say(format!("{}.", capital(&decision.what)));
        }
    }

    fn time(&mut self) {
        const MOST: usize = 6;
        if self.explained.times.is_empty() {
            return self.say("How long anything took is not recorded.");
        }
        let list =
            self.explained.times.iter().take(MOST).map(|(what, seconds)| format!("{what} {seconds:.1} s"));
        self.say(format!("Most of the time went into: {}.", list.collect::<Vec<_>>().join(", ")));
        for (index, decision) in self.decided(|one| one.came == Came::Badly && one.kind == Kind::Motion) {
            self.rest_on(index);
            self.say(format!("And something had to be done again: {}.", decision.what));
        }
    }
}

/// The numbers of a decision in brackets.
fn numbers(decision: &Decision) -> String {
    let list: Vec<String> = decision.numbers.iter().map(text::number).collect();
    if list.is_empty() { String::new() } else { format!(" ({})", list.join(", ")) }
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}
