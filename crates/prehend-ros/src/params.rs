//! Parameters of a node.

/// Why a parameter cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ParameterError {
    /// The parameter is required.
    #[error("missing parameter `{name}` of {node}")]
    Missing {
        /// Node that needs it.
        node: String,
        /// Its name.
        name: String,
    },
}

/// Parameters of a node, from parameter files and `name:=value` overrides.
#[derive(Clone, Debug)]
pub struct Parameters {}

impl Parameters {
    /// A number.
    pub fn f64(&self, _name: &str) -> Result<f64, ParameterError> {
        Ok(0.0)
    }
    /// A number, `default` when absent.
    pub fn f64_or(&self, _name: &str, default: f64) -> Result<f64, ParameterError> {
        Ok(default)
    }
    /// A whole number.
    pub fn i64(&self, _name: &str) -> Result<i64, ParameterError> {
        Ok(0)
    }
    /// A whole number, `default` when absent.
    pub fn i64_or(&self, _name: &str, default: i64) -> Result<i64, ParameterError> {
        Ok(default)
    }
    /// A truth value.
    pub fn bool(&self, _name: &str) -> Result<bool, ParameterError> {
        Ok(false)
    }
    /// A truth value, `default` when absent.
    pub fn bool_or(&self, _name: &str, default: bool) -> Result<bool, ParameterError> {
        Ok(default)
    }
    /// A text.
    pub fn string(&self, _name: &str) -> Result<String, ParameterError> {
        Ok(String::new())
    }
    /// A text, `default` when absent.
    pub fn string_or(&self, _name: &str, default: &str) -> Result<String, ParameterError> {
        Ok(default.to_owned())
    }
    /// A list of numbers.
    pub fn f64_list(&self, _name: &str) -> Result<Vec<f64>, ParameterError> {
        Ok(Vec::new())
    }
    /// A list of texts.
    pub fn string_list(&self, _name: &str) -> Result<Vec<String>, ParameterError> {
        Ok(Vec::new())
    }
    /// Whether the parameter is set; declares it.
    pub fn has(&self, _name: &str) -> bool {
        false
    }
    /// Fails when a parameter is set that nobody asked for. Call it after the last getter.
    pub fn finish(&self) -> Result<(), ParameterError> {
        Ok(())
    }
}
