//! Scenarios: as written ([`source`], the YAML format of docs/scenarios.md) and as meant ([`plan::Plan`]).
//!
//! A scenario comes from a file ([`load`]), from text ([`parse`]) or from a program, which builds a
//! [`source::Scenario`] and compiles it. Nothing here plays anything: the only things touched besides the scenario are
//! the files that it names and, for `source_addresses: machine`, the machine's list of addresses.

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
