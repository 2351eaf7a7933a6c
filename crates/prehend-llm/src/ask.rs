//! The request loop that all questions with one answer share: sent until it is answered, repaired once, within one time limit.

use crate::answer::AnswerFault;
use crate::chat::{self, Message, Role};
use crate::error::{AskError, SetupError};
use crate::http::{Endpoint, Failure, LONGEST_BODY, bearer};
use crate::retry::pause;
use crate::settings::{VlmSettings, endpoint};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use serde_json::Value;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use tokio::sync::{Mutex, Semaphore};
use tokio::time::Instant;

/// Questions that are open at once; more wait their turn within their time.
const AT_ONCE: usize = 2;
/// Most of an unusable answer that is sent back to its model, characters.
const SENT_BACK: usize = 2000;

/// Asks a model at a URL. One question is one request, again after 429, 5xx and lost connections, and one more round when the
/// answer cannot be used; all of it within `timeout`.
pub(crate) struct Asker {
    settings: VlmSettings,
    endpoint: Endpoint,
    turns: Semaphore,
    rng: Mutex<ChaCha8Rng>,
    requests: AtomicU64,
}

impl Asker {
    /// One that sends `key` with each request. Connects to nobody yet.
    pub(crate) fn new(settings: VlmSettings, key: Option<&str>) -> Result<Self, SetupError> {
        let url = endpoint(&settings.base_url).ok_or(SetupError::Url)?;
        Ok(Self {
            endpoint: Endpoint::new(url, bearer(key)?, None)?,
            turns: Semaphore::new(AT_ONCE),
            rng: Mutex::new(ChaCha8Rng::seed_from_u64(settings.seed)),
            requests: AtomicU64::new(0),
            settings,
        })
    }

    /// Requests sent so far.
    pub(crate) fn requests(&self) -> u64 {
        self.requests.load(Ordering::Relaxed)
    }

    /// Longest side of a picture, pixels.
    pub(crate) fn max_side(&self) -> u32 {
        self.settings.max_side
    }

    /// What `parse` makes of the answer to these messages, which must look as `schema` says.
    pub(crate) async fn ask<T>(
        &self,
        messages: Vec<Message>,
        schema: Value,
        parse: impl Fn(&str) -> Result<T, AnswerFault> + Send,
    ) -> Result<T, AskError> {
        let seconds = self.settings.timeout;
        let end = Instant::now() + Duration::from_secs_f64(seconds);
        let in_turn = async {
            // It is never closed, so that an error cannot be.
            let _turn = self.turns.acquire().await;
            self.ask_by(end, messages, schema, parse).await
        };
        let answer = tokio::time::timeout_at(end, in_turn).await;
        answer.unwrap_or(Err(AskError::TimedOut { seconds }))
    }

    async fn ask_by<T>(
        &self,
        end: Instant,
        mut messages: Vec<Message>,
        schema: Value,
        parse: impl Fn(&str) -> Result<T, AnswerFault> + Send,
    ) -> Result<T, AskError> {
        let settings = &self.settings;
        let request = |messages: &[Message]| {
            let (model, format) = (&settings.model, settings.response_format);
            chat::request(model, messages, settings.temperature, format, schema.clone())
        };
        let said = self.text(request(&messages), end).await?;
        let fault = match parse(&said) {
            Ok(answer) => return Ok(answer),
            Err(fault) => fault,
        };
        messages.extend(repair(&said, &fault));
        let said = self.text(request(&messages), end).await?;
        parse(&said).map_err(AskError::Unusable)
    }

    /// What the model says to a request, which is sent until it is answered or nothing is gained by sending it again.
    async fn text(&self, body: Vec<u8>, end: Instant) -> Result<String, AskError> {
        let mut attempts = 0;
        loop {
            attempts += 1;
            self.requests.fetch_add(1, Ordering::Relaxed);
            let (error, asked) = match self.endpoint.post(body.clone()).await {
                Ok(body) => return chat::text_of(&body).ok_or(AskError::NoChat),
                Err(Failure::Refused(status)) => return Err(AskError::Refused { status }),
                Err(Failure::TooLong) => return Err(AskError::TooLong { limit: LONGEST_BODY }),
                Err(Failure::Lost(how)) => (AskError::Lost { attempts, how }, None),
                Err(Failure::Failing(status, asked)) => (AskError::Failing { status, attempts }, asked),
            };
            if attempts > self.settings.retries {
                return Err(error);
            }
            if let Some(asked) = asked
                && asked > end.saturating_duration_since(Instant::now())
            {
                return Err(AskError::MustWait { seconds: asked.as_secs() });
            }
            let base = Duration::from_secs_f64(self.settings.backoff);
            let pause = pause(base, attempts, asked, &mut *self.rng.lock().await);
            tokio::time::sleep(pause).await;
        }
    }
}

/// What follows an answer that cannot be used: the answer, and what is wrong with it.
fn repair(answer: &str, fault: &AnswerFault) -> [Message; 2] {
    let said: String = answer.chars().take(SENT_BACK).collect();
    let wrong = format!("Your answer cannot be used: {fault}. Answer again with JSON alone, as told.");
    [Message::text(Role::Assistant, said), Message::text(Role::User, wrong)]
}

/// Without the key.
impl fmt::Debug for Asker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Asker").field("settings", &self.settings).finish_non_exhaustive()
    }
}
