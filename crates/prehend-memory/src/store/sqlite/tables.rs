//! The tables of a file, and how older ones become these.

use rusqlite::{Connection, params};

/// Version of the tables.
pub const FILE_SCHEMA: i64 = 2;

/// Version 1.
const TABLES: &str = "
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE views (
  id INTEGER PRIMARY KEY, building TEXT NOT NULL, robot TEXT NOT NULL, taken REAL NOT NULL, area INTEGER,
  data TEXT NOT NULL, text_features BLOB NOT NULL, picture_features BLOB NOT NULL);
CREATE INDEX views_by_building ON views (building);
CREATE INDEX views_by_area ON views (area);
CREATE TABLE pictures (view INTEGER PRIMARY KEY REFERENCES views (id) ON DELETE CASCADE, picture BLOB NOT NULL);
CREATE TABLE things (
  id INTEGER PRIMARY KEY, building TEXT NOT NULL, x REAL NOT NULL, y REAL NOT NULL, data TEXT NOT NULL, features BLOB NOT NULL);
CREATE INDEX things_by_place ON things (building, x, y);
CREATE TABLE sightings (
  id INTEGER PRIMARY KEY, view INTEGER NOT NULL REFERENCES views (id) ON DELETE CASCADE,
  thing INTEGER NOT NULL REFERENCES things (id) ON DELETE CASCADE, share REAL NOT NULL, data TEXT NOT NULL);
CREATE INDEX sightings_by_view ON sightings (view);
CREATE INDEX sightings_by_thing ON sightings (thing);
CREATE TABLE areas (
  id INTEGER PRIMARY KEY, building TEXT NOT NULL, level INTEGER NOT NULL, data TEXT NOT NULL, features BLOB NOT NULL);
CREATE INDEX areas_by_building ON areas (building, level);
CREATE TABLE episodes (
  id INTEGER PRIMARY KEY, building TEXT NOT NULL, robot TEXT NOT NULL, at REAL NOT NULL, data TEXT NOT NULL);
CREATE INDEX episodes_by_time ON episodes (at);
INSERT INTO meta VALUES ('next', '1');
";

/// Version 2: things that are described alike share one vector, and no number of a vector is given twice.
const VECTORS: &str = "
CREATE TABLE vectors (id INTEGER PRIMARY KEY AUTOINCREMENT, hash INTEGER NOT NULL, features BLOB NOT NULL);
CREATE INDEX vectors_by_hash ON vectors (hash);
ALTER TABLE things ADD COLUMN vector INTEGER REFERENCES vectors (id);
CREATE INDEX things_by_vector ON things (vector, building);
";

/// Brings the tables from a version, 0 when there are none, to [`FILE_SCHEMA`]; to be called in a transaction.
pub(super) fn update(database: &Connection, found: i64) -> Result<(), rusqlite::Error> {
    if found < 1 {
        database.execute_batch(TABLES)?;
    }
    if found < 2 {
        database.execute_batch(VECTORS)?;
        let mut things = database.prepare("SELECT id, features FROM things")?;
        let mut rows = things.query([])?;
        while let Some(row) = rows.next()? {
            let vector = vector_of(database, row.get_ref(1)?.as_blob()?)?;
            let mut put = database.prepare_cached("UPDATE things SET vector = ? WHERE id = ?")?;
            put.execute(params![vector, row.get::<_, i64>(0)?])?;
        }
        drop(rows);
        drop(things);
        database.execute_batch("ALTER TABLE things DROP COLUMN features")?;
    }
    database.pragma_update(None, "user_version", FILE_SCHEMA)
}

/// The number of a vector, which is kept from here on.
pub(super) fn vector_of(database: &Connection, features: &[u8]) -> Result<i64, rusqlite::Error> {
    let hash = crc32fast::hash(features);
    let mut known = database.prepare_cached("SELECT id FROM vectors WHERE hash = ? AND features = ?")?;
    let mut rows = known.query(params![hash, features])?;
    if let Some(row) = rows.next()? {
        return row.get(0);
    }
    let mut put =
        database.prepare_cached("INSERT INTO vectors (hash, features) VALUES (?, ?) RETURNING id")?;
    put.query_row(params![hash, features], |row| row.get(0))
}

/// Makes the tables of version 1.
#[cfg(test)]
pub(super) fn first_version(database: &Connection) -> Result<(), rusqlite::Error> {
    database.execute_batch(TABLES)?;
    database.pragma_update(None, "user_version", 1)
}
