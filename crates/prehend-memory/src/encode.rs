//! Features of texts and pictures (Affordance RAG IV-A, Multi-Level Representation).
//!
//! Models sit behind [`Encoder`]: [`ModelEncoder`] is one of networks. The built-in [`WordEncoder`] needs none: a text is a bag of concepts, hashed into a vector, and a
//! picture is the bag of what was recognised in it, each weighted by how much of the picture it fills.

mod models;

pub use models::{ModelEncoder, Texts, Towers};

use crate::record::{Seen, describe};
use prehend_perception::Lexicon;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// Length of the vectors of [`WordEncoder`].
pub const DIMENSIONS: usize = 512;
/// Most words of a phrase that is looked up as one.
const PHRASE: usize = 3;
/// Weights of a noun's kinds, of a colour, of a colour with its noun, and of the letters of a word that no table knows.
const KIND: f32 = 0.35;
const COLOR: f32 = 0.5;
const BOUND: f32 = 0.7;
const LETTERS: f32 = 1.0;

/// Why there are no features.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{encoder} gives no features: {what}")]
pub struct EncodeError {
    /// Name of the encoder's space.
    pub encoder: String,
    /// What it said.
    pub what: String,
}

/// Turns texts and pictures into unit vectors whose scalar product says how alike they are.
pub trait Encoder: Send + Sync {
    /// Name of the space its vectors lie in: vectors of two names cannot be compared.
    fn space(&self) -> &str;
    /// Length of its vectors.
    fn dimensions(&self) -> usize;
    /// Features of a text, such as `l_t` and `l_s`.
    ///
    /// Errors: [`EncodeError`].
    fn text(&self, text: &str) -> Result<Vec<f32>, EncodeError>;
    /// Features of a wish in the space of pictures: `l_m`.
    ///
    /// Errors: [`EncodeError`].
    fn wish(&self, text: &str) -> Result<Vec<f32>, EncodeError> {
        self.text(text)
    }
    /// Features of a picture: `v`. `seen` is what was recognised in it.
    ///
    /// Errors: [`EncodeError`].
    fn picture(&self, picture: Option<&[u8]>, seen: &[Seen]) -> Result<Vec<f32>, EncodeError>;
}

impl<T: Encoder + ?Sized> Encoder for Arc<T> {
    fn space(&self) -> &str {
        (**self).space()
    }
    fn dimensions(&self) -> usize {
        (**self).dimensions()
    }
    fn text(&self, text: &str) -> Result<Vec<f32>, EncodeError> {
        (**self).text(text)
    }
    fn wish(&self, text: &str) -> Result<Vec<f32>, EncodeError> {
        (**self).wish(text)
    }
    fn picture(&self, picture: Option<&[u8]>, seen: &[Seen]) -> Result<Vec<f32>, EncodeError> {
        (**self).picture(picture, seen)
    }
}

/// Features without weights: hashed concepts, their kinds and colours.
#[derive(Debug)]
pub struct WordEncoder {
    lexicon: Lexicon,
    /// Features of words and phrases that were met, so that the tables are walked once for each.
    known: Mutex<HashMap<String, Arc<Concept>>>,
}

/// A noun as features.
#[derive(Debug)]
struct Concept {
    /// One word for all that mean the same.
    name: String,
    /// What it adds to a vector of weight 1.
    adds: Vec<(String, f32)>,
}

/// Words that are remembered at most; then all are forgotten.
const MOST_WORDS: usize = 50_000;

impl WordEncoder {
    /// An encoder that knows these words.
    pub fn new(lexicon: Lexicon) -> Self {
        Self { lexicon, known: Mutex::default() }
    }

    /// The words that it knows.
    pub fn lexicon(&self) -> &Lexicon {
        &self.lexicon
    }

    /// Adds the concepts of a text to a vector.
    fn add(&self, text: &str, weight: f32, vector: &mut [f32]) {
        let lower = text.to_lowercase();
        let words: Vec<&str> =
            lower.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
        let mut place = 0;
        // Colours said right before the next noun.
        let mut colors: Vec<String> = Vec::new();
        while place < words.len() {
            let longest = PHRASE.min(words.len() - place);
            let phrase = (1..=longest).rev().find_map(|count| {
                let (last, first) = words[place..place + count].split_last()?;
                let mut parts: Vec<&str> = first.to_vec();
                let last = self.lexicon.singular(last);
                parts.push(&last);
                let joined = parts.join(" ");
                self.lexicon.knows(&joined).then_some((count, joined))
            });
            let measured = self.lexicon.measured(words[place]);
            let is_noun = phrase.as_ref().is_some_and(|(count, _)| *count > 1) || measured.is_empty();
            if !is_noun {
                for color in measured.iter().take(1) {
                    put(vector, &format!("color:{color}"), weight * COLOR);
                    colors.push(color.clone());
                }
                place += 1;
                continue;
            }
            let (count, noun) = phrase.unwrap_or_else(|| (1, self.lexicon.singular(words[place])));
            place += count;
            if SMALL_WORDS.contains(&noun.as_str()) {
                colors.clear();
                continue;
            }
            let concept = self.concept(&noun);
            for (feature, share) in &concept.adds {
                put(vector, feature, weight * share);
            }
            for color in colors.drain(..) {
                put(vector, &format!("{color}:{}", concept.name), weight * BOUND);
            }
        }
    }

    /// A noun as features.
    fn concept(&self, noun: &str) -> Arc<Concept> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = known.get(noun) {
            return Arc::clone(found);
        }
        let name = self.lexicon.concept(noun);
        let mut adds = vec![(format!("word:{name}"), 1.0)];
        adds.extend(self.lexicon.kinds_of(noun).into_iter().map(|kind| (format!("kind:{kind}"), KIND)));
        if !self.lexicon.knows(noun) {
            let letters: Vec<char> = format!(" {noun} ").chars().collect();
            let each = LETTERS / (letters.len() as f32).sqrt();
            adds.extend(letters.windows(3).map(|triple| (triple.iter().collect(), each)));
        }
        if known.len() >= MOST_WORDS {
            known.clear();
        }
        let found = Arc::new(Concept { name, adds });
        known.insert(noun.to_owned(), Arc::clone(&found));
        found
    }
}

/// Words that tell nothing of what is there.
const SMALL_WORDS: [&str; 44] = [
    "a", "an", "the", "and", "or", "of", "to", "from", "in", "on", "at", "by", "near", "next", "with",
    "into", "onto", "it", "its", "is", "are", "that", "there", "which", "this", "please", "me", "my", "you",
    "i", "us", "put", "bring", "take", "get", "carry", "place", "move", "one", "for", "over", "top",
    "beside", "close",
];

/// Adds a concept; its sign spreads collisions evenly.
fn put(vector: &mut [f32], concept: &str, weight: f32) {
    let hash = concept.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    // The lower bits of this hash are poor for short texts.
    let hash = hash ^ (hash >> 29);
    let sign = if hash >> 63 == 0 { 1.0 } else { -1.0 };
    if let Some(slot) = vector.get_mut((hash % DIMENSIONS as u64) as usize) {
        *slot += sign * weight;
    }
}

/// Makes a vector one long; zeros stay.
pub fn unit(mut vector: Vec<f32>) -> Vec<f32> {
    let length = vector.iter().map(|value| value * value).sum::<f32>().sqrt();
    if length > 0.0 && length.is_finite() {
        vector.iter_mut().for_each(|value| *value /= length);
    }
    vector
}

const LANES: usize = 16;

/// Cosine of two unit vectors; 0 when they do not belong together.
pub fn similarity(a: &[f32], b: &[f32]) -> f64 {
    if a.len() != b.len() {
        return 0.0;
    }
    // Sums side by side: a processor adds several at once, but does not change the order of one sum.
    let ((a, a_rest), (b, b_rest)) = (a.as_chunks::<LANES>(), b.as_chunks::<LANES>());
    let mut sums = [0.0_f32; LANES];
    for (a, b) in a.iter().zip(b) {
        for lane in 0..LANES {
            sums[lane] += a[lane] * b[lane];
        }
    }
    let rest: f32 = a_rest.iter().zip(b_rest).map(|(a, b)| a * b).sum();
    f64::from(sums.iter().sum::<f32>() + rest)
}

impl Encoder for WordEncoder {
    fn space(&self) -> &str {
        "words"
    }

    fn dimensions(&self) -> usize {
        DIMENSIONS
    }

    fn text(&self, text: &str) -> Result<Vec<f32>, EncodeError> {
        let mut vector = vec![0.0; DIMENSIONS];
        self.add(text, 1.0, &mut vector);
        Ok(unit(vector))
    }

    fn picture(&self, _: Option<&[u8]>, seen: &[Seen]) -> Result<Vec<f32>, EncodeError> {
        let mut vector = vec![0.0; DIMENSIONS];
        for seen in seen {
            // What fills more of the picture counts more, but a mug before a wall is still a mug.
            let weight = (seen.share.clamp(0.0, 1.0) as f32).powf(0.25) * seen.score.clamp(0.0, 1.0) as f32;
            self.add(&describe(&seen.name, &seen.colors, &seen.description), weight, &mut vector);
        }
        Ok(unit(vector))
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// The words of the tree.
    pub(crate) fn encoder() -> WordEncoder {
        let text = include_str!("../../../config/language/synonyms.yaml");
        WordEncoder::new(
            Lexicon::parse("synonyms.yaml", text).unwrap_or_else(|findings| panic!("{findings}")),
        )
    }

    fn alike(a: &str, b: &str) -> f64 {
        let words = encoder();
        similarity(&words.text(a).expect("features"), &words.text(b).expect("features"))
    }

    #[test]
    fn what_means_the_same_is_near_and_colours_belong_to_their_nouns() {
        assert!(alike("the mug", "a coffee cup") > 0.99);
        assert!(alike("an apple", "some fruit") > 0.2 && alike("an apple", "a sofa") < 0.15);
        assert!(
            alike("red mug", "red mug and blue plate") > alike("red mug", "blue mug and red plate") + 0.1
        );
        assert!(
            alike("blenderr", "blender") > alike("blender", "radiator") + 0.2,
            "letters of unknown words"
        );
    }

    #[test]
    fn an_empty_text_is_like_nothing() {
        let words = encoder();
        assert_eq!(
            similarity(&words.text("the").expect("zeros"), &words.text("mug").expect("features")),
            0.0
        );
        assert_eq!(similarity(&[], &[1.0]), 0.0);
        assert_eq!(words.picture(None, &[]).expect("zeros"), vec![0.0; DIMENSIONS]);
    }
}
