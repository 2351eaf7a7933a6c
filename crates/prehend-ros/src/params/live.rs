//! Parameters that can be changed while the node runs.

use super::declared::{Change, Declared};
use super::value::ParameterValue;
use super::{ParameterError, Parameters};
use crate::sync::lock;
use std::ops::RangeInclusive;

/// A parameter as it is now: whoever asks again hears what it was set to meanwhile.
#[derive(Clone, Debug)]
pub struct Live<T> {
    parameters: Parameters,
    name: String,
    /// Holds until the store has one, and should it lose it.
    initial: T,
}

impl Live<f64> {
    /// The number now.
    pub fn get(&self) -> f64 {
        match self.parameters.value(&self.name) {
            Some(ParameterValue::Double(number)) => number,
            _ => self.initial,
        }
    }
}

impl Live<i64> {
    /// The whole number now.
    pub fn get(&self) -> i64 {
        match self.parameters.value(&self.name) {
            Some(ParameterValue::Integer(number)) => number,
            _ => self.initial,
        }
    }
}

impl Live<bool> {
    /// The truth value now.
    pub fn get(&self) -> bool {
        match self.parameters.value(&self.name) {
            Some(ParameterValue::Bool(value)) => value,
            _ => self.initial,
        }
    }
}

impl Parameters {
    /// A number that may be changed within bounds while the node runs.
    ///
    /// Errors, here and below: [`ParameterError::Wrong`], also when what is set is out of bounds.
    pub fn live_f64(
        &self,
        name: &str,
        default: f64,
        bounds: RangeInclusive<f64>,
        description: &str,
    ) -> Result<Live<f64>, ParameterError> {
        let value = self.f64_or(name, default)?;
        if !bounds.contains(&value) {
            return Err(self.out_of_bounds(name, "a number within its bounds"));
        }
        Ok(self.live(name, value, Some([*bounds.start(), *bounds.end()]), description))
    }

    /// A whole number that may be changed within bounds while the node runs.
    pub fn live_i64(
        &self,
        name: &str,
        default: i64,
        bounds: RangeInclusive<i64>,
        description: &str,
    ) -> Result<Live<i64>, ParameterError> {
        let value = self.i64_or(name, default)?;
        if !bounds.contains(&value) {
            return Err(self.out_of_bounds(name, "a whole number within its bounds"));
        }
        Ok(self.live(name, value, Some([*bounds.start() as f64, *bounds.end() as f64]), description))
    }

    /// A truth value that may be changed while the node runs.
    pub fn live_bool(
        &self,
        name: &str,
        default: bool,
        description: &str,
    ) -> Result<Live<bool>, ParameterError> {
        let value = self.bool_or(name, default)?;
        Ok(self.live(name, value, None, description))
    }

    fn live<T: Clone + Into<ParameterValue>>(
        &self,
        name: &str,
        initial: T,
        bounds: Option<[f64; 2]>,
        description: &str,
    ) -> Live<T> {
        // What was set meanwhile stays when a node is configured anew.
        let known = lock(&self.declared).get(name).cloned();
        let value = match known {
            Some(Declared { value, change: Change::Within(_), .. }) => value,
            _ => initial.clone().into(),
        };
        let declared =
            Declared { value, description: description.to_owned(), change: Change::Within(bounds) };
        self.declare(name, declared);
        Live { parameters: self.clone(), name: name.to_owned(), initial }
    }

    fn value(&self, name: &str) -> Option<ParameterValue> {
        lock(&self.declared).get(name).map(|known| known.value.clone())
    }

    /// Shows a value that is no parameter to set, such as a safety limit, and why it cannot be set.
    ///
    /// Errors: [`ParameterError::Fixed`] when a file or the command line sets it all the same.
    pub fn show(
        &self,
        name: &str,
        value: impl Into<ParameterValue>,
        description: &str,
        reason: &str,
    ) -> Result<(), ParameterError> {
        if let Some(setting) = self.ask(name).filter(|setting| !setting.shared) {
            return Err(ParameterError::Fixed {
                place: setting.place.clone(),
                name: name.to_owned(),
                reason: reason.to_owned(),
            });
        }
        let declared = Declared {
            value: value.into(),
            description: description.to_owned(),
            change: Change::Refused(reason.to_owned()),
        };
        self.declare(name, declared);
        Ok(())
    }

    fn declare(&self, name: &str, declared: Declared) {
        lock(&self.declared).insert(name, declared);
        self.news.notify_one();
    }

    /// Says what a parameter is for, to whoever asks the node.
    pub fn describe(&self, name: &str, description: &str) {
        lock(&self.declared).describe(name, description);
    }

    /// As [`describe`](Self::describe), and why it cannot be changed while the node runs.
    pub fn describe_fixed(&self, name: &str, description: &str, reason: &str) {
        let Some(value) = self.value(name) else { return };
        let change = Change::Refused(reason.to_owned());
        self.declare(name, Declared { value, description: description.to_owned(), change });
    }
}
