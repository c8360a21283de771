//! The API over the store in memory, one subject in each file.

mod authorizer;
mod guests;
#[path = "../house/mod.rs"]
mod house;
mod idempotency;
mod isolation;
mod members;
mod pages;
mod roles;
mod settings;
