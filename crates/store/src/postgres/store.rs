//! The store: its options, and its connections at work.

use super::connection::{Reconnecting, connect, is_plain};
use super::migrations::migrate;
use crate::opening::OpenError;
use crate::workers::Workers;
use chat::{Request, Store};
use std::fmt;
use std::path::PathBuf;

/// The oldest version that is supported, as `server_version_num`.
const VERSION_MIN: i32 = 150_000;

/// Where the database is and how much of it the store may use.
#[derive(Clone)]
pub struct PostgresOptions {
    /// `postgres://user:password@host:port/database`, or the key-value form; see PostgreSQL's manual, 34.1.1. With
    /// `sslmode=require` or `sslmode=verify-full` the connection is encrypted, and the server's certificate and name are
    /// checked; else it is not encrypted.
    pub url: String,
    /// A PEM file with the certificates by which the server is known; without one, the system's.
    pub certificate_authority: Option<PathBuf>,
    /// Connections that read; one more writes.
    pub readers: usize,
    /// Requests that wait, for the writer and for the readers each; see [`SqliteOptions`](crate::SqliteOptions).
    pub queue_max: usize,
}

impl fmt::Debug for PostgresOptions {
    /// Without the URL, which may have a password.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut options = f.debug_struct("PostgresOptions");
        options.field("readers", &self.readers).field("queue_max", &self.queue_max).finish_non_exhaustive()
    }
}

impl PostgresOptions {
    /// For that database, everything else by default.
    pub fn new(url: &str) -> Self {
        Self { url: url.to_owned(), certificate_authority: None, readers: 4, queue_max: 10_000 }
    }

    /// Whether the connection will not be encrypted, so that no certificate is looked at.
    pub fn is_plain(&self) -> bool {
        is_plain(&self.url)
    }
}

/// The messenger in a PostgreSQL database. Several servers may share it.
///
/// Dropping it waits for what was submitted before.
pub struct PostgresStore {
    epoch: String,
    workers: Workers,
}

impl PostgresStore {
    /// Connects, and brings the tables to this program's version.
    ///
    /// # Errors
    /// The tables are newer than this program, the server is too old or away.
    pub fn open(options: PostgresOptions) -> Result<Self, OpenError> {
        let mut client = connect(&options)?;
        let version: i32 = client.value("SELECT current_setting('server_version_num')::int")?;
        if version < VERSION_MIN {
            return Err(OpenError::Unsupported { found: version, oldest: VERSION_MIN });
        }
        let epoch = migrate(&mut client)?;
        let mut workers = Workers::new(options.queue_max);
        workers.start_writer(Reconnecting::new(options.clone(), Some(client)))?;
        for _ in 0..options.readers.max(1) {
            // It connects when it is first asked.
            workers.start_reader(Reconnecting::new(options.clone(), None))?;
        }
        Ok(Self { epoch, workers })
    }
}

impl Store for PostgresStore {
    fn epoch(&self) -> &str {
        &self.epoch
    }

    fn submit(&self, request: Request) {
        self.workers.submit(request);
    }
}
