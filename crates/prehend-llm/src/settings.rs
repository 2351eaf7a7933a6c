//! What a vision-language model is asked with: the `vlm` keys of `config/nodes/object_map.yaml`, `config/nodes/memory.yaml` and
//! `config/nodes/describe.yaml`, and the `model` keys of `config/nodes/affordance.yaml`.

use prehend_config::{Map, Value};
use reqwest::Url;

/// Longest time a question may take, seconds: who asks for a retrieval waits no longer.
pub const LONGEST_TIMEOUT: u64 = 20;

/// What a model is asked for: the limits of its settings, and what they are when nothing is said.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Purpose {
    longest: u64,
    timeout: f64,
    max_candidates: u32,
    max_side: u32,
}

impl Purpose {
    /// To confirm what is meant, while somebody waits.
    pub const CONFIRM: Self =
        Self { longest: LONGEST_TIMEOUT, timeout: 10.0, max_candidates: 6, max_side: 512 };
    /// To choose the next look, while the robot waits; a text, no picture.
    pub const CHOOSE: Self =
        Self { longest: LONGEST_TIMEOUT, timeout: 3.0, max_candidates: 6, max_side: 512 };
    /// To describe what is remembered or modelled, for which no robot waits; numbers in its pictures must be read.
    pub const DESCRIBE: Self = Self { longest: 300, timeout: 60.0, max_candidates: 20, max_side: 1024 };
}

/// How far a server can be told what its answer must look like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResponseFormat {
    /// A JSON schema (OpenAI, vLLM, Ollama, llama.cpp).
    JsonSchema,
    /// Any JSON object.
    JsonObject,
    /// Nothing: the instructions have to do.
    None,
}

/// Where a model is and how it is asked.
#[derive(Clone, Debug, PartialEq)]
pub struct VlmSettings {
    /// What stands before `/chat/completions`, such as `http://127.0.0.1:8000/v1`: http or https, without a user, a query or a
    /// fragment.
    pub base_url: String,
    /// Name of the model, not empty.
    pub model: String,
    /// Name of the environment variable that holds the key; `None` sends no key.
    pub key_env: Option<String>,
    /// Sampling temperature; `None` leaves it to the server, since some models take only their own.
    pub temperature: Option<f64>,
    /// What the server is told about the shape of the answer.
    pub response_format: ResponseFormat,
    /// Most candidates, or things of a view, in one question, at least one.
    pub max_candidates: usize,
    /// Longest side of a picture, pixels.
    pub max_side: u32,
    /// Time for a whole question with all retries and the repair, seconds.
    pub timeout: f64,
    /// How often a request is sent again.
    pub retries: u32,
    /// First pause before it is, seconds; doubled with each.
    pub backoff: f64,
    /// Seed of the random part of the pauses.
    pub seed: u64,
}

/// The key in an environment variable; none without a name. `section` is where the name stands.
///
/// Errors: the variable holds no text.
pub(crate) fn key_of(section: &str, name: Option<&str>) -> Result<Option<String>, String> {
    let Some(name) = name else { return Ok(None) };
    let key = std::env::var(name).ok().filter(|key| !key.trim().is_empty());
    let wrong = || format!("{section}.key_env names the environment variable {name}, which holds no text");
    key.map(Some).ok_or_else(wrong)
}

impl VlmSettings {
    /// The key from the environment; `None` when none is sent.
    ///
    /// Errors: the variable holds no text.
    pub fn key(&self) -> Result<Option<String>, String> {
        key_of("vlm", self.key_env.as_deref())
    }

    /// Reads the mapping `vlm`. `Some(None)` when `base_url` is absent or null: no model is asked.
    ///
    /// Findings do not show the values of `base_url` and `key_env`: a key may have been put there by mistake.
    pub fn read(value: &Value<'_>, purpose: Purpose) -> Option<Option<Self>> {
        value.map(|map| {
            let base_url = map.or("base_url", None, |value| base_url(&value).map(Some));
            let model = map.or("model", None, |value| value.text().map(Some));
            let key_env = map.or("key_env", None, |value| variable(&value).map(Some));
            let temperature = map.or("temperature", None, |value| value.f64_in(0.0, 2.0).map(Some));
            let response_format = map.or("response_format", ResponseFormat::JsonSchema, |value| {
                value.choice(&[
                    ("json_schema", ResponseFormat::JsonSchema),
                    ("json_object", ResponseFormat::JsonObject),
                    ("none", ResponseFormat::None),
                ])
            });
            let max_candidates = count(map, "max_candidates", purpose.max_candidates, 1, 30);
            let max_side = count(map, "max_side", purpose.max_side, 16, 4096);
            let timeout =
                map.or("timeout", purpose.timeout, |value| value.f64_in(0.05, purpose.longest as f64));
            let retries = count(map, "retries", 3, 0, 10);
            let backoff = map.or("backoff", 0.5, |value| value.f64_in(0.001, 10.0));
            let seed = map.or("seed", 0, |value| value.u64());
            let Some(base_url) = base_url? else { return Some(None) };
            let Some(model) = model?.filter(|model| !model.trim().is_empty()) else {
                map.report("`base_url` needs `model`, the name of a model");
                return None;
            };
            Some(Some(Self {
                base_url,
                model,
                key_env: key_env?,
                temperature: temperature?,
                response_format: response_format?,
                max_candidates: usize::try_from(max_candidates?).ok()?,
                max_side: max_side?,
                timeout: timeout?,
                retries: retries?,
                backoff: backoff?,
                seed: seed?,
            }))
        })
    }
}

/// A whole number between two.
pub(crate) fn count(map: &mut Map<'_>, key: &'static str, default: u32, low: u32, high: u32) -> Option<u32> {
    map.or(key, default, |value| {
        let number = value.u64()?;
        let found = u32::try_from(number).ok().filter(|number| (low..=high).contains(number));
        if found.is_none() {
            value.report(format!("`{number}` is outside {low} to {high}"));
        }
        found
    })
}

/// A base that requests can be sent below, without a slash at its end; `None` when it cannot be sent to, or holds what would be
/// sent along or lost.
pub(crate) fn base(text: &str) -> Option<String> {
    let base = Url::parse(text.trim_end_matches('/')).ok()?;
    let is_plain = matches!(base.scheme(), "http" | "https")
        && base.has_host()
        && base.username().is_empty()
        && base.password().is_none()
        && base.query().is_none()
        && base.fragment().is_none();
    is_plain.then(|| base.as_str().trim_end_matches('/').to_owned())
}

/// The URL that requests go to.
pub(crate) fn endpoint(base_url: &str) -> Option<Url> {
    Url::parse(&format!("{}/chat/completions", base(base_url)?)).ok()
}

pub(crate) fn base_url(value: &Value<'_>) -> Option<String> {
    let text = value.text()?;
    if base(&text).is_none() {
        value.report(
            "expected an http or https URL such as http://127.0.0.1:8000/v1, without a user, a password, a query or a fragment",
        );
        return None;
    }
    Some(text)
}

pub(crate) fn variable(value: &Value<'_>) -> Option<String> {
    let text = value.text()?;
    let is_name = text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    if !is_name {
        value.report(
            "expected the name of an environment variable (letters, digits, `_`), not the key itself",
        );
        return None;
    }
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Option<VlmSettings>, String> {
        prehend_config::read("vlm.yaml", text, |root| VlmSettings::read(&root, Purpose::CONFIRM))
            .map_err(|e| e.to_string())
    }

    #[test]
    fn no_model_is_asked_unless_a_url_is_given() {
        assert_eq!(read("base_url: null\nmodel: null\ntimeout: 3"), Ok(None));
        assert_eq!(read("model: llava"), Ok(None));
        let on = read("base_url: http://127.0.0.1:8000/v1/\nmodel: llava\ntimeout: 3").unwrap().unwrap();
        assert_eq!((on.model.as_str(), on.timeout, on.key_env), ("llava", 3.0, None));
    }

    #[test]
    fn what_is_not_said_is_as_the_purpose_and_its_file_have_it() {
        let files = [
            (Purpose::CONFIRM, include_str!("../../../config/nodes/object_map.yaml")),
            (Purpose::DESCRIBE, include_str!("../../../config/nodes/memory.yaml")),
            (Purpose::DESCRIBE, include_str!("../../../config/nodes/describe.yaml")),
        ];
        let named = "  base_url: http://h/v1\n  model: m\n";
        for (purpose, file) in files {
            let section = file.lines().skip_while(|line| *line != "vlm:").skip(1);
            let section = section.take_while(|line| line.starts_with("  "));
            let keys = section
                .filter(|line| !["base_url:", "model:", "key_env:"].iter().any(|key| line.contains(key)));
            let said: String = keys.map(|line| format!("{line}\n")).collect();
            let read = |text: String| {
                prehend_config::read("vlm.yaml", &text, |root| VlmSettings::read(&root, purpose)).unwrap()
            };
            assert_eq!(read(format!("{named}{said}")), read(named.to_owned()), "{purpose:?}");
        }
    }

    #[test]
    fn a_base_with_and_without_a_slash_is_the_same_place() {
        for base in ["http://h:1/v1", "http://h:1/v1/", "http://h:1/v1//"] {
            assert_eq!(endpoint(base).unwrap().as_str(), "http://h:1/v1/chat/completions");
        }
        assert_eq!(endpoint("https://h").unwrap().as_str(), "https://h/chat/completions");
    }

    #[test]
    fn what_is_wrong_is_refused_with_what_would_be_right() {
        let on = "base_url: http://h/v1\nmodel: m\n";
        let refused = [
            ("base_ulr: http://h/v1".to_owned(), "did you mean `base_url`?"),
            ("base_url: http://h/v1".to_owned(), "`base_url` needs `model`"),
            ("base_url: ftp://h/v1\nmodel: m".to_owned(), "expected an http or https URL"),
            (format!("{on}timeout: 21"), "outside 0.05 to 20"),
            (format!("{on}max_candidates: 0"), "outside 1 to 30"),
            (format!("{on}retries: 4294967296"), "outside 0 to 10"),
            (format!("{on}response_format: json"), "did you mean `json_object`?"),
            (format!("{on}temperature: hot"), "expected a number"),
        ];
        for (text, expected) in refused {
            let found = read(&text).unwrap_err();
            assert!(found.contains(expected), "{text}: {found}");
        }
    }

    #[test]
    fn a_key_in_the_wrong_place_is_not_shown() {
        let on = "base_url: http://h/v1\nmodel: m\n";
        for text in [
            format!("{on}key_env: sk-secret-123"),
            "base_url: https://me:sk-secret-123@h/v1\nmodel: m".to_owned(),
            "base_url: https://h/v1?key=sk-secret-123\nmodel: m".to_owned(),
        ] {
            let found = read(&text).unwrap_err();
            assert!(!found.contains("secret"), "{found}");
        }
    }
}
