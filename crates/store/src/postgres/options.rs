//! The database's address, and the store's limits.

use super::connection::is_plain;
use std::fmt;
use std::path::PathBuf;

/// The database's address, and the store's limits.
#[derive(Clone)]
pub struct PostgresOptions {
    /// `postgres://user:password@host:port/database`, or the key-value form; see PostgreSQL's manual, 34.1.1. With
    /// `sslmode=require` or `sslmode=verify-full` the connection is encrypted, and the server's certificate and name
    /// are checked; otherwise it is not encrypted.
    pub url: String,
    /// A PEM file with the certificates that authenticate the server; without one, the system's are used.
    pub certificate_authority: Option<PathBuf>,
    /// Number of reading connections; one more is for long reads, and two write.
    pub readers: usize,
    /// Maximum number of queued requests, for the writer and for the readers each; see
    /// [`SqliteOptions`](crate::SqliteOptions).
    pub queue_max: usize,
}

impl fmt::Debug for PostgresOptions {
    /// Leaves out the URL, which may contain a password.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut options = f.debug_struct("PostgresOptions");
        options.field("readers", &self.readers).field("queue_max", &self.queue_max).finish_non_exhaustive()
    }
}

impl PostgresOptions {
    /// Options for that database, with defaults for everything else.
    pub fn new(url: &str) -> Self {
        Self { url: url.to_owned(), certificate_authority: None, readers: 4, queue_max: 10_000 }
    }

    /// Whether the connection will not be encrypted, so that no certificate is checked.
    pub fn is_plain(&self) -> bool {
        is_plain(&self.url)
    }
}
