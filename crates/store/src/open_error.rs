//! Why a store cannot be opened.

use chat::Trouble;
use std::fmt;

/// Why a store cannot be opened.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum OpenError {
    /// It was written by a newer version of this program: use that version again, or a copy from before the upgrade.
    Newer {
        /// The version of its tables.
        found: i64,
        /// The newest that this program knows.
        known: i64,
    },
    /// It was written by an older version of this program, and the operation must not migrate its tables.
    Older {
        /// The version of its tables.
        found: i64,
        /// This program's version.
        known: i64,
    },
    /// It is another program's database.
    Foreign,
    /// The database server is too old.
    Unsupported {
        /// Its `server_version_num`.
        found: i32,
        /// The oldest supported version.
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
            Self::Older { found, known } => write!(
                f,
                "the store has tables of version {found}, and this program makes version {known} of them when its server \
                 starts: start that first, or use the program that used the store last"
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
