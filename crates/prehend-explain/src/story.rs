//! From the events of a trace to its decisions.

use super::commit::Gathering;
use super::motion::{Skill, Told};
use super::seen::Things;
use super::{Came, Decision, Ending, Event, Explanation, Kind, Number, choice, commit};
use prehend_perception::lexicon::Lexicon;
use prehend_scene::Reason;
use prehend_verify::CommitRule;
use std::collections::BTreeMap;

/// Tools that only compute something of the map, and those that other events tell of.
const TOLD_ELSEWHERE: [&str; 6] =
    ["object_retrieval", "interact", "detect_affordance", "look", "home", "go_to"];

struct Story<'w> {
    words: &'w Lexicon,
    rule: Option<CommitRule>,
    things: Things,
    gathering: Gathering,
    skill: Skill,
    told: Explanation,
    times: BTreeMap<String, f64>,
    /// Goals before the one that is told.
    earlier: usize,
    /// Phases that have begun, for how long they took.
    begun: BTreeMap<String, f64>,
}

/// Reads events into an explanation.
pub(super) fn tell(events: &[Event], words: &Lexicon, is_at_work: bool) -> Explanation {
    let mut story = Story {
        words,
        rule: commit::rule(events),
        things: Things::default(),
        gathering: Gathering::default(),
        skill: Skill::default(),
        told: Explanation::default(),
        times: BTreeMap::new(),
        earlier: 0,
        begun: BTreeMap::new(),
    };
    for event in events {
        story.take(event);
    }
    let mut told = story.end(events, is_at_work);
    told.is_at_work = is_at_work;
    told
}

impl Story<'_> {
    fn add(&mut self, decision: Decision) {
        match self.told.decisions.iter_mut().rev().find(|earlier| earlier.kind == decision.kind) {
            Some(earlier) if earlier.is_like(&decision) && decision.kind == Kind::Verdict => {
                self.told.decisions.push(decision)
            }
            Some(earlier) if earlier.is_like(&decision) => earlier.times += 1,
            _ => self.told.decisions.push(decision),
        }
    }

    fn take(&mut self, event: &Event) {
        match (event.kind.as_str(), event.name.as_str()) {
            ("goal", name) => self.goal(event, name),
            ("perception", "update") => self.look(event),
            ("perception", "retrieve") => {
                for (key, reason) in event.texts("rejected").iter().zip(event.texts("reasons")) {
                    self.things.hear(key, &reason, self.words);
                }
                let decision = choice::decision(event, &self.things);
                self.choose(decision);
            }
            ("evidence", "affordance") => {
                let decision = self.gathering.end(Some(event), self.rule.as_ref(), &self.things);
                decision.into_iter().for_each(|decision| self.add(decision));
            }
            ("evidence", "words") => {
                let mut decision = Decision::new(event.t, Kind::Word, event.message.clone());
                decision.because = event.texts("heard");
                self.add(decision);
            }
            ("evidence", _) if event.node == "affordance" && event.data["diagnostics"].is_object() => {
                self.gathering.step(event);
            }
            ("verdict", "outcome") => self.outcome(event),
            ("verdict", "approval") => self.approval(event),
            ("verdict", _) => {
                let decision = commit::verdict(event, &self.things);
                // The way home and looks need no evidence: that they were permitted explains nothing.
                if decision.came == Came::Badly || !decision.objects.is_empty() {
                    self.add(decision);
                }
            }
            ("permit", _) if event.status != "redeemed" => {
                let mut decision = Decision::new(
                    event.t,
                    Kind::Verdict,
                    "the permit was refused when it was to be redeemed",
                );
                decision.came = Came::Badly;
                decision.because.push(event.message.clone());
                self.add(decision);
            }
            ("motion", name) => self.motion(event, name),
            ("tool", name) => self.tool(event, name),
            ("warning", _) => {
                let mut decision = Decision::new(event.t, Kind::Warning, event.message.clone());
                decision.came = Came::Badly;
                self.add(decision);
            }
            _ => {}
        }
    }

    fn choose(&mut self, decision: Decision) {
        let like = |earlier: &&mut Decision| earlier.kind == Kind::Choice && earlier.is_like(&decision);
        match self.told.decisions.iter_mut().rev().find(like) {
            // The same words meant the same again, after another look.
            Some(earlier) => {
                earlier.times += 1;
                earlier.numbers = decision.numbers;
                earlier.rejected = decision.rejected;
                earlier.what = decision.what;
            }
            None => self.told.decisions.push(decision),
        }
    }

    fn goal(&mut self, event: &Event, name: &str) {
        match name {
            "started" => {
                if self.told.ending.is_some() {
                    // A graph that is kept has many goals, and what was seen stays seen.
                    self.earlier += 1;
                    self.told = Explanation::default();
                    self.times.clear();
                }
                self.told.goal = Some(event.message.clone());
            }
            "understood" => {
                self.told.readings = event.texts("readings");
                let what = format!("read the sentence as {}", self.told.readings.join(", or as "));
                let mut decision = Decision::new(event.t, Kind::Reading, what);
                decision.rule = Some("grammar and lexicon (config/language/lexicon.yaml)".to_owned());
                self.add(decision);
            }
            "finished" => {
                // What was only planned was not done.
                let outcome = match event.data["plan_only"] == true {
                    true => format!("planned, would be {}", event.status),
                    false => event.status.clone(),
                };
                self.told.ending = Some(Ending {
                    outcome,
                    reason: event.data["reason"].as_str().map(str::to_owned),
                    message: event.message.clone(),
                    physics_ok: None,
                });
                self.conclude(event);
            }
            _ => {}
        }
    }

    /// What a person was asked and said.
    fn approval(&mut self, event: &Event) {
        let what = match event.status.as_str() {
            "asked" => format!("asked a person: {}", event.message),
            "given" | "denied" => format!("a person answered: {}", event.message),
            "not_given" => format!("was not approved: {}", event.message),
            "withdrawn" => format!("took a question back: {}", event.message),
            // That an answer was used, or was none, adds nothing.
            _ => return,
        };
        let mut decision = Decision::new(event.t, Kind::Verdict, what);
        decision.came = if event.status == "not_given" { Came::Badly } else { Came::Well };
        decision.rule =
            Some("approval (config/nodes/verifier.yaml; limits.approval of the robot file)".to_owned());
        decision.because.extend(event.data["why"].as_str().map(str::to_owned));
        if event.status == "not_given" {
            decision.otherwise.push("a yes of a person in time".to_owned());
        }
        self.add(decision);
    }

    /// Refusals of the sentence itself are told by the end alone.
    fn conclude(&mut self, event: &Event) {
        let reason = event.text("reason");
        let (rule, otherwise) = match reason {
            "unsafe" => (
                "safety rules (config/language/policy.yaml)",
                "a sentence without these words: the rule holds whatever is on the table",
            ),
            "not_understood" => (
                "grammar and lexicon (config/language/lexicon.yaml)",
                "other words for it: see docs/user-guide.md",
            ),
            _ => return,
        };
        let mut decision =
            Decision::new(event.t, Kind::Reading, format!("refused the sentence: {}", event.message));
        decision.came = Came::Badly;
        decision.rule = Some(rule.to_owned());
        decision.otherwise.push(otherwise.to_owned());
        self.told.decisions.push(decision);
    }

    fn look(&mut self, event: &Event) {
        self.things.look(event);
        *self.times.entry("making the map (wall time)".to_owned()).or_default() +=
            event.data["seconds"].as_f64().unwrap_or_default();
        let changes: Vec<String> = [("new", "added"), ("moved", "moved"), ("gone", "removed")]
            .into_iter()
            .filter_map(|(word, key)| {
                let keys = event.texts(key);
                (!keys.is_empty()).then(|| format!("{word}: {}", keys.join(", ")))
            })
            .collect();
        if changes.is_empty() {
            return;
        }
        let count = event.data["objects"].as_array().map_or(0, Vec::len);
        let mut decision =
            Decision::new(event.t, Kind::Look, format!("looked, and the map has {count} things"));
        decision.because = changes;
        self.add(decision);
    }

    fn outcome(&mut self, event: &Event) {
        let said = event.message.split_once(": ").map_or(event.message.as_str(), |(_, why)| why);
        let what = match event.status.as_str() {
            "succeeded" => format!("the new look shows that it worked: {said}"),
            "failed" => format!("the new look shows that it did not work: {said}"),
            _ => format!("the new look does not show what became of it: {said}"),
        };
        let mut decision = Decision::new(event.t, Kind::Outcome, what);
        decision.came = if event.status == "succeeded" { Came::Well } else { Came::Badly };
        decision.rule = Some("outcome check: the map before and after the skill (prehend-verify)".to_owned());
        decision.objects =
            Some(event.text("object").to_owned()).filter(|key| !key.is_empty()).into_iter().collect();
        self.add(decision);
    }

    fn motion(&mut self, event: &Event, name: &str) {
        if !event.text("permit").is_empty() {
            match event.status.as_str() {
                "started" => {
                    self.begun.insert(name.to_owned(), event.t);
                }
                _ => {
                    if let Some(since) = self.begun.remove(name) {
                        *self.times.entry(format!("motion: {name}")).or_default() += event.t - since;
                    }
                }
            }
        }
        match self.skill.take(event, &self.things) {
            Told::Phase => {}
            // The verdict has told it.
            Told::Ended(_) if event.status == "verifier_refused" => {}
            Told::Ended(decision) if decision.came == Came::Badly || !decision.because.is_empty() => {
                self.add(*decision)
            }
            Told::Ended(_) => {}
            Told::Other if name.ends_with("/candidates") => {
                let mut decision = Decision::new(event.t, Kind::Candidates, event.message.clone());
                decision.objects = vec![event.text("object").to_owned()];
                self.add(decision);
            }
            Told::Other if !is_bad(&event.status) => {}
            Told::Other => {
                let mut decision = Decision::new(
                    event.t,
                    Kind::Warning,
                    format!("{name} {}: {}", event.status, event.message),
                );
                decision.came = Came::Badly;
                self.add(decision);
            }
        }
    }

    fn tool(&mut self, event: &Event, name: &str) {
        let seconds = if name == "model" {
            event.data["turn"]["usage"]["seconds"].as_f64()
        } else {
            event.data["seconds"].as_f64()
        };
        if name != "interact" {
            *self.times.entry(format!("tool: {name} (wall time)")).or_default() +=
                seconds.unwrap_or_default();
        }
        let output = &event.data["output"]["output"];
        let failed = event.status != "ok";
        if let (Some(value), false) = (output.as_f64(), failed) {
            return self.measure(event, name, value);
        }
        if TOLD_ELSEWHERE.contains(&name) {
            return;
        }
        let said = match output.as_bool() {
            Some(holds) => {
                format!("{name}({}): {}", event.text("arguments"), if holds { "yes" } else { "no" })
            }
            None => format!("{name} {}: {}", event.status, event.message),
        };
        let kind = if failed { Kind::Warning } else { Kind::Measure };
        let mut decision = Decision::new(event.t, kind, said);
        decision.came = if failed { Came::Badly } else { Came::Well };
        self.add(decision);
    }

    /// Measures of one kind, one after the other, are one comparison.
    fn measure(&mut self, event: &Event, name: &str, value: f64) {
        let what = format!("compared by {name}");
        let of = event.text("arguments").to_owned();
        let known = |number: &Number| number.name == of;
        let last = self.told.decisions.last_mut().filter(|last| last.what == what);
        let decision = match last {
            Some(last) => last,
            None => {
                self.told.decisions.push(Decision::new(event.t, Kind::Measure, what));
                let Some(last) = self.told.decisions.last_mut() else { return };
                last
            }
        };
        if !decision.numbers.iter().any(known) {
            decision.numbers.push(Number::plain(of, value));
        }
    }

    fn end(mut self, events: &[Event], is_at_work: bool) -> Explanation {
        if let Some(decision) = self.gathering.end(None, self.rule.as_ref(), &self.things) {
            self.add(decision);
        }
        if let Some(decision) = self.skill.end(&self.things) {
            self.add(decision);
        }
        let Self { mut told, things, times, rule, words, earlier, .. } = self;
        told.times = times.into_iter().filter(|(_, seconds)| *seconds > 0.05).collect();
        told.times.sort_by(|a, b| b.1.total_cmp(&a.1));
        told.decisions.sort_by(|a, b| a.t.total_cmp(&b.t));
        told.seen = things.clone().all();
        for decision in told.decisions.iter_mut().filter(|one| one.kind == Kind::Choice) {
            choice::confirm(decision, &things, &told.seen, words);
        }
        told.decisive = decisive(&told);
        if let Some(index) = told.decisive {
            let is_open = told.ending.as_ref().is_some_and(|end| end.reason.as_deref() == Some("ambiguous"));
            let decision = &mut told.decisions[index];
            if is_open && decision.objects.len() > 1 {
                decision.came = Came::Badly;
                decision.otherwise = choice::telling_apart(&decision.objects, &things);
            }
        }
        if earlier > 0 {
            told.not_recorded.push(format!(
                "{earlier} earlier goal(s) of this trace are not explained here: this is its last."
            ));
        }
        if !events.is_empty() {
            if told.goal.is_none() {
                told.not_recorded
                    .push("The trace has no goal: what was asked for is not recorded.".to_owned());
            }
            if told.ending.is_none() && !is_at_work {
                told.not_recorded.push(
                    "The trace has no end of the goal, as when a run is killed or times out: how it ended is not recorded there."
                        .to_owned(),
                );
            }
        }
        let has =
            |kind: Kind, came: Came| told.decisions.iter().any(|one| one.kind == kind && one.came == came);
        if rule.is_none() && told.decisions.iter().any(|one| one.kind == Kind::Evidence) {
            told.not_recorded
                .push("The limits of the commit rule are not recorded in this trace.".to_owned());
        }
        let is_told = |event: &Event| event.data["rules"].is_array();
        if has(Kind::Verdict, Came::Badly) && !events.iter().any(is_told) {
            told.not_recorded.push(
                "What would have changed the verifier's findings is not recorded in this trace.".to_owned(),
            );
        }
        if told.seen.iter().any(|thing| thing.colors.is_empty() && !thing.class.is_empty()) {
            told.not_recorded.push("The colours of some things are not recorded in this trace.".to_owned());
        }
        told
    }
}

/// Whether the status of a motion tells of something that did not go as wished.
fn is_bad(status: &str) -> bool {
    const BAD: [&str; 7] = ["refused", "failed", "error", "aborted", "rejected", "lost", "expired"];
    BAD.contains(&status) || Reason::parse(status).is_some()
}

/// The decision that led to the end of a goal that was not done.
fn decisive(told: &Explanation) -> Option<usize> {
    let end = told.ending.as_ref().filter(|end| end.outcome != "done")?;
    let last = |fits: &dyn Fn(&Decision) -> bool| told.decisions.iter().rposition(fits);
    let bad = |kinds: &'static [Kind]| {
        move |decision: &Decision| decision.came == Came::Badly && kinds.contains(&decision.kind)
    };
    match end.reason.as_deref().unwrap_or_default() {
        "unsafe" | "not_understood" => last(&bad(&[Kind::Reading])),
        "not_found" => last(&bad(&[Kind::Choice])),
        "ambiguous" => last(&|decision| decision.kind == Kind::Choice && decision.objects.len() > 1),
        "verifier_refused" => last(&bad(&[Kind::Verdict])),
        "outcome_not_observed" => last(&bad(&[Kind::Outcome, Kind::Motion])),
        _ => last(&bad(&[Kind::Motion, Kind::Outcome, Kind::Warning, Kind::Verdict])),
    }
}
