//! Vision-language confirm of a retrieval (ASP IV-C): which model is asked, and what holds when it does not answer.

use prehend_llm::{HttpConfirmer, VlmSettings};
use prehend_perception::{Confirmer, Question, Retrieval};
use prehend_robots::shell::NodeError;
use std::sync::Arc;

/// A model, and how many candidates it is shown.
#[derive(Clone)]
pub(super) struct Model {
    pub(super) confirmer: Arc<HttpConfirmer>,
    pub(super) max_candidates: usize,
}

impl Model {
    /// The model of these settings, with the key from the environment; `None` when they name none.
    pub(super) fn new(settings: Option<VlmSettings>) -> Result<Option<Self>, NodeError> {
        let Some(settings) = settings else { return Ok(None) };
        let failed = |reason| NodeError::Start { node: "object_map", reason };
        let key = settings.key().map_err(failed)?;
        let max_candidates = settings.max_candidates;
        let confirmer =
            HttpConfirmer::new(settings, key.as_deref()).map_err(|error| failed(error.to_string()))?;
        Ok(Some(Self { confirmer: Arc::new(confirmer), max_candidates }))
    }
}

/// A retrieval as the model has it; when the model gives no answer, as the built-in confirm left it, with the reason.
pub(super) async fn confirmed<C: Confirmer>(
    found: Retrieval,
    question: &Question,
    confirmer: &C,
) -> (Retrieval, Option<C::Error>) {
    match confirmer.confirm(question).await {
        Ok(judgements) => (found.judged(&judgements), None),
        Err(error) => (found, Some(error)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use prehend_geometry::ColorImage;
    use prehend_perception::Judgement;
    use prehend_perception::confirm::Candidate;
    use prehend_perception::retrieve::Match;

    #[derive(Debug, PartialEq, thiserror::Error)]
    #[error("asleep")]
    struct Asleep;

    /// Says the same to everything, or nothing.
    struct Model(Option<bool>);

    impl Confirmer for Model {
        type Error = Asleep;

        async fn confirm(&self, question: &Question) -> Result<Vec<Judgement>, Asleep> {
            let is_meant = self.0.ok_or(Asleep)?;
            let judge = |c: &Candidate| Judgement { key: c.key.clone(), is_meant, reason: String::new() };
            Ok(question.candidates.iter().map(judge).collect())
        }
    }

    #[tokio::test]
    async fn a_model_has_the_last_word_and_without_it_nothing_changes() {
        let candidate = Candidate {
            key: "mug_0".into(),
            class_name: "mug".to_owned(),
            size: [0.1; 3],
            picture: ColorImage::filled(2, 2, [0; 3]),
        };
        let question = Question { query: "the mug".to_owned(), candidates: vec![candidate] };
        let found = Retrieval {
            matches: vec![Match { key: "mug_0".into(), similarity: 0.9 }],
            ..Retrieval::default()
        };
        let (yes, error) = confirmed(found.clone(), &question, &Model(Some(true))).await;
        assert_eq!((&yes, error), (&found, None));
        let (no, error) = confirmed(found.clone(), &question, &Model(Some(false))).await;
        assert_eq!((no.matches.len(), no.rejected.len(), error), (0, 1, None));
        let (same, error) = confirmed(found.clone(), &question, &Model(None)).await;
        assert_eq!((same, error), (found, Some(Asleep)));
    }
}
