//! What a person reads after a run.

pub mod chart;
