//! Why a model could not be set up, and why it gave no answer.

use crate::answer::AnswerFault;

/// Why one who asks cannot be made.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SetupError {
    /// The key cannot stand in a header.
    #[error("the key holds characters that a header cannot carry, such as a line break")]
    Key,
    /// There is nothing to trust a server by.
    #[error("TLS cannot be set up; are the system's CA certificates installed (Debian: ca-certificates)?")]
    Tls,
    /// The file of the authority cannot be read, or is no PEM.
    #[error("the file of model.ca_file cannot be read, or holds no certificate in PEM")]
    Authority,
    /// The base URL names no place to send to.
    #[error("base_url is no http or https URL")]
    Url,
}

/// Why there is no answer to a question. The texts say what to look at; none holds the key, the query or the answer.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum AskError {
    /// A picture could not be written as PNG.
    #[error("picture {number} cannot be encoded")]
    Picture {
        /// Which of the question's, from 1.
        number: usize,
    },
    /// A question that is about pictures has none.
    #[error("there is no picture to ask about")]
    NoPicture,
    /// The time for the whole question is over.
    #[error("no answer within {seconds} s (vlm.timeout)")]
    TimedOut {
        /// The limit, seconds.
        seconds: f64,
    },
    /// Connections fail, or end before the answer does.
    #[error("no answer in {attempts} attempts: {how}; is a server at vlm.base_url?")]
    Lost {
        /// Requests that were sent, at least one.
        attempts: u32,
        /// What happened to the last one.
        how: &'static str,
    },
    /// The server is too busy, or fails, each time.
    #[error("the server answers with status {status}, {attempts} times")]
    Failing {
        /// Status of the last answer: 429 or 5xx.
        status: u16,
        /// Requests that were sent.
        attempts: u32,
    },
    /// The server wants a longer pause than there is time.
    #[error("the server asks to wait {seconds} s, which is longer than vlm.timeout leaves")]
    MustWait {
        /// The pause, seconds.
        seconds: u64,
    },
    /// The server will not answer this request, however often it is sent.
    #[error(
        "the server refuses the request with status {status}; look at vlm.base_url, vlm.model and the key"
    )]
    Refused {
        /// Status of the answer.
        status: u16,
    },
    /// The answer is longer than any answer may be.
    #[error("the answer is longer than {limit} bytes")]
    TooLong {
        /// The limit.
        limit: usize,
    },
    /// What came is no chat completion with a text.
    #[error(
        "what the server sent is no chat completion with a text: is vlm.base_url that of an OpenAI interface?"
    )]
    NoChat,
    /// The model was told what was wrong with its answer, and the next was no better.
    #[error("the model's answer cannot be used, nor can the one after it was told so: {0}")]
    Unusable(AnswerFault),
}
