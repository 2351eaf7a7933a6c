//! Language models over HTTP, behind the traits of the crates that ask them.
//!
//! For: the chat-completions format of OpenAI, which vLLM, Ollama and llama.cpp speak too; time limits, retries, strict answers. Not
//! for: deciding when a model is asked, or what is done when it does not answer (the nodes). Read [`HttpConfirmer`] first.
//!
//! Nothing here logs, and no error holds a key, a query or an answer: they say what is wrong by status, place and number.

mod answer;
mod chat;
mod confirm;
mod error;
mod http;
mod picture;
mod prompt;
mod retry;
mod settings;

pub use answer::AnswerFault;
pub use confirm::HttpConfirmer;
pub use error::{ConfirmError, SetupError};
pub use settings::{LONGEST_TIMEOUT, ResponseFormat, VlmSettings};
