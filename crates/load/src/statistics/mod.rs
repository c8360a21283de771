//! Aggregates the observations of a run: totals, distributions of times, and a row per second.
//!
//! Does arithmetic only. It never uses a socket or a clock, so the same code processes a live run and a log.
//! [`Statistics`] consumes one observation at a time; together with [`RunFacts`] it produces a [`Summary`].

mod counts;
mod errors;
#[cfg(test)]
pub(crate) mod example;
mod facts;
mod fan_out;
mod findings;
mod hdr;
pub mod limits;
mod measured;
mod plateau;
mod population;
#[cfg(test)]
mod properties;
mod second;
mod seconds;
mod series;
mod summarise;
mod summary;
mod tally;
mod text;
mod thresholds;
pub mod verdict;
pub mod wsdemo;

pub use errors::is_error;
pub use facts::{ErrorExample, RunFacts};
pub(crate) use fan_out::Publications;
pub use hdr::HistogramError;
pub use population::Population;
pub use second::MachineSample;
pub(crate) use seconds::NANOS_PER_SECOND;
pub use series::{SeriesRow, ServerRow, Spread};
pub use summary::{
    Counts, ErrorCount, FanOut, Finding, GeneratorFacts, GeneratorMemory, LabelledSpread, MachineFacts,
    PresenceLists, ServerSamples, Severity, Summary, ThreadUse, ThresholdResult, ThresholdUnit, Times,
    Verdict,
};
pub use tally::Statistics;
