//! What drives the connection of a store, and its transaction.

use super::address::Address;
use super::error::{is_lost, meaning};
use super::link::{ANSWER, CONNECT, Link, Question, Value, values};
use super::row::RowError;
use super::tables;
use crate::store::{Store, StoreError};
use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;
use std::sync::mpsc::sync_channel;
use std::time::Duration;
use tokio::runtime::{Builder, Runtime};
use tokio_postgres::Row;

/// Most statements that are collected.
const MOST_WAITING: usize = 100;

/// A store on a server.
///
/// Robots that write to one building wait for each other; of two that write to two buildings none waits. A connection that was
/// lost is opened anew, but not in the middle of a transaction: that fails, and nothing of it is kept.
pub struct Postgres {
    pub(super) address: Address,
    /// Drives the connection. Questions go there and are waited for here, so that a server that does not answer is left after a
    /// while, and one may wait inside of another runtime too. `None` only while this is dropped.
    runtime: Option<Runtime>,
    pub(super) link: Option<Arc<Link>>,
    pub(super) writing: Option<Writing>,
    /// Length of the vectors, once it is known.
    pub(super) dimensions: Option<usize>,
}

/// What is being written.
pub(super) struct Writing {
    pub(super) building: String,
    pub(super) waiting: Vec<Question>,
}

impl fmt::Debug for Postgres {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Postgres").field(&self.address.name).finish()
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        self.link = None;
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

impl Postgres {
    /// Opens the memory in a database, or makes it there.
    ///
    /// `url` is `postgres://user:password@host:port/database`, or `postgres:///database?host=/folder` for a socket, with libpq's
    /// options behind `?`: `sslmode` is `disable`, `prefer`, `require`, `verify-ca` or `verify-full`, and `sslrootcert` a file of
    /// certificates that are trusted. As in libpq, no certificate is checked without such a file.
    ///
    /// Errors: [`StoreError::Unreachable`] when the server is not there, does not let this user in or has no pgvector;
    /// [`StoreError::Newer`]; [`StoreError::Busy`].
    pub fn open(url: &str) -> Result<Self, StoreError> {
        let address = Address::parse(url)?;
        let unreachable = |error: std::io::Error| StoreError::Unreachable {
            store: address.name.clone(),
            what: error.to_string(),
        };
        let runtime =
            Builder::new_multi_thread().worker_threads(1).thread_name("memory").enable_all().build();
        let runtime = Some(runtime.map_err(unreachable)?);
        let mut store = Self { address, runtime, link: None, writing: None, dimensions: None };
        store.link()?;
        Ok(store)
    }

    pub(super) fn store(&self) -> String {
        self.address.name.clone()
    }

    pub(super) fn failed(&self, what: &str) -> StoreError {
        StoreError::Failed { store: self.store(), what: what.to_owned() }
    }

    fn unreachable(&self, what: impl Into<String>) -> StoreError {
        StoreError::Unreachable { store: self.store(), what: what.into() }
    }

    /// Waits for work on the runtime; `None` when it takes too long.
    fn wait<T: Send + 'static>(
        &self,
        longest: Duration,
        work: impl Future<Output = T> + Send + 'static,
    ) -> Option<T> {
        let (done, wait) = sync_channel(1);
        let task = self.runtime.as_ref()?.spawn(async move { drop(done.send(work.await)) });
        let result = wait.recv_timeout(longest).ok();
        task.abort();
        result
    }

    /// The connection; a new one where there is none.
    fn link(&mut self) -> Result<Arc<Link>, StoreError> {
        if let Some(link) = self.link.as_ref().filter(|link| !link.is_closed()) {
            return Ok(Arc::clone(link));
        }
        self.link = None;
        if self.writing.is_some() {
            return Err(self
                .unreachable("the connection was lost while something was written; nothing of it is kept"));
        }
        let hosts = self.address.config.get_hosts().len().max(1);
        let link = self.wait(CONNECT * u32::try_from(hosts).unwrap_or(1), Link::open(self.address.clone()));
        let link = link.ok_or_else(|| self.unreachable(format!("no answer within {CONNECT:?}")))?;
        let link = Arc::new(link.map_err(|error| meaning(&error, &self.address.name, false))?);
        let (prepared, store) = (Arc::clone(&link), self.store());
        let prepared = self.wait(ANSWER, async move { tables::prepare(&prepared, &store).await });
        prepared.unwrap_or_else(|| Err(self.unreachable(format!("no answer within {ANSWER:?}"))))?;
        self.link = Some(Arc::clone(&link));
        Ok(link)
    }

    /// Sends questions together; the rows of each. `again` tells whether they may be asked a second time on a new connection.
    pub(super) fn send(
        &mut self,
        questions: Vec<Question>,
        again: bool,
    ) -> Result<Vec<Vec<Row>>, StoreError> {
        let questions = Arc::new(questions);
        let mut again = again && self.writing.is_none();
        loop {
            let link = self.link()?;
            let asked = Arc::clone(&questions);
            match self.wait(ANSWER, async move { link.ask(&asked).await }) {
                Some(Ok(rows)) => return Ok(rows),
                Some(Err(error)) => {
                    if is_lost(&error) {
                        self.link = None;
                        if std::mem::take(&mut again) {
                            continue;
                        }
                    }
                    return Err(meaning(&error, &self.address.name, true));
                }
                None => {
                    self.link = None;
                    return Err(self.unreachable(format!("no answer within {ANSWER:?}")));
                }
            }
        }
    }

    /// What was collected, with one more question behind it.
    fn with_waiting(&mut self, question: Option<Question>) -> Vec<Question> {
        let waiting = self.writing.as_mut().map(|writing| std::mem::take(&mut writing.waiting));
        waiting.unwrap_or_default().into_iter().chain(question).collect()
    }

    /// Every row of a question.
    pub(super) fn ask<T>(
        &mut self,
        sql: impl Into<Cow<'static, str>>,
        values: Vec<Value>,
        read: impl Fn(&Row) -> Result<T, RowError>,
    ) -> Result<Vec<T>, StoreError> {
        let questions = self.with_waiting(Some(Question::new(sql, values)));
        let rows = self.send(questions, true)?.pop().unwrap_or_default();
        let read: Result<Vec<T>, RowError> = rows.iter().map(read).collect();
        read.map_err(|error| StoreError::Damaged { store: self.store(), what: error.0 })
    }

    /// The first column of the first row.
    pub(super) fn one(
        &mut self,
        sql: impl Into<Cow<'static, str>>,
        values: Vec<Value>,
    ) -> Result<i64, StoreError> {
        let found = self.ask(sql, values, |row| Ok(row.try_get(0)?))?;
        found.first().copied().ok_or_else(|| self.failed("the server gave no number"))
    }

    /// Runs a statement: soon, when something is being written, else now.
    pub(super) fn run(
        &mut self,
        sql: impl Into<Cow<'static, str>>,
        values: Vec<Value>,
    ) -> Result<(), StoreError> {
        let question = Question::new(sql, values);
        let questions = match &mut self.writing {
            None => vec![question],
            Some(writing) if writing.waiting.len() < MOST_WAITING => {
                writing.waiting.push(question);
                return Ok(());
            }
            Some(_) => self.with_waiting(Some(question)),
        };
        self.send(questions, false).map(drop)
    }

    /// Does all of something or nothing; in a transaction of its own unless there is one.
    pub(super) fn atomically<T>(
        &mut self,
        building: &str,
        work: impl FnOnce(&mut Self) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        if self.writing.is_some() {
            return work(self);
        }
        self.begin(building)?;
        let done = work(self).and_then(|value| {
            self.commit()?;
            Ok(value)
        });
        if done.is_err() {
            self.abandon();
        }
        done
    }

    /// Learns on a new connection what became of a transaction whose end was sent and not answered.
    pub(super) fn settle(
        &mut self,
        building: &str,
        transaction: i64,
        lost: StoreError,
    ) -> Result<(), StoreError> {
        // Behind the lock of the building, that transaction has ended in one way or the other.
        let found = self.begin(building).and_then(|()| {
            let sql = "SELECT txid_status($1)";
            let found = self.ask(sql, values![transaction], |row| Ok(row.try_get::<_, Option<String>>(0)?));
            self.abandon();
            found
        });
        match found.ok().and_then(|mut found| found.pop().flatten()).as_deref() {
            Some("committed") => Ok(()),
            Some("aborted") => Err(lost),
            _ => Err(self.unreachable(
                "the connection was lost at the end of writing; whether it is kept is not known",
            )),
        }
    }
}
