//! What a node tells of its parameters, and what of it can be changed while it runs.

use super::value::ParameterValue;
use std::collections::BTreeMap;

/// Whether a parameter can be changed while the node runs.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Change {
    /// It can; a number within these bounds, if there are any.
    Within(Option<[f64; 2]>),
    /// It cannot, for this reason.
    Refused(String),
}

/// One parameter.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Declared {
    pub(crate) value: ParameterValue,
    pub(crate) description: String,
    pub(crate) change: Change,
}

/// The parameters of a node, by name.
#[derive(Clone, Debug, Default)]
pub(crate) struct Declarations {
    known: BTreeMap<String, Declared>,
    /// Those nobody was told of yet.
    fresh: Vec<String>,
}

/// Names of parameters with something in common, and their prefixes (`rcl_interfaces/msg/ListParametersResult`).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Listed {
    pub(crate) names: Vec<String>,
    pub(crate) prefixes: Vec<String>,
}

impl Declarations {
    /// Makes a parameter known that is only read at the start. One that was described already keeps that.
    pub(crate) fn read_at_start(&mut self, name: &str, value: ParameterValue) {
        self.note(name);
        let known = self.known.entry(name.to_owned()).or_insert_with(|| Declared {
            value: value.clone(),
            description: String::new(),
            change: Change::Refused("it is read when the node starts: give it to the node then".to_owned()),
        });
        // What can be changed while the node runs is read where it is used.
        if matches!(known.change, Change::Refused(_)) {
            known.value = value;
        }
    }

    pub(crate) fn describe(&mut self, name: &str, description: &str) {
        if let Some(known) = self.known.get_mut(name) {
            description.clone_into(&mut known.description);
        }
    }

    pub(crate) fn insert(&mut self, name: &str, declared: Declared) {
        self.note(name);
        self.known.insert(name.to_owned(), declared);
    }

    fn note(&mut self, name: &str) {
        if !self.known.contains_key(name) {
            self.fresh.push(name.to_owned());
        }
    }

    /// Names that were declared since this was called last.
    pub(crate) fn take_fresh(&mut self) -> Vec<String> {
        std::mem::take(&mut self.fresh)
    }

    pub(crate) fn get(&self, name: &str) -> Option<&Declared> {
        self.known.get(name)
    }

    /// The value a parameter would get, or why it does not.
    fn check(&self, name: &str, value: &ParameterValue) -> Result<ParameterValue, String> {
        let Some(known) = self.known.get(name) else {
            return Err(format!("parameter '{name}' cannot be set because it was not declared"));
        };
        let bounds = match &known.change {
            Change::Refused(reason) => return Err(format!("parameter '{name}' is read-only: {reason}")),
            Change::Within(bounds) => bounds,
        };
        let Some(value) = value.as_type_of(&known.value) else {
            return Err(format!(
                "Wrong parameter type, parameter {{{name}}} is of type {{{}}}, setting it to {{{}}} is not allowed.",
                known.value.type_name(),
                value.type_name()
            ));
        };
        if let Some(number) = value.number() {
            if !number.is_finite() {
                return Err(format!("parameter '{name}' must be a finite number"));
            }
            if let Some([low, high]) = bounds
                && !(*low..=*high).contains(&number)
            {
                return Err(format!("parameter '{name}' is {number}, but must be from {low} to {high}"));
            }
        }
        Ok(value)
    }

    /// Sets each parameter that can be set; for each whether it was, or why not.
    pub(crate) fn set(&mut self, changes: &[(String, ParameterValue)]) -> Vec<Result<(), String>> {
        changes
            .iter()
            .map(|(name, value)| self.check(name, value).map(|value| self.put(name, value)))
            .collect()
    }

    /// Sets all of them, or none and says why.
    pub(crate) fn set_atomically(&mut self, changes: &[(String, ParameterValue)]) -> Result<(), String> {
        let checked: Result<Vec<_>, String> =
            changes.iter().map(|(name, value)| Ok((name, self.check(name, value)?))).collect();
        for (name, value) in checked? {
            self.put(name, value);
        }
        Ok(())
    }

    fn put(&mut self, name: &str, value: ParameterValue) {
        if let Some(known) = self.known.get_mut(name) {
            known.value = value;
        }
    }

    /// Names below the `prefixes` (all when there are none), at most `depth` levels deep; 0 is any depth.
    pub(crate) fn list(&self, prefixes: &[String], depth: u64) -> Listed {
        let shallow = |text: &str| depth == 0 || (text.matches('.').count() as u64) < depth;
        let fits = |name: &str| {
            let below = |prefix: &String| {
                let rest = name.strip_prefix(prefix.as_str()).and_then(|rest| rest.strip_prefix('.'));
                name == prefix || rest.is_some_and(shallow)
            };
            (prefixes.is_empty() && shallow(name)) || prefixes.iter().any(below)
        };
        let mut listed = Listed::default();
        for name in self.known.keys().filter(|name| fits(name)) {
            if let Some((prefix, _)) = name.rsplit_once('.')
                && !listed.prefixes.iter().any(|known| known == prefix)
            {
                listed.prefixes.push(prefix.to_owned());
            }
            listed.names.push(name.clone());
        }
        listed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn declarations() -> Declarations {
        let mut all = Declarations::default();
        all.read_at_start("settings", ParameterValue::String("a.yaml".to_owned()));
        for (name, value) in
            [("retries", ParameterValue::Integer(1)), ("search.radius", ParameterValue::Double(0.85))]
        {
            let change = Change::Within(Some([0.0, 3.0]));
            all.insert(name, Declared { value, description: "how often".to_owned(), change });
        }
        let change = Change::Refused("a safety limit".to_owned());
        let value = ParameterValue::DoubleArray(vec![0.0, 1.0]);
        all.insert("limits.low.xy", Declared { value, description: String::new(), change });
        all
    }

    #[test]
    fn what_can_be_changed_is_and_the_rest_says_why_not() {
        let check = |name: &str, value: ParameterValue, message: Option<&str>| {
            let mut all = declarations();
            let outcome = all.set(&[(name.to_owned(), value)]).remove(0);
            match message {
                None => assert_eq!(outcome, Ok(()), "{name}"),
                Some(message) => {
                    let reason = outcome.expect_err(name);
                    assert!(reason.contains(message), "{name}: {reason}");
                    assert_eq!(all.get(name), declarations().get(name));
                }
            }
        };
        check("retries", ParameterValue::Integer(3), None);
        check("search.radius", ParameterValue::Double(1.0), None);
        // `ros2 param set .. 1` sends a whole number.
        check("search.radius", ParameterValue::Integer(1), None);
        check("retries", ParameterValue::Double(2.0), Some("is of type {integer}, setting it to {double}"));
        check("retries", ParameterValue::Integer(4), Some("must be from 0 to 3"));
        check("search.radius", ParameterValue::Double(f64::NAN), Some("finite"));
        check("settings", ParameterValue::String("b".to_owned()), Some("when the node starts"));
        check("limits.low.xy", ParameterValue::DoubleArray(vec![]), Some("read-only: a safety limit"));
        check("radius", ParameterValue::Double(1.0), Some("not declared"));
        check("retries", ParameterValue::NotSet, Some("setting it to {not set}"));
    }

    #[test]
    fn atomically_is_all_or_nothing() {
        let mut all = declarations();
        let changes = |retries| {
            [
                ("retries".to_owned(), ParameterValue::Integer(retries)),
                ("search.radius".to_owned(), ParameterValue::Double(0.5)),
            ]
        };
        assert!(all.set_atomically(&changes(9)).is_err());
        assert_eq!(all.get("search.radius"), declarations().get("search.radius"));
        assert_eq!(all.set_atomically(&changes(2)), Ok(()));
        assert_eq!(all.get("search.radius").map(|known| &known.value), Some(&ParameterValue::Double(0.5)));
    }

    #[test]
    fn names_are_listed_by_prefix_and_depth() {
        let check = |prefixes: &[&str], depth, names: &[&str]| {
            let prefixes: Vec<String> = prefixes.iter().map(|prefix| (*prefix).to_owned()).collect();
            assert_eq!(declarations().list(&prefixes, depth).names, names, "{prefixes:?} {depth}");
        };
        check(&[], 0, &["limits.low.xy", "retries", "search.radius", "settings"]);
        check(&[], 1, &["retries", "settings"]);
        check(&[], 2, &["retries", "search.radius", "settings"]);
        check(&["limits"], 0, &["limits.low.xy"]);
        check(&["limits"], 1, &[]);
        check(&["limits"], 2, &["limits.low.xy"]);
        check(&["retries", "sea"], 0, &["retries"]);
        assert_eq!(declarations().list(&[], 0).prefixes, ["limits.low", "search"]);
    }
}
