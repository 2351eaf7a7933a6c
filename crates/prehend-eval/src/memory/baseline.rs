//! A bag of words over captions (BM25, Robertson and Zaragoza 2009): what any search engine does.

use std::collections::BTreeMap;

/// Saturation of counts and weight of lengths, the usual ones.
const K1: f64 = 1.2;
const B: f64 = 0.75;

/// An index of documents.
#[derive(Clone, Debug, Default)]
pub struct Bm25 {
    documents: Vec<(i64, BTreeMap<String, f64>, f64)>,
    holding: BTreeMap<String, f64>,
    mean: f64,
}

fn words(text: &str) -> impl Iterator<Item = String> {
    let lower = text.to_lowercase();
    let words: Vec<String> = lower
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_owned)
        .collect();
    words.into_iter().map(|word| match word.strip_suffix('s') {
        Some(stem) if stem.len() > 2 && !stem.ends_with('s') => stem.to_owned(),
        _ => word,
    })
}

impl Bm25 {
    /// Indexes texts by number.
    pub fn new<'a>(texts: impl IntoIterator<Item = (i64, &'a str)>) -> Self {
        let mut index = Self::default();
        for (id, text) in texts {
            let mut counts: BTreeMap<String, f64> = BTreeMap::new();
            for word in words(text) {
                *counts.entry(word).or_default() += 1.0;
            }
            for word in counts.keys() {
                *index.holding.entry(word.clone()).or_default() += 1.0;
            }
            let length = counts.values().sum();
            index.mean += length;
            index.documents.push((id, counts, length));
        }
        index.mean /= index.documents.len().max(1) as f64;
        index
    }

    /// Numbers of all documents, best first.
    pub fn rank(&self, text: &str) -> Vec<i64> {
        let asked: Vec<String> = words(text).collect();
        let count = self.documents.len() as f64;
        let mut found: Vec<(f64, i64)> = self
            .documents
            .iter()
            .map(|(id, counts, length)| {
                let value = asked.iter().map(|word| {
                    let often = counts.get(word).copied().unwrap_or(0.0);
                    let holding = self.holding.get(word).copied().unwrap_or(0.0);
                    let rare = ((count - holding + 0.5) / (holding + 0.5) + 1.0).ln();
                    rare * often * (K1 + 1.0) / (often + K1 * (1.0 - B + B * length / self.mean.max(1e-9)))
                });
                (value.sum(), *id)
            })
            .collect();
        found.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        found.into_iter().map(|(_, id)| id).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rare_words_count_more_than_common_ones() {
        let index = Bm25::new([
            (1, "a red mug on a table"),
            (2, "a table and a table"),
            (3, "a blue mug, a table"),
            (4, "table"),
        ]);
        assert_eq!(index.rank("the red mug")[0], 1);
        assert_eq!(index.rank("blue mugs")[0], 3);
        assert_eq!(Bm25::new([]).rank("mug"), Vec::<i64>::new());
    }
}
