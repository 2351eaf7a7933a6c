//! What is most like a vector: by comparing with each while there are few, by the index from then on.

use super::index::{Index, Tag};
use super::{RowError, Sqlite, features, text};
use crate::encode::similarity;
use crate::record::Id;
use crate::store::{Store, StoreError};
use rusqlite::Row;
use rusqlite::types::Value;
use std::collections::HashSet;
use std::path::PathBuf;

/// Vectors that are compared one by one sooner than an index is asked: that takes a few milliseconds.
const FEW: i64 = 2_000;
/// Things of one building up to which they are, also where all buildings have an index: most of what the index gives would be elsewhere.
const FEW_IN_ONE: i64 = 5_000;
/// How many more of the index's are compared than are asked for, and the least: it rounds.
const MORE: usize = 2;
const LEAST: usize = 100;
/// How many times more are asked for when too few of them are where they shall be.
const WIDER: usize = 4;
/// Share of the index, as one of so many, above which comparing with each costs no more.
const MOST_OF_IT: usize = 10;
/// The index is saved when it holds all and has grown by so many, and on the way there when it has grown by one of so many: a new process
/// compares the rest one by one.
const SAVED_BY: usize = 500;
const SAVED_BY_SHARE: usize = 20;
/// Where `meta` keeps how often something was forgotten: an index from before that holds it.
const FORGOTTEN: &str = "forgotten";
/// Where `meta` keeps which saved indexes belong to the store: the newest one, and the one before until that has taken its place.
const TAGS: &str = "index";

/// The index of a store, as far as it is known.
#[derive(Debug, Default)]
pub(super) enum Likeness {
    /// Nobody needed it yet.
    #[default]
    Unread,
    /// It is here, with how often something had been forgotten when it was read.
    Indexed(Box<Index>, i64),
    /// It does not work, which was said; everything is compared.
    Broken,
}

/// Vectors with how alike they are.
type Candidates = Vec<(Id, f64)>;

impl Sqlite {
    /// The file of the index; `None` for a store without a file.
    fn index_file(&self) -> Option<PathBuf> {
        let mut name = self.path.file_name()?.to_owned();
        name.push(".index");
        (self.path.as_os_str() != super::IN_MEMORY).then(|| self.path.with_file_name(name))
    }

    fn number(&self, sql: &str, values: impl IntoIterator<Item = Value>) -> Result<i64, StoreError> {
        let found = self.ask(sql, values, |row| Ok(row.get::<_, Option<i64>>(0)?))?;
        Ok(found.first().copied().flatten().unwrap_or(0))
    }

    /// Number of the newest vector: there are at most so many.
    fn newest(&self) -> Result<i64, StoreError> {
        self.number("SELECT max(id) FROM vectors", [])
    }

    /// The index; `None` when there is none that can be used, or none is needed.
    fn indexed(&mut self) -> Result<Option<&mut Index>, StoreError> {
        let newest = self.newest()?;
        if newest <= FEW {
            return Ok(None);
        }
        let forgotten = self.forgotten()?;
        // Another process may have forgotten what is in it.
        let is_old = matches!(&self.likeness, Likeness::Indexed(_, then) if *then != forgotten);
        if is_old || matches!(self.likeness, Likeness::Unread) {
            self.likeness = match self.read_index(newest)? {
                Ok(index) => Likeness::Indexed(Box::new(index), forgotten),
                Err(why) => self.broken(&why),
            };
        }
        Ok(match &mut self.likeness {
            Likeness::Indexed(index, _) => Some(index),
            Likeness::Unread | Likeness::Broken => None,
        })
    }

    /// How often something was forgotten.
    fn forgotten(&self) -> Result<i64, StoreError> {
        self.number("SELECT CAST(value AS INTEGER) FROM meta WHERE key = ?", [text(FORGOTTEN)])
    }

    fn broken(&self, why: &str) -> Likeness {
        tracing::warn!("the memory {} searches without an index: {why}", self.name());
        Likeness::Broken
    }

    /// The saved index, or an empty one where there is none that belongs to the store.
    fn read_index(&mut self, newest: i64) -> Result<Result<Index, String>, StoreError> {
        let Some((_, dimensions)) = self.space()? else {
            return Ok(Err("nobody has said how long its vectors are".to_owned()));
        };
        let Some(file) = self.index_file().filter(|file| file.exists()) else {
            return Ok(Index::new(dimensions));
        };
        let saved = Index::load(&file, dimensions, &self.tags()?);
        match saved {
            Ok(index) if index.last <= newest => {
                // Numbers of vectors that are gone cost the search as much as others.
                let live = self.number("SELECT count(*) FROM vectors", [])?;
                if index.len() as i64 <= 2 * live.max(FEW) {
                    return Ok(Ok(index));
                }
                tracing::info!("the index of the memory {} is made anew: half of it is gone", self.name());
            }
            Ok(_) => tracing::info!("the index of the memory {} is newer than the memory", self.name()),
            Err(why) => tracing::info!("the index of the memory {} is made anew: {why}", self.name()),
        }
        Ok(Index::new(dimensions))
    }

    fn tags(&self) -> Result<Vec<Tag>, StoreError> {
        let kept = self
            .ask("SELECT value FROM meta WHERE key = ?", [text(TAGS)], |row| Ok(row.get::<_, String>(0)?))?;
        let tag = |word: &str| u128::from_str_radix(word, 16).ok().map(u128::to_be_bytes);
        Ok(kept.iter().flat_map(|tags| tags.split(' ')).filter_map(tag).collect())
    }

    /// A tag for the index that is saved next; the one before is good until then.
    fn new_tag(&self) -> Result<Tag, StoreError> {
        let sql = "INSERT INTO meta VALUES (?1, lower(hex(randomblob(16)))) ON CONFLICT (key) DO UPDATE
                   SET value = excluded.value || ' ' || substr(value, 1, 32)";
        self.run(sql, &[&TAGS])?;
        self.tags()?.first().copied().ok_or_else(|| self.damaged("no tag of its index"))
    }

    /// See [`Store::index`].
    pub(super) fn index_some(&mut self, most: usize) -> Result<usize, StoreError> {
        // What is being written may never have been.
        if self.writing {
            return Ok(0);
        }
        let Some(last) = self.indexed()?.map(|index| index.last) else { return Ok(0) };
        let values = [Value::Integer(last), Value::Integer(most as i64)];
        let new =
            self.ask("SELECT id, features FROM vectors WHERE id > ? ORDER BY id LIMIT ?", values, vector)?;
        let Likeness::Indexed(index, _) = &mut self.likeness else { return Ok(0) };
        if let Err(why) = index.take(&new) {
            self.likeness = self.broken(&why);
            return Ok(0);
        }
        let (last, unsaved, all) = (index.last, index.unsaved(), index.len());
        // Of the numbers after the last one most are there.
        let left = if new.len() < most { 0 } else { (self.newest()? - last).max(0) };
        if unsaved >= SAVED_BY && (left == 0 || unsaved >= all / SAVED_BY_SHARE) {
            self.save_index()?;
        }
        Ok(left as usize)
    }

    fn save_index(&mut self) -> Result<(), StoreError> {
        let Some(file) = self.index_file() else { return Ok(()) };
        let tag = self.new_tag()?;
        if let Likeness::Indexed(index, _) = &mut self.likeness
            && let Err(why) = index.save(&file, &tag)
        {
            // It is tried again when it has grown further.
            tracing::warn!("the index of the memory {} is not saved: {why}", self.name());
        }
        Ok(())
    }

    /// The index goes: what is forgotten is in it, too.
    pub(super) fn forget_index(&mut self) -> Result<(), StoreError> {
        self.likeness = Likeness::Unread;
        self.run("DELETE FROM meta WHERE key = ?", &[&TAGS])?;
        let sql = "INSERT INTO meta VALUES (?1, '1') ON CONFLICT (key) DO UPDATE SET value = CAST(value AS INTEGER) + 1";
        self.run(sql, &[&FORGOTTEN])?;
        if let Some(file) = self.index_file()
            && let Err(error) = std::fs::remove_file(&file)
            && error.kind() != std::io::ErrorKind::NotFound
        {
            return Err(StoreError::Failed {
                store: file.display().to_string(),
                what: format!("what is forgotten stays in the index: {error}"),
            });
        }
        Ok(())
    }

    /// See [`Store::nearest`].
    pub(super) fn most_alike(
        &mut self,
        wanted: &[f32],
        count: usize,
        building: Option<&str>,
    ) -> Result<Vec<(Id, f64)>, StoreError> {
        if self.newest()? <= FEW || self.has_few(building)? || self.indexed()?.is_none() {
            let all = self.compared(wanted, building)?;
            return self.things_of_vectors(all, count, building);
        }
        let since = match &self.likeness {
            Likeness::Indexed(index, _) => index.last,
            Likeness::Unread | Likeness::Broken => 0,
        };
        let sql = "SELECT id, features FROM vectors WHERE id > ?";
        let new = self.ask(sql, [Value::Integer(since)], likeness(wanted))?;
        let mut asked = LEAST.max(count.saturating_mul(MORE));
        while let Likeness::Indexed(index, _) = &self.likeness {
            if asked > index.len() / MOST_OF_IT {
                break;
            }
            let Ok(ids) = index.search(wanted, asked) else { break };
            let sql = "SELECT id, features FROM vectors WHERE id IN ({})";
            let mut candidates = self.ask_of(sql, &ids, likeness(wanted))?;
            candidates.extend_from_slice(&new);
            let found = self.things_of_vectors(candidates, count, building)?;
            if found.len() >= count {
                return Ok(found);
            }
            asked *= WIDER;
        }
        let all = self.compared(wanted, building)?;
        self.things_of_vectors(all, count, building)
    }

    fn has_few(&self, building: Option<&str>) -> Result<bool, StoreError> {
        let Some(building) = building else { return Ok(false) };
        let sql = "SELECT count(*) FROM (SELECT 1 FROM things WHERE building = ? LIMIT ?)";
        Ok(self.number(sql, [text(building), Value::Integer(FEW_IN_ONE + 1)])? <= FEW_IN_ONE)
    }

    /// Every vector, or those of one building, compared.
    fn compared(&self, wanted: &[f32], building: Option<&str>) -> Result<Candidates, StoreError> {
        match building {
            Some(building) => self.ask(
                "SELECT id, features FROM vectors WHERE id IN (SELECT vector FROM things WHERE building = ?)",
                [text(building)],
                likeness(wanted),
            ),
            None => self.ask("SELECT id, features FROM vectors", [], likeness(wanted)),
        }
    }

    /// The things of vectors, those of the most alike ones first.
    fn things_of_vectors(
        &self,
        mut candidates: Candidates,
        count: usize,
        building: Option<&str>,
    ) -> Result<Vec<(Id, f64)>, StoreError> {
        candidates.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        let mut seen = HashSet::new();
        let mut found = Vec::new();
        for alike in candidates.chunk_by(|a, b| a.1 == b.1) {
            let mut things: Vec<Id> = Vec::new();
            for (vector, _) in alike.iter().filter(|(vector, _)| seen.insert(*vector)) {
                let left = Value::Integer((count - found.len()) as i64);
                let (vector, id) = (Value::Integer(*vector), |row: &Row<'_>| Ok(row.get::<_, Id>(0)?));
                things.extend(match building {
                    Some(building) => self.ask(
                        "SELECT id FROM things WHERE vector = ? AND building = ? ORDER BY id LIMIT ?",
                        [vector, text(building), left],
                        id,
                    )?,
                    None => self.ask(
                        "SELECT id FROM things WHERE vector = ? ORDER BY id LIMIT ?",
                        [vector, left],
                        id,
                    )?,
                });
            }
            things.sort_unstable();
            found.extend(things.into_iter().take(count - found.len()).map(|thing| (thing, alike[0].1)));
            if found.len() >= count {
                break;
            }
        }
        Ok(found)
    }
}

fn vector(row: &Row<'_>) -> Result<(Id, Vec<f32>), RowError> {
    Ok((row.get(0)?, features(row.get_ref(1)?.as_blob().map_err(rusqlite::Error::from)?)?))
}

/// Reads how like a vector is to another one.
fn likeness(wanted: &[f32]) -> impl Fn(&Row<'_>) -> Result<(Id, f64), RowError> {
    move |row| vector(row).map(|(id, own)| (id, similarity(&own, wanted)))
}

#[cfg(test)]
mod tests;
