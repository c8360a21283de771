//! The messenger on PostgreSQL, 15 or later.

mod arrays;
mod client;
mod connection;
mod errors;
mod migrations;
mod session;
mod store;
mod tls;

pub use store::{PostgresOptions, PostgresStore};
