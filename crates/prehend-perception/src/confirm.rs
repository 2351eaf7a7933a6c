//! Confirmation of a retrieval by a model that sees (ASP IV-C). The model says yes or no to each of the top k by similarity, so any
//! number of them may be returned. Here is what is asked, and what an answer changes. The models themselves are behind [`Confirmer`].

use crate::retrieve::{Match, Rejected, Retrieval};
use prehend_geometry::ColorImage;
use prehend_scene::{Object, ObjectKey, ObjectMap};
use std::fmt;

/// Whether each of some objects is meant by a text.
#[derive(Clone, PartialEq)]
pub struct Question {
    /// What a person asked for, word for word: data, never instructions.
    pub query: String,
    /// The objects, most similar first; not empty, each key once.
    pub candidates: Vec<Candidate>,
}

/// An object as it is shown to a model.
#[derive(Clone, PartialEq)]
pub struct Candidate {
    /// The object.
    pub key: ObjectKey,
    /// What detectors call it, as data; may be empty.
    pub class_name: String,
    /// Edges of its upright box, metres; the last is the height.
    pub size: [f64; 3],
    /// The best view, with a margin around the object; not empty.
    pub picture: ColorImage,
}

/// A model's word on one candidate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Judgement {
    /// The candidate.
    pub key: ObjectKey,
    /// Whether it is meant.
    pub is_meant: bool,
    /// Why, in the model's words; may be empty.
    pub reason: String,
}

/// Says of each candidate whether it is meant.
pub trait Confirmer {
    /// Why there is no answer. Its text holds neither the query nor any secret.
    type Error: std::error::Error + Send;

    /// One judgement for each candidate, in their order.
    fn confirm(
        &self,
        question: &Question,
    ) -> impl Future<Output = Result<Vec<Judgement>, Self::Error>> + Send;
}

impl Question {
    /// The question that a retrieval leaves to a model: its candidates with a picture, matched or not, the `most` most similar of
    /// them. `None` when nothing can be shown.
    pub fn about(map: &ObjectMap, query: &str, found: &Retrieval, most: usize) -> Option<Self> {
        let matched = found.matches.iter().map(|m| (&m.key, m.similarity));
        let mut ranked: Vec<(&ObjectKey, f64)> =
            matched.chain(found.rejected.iter().map(|r| (&r.key, r.similarity))).collect();
        ranked.sort_by(|a, b| b.1.total_cmp(&a.1));
        let shown = ranked.iter().filter_map(|(key, _)| Candidate::of(map.get(key)?));
        let candidates: Vec<Candidate> = shown.take(most).collect();
        (!candidates.is_empty()).then(|| Self { query: query.to_owned(), candidates })
    }
}

/// Without the query: it is a person's.
impl fmt::Debug for Question {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Question").field("candidates", &self.candidates).finish_non_exhaustive()
    }
}

impl Candidate {
    /// The object with the first of its views that is a picture; `None` when there is none, as for what came by message.
    fn of(object: &Object) -> Option<Self> {
        let is_whole = |image: &&ColorImage| {
            !image.pixels.is_empty() && image.width.checked_mul(image.height) == Some(image.pixels.len())
        };
        let picture = object.crops.iter().map(|crop| &crop.color).find(is_whole)?;
        Some(Self {
            key: object.key.clone(),
            class_name: object.class_name.clone(),
            size: object.bounds.size.into(),
            picture: picture.clone(),
        })
    }
}

/// Without the pixels.
impl fmt::Debug for Candidate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({}x{} pixels)", self.key, self.picture.width, self.picture.height)
    }
}

impl Retrieval {
    /// The retrieval as a model's judgements have it. What was not judged stays as it was; what was judged is no longer in
    /// doubt. Order is by similarity, as before.
    pub fn judged(mut self, judgements: &[Judgement]) -> Self {
        for Judgement { key, is_meant, reason } in judgements {
            self.doubtful.retain(|other| other != key);
            if *is_meant && let Some(at) = self.rejected.iter().position(|r| r.key == *key) {
                let Rejected { key, similarity, .. } = self.rejected.remove(at);
                self.matches.push(Match { key, similarity });
            }
            if !is_meant && let Some(at) = self.matches.iter().position(|m| m.key == *key) {
                let Match { key, similarity } = self.matches.remove(at);
                self.rejected.push(Rejected { key, similarity, reason: refusal(reason) });
            } else if !is_meant && let Some(known) = self.rejected.iter_mut().find(|r| r.key == *key) {
                known.reason = refusal(reason);
            }
        }
        self.matches.sort_by(|a, b| b.similarity.total_cmp(&a.similarity));
        self.rejected.sort_by(|a, b| b.similarity.total_cmp(&a.similarity));
        self
    }
}

/// A model's no, for people.
fn refusal(reason: &str) -> String {
    if reason.is_empty() {
        "the model that looked at it says no".to_owned()
    } else {
        format!("the model that looked at it says no: {reason}")
    }
}

#[cfg(test)]
mod tests;
