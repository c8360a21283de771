//! Where the file is, and the bounds of the store on it.

use std::path::PathBuf;

/// Where the file is and how much of the machine the store may use.
#[derive(Clone, Debug)]
pub struct SqliteOptions {
    /// The file; it and its folder are made if there is none. Beside it lie `-wal` and `-shm` while it is open.
    pub path: PathBuf,
    /// The largest that the file may become; none: as large as the disk. Beyond it, writing is refused as on a full disk.
    pub bytes_max: Option<u64>,
    /// Threads that read. One more does what may take long.
    pub readers: usize,
    /// Requests that wait, for the writer, the readers, and the one that reads long each. Beyond it they are refused as
    /// [`Busy`](chat::TroubleKind::Busy); and those of a community that has as many waiting as places are left.
    pub queue_max: usize,
    /// Messages, the newest, whose words are not in the search index yet, at most: they are put there together, and until then
    /// a search reads them.
    pub unindexed_max: u32,
}

impl SqliteOptions {
    /// For that file, everything else by default.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into(), bytes_max: None, readers: 2, queue_max: 10_000, unindexed_max: 256 }
    }
}
