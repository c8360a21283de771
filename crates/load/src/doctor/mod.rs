//! Checks the machine and the servers under test before a run.
//!
//! The crate `doctor` reads and judges the machine; this module adds what only a load test needs: an examination of the
//! targets, and the number of concurrent users derived from a site's figures.

mod examine;
mod target;
pub mod visits;

pub use ::doctor::{Colours, Examination, Reading, State, TargetFacts, print};
pub use examine::{examine, trust};
pub use target::TargetAddress;
