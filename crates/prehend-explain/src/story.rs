//! From the events of a trace to its decisions.

mod end;

use super::commit::Gathering;
use super::motion::{Skill, Told};
use super::seen::Things;
use super::{
    Came, Decision, Ending, Event, Explanation, Hand, Kind, Number, choice, commit, comparison, hands,
};
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
    /// The newest plan: of which thing, and its hands.
    planned: (String, Vec<Hand>),
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
        planned: Default::default(),
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
    fn add(&mut self, mut decision: Decision) {
        // What was refused, or did not work, is shown with the hands that it was about.
        let is_about_hands = matches!(decision.kind, Kind::Verdict | Kind::Motion | Kind::Outcome);
        let (object, hands) = &self.planned;
        if is_about_hands && decision.came == Came::Badly && decision.objects.contains(object) {
            decision.hands.clone_from(hands);
        }
        if decision.came == Came::Badly || !decision.hands.is_empty() {
            decision.scene = self.things.now();
        }
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
            ("evidence", "comparison") => {
                let decision = comparison::decision(event, &self.things);
                self.add(decision);
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

    fn choose(&mut self, mut decision: Decision) {
        decision.scene = self.things.now();
        let like = |earlier: &&mut Decision| earlier.kind == Kind::Choice && earlier.is_like(&decision);
        match self.told.decisions.iter_mut().rev().find(like) {
            // The same words meant the same again, after another look.
            Some(earlier) => {
                earlier.times += 1;
                earlier.numbers = decision.numbers;
                earlier.rejected = decision.rejected;
                earlier.what = decision.what;
                earlier.scene = decision.scene;
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

    fn has_bad(&self) -> bool {
        self.told.decisions.iter().any(|decision| decision.came == Came::Badly)
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
            "infeasible" if event.status == "refused" && !self.has_bad() => (
                "what this robot can do (config/language/lexicon.yaml and actions.yaml, the skills of its robot file)",
                "another verb, or another thing: \"what can you do?\" tells",
            ),
            "stopped" if event.status == "refused" => (
                "while the stop is latched no goal begins that may move something",
                "a stop that was cleared before (prehend stop --clear)",
            ),
            "peer_lost" | "verifier_lost" | "not_armed" if event.status == "refused" => (
                "no goal begins before every node that it needs is there and the robot has confirmed its own safety",
                "a graph that is whole: prehend doctor tells what is missing",
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
            Told::Other if name.ends_with("/plan") && event.data["candidates"].is_array() => self.plan(event),
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

    fn plan(&mut self, event: &Event) {
        let decision = hands::decision(event, &self.things);
        self.planned = (event.text("object").to_owned(), decision.hands.clone());
        self.add(decision);
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
}

/// Whether the status of a motion tells of something that did not go as wished.
fn is_bad(status: &str) -> bool {
    const BAD: [&str; 7] = ["refused", "failed", "error", "aborted", "rejected", "lost", "expired"];
    BAD.contains(&status) || Reason::parse(status).is_some()
}
