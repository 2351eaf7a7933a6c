//! OpenAI's `POST /chat/completions` with `stream: true`.
//!
//! Source: OpenAI API reference, "Chat Completions" and "Streaming", as of November 2026; vLLM 0.11 and llama.cpp's server send the
//! last chunk, which counts the tokens, with `choices` null, empty or absent.

use super::{Ask, Broke, Decoder, Growing, Provider, arguments, base64, read};
use crate::error::SetupError;
use crate::http::bearer;
use crate::talk::stream::Framing;
use prehend_agent::talk::{End, Message, Tool, Turn};
use reqwest::header::HeaderMap;
use serde::Deserialize;
use serde_json::{Value, json};

/// The protocol.
pub(super) struct OpenAi;

impl Provider for OpenAi {
    fn url(&self, base: &str, _model: &str) -> String {
        format!("{base}/chat/completions")
    }

    fn headers(&self, key: Option<&str>) -> Result<HeaderMap, SetupError> {
        bearer(key)
    }

    fn framing(&self) -> Framing {
        Framing::Sse
    }

    fn body(&self, ask: &Ask<'_>) -> Value {
        let mut body = json!({
            "model": ask.model,
            "messages": ask.messages.iter().map(message).collect::<Vec<_>>(),
            "tools": functions(ask.tools),
            "stream": true,
            "stream_options": { "include_usage": true },
        });
        if let Some(temperature) = ask.temperature {
            body["temperature"] = json!(temperature);
        }
        if let Some(most) = ask.max_tokens {
            body["max_completion_tokens"] = json!(most);
        }
        body
    }

    fn decoder(&self) -> Box<dyn Decoder + Send> {
        Box::<Answer>::default()
    }
}

/// Tools as functions, which Ollama takes likewise.
pub(super) fn functions(tools: &[Tool]) -> Vec<Value> {
    let function = |tool: &Tool| {
        json!({
            "type": "function",
            "function": { "name": tool.name, "description": tool.description, "parameters": tool.parameters },
        })
    };
    tools.iter().map(function).collect()
}

fn message(message: &Message) -> Value {
    match message {
        Message::System { text } => json!({ "role": "system", "content": text }),
        Message::User { text } => json!({ "role": "user", "content": text }),
        Message::Picture { text, png } => {
            let url = format!("data:image/png;base64,{}", base64(png));
            let parts = json!([
                { "type": "text", "text": text },
                { "type": "image_url", "image_url": { "url": url } },
            ]);
            json!({ "role": "user", "content": parts })
        }
        Message::Assistant { text, calls } => {
            let mut message = json!({ "role": "assistant", "content": text });
            if !calls.is_empty() {
                let calls = calls.iter().map(|call| {
                    // A text, by the protocol, that has to be JSON, by the servers.
                    let arguments = arguments(call).to_string();
                    json!({
                        "id": call.id,
                        "type": "function",
                        "function": { "name": call.name, "arguments": arguments },
                    })
                });
                message["tool_calls"] = calls.collect();
            }
            message
        }
        Message::Tool { id, content, .. } => {
            json!({ "role": "tool", "tool_call_id": id, "content": content })
        }
    }
}

#[derive(Deserialize)]
struct Chunk {
    #[serde(default)]
    choices: Option<Vec<Choice>>,
    #[serde(default)]
    usage: Option<Tokens>,
}

#[derive(Deserialize)]
struct Choice {
    #[serde(default)]
    delta: Delta,
    #[serde(default)]
    finish_reason: Option<String>,
}

#[derive(Default, Deserialize)]
struct Delta {
    #[serde(default)]
    content: Option<String>,
    #[serde(default)]
    refusal: Option<String>,
    #[serde(default)]
    tool_calls: Option<Vec<CallDelta>>,
}

#[derive(Deserialize)]
struct CallDelta {
    /// Some servers leave it out and send each call whole.
    #[serde(default)]
    index: Option<u64>,
    #[serde(default)]
    id: Option<String>,
    #[serde(default)]
    function: FunctionDelta,
}

#[derive(Default, Deserialize)]
struct FunctionDelta {
    #[serde(default)]
    name: Option<String>,
    #[serde(default)]
    arguments: Option<String>,
}

#[derive(Deserialize)]
struct Tokens {
    #[serde(default)]
    prompt_tokens: u64,
    #[serde(default)]
    completion_tokens: u64,
}

#[derive(Default)]
struct Answer {
    growing: Growing,
    is_over: bool,
    is_declined: bool,
}

impl Decoder for Answer {
    fn take(&mut self, event: &str) -> Result<bool, Broke> {
        if event.trim() == "[DONE]" {
            self.is_over = true;
            return Ok(true);
        }
        let chunk: Chunk = read(event)?;
        if let Some(tokens) = chunk.usage {
            self.growing.usage.tokens_in = tokens.prompt_tokens;
            self.growing.usage.tokens_out = tokens.completion_tokens;
        }
        let Some(choice) = chunk.choices.and_then(|choices| choices.into_iter().next()) else {
            return Ok(true);
        };
        self.growing.text.push_str(&choice.delta.content.unwrap_or_default());
        self.is_declined |= choice.delta.refusal.is_some_and(|refusal| !refusal.is_empty());
        for delta in choice.delta.tool_calls.unwrap_or_default() {
            let newest = self.growing.calls.len() as u64;
            let is_new = delta.id.as_ref().is_some_and(|id| !id.is_empty());
            let number = delta.index.unwrap_or(if is_new { newest } else { newest.saturating_sub(1) });
            let call = self.growing.call(number);
            if let Some(id) = delta.id.filter(|id| !id.is_empty()) {
                call.id = id;
            }
            call.name.push_str(&delta.function.name.unwrap_or_default());
            call.arguments.push_str(&delta.function.arguments.unwrap_or_default());
        }
        if let Some(reason) = choice.finish_reason {
            self.growing.end = Some(match reason.as_str() {
                "length" => End::Cut,
                "content_filter" => End::Declined,
                _ => End::Complete,
            });
        }
        Ok(true)
    }

    fn is_over(&self) -> bool {
        self.is_over
    }

    fn end(mut self: Box<Self>) -> Option<Turn> {
        if self.is_declined && self.growing.end.is_some() {
            self.growing.end = Some(End::Declined);
        }
        self.growing.turn()
    }
}
