//! Database stores for the messenger: SQLite in a file, or PostgreSQL.
//!
//! This crate owns transactions, migrations, group commit, search indexes, backup, and moving data between stores. It
//! must never contain rules of the messenger: those are in `chat`, above its [`Rows`](chat::Rows).
//!
//! Start with [`open`], [`SqliteStore`] and [`PostgresStore`]; requests are submitted through [`chat::Ask`].

mod epoch;
mod exchange;
pub mod group;
mod halves;
mod lanes;
mod open_error;
mod opening;
mod planted;
mod postgres;
mod queue;
mod sql;
mod sqlite;
mod workers;

pub use exchange::{ExchangeError, export, import};
pub use open_error::OpenError;
pub use opening::{FILE_NAME, open};
#[cfg(feature = "planted-bugs")]
#[doc(hidden)]
pub use planted::{PlantedBug, plant};
pub use postgres::{PostgresOptions, PostgresStore};
pub use sqlite::{SqliteOptions, SqliteStore};
