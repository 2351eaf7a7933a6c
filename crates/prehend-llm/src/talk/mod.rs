//! Chat with tools, streamed, whoever provides the model (ASP III-B's agent behind [`prehend_agent::Model`]).
//!
//! Read [`HttpModel`] first: one for all goals; a [`Session`] is one goal's, with its budget.

mod budget;
mod error;
mod provider;
mod settings;
mod stream;

pub use budget::{Budget, Prices};
pub use error::ModelError;
pub use provider::ProviderName;
pub use settings::ModelSettings;

use crate::error::SetupError;
use crate::http::{Endpoint, pause_of};
use crate::retry::pause;
use budget::Spent;
use prehend_agent::talk::{Message, Tool, Turn};
use provider::{Ask, Broke, error_code, is_too_long};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use reqwest::{Response, StatusCode, Url};
use std::fmt;
use std::sync::Arc;
use std::time::Duration;
use stream::Frames;
use tokio::time::Instant;

/// Longest answer that is read, bytes.
const LONGEST_ANSWER: usize = 4 << 20;
/// Most that is read of the body of an error, bytes: enough for its code.
const LONGEST_ERROR: usize = 64 << 10;

/// A model behind a URL.
#[derive(Clone)]
pub struct HttpModel {
    inner: Arc<Inner>,
}

struct Inner {
    settings: ModelSettings,
    endpoint: Endpoint,
}

impl HttpModel {
    /// A model that is sent `key` with each request. Connects to nobody yet.
    ///
    /// Errors: the key cannot stand in a header, the URL is none, the file of the authority holds none, or TLS cannot be set up.
    pub fn new(settings: ModelSettings, key: Option<&str>) -> Result<Self, SetupError> {
        let protocol = settings.provider.protocol();
        let base = crate::settings::base(&settings.base_url).ok_or(SetupError::Url)?;
        let url = Url::parse(&protocol.url(&base, &settings.model)).map_err(|_| SetupError::Url)?;
        let authority = match &settings.ca_file {
            Some(file) => Some(std::fs::read(file).map_err(|_| SetupError::Authority)?),
            None => None,
        };
        let endpoint = Endpoint::new(url, protocol.headers(key)?, authority.as_deref())?;
        Ok(Self { inner: Arc::new(Inner { settings, endpoint }) })
    }

    /// How it is asked.
    pub fn settings(&self) -> &ModelSettings {
        &self.inner.settings
    }

    /// Whether it is sent what the camera sees.
    pub fn sees(&self) -> bool {
        self.inner.settings.sees
    }

    /// Whether it is asked for lists of subtasks rather than for tool calls.
    pub fn writes_lists(&self) -> bool {
        self.inner.settings.writes_lists
    }

    /// Begins a goal: its budget is whole.
    pub fn session(&self) -> Session {
        let rng = ChaCha8Rng::seed_from_u64(self.inner.settings.seed);
        Session { inner: Arc::clone(&self.inner), spent: Spent::default(), rng }
    }
}

/// Without the key.
impl fmt::Debug for HttpModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpModel").field("settings", &self.inner.settings).finish_non_exhaustive()
    }
}

/// One goal's conversation with a model, within its budget.
pub struct Session {
    inner: Arc<Inner>,
    spent: Spent,
    rng: ChaCha8Rng,
}

/// Without the key.
impl fmt::Debug for Session {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Session").field("spent", &self.spent).finish_non_exhaustive()
    }
}

/// Why one request brought no turn, and what to do about it.
enum Try {
    /// Nothing is gained by sending it again.
    Final(ModelError),
    /// Sending it again may do; the server asks for this pause.
    Again(Wrong, Option<Duration>),
}

/// What was wrong with a try that may be made again.
enum Wrong {
    Lost(&'static str),
    Failing(u16, Option<String>),
    Silent,
}

impl Session {
    /// Requests that were sent so far.
    pub fn requests(&self) -> u64 {
        self.spent.calls
    }

    /// One turn: what the model says to these messages.
    ///
    /// A request is sent again after 408, 409, 429, 5xx, errors within the stream, silence and lost connections, while `timeout`
    /// and the budget last.
    ///
    /// Errors: [`ModelError`].
    pub async fn turn(&mut self, messages: &[Message], tools: &[Tool]) -> Result<Turn, ModelError> {
        let began = Instant::now();
        let settings = &self.inner.settings;
        self.spent.check(&settings.budget, &settings.prices)?;
        let left = self.spent.left(&settings.budget).unwrap_or(f64::INFINITY);
        let limit = settings.timeout.min(left.max(0.001));
        let (timeout, is_budget) = (settings.timeout, left < settings.timeout);
        let end = began + Duration::from_secs_f64(limit);
        let turn = tokio::time::timeout_at(end, self.tries(messages, tools, end)).await;
        let seconds = began.elapsed().as_secs_f64();
        self.spent.usage.seconds += seconds;
        match turn {
            Ok(Ok(mut turn)) => {
                turn.usage.seconds = seconds;
                self.spent.add(&turn.usage);
                Ok(turn)
            }
            Ok(Err(error)) => Err(error),
            Err(_) if is_budget => {
                let what = format!("{} s (model.budget)", self.spent.usage.seconds.round());
                Err(ModelError::Spent { what })
            }
            Err(_) => Err(ModelError::TimedOut { seconds: timeout }),
        }
    }

    async fn tries(
        &mut self,
        messages: &[Message],
        tools: &[Tool],
        end: Instant,
    ) -> Result<Turn, ModelError> {
        let inner = Arc::clone(&self.inner);
        let settings = &inner.settings;
        let ask = Ask {
            model: &settings.model,
            messages,
            tools,
            temperature: settings.temperature,
            max_tokens: settings.max_tokens,
        };
        let mut body = settings.provider.protocol().body(&ask);
        // An empty list of tools is refused by some.
        if let Some(fields) = body.as_object_mut().filter(|_| tools.is_empty()) {
            fields.remove("tools");
        }
        let body = body.to_string().into_bytes();
        let mut attempts = 0;
        loop {
            attempts += 1;
            self.spent.calls += 1;
            let (wrong, asked) = match inner.once(body.clone()).await {
                Ok(turn) => return Ok(turn),
                Err(Try::Final(error)) => return Err(error),
                Err(Try::Again(wrong, asked)) => (wrong, asked),
            };
            if attempts > settings.retries {
                return Err(match wrong {
                    Wrong::Lost(how) => ModelError::Lost { attempts, how },
                    Wrong::Failing(status, code) => ModelError::Failing { status, attempts, code },
                    Wrong::Silent => ModelError::Silent { seconds: settings.idle },
                });
            }
            if let Some(asked) = asked
                && asked > end.saturating_duration_since(Instant::now())
            {
                return Err(ModelError::MustWait { seconds: asked.as_secs() });
            }
            self.spent.check(&settings.budget, &settings.prices)?;
            let base = Duration::from_secs_f64(settings.backoff);
            tokio::time::sleep(pause(base, attempts, asked, &mut self.rng)).await;
        }
    }
}

impl Inner {
    /// Sends a request once and reads its answer.
    async fn once(&self, body: Vec<u8>) -> Result<Turn, Try> {
        let idle = Duration::from_secs_f64(self.settings.idle);
        let opened = tokio::time::timeout(idle, self.endpoint.open(body)).await;
        let response = opened.map_err(|_| Try::Again(Wrong::Silent, None))?;
        let response = response.map_err(|how| Try::Again(Wrong::Lost(how), None))?;
        if response.status().is_success() {
            self.read(response, idle).await
        } else {
            Err(refusal(response).await)
        }
    }

    /// Reads a streamed answer to its end.
    async fn read(&self, mut response: Response, idle: Duration) -> Result<Turn, Try> {
        const BROKEN: Wrong = Wrong::Lost("the answer broke off in the middle");
        let protocol = self.settings.provider.protocol();
        let mut frames = Frames::new(protocol.framing());
        let mut decoder = protocol.decoder();
        let mut length = 0;
        let mut said = Instant::now();
        let again = |broke| match broke {
            Broke::Format(what) => Try::Final(ModelError::Format { provider: self.settings.provider, what }),
            Broke::Server { is_too_long: true, .. } => Try::Final(ModelError::TooLong { status: 200 }),
            Broke::Server { code, .. } => Try::Again(Wrong::Failing(200, code), None),
        };
        while !decoder.is_over() {
            let chunk = tokio::time::timeout_at(said + idle, response.chunk()).await;
            let chunk = chunk.map_err(|_| Try::Again(Wrong::Silent, None))?;
            let events = match chunk {
                Ok(Some(bytes)) => {
                    length += bytes.len();
                    if length > LONGEST_ANSWER {
                        return Err(Try::Final(ModelError::TooMuch { limit: LONGEST_ANSWER }));
                    }
                    frames.push(&bytes)
                }
                Ok(None) => {
                    for event in frames.end() {
                        decoder.take(&event).map_err(again)?;
                    }
                    break;
                }
                Err(_) => return Err(Try::Again(BROKEN, None)),
            };
            for event in events {
                if decoder.take(&event).map_err(again)? {
                    said = Instant::now();
                }
            }
        }
        match decoder.end() {
            Some(turn) => Ok(turn),
            // A body without one event is of another interface.
            None if length == 0 => Err(Try::Again(Wrong::Lost("the answer was empty"), None)),
            None => Err(Try::Again(BROKEN, None)),
        }
    }
}

/// What a status that is no success comes to.
async fn refusal(mut response: Response) -> Try {
    let status = response.status();
    let asked = pause_of(&response);
    let mut body = Vec::new();
    // A body that breaks off has told enough.
    while let Ok(Some(chunk)) = response.chunk().await {
        let room = LONGEST_ERROR.saturating_sub(body.len());
        body.extend_from_slice(&chunk[..chunk.len().min(room)]);
        if chunk.len() >= room {
            break;
        }
    }
    let text = String::from_utf8_lossy(&body);
    let code = serde_json::from_str(&text).ok().and_then(|body| error_code(&body));
    let number = status.as_u16();
    match status {
        StatusCode::PAYLOAD_TOO_LARGE => Try::Final(ModelError::TooLong { status: number }),
        StatusCode::BAD_REQUEST if is_too_long(&text) => Try::Final(ModelError::TooLong { status: number }),
        StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => {
            Try::Final(ModelError::Key { status: number, code })
        }
        StatusCode::NOT_FOUND => Try::Final(ModelError::NoModel { code }),
        StatusCode::REQUEST_TIMEOUT | StatusCode::CONFLICT | StatusCode::TOO_MANY_REQUESTS => {
            Try::Again(Wrong::Failing(number, code), asked)
        }
        _ if status.is_server_error() => Try::Again(Wrong::Failing(number, code), asked),
        _ => Try::Final(ModelError::Refused { status: number, code }),
    }
}
