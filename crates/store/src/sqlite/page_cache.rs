//! The memory of SQLite's page caches: each connection has its own, and only its thread may ask for its size.
#![allow(unsafe_code, reason = "rusqlite has no function for it")]

use rusqlite::{Connection, ffi};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// The memory of the page caches of all connections.
#[derive(Clone, Default)]
pub(super) struct PageCaches {
    bytes: Arc<AtomicU64>,
}

impl PageCaches {
    pub(super) fn bytes(&self) -> u64 {
        self.bytes.load(Relaxed)
    }

    /// Adds the page cache of one connection, until the returned value is dropped.
    pub(super) fn add(&self, connection: &Connection) -> PageCache {
        let mut added = PageCache { all: self.clone(), bytes: 0 };
        added.measure(connection);
        added
    }
}

/// What one connection's page cache adds to the sum, as last measured.
pub(super) struct PageCache {
    all: PageCaches,
    bytes: u64,
}

impl PageCache {
    pub(super) fn measure(&mut self, connection: &Connection) {
        self.set(used(connection));
    }

    fn set(&mut self, bytes: u64) {
        // Wraps around zero if it has become smaller, as addition to an atomic does.
        self.all.bytes.fetch_add(bytes.wrapping_sub(self.bytes), Relaxed);
        self.bytes = bytes;
    }
}

impl Drop for PageCache {
    fn drop(&mut self) {
        self.set(0);
    }
}

/// Asks SQLite. It adds up counters; it does not walk the pages.
fn used(connection: &Connection) -> u64 {
    let (mut bytes, mut highest) = (0, 0);
    // SAFETY: the connection is open, and borrowed until the call returns, on the only thread that has it. The call does
    // not keep the pointers, and the numbers that they point to outlive it.
    let outcome = unsafe {
        ffi::sqlite3_db_status(
            connection.handle(),
            ffi::SQLITE_DBSTATUS_CACHE_USED,
            &raw mut bytes,
            &raw mut highest,
            0,
        )
    };
    if outcome == ffi::SQLITE_OK { u64::try_from(bytes).unwrap_or_default() } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::PageCaches;
    use rusqlite::Connection;

    #[test]
    fn pages_count_until_their_connection_is_closed() {
        const BYTES: u64 = 1 << 20;
        let caches = PageCaches::default();
        let [small, large] = [(); 2].map(|()| Connection::open_in_memory().expect("opened"));
        let [of_small, mut of_large] = [&small, &large].map(|connection| caches.add(connection));
        let without = caches.bytes();
        let write = format!("CREATE TABLE t (b); INSERT INTO t VALUES (zeroblob({BYTES}))");
        large.execute_batch(&write).expect("written");
        of_large.measure(&large);
        let grown = caches.bytes() - without;
        assert!((BYTES..2 * BYTES).contains(&grown), "{grown} bytes");
        drop(of_large);
        assert!(caches.bytes() <= without);
        drop(of_small);
        assert_eq!(caches.bytes(), 0);
    }
}
