//! Seeded randomness, and the distributions of sizes, pauses and choices.
//!
//! Everything random about a user comes from its own [`Rng`], which depends only on the scenario's seed and the user's
//! number: the same seed gives the same users on one thread and on many machines. Nothing here may read a clock or use
//! the system's randomness.

mod distribution;
mod rng;
mod weighted;

pub use distribution::{DURATION_MAX, Distribution};
pub use rng::Rng;
pub use weighted::{WeightError, Weighted, choose};
