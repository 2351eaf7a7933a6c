//! The wire: requests and answers of OpenAI's `POST /chat/completions`.
//!
//! Source: OpenAI API reference, Chat Completions (`messages` with `image_url` parts, `response_format`).

use crate::settings::ResponseFormat;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// Who speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Role {
    System,
    User,
    Assistant,
}

/// One message.
#[derive(Clone, Serialize)]
pub(crate) struct Message {
    pub(crate) role: Role,
    pub(crate) content: Content,
}

/// What is said.
#[derive(Clone, Serialize)]
#[serde(untagged)]
pub(crate) enum Content {
    Text(String),
    Parts(Vec<ContentPart>),
}

/// A piece of a message with pictures.
#[derive(Clone, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(crate) enum ContentPart {
    Text { text: String },
    ImageUrl { image_url: ImageUrl },
}

/// A picture as a `data:` URL.
#[derive(Clone, Serialize)]
pub(crate) struct ImageUrl {
    pub(crate) url: String,
}

impl Message {
    pub(crate) fn text(role: Role, text: impl Into<String>) -> Self {
        Self { role, content: Content::Text(text.into()) }
    }
}

impl ContentPart {
    pub(crate) fn text(text: impl Into<String>) -> Self {
        Self::Text { text: text.into() }
    }

    /// A picture by its `data:` URL.
    pub(crate) fn image(url: String) -> Self {
        Self::ImageUrl { image_url: ImageUrl { url } }
    }
}

#[derive(Serialize)]
struct Request<'a> {
    model: &'a str,
    messages: &'a [Message],
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    response_format: Option<Value>,
}

/// The bytes of a request; `schema` is what the answer must look like, sent as far as the server can be told.
pub(crate) fn request(
    model: &str,
    messages: &[Message],
    temperature: Option<f64>,
    format: ResponseFormat,
    schema: Value,
) -> Vec<u8> {
    let response_format = match format {
        ResponseFormat::JsonSchema => Some(json!({
            "type": "json_schema",
            "json_schema": { "name": "answer", "strict": true, "schema": schema },
        })),
        ResponseFormat::JsonObject => Some(json!({ "type": "json_object" })),
        ResponseFormat::None => None,
    };
    json!(Request { model, messages, temperature, response_format }).to_string().into_bytes()
}

#[derive(Deserialize)]
struct Completion {
    choices: Vec<Choice>,
}

#[derive(Deserialize)]
struct Choice {
    message: Said,
}

#[derive(Deserialize)]
struct Said {
    content: Option<String>,
}

/// The text of the first choice; `None` when the bytes are no chat completion, or one without a text.
pub(crate) fn text_of(body: &[u8]) -> Option<String> {
    let completion: Completion = serde_json::from_slice(body).ok()?;
    completion.choices.into_iter().next()?.message.content
}
