//! Where the memory is kept, behind one trait: a file of one robot, or a server of many.
//!
//! A store keeps records and finds them by number, by building, by place and by likeness. It knows nothing of words. What is
//! written between [`Store::begin`] and [`Store::commit`] is there whole or not at all, also after `kill -9`; while one writes to a
//! building, another writer of that building waits.

mod postgres;
mod sqlite;

pub use postgres::{Postgres, SERVER_SCHEMA};
pub use sqlite::{FILE_SCHEMA, Sqlite};

use crate::record::{Area, Episode, Id, Sighting, Thing, View};

/// Opens the store of an address: `postgres://...` is a server, anything else a file.
///
/// Errors: those of [`Postgres::open`] and [`Sqlite::open`].
pub fn open(address: &str) -> Result<Box<dyn Store>, StoreError> {
    if address.starts_with("postgres://") || address.starts_with("postgresql://") {
        return Ok(Box::new(Postgres::open(address)?));
    }
    Ok(Box::new(Sqlite::open(std::path::Path::new(address))?))
}

/// Why a store does not do what was asked.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// It cannot be opened or reached.
    #[error("cannot open the memory {store}: {what}")]
    Unreachable {
        /// The store.
        store: String,
        /// What the system said.
        what: String,
    },
    /// A newer version wrote it.
    #[error(
        "the memory {store} has tables of version {found}; this Prehend knows {known}: update it, or use another store"
    )]
    Newer {
        /// The store.
        store: String,
        /// Version of its tables.
        found: i64,
        /// Version that is known.
        known: i64,
    },
    /// Its vectors were made by another encoder.
    #[error(
        "the memory {store} holds features of `{found}`, not of `{wanted}`: use that encoder, or another store"
    )]
    OtherSpace {
        /// The store.
        store: String,
        /// Space of its vectors.
        found: String,
        /// Space of the encoder.
        wanted: String,
    },
    /// No room is left.
    #[error("the memory {store} is full: {what}")]
    Full {
        /// The store.
        store: String,
        /// What the system said.
        what: String,
    },
    /// Another writer held it for too long.
    #[error("the memory {store} is busy: {what}")]
    Busy {
        /// The store.
        store: String,
        /// What the system said.
        what: String,
    },
    /// A record in it cannot be read.
    #[error("the memory {store} is damaged: {what}")]
    Damaged {
        /// The store.
        store: String,
        /// What is wrong.
        what: String,
    },
    /// The operation failed in another way.
    #[error("the memory {store}: {what}")]
    Failed {
        /// The store.
        store: String,
        /// What the system said.
        what: String,
    },
}

/// How much is kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Buildings with views.
    pub buildings: u64,
    /// Views.
    pub views: u64,
    /// Sightings.
    pub sightings: u64,
    /// Things.
    pub things: u64,
    /// Zones, areas and buildings that are summarised.
    pub areas: u64,
    /// Episodes.
    pub episodes: u64,
}

/// Which episodes are asked for.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EpisodeFilter {
    /// Of this building.
    pub building: Option<String>,
    /// Of this robot.
    pub robot: Option<String>,
    /// Ended at or after this time.
    pub since: Option<f64>,
    /// Ended before this time.
    pub until: Option<f64>,
    /// Most episodes, the newest ones.
    pub most: usize,
}

/// What shall be forgotten.
#[derive(Clone, Debug, PartialEq)]
pub enum Forget {
    /// Everything of a building.
    Building(String),
    /// Views and episodes that are older; things that no view shows any more go with them.
    Before(f64),
    /// One thing with its sightings.
    Thing(Id),
    /// What a robot saw and did.
    Robot(String),
}

/// A thing that a view shows, and how much of the picture it fills.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Showing {
    /// The thing.
    pub thing: Id,
    /// The view.
    pub view: Id,
    /// Share of the picture, [0, 1].
    pub share: f64,
}

/// Keeps the memory. Every operation can fail with [`StoreError`]; none panics.
pub trait Store: Send {
    /// The store in words, for messages.
    fn name(&self) -> String;
    /// Space and length of the vectors; `None` before the first ones.
    fn space(&mut self) -> Result<Option<(String, usize)>, StoreError>;
    /// Notes space and length of the vectors, once. [`StoreError::OtherSpace`] when there is another one by now.
    fn set_space(&mut self, space: &str, dimensions: usize) -> Result<(), StoreError>;

    /// Begins to write to a building; an empty name is all buildings.
    fn begin(&mut self, building: &str) -> Result<(), StoreError>;
    /// Ends writing: from here on it lasts.
    fn commit(&mut self) -> Result<(), StoreError>;
    /// Ends writing; nothing of it was.
    fn abandon(&mut self);
    /// So many numbers that nobody else gets; the first of them.
    fn reserve(&mut self, count: usize) -> Result<Id, StoreError>;

    /// Writes a view, new or changed.
    fn put_view(&mut self, view: &View) -> Result<(), StoreError>;
    /// Writes the picture of a view.
    fn put_picture(&mut self, view: Id, picture: &[u8]) -> Result<(), StoreError>;
    /// Writes a sighting, new or changed; its view and its thing stay.
    fn put_sighting(&mut self, sighting: &Sighting) -> Result<(), StoreError>;
    /// Writes a thing, new or changed.
    fn put_thing(&mut self, thing: &Thing) -> Result<(), StoreError>;
    /// Writes zones, areas and the building anew.
    fn replace_areas(&mut self, building: &str, areas: &[Area]) -> Result<(), StoreError>;
    /// Writes an episode.
    fn put_episode(&mut self, episode: &Episode) -> Result<(), StoreError>;

    /// The summarised buildings (level 6).
    fn buildings(&mut self) -> Result<Vec<Area>, StoreError>;
    /// Zones, areas and the building of one building.
    fn areas_of(&mut self, building: &str) -> Result<Vec<Area>, StoreError>;
    /// Buildings with views that belong to no zone yet.
    fn unsummarised(&mut self) -> Result<Vec<String>, StoreError>;
    /// Views of zones.
    fn views_of_areas(&mut self, areas: &[Id]) -> Result<Vec<View>, StoreError>;
    /// Views of a building.
    fn views_of(&mut self, building: &str) -> Result<Vec<View>, StoreError>;
    /// Views by number; those that are not there are left out.
    fn views(&mut self, ids: &[Id]) -> Result<Vec<View>, StoreError>;
    /// What views show.
    fn shown_in(&mut self, views: &[Id]) -> Result<Vec<Showing>, StoreError>;
    /// Which views show things.
    fn showing(&mut self, things: &[Id]) -> Result<Vec<Showing>, StoreError>;
    /// The sightings of a thing, the newest first.
    fn sightings_of(&mut self, thing: Id) -> Result<Vec<Sighting>, StoreError>;
    /// Things by number; those that are not there are left out.
    fn things(&mut self, ids: &[Id]) -> Result<Vec<Thing>, StoreError>;
    /// Things of a building.
    fn things_of(&mut self, building: &str) -> Result<Vec<Thing>, StoreError>;
    /// Things of a building whose middle is at most so far from a place, along the floor.
    fn things_near(&mut self, building: &str, place: [f64; 2], reach: f64) -> Result<Vec<Thing>, StoreError>;
    /// The things whose features are most like a vector, most first, with their similarity. Of many thousand a few may be left out.
    fn nearest(
        &mut self,
        features: &[f32],
        count: usize,
        building: Option<&str>,
    ) -> Result<Vec<(Id, f64)>, StoreError>;
    /// Takes at most so many vectors that came since into the index by which [`Store::nearest`] searches; about how many are left.
    /// Until then it compares with each of them. A server keeps its index by itself.
    fn index(&mut self, _most: usize) -> Result<usize, StoreError> {
        Ok(0)
    }
    /// The picture of a view; `None` when it has none.
    fn picture(&mut self, view: Id) -> Result<Option<Vec<u8>>, StoreError>;
    /// Episodes, the newest first.
    fn episodes(&mut self, filter: &EpisodeFilter) -> Result<Vec<Episode>, StoreError>;
    /// How much is kept.
    fn counts(&mut self) -> Result<Counts, StoreError>;
    /// Forgets; how many views, things and episodes went.
    fn forget(&mut self, what: &Forget) -> Result<u64, StoreError>;
}
