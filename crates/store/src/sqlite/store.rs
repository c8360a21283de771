//! The store: its options, and its connections at work.

use super::connection::{Purpose, Reopening, open, open_first};
use crate::opening::OpenError;
use crate::workers::Workers;
use chat::{Request, Store};
use std::path::PathBuf;

/// Where the file is and how much of the machine the store may use.
#[derive(Clone, Debug)]
pub struct SqliteOptions {
    /// The file; it and its folder are made if there is none. Beside it lie `-wal` and `-shm` while it is open.
    pub path: PathBuf,
    /// The largest that the file may become; none: as large as the disk. Beyond it, writing is refused as on a full disk.
    pub bytes_max: Option<u64>,
    /// Threads that read.
    pub readers: usize,
    /// Requests that wait, for the writer and for the readers each. Beyond it they are refused as
    /// [`Busy`](chat::TroubleKind::Busy); and those of a community that has as many waiting as places are left.
    pub queue_max: usize,
}

impl SqliteOptions {
    /// For that file, everything else by default.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into(), bytes_max: None, readers: 2, queue_max: 10_000 }
    }
}

/// The messenger in a SQLite file.
///
/// Dropping it waits for what was submitted before.
pub struct SqliteStore {
    options: SqliteOptions,
    epoch: String,
    workers: Workers,
}

impl SqliteStore {
    /// Opens the file, or makes it, and brings it to this program's version.
    ///
    /// # Errors
    /// The file is newer than this program, is no store, or cannot be read and written.
    pub fn open(options: SqliteOptions) -> Result<Self, OpenError> {
        let (connection, epoch) = open_first(&options)?;
        let mut workers = Workers::new(options.queue_max);
        workers.start_writer(Reopening::new(options.clone(), Purpose::Write, connection))?;
        for _ in 0..options.readers.max(1) {
            let connection = open(&options, Purpose::Read)?;
            workers.start_reader(Reopening::new(options.clone(), Purpose::Read, connection))?;
        }
        Ok(Self { options, epoch, workers })
    }

    /// How it was opened.
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
}
