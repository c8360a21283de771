//! Where the database is, and the bounds of the store in it.

use super::connection::is_plain;
use std::fmt;
use std::path::PathBuf;

/// Where the database is and how much of it the store may use.
#[derive(Clone)]
pub struct PostgresOptions {
    /// `postgres://user:password@host:port/database`, or the key-value form; see PostgreSQL's manual, 34.1.1. With
    /// `sslmode=require` or `sslmode=verify-full` the connection is encrypted, and the server's certificate and name are
    /// checked; else it is not encrypted.
    pub url: String,
    /// A PEM file with the certificates by which the server is known; without one, the system's.
    pub certificate_authority: Option<PathBuf>,
    /// Connections that read; one more does what may take long, and two write.
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
