//! What an explanation says of the whole: what is missing in the trace, and which decision the goal failed by.

use super::{Story, choice};
use crate::{Came, Decision, Event, Explanation, Kind};

impl Story<'_> {
    /// The explanation, when all is told.
    pub(super) fn end(mut self, events: &[Event], is_at_work: bool) -> Explanation {
        let gathering = self.gathering.end(None, self.rule.as_ref(), &self.things);
        for mut decision in gathering.into_iter().chain(self.skill.end(&self.things)) {
            // What is at work has not failed.
            if is_at_work {
                decision.came = Came::Well;
            }
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

/// The decision that led to the end of a goal that was not done.
fn decisive(told: &Explanation) -> Option<usize> {
    let end = told.ending.as_ref().filter(|end| end.outcome != "done")?;
    let last = |fits: &dyn Fn(&Decision) -> bool| told.decisions.iter().rposition(fits);
    let bad = |kinds: &'static [Kind]| {
        move |decision: &Decision| decision.came == Came::Badly && kinds.contains(&decision.kind)
    };
    match end.reason.as_deref().unwrap_or_default() {
        "unsafe" | "not_understood" => last(&bad(&[Kind::Reading])),
        "infeasible" | "stopped" | "peer_lost" | "verifier_lost" | "not_armed" => {
            last(&bad(&[Kind::Reading, Kind::Motion, Kind::Outcome, Kind::Warning, Kind::Verdict]))
        }
        "not_found" => last(&bad(&[Kind::Choice])),
        "ambiguous" => last(&|decision| decision.kind == Kind::Choice && decision.objects.len() > 1),
        "verifier_refused" => last(&bad(&[Kind::Verdict])),
        "outcome_not_observed" => last(&bad(&[Kind::Outcome, Kind::Motion])),
        _ => last(&bad(&[Kind::Motion, Kind::Outcome, Kind::Warning, Kind::Verdict])),
    }
}
