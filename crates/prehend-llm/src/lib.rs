//! Language models over HTTP, behind the traits of the crates that ask them.
//!
//! For: a vision-language model that confirms what is meant, proposes what can be done with things, says what an area is, gives a second
//! opinion about models of things with moving parts, and chooses the next look where a heuristic does not; chats with tools in the formats of OpenAI (which vLLM, SGLang and llama.cpp speak too), Anthropic, Google and Ollama; time limits, retries,
//! budgets, strict answers; and texts about a word from a wiki or a metasearch. Not for: deciding when a model is asked, or what is done
//! when it does not answer (the agent, the nodes). Read [`HttpConfirmer`], [`HttpProposer`], [`HttpModel`] and [`Searches`] first.
//!
//! Nothing here logs, and no error holds a key, a query or an answer: they say what is wrong by status, place and number.

mod advise;
mod answer;
mod ask;
mod chat;
mod confirm;
mod criticise;
mod error;
mod http;
mod opinion;
mod picture;
mod prompt;
mod propose;
mod retry;
mod search;
mod settings;
mod summarise;
mod talk;

pub use advise::{FoundEvidence, HttpAdviser, LookAnswer, LookQuestion, OfferedTool};
pub use answer::AnswerFault;
pub use confirm::HttpConfirmer;
pub use criticise::{AskedJoint, JointQuestion, ModelQuestion, ModelView, Motion, SecondOpinion};
pub use error::{AskError, SetupError};
pub use opinion::{FailureReason, JointOpinion, JointScores, ModelOpinion};
pub use propose::HttpProposer;
pub use search::{SearchKind, SearchPlace, SearchSettings, Searches};
pub use settings::{LONGEST_TIMEOUT, Purpose, ResponseFormat, VlmSettings};
pub use summarise::HttpSummariser;
pub use talk::{Budget, HttpModel, ModelError, ModelSettings, Prices, ProviderName, Session};
