//! From prompts to one sentence, and from its tokens back to names.

use crate::embedder::{Pieces, WordPieces};

/// Prompts as one sentence: `red mug. bowl.` (Hugging Face's `GroundingDinoProcessor`).
#[derive(Clone, Debug)]
pub struct Sentence {
    /// The sentence.
    pub text: String,
    /// Its tokens.
    pub pieces: Pieces,
    tokenizer: WordPieces,
}

impl Sentence {
    /// Joins prompts, which have no full stops of their own; what the tokenizer says when it cannot read them.
    pub fn new(tokenizer: WordPieces, prompts: &[String]) -> Result<Self, String> {
        let text = prompts.iter().map(|prompt| format!("{}.", prompt.to_lowercase())).collect::<Vec<_>>();
        let text = text.join(" ");
        let pieces = tokenizer.of(&text)?;
        Ok(Self { text, pieces, tokenizer })
    }

    /// Score and name of a query by its logits, one for each token: the score is that of its best token, the name is made of the tokens
    /// above `least` that stand in the phrase of the best one. The name is empty when the best token is in no phrase.
    pub fn name(&self, logits: &[f32], least: f64) -> Result<(f64, String), String> {
        let share = |logit: f32| 1.0 / (1.0 + (-f64::from(logit)).exp());
        let ids = &self.pieces.ids;
        let own = &logits[..ids.len().min(logits.len())];
        let best = (0..own.len()).max_by(|a, b| own[*a].total_cmp(&own[*b]).then(b.cmp(a)));
        let Some(best) = best else { return Ok((0.0, String::new())) };
        // A full stop ends the phrase before it.
        let right = (best..ids.len()).find(|place| self.tokenizer.is_separator(ids[*place]));
        let left = (0..best).rev().find(|place| self.tokenizer.is_separator(ids[*place]));
        let (Some(left), Some(right)) = (left, right) else {
            return Ok((share(own[best]), String::new()));
        };
        let chosen: Vec<i64> = (left + 1..right)
            .filter(|place| own.get(*place).is_some_and(|logit| share(*logit) > least))
            .map(|place| ids[place])
            .collect();
        Ok((share(own[best]), self.tokenizer.words(&chosen)?.replace('.', "").trim().to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    /// A small tokenizer of BERT's make, written by `tests/peers/make_tokenizers.py`.
    fn sentence(prompts: &[&str]) -> Sentence {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/bert_tokenizer.json");
        let prompts: Vec<String> = prompts.iter().map(|prompt| (*prompt).to_owned()).collect();
        Sentence::new(WordPieces::read(&file, None).expect("a tokenizer"), &prompts).expect("a sentence")
    }

    /// Name and score of a query whose tokens have these shares.
    fn check(sentence: &Sentence, shares: &[f64], expected: (&str, f64)) {
        let mut logits = vec![f32::NEG_INFINITY; 256];
        for (logit, share) in logits.iter_mut().zip(shares) {
            *logit = (share / (1.0 - share)).ln() as f32;
        }
        let (score, name) = sentence.name(&logits, 0.25).expect("a name");
        assert_eq!(name, expected.0, "{shares:?}");
        assert!((score - expected.1).abs() < 1e-6, "{shares:?}: {score}");
    }

    #[test]
    fn a_box_is_called_what_its_tokens_are_within_one_phrase() {
        // [CLS] red mug ##s . bowl . [SEP]
        let sentence = sentence(&["Red mugs", "bowl"]);
        assert_eq!(sentence.text, "red mugs. bowl.");
        assert_eq!(sentence.pieces.ids.len(), 8, "{:?}", sentence.pieces);
        check(&sentence, &[0.1, 0.5, 0.6, 0.3, 0.1, 0.4, 0.1, 0.1], ("red mugs", 0.6));
        check(&sentence, &[0.1, 0.2, 0.6, 0.2, 0.1, 0.4, 0.1, 0.1], ("mug", 0.6));
        check(&sentence, &[0.1, 0.2, 0.3, 0.2, 0.1, 0.4, 0.1, 0.1], ("bowl", 0.4));
        // The full stop belongs to the phrase before it; start and end to none.
        check(&sentence, &[0.1, 0.3, 0.1, 0.1, 0.7, 0.1, 0.1, 0.1], ("red", 0.7));
        check(&sentence, &[0.9, 0.5, 0.5, 0.1, 0.1, 0.1, 0.1, 0.1], ("", 0.9));
        check(&sentence, &[], ("", 0.0));
    }
}
