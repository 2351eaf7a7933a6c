//! The vision-language model of ASP IV-C behind an OpenAI interface.

use crate::ask::Asker;
use crate::error::{AskError, SetupError};
use crate::settings::VlmSettings;
use crate::{answer, prompt};
use prehend_perception::{Confirmer, Judgement, Question};

/// Asks a model at a URL. One question is one request, again after 429, 5xx and lost connections, and one more round when the
/// answer cannot be used; all of it within `timeout`.
#[derive(Debug)]
pub struct HttpConfirmer(Asker);

impl HttpConfirmer {
    /// A confirmer that sends `key` with each request. Connects to nobody yet.
    pub fn new(settings: VlmSettings, key: Option<&str>) -> Result<Self, SetupError> {
        Asker::new(settings, key).map(Self)
    }

    /// Requests sent so far.
    pub fn requests(&self) -> u64 {
        self.0.requests()
    }
}

impl Confirmer for HttpConfirmer {
    type Error = AskError;

    async fn confirm(&self, question: &Question) -> Result<Vec<Judgement>, AskError> {
        let messages = prompt::messages(question, self.0.max_side())?;
        self.0.ask(messages, prompt::schema(question), |said| answer::parse(said, question)).await
    }
}
