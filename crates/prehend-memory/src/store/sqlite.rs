//! One SQLite file: the memory of one robot, or of several on one computer. An index of likeness stands beside it once it has grown.

mod index;
mod likeness;
mod tables;

pub use tables::FILE_SCHEMA;

use super::{Counts, EpisodeFilter, Forget, Showing, Store, StoreError};
use crate::record::{Area, Episode, Id, Sighting, Thing, View};
use rusqlite::types::{ToSql, Value};
use rusqlite::{Connection, ErrorCode, OptionalExtension, Row, params, params_from_iter};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How long another writer is waited for.
const PATIENCE: Duration = Duration::from_secs(5);
/// Most numbers in one question to the database.
const CHUNK: usize = 500;
/// What a store is called that has no file.
const IN_MEMORY: &str = ":memory:";

/// A store in one file.
#[derive(Debug)]
pub struct Sqlite {
    path: PathBuf,
    database: Connection,
    /// Whether something is being written.
    writing: bool,
    likeness: likeness::Likeness,
}

impl Sqlite {
    /// Opens a file, or makes it.
    ///
    /// Errors: [`StoreError::Unreachable`], [`StoreError::Newer`], [`StoreError::Damaged`] for a file of something else.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        let name = path.display().to_string();
        let unreachable = |what: String| StoreError::Unreachable { store: name.clone(), what };
        if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
            std::fs::create_dir_all(folder).map_err(|error| unreachable(error.to_string()))?;
        }
        let database = Connection::open(path).map_err(|error| unreachable(error.to_string()))?;
        Self::with(path.to_owned(), database)
    }

    /// A store that ends with the process.
    ///
    /// Errors: [`StoreError`] when there is no memory for it.
    pub fn in_memory() -> Result<Self, StoreError> {
        let database = Connection::open_in_memory().map_err(|error| StoreError::Unreachable {
            store: IN_MEMORY.to_owned(),
            what: error.to_string(),
        })?;
        Self::with(PathBuf::from(IN_MEMORY), database)
    }

    fn with(path: PathBuf, database: Connection) -> Result<Self, StoreError> {
        let mut store = Self { path, database, writing: false, likeness: Default::default() };
        let prepared = (|| {
            store.database.busy_timeout(PATIENCE)?;
            // Readers see the last commit while one writes; what is acknowledged is on the disk.
            store.database.pragma_update(None, "journal_mode", "WAL")?;
            store.database.pragma_update(None, "synchronous", "FULL")?;
            store.database.pragma_update(None, "foreign_keys", true)?;
            store.database.set_prepared_statement_cache_capacity(64);
            store.database.pragma_query_value(None, "user_version", |row| row.get::<_, i64>(0))
        })();
        let found = prepared.map_err(|error| store.error(error))?;
        if found > FILE_SCHEMA {
            return Err(StoreError::Newer { store: store.name(), found, known: FILE_SCHEMA });
        }
        if found < FILE_SCHEMA {
            store.update()?;
        }
        Ok(store)
    }

    /// Makes the tables, or brings older ones up to date, unless another process was first.
    fn update(&mut self) -> Result<(), StoreError> {
        let made = (|| {
            let transaction =
                self.database.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
            let found: i64 = transaction.pragma_query_value(None, "user_version", |row| row.get(0))?;
            tables::update(&transaction, found)?;
            transaction.commit()
        })();
        made.map_err(|error| self.error(error))
    }

    fn error(&self, error: rusqlite::Error) -> StoreError {
        let (store, what) = (self.name(), error.to_string());
        match error.sqlite_error_code() {
            Some(ErrorCode::DiskFull) => StoreError::Full { store, what },
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => StoreError::Busy { store, what },
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => StoreError::Damaged { store, what },
            Some(ErrorCode::CannotOpen | ErrorCode::ReadOnly | ErrorCode::PermissionDenied) => {
                StoreError::Unreachable { store, what }
            }
            _ => StoreError::Failed { store, what },
        }
    }

    fn damaged(&self, what: impl std::fmt::Display) -> StoreError {
        StoreError::Damaged { store: self.name(), what: what.to_string() }
    }

    fn json(&self, value: &impl Serialize) -> Result<String, StoreError> {
        serde_json::to_string(value).map_err(|error| self.damaged(error))
    }

    fn run(&self, sql: &str, values: &[&dyn ToSql]) -> Result<usize, StoreError> {
        let run = |sql| self.database.prepare_cached(sql)?.execute(values);
        run(sql).map_err(|error| self.error(error))
    }

    /// Every row of a question.
    fn ask<T>(
        &self,
        sql: &str,
        values: impl IntoIterator<Item = Value>,
        read: impl Fn(&Row<'_>) -> Result<T, RowError>,
    ) -> Result<Vec<T>, StoreError> {
        let mut found = Vec::new();
        let ask = || -> Result<(), RowError> {
            let mut statement = self.database.prepare_cached(sql)?;
            let mut rows = statement.query(params_from_iter(values))?;
            while let Some(row) = rows.next()? {
                found.push(read(row)?);
            }
            Ok(())
        };
        match ask() {
            Ok(()) => Ok(found),
            Err(RowError::Sql(error)) => Err(self.error(error)),
            Err(RowError::Record(what)) => Err(self.damaged(what)),
        }
    }

    /// As [`Sqlite::ask`], for many numbers; `{}` in the question is where they stand.
    fn ask_of<T>(
        &self,
        sql: &str,
        ids: &[Id],
        read: impl Fn(&Row<'_>) -> Result<T, RowError>,
    ) -> Result<Vec<T>, StoreError> {
        let mut found = Vec::new();
        for chunk in ids.chunks(CHUNK) {
            let marks = vec!["?"; chunk.len()].join(",");
            let values = chunk.iter().map(|id| Value::Integer(*id));
            found.extend(self.ask(&sql.replace("{}", &marks), values, &read)?);
        }
        Ok(found)
    }
}

/// What is wrong with a row.
enum RowError {
    Sql(rusqlite::Error),
    Record(String),
}

impl From<rusqlite::Error> for RowError {
    fn from(error: rusqlite::Error) -> Self {
        Self::Sql(error)
    }
}

/// The bytes of a vector.
fn bytes(features: &[f32]) -> Vec<u8> {
    features.iter().flat_map(|value| value.to_le_bytes()).collect()
}

fn features(bytes: &[u8]) -> Result<Vec<f32>, RowError> {
    let (chunks, rest) = bytes.as_chunks::<4>();
    if !rest.is_empty() {
        return Err(RowError::Record(format!("a vector of {} bytes", bytes.len())));
    }
    Ok(chunks.iter().map(|chunk| f32::from_le_bytes(*chunk)).collect())
}

fn record<T: DeserializeOwned>(text: &str) -> Result<T, RowError> {
    serde_json::from_str(text).map_err(|error| RowError::Record(error.to_string()))
}

fn view(row: &Row<'_>) -> Result<View, RowError> {
    let mut view: View = record(row.get_ref(0)?.as_str().map_err(rusqlite::Error::from)?)?;
    view.area = row.get(1)?;
    view.text_features = features(row.get_ref(2)?.as_blob().map_err(rusqlite::Error::from)?)?;
    view.picture_features = features(row.get_ref(3)?.as_blob().map_err(rusqlite::Error::from)?)?;
    Ok(view)
}
const VIEW: &str = "data, area, text_features, picture_features";

fn thing(row: &Row<'_>) -> Result<Thing, RowError> {
    let mut thing: Thing = record(row.get_ref(0)?.as_str().map_err(rusqlite::Error::from)?)?;
    thing.features = features(row.get_ref(1)?.as_blob().map_err(rusqlite::Error::from)?)?;
    Ok(thing)
}
const THINGS: &str = "SELECT data, features FROM things JOIN vectors ON vectors.id = vector";

fn area(row: &Row<'_>) -> Result<Area, RowError> {
    let mut area: Area = record(row.get_ref(0)?.as_str().map_err(rusqlite::Error::from)?)?;
    area.features = features(row.get_ref(1)?.as_blob().map_err(rusqlite::Error::from)?)?;
    Ok(area)
}

fn showing(row: &Row<'_>) -> Result<Showing, RowError> {
    Ok(Showing { thing: row.get(0)?, view: row.get(1)?, share: row.get(2)? })
}

fn text(value: &str) -> Value {
    Value::Text(value.to_owned())
}

impl Store for Sqlite {
    fn name(&self) -> String {
        self.path.display().to_string()
    }

    fn space(&mut self) -> Result<Option<(String, usize)>, StoreError> {
        let found =
            self.ask("SELECT value FROM meta WHERE key = 'space'", [], |row| Ok(row.get::<_, String>(0)?))?;
        let Some(found) = found.into_iter().next() else { return Ok(None) };
        let (space, dimensions) =
            found.rsplit_once(' ').ok_or_else(|| self.damaged("no space of vectors"))?;
        let dimensions = dimensions.parse().map_err(|error| self.damaged(error))?;
        Ok(Some((space.to_owned(), dimensions)))
    }

    fn set_space(&mut self, space: &str, dimensions: usize) -> Result<(), StoreError> {
        let value = format!("{space} {dimensions}");
        self.run("INSERT OR IGNORE INTO meta VALUES ('space', ?)", &[&value])?;
        match self.space()? {
            Some(found) if found != (space.to_owned(), dimensions) => {
                Err(StoreError::OtherSpace { store: self.name(), found: found.0, wanted: space.to_owned() })
            }
            _ => Ok(()),
        }
    }

    fn begin(&mut self, _: &str) -> Result<(), StoreError> {
        self.run("BEGIN IMMEDIATE", &[])?;
        self.writing = true;
        Ok(())
    }

    fn commit(&mut self) -> Result<(), StoreError> {
        self.run("COMMIT", &[])?;
        self.writing = false;
        Ok(())
    }

    fn abandon(&mut self) {
        if std::mem::take(&mut self.writing) && !self.database.is_autocommit() {
            // Nothing is lost if even this fails: the transaction ends with the connection.
            let _ = self.run("ROLLBACK", &[]);
        }
    }

    fn reserve(&mut self, count: usize) -> Result<Id, StoreError> {
        let sql = "UPDATE meta SET value = CAST(value AS INTEGER) + ?1 WHERE key = 'next'
                   RETURNING CAST(value AS INTEGER) - ?1";
        let found = self.ask(sql, [Value::Integer(count as i64)], |row| Ok(row.get::<_, i64>(0)?))?;
        found.first().copied().ok_or_else(|| self.damaged("no next number"))
    }

    fn put_view(&mut self, view: &View) -> Result<(), StoreError> {
        let data = self.json(view)?;
        self.run(
            "INSERT INTO views VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO UPDATE SET area = excluded.area,
             data = excluded.data, text_features = excluded.text_features, picture_features = excluded.picture_features",
            params![
                view.id, view.building, view.robot, view.taken, view.area, data, bytes(&view.text_features),
                bytes(&view.picture_features)
            ],
        )
        .map(drop)
    }

    fn put_picture(&mut self, view: Id, picture: &[u8]) -> Result<(), StoreError> {
        self.run("INSERT OR REPLACE INTO pictures VALUES (?, ?)", params![view, picture]).map(drop)
    }

    fn put_sighting(&mut self, sighting: &Sighting) -> Result<(), StoreError> {
        let Sighting { id, view, thing, seen } = sighting;
        let data = self.json(sighting)?;
        self.run(
            "INSERT INTO sightings VALUES (?, ?, ?, ?, ?) ON CONFLICT (id) DO UPDATE SET share = excluded.share,
             data = excluded.data",
            params![id, view, thing, seen.share, data],
        )
        .map(drop)
    }

    fn put_thing(&mut self, thing: &Thing) -> Result<(), StoreError> {
        let data = self.json(thing)?;
        let [x, y, _] = thing.place.center;
        let vector = tables::vector_of(&self.database, &bytes(&thing.features));
        let vector = vector.map_err(|error| self.error(error))?;
        let sql = "SELECT vector FROM things WHERE id = ?";
        let before = self.ask(sql, [Value::Integer(thing.id)], |row| Ok(row.get::<_, Option<i64>>(0)?))?;
        self.run(
            "INSERT INTO things (id, building, x, y, data, vector) VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO UPDATE
             SET x = excluded.x, y = excluded.y, data = excluded.data, vector = excluded.vector",
            params![thing.id, thing.building, x, y, data, vector],
        )?;
        if let Some(before) = before.into_iter().flatten().find(|before| *before != vector) {
            let sql =
                "DELETE FROM vectors WHERE id = ?1 AND NOT EXISTS (SELECT 1 FROM things WHERE vector = ?1)";
            self.run(sql, &[&before])?;
        }
        Ok(())
    }

    fn replace_areas(&mut self, building: &str, areas: &[Area]) -> Result<(), StoreError> {
        self.run("DELETE FROM areas WHERE building = ?", &[&building])?;
        for area in areas {
            let data = self.json(area)?;
            let values = params![area.id, area.building, area.level, data, bytes(&area.features)];
            self.run("INSERT INTO areas VALUES (?, ?, ?, ?, ?)", values)?;
        }
        Ok(())
    }

    fn put_episode(&mut self, episode: &Episode) -> Result<(), StoreError> {
        let data = self.json(episode)?;
        self.run(
            "INSERT INTO episodes (building, robot, at, data) VALUES (?, ?, ?, ?)",
            params![episode.building, episode.robot, episode.at, data],
        )
        .map(drop)
    }

    fn buildings(&mut self) -> Result<Vec<Area>, StoreError> {
        self.ask("SELECT data, features FROM areas WHERE level = 6 ORDER BY id", [], area)
    }

    fn areas_of(&mut self, building: &str) -> Result<Vec<Area>, StoreError> {
        self.ask("SELECT data, features FROM areas WHERE building = ? ORDER BY id", [text(building)], area)
    }

    fn unsummarised(&mut self) -> Result<Vec<String>, StoreError> {
        let sql = "SELECT DISTINCT building FROM views WHERE area IS NULL ORDER BY building";
        self.ask(sql, [], |row| Ok(row.get::<_, String>(0)?))
    }

    fn views_of_areas(&mut self, areas: &[Id]) -> Result<Vec<View>, StoreError> {
        self.ask_of(&format!("SELECT {VIEW} FROM views WHERE area IN ({{}}) ORDER BY id"), areas, view)
    }

    fn views_of(&mut self, building: &str) -> Result<Vec<View>, StoreError> {
        self.ask(&format!("SELECT {VIEW} FROM views WHERE building = ? ORDER BY id"), [text(building)], view)
    }

    fn views(&mut self, ids: &[Id]) -> Result<Vec<View>, StoreError> {
        self.ask_of(&format!("SELECT {VIEW} FROM views WHERE id IN ({{}}) ORDER BY id"), ids, view)
    }

    fn shown_in(&mut self, views: &[Id]) -> Result<Vec<Showing>, StoreError> {
        self.ask_of("SELECT thing, view, share FROM sightings WHERE view IN ({}) ORDER BY id", views, showing)
    }

    fn showing(&mut self, things: &[Id]) -> Result<Vec<Showing>, StoreError> {
        self.ask_of(
            "SELECT thing, view, share FROM sightings WHERE thing IN ({}) ORDER BY id",
            things,
            showing,
        )
    }

    fn sightings_of(&mut self, thing: Id) -> Result<Vec<Sighting>, StoreError> {
        let sql = "SELECT data FROM sightings WHERE thing = ? ORDER BY id DESC";
        self.ask(sql, [Value::Integer(thing)], |row| record(&row.get::<_, String>(0)?))
    }

    fn things(&mut self, ids: &[Id]) -> Result<Vec<Thing>, StoreError> {
        self.ask_of(&format!("{THINGS} WHERE things.id IN ({{}}) ORDER BY things.id"), ids, thing)
    }

    fn things_of(&mut self, building: &str) -> Result<Vec<Thing>, StoreError> {
        self.ask(&format!("{THINGS} WHERE building = ? ORDER BY things.id"), [text(building)], thing)
    }

    fn things_near(&mut self, building: &str, place: [f64; 2], reach: f64) -> Result<Vec<Thing>, StoreError> {
        let sql = format!(
            "{THINGS} WHERE building = ?1 AND x BETWEEN ?2 - ?4 AND ?2 + ?4 AND y BETWEEN ?3 - ?4 AND ?3 + ?4
             AND (x - ?2) * (x - ?2) + (y - ?3) * (y - ?3) <= ?4 * ?4 ORDER BY things.id"
        );
        let values = [text(building), Value::Real(place[0]), Value::Real(place[1]), Value::Real(reach)];
        self.ask(&sql, values, thing)
    }

    fn nearest(
        &mut self,
        wanted: &[f32],
        count: usize,
        building: Option<&str>,
    ) -> Result<Vec<(Id, f64)>, StoreError> {
        self.most_alike(wanted, count, building)
    }

    fn index(&mut self, most: usize) -> Result<usize, StoreError> {
        self.index_some(most)
    }

    fn picture(&mut self, view: Id) -> Result<Option<Vec<u8>>, StoreError> {
        let found = || {
            let mut statement =
                self.database.prepare_cached("SELECT picture FROM pictures WHERE view = ?")?;
            statement.query_row([view], |row| row.get(0)).optional()
        };
        found().map_err(|error| self.error(error))
    }

    fn episodes(&mut self, filter: &EpisodeFilter) -> Result<Vec<Episode>, StoreError> {
        let sql = "SELECT data FROM episodes WHERE (?1 IS NULL OR building = ?1) AND (?2 IS NULL OR robot = ?2)
                   AND (?3 IS NULL OR at >= ?3) AND (?4 IS NULL OR at < ?4) ORDER BY at DESC, id DESC LIMIT ?5";
        let values = [
            filter.building.as_deref().map_or(Value::Null, text),
            filter.robot.as_deref().map_or(Value::Null, text),
            filter.since.map_or(Value::Null, Value::Real),
            filter.until.map_or(Value::Null, Value::Real),
            Value::Integer(filter.most as i64),
        ];
        self.ask(sql, values, |row| record(&row.get::<_, String>(0)?))
    }

    fn counts(&mut self) -> Result<Counts, StoreError> {
        let count = |sql: &str| {
            let found = self.ask(sql, [], |row| Ok(row.get::<_, i64>(0)?))?;
            Ok(found.first().map_or(0, |count| count.unsigned_abs()))
        };
        Ok(Counts {
            buildings: count("SELECT count(DISTINCT building) FROM views")?,
            views: count("SELECT count(*) FROM views")?,
            sightings: count("SELECT count(*) FROM sightings")?,
            things: count("SELECT count(*) FROM things")?,
            areas: count("SELECT count(*) FROM areas")?,
            episodes: count("SELECT count(*) FROM episodes")?,
        })
    }

    fn forget(&mut self, what: &Forget) -> Result<u64, StoreError> {
        let mut gone = 0;
        match what {
            Forget::Building(building) => {
                for table in ["views", "things", "areas", "episodes"] {
                    gone += self.run(&format!("DELETE FROM {table} WHERE building = ?"), &[building])?;
                }
            }
            Forget::Before(time) => {
                gone += self.run("DELETE FROM views WHERE taken < ?", &[time])?;
                gone += self.run("DELETE FROM episodes WHERE at < ?", &[time])?;
            }
            Forget::Thing(id) => gone += self.run("DELETE FROM things WHERE id = ?", &[id])?,
            Forget::Robot(robot) => {
                gone += self.run("DELETE FROM views WHERE robot = ?", &[robot])?;
                gone += self.run("DELETE FROM episodes WHERE robot = ?", &[robot])?;
            }
        }
        gone += self.run("DELETE FROM things WHERE id NOT IN (SELECT thing FROM sightings)", &[])?;
        let sql = "DELETE FROM vectors WHERE id NOT IN (SELECT vector FROM things WHERE vector IS NOT NULL)";
        if self.run(sql, &[])? > 0 {
            self.forget_index()?;
        }
        Ok(gone as u64)
    }
}
