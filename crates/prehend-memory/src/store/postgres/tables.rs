//! The tables of a server.

use super::super::StoreError;
use super::error::{is_lost, meaning, words};
use super::link::Link;
use tokio_postgres::Error;
use tokio_postgres::error::SqlState;

/// Version of the tables.
pub const SERVER_SCHEMA: i64 = 1;

/// The first of the two numbers of every lock that is taken here, so that other programs of the database are not met.
pub(super) const LOCKS: i32 = 0x5072_6548;
/// The lock of making the tables, and that of numbers; [`super::lock_of`] gives none of them.
const MAKING: i32 = 0;
/// See [`MAKING`].
const NUMBERS: i32 = 1;
/// The lock that a writer of one building shares and a writer of all has alone.
pub(super) const ALL: i32 = 2;

/// Oldest pgvector that searches on until it has found enough.
const VECTOR: (u32, u32) = (0, 8);

/// Records are text, since `jsonb` turns -0 into 0 and takes no letter of number 0. Texts are compared byte by byte, as SQLite does.
/// Features of things stand by themselves: most changes of a thing leave them as they are, and then their index has no work. They
/// are read in whole buildings, so they are kept in their rows.
const TABLES: &str = r#"
CREATE TABLE prehend_meta (key text PRIMARY KEY, value text NOT NULL);
CREATE SEQUENCE prehend_ids;
CREATE TABLE prehend_views (
  id bigint PRIMARY KEY, building text COLLATE "C" NOT NULL, robot text COLLATE "C" NOT NULL, taken double precision NOT NULL,
  area bigint, data text NOT NULL, text_features bytea NOT NULL, picture_features bytea NOT NULL);
CREATE INDEX prehend_views_by_building ON prehend_views (building);
CREATE INDEX prehend_views_by_area ON prehend_views (area);
CREATE TABLE prehend_pictures (
  view bigint PRIMARY KEY REFERENCES prehend_views (id) ON DELETE CASCADE, picture bytea NOT NULL);
CREATE TABLE prehend_things (
  id bigint PRIMARY KEY, building text COLLATE "C" NOT NULL, x double precision NOT NULL, y double precision NOT NULL,
  data text NOT NULL);
CREATE INDEX prehend_things_by_place ON prehend_things (building, x, y);
CREATE TABLE prehend_features (
  thing bigint PRIMARY KEY REFERENCES prehend_things (id) ON DELETE CASCADE, building text COLLATE "C" NOT NULL,
  features vector NOT NULL);
ALTER TABLE prehend_features ALTER COLUMN features SET STORAGE MAIN;
CREATE INDEX prehend_features_by_building ON prehend_features (building);
CREATE TABLE prehend_sightings (
  id bigint PRIMARY KEY, view bigint NOT NULL REFERENCES prehend_views (id) ON DELETE CASCADE,
  thing bigint NOT NULL REFERENCES prehend_things (id) ON DELETE CASCADE, share double precision NOT NULL, data text NOT NULL);
CREATE INDEX prehend_sightings_by_view ON prehend_sightings (view);
CREATE INDEX prehend_sightings_by_thing ON prehend_sightings (thing);
CREATE TABLE prehend_areas (
  id bigint PRIMARY KEY, building text COLLATE "C" NOT NULL, level smallint NOT NULL, data text NOT NULL,
  features bytea NOT NULL);
CREATE INDEX prehend_areas_by_building ON prehend_areas (building, level);
CREATE TABLE prehend_episodes (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, building text COLLATE "C" NOT NULL, robot text COLLATE "C" NOT NULL,
  at double precision NOT NULL, data text NOT NULL);
CREATE INDEX prehend_episodes_by_time ON prehend_episodes (at);
"#;

/// Takes many numbers from the sequence at once. Its lock ends with it, so writers of two buildings do not wait for each other.
fn numbers() -> String {
    format!(
        "CREATE FUNCTION prehend_reserve(count bigint) RETURNS bigint LANGUAGE plpgsql AS $$
         DECLARE first bigint;
         BEGIN
           PERFORM pg_advisory_lock({LOCKS}, {NUMBERS});
           first := nextval('prehend_ids');
           PERFORM setval('prehend_ids', first + count, false);
           PERFORM pg_advisory_unlock({LOCKS}, {NUMBERS});
           RETURN first;
         END $$;"
    )
}

/// Makes what is missing, and looks whether what is there can be used.
pub(super) async fn prepare(link: &Link, store: &str) -> Result<(), StoreError> {
    let found = match version(link, store).await? {
        Some(found) => found,
        None => make(link, store).await?,
    };
    if found > SERVER_SCHEMA {
        return Err(StoreError::Newer { store: store.to_owned(), found, known: SERVER_SCHEMA });
    }
    let known = link.first("SELECT extversion FROM pg_extension WHERE extname = 'vector'").await;
    let known = known.map_err(|error| meaning(&error, store, true))?;
    let known: String = known.and_then(|row| row.try_get(0).ok()).unwrap_or_default();
    let mut numbers = known.split('.').map(|number| number.parse().unwrap_or(0));
    if (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0)) < VECTOR {
        return Err(no_vector(store, &format!("it has version `{known}`")));
    }
    Ok(())
}

fn no_vector(store: &str, what: &str) -> StoreError {
    let what = format!(
        "it needs the extension pgvector {}.{} or newer ({what}): install it on the server, then let an administrator of the \
         database run `CREATE EXTENSION vector` (or `ALTER EXTENSION vector UPDATE`)",
        VECTOR.0, VECTOR.1
    );
    StoreError::Unreachable { store: store.to_owned(), what }
}

/// The version of the tables; `None` when there are none.
async fn version(link: &Link, store: &str) -> Result<Option<i64>, StoreError> {
    let failed = |error: Error| meaning(&error, store, true);
    let damaged = |what: String| StoreError::Damaged { store: store.to_owned(), what };
    let there = link.first("SELECT to_regclass('prehend_meta') IS NOT NULL").await.map_err(failed)?;
    if !there.and_then(|row| row.try_get(0).ok()).unwrap_or(false) {
        return Ok(None);
    }
    let found = link.first("SELECT value FROM prehend_meta WHERE key = 'schema'").await.map_err(failed)?;
    let found: Option<String> = found.and_then(|row| row.try_get(0).ok());
    let found = found.ok_or_else(|| damaged("no version of tables".to_owned()))?;
    found.parse().map(Some).map_err(|error| damaged(format!("version of tables `{found}`: {error}")))
}

/// Makes the tables, unless another robot was first; their version. What fails is undone with the connection, which the caller
/// ends.
async fn make(link: &Link, store: &str) -> Result<i64, StoreError> {
    let failed = |error: Error| meaning(&error, store, true);
    // A lock of the session: in a transaction that began before another one made the tables, they might not be seen.
    link.batch(&format!("SELECT pg_advisory_lock({LOCKS}, {MAKING})")).await.map_err(failed)?;
    let unlock = format!("SELECT pg_advisory_unlock({LOCKS}, {MAKING})");
    if let Some(found) = version(link, store).await? {
        link.batch(&unlock).await.map_err(failed)?;
        return Ok(found);
    }
    link.batch("BEGIN; CREATE EXTENSION IF NOT EXISTS vector").await.map_err(|error| match error.code() {
        Some(code) if NO_VECTOR.contains(code) && !is_lost(&error) => no_vector(store, &words(&error)),
        _ => failed(error),
    })?;
    let note = format!("INSERT INTO prehend_meta VALUES ('schema', '{SERVER_SCHEMA}')");
    link.batch(&format!("{TABLES}{}{note}; COMMIT; {unlock}", numbers())).await.map_err(failed)?;
    Ok(SERVER_SCHEMA)
}

/// The extension is not on the server, or only an administrator may take it.
const NO_VECTOR: [SqlState; 3] =
    [SqlState::FEATURE_NOT_SUPPORTED, SqlState::UNDEFINED_FILE, SqlState::INSUFFICIENT_PRIVILEGE];
