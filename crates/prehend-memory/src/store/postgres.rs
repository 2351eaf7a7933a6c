//! A PostgreSQL server with pgvector: one memory that several robots share.
//!
//! What is written to a building is collected and sent together, so that a robot on a slow network does not hold the building for
//! long; what is wrong with it is told by the next question or by [`Store::commit`].

mod address;
mod error;
mod link;
mod row;
mod session;
mod tables;

pub use tables::SERVER_SCHEMA;

pub use session::Postgres;

use super::{Counts, EpisodeFilter, Forget, Showing, Store, StoreError};
use crate::record::{Area, Episode, Id, Sighting, Thing, View};
use link::{Question, values};
use row::{RowError, THING, VIEW, Vector, bytes, json, record};
use session::Writing;
use tables::{ALL, LOCKS};
use tokio_postgres::Row;

/// Longest vectors that pgvector makes an index for; longer ones are compared one by one.
const LONGEST_INDEXED: usize = 2000;

/// The lock of a building; never one of the few that [`tables`] has.
fn lock_of(building: &str) -> i32 {
    let start = 0x811c_9dc5_u32;
    let hash = building.bytes().fold(start, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193));
    (hash | 0x10).cast_signed()
}

fn limit(count: usize) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

impl Store for Postgres {
    fn name(&self) -> String {
        self.store()
    }

    fn space(&mut self) -> Result<Option<(String, usize)>, StoreError> {
        let sql = "SELECT value FROM prehend_meta WHERE key = 'space'";
        let found = self.ask(sql, values![], |row| {
            let value: &str = row.try_get(0)?;
            let (space, dimensions) = value.rsplit_once(' ').unwrap_or_default();
            let wrong = |_| RowError(format!("no space of vectors: `{value}`"));
            Ok((space.to_owned(), dimensions.parse().map_err(wrong)?))
        })?;
        let found = found.into_iter().next();
        self.dimensions = found.as_ref().map(|(_, dimensions)| *dimensions);
        Ok(found)
    }

    /// Notes space and length of the vectors, and makes their index. Of two robots that come with two encoders at once, the second
    /// is refused.
    fn set_space(&mut self, space: &str, dimensions: usize) -> Result<(), StoreError> {
        let wanted = (space.to_owned(), dimensions);
        self.atomically("", |store| {
            match store.space()? {
                None => {}
                Some(found) if found == wanted => return Ok(()),
                Some((found, _)) => {
                    return Err(StoreError::OtherSpace { store: store.store(), found, wanted: wanted.0 });
                }
            }
            store.run("INSERT INTO prehend_meta VALUES ('space', $1)", values![format!("{space} {dimensions}")])?;
            let sql = format!("ALTER TABLE prehend_features ALTER COLUMN features TYPE vector({dimensions})");
            store.run(sql, values![])?;
            if dimensions <= LONGEST_INDEXED {
                // Vectors are one long, so their product is their cosine; an index of cosines leaves out zeros.
                let sql = "CREATE INDEX prehend_features_by_likeness ON prehend_features USING hnsw (features vector_ip_ops)";
                store.run(sql, values![])?;
            }
            store.dimensions = Some(dimensions);
            Ok(())
        })
    }

    /// Begins to write to a building; to all of them when it has no name.
    fn begin(&mut self, building: &str) -> Result<(), StoreError> {
        if self.writing.is_some() {
            return Err(self.failed("something is being written already"));
        }
        let mut questions = vec![Question::new("BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE", values![])];
        if building.is_empty() {
            questions.push(Question::new("SELECT pg_advisory_xact_lock($1, $2)", values![LOCKS, ALL]));
        } else {
            questions.push(Question::new("SELECT pg_advisory_xact_lock_shared($1, $2)", values![LOCKS, ALL]));
            let lock = values![LOCKS, lock_of(building)];
            questions.push(Question::new("SELECT pg_advisory_xact_lock($1, $2)", lock));
        }
        let begun = self.send(questions, true).map(drop);
        self.writing = Some(Writing { building: building.to_owned(), waiting: Vec::new() });
        if begun.is_err() {
            self.abandon();
        }
        begun
    }

    fn commit(&mut self) -> Result<(), StoreError> {
        let Some(writing) = &self.writing else { return Err(self.failed("nothing is being written")) };
        let building = writing.building.clone();
        // Fails if anything before it did: a bare COMMIT would undo the rest and say nothing.
        let sql = "SELECT txid_current_if_assigned()";
        let transaction =
            self.ask(sql, values![], |row| Ok(row.try_get::<_, Option<i64>>(0)?))?.pop().flatten();
        let done = self.send(vec![Question::new("COMMIT", values![])], false).map(drop);
        if done.is_ok() || self.link.is_none() {
            self.writing = None;
        }
        match (done, transaction) {
            (Ok(()), _) => Ok(()),
            (Err(lost), Some(transaction)) if self.link.is_none() => {
                self.settle(&building, transaction, lost)
            }
            (Err(_), None) if self.link.is_none() => Ok(()), // Nothing was written.
            (Err(error), _) => Err(error),
        }
    }

    fn abandon(&mut self) {
        let is_open = self.link.as_ref().is_some_and(|link| !link.is_closed());
        if self.writing.take().is_some()
            && (!is_open || self.send(vec![Question::new("ROLLBACK", values![])], false).is_err())
        {
            // The transaction ends with the connection.
            self.link = None;
        }
    }

    fn reserve(&mut self, count: usize) -> Result<Id, StoreError> {
        let first = self.one("SELECT prehend_reserve($1)", values![limit(count)]);
        if first.is_err() {
            self.link = None; // It may hold the lock of numbers.
        }
        first
    }

    fn put_view(&mut self, view: &View) -> Result<(), StoreError> {
        let data = json(view, &self.address.name)?;
        self.run(
            "INSERT INTO prehend_views VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT (id) DO UPDATE SET
             area = excluded.area, data = excluded.data, text_features = excluded.text_features,
             picture_features = excluded.picture_features",
            values![
                view.id,
                view.building.clone(),
                view.robot.clone(),
                view.taken,
                view.area,
                data,
                bytes(&view.text_features),
                bytes(&view.picture_features)
            ],
        )
    }

    fn put_picture(&mut self, view: Id, picture: &[u8]) -> Result<(), StoreError> {
        let sql = "INSERT INTO prehend_pictures VALUES ($1, $2) ON CONFLICT (view) DO UPDATE SET picture = excluded.picture";
        self.run(sql, values![view, picture.to_vec()])
    }

    fn put_sighting(&mut self, sighting: &Sighting) -> Result<(), StoreError> {
        let Sighting { id, view, thing, seen } = sighting;
        let data = json(sighting, &self.address.name)?;
        let values = values![*id, *view, *thing, seen.share, data];
        self.run(
            "INSERT INTO prehend_sightings VALUES ($1, $2, $3, $4, $5) ON CONFLICT (id) DO UPDATE SET
             share = excluded.share, data = excluded.data",
            values,
        )
    }

    fn put_thing(&mut self, thing: &Thing) -> Result<(), StoreError> {
        let data = json(thing, &self.address.name)?;
        let [x, y, _] = thing.place.center;
        let put = "WITH put AS (INSERT INTO prehend_things VALUES ($1, $2, $3, $4, $5) ON CONFLICT (id) DO UPDATE SET
                   x = excluded.x, y = excluded.y, data = excluded.data)";
        let mut values = values![thing.id, thing.building.clone(), x, y, data];
        if thing.features.is_empty() {
            return self.run(format!("{put} DELETE FROM prehend_features WHERE thing = $1"), values);
        }
        values.push(Box::new(Vector(thing.features.clone())));
        let sql = format!(
            "{put} INSERT INTO prehend_features VALUES ($1, $2, $6) ON CONFLICT (thing) DO UPDATE SET
             features = excluded.features WHERE prehend_features.features IS DISTINCT FROM excluded.features"
        );
        self.run(sql, values)
    }

    fn replace_areas(&mut self, building: &str, areas: &[Area]) -> Result<(), StoreError> {
        self.atomically(building, |store| {
            store.run("DELETE FROM prehend_areas WHERE building = $1", values![building.to_owned()])?;
            for area in areas {
                let data = json(area, &store.address.name)?;
                let (level, features) = (i16::from(area.level), bytes(&area.features));
                let values = values![area.id, area.building.clone(), level, data, features];
                store.run("INSERT INTO prehend_areas VALUES ($1, $2, $3, $4, $5)", values)?;
            }
            Ok(())
        })
    }

    fn put_episode(&mut self, episode: &Episode) -> Result<(), StoreError> {
        let data = json(episode, &self.address.name)?;
        let values = values![episode.building.clone(), episode.robot.clone(), episode.at, data];
        self.run("INSERT INTO prehend_episodes (building, robot, at, data) VALUES ($1, $2, $3, $4)", values)
    }

    fn buildings(&mut self) -> Result<Vec<Area>, StoreError> {
        self.ask("SELECT data, features FROM prehend_areas WHERE level = 6 ORDER BY id", values![], row::area)
    }

    fn areas_of(&mut self, building: &str) -> Result<Vec<Area>, StoreError> {
        let sql = "SELECT data, features FROM prehend_areas WHERE building = $1 ORDER BY id";
        self.ask(sql, values![building.to_owned()], row::area)
    }

    fn unsummarised(&mut self) -> Result<Vec<String>, StoreError> {
        let sql = "SELECT DISTINCT building FROM prehend_views WHERE area IS NULL ORDER BY building";
        self.ask(sql, values![], |row| Ok(row.try_get(0)?))
    }

    fn views_of_areas(&mut self, areas: &[Id]) -> Result<Vec<View>, StoreError> {
        self.ask(format!("{VIEW} WHERE area = ANY ($1) ORDER BY id"), values![areas.to_vec()], row::view)
    }

    fn views_of(&mut self, building: &str) -> Result<Vec<View>, StoreError> {
        self.ask(format!("{VIEW} WHERE building = $1 ORDER BY id"), values![building.to_owned()], row::view)
    }

    fn views(&mut self, ids: &[Id]) -> Result<Vec<View>, StoreError> {
        self.ask(format!("{VIEW} WHERE id = ANY ($1) ORDER BY id"), values![ids.to_vec()], row::view)
    }

    fn shown_in(&mut self, views: &[Id]) -> Result<Vec<Showing>, StoreError> {
        let sql = "SELECT thing, view, share FROM prehend_sightings WHERE view = ANY ($1) ORDER BY id";
        self.ask(sql, values![views.to_vec()], row::showing)
    }

    fn showing(&mut self, things: &[Id]) -> Result<Vec<Showing>, StoreError> {
        let sql = "SELECT thing, view, share FROM prehend_sightings WHERE thing = ANY ($1) ORDER BY id";
        self.ask(sql, values![things.to_vec()], row::showing)
    }

    fn sightings_of(&mut self, thing: Id) -> Result<Vec<Sighting>, StoreError> {
        self.ask(
            "SELECT data FROM prehend_sightings WHERE thing = $1 ORDER BY id DESC",
            values![thing],
            record,
        )
    }

    fn things(&mut self, ids: &[Id]) -> Result<Vec<Thing>, StoreError> {
        self.ask(format!("{THING} WHERE id = ANY ($1) ORDER BY id"), values![ids.to_vec()], row::thing)
    }

    fn things_of(&mut self, building: &str) -> Result<Vec<Thing>, StoreError> {
        let sql = format!("{THING} WHERE prehend_things.building = $1 ORDER BY id");
        self.ask(sql, values![building.to_owned()], row::thing)
    }

    fn things_near(&mut self, building: &str, place: [f64; 2], reach: f64) -> Result<Vec<Thing>, StoreError> {
        let sql = format!(
            "{THING} WHERE prehend_things.building = $1 AND x BETWEEN $2::float8 - $4::float8 AND $2 + $4
             AND y BETWEEN $3::float8 - $4 AND $3 + $4 AND (x - $2) * (x - $2) + (y - $3) * (y - $3) <= $4 * $4 ORDER BY id"
        );
        self.ask(sql, values![building.to_owned(), place[0], place[1], reach], row::thing)
    }

    /// The things whose features are most like a vector, most first. Exact in a building; in all of them the index of pgvector may
    /// miss a few. Things without features are like nothing and left out.
    fn nearest(
        &mut self,
        features: &[f32],
        count: usize,
        building: Option<&str>,
    ) -> Result<Vec<(Id, f64)>, StoreError> {
        if self.dimensions.is_none() {
            self.space()?;
        }
        let building = building.map(str::to_owned);
        if self.dimensions.unwrap_or(features.len()) != features.len() || features.is_empty() {
            let sql = "SELECT thing FROM prehend_features WHERE $1::text IS NULL OR building = $1 ORDER BY thing LIMIT $2";
            return self.ask(sql, values![building, limit(count)], |row| Ok((row.try_get(0)?, 0.0)));
        }
        let vector = Vector(features.to_vec());
        // The product is negative there. From zero, so that it is not -0.
        let read = |row: &Row| Ok((row.try_get(0)?, 0.0 - row.try_get::<_, f64>(1)?));
        let mut found = match building {
            Some(building) => {
                // An order by a sum is served by no index.
                let sql = "SELECT thing, features <#> $1 FROM prehend_features WHERE building = $2
                           ORDER BY (features <#> $1) + 0.0, thing LIMIT $3";
                self.ask(sql, values![vector, building, limit(count)], read)?
            }
            None => {
                let sql =
                    "SELECT thing, features <#> $1 FROM prehend_features ORDER BY features <#> $1 LIMIT $2";
                self.ask(sql, values![vector, limit(count)], read)?
            }
        };
        found.sort_by(|a: &(Id, f64), b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        Ok(found)
    }

    fn picture(&mut self, view: Id) -> Result<Option<Vec<u8>>, StoreError> {
        let sql = "SELECT picture FROM prehend_pictures WHERE view = $1";
        Ok(self.ask(sql, values![view], |row| Ok(row.try_get(0)?))?.pop())
    }

    fn episodes(&mut self, filter: &EpisodeFilter) -> Result<Vec<Episode>, StoreError> {
        let sql = "SELECT data FROM prehend_episodes WHERE ($1::text IS NULL OR building = $1)
                   AND ($2::text IS NULL OR robot = $2) AND ($3::float8 IS NULL OR at >= $3)
                   AND ($4::float8 IS NULL OR at < $4) ORDER BY at DESC, id DESC LIMIT $5";
        let EpisodeFilter { building, robot, since, until, most } = filter;
        self.ask(sql, values![building.clone(), robot.clone(), *since, *until, limit(*most)], record)
    }

    fn counts(&mut self) -> Result<Counts, StoreError> {
        let sql = "SELECT (SELECT count(DISTINCT building) FROM prehend_views), (SELECT count(*) FROM prehend_views),
                   (SELECT count(*) FROM prehend_sightings), (SELECT count(*) FROM prehend_things),
                   (SELECT count(*) FROM prehend_areas), (SELECT count(*) FROM prehend_episodes)";
        let found = self.ask(sql, values![], |row| {
            let count = |place| Ok::<u64, RowError>(row.try_get::<_, i64>(place)?.unsigned_abs());
            Ok(Counts {
                buildings: count(0)?,
                views: count(1)?,
                sightings: count(2)?,
                things: count(3)?,
                areas: count(4)?,
                episodes: count(5)?,
            })
        })?;
        Ok(found.first().copied().unwrap_or_default())
    }

    fn forget(&mut self, what: &Forget) -> Result<u64, StoreError> {
        self.atomically("", |store| {
            // Who forgets one building writes the summaries of the others too.
            store.run("SELECT pg_advisory_xact_lock($1, $2)", values![LOCKS, ALL])?;
            let mut gone = 0;
            let mut delete = |table: &str, which: &str, values| {
                let sql = format!(
                    "WITH gone AS (DELETE FROM prehend_{table} WHERE {which} RETURNING 1) SELECT count(*) FROM gone"
                );
                gone += store.one(sql, values)?;
                Ok(())
            };
            match what {
                Forget::Building(building) => {
                    for table in ["views", "things", "areas", "episodes"] {
                        delete(table, "building = $1", values![building.clone()])?;
                    }
                }
                Forget::Before(time) => {
                    delete("views", "taken < $1", values![*time])?;
                    delete("episodes", "at < $1", values![*time])?;
                }
                Forget::Thing(id) => delete("things", "id = $1", values![*id])?,
                Forget::Robot(robot) => {
                    delete("views", "robot = $1", values![robot.clone()])?;
                    delete("episodes", "robot = $1", values![robot.clone()])?;
                }
            }
            delete("things", "NOT EXISTS (SELECT FROM prehend_sightings WHERE thing = prehend_things.id)", values![])?;
            Ok(gone.unsigned_abs())
        })
    }
}
