//! Evidence as it grew, and verdicts with their findings.

use super::seen::Things;
use super::{Came, Decision, Event, Kind, Number};
use prehend_scene::Diagnostics;
use prehend_verify::CommitRule;
use serde_json::Value;

/// The commit rule.
const RULE: &str = "commit rule: v = alpha omega + beta zeta + gamma sigma(mu) of at least delta, and omega of at least its floor (AAH eq. 6 to 10)";
/// The gate.
const GATE: &str =
    "commit gate: a plan is permitted when no rule of the verifier speaks against it (prehend-verify)";

/// The commit rule that the verifier was set to, when the trace tells it.
pub(super) fn rule(events: &[Event]) -> Option<CommitRule> {
    let told = events.iter().map(|event| &event.data["commit_rule"]).find(|rule| rule.is_object());
    serde_json::from_value(told?.clone()).ok()
}

fn diagnostics(event: &Event) -> Option<Diagnostics> {
    serde_json::from_value(event.data["diagnostics"].clone()).ok()
}

/// The diagnostics against their limits.
fn numbers(found: &Diagnostics, rule: Option<&CommitRule>) -> Vec<Number> {
    let Some(rule) = rule else {
        // A gap below 0 is one to a floor, and then all are (AAH eq. 11); else they may be what the score lacks.
        let gaps = found.gaps;
        let is_below = gaps.omega.min(gaps.zeta).min(gaps.mu) < 0.0;
        return [
            ("omega", found.omega, gaps.omega),
            ("zeta", found.zeta, gaps.zeta),
            ("mu", found.mu, gaps.mu),
        ]
        .into_iter()
        .map(
            |(name, value, gap)| {
                if is_below { Number::at_least(name, value, value + gap) } else { Number::plain(name, value) }
            },
        )
        .chain([Number::plain("v", found.score)])
        .collect();
    };
    vec![
        Number::at_least("v", found.score, rule.delta),
        Number::at_least("omega", found.omega, rule.omega_floor),
        Number::at_least("zeta", found.zeta, rule.zeta_floor),
        Number::at_least("mu", found.mu, rule.mu_floor),
    ]
}

/// What evidence gathered about one thing came to.
#[derive(Debug, Default)]
pub(super) struct Gathering {
    steps: Vec<(f64, String)>,
    last: Option<Diagnostics>,
    object: String,
}

impl Gathering {
    /// Takes in one step of gathering.
    pub(super) fn step(&mut self, event: &Event) {
        let told = event.text("object");
        let said = event.message.split_once(": ").map_or("", |(object, _)| object);
        self.object = if told.is_empty() { said } else { told }.to_owned();
        let after = diagnostics(event);
        let numbers = after.map_or_else(
            || "its numbers are not recorded".to_owned(),
            |d| format!("omega {:.2}, zeta {:.2}, mu {:.2}, v {:.2}", d.omega, d.zeta, d.mu, d.score),
        );
        let remedy = match event.text("remedy_for") {
            "" => String::new(),
            lacking => format!(" (for {lacking})"),
        };
        let records = event.texts("records").len();
        self.steps.push((event.t, format!("{}{remedy}: {records} record(s) more; {numbers}", event.name)));
        self.last = after.or(self.last);
    }

    /// The decision, by the event that ends the gathering; `None` of it when the trace ends before.
    pub(super) fn end(
        &mut self,
        end: Option<&Event>,
        rule: Option<&CommitRule>,
        things: &Things,
    ) -> Option<Decision> {
        let Self { steps, last, object } = std::mem::take(self);
        let t = end.map(|event| event.t).or_else(|| steps.first().map(|(t, _)| *t))?;
        let object = end.map(|event| event.text("object").to_owned()).unwrap_or(object);
        let found = end.and_then(diagnostics).or(last);
        let name = things.name(&object);
        let what = match end.map(|event| event.status.as_str()) {
            Some("committed") => format!("the evidence about {name} suffices"),
            Some("not_committed") => format!("the evidence about {name} does not suffice"),
            Some(_) => end.map(|event| event.message.clone()).unwrap_or_default(),
            None => format!("evidence about {name} was gathered; what it came to is not recorded"),
        };
        let mut decision = Decision::new(t, Kind::Evidence, what);
        let is_short = end.is_none_or(|event| event.status == "not_committed");
        decision.came = if is_short { Came::Badly } else { Came::Well };
        decision.objects = vec![object];
        decision.rule = Some(RULE.to_owned());
        decision.because = steps.into_iter().map(|(_, step)| step).collect();
        if let Some(event) = end {
            let parts = event.texts("parts");
            if !parts.is_empty() {
                decision.because.push(format!("parts that serve: {}", parts.join(", ")));
            }
        }
        if let Some(found) = found {
            decision.numbers = numbers(&found, rule);
            decision.otherwise = rule.map(|rule| rule.otherwise(&found)).unwrap_or_default();
        }
        Some(decision)
    }
}

/// The decision of the gate about a plan.
pub(super) fn verdict(event: &Event, things: &Things) -> Decision {
    let object = event.text("object").to_owned();
    let subject = match object.as_str() {
        "" => event.name.clone(),
        key => format!("{} {}", event.name, things.name(key)),
    };
    let (granted, said) = match event.status.as_str() {
        "granted" => (true, "permitted"),
        "would_grant" => (true, "would permit"),
        "would_refuse" => (false, "would refuse"),
        _ => (false, "refused"),
    };
    let mut decision = Decision::new(event.t, Kind::Verdict, format!("the verifier {said}: {subject}"));
    decision.came = if granted { Came::Well } else { Came::Badly };
    decision.rule = Some(GATE.to_owned());
    decision.objects = if object.is_empty() { Vec::new() } else { vec![object] };
    decision.because = event.texts("findings");
    let rule: Option<CommitRule> = serde_json::from_value(event.data["commit_rule"].clone()).ok();
    let found = diagnostics(event);
    let lacks_evidence = |finding: &Value| finding["rule"] == "not_committed";
    let rules = event.data["rules"].as_array();
    for finding in rules.into_iter().flatten() {
        decision.numbers.extend(number(finding));
        if let Some(otherwise) = finding["otherwise"].as_str().filter(|_| !lacks_evidence(finding)) {
            decision.otherwise.push(format!("\"{}\" needs {otherwise}", name(finding)));
        }
    }
    if let Some(found) = found {
        decision.numbers.extend(numbers(&found, rule.as_ref()));
        if let Some(rule) = rule.filter(|_| granted || rules.into_iter().flatten().any(lacks_evidence)) {
            decision.otherwise.extend(rule.otherwise(&found));
        }
    }
    decision
}

/// The name of a finding's rule, as words.
fn name(finding: &Value) -> String {
    finding["rule"].as_str().unwrap_or_default().replace('_', " ")
}

/// The number of a finding and its limit, where it has one: the field beside `limit`.
fn number(finding: &Value) -> Option<Number> {
    let limit = finding["limit"].as_f64()?;
    let of = ["confidence", "distance", "height", "opening", "age", "value"];
    let (key, value) = of.iter().find_map(|key| Some((*key, finding[*key].as_f64()?)))?;
    Some(Number { name: format!("{}: {key}", name(finding)), value, limit: Some(limit), holds: Some(false) })
}
