//! The SQLite store: its connections and their threads.

use super::connection::{Purpose, Reopening, open, open_first};
use super::migrations;
use super::options::SqliteOptions;
use super::page_cache::PageCaches;
use crate::open_error::OpenError;
use crate::workers::Workers;
use chat::{Request, Store};

/// A store in a SQLite file.
///
/// Dropping it waits for requests that were submitted before.
pub struct SqliteStore {
    options: SqliteOptions,
    epoch: String,
    page_caches: PageCaches,
    workers: Workers,
}

impl SqliteStore {
    /// Opens or creates the file, and migrates it to this program's version.
    ///
    /// # Errors
    /// The file is newer than this program, is not a store, or cannot be read and written.
    pub fn open(options: SqliteOptions) -> Result<Self, OpenError> {
        let (connection, epoch) = open_first(&options)?;
        let page_caches = PageCaches::default();
        let reopening =
            |purpose, connection| Reopening::new(options.clone(), purpose, connection, page_caches.clone());
        let reader = || open(&options, Purpose::Read).map(|connection| reopening(Purpose::Read, connection));
        let mut workers = Workers::new(options.queue_max);
        workers.start_writer(reopening(Purpose::Write, connection))?;
        for _ in 0..options.readers.max(1) {
            workers.start_reader(reader()?)?;
        }
        workers.start_long_reader(reader()?)?;
        Ok(Self { options, epoch, page_caches, workers })
    }

    /// Opens a file without migrating it, so that a tool that only inspects it changes no table of a server that uses
    /// it.
    ///
    /// # Errors
    /// Its tables are older or newer than this program's, it is not a store, or it cannot be read and written.
    pub fn open_current(options: SqliteOptions) -> Result<Self, OpenError> {
        migrations::require_current(&open(&options, Purpose::Read)?)?;
        Self::open(options)
    }

    /// The options it was opened with.
    pub fn options(&self) -> &SqliteOptions {
        &self.options
    }
}

impl Store for SqliteStore {
    fn epoch(&self) -> &str {
        &self.epoch
    }

    fn submit(&self, request: Request) {
        self.workers.submit(request);
    }

    fn page_bytes(&self) -> u64 {
        self.page_caches.bytes()
    }
}
