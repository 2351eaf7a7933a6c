//! Google's `POST /v1beta/models/MODEL:streamGenerateContent?alt=sse`.
//!
//! Source: Gemini API reference, "Generating content" and "Function calling" with thought signatures, as of November 2026. Calls have
//! no ids of their own; a stream ends without a mark of its own, and its counts of tokens are cumulative.

use super::{Ask, Broke, Decoder, Growing, Provider, arguments, base64, by_turns, read, rules};
use crate::error::SetupError;
use crate::http::secret;
use crate::talk::stream::Framing;
use prehend_agent::talk::{Call, End, Message, Tool, Turn};
use reqwest::header::{HeaderMap, HeaderName};
use serde::Deserialize;
use serde_json::{Value, json};

/// The protocol.
pub(super) struct Gemini;

impl Provider for Gemini {
    fn url(&self, base: &str, model: &str) -> String {
        format!("{base}/v1beta/models/{model}:streamGenerateContent?alt=sse")
    }

    fn headers(&self, key: Option<&str>) -> Result<HeaderMap, SetupError> {
        let mut headers = HeaderMap::new();
        if let Some(key) = key {
            headers.insert(HeaderName::from_static("x-goog-api-key"), secret(key)?);
        }
        Ok(headers)
    }

    fn framing(&self) -> Framing {
        Framing::Sse
    }

    fn body(&self, ask: &Ask<'_>) -> Value {
        let systems: Vec<Value> = rules(ask.messages).iter().map(|text| json!({ "text": text })).collect();
        let declared: Vec<Value> = ask.tools.iter().map(declaration).collect();
        let mut body = json!({
            "systemInstruction": { "parts": systems },
            "contents": contents(ask.messages),
            "tools": [{ "functionDeclarations": declared }],
        });
        if let Some(temperature) = ask.temperature {
            body["generationConfig"]["temperature"] = json!(temperature);
        }
        if let Some(most) = ask.max_tokens {
            body["generationConfig"]["maxOutputTokens"] = json!(most);
        }
        body
    }

    fn decoder(&self) -> Box<dyn Decoder + Send> {
        Box::<Answer>::default()
    }
}

fn declaration(tool: &Tool) -> Value {
    let mut parameters = tool.parameters.clone();
    without_closure(&mut parameters);
    json!({ "name": tool.name, "description": tool.description, "parameters": parameters })
}

/// `parameters` is the subset of OpenAPI's schema that knows no `additionalProperties` and refuses it.
fn without_closure(schema: &mut Value) {
    match schema {
        Value::Object(fields) => {
            fields.remove("additionalProperties");
            fields.values_mut().for_each(without_closure);
        }
        Value::Array(items) => items.iter_mut().for_each(without_closure),
        _ => {}
    }
}

/// The turns; the answers to the calls of one turn are one content.
fn contents(all: &[Message]) -> Vec<Value> {
    let turns = by_turns(all, |message| {
        Some(match message {
            Message::System { .. } => return None,
            Message::User { text } => ("user", vec![json!({ "text": text })]),
            Message::Picture { text, png } => {
                let picture = json!({ "inlineData": { "mimeType": "image/png", "data": base64(png) } });
                ("user", vec![json!({ "text": text }), picture])
            }
            Message::Assistant { text, calls } => {
                let said = (!text.is_empty()).then(|| json!({ "text": text }));
                let calls = calls.iter().map(|call| {
                    let mut part = json!({ "functionCall": { "name": call.name, "args": arguments(call) } });
                    if let Some(signature) = &call.signature {
                        part["thoughtSignature"] = json!(signature);
                    }
                    part
                });
                ("model", said.into_iter().chain(calls).collect())
            }
            Message::Tool { name, content, .. } => {
                // An object, by the protocol.
                let response = match serde_json::from_str(content) {
                    Ok(Value::Object(fields)) => Value::Object(fields),
                    _ => json!({ "result": content }),
                };
                ("user", vec![json!({ "functionResponse": { "name": name, "response": response } })])
            }
        })
    });
    turns.into_iter().map(|(role, parts)| json!({ "role": role, "parts": parts })).collect()
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Chunk {
    #[serde(default)]
    candidates: Vec<Candidate>,
    #[serde(default)]
    prompt_feedback: Option<Feedback>,
    #[serde(default)]
    usage_metadata: Option<Tokens>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Candidate {
    #[serde(default)]
    content: Content,
    #[serde(default)]
    finish_reason: Option<String>,
}

#[derive(Default, Deserialize)]
struct Content {
    #[serde(default)]
    parts: Vec<Part>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Part {
    #[serde(default)]
    text: Option<String>,
    /// The text is the model's reasoning.
    #[serde(default)]
    thought: bool,
    #[serde(default)]
    function_call: Option<FunctionCall>,
    #[serde(default)]
    thought_signature: Option<String>,
}

#[derive(Deserialize)]
struct FunctionCall {
    name: String,
    #[serde(default)]
    id: Option<String>,
    #[serde(default)]
    args: Option<Value>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Feedback {
    #[serde(default)]
    block_reason: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Tokens {
    #[serde(default)]
    prompt_token_count: u64,
    #[serde(default)]
    candidates_token_count: u64,
    #[serde(default)]
    thoughts_token_count: u64,
}

#[derive(Default)]
struct Answer {
    growing: Growing,
}

impl Decoder for Answer {
    fn take(&mut self, event: &str) -> Result<bool, Broke> {
        let chunk: Chunk = read(event)?;
        if let Some(tokens) = chunk.usage_metadata {
            self.growing.usage.tokens_in = tokens.prompt_token_count;
            self.growing.usage.tokens_out =
                tokens.candidates_token_count.saturating_add(tokens.thoughts_token_count);
        }
        if chunk.prompt_feedback.is_some_and(|feedback| feedback.block_reason.is_some()) {
            self.growing.end = Some(End::Declined);
        }
        let Some(candidate) = chunk.candidates.into_iter().next() else { return Ok(true) };
        for part in candidate.content.parts {
            if let Some(text) = part.text.filter(|_| !part.thought) {
                self.growing.text.push_str(&text);
            }
            if let Some(call) = part.function_call {
                let number = self.growing.calls.len() as u64;
                *self.growing.call(number) = Call {
                    id: call.id.unwrap_or_default(),
                    name: call.name,
                    arguments: call.args.unwrap_or_else(|| json!({})).to_string(),
                    signature: part.thought_signature,
                };
            }
        }
        if let Some(reason) = candidate.finish_reason {
            self.growing.end = Some(match reason.as_str() {
                "MAX_TOKENS" => End::Cut,
                "SAFETY" | "RECITATION" | "BLOCKLIST" | "PROHIBITED_CONTENT" | "SPII" | "LANGUAGE" => {
                    End::Declined
                }
                // Also calls that the server itself found malformed: then there is none.
                _ => End::Complete,
            });
        }
        Ok(true)
    }

    fn is_over(&self) -> bool {
        // Counts may follow: the server closes the stream.
        false
    }

    fn end(self: Box<Self>) -> Option<Turn> {
        self.growing.turn()
    }
}
