//! Drawing: seeded randomness and the distributions of sizes, pauses and choices.

mod distribution;

pub use distribution::Distribution;
