//! Scenarios: the written form ([`source`], the YAML format of docs/scenarios.md) and the resolved form
//! ([`plan::Plan`]).
//!
//! A scenario comes from a file ([`load`]), from text ([`parse`]) or from a program that builds a [`source::Scenario`]
//! and compiles it. Nothing here executes anything: the only inputs besides the scenario are the files that it names
//! and, for `source_addresses: machine`, the machine's list of addresses.

mod arithmetic;
mod compile;
mod constants;
pub mod plan;
mod problem;
mod schema;
pub mod source;
pub mod template;
mod text;
mod yaml;

pub use compile::{Context, literal};
pub(crate) use problem::suggestion;
pub use problem::{Problem, ScenarioErrors};
pub use schema::schema;
pub use text::{FILE_BYTES_MAX, load, parse, read};
