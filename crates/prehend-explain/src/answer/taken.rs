//! Why a thing was taken, or was not.

use super::{Teller, capital, numbers};
use crate::{Decision, Kind, comparison};

impl Teller<'_> {
    pub(super) fn why(&mut self, key: &str) {
        let name = self.name(key);
        let about = self.decided(|decision| decision.objects.iter().any(|one| one == key));
        if !about.iter().any(|(_, decision)| decision.kind != Kind::Look) {
            self.say(format!("I did not take {name}, and did nothing to it."));
            return self.why_not(key);
        }
        let mut rejected = false;
        for (index, decision) in about {
            match decision.kind {
                Kind::Choice => {
                    self.say(format!("I {}{}.", decision.what, numbers(decision)));
                    let others: Vec<&str> = decision.rejected.iter().map(|one| one.key.as_str()).collect();
                    if !others.is_empty() && !std::mem::replace(&mut rejected, true) {
                        self.say(format!("Not taken for it: {}.", others.join(", ")));
                    }
                }
                Kind::Evidence | Kind::Verdict => {
                    self.say(format!("{}{}.", capital(&decision.what), numbers(decision)))
                }
                _ => continue,
            }
            self.rest_on(index);
        }
        if let Some((index, compared)) = self.compared(key) {
            self.rest_on(index);
            self.say(compared);
        }
    }

    /// What a comparison of sizes says of a thing.
    fn compared(&self, key: &str) -> Option<(usize, String)> {
        let is_of = |decision: &Decision| decision.numbers.iter().any(|number| number.name == key);
        let (index, decision) =
            self.decided(|decision| decision.kind == Kind::Measure && is_of(decision)).pop()?;
        let mut numbers: Vec<_> = decision.numbers.iter().collect();
        let by = comparison::went_by(decision);
        if by.is_none() {
            numbers.sort_by(|a, b| b.value.total_cmp(&a.value));
        }
        let place = numbers.iter().position(|number| number.name == key)?;
        let list: Vec<String> =
            numbers.iter().map(|number| format!("{} {:.3} m", number.name, number.value)).collect();
        Some((
            index,
            match by {
                Some(by) => format!(
                    "Chosen by {by}, and it is number {} of {}: {}.",
                    place + 1,
                    numbers.len(),
                    list.join(", ")
                ),
                None => {
                    format!("By size it is number {} of {}: {}.", place + 1, numbers.len(), list.join(", "))
                }
            },
        ))
    }

    pub(super) fn why_not(&mut self, key: &str) {
        let name = self.name(key);
        let mut told = false;
        let meant =
            self.decided(|one| one.kind == Kind::Choice && one.objects.iter().any(|other| other == key));
        for (index, choice) in meant {
            told = true;
            self.rest_on(index);
            if choice.objects.len() > 1 {
                self.say(format!(
                    "{} was one of several that the words fit: {}.",
                    capital(&name),
                    choice.what
                ));
                let acted: Vec<&str> = choice
                    .objects
                    .iter()
                    .map(String::as_str)
                    .filter(|one| self.explained.acted_on(one))
                    .collect();
                if acted.is_empty() {
                    choice.otherwise.iter().for_each(|way| self.say(format!("{}.", capital(way))));
                } else {
                    let how = match self.compared(key) {
                        Some(_) => "",
                        None => "; how that chose among several is not recorded",
                    };
                    self.say(format!(
                        "Of them I acted on {}. I had read the sentence as {}{how}.",
                        acted.join(", "),
                        self.explained.readings.join(", or as ")
                    ));
                }
            } else if self.explained.acted_on(key) {
                self.say(format!("I did take {name}: I {}.", choice.what));
            } else {
                self.say(format!("I {}, and did nothing to it.", choice.what));
                self.stop();
            }
        }
        // Of all the words that it was held against, those that it fits best are the ones that were asked about.
        let rejected = self.decided(|one| one.kind == Kind::Choice).into_iter();
        let rejected = rejected.filter_map(|(index, choice)| {
            Some((index, choice, choice.rejected.iter().find(|one| one.key == key)?))
        });
        let nearest = rejected.max_by(|a, b| similarity(&a.2.reason).total_cmp(&similarity(&b.2.reason)));
        if let Some((index, choice, one)) = nearest {
            told = true;
            self.rest_on(index);
            self.say(format!("I {}.", choice.what));
            self.say(format!("{} was looked at for it and is not meant: {}.", capital(&name), one.reason));
            if let Some(words) = &one.would_be {
                self.say(format!("\"{words}\" would have meant it."));
            }
        }
        if let Some((index, compared)) = self.compared(key) {
            told = true;
            self.rest_on(index);
            self.say(compared);
        }
        if !told {
            self.say(format!(
                "I saw {name}, but the trace does not record that it was weighed: only the best candidates of a search are told."
            ));
        }
    }
}

/// How well a thing fitted, by the reason why it is not meant; 0 when that does not tell.
fn similarity(reason: &str) -> f64 {
    let told =
        reason.rsplit_once("(similarity ").and_then(|(_, number)| number.trim_end_matches(')').parse().ok());
    told.unwrap_or_default()
}
