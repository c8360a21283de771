//! Connections to the file, and transactions on them.

use super::errors::trouble;
use super::migrations;
use super::options::SqliteOptions;
use super::page_cache::{PageCache, PageCaches};
use super::session::SqliteSession;
use crate::group::{Database, Kind};
use crate::open_error::OpenError;
use crate::sql::SqlRows;
use chat::rows::Found;
use chat::{Rows, StoreError, StoreErrorKind};
use rusqlite::{Connection, OpenFlags};
use std::fs::OpenOptions;
use std::io::ErrorKind;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// How long a transaction waits for another process that writes.
const BUSY_TIMEOUT_MS: u32 = 5_000;
/// Prepared statements kept by a connection.
const STATEMENTS_MAX: usize = 200;
/// Page cache of the writer, in KiB. It holds what a transaction changes; beyond that the kernel caches the file.
const WRITER_CACHE_KIB: i64 = 4 * 1024;
/// Page cache of a reader, in KiB. What is read often is in the messenger's read cache.
const READER_CACHE_KIB: i64 = 1024;
/// Size of the log, in pages of 4 KiB, at which it is checkpointed into the file.
const CHECKPOINT_PAGES: i64 = 4_000;

/// What a connection is for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Purpose {
    Write,
    Read,
}

impl Purpose {
    fn cache_kib(self) -> i64 {
        match self {
            Purpose::Write => WRITER_CACHE_KIB,
            Purpose::Read => READER_CACHE_KIB,
        }
    }
}

/// A connection that is reopened after the file could not be read or written.
pub(super) struct Reopening {
    options: SqliteOptions,
    purpose: Purpose,
    page_caches: PageCaches,
    open: Option<Open>,
}

struct Open {
    connection: Connection,
    page_cache: PageCache,
}

impl Reopening {
    pub(super) fn new(
        options: SqliteOptions,
        purpose: Purpose,
        connection: Connection,
        page_caches: PageCaches,
    ) -> Self {
        let open = Open { page_cache: page_caches.add(&connection), connection };
        Self { options, purpose, page_caches, open: Some(open) }
    }

    fn open(&mut self) -> Result<&mut Open, StoreError> {
        if self.open.is_none() {
            let connection = open(&self.options, self.purpose)?;
            self.open = Some(Open { page_cache: self.page_caches.add(&connection), connection });
        }
        self.open.as_mut().ok_or_else(|| StoreError::new(StoreErrorKind::Closed, "not connected"))
    }
}

impl Database for Reopening {
    fn transaction(&mut self, _: Kind, run: &mut dyn FnMut(&mut dyn Rows) -> Found<()>) -> Found<()> {
        let begin = match self.purpose {
            // A writer takes the lock before it reads, so that what it has read remains true.
            Purpose::Write => "BEGIN IMMEDIATE",
            Purpose::Read => "BEGIN",
        };
        let unindexed_max = self.options.unindexed_max;
        let Open { connection, page_cache } = self.open()?;
        let outcome = execute(connection, begin).and_then(|()| {
            run(&mut SqlRows(&mut SqliteSession::new(connection, unindexed_max)))?;
            execute(connection, "COMMIT")
        });
        page_cache.measure(connection);
        if outcome.is_err() {
            self.take_back();
        }
        outcome
    }

    /// Suffices after any error except of IO. A connection that cannot roll back is dropped.
    fn take_back(&mut self) {
        let Some(Open { connection, .. }) = &self.open else {
            return;
        };
        let is_over = connection.is_autocommit() || connection.execute_batch("ROLLBACK").is_ok();
        if !is_over || !connection.is_autocommit() {
            self.open = None;
        }
    }

    /// After an IO error the state of the file and the log is unknown: a new connection reads the log and trusts what
    /// its checksums confirm.
    fn reopen(&mut self) {
        self.open = None;
    }
}

/// Runs a frequent statement, which is kept prepared.
fn execute(connection: &Connection, sql: &str) -> Found<()> {
    connection
        .prepare_cached(sql)
        .and_then(|mut statement| statement.raw_execute())
        .map(drop)
        .map_err(trouble)
}

/// Opens the file, which must already exist for a reader.
pub(super) fn open(options: &SqliteOptions, purpose: Purpose) -> Result<Connection, StoreError> {
    let mut flags = OpenFlags::SQLITE_OPEN_NO_MUTEX;
    flags |= match purpose {
        Purpose::Write => OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE,
        // A reader of a write-ahead log maps its index, for which it needs write access.
        Purpose::Read => OpenFlags::SQLITE_OPEN_READ_WRITE,
    };
    let connection = Connection::open_with_flags(&options.path, flags).map_err(trouble)?;
    set_up(&connection, options, purpose).map_err(trouble)?;
    Ok(connection)
}

fn set_up(connection: &Connection, options: &SqliteOptions, purpose: Purpose) -> rusqlite::Result<()> {
    connection.busy_timeout(std::time::Duration::from_millis(BUSY_TIMEOUT_MS.into()))?;
    connection.set_prepared_statement_cache_capacity(STATEMENTS_MAX);
    connection.pragma_update(None, "cache_size", -purpose.cache_kib())?;
    connection.pragma_update(None, "temp_store", "MEMORY")?;
    connection.pragma_update(None, "trusted_schema", false)?;
    match purpose {
        Purpose::Write => {
            connection.pragma_update(None, "journal_mode", "WAL")?;
            connection.pragma_update(None, "synchronous", "FULL")?;
            connection.pragma_update(None, "wal_autocheckpoint", CHECKPOINT_PAGES)?;
            connection.pragma_update(None, "secure_delete", "FAST")?;
            if let Some(bytes) = options.bytes_max {
                let page_bytes =
                    connection.pragma_query_value(None, "page_size", |row| row.get::<_, i64>(0))?;
                let pages = i64::try_from(bytes).unwrap_or(i64::MAX) / page_bytes.max(1);
                connection.pragma_update(None, "max_page_count", pages.max(1))?;
            }
        }
        Purpose::Read => connection.pragma_update(None, "query_only", true)?,
    }
    Ok(())
}

/// Creates an empty file that only its owner can read, if there is none. SQLite gives the files beside it the same
/// permissions.
pub(super) fn make_private(path: &Path) -> Result<(), StoreError> {
    match OpenOptions::new().write(true).create_new(true).mode(0o600).open(path) {
        Err(error) if error.kind() != ErrorKind::AlreadyExists => Err(StoreError::new(
            StoreErrorKind::ReadOnly,
            format!("{} cannot be created: {error}", path.display()),
        )),
        Ok(_) | Err(_) => Ok(()),
    }
}

/// Opens the file for writing, creates it if there is none, and migrates it to this program's version.
pub(super) fn open_first(options: &SqliteOptions) -> Result<(Connection, String), OpenError> {
    if let Some(folder) = options.path.parent().filter(|folder| *folder != Path::new("")) {
        std::fs::create_dir_all(folder).map_err(|error| {
            let kind = StoreErrorKind::ReadOnly;
            StoreError::new(kind, format!("the folder {} cannot be created: {error}", folder.display()))
        })?;
    }
    if !options.path.exists() {
        make_private(&options.path)?;
    } else {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        migrations::check(&Connection::open_with_flags(&options.path, flags).map_err(trouble)?)?;
    }
    let mut connection = open(options, Purpose::Write)?;
    migrations::migrate(&mut connection)?;
    let epoch = migrations::epoch(&mut connection)?;
    Ok((connection, epoch))
}
