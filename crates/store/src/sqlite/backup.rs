//! Copies the file while it is in use.

use super::connection::{Purpose, make_private, open};
use super::errors::trouble;
use super::migrations;
use super::options::SqliteOptions;
use super::store::SqliteStore;
use crate::open_error::OpenError;
use chat::{StoreError, StoreErrorKind};
use rusqlite::Connection;
use std::fs::File;
use std::path::Path;

impl SqliteStore {
    /// Writes a copy of everything that was answered before: a consistent snapshot, compact, and durable when this
    /// returns. The store remains usable meanwhile.
    ///
    /// The copy is an ordinary store file: to restore it, put it in place of the file, without the old `-wal` and
    /// `-shm`. It starts a new epoch when it is opened, so that clients see that sequence numbers after the copy are no
    /// longer valid.
    ///
    /// # Errors
    /// `to` already exists, or cannot be written. A partial copy is removed.
    pub fn backup(&self, to: &Path) -> Result<(), StoreError> {
        copy(&open(self.options(), Purpose::Read)?, to)
    }

    /// Copies a file that need not be open, without migrating it: an older program's tables stay as they are, there and
    /// in the copy.
    ///
    /// # Errors
    /// The file is newer than this program, is not a store, or cannot be read; otherwise as for
    /// [`backup`](Self::backup).
    pub fn backup_of(options: &SqliteOptions, to: &Path) -> Result<(), OpenError> {
        let connection = open(options, Purpose::Read)?;
        migrations::check(&connection)?;
        Ok(copy(&connection, to)?)
    }

    /// Rewrites the file without deleted data, which may otherwise remain in its free pages: for use after an erasure,
    /// where that matters. Writes wait meanwhile, and the disk needs space for a second file.
    ///
    /// # Errors
    /// The file could not be written.
    pub fn compact(&self) -> Result<(), StoreError> {
        let connection = open(self.options(), Purpose::Write)?;
        connection
            .execute_batch("INSERT INTO message_words (message_words) VALUES ('optimize'); VACUUM;")
            .map_err(trouble)?;
        let truncated = connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()));
        truncated.map_err(trouble)
    }
}

fn copy(of: &Connection, to: &Path) -> Result<(), StoreError> {
    if to.exists() {
        return Err(StoreError::new(StoreErrorKind::Io, format!("{} already exists", to.display())));
    }
    let written = write_copy(of, to);
    if written.is_err() {
        // A partial copy must not be mistaken for a complete one; the first error is the one to report.
        let _ = std::fs::remove_file(to);
    }
    written
}

fn write_copy(of: &Connection, to: &Path) -> Result<(), StoreError> {
    // `VACUUM INTO` does not write to this file, but `query_only` forbids it anyway.
    of.pragma_update(None, "query_only", false).map_err(trouble)?;
    let path =
        to.to_str().ok_or_else(|| StoreError::new(StoreErrorKind::Io, "the path is not valid UTF-8"))?;
    make_private(to)?;
    of.execute("VACUUM INTO ?1", [path]).map_err(trouble)?;
    let copy = Connection::open(to).map_err(trouble)?;
    copy.execute("UPDATE store SET epoch = ''", []).map_err(trouble)?;
    copy.close().map_err(|(_, error)| trouble(error))?;
    let io =
        |error: std::io::Error| StoreError::new(StoreErrorKind::Io, format!("{}: {error}", to.display()));
    File::open(to).and_then(|file| file.sync_all()).map_err(io)?;
    let folder = to.parent().filter(|folder| *folder != Path::new("")).unwrap_or(Path::new("."));
    File::open(folder).and_then(|folder| folder.sync_all()).map_err(io)
}
