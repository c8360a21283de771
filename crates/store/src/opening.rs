//! Opening a store by what the configuration says.

use crate::postgres::{PostgresOptions, PostgresStore};
use crate::sqlite::{SqliteOptions, SqliteStore};
use chat::{Store, Trouble, TroubleKind};
use std::fmt;
use std::path::Path;
use std::sync::Arc;

/// Why a store cannot be opened.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum OpenError {
    /// It was written by a newer version of this program, which must be used again, or a copy from before it.
    Newer {
        /// The version of its tables.
        found: i64,
        /// The newest that this program knows.
        known: i64,
    },
    /// It is a database of something else.
    Foreign,
    /// The database server is too old.
    Unsupported {
        /// Its `server_version_num`.
        found: i32,
        /// The oldest that will do.
        oldest: i32,
    },
    /// It cannot be reached, read or written.
    Trouble(Trouble),
}

impl From<Trouble> for OpenError {
    fn from(trouble: Trouble) -> Self {
        Self::Trouble(trouble)
    }
}

impl fmt::Display for OpenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Newer { found, known } => write!(
                f,
                "the store has tables of version {found}, and this program knows versions up to {known}: it was used by a \
                 newer program. Run that one, or restore a backup from before"
            ),
            Self::Foreign => {
                f.write_str("it is a database of another program: give the store one of its own")
            }
            Self::Unsupported { found, oldest } => write!(
                f,
                "the database server has version {}, and at least {} is needed",
                found / 10_000,
                oldest / 10_000
            ),
            Self::Trouble(trouble) => trouble.fmt(f),
        }
    }
}

impl std::error::Error for OpenError {}

/// Opens the store in a PostgreSQL database; without one, in the file `messenger.sqlite3` under the data directory. It waits for disk and network: not on a thread of an async runtime.
///
/// # Errors
/// See [`OpenError`].
pub fn open(database: Option<PostgresOptions>, data_directory: &Path) -> Result<Arc<dyn Store>, OpenError> {
    match database {
        Some(options) => Ok(Arc::new(PostgresStore::open(options)?)),
        None => Ok(Arc::new(SqliteStore::open(SqliteOptions::new(data_directory.join(FILE_NAME)))?)),
    }
}

/// The store's file under the data directory.
pub const FILE_NAME: &str = "messenger.sqlite3";

/// A name for one life of a store's order: 16 hexadecimal digits.
pub(crate) fn fresh_epoch() -> Result<String, Trouble> {
    let number =
        getrandom::u64().map_err(|error| Trouble::new(TroubleKind::Io, format!("no randomness: {error}")))?;
    Ok(format!("{number:016x}"))
}
