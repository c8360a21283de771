//! The messenger on PostgreSQL, 15 or later.

mod arrays;
mod client;
mod connection;
mod errors;
mod migrations;
mod options;
mod session;
mod store;
mod tls;

pub use options::PostgresOptions;
pub use store::PostgresStore;
