//! The vision-language model of ASP IV-C behind an OpenAI interface.

use crate::error::{ConfirmError, SetupError};
use crate::http::{Endpoint, Failure, LONGEST_BODY, bearer};
use crate::retry::pause;
use crate::settings::{VlmSettings, endpoint};
use crate::{answer, chat, prompt};
use prehend_perception::{Confirmer, Judgement, Question};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use tokio::sync::{Mutex, Semaphore};
use tokio::time::Instant;

/// Questions that are open at once; more wait their turn within their time.
const AT_ONCE: usize = 2;

/// Asks a model at a URL. One question is one request, again after 429, 5xx and lost connections, and one more round when the
/// answer cannot be used; all of it within `timeout`.
pub struct HttpConfirmer {
    settings: VlmSettings,
    endpoint: Endpoint,
    turns: Semaphore,
    rng: Mutex<ChaCha8Rng>,
    requests: AtomicU64,
}

impl HttpConfirmer {
    /// A confirmer that sends `key` with each request. Connects to nobody yet.
    pub fn new(settings: VlmSettings, key: Option<&str>) -> Result<Self, SetupError> {
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
    pub fn requests(&self) -> u64 {
        self.requests.load(Ordering::Relaxed)
    }

    async fn ask(&self, question: &Question, end: Instant) -> Result<Vec<Judgement>, ConfirmError> {
        let settings = &self.settings;
        let mut messages = prompt::messages(question, settings.max_side)?;
        let schema = prompt::schema(question);
        let request = |messages: &[chat::Message]| {
            let (model, format) = (&settings.model, settings.response_format);
            chat::request(model, messages, settings.temperature, format, schema.clone())
        };
        let said = self.text(request(&messages), end).await?;
        let fault = match answer::parse(&said, question) {
            Ok(judged) => return Ok(judged),
            Err(fault) => fault,
        };
        messages.extend(prompt::repair(&said, &fault));
        let said = self.text(request(&messages), end).await?;
        answer::parse(&said, question).map_err(ConfirmError::Unusable)
    }

    /// What the model says to a request, which is sent until it is answered or nothing is gained by sending it again.
    async fn text(&self, body: Vec<u8>, end: Instant) -> Result<String, ConfirmError> {
        let mut attempts = 0;
        loop {
            attempts += 1;
            self.requests.fetch_add(1, Ordering::Relaxed);
            let (error, asked) = match self.endpoint.post(body.clone()).await {
                Ok(body) => return chat::text_of(&body).ok_or(ConfirmError::NoChat),
                Err(Failure::Refused(status)) => return Err(ConfirmError::Refused { status }),
                Err(Failure::TooLong) => return Err(ConfirmError::TooLong { limit: LONGEST_BODY }),
                Err(Failure::Lost(how)) => (ConfirmError::Lost { attempts, how }, None),
                Err(Failure::Failing(status, asked)) => (ConfirmError::Failing { status, attempts }, asked),
            };
            if attempts > self.settings.retries {
                return Err(error);
            }
            if let Some(asked) = asked
                && asked > end.saturating_duration_since(Instant::now())
            {
                return Err(ConfirmError::MustWait { seconds: asked.as_secs() });
            }
            let base = Duration::from_secs_f64(self.settings.backoff);
            let pause = pause(base, attempts, asked, &mut *self.rng.lock().await);
            tokio::time::sleep(pause).await;
        }
    }
}

impl Confirmer for HttpConfirmer {
    type Error = ConfirmError;

    async fn confirm(&self, question: &Question) -> Result<Vec<Judgement>, ConfirmError> {
        let seconds = self.settings.timeout;
        let end = Instant::now() + Duration::from_secs_f64(seconds);
        let in_turn = async {
            // It is never closed, so that an error cannot be.
            let _turn = self.turns.acquire().await;
            self.ask(question, end).await
        };
        let answer = tokio::time::timeout_at(end, in_turn).await;
        answer.unwrap_or(Err(ConfirmError::TimedOut { seconds }))
    }
}

/// Without the key.
impl fmt::Debug for HttpConfirmer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpConfirmer").field("settings", &self.settings).finish_non_exhaustive()
    }
}
