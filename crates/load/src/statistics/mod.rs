//! Counting what a run saw: totals, distributions of times, and a row per second.
//!
//! Owns the arithmetic only. It never looks at a socket or a clock, so that the same code counts a live run and a log.

mod series;
mod summary;

pub use series::{SeriesRow, ServerRow, Spread};
pub use summary::{
    Counts, ErrorCount, FanOut, Finding, GeneratorFacts, LabelledSpread, MachineFacts, Severity, Summary,
    ThresholdResult, Times, Verdict,
};
