//! What a run sees, as a stream of observations: the single source of live figures, of the summary and of the event
//! log.
//!
//! Shards produce them, the collector counts them, the event log stores them, and a report that is recomputed from the
//! log reads the same stream.

mod batch;
mod examples;
mod names;
mod observation;

pub use batch::Batch;
pub use examples::{Example, Examples};
pub use observation::{Kind, NO_LABEL, NO_ROOM, Nanos, Observation, Outcome, UserId};
