//! Opens the configured store.

use crate::open_error::OpenError;
use crate::postgres::{PostgresOptions, PostgresStore};
use crate::sqlite::{SqliteOptions, SqliteStore};
use chat::Store;
use std::path::Path;
use std::sync::Arc;

/// Opens the store in a PostgreSQL database, or, without one, in the file `messenger.sqlite3` in the data directory.
/// Blocks on disk and network: do not call it on a thread of an async runtime.
///
/// # Errors
/// See [`OpenError`].
pub fn open(database: Option<PostgresOptions>, data_directory: &Path) -> Result<Arc<dyn Store>, OpenError> {
    match database {
        Some(options) => Ok(Arc::new(PostgresStore::open(options)?)),
        None => Ok(Arc::new(SqliteStore::open(SqliteOptions::new(data_directory.join(FILE_NAME)))?)),
    }
}

/// Name of the store's file in the data directory.
pub const FILE_NAME: &str = "messenger.sqlite3";
