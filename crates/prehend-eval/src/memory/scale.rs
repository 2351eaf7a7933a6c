//! How a store bears a million of things: writing, the index, a start, questions, and questions beside a writer.

use super::building::{Generator, scene_words};
use super::run::RunError;
use crate::race::memory_of_process;
use prehend_geometry::stats::percentile;
use prehend_memory::encode::{EncodeError, Encoder};
use prehend_memory::record::{Id, Place, Thing};
use prehend_memory::store::{self, Store, StoreError};
use prehend_memory::{MemoryError, WordEncoder};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use serde::Serialize;
use std::collections::{BTreeMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::Write;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

/// Things of one building.
const BUILDING: usize = 1_000;
/// Things of one transaction: what a look shows, and of an import.
const LOOK: usize = 20;
const IMPORT: usize = 2_000;
/// Vectors that are taken into the index at a time.
const INDEXED: usize = 5_000;
/// Vectors that the node takes into the index with a look.
const WITH_A_LOOK: usize = 200;
/// Answers of a question, as the memory asks for them.
const COUNT: usize = 40;
/// Of those the best ones that are held against truth.
const BEST: usize = 10;
/// Similarities that differ by less are the same: sums in another order.
const SAME: f32 = 1e-5;

/// What is measured.
#[derive(Clone, Debug)]
pub struct Scale {
    /// Things.
    pub things: usize,
    /// Questions.
    pub questions: usize,
    /// Things that are written while others ask.
    pub writes: usize,
    /// Seed of the descriptions.
    pub seed: u64,
}

/// Times of questions, milliseconds.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct Times {
    /// Questions.
    pub n: usize,
    /// Median.
    pub p50: f64,
    /// 99 of 100 took less.
    pub p99: f64,
}

impl Times {
    fn of(milliseconds: &[f64]) -> Self {
        let at = |share| percentile(milliseconds, share).unwrap_or(0.0);
        Self { n: milliseconds.len(), p50: at(0.5), p99: at(0.99) }
    }
}

/// Figures.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct Scaled {
    /// Things in the store.
    pub n: usize,
    /// Numbers of a vector.
    pub dimensions: usize,
    /// Different vectors among them.
    pub vectors: usize,
    /// Things written in a second, many at a time.
    pub written_per_s: f64,
    /// Time until the index held all, seconds; 0 for a server, which does it while it is written.
    pub index_s: f64,
    /// Opening the store in which all is and answering one question, milliseconds.
    pub start_ms: f64,
    /// What the process grew by with that, MiB.
    pub memory_mib: f64,
    /// Questions about all buildings.
    pub all: Times,
    /// Questions about one building.
    pub one: Times,
    /// Share of the ten most alike that is found, among all buildings.
    pub recall_at_10: f64,
    /// Things written in transactions of a look while others ask, in a second.
    pub beside_written_per_s: f64,
    /// The questions beside it.
    pub beside: Times,
    /// Things that were written and are not there.
    pub lost: usize,
}

/// Descriptions as vectors, one after the other.
#[derive(Debug)]
pub struct Vectors {
    /// Of the things.
    pub base: Vec<f32>,
    /// Of the questions.
    pub questions: Vec<f32>,
    /// Length of each.
    pub dimensions: usize,
}

impl Vectors {
    /// Draws descriptions of scenes, and of what one asks for.
    ///
    /// Errors: those of the encoder.
    pub fn new(scale: &Scale, encoder: &WordEncoder) -> Result<Self, EncodeError> {
        let mut rng = ChaCha8Rng::seed_from_u64(scale.seed);
        let mut draw = |count: usize, things: std::ops::RangeInclusive<usize>| {
            let mut vectors = Vec::with_capacity(count * encoder.dimensions());
            for number in 0..count {
                let generator = if number % 2 == 0 { Generator::Home } else { Generator::Office };
                let text = scene_words(generator, things.clone(), &mut rng);
                vectors.extend(encoder.text(&text)?);
            }
            Ok(vectors)
        };
        let (base, questions) = (draw(scale.things + scale.writes, 2..=7)?, draw(scale.questions, 1..=3)?);
        Ok(Self { base, questions, dimensions: encoder.dimensions() })
    }

    fn base(&self, number: usize) -> &[f32] {
        &self.base[number * self.dimensions..][..self.dimensions]
    }

    fn question(&self, number: usize) -> &[f32] {
        &self.questions[number * self.dimensions..][..self.dimensions]
    }

    /// Writes the vectors for other programs: `base.f32`, `questions.f32` (little-endian, row by row) and `shape.json`.
    ///
    /// Errors: what the system said.
    pub fn write(&self, things: usize, folder: &Path) -> std::io::Result<()> {
        std::fs::create_dir_all(folder)?;
        let put = |name: &str, values: &[f32]| {
            let mut file = std::io::BufWriter::new(std::fs::File::create(folder.join(name))?);
            for value in values {
                file.write_all(&value.to_le_bytes())?;
            }
            file.flush()
        };
        put("base.f32", &self.base[..things * self.dimensions])?;
        put("questions.f32", &self.questions)?;
        let shape = serde_json::json!({
            "things": things, "questions": self.questions.len() / self.dimensions, "dimensions": self.dimensions,
        });
        std::fs::write(folder.join("shape.json"), shape.to_string())
    }
}

/// A thing with a number from 0 on.
fn thing(number: usize, vectors: &Vectors) -> Thing {
    let place = number % BUILDING;
    Thing {
        id: number as Id + 1,
        building: format!("building {}", number / BUILDING),
        votes: vec![("mug".to_owned(), 2.5), ("bowl".to_owned(), 0.4)],
        colors: vec![("red".to_owned(), 0.8), ("white".to_owned(), 0.1)],
        description: String::new(),
        place: Place {
            center: [(place % 40) as f64, (place / 40) as f64, 0.8],
            size: [0.08, 0.09, 0.1],
            yaw: 0.3,
        },
        count: 3,
        first_seen: 1.0,
        last_seen: 2.0,
        missed: None,
        parts: vec!["handle".to_owned()],
        proposed: BTreeMap::new(),
        tried: BTreeMap::new(),
        keys: BTreeMap::new(),
        area: None,
        model: String::new(),
        best_view: (0, 0.1),
        features: vectors.base(number).to_vec(),
    }
}

/// Writes things in transactions of so many; a store that another one writes to is tried again.
fn put(
    store: &mut dyn Store,
    numbers: std::ops::Range<usize>,
    each: usize,
    vectors: &Vectors,
    mut told: impl FnMut(usize),
) -> Result<(), StoreError> {
    for first in numbers.clone().step_by(each) {
        let last = (first + each).min(numbers.end);
        while let Err(error) = store.begin("") {
            if !matches!(error, StoreError::Busy { .. }) {
                return Err(error);
            }
        }
        for number in first..last {
            store.put_thing(&thing(number, vectors))?;
        }
        store.commit()?;
        told(last - numbers.start);
    }
    Ok(())
}

/// Measures an empty store; `told` hears what is done, how much of it and of how much.
///
/// Errors: those of the store; [`MemoryError::Bad`] when it is not empty, or nothing is asked.
pub fn scale(
    address: &str,
    scale: &Scale,
    vectors: &Vectors,
    told: &mut dyn FnMut(&'static str, usize, usize),
) -> Result<Scaled, RunError> {
    let mut kept = store::open(address)?;
    if kept.counts()?.things > 0 {
        let why = format!("{address} is not empty, and this measures a store from its first thing on");
        return Err(MemoryError::Bad { what: "store", why }.into());
    }
    if scale.questions == 0 || scale.things == 0 {
        return Err(
            MemoryError::Bad { what: "measure", why: "it needs things and questions".to_owned() }.into()
        );
    }
    kept.set_space("scale", vectors.dimensions)?;
    let mut figures = Scaled { n: scale.things, dimensions: vectors.dimensions, ..Scaled::default() };
    let begun = Instant::now();
    put(&mut *kept, 0..scale.things, IMPORT, vectors, |done| told("written, percent", done, scale.things))?;
    figures.written_per_s = scale.things as f64 / begun.elapsed().as_secs_f64();
    let begun = Instant::now();
    loop {
        let left = kept.index(INDEXED)?;
        told("indexed, percent", scale.things - left.min(scale.things), scale.things);
        if left == 0 {
            break;
        }
    }
    figures.index_s = begun.elapsed().as_secs_f64();
    drop(kept);
    let before = memory_of_process("VmRSS:").unwrap_or(0.0);
    let begun = Instant::now();
    let mut kept = store::open(address)?;
    kept.nearest(vectors.question(0), COUNT, None)?;
    figures.start_ms = 1e3 * begun.elapsed().as_secs_f64();
    figures.memory_mib = memory_of_process("VmRSS:").unwrap_or(0.0) - before;
    let (mut all, mut one, mut right) = (Vec::new(), Vec::new(), 0);
    for number in 0..scale.questions {
        told("asked, percent", number + 1, scale.questions);
        let wanted = vectors.question(number);
        let begun = Instant::now();
        let found = kept.nearest(wanted, COUNT, None)?;
        all.push(1e3 * begun.elapsed().as_secs_f64());
        let building = format!("building {}", number % scale.things.div_ceil(BUILDING));
        let begun = Instant::now();
        kept.nearest(wanted, COUNT, Some(&building))?;
        one.push(1e3 * begun.elapsed().as_secs_f64());
        let least = tenth(wanted, vectors, scale.things);
        right += found.iter().take(BEST).filter(|(_, alike)| *alike as f32 >= least - SAME).count();
    }
    (figures.all, figures.one) = (Times::of(&all), Times::of(&one));
    figures.recall_at_10 = right as f64 / (scale.questions * BEST.min(scale.things)).max(1) as f64;
    drop(kept);
    beside(address, scale, vectors, &mut figures, told)?;
    let different: HashSet<u64> = (0..scale.things).map(|number| fingerprint(vectors.base(number))).collect();
    figures.vectors = different.len();
    Ok(figures)
}

/// Stands for a vector when they are counted.
fn fingerprint(vector: &[f32]) -> u64 {
    let mut hasher = DefaultHasher::new();
    vector.iter().for_each(|value| value.to_bits().hash(&mut hasher));
    hasher.finish()
}

/// Similarity of the tenth most alike of all.
fn tenth(wanted: &[f32], vectors: &Vectors, things: usize) -> f32 {
    let alike = |number| prehend_memory::encode::similarity(wanted, vectors.base(number)) as f32;
    let mut all: Vec<f32> = (0..things).map(alike).collect();
    let place = BEST.min(all.len()) - 1;
    *all.select_nth_unstable_by(place, |a, b| b.total_cmp(a)).1
}

/// One writes what a look shows again and again, another one asks.
fn beside(
    address: &str,
    scale: &Scale,
    vectors: &Vectors,
    figures: &mut Scaled,
    told: &mut dyn FnMut(&'static str, usize, usize),
) -> Result<(), RunError> {
    let is_written = AtomicBool::new(false);
    let asked = std::thread::scope(|scope| {
        let asking = scope.spawn(|| -> Result<Vec<f64>, StoreError> {
            let mut kept = store::open(address)?;
            // A start has its own figure.
            kept.nearest(vectors.question(0), COUNT, None)?;
            let mut times = Vec::new();
            while !is_written.load(Ordering::Relaxed) {
                let begun = Instant::now();
                kept.nearest(vectors.question(times.len() % scale.questions), COUNT, None)?;
                times.push(1e3 * begun.elapsed().as_secs_f64());
                // As the robot's memory does it with each look.
                kept.index(WITH_A_LOOK)?;
            }
            Ok(times)
        });
        let written = (|| {
            let mut kept = store::open(address)?;
            let begun = Instant::now();
            let numbers = scale.things..scale.things + scale.writes;
            put(&mut *kept, numbers, LOOK, vectors, |done| {
                told("written beside, percent", done, scale.writes)
            })?;
            figures.beside_written_per_s = scale.writes as f64 / begun.elapsed().as_secs_f64();
            Ok::<(), StoreError>(())
        })();
        is_written.store(true, Ordering::Relaxed);
        let asked = asking.join();
        written.map(|()| asked)
    })?;
    let failed = |what: &str| StoreError::Failed { store: address.to_owned(), what: what.to_owned() };
    let times = asked.map_err(|_| failed("asking ended without a result"))??;
    figures.beside = Times::of(&times);
    let there = store::open(address)?.counts()?.things as usize;
    figures.lost = (scale.things + scale.writes).saturating_sub(there);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use prehend_perception::Lexicon;

    fn words() -> Lexicon {
        Lexicon::load(&prehend_config::share::share_dir().join("config/language/synonyms.yaml")).unwrap()
    }

    #[test]
    fn a_small_store_is_measured_and_nothing_is_lost() {
        let folder = tempfile::TempDir::new().unwrap();
        let address = folder.path().join("memory.db").display().to_string();
        let small = Scale { things: 3_000, questions: 20, writes: 200, seed: 3 };
        let vectors = Vectors::new(&small, &WordEncoder::new(words())).unwrap();
        let figures = scale(&address, &small, &vectors, &mut |_, _, _| {}).unwrap();
        assert!(figures.recall_at_10 > 0.95, "{figures:?}");
        assert_eq!(figures.lost, 0);
        assert!(figures.vectors > 2_500 && figures.beside.n > 0, "{figures:?}");
        let again = scale(&address, &small, &vectors, &mut |_, _, _| {});
        assert!(matches!(again, Err(RunError::Memory(MemoryError::Bad { .. }))), "{again:?}");
        vectors.write(small.things, folder.path()).unwrap();
        let written = std::fs::read(folder.path().join("base.f32")).unwrap();
        assert_eq!(written.len(), 4 * small.things * vectors.dimensions);
    }
}
