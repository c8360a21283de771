//! The stores, one subject in each file.

mod acme;
mod ann;
mod fairness;
mod files;
mod lookups;
mod postgres_operations;
#[path = "../postgres_server/mod.rs"]
mod postgres_server;
mod postgres_tls;
mod round_trips;
mod search_deadline;
mod search_index;
mod upgrades;
