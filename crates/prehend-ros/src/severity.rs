//! How grave a line of a log is.

/// Severity of a line on `/rosout` (`rcl_interfaces/msg/Log`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// 10.
    Debug = 10,
    /// 20.
    Info = 20,
    /// 30.
    Warn = 30,
    /// 40.
    Error = 40,
    /// 50.
    Fatal = 50,
}

impl Severity {
    /// The severity of a word, in any case; `None` when it is none.
    pub fn parse(word: &str) -> Option<Self> {
        Some(match word.to_ascii_lowercase().as_str() {
            "debug" => Self::Debug,
            "info" => Self::Info,
            "warn" | "warning" => Self::Warn,
            "error" => Self::Error,
            "fatal" => Self::Fatal,
            _ => return None,
        })
    }
}
