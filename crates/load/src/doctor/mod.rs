//! The machine and the servers under test, before a run.
//!
//! The crate `doctor` reads and judges the machine; here is what only a load test wants of it: a look at the targets,
//! and the crowd that a site's figures come to.

mod examine;
mod target;
pub mod visits;

pub use ::doctor::{Colours, Examination, Reading, State, TargetFacts, print};
pub use examine::{examine, trust};
pub use target::TargetAddress;
