//! The baseline without rules: inserts a row with its text and commits, in a loop.

use crate::measured::Measured;
use crate::senders::text;
use std::path::Path;
use std::time::Instant;

/// The same pragmas as on the store's own connection.
const PRAGMAS: [(&str, &str); 6] = [
    ("cache_size", "-4096"),
    ("temp_store", "MEMORY"),
    ("journal_mode", "WAL"),
    ("synchronous", "FULL"),
    ("wal_autocheckpoint", "4000"),
    ("secure_delete", "FAST"),
];

const TABLE: &str = "CREATE TABLE messages \
    (conversation INTEGER, seq INTEGER, text TEXT, PRIMARY KEY (conversation, seq))";

/// A new file with the table.
pub(crate) struct Bare(rusqlite::Connection);

impl Bare {
    pub(crate) fn open(path: &Path) -> Self {
        let connection = rusqlite::Connection::open(path).expect("a new file opens");
        for (pragma, value) in PRAGMAS {
            connection.pragma_update(None, pragma, value).expect("it is known");
        }
        connection.execute_batch(TABLE).expect("the file is new");
        Self(connection)
    }

    /// Returns what inserts the nth message and commits it.
    pub(crate) fn insert(&self) -> impl FnMut(usize) + use<'_> {
        let mut statement = self.0.prepare("INSERT INTO messages VALUES (1, ?1, ?2)").expect("it is SQL");
        move |nth| statement.execute((nth as i64, text(nth))).map(drop).expect("the disk has room")
    }
}

pub(crate) fn run(path: &Path, messages: usize) -> Measured {
    let bare = Bare::open(path);
    let mut insert = bare.insert();
    let begun = Instant::now();
    let acks = (0..messages)
        .map(|nth| {
            let sent = Instant::now();
            insert(nth);
            sent.elapsed()
        })
        .collect();
    Measured { acks, took: begun.elapsed() }
}
