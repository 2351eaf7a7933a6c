//! Why a thing was taken, or was not.

use super::{Teller, capital, numbers};
use crate::{Came, Decision, Kind, comparison};

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
                    self.say(format!("{}{}.", chose(&decision.what), numbers(decision)));
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

    /// Tells of a thing that was taken, or was to be and could not.
    fn tried(&mut self, key: &str, name: &str, chosen: &str) {
        let is_about = |one: &Decision| {
            matches!(one.kind, Kind::Motion | Kind::Verdict) && one.objects.iter().any(|other| other == key)
        };
        let about = self.decided(is_about);
        let failed = about.last().filter(|(_, last)| last.came == Came::Badly);
        match failed {
            None => self.say(format!("I did take {name}: I {chosen}.")),
            Some((index, last)) => {
                self.rest_on(*index);
                self.say(format!("I {chosen}, and could not take it: {}.", last.what));
                last.because
                    .iter()
                    .chain(&last.otherwise)
                    .for_each(|why| self.say(format!("{}.", capital(why))));
            }
        }
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
                self.tried(key, &name, &choice.what);
            } else {
                self.say(format!("{}, and did nothing to it.", chose(&choice.what)));
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
            self.say(format!("{}.", chose(&choice.what)));
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

/// What was chosen, as a sentence of the robot's: "took ..." or "\"mug\" can mean ...".
fn chose(what: &str) -> String {
    if what.starts_with("took ") { format!("I {what}") } else { capital(what) }
}
