//! Why a model made no turn.

use super::provider::ProviderName;
use prehend_agent::talk::ModelFault;

/// Why there is no turn of a model. The texts say what to look at; none holds the key, the conversation or the answer.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum ModelError {
    /// Status 400 or 413: the conversation is longer than the model, or the server, takes.
    #[error("the conversation is longer than the model can read (status {status})")]
    TooLong {
        /// Status of the answer.
        status: u16,
    },
    /// Status 401 or 403.
    #[error("the server refuses the key (status {status}); look at model.key_env{}", named(.code))]
    Key {
        /// Status of the answer.
        status: u16,
        /// The server's own word for it.
        code: Option<String>,
    },
    /// Status 404.
    #[error("the server knows no such model or path (status 404); look at model.model, model.base_url and model.provider{}", named(.code))]
    NoModel {
        /// The server's own word for it.
        code: Option<String>,
    },
    /// Another status with which nothing is gained by asking again.
    #[error("the server refuses the request with status {status}{}", named(.code))]
    Refused {
        /// Status of the answer.
        status: u16,
        /// The server's own word for it.
        code: Option<String>,
    },
    /// Status 408, 409, 429, 5xx or an error within the stream, each time.
    #[error("the server is busy or fails (status {status}), {attempts} times{}", named(.code))]
    Failing {
        /// Status of the last answer; 200 when the stream told of the error.
        status: u16,
        /// Requests that were sent.
        attempts: u32,
        /// The server's own word for it.
        code: Option<String>,
    },
    /// The server wants a longer pause than there is time.
    #[error("the server asks to wait {seconds} s, which is longer than model.timeout leaves")]
    MustWait {
        /// The pause, seconds.
        seconds: u64,
    },
    /// Connections fail, or end before the answer does.
    #[error("no whole answer in {attempts} attempts: {how}; is a server at model.base_url?")]
    Lost {
        /// Requests that were sent.
        attempts: u32,
        /// What happened to the last one.
        how: &'static str,
    },
    /// The connection lives, and nothing is said.
    #[error("the model said nothing for {seconds} s (model.idle)")]
    Silent {
        /// The limit, seconds.
        seconds: f64,
    },
    /// The time for a turn is over.
    #[error("no whole answer within {seconds} s (model.timeout)")]
    TimedOut {
        /// The limit, seconds.
        seconds: f64,
    },
    /// The answer is longer than any answer may be.
    #[error("the answer is longer than {limit} bytes")]
    TooMuch {
        /// The limit.
        limit: usize,
    },
    /// What came is not of the provider's format.
    #[error("what the server sent is not in the format of {}: {what}", provider.name())]
    Format {
        /// Whose format was expected.
        provider: ProviderName,
        /// What is wrong.
        what: &'static str,
    },
    /// What the goal may spend is spent.
    #[error("the budget of the goal is spent: {what}")]
    Spent {
        /// Which limit, and how much it is.
        what: String,
    },
}

/// A server's own word, in brackets.
fn named(code: &Option<String>) -> String {
    code.as_ref().map_or(String::new(), |code| format!(" ({code})"))
}

impl From<ModelError> for ModelFault {
    fn from(error: ModelError) -> Self {
        match error {
            ModelError::TooLong { .. } => Self::TooLong,
            ModelError::Spent { .. } => Self::Spent(error.to_string()),
            ModelError::Key { .. }
            | ModelError::NoModel { .. }
            | ModelError::Refused { .. }
            | ModelError::Failing { .. }
            | ModelError::MustWait { .. }
            | ModelError::Lost { .. }
            | ModelError::Silent { .. }
            | ModelError::TimedOut { .. }
            | ModelError::TooMuch { .. }
            | ModelError::Format { .. } => Self::Unavailable(error.to_string()),
        }
    }
}
