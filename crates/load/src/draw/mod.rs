//! Drawing: seeded randomness and the distributions of sizes, pauses and choices.
//!
//! Whatever a user draws comes from its own [`Rng`], which depends on the scenario's seed and the user's number alone:
//! the same seed plays the same users on one thread and on many machines. Nothing here may read a clock or ask the
//! system for randomness.

mod distribution;
mod rng;
mod weighted;

pub use distribution::{DURATION_MAX, Distribution};
pub use rng::Rng;
pub use weighted::{WeightError, Weighted, choose};
