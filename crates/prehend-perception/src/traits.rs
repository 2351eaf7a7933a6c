//! What a model can be asked for; weights come behind these.

use prehend_geometry::{ColorImage, Mask};
use prehend_scene::Object;

/// Finds regions of one thing each, without naming them.
pub trait Segmenter {
    /// Name of the producer in evidence records.
    fn name(&self) -> &str;
    /// The region that holds pixel (u, v); `None` when there is none.
    fn segment_at(&self, image: &ColorImage, u: usize, v: usize) -> Option<Mask>;
}

/// Finds and names instances.
pub trait Detector {
    /// Name of the producer in evidence records.
    fn name(&self) -> &str;
    /// Instances as (class name, score in [0, 1], mask).
    fn detect(&self, image: &ColorImage) -> Vec<(String, f64, Mask)>;
}

/// Turns objects into feature vectors, so that views of one thing are near each other (ASP III-A, `features`).
pub trait Embedder {
    /// Unit vector for an object with its votes, colours and crops filled in; may be empty (no opinion).
    fn embed(&self, object: &Object) -> Vec<f32>;
}

/// Features without weights: hashed letter triples of the class names and the measured basic colours.
#[derive(Clone, Copy, Debug, Default)]
pub struct WordEmbedder;

/// Slots for letter triples.
const TRIPLES: usize = 48;
/// Share of the squared length that colours have.
const COLOR_SHARE: f64 = 0.3;

impl Embedder for WordEmbedder {
    fn embed(&self, object: &Object) -> Vec<f32> {
        let words = crate::color::WORDS;
        let mut vector = vec![0.0_f64; TRIPLES + words.len()];
        let total: f64 = object.class_votes.iter().filter(|(name, _)| !name.is_empty()).map(|(_, w)| w).sum();
        for (name, weight) in object.class_votes.iter().filter(|(name, _)| !name.is_empty()) {
            let letters: Vec<char> = format!(" {name} ").chars().collect();
            for triple in letters.windows(3) {
                let hash =
                    triple.iter().fold(0xcbf2_9ce4_u32, |h, c| (h ^ *c as u32).wrapping_mul(0x0100_0193));
                vector[hash as usize % TRIPLES] += weight / total.max(1e-9);
            }
        }
        for (word, share) in &object.color_fractions {
            if let Some(slot) = words.iter().position(|known| known == word) {
                vector[TRIPLES + slot] = *share;
            }
        }
        let (name, color) = vector.split_at_mut(TRIPLES);
        scale(name, (1.0 - COLOR_SHARE).sqrt());
        scale(color, COLOR_SHARE.sqrt());
        scale(&mut vector, 1.0);
        vector.into_iter().map(|x| x as f32).collect()
    }
}

fn scale(part: &mut [f64], length: f64) {
    let norm = part.iter().map(|x| x * x).sum::<f64>().sqrt();
    if norm > 1e-12 {
        part.iter_mut().for_each(|x| *x *= length / norm);
    }
}
