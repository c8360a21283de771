//! The SQLite store: one file, one writer, and concurrent readers.

mod backup;
mod connection;
mod deadline;
mod errors;
mod migrations;
mod options;
mod page_cache;
#[cfg(test)]
mod plans;
mod session;
mod store;
mod words;

pub use options::SqliteOptions;
pub use store::SqliteStore;
