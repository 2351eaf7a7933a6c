//! What differs between providers: where requests go, what they look like, and how a streamed answer is read.
//!
//! Each provider's own documents are the source; its file names them with their date.

mod anthropic;
mod gemini;
mod ollama;
mod openai;

use super::stream::Framing;
use crate::error::SetupError;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use prehend_agent::talk::{Call, End, Message, Tool, Turn, Usage};
use reqwest::header::HeaderMap;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

/// Whose protocol is spoken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProviderName {
    /// OpenAI's chat completions, which vLLM, SGLang and llama.cpp speak too.
    OpenAi,
    /// Anthropic's Messages.
    Anthropic,
    /// Google's `generateContent`.
    Gemini,
    /// Ollama's `/api/chat`.
    Ollama,
}

impl ProviderName {
    /// Every provider with its name in configuration.
    pub const ALL: [(&'static str, Self); 4] = [
        ("openai", Self::OpenAi),
        ("anthropic", Self::Anthropic),
        ("gemini", Self::Gemini),
        ("ollama", Self::Ollama),
    ];

    /// The name in configuration.
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(_, provider)| *provider == self).map_or("", |(name, _)| name)
    }

    /// Where the provider's own service is; Ollama's is on this machine.
    pub fn base_url(self) -> &'static str {
        match self {
            Self::OpenAi => "https://api.openai.com/v1",
            Self::Anthropic => "https://api.anthropic.com",
            Self::Gemini => "https://generativelanguage.googleapis.com",
            Self::Ollama => "http://127.0.0.1:11434",
        }
    }

    pub(super) fn protocol(self) -> &'static dyn Provider {
        match self {
            Self::OpenAi => &openai::OpenAi,
            Self::Anthropic => &anthropic::Anthropic,
            Self::Gemini => &gemini::Gemini,
            Self::Ollama => &ollama::Ollama,
        }
    }
}

/// A request before it has a provider's form.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ask<'a> {
    pub(super) model: &'a str,
    pub(super) messages: &'a [Message],
    pub(super) tools: &'a [Tool],
    pub(super) temperature: Option<f64>,
    /// Longest answer, tokens.
    pub(super) max_tokens: Option<u32>,
}

/// The protocol of a provider.
pub(super) trait Provider: Send + Sync {
    /// Where requests go, below a base without a slash at its end.
    fn url(&self, base: &str, model: &str) -> String;
    /// The headers of a request, with the key.
    fn headers(&self, key: Option<&str>) -> Result<HeaderMap, SetupError>;
    fn framing(&self) -> Framing;
    /// The JSON of a request for a streamed answer.
    fn body(&self, ask: &Ask<'_>) -> Value;
    /// Reads one answer.
    fn decoder(&self) -> Box<dyn Decoder + Send>;
}

/// Reads the events of one answer.
pub(super) trait Decoder {
    /// Takes an event; whether it said something.
    fn take(&mut self, event: &str) -> Result<bool, Broke>;
    /// Whether the answer is whole, so that nothing more is waited for.
    fn is_over(&self) -> bool;
    /// The turn; `None` when the stream ended before the answer did.
    fn end(self: Box<Self>) -> Option<Turn>;
}

/// Why an answer cannot be read to its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Broke {
    /// It is not of the provider's format.
    Format(&'static str),
    /// The server says within the stream that it failed.
    Server {
        /// Its own word for it.
        code: Option<String>,
        /// Whether the conversation is too long.
        is_too_long: bool,
    },
}

/// An event in the provider's shape; an error of the server within the stream is told as such.
fn read<T: DeserializeOwned>(event: &str) -> Result<T, Broke> {
    let value: Value = serde_json::from_str(event).map_err(|_| Broke::Format("an event is no JSON"))?;
    match server_error(&value) {
        Some(broke) => Err(broke),
        None => serde_json::from_value(value).map_err(|_| Broke::Format("an event has another shape")),
    }
}

/// Messages by turns, for providers that want roles to alternate: what follows of one role is one turn, and a turn without content is
/// none. `content` gives a message's role and content; none for what does not stand among the turns.
fn by_turns(
    messages: &[Message],
    content: impl Fn(&Message) -> Option<(&'static str, Vec<Value>)>,
) -> Vec<(&'static str, Vec<Value>)> {
    let mut turns: Vec<(&'static str, Vec<Value>)> = Vec::new();
    for (role, parts) in messages.iter().filter_map(content).filter(|(_, parts)| !parts.is_empty()) {
        match turns.last_mut() {
            Some((last, said)) if *last == role => said.extend(parts),
            _ => turns.push((role, parts)),
        }
    }
    turns
}

/// Bytes as they stand in JSON.
fn base64(bytes: &[u8]) -> String {
    STANDARD.encode(bytes)
}

/// The rules among messages, for providers that want them apart.
fn rules(messages: &[Message]) -> Vec<&str> {
    let rules = messages.iter().filter_map(|message| match message {
        Message::System { text } => Some(text.as_str()),
        _ => None,
    });
    rules.collect()
}

/// An `error` within the stream, in any of the providers' shapes.
fn server_error(event: &Value) -> Option<Broke> {
    let error = event.get("error").filter(|error| !error.is_null())?;
    Some(Broke::Server { code: error_code(event), is_too_long: is_too_long(&error.to_string()) })
}

/// The words by which servers say that a conversation is too long; each is lower case.
const TOO_LONG: [&str; 8] = [
    "context_length_exceeded",
    "context length",
    "context window",
    "context size",
    "exceed_context_size",
    "prompt is too long",
    "request_too_large",
    "exceeds the maximum number of tokens",
];

/// Whether the text of an error says that the conversation is too long.
pub(super) fn is_too_long(text: &str) -> bool {
    let text = text.to_lowercase();
    TOO_LONG.iter().any(|words| text.contains(words))
}

/// A server's own word for an error: `code`, `type` or `status` of `error`, when it is one identifier and so cannot be what was sent.
pub(super) fn error_code(body: &Value) -> Option<String> {
    let error = body.get("error")?;
    let word = |key: &str| error.get(key).and_then(Value::as_str).map(str::to_owned);
    let is_word = |text: &String| {
        (3..=48).contains(&text.len())
            && text.contains('_')
            && text.chars().all(|c| c.is_ascii_alphabetic() || c == '_')
    };
    ["code", "type", "status"].into_iter().filter_map(word).find(is_word)
}

/// The arguments of a call as an object; what a model garbled goes back to it as none, since servers refuse what they cannot read.
fn arguments(call: &Call) -> Value {
    match serde_json::from_str(&call.arguments) {
        Ok(Value::Object(fields)) => Value::Object(fields),
        _ => Value::Object(Map::new()),
    }
}

/// An answer as it grows.
#[derive(Debug, Default)]
struct Growing {
    text: String,
    /// Each call with what the provider numbers it by.
    calls: Vec<(u64, Call)>,
    end: Option<End>,
    usage: Usage,
}

impl Growing {
    /// The call of this number, begun when there is none.
    fn call(&mut self, number: u64) -> &mut Call {
        let at = match self.calls.iter().position(|(known, _)| *known == number) {
            Some(at) => at,
            None => {
                let call = Call {
                    id: String::new(),
                    name: String::new(),
                    arguments: String::new(),
                    signature: None,
                };
                self.calls.push((number, call));
                self.calls.len() - 1
            }
        };
        &mut self.calls[at].1
    }

    fn turn(self) -> Option<Turn> {
        let end = self.end?;
        let calls = self.calls.into_iter().map(|(_, call)| call).collect();
        Some(Turn { text: self.text, calls, end, usage: self.usage })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_word_of_an_error_is_told_and_nothing_else_of_it() {
        for (body, code) in [
            (
                json!({ "error": { "code": "invalid_api_key", "message": "sk-secret" } }),
                Some("invalid_api_key"),
            ),
            (json!({ "error": { "code": 400, "status": "INVALID_ARGUMENT" } }), Some("INVALID_ARGUMENT")),
            (json!({ "type": "error", "error": { "type": "overloaded_error" } }), Some("overloaded_error")),
            (json!({ "error": "model 'secret' not found" }), None),
            (json!({ "error": { "code": "sk-secret-key-123" } }), None),
            (json!({ "error": { "type": "put the secret mug_in the bowl" } }), None),
            (json!([]), None),
        ] {
            assert_eq!(error_code(&body).as_deref(), code, "{body}");
        }
    }

    #[test]
    fn every_servers_words_for_too_long_are_known() {
        for text in [
            "This model's maximum context length is 8192 tokens.",
            "context_length_exceeded",
            "prompt is too long: 210000 tokens > 200000 maximum",
            "The input token count (1100000) exceeds the maximum number of tokens allowed (1048576).",
            "the request exceeds the available context size, try increasing it",
        ] {
            assert!(is_too_long(text), "{text}");
        }
        assert!(!is_too_long("max_tokens must be at least 1"));
    }
}
