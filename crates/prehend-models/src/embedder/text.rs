//! The text tower alone.

use super::{Family, Tokens, output_name, rows};
use crate::session::{Feed, Numbers};
use crate::{ModelError, Session};
use prehend_perception::InferenceError;
use std::path::Path;

/// A text tower with its tokenizer.
#[derive(Debug)]
pub(crate) struct TextTower {
    family: Family,
    session: Session,
    output: String,
    tokens: Tokens,
}

impl TextTower {
    /// Wraps a loaded model and its tokenizer.
    ///
    /// Errors: [`ModelError`].
    pub(crate) fn new(
        family: Family,
        session: Session,
        tokenizer: &Path,
        pad_token: &str,
    ) -> Result<Self, ModelError> {
        let signature = family.text_signature();
        session.check(family.kinds()[1], &signature)?;
        let output = output_name(&session, &signature);
        let tokens = Tokens::read(tokenizer, family.length(), pad_token)?;
        Ok(Self { family, session, output, tokens })
    }

    /// Unit vectors of texts, one for each; all of them are one call.
    ///
    /// Errors: [`InferenceError`].
    pub(crate) fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, InferenceError> {
        if texts.is_empty() {
            return Ok(Vec::new());
        }
        let (mut ids, mut mask) = (Vec::new(), Vec::new());
        for text in texts {
            let lower = text.to_lowercase();
            // SigLIP was trained on lower case; CLIP's tokenizer lowers by itself.
            let text = if self.family == Family::Siglip { &lower } else { *text };
            let tokens = self.tokens.of(text).map_err(|message| InferenceError::Text {
                model: self.session.name().to_owned(),
                text: text.to_owned(),
                message,
            })?;
            ids.extend(tokens.ids);
            mask.extend(tokens.mask);
        }
        let shape = [texts.len(), self.family.length()];
        let feed = |name, numbers| Feed { name, shape: &shape, numbers: Numbers::Int(numbers) };
        let mut feeds = vec![feed("input_ids", &ids)];
        if self.session.inputs().iter().any(|input| input.name == "attention_mask") {
            feeds.push(feed("attention_mask", &mask));
        }
        let answer = self.session.run(&feeds, &[&self.output])?;
        rows(&self.session, &answer[0], texts.len())
    }
}
