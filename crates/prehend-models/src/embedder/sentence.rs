//! Sentences as vectors, without pictures: MiniLM and other networks of `sentence-transformers` with BERT's tokens.
//!
//! Source: Reimers and Gurevych 2019; `sentence_transformers/models/Pooling.py` (mean over the attention mask) and `Normalize.py`.

use super::{Likeness, TextReader, WordPieces, output_name, unit};
use crate::session::{Feed, Numbers};
use crate::signature::{Axis, Element, Expected, Signature};
use crate::{ModelError, Session};
use prehend_perception::{Embedder, InferenceError};
use prehend_scene::Object;
use std::path::Path;

/// What errors call such a network.
pub const KIND: &str = "a sentence embedder with BERT's tokens";
/// Most tokens of a text (`max_seq_length` of all-MiniLM-L6-v2).
pub const LENGTH: usize = 256;
/// Scale of the cosines in training (`MultipleNegativesRankingLoss`).
const SCALE: f64 = 20.0;

/// A network for sentences with its tokenizer.
#[derive(Debug)]
pub struct SentenceEmbedder {
    session: Session,
    output: String,
    pieces: WordPieces,
}

/// What such a network must look like.
pub fn signature() -> Signature {
    let free = Axis::free;
    let tokens = |names, optional| Expected {
        names,
        element: Element::Int64,
        axes: vec![free("batch"), free("tokens")],
        optional,
    };
    let features = vec![free("batch"), free("tokens"), free("features")];
    Signature {
        inputs: vec![
            tokens(&["input_ids"], false),
            tokens(&["attention_mask"], false),
            tokens(&["token_type_ids"], true),
        ],
        outputs: vec![Expected::named(&["last_hidden_state", "token_embeddings"], features)],
    }
}

impl SentenceEmbedder {
    /// Wraps a loaded model; `tokenizer` is its `tokenizer.json`.
    ///
    /// Errors: [`ModelError`].
    pub fn new(session: Session, tokenizer: &Path) -> Result<Self, ModelError> {
        let signature = signature();
        session.check(KIND, &signature)?;
        let output = output_name(&session, &signature);
        let pieces = WordPieces::read(tokenizer, Some(LENGTH))?;
        Ok(Self { session, output, pieces })
    }
}

impl TextReader for SentenceEmbedder {
    fn embed_texts(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, InferenceError> {
        if texts.is_empty() {
            return Ok(Vec::new());
        }
        let wrong = |text: &str, message| InferenceError::Text {
            model: self.session.name().to_owned(),
            text: text.to_owned(),
            message,
        };
        let read = |text: &&str| self.pieces.of(text).map_err(|message| wrong(text, message));
        let pieces = texts.iter().map(read).collect::<Result<Vec<_>, _>>()?;
        let length = pieces.iter().map(|text| text.ids.len()).max().unwrap_or(0);
        let filled = |list: &[i64], fill: i64| {
            let mut list = list.to_vec();
            list.resize(length, fill);
            list
        };
        let ids: Vec<i64> = pieces.iter().flat_map(|text| filled(&text.ids, self.pieces.pad_id())).collect();
        let types: Vec<i64> = pieces.iter().flat_map(|text| filled(&text.types, 0)).collect();
        let mask: Vec<i64> = pieces.iter().flat_map(|text| filled(&vec![1; text.ids.len()], 0)).collect();
        let shape = [texts.len(), length];
        let feed = |name, numbers| Feed { name, shape: &shape, numbers: Numbers::Int(numbers) };
        let mut feeds = vec![feed("input_ids", &ids), feed("attention_mask", &mask)];
        if self.session.inputs().iter().any(|input| input.name == "token_type_ids") {
            feeds.push(feed("token_type_ids", &types));
        }
        let answer = self.session.run(&feeds, &[&self.output])?.remove(0);
        let features = match answer.shape[..] {
            [count, tokens, features] if count == texts.len() && tokens == length && features > 0 => features,
            _ => {
                let expected = format!("[{}, {length}, features]", texts.len());
                return Err(self.session.wrong_output(&answer, &expected));
            }
        };
        let of_texts = answer.numbers.chunks_exact(length * features).zip(mask.chunks_exact(length));
        Ok(of_texts.map(|(numbers, mask)| pooled(numbers, mask, features)).collect())
    }

    /// The others compete, as in training.
    fn likeness(&self, one: &[f32], others: &[Vec<f32>]) -> Vec<f64> {
        Likeness::Softmax { scale: SCALE }.of(one, others)
    }
}

/// The mean of a text's own tokens, at unit length. `numbers` is `[tokens, features]`.
fn pooled(numbers: &[f32], mask: &[i64], features: usize) -> Vec<f32> {
    let mut sum = vec![0.0; features];
    for (token, _) in numbers.chunks_exact(features).zip(mask).filter(|(_, own)| **own == 1) {
        sum.iter_mut().zip(token).for_each(|(sum, number)| *sum += number);
    }
    unit(&sum)
}

impl Embedder for SentenceEmbedder {
    fn name(&self) -> &str {
        self.session.name()
    }

    /// The sentence that names each object with its colour, such as `blue cup`; nothing for what has no name.
    fn embed(&self, objects: &[Object]) -> Result<Vec<Vec<f32>>, InferenceError> {
        let sentence = |object: &Object| {
            let color = object.color_fractions.first().map_or("", |(word, _)| word);
            format!("{color} {}", object.class_name).trim().to_owned()
        };
        let named: Vec<String> =
            objects.iter().filter(|object| !object.class_name.is_empty()).map(sentence).collect();
        let texts: Vec<&str> = named.iter().map(String::as_str).collect();
        let mut features = self.embed_texts(&texts)?.into_iter();
        let of_object = |object: &Object| {
            if object.class_name.is_empty() { Vec::new() } else { features.next().unwrap_or_default() }
        };
        Ok(objects.iter().map(of_object).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_fills_up_counts_for_nothing() {
        let found = pooled(&[3.0, 0.0, 3.0, 8.0, 9.0, 9.0], &[1, 1, 0], 2);
        assert_eq!(found, [0.6, 0.8]);
        assert_eq!(pooled(&[3.0, 0.0], &[0], 2), [0.0, 0.0]);
    }
}
