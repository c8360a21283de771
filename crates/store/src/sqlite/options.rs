//! The file's path, and the store's limits.

use std::path::PathBuf;

/// The file's path, and the store's limits.
#[derive(Clone, Debug)]
pub struct SqliteOptions {
    /// The file; it and its folder are created if missing. `-wal` and `-shm` files lie beside it while it is open.
    pub path: PathBuf,
    /// Maximum size of the file; `None`: as large as the disk allows. Beyond it, writes fail as on a full disk.
    pub bytes_max: Option<u64>,
    /// Number of reader threads. One more is for long reads.
    pub readers: usize,
    /// Maximum number of queued requests, for the writer, the readers and the long reader each. Beyond it requests are
    /// refused as [`Busy`](chat::StoreErrorKind::Busy); so are those of a community that has as many waiting as there are
    /// free places.
    pub queue_max: usize,
    /// Maximum number of newest messages that are not in the search index yet: they are added together, and until then
    /// a search reads the messages themselves.
    pub unindexed_max: u32,
}

impl SqliteOptions {
    /// Options for that file, with defaults for everything else.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into(), bytes_max: None, readers: 2, queue_max: 10_000, unindexed_max: 256 }
    }
}
