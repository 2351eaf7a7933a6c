//! From words to the numbers of a model, by its own `tokenizer.json`.

use crate::ModelError;
use std::path::Path;
use tokenizers::{PaddingParams, PaddingStrategy, Tokenizer, TruncationParams};

/// A tokenizer that gives texts of one length.
#[derive(Clone, Debug)]
pub struct Tokens {
    tokenizer: Tokenizer,
    length: usize,
}

/// One text as numbers, both lists of the same length.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct TextNumbers {
    /// Numbers of the tokens, filled up.
    pub(super) ids: Vec<i64>,
    /// 1 for the text's own tokens, 0 for what fills up.
    pub(super) mask: Vec<i64>,
}

impl Tokens {
    /// Reads a `tokenizer.json`. Longer texts are cut, but keep their end token; shorter ones are filled up with `pad_token`.
    ///
    /// Errors: [`ModelError::Companion`] when the file is no tokenizer, or has no such token.
    pub fn read(path: &Path, length: usize, pad_token: &str) -> Result<Self, ModelError> {
        let wrong = |message: String| ModelError::Companion { path: path.to_path_buf(), message };
        let mut tokenizer =
            Tokenizer::from_file(path).map_err(|error| wrong(format!("it is no tokenizer: {error}")))?;
        let pad_id = tokenizer
            .token_to_id(pad_token)
            .ok_or_else(|| wrong(format!("it has no token `{pad_token}` to fill up with; set pad_token")))?;
        tokenizer
            .with_truncation(Some(TruncationParams { max_length: length, ..TruncationParams::default() }))
            .map_err(|error| wrong(error.to_string()))?;
        tokenizer.with_padding(Some(PaddingParams {
            strategy: PaddingStrategy::Fixed(length),
            pad_id,
            pad_token: pad_token.to_owned(),
            ..PaddingParams::default()
        }));
        Ok(Self { tokenizer, length })
    }

    /// The numbers of a text; what is wrong with it, in words.
    pub(super) fn of(&self, text: &str) -> Result<TextNumbers, String> {
        let encoding = self.tokenizer.encode(text, true).map_err(|error| error.to_string())?;
        let numbers = |list: &[u32]| list.iter().map(|number| i64::from(*number)).collect::<Vec<_>>();
        let (ids, mask) = (numbers(encoding.get_ids()), numbers(encoding.get_attention_mask()));
        if ids.len() != self.length {
            return Err(format!("{} tokens instead of {}", ids.len(), self.length));
        }
        Ok(TextNumbers { ids, mask })
    }
}

/// Tokens of one text, as many as it has.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pieces {
    /// Numbers of the tokens, with those of start and end.
    pub ids: Vec<i64>,
    /// Number of the sentence that each is of.
    pub types: Vec<i64>,
}

/// A tokenizer of BERT's make: texts keep their own length.
#[derive(Clone, Debug)]
pub struct WordPieces {
    tokenizer: Tokenizer,
    pad_id: i64,
    separators: [i64; 3],
}

impl WordPieces {
    /// Reads a `tokenizer.json`. With `length` longer texts are cut, but keep their end token.
    ///
    /// Errors: [`ModelError::Companion`] when the file is no tokenizer, or lacks one of BERT's tokens.
    pub fn read(path: &Path, length: Option<usize>) -> Result<Self, ModelError> {
        let wrong = |message: String| ModelError::Companion { path: path.to_path_buf(), message };
        let mut tokenizer =
            Tokenizer::from_file(path).map_err(|error| wrong(format!("it is no tokenizer: {error}")))?;
        let number = |token: &str| {
            let number = tokenizer.token_to_id(token).map(i64::from);
            number.ok_or_else(|| wrong(format!("it has no token `{token}`: it is none of BERT's make")))
        };
        let (pad_id, separators) = (number("[PAD]")?, [number("[CLS]")?, number("[SEP]")?, number(".")?]);
        let truncation =
            length.map(|max_length| TruncationParams { max_length, ..TruncationParams::default() });
        tokenizer.with_truncation(truncation).map_err(|error| wrong(error.to_string()))?;
        tokenizer.with_padding(None);
        Ok(Self { tokenizer, pad_id, separators })
    }

    /// Number of the token that fills texts up.
    pub fn pad_id(&self) -> i64 {
        self.pad_id
    }

    /// Whether a token stands between phrases: start, end or full stop.
    pub fn is_separator(&self, id: i64) -> bool {
        self.separators.contains(&id)
    }

    /// The tokens of a text; what is wrong with it, in words.
    pub fn of(&self, text: &str) -> Result<Pieces, String> {
        let encoding = self.tokenizer.encode(text, true).map_err(|error| error.to_string())?;
        let numbers = |list: &[u32]| list.iter().map(|number| i64::from(*number)).collect::<Vec<_>>();
        Ok(Pieces { ids: numbers(encoding.get_ids()), types: numbers(encoding.get_type_ids()) })
    }

    /// The words of some tokens, pieces of one word joined.
    pub fn words(&self, ids: &[i64]) -> Result<String, String> {
        let ids: Vec<u32> = ids.iter().filter_map(|id| u32::try_from(*id).ok()).collect();
        self.tokenizer.decode(&ids, true).map_err(|error| error.to_string())
    }
}

#[cfg(test)]
mod tests;
