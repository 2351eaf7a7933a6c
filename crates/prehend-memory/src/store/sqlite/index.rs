//! An approximate index of vectors (Malkov and Yashunin 2018, HNSW), in a file beside the store.
//!
//! The file can be lost: it is made again from the store. It holds all vectors up to a number, in eight bits for each value: whoever
//! searches compares what it gives with the vectors themselves.

use crate::record::Id;
use std::fs::File;
use std::io::Write;
use std::path::Path;
use usearch::{Index as Graph, IndexOptions, MetricKind, ScalarKind};

/// What a file begins with, its version last.
const MAGIC: [u8; 8] = *b"prehndx1";
/// A name of a saved index that no other one has.
pub(super) type Tag = [u8; 16];
/// The beginning, the tag, the last vector, the length of vectors and the checksum of the rest.
const HEADER: usize = 8 + 16 + 8 + 4 + 4;

/// Links of a node, and how many nodes are looked at for its place, and by a search (`prehend eval memory --scale` measures what it finds).
const LINKS: usize = 16;
const LOOKED_AT: usize = 128;
/// Vectors from which on they are taken in by several threads.
const MANY: usize = 256;
const MOST_THREADS: usize = 8;

/// The index.
pub(super) struct Index {
    graph: Graph,
    dimensions: usize,
    /// The newest vector that it was offered.
    pub(super) last: Id,
    /// Vectors in it when it was saved last.
    saved: usize,
}

impl std::fmt::Debug for Index {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Index of {} vectors up to {}", self.graph.size(), self.last)
    }
}

impl Index {
    /// An index of nothing.
    pub(super) fn new(dimensions: usize) -> Result<Self, String> {
        let options = IndexOptions {
            dimensions,
            metric: MetricKind::IP,
            quantization: ScalarKind::I8,
            connectivity: LINKS,
            expansion_add: LOOKED_AT,
            expansion_search: LOOKED_AT,
            multi: false,
        };
        let graph = Graph::new(&options).map_err(|error| error.to_string())?;
        Ok(Self { graph, dimensions, last: 0, saved: 0 })
    }

    /// Reads a file whose tag is one of these.
    ///
    /// Errors: what is wrong with the file.
    pub(super) fn load(path: &Path, dimensions: usize, tags: &[Tag]) -> Result<Self, String> {
        let bytes = std::fs::read(path).map_err(|error| error.to_string())?;
        let cut = || "it is cut off".to_owned();
        let (header, graph) = bytes.split_at_checked(HEADER).ok_or_else(cut)?;
        let (magic, rest) = header.split_first_chunk::<8>().ok_or_else(cut)?;
        let (tag, rest) = rest.split_first_chunk::<16>().ok_or_else(cut)?;
        let (last, rest) = rest.split_first_chunk::<8>().ok_or_else(cut)?;
        let (length, sum) = rest.split_first_chunk::<4>().ok_or_else(cut)?;
        if *magic != MAGIC || u32::from_le_bytes(*length) as usize != dimensions {
            return Err("it is no index of such vectors".to_owned());
        }
        if !tags.contains(tag) {
            return Err("it belongs to another state of the store".to_owned());
        }
        // The reader of the graph trusts what it reads.
        if crc32fast::hash(graph).to_le_bytes() != *sum {
            return Err("its checksum is wrong".to_owned());
        }
        let mut index = Self::new(dimensions)?;
        index.graph.load_from_buffer(graph).map_err(|error| error.to_string())?;
        index.last = Id::from_le_bytes(*last);
        index.saved = index.graph.size();
        Ok(index)
    }

    /// Writes the file in place of the one before: whole or not at all.
    ///
    /// Errors: what the system said.
    pub(super) fn save(&mut self, path: &Path, tag: &Tag) -> Result<(), String> {
        let length = self.graph.serialized_length();
        let mut bytes = vec![0; HEADER + length];
        self.graph.save_to_buffer(&mut bytes[HEADER..]).map_err(|error| error.to_string())?;
        let sum = crc32fast::hash(&bytes[HEADER..]);
        let dimensions = self.dimensions as u32;
        let header: Vec<u8> = MAGIC
            .into_iter()
            .chain(*tag)
            .chain(self.last.to_le_bytes())
            .chain(dimensions.to_le_bytes())
            .chain(sum.to_le_bytes())
            .collect();
        bytes[..HEADER].copy_from_slice(&header);
        let new = path.with_extension(format!("{}.part", std::process::id()));
        let written = (|| {
            let mut file = File::create(&new)?;
            file.write_all(&bytes)?;
            file.sync_all()?;
            std::fs::rename(&new, path)
        })();
        written.map_err(|error: std::io::Error| {
            // What cannot be written cannot always be removed either.
            let _ = std::fs::remove_file(&new);
            error.to_string()
        })?;
        self.saved = self.graph.size();
        Ok(())
    }

    /// Vectors in it, also those that the store does not have any more.
    pub(super) fn len(&self) -> usize {
        self.graph.size()
    }

    /// Vectors that came since it was saved.
    pub(super) fn unsaved(&self) -> usize {
        self.len() - self.saved.min(self.len())
    }

    /// Takes in vectors; their numbers are greater than all before. One of another length, or that is not of numbers, is like nothing and
    /// left out.
    ///
    /// Errors: there is no memory for them.
    pub(super) fn take(&mut self, vectors: &[(Id, Vec<f32>)]) -> Result<(), String> {
        let needed = self.graph.size() + vectors.len();
        if self.graph.capacity() < needed {
            self.graph
                .reserve(needed.max(self.graph.capacity() * 3 / 2))
                .map_err(|error| error.to_string())?;
        }
        let fits = |features: &[f32]| {
            features.len() == self.dimensions
                && features.iter().all(|value| value.is_finite())
                && features.iter().any(|value| *value != 0.0)
        };
        let take = |vectors: &[(Id, Vec<f32>)]| -> Result<(), String> {
            for (id, features) in vectors.iter().filter(|(_, features)| fits(features)) {
                self.graph.add(id.unsigned_abs(), features).map_err(|error| error.to_string())?;
            }
            Ok(())
        };
        let threads = std::thread::available_parallelism().map_or(1, usize::from).min(MOST_THREADS);
        if vectors.len() < MANY || threads == 1 {
            take(vectors)?;
        } else {
            std::thread::scope(|scope| {
                let parts = vectors.chunks(vectors.len().div_ceil(threads));
                let running: Vec<_> = parts.map(|part| scope.spawn(move || take(part))).collect();
                running.into_iter().try_for_each(|part| {
                    part.join().unwrap_or_else(|_| Err("taking vectors in ended without a result".to_owned()))
                })
            })?;
        }
        self.last = vectors.iter().map(|(id, _)| *id).fold(self.last, Id::max);
        Ok(())
    }

    /// About the most alike of the vectors, most first.
    ///
    /// Errors: what the graph said.
    pub(super) fn search(&self, wanted: &[f32], count: usize) -> Result<Vec<Id>, String> {
        let found = self.graph.search(wanted, count).map_err(|error| error.to_string())?;
        Ok(found.keys.into_iter().filter_map(|key| Id::try_from(key).ok()).collect())
    }
}
