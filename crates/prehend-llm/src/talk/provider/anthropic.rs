//! Anthropic's `POST /v1/messages` with `stream: true`.
//!
//! Source: Claude API documents, "Messages", "Streaming messages" and "Errors" (`anthropic-version: 2023-06-01`), as of November 2026.

use super::{Ask, Broke, Decoder, Growing, Provider, arguments, base64, by_turns, read, rules};
use crate::error::SetupError;
use crate::http::secret;
use crate::talk::stream::Framing;
use prehend_agent::talk::{End, Message, Turn};
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use serde::Deserialize;
use serde_json::{Value, json};

/// Longest answer when none is configured, tokens: the protocol demands a number.
const MAX_TOKENS: u32 = 4096;

/// The protocol.
pub(super) struct Anthropic;

impl Provider for Anthropic {
    fn url(&self, base: &str, _model: &str) -> String {
        format!("{base}/v1/messages")
    }

    fn headers(&self, key: Option<&str>) -> Result<HeaderMap, SetupError> {
        let mut headers = HeaderMap::new();
        headers.insert(HeaderName::from_static("anthropic-version"), HeaderValue::from_static("2023-06-01"));
        if let Some(key) = key {
            headers.insert(HeaderName::from_static("x-api-key"), secret(key)?);
        }
        Ok(headers)
    }

    fn framing(&self) -> Framing {
        Framing::Sse
    }

    fn body(&self, ask: &Ask<'_>) -> Value {
        let tools: Vec<Value> = ask
            .tools
            .iter()
            .map(|tool| {
                json!({ "name": tool.name, "description": tool.description, "input_schema": tool.parameters })
            })
            .collect();
        let mut body = json!({
            "model": ask.model,
            "max_tokens": ask.max_tokens.unwrap_or(MAX_TOKENS),
            "system": rules(ask.messages).join("\n\n"),
            "messages": messages(ask.messages),
            "tools": tools,
            "stream": true,
        });
        if let Some(temperature) = ask.temperature {
            // The protocol's range ends at 1.
            body["temperature"] = json!(temperature.min(1.0));
        }
        body
    }

    fn decoder(&self) -> Box<dyn Decoder + Send> {
        Box::<Answer>::default()
    }
}

/// The turns, user and assistant by turns; empty texts are refused.
fn messages(all: &[Message]) -> Vec<Value> {
    let turns = by_turns(all, |message| {
        Some(match message {
            Message::System { .. } => return None,
            Message::User { text } => ("user", vec![json!({ "type": "text", "text": text })]),
            Message::Picture { text, png } => {
                let source = json!({ "type": "base64", "media_type": "image/png", "data": base64(png) });
                let picture = json!({ "type": "image", "source": source });
                ("user", vec![json!({ "type": "text", "text": text }), picture])
            }
            Message::Assistant { text, calls } => {
                let said =
                    (!text.trim().is_empty()).then(|| json!({ "type": "text", "text": text.trim_end() }));
                let calls = calls.iter().map(|call| {
                    json!({ "type": "tool_use", "id": call.id, "name": call.name, "input": arguments(call) })
                });
                ("assistant", said.into_iter().chain(calls).collect())
            }
            Message::Tool { id, content, .. } => {
                ("user", vec![json!({ "type": "tool_result", "tool_use_id": id, "content": content })])
            }
        })
    });
    turns.into_iter().map(|(role, content)| json!({ "role": role, "content": content })).collect()
}

#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Event {
    MessageStart {
        message: Started,
    },
    ContentBlockStart {
        index: u64,
        content_block: Block,
    },
    ContentBlockDelta {
        index: u64,
        delta: Delta,
    },
    MessageDelta {
        delta: Ending,
        usage: Option<Tokens>,
    },
    MessageStop,
    Ping,
    /// `content_block_stop`, and what later versions add.
    #[serde(other)]
    Other,
}

#[derive(Deserialize)]
struct Started {
    #[serde(default)]
    usage: Tokens,
}

#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Block {
    Text {
        #[serde(default)]
        text: String,
    },
    ToolUse {
        id: String,
        name: String,
    },
    /// Thinking and the like, which is not asked for.
    #[serde(other)]
    Other,
}

#[derive(Deserialize)]
#[serde(tag = "type")]
enum Delta {
    #[serde(rename = "text_delta")]
    Text { text: String },
    #[serde(rename = "input_json_delta")]
    Json { partial_json: String },
    #[serde(other)]
    Other,
}

#[derive(Deserialize)]
struct Ending {
    stop_reason: Option<String>,
}

#[derive(Default, Deserialize)]
struct Tokens {
    #[serde(default)]
    input_tokens: Option<u64>,
    #[serde(default)]
    cache_creation_input_tokens: Option<u64>,
    #[serde(default)]
    cache_read_input_tokens: Option<u64>,
    #[serde(default)]
    output_tokens: Option<u64>,
}

#[derive(Default)]
struct Answer {
    growing: Growing,
    is_over: bool,
}

impl Answer {
    fn count(&mut self, tokens: &Tokens) {
        let parts = [tokens.input_tokens, tokens.cache_creation_input_tokens, tokens.cache_read_input_tokens];
        let read = parts.into_iter().flatten().fold(0, u64::saturating_add);
        if tokens.input_tokens.is_some() && read > 0 {
            self.growing.usage.tokens_in = read;
        }
        if let Some(written) = tokens.output_tokens {
            self.growing.usage.tokens_out = written;
        }
    }
}

impl Decoder for Answer {
    fn take(&mut self, event: &str) -> Result<bool, Broke> {
        let event: Event = read(event)?;
        match event {
            Event::MessageStart { message } => self.count(&message.usage),
            Event::ContentBlockStart { content_block: Block::Text { text }, .. } => {
                self.growing.text.push_str(&text);
            }
            Event::ContentBlockStart { index, content_block: Block::ToolUse { id, name } } => {
                let call = self.growing.call(index);
                (call.id, call.name) = (id, name);
            }
            Event::ContentBlockDelta { delta: Delta::Text { text }, .. } => self.growing.text.push_str(&text),
            Event::ContentBlockDelta { index, delta: Delta::Json { partial_json } } => {
                self.growing.call(index).arguments.push_str(&partial_json);
            }
            Event::MessageDelta { delta, usage } => {
                if let Some(usage) = usage {
                    self.count(&usage);
                }
                if let Some(reason) = delta.stop_reason {
                    self.growing.end = Some(match reason.as_str() {
                        "max_tokens" | "model_context_window_exceeded" => End::Cut,
                        "refusal" => End::Declined,
                        _ => End::Complete,
                    });
                }
            }
            Event::MessageStop => self.is_over = true,
            Event::Ping => return Ok(false),
            Event::ContentBlockStart { .. } | Event::ContentBlockDelta { .. } | Event::Other => {}
        }
        Ok(true)
    }

    fn is_over(&self) -> bool {
        self.is_over
    }

    fn end(self: Box<Self>) -> Option<Turn> {
        self.growing.turn()
    }
}
