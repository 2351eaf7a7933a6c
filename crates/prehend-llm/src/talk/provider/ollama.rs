//! Ollama's `POST /api/chat`, streamed as one JSON object a line.
//!
//! Source: Ollama API documents, "Generate a chat message" and "Streaming tool calls", as of November 2026. Calls come whole and
//! without ids; an error within the stream is a line `{"error": "..."}`.

use super::{Ask, Broke, Decoder, Growing, Provider, arguments, base64, openai, read};
use crate::error::SetupError;
use crate::http::bearer;
use crate::talk::stream::Framing;
use prehend_agent::talk::{Call, End, Message, Turn};
use reqwest::header::HeaderMap;
use serde::Deserialize;
use serde_json::{Value, json};

/// The protocol.
pub(super) struct Ollama;

impl Provider for Ollama {
    fn url(&self, base: &str, _model: &str) -> String {
        format!("{base}/api/chat")
    }

    fn headers(&self, key: Option<&str>) -> Result<HeaderMap, SetupError> {
        bearer(key)
    }

    fn framing(&self) -> Framing {
        Framing::Lines
    }

    fn body(&self, ask: &Ask<'_>) -> Value {
        let mut body = json!({
            "model": ask.model,
            "messages": ask.messages.iter().map(message).collect::<Vec<_>>(),
            "tools": openai::functions(ask.tools),
            "stream": true,
        });
        if let Some(temperature) = ask.temperature {
            body["options"]["temperature"] = json!(temperature);
        }
        if let Some(most) = ask.max_tokens {
            body["options"]["num_predict"] = json!(most);
        }
        body
    }

    fn decoder(&self) -> Box<dyn Decoder + Send> {
        Box::<Answer>::default()
    }
}

fn message(message: &Message) -> Value {
    match message {
        Message::System { text } => json!({ "role": "system", "content": text }),
        Message::User { text } => json!({ "role": "user", "content": text }),
        Message::Picture { text, png } => json!({ "role": "user", "content": text, "images": [base64(png)] }),
        Message::Assistant { text, calls } => {
            let mut message = json!({ "role": "assistant", "content": text });
            if !calls.is_empty() {
                let calls = calls
                    .iter()
                    .map(|call| json!({ "function": { "name": call.name, "arguments": arguments(call) } }));
                message["tool_calls"] = calls.collect();
            }
            message
        }
        Message::Tool { name, content, .. } => {
            json!({ "role": "tool", "tool_name": name, "content": content })
        }
    }
}

#[derive(Deserialize)]
struct Chunk {
    #[serde(default)]
    message: Option<Said>,
    #[serde(default)]
    done: bool,
    #[serde(default)]
    done_reason: Option<String>,
    #[serde(default)]
    prompt_eval_count: Option<u64>,
    #[serde(default)]
    eval_count: Option<u64>,
}

#[derive(Deserialize)]
struct Said {
    #[serde(default)]
    content: String,
    #[serde(default)]
    tool_calls: Option<Vec<ToolCall>>,
}

#[derive(Deserialize)]
struct ToolCall {
    function: Function,
}

#[derive(Deserialize)]
struct Function {
    name: String,
    #[serde(default)]
    arguments: Value,
}

#[derive(Default)]
struct Answer {
    growing: Growing,
}

impl Decoder for Answer {
    fn take(&mut self, event: &str) -> Result<bool, Broke> {
        let chunk: Chunk = read(event)?;
        if let Some(said) = chunk.message {
            self.growing.text.push_str(&said.content);
            for call in said.tool_calls.unwrap_or_default() {
                let number = self.growing.calls.len() as u64;
                let arguments = match call.function.arguments {
                    Value::Null => "{}".to_owned(),
                    arguments => arguments.to_string(),
                };
                *self.growing.call(number) =
                    Call { id: String::new(), name: call.function.name, arguments, signature: None };
            }
        }
        if chunk.done {
            self.growing.usage.tokens_in = chunk.prompt_eval_count.unwrap_or(0);
            self.growing.usage.tokens_out = chunk.eval_count.unwrap_or(0);
            let is_cut = chunk.done_reason.as_deref() == Some("length");
            self.growing.end = Some(if is_cut { End::Cut } else { End::Complete });
        }
        Ok(true)
    }

    fn is_over(&self) -> bool {
        self.growing.end.is_some()
    }

    fn end(self: Box<Self>) -> Option<Turn> {
        self.growing.turn()
    }
}
