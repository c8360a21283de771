//! Why a store cannot be opened.

use chat::StoreError;
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
    StoreError(StoreError),
}

impl From<StoreError> for OpenError {
    fn from(trouble: StoreError) -> Self {
        Self::StoreError(trouble)
    }
}

impl fmt::Display for OpenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Newer { found, known } => write!(
                f,
                "the store has schema version {found}, but this program supports only versions up to {known}: it \
                 was used by a newer version of Throng. Run that version, or restore an older backup"
            ),
            Self::Older { found, known } => write!(
                f,
                "the store has schema version {found}, but this program needs version {known}: start its server \
                 once, which upgrades the store, or use the version of Throng that used the store last"
            ),
            Self::Foreign => {
                f.write_str("the database belongs to another program: use a separate database for Throng")
            }
            Self::Unsupported { found, oldest } => write!(
                f,
                "the database server has version {}, but at least {} is required",
                found / 10_000,
                oldest / 10_000
            ),
            Self::StoreError(trouble) => trouble.fmt(f),
        }
    }
}

impl std::error::Error for OpenError {}
