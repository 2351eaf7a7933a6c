//! Where a model is, how it is asked, and what a goal may spend: the mapping `model` of `config/nodes/agent.yaml`.

use super::budget::{Budget, Prices};
use super::provider::ProviderName;
use crate::settings::{base_url, count, key_of, variable};
use prehend_config::{Map, Value};
use std::path::PathBuf;

/// Longest time that a turn may be given, seconds.
const LONGEST_TURN: f64 = 600.0;
/// Most tokens an answer, or a goal, may be given.
const MOST_TOKENS: u32 = 100_000_000;

/// Where a model is and how it is asked.
#[derive(Clone, Debug, PartialEq)]
pub struct ModelSettings {
    /// Whose protocol is spoken.
    pub provider: ProviderName,
    /// What stands before the provider's own path: http or https, without a user, a query or a fragment.
    pub base_url: String,
    /// Name of the model, not empty.
    pub model: String,
    /// Whether it sees: it is sent what the camera sees, with the keys of things.
    pub sees: bool,
    /// Whether it writes a list of subtasks instead of calling tools.
    pub writes_lists: bool,
    /// Name of the environment variable that holds the key; `None` sends no key.
    pub key_env: Option<String>,
    /// PEM file of an authority that is trusted besides those of the system, for a server of one's own; `None` is none.
    pub ca_file: Option<PathBuf>,
    /// Sampling temperature; `None` leaves it to the server.
    pub temperature: Option<f64>,
    /// Longest answer, tokens; `None` leaves it to the server.
    pub max_tokens: Option<u32>,
    /// Time for a whole turn with all retries, seconds.
    pub timeout: f64,
    /// Longest time without a word, seconds; signs that keep the connection alive are none.
    pub idle: f64,
    /// How often a request is sent again.
    pub retries: u32,
    /// First pause before it is, seconds; doubled with each.
    pub backoff: f64,
    /// Seed of the random part of the pauses.
    pub seed: u64,
    /// What one goal may spend.
    pub budget: Budget,
    /// What tokens cost.
    pub prices: Prices,
}

impl ModelSettings {
    /// Settings with the defaults, of a model of this provider.
    pub fn new(provider: ProviderName, model: &str) -> Self {
        Self {
            provider,
            base_url: provider.base_url().to_owned(),
            model: model.to_owned(),
            sees: false,
            writes_lists: false,
            key_env: None,
            ca_file: None,
            temperature: None,
            max_tokens: None,
            timeout: 60.0,
            idle: 20.0,
            retries: 2,
            backoff: 0.5,
            seed: 0,
            budget: Budget { tokens: Some(400_000), calls: Some(80), seconds: Some(240.0), money: None },
            prices: Prices::default(),
        }
    }

    /// The key from the environment; `None` when none is sent.
    ///
    /// Errors: the variable holds no text.
    pub fn key(&self) -> Result<Option<String>, String> {
        key_of("model", self.key_env.as_deref())
    }

    /// Reads the mapping `model`. `Some(None)` when `model` is absent or null: no model is asked.
    ///
    /// Findings do not show the values of `base_url` and `key_env`: a key may have been put there by mistake.
    pub fn read(value: &Value<'_>) -> Option<Option<Self>> {
        value.map(|map| {
            let provider = map.or("provider", ProviderName::OpenAi, |value| value.choice(&ProviderName::ALL));
            let usual = Self::new(provider.unwrap_or(ProviderName::OpenAi), "");
            let model = map.or("model", None, |value| value.text().map(Some));
            let base_url = map.or("base_url", None, |value| base_url(&value).map(Some));
            let sees = map.or("sees", false, |value| value.bool());
            let lists = map.or("plans", false, |value| value.choice(&[("tools", false), ("list", true)]));
            let key_env = map.or("key_env", None, |value| variable(&value).map(Some));
            let ca_file = map.or("ca_file", None, |value| value.text().map(|text| Some(PathBuf::from(text))));
            let temperature = map.or("temperature", None, |value| value.f64_in(0.0, 2.0).map(Some));
            let max_tokens = number(map, "max_tokens", None);
            let timeout = map.or("timeout", usual.timeout, |value| value.f64_in(0.05, LONGEST_TURN));
            let idle = map.or("idle", usual.idle, |value| value.f64_in(0.05, LONGEST_TURN));
            let retries = count(map, "retries", usual.retries, 0, 10);
            let backoff = map.or("backoff", usual.backoff, |value| value.f64_in(0.001, 10.0));
            let seed = map.or("seed", 0, |value| value.u64());
            let budget = map.or("budget", usual.budget, |value| value.map(|map| budget(map, &usual.budget)));
            let prices = map.or("prices", usual.prices, |value| value.map(prices));
            provider?;
            let (model, base_url, key_env) = (model?, base_url?, key_env?);
            let Some(model) = model.filter(|model| !model.trim().is_empty()) else {
                if base_url.is_some() || key_env.is_some() {
                    map.report("`base_url` and `key_env` need `model`, the name of a model");
                    return None;
                }
                return Some(None);
            };
            Some(Some(Self {
                base_url: base_url.unwrap_or(usual.base_url),
                model,
                sees: sees?,
                writes_lists: lists?,
                key_env,
                ca_file: ca_file?,
                temperature: temperature?,
                max_tokens: max_tokens?.and_then(|most| u32::try_from(most).ok()),
                timeout: timeout?,
                idle: idle?,
                retries: retries?,
                backoff: backoff?,
                seed: seed?,
                budget: budget?,
                prices: prices?,
                ..usual
            }))
        })
    }
}

fn budget(map: &mut Map<'_>, usual: &Budget) -> Option<Budget> {
    let tokens = number(map, "tokens", usual.tokens);
    let calls = number(map, "calls", usual.calls);
    let seconds = map.or("seconds", usual.seconds, |value| value.f64_in(0.05, 1e6).map(Some));
    let money = map.or("money", usual.money, |value| value.f64_in(0.0, 1e6).map(Some));
    Some(Budget { tokens: tokens?, calls: calls?, seconds: seconds?, money: money? })
}

fn prices(map: &mut Map<'_>) -> Option<Prices> {
    let input = map.or("input", 0.0, |value| value.f64_in(0.0, 1e6));
    let output = map.or("output", 0.0, |value| value.f64_in(0.0, 1e6));
    Some(Prices { input: input?, output: output? })
}

/// A whole number of at least one, or null for no limit.
fn number(map: &mut Map<'_>, key: &'static str, default: Option<u64>) -> Option<Option<u64>> {
    map.or(key, default, |value| {
        let number = value.u64()?;
        if number == 0 || number > u64::from(MOST_TOKENS) {
            value.report(format!("`{number}` is outside 1 to {MOST_TOKENS}"));
            return None;
        }
        Some(Some(number))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Option<ModelSettings>, String> {
        prehend_config::read("agent.yaml", text, |root| ModelSettings::read(&root)).map_err(|e| e.to_string())
    }

    #[test]
    fn no_model_is_asked_unless_one_is_named() {
        assert_eq!(read("provider: anthropic\nmodel: null"), Ok(None));
        for (name, provider) in ProviderName::ALL {
            let found = read(&format!("provider: {name}\nmodel: m"));
            assert_eq!(found, Ok(Some(ModelSettings::new(provider, "m"))));
        }
    }

    #[test]
    fn limits_are_read_and_may_be_lifted() {
        let text = "model: m\nbudget: {tokens: 1000, calls: null, seconds: 5, money: 0.2}\nprices: {input: 1.5, output: 7}";
        let settings = read(text).unwrap().unwrap();
        assert_eq!((settings.budget.tokens, settings.budget.seconds), (Some(1000), Some(5.0)));
        assert_eq!((settings.budget.money, settings.prices.output), (Some(0.2), 7.0));
    }

    #[test]
    fn what_is_wrong_is_refused_with_what_would_be_right() {
        for (text, expected) in [
            ("provider: opnai\nmodel: m", "did you mean `openai`?"),
            ("model: m\nbudget: {tokens: 0}", "outside 1 to"),
            ("model: m\nbudget: {token: 5}", "did you mean `tokens`?"),
            ("model: m\nbase_url: ftp://h", "expected an http or https URL"),
            ("key_env: A_KEY", "need `model`"),
            ("model: m\nprices: {input: -1}", "prices.input: `-1` is outside"),
        ] {
            let found = read(text).unwrap_err();
            assert!(found.contains(expected), "{text}: {found}");
        }
        let found = read("model: m\nkey_env: sk-secret-123").unwrap_err();
        assert!(!found.contains("secret"), "{found}");
    }
}
