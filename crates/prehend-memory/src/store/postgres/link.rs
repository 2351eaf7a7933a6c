//! One connection to a server.

use super::address::Address;
use futures::future::join_all;
use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use tokio::task::JoinHandle;
use tokio_postgres::types::ToSql;
use tokio_postgres::{Client, Error, Row, Statement};

/// How long a server may take to let one in.
pub(super) const CONNECT: Duration = Duration::from_secs(5);
/// How long it may take to answer. It gives up by itself after half of that: see [`SETTINGS`].
pub(super) const ANSWER: Duration = Duration::from_secs(20);

/// Of every connection. A writer whose robot is gone must not hold a building for long: one whose computer vanished is noticed
/// after half a minute, one that hangs after five. What is acknowledged is on the disk, whatever the server is set to.
const SETTINGS: &str = "
SET statement_timeout = '10s';
SET lock_timeout = '5s';
SET idle_in_transaction_session_timeout = '5min';
SET tcp_keepalives_idle = 15;
SET tcp_keepalives_interval = 5;
SET tcp_keepalives_count = 3;
SET plan_cache_mode = force_custom_plan;
SET hnsw.iterative_scan = strict_order;
SET hnsw.ef_search = 200;
SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') IN ('off', 'local');
";

/// A value of a statement.
pub(super) type Value = Box<dyn ToSql + Sync + Send>;

/// The values of a statement.
macro_rules! values {
    ($($value:expr),* $(,)?) => { vec![$(Box::new($value) as $crate::store::postgres::link::Value),*] };
}
pub(super) use values;

/// A statement with its values.
#[derive(Debug)]
pub(super) struct Question {
    sql: Cow<'static, str>,
    values: Vec<Value>,
}

impl Question {
    pub(super) fn new(sql: impl Into<Cow<'static, str>>, values: Vec<Value>) -> Self {
        Self { sql: sql.into(), values }
    }
}

/// One connection with the statements that it has prepared.
pub(super) struct Link {
    client: Client,
    statements: Mutex<HashMap<String, Statement>>,
    /// Moves what is sent and what comes back.
    traffic: JoinHandle<()>,
}

impl Drop for Link {
    fn drop(&mut self) {
        self.traffic.abort();
    }
}

impl Link {
    /// Connects.
    pub(super) async fn open(address: Address) -> Result<Self, Error> {
        let (client, connection) = address.config.connect(address.tls).await?;
        // How it ends, the next question tells.
        let traffic = tokio::spawn(async move { drop(connection.await) });
        let link = Self { client, statements: Mutex::default(), traffic };
        link.client.batch_execute(SETTINGS).await?;
        Ok(link)
    }

    /// Whether it is known to be gone.
    pub(super) fn is_closed(&self) -> bool {
        self.client.is_closed()
    }

    /// Runs statements that have no values.
    pub(super) async fn batch(&self, sql: &str) -> Result<(), Error> {
        self.client.batch_execute(sql).await
    }

    /// The first row of a question without values.
    pub(super) async fn first(&self, sql: &'static str) -> Result<Option<Row>, Error> {
        let rows = self.ask(&[Question::new(sql, values![])]).await?;
        Ok(rows.into_iter().flatten().next())
    }

    /// The rows of each question. All are sent at once, in this order: one way there and back, however many.
    pub(super) async fn ask(&self, questions: &[Question]) -> Result<Vec<Vec<Row>>, Error> {
        let mut asked = Vec::with_capacity(questions.len());
        for question in questions {
            let values: Vec<&(dyn ToSql + Sync)> =
                question.values.iter().map(|value| &**value as &(dyn ToSql + Sync)).collect();
            asked.push((self.statement(&question.sql).await?, values));
        }
        let each = asked.iter().map(|(statement, values)| self.client.query(statement, values));
        join_all(each).await.into_iter().collect()
    }

    async fn statement(&self, sql: &str) -> Result<Statement, Error> {
        let known = self.statements.lock().unwrap_or_else(PoisonError::into_inner).get(sql).cloned();
        if let Some(known) = known {
            return Ok(known);
        }
        let made = self.client.prepare(sql).await?;
        let mut statements = self.statements.lock().unwrap_or_else(PoisonError::into_inner);
        statements.insert(sql.to_owned(), made.clone());
        Ok(made)
    }
}
