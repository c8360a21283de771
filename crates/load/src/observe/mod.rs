//! What a run sees, as a stream of observations: the one source of live figures, of the summary and of the event log.
//!
//! Shards make them, the collector counts them, the event log keeps them, and a report that is computed again from the
//! log reads the same stream.

mod batch;
mod examples;
mod names;
mod observation;

pub use batch::Batch;
pub use examples::{Example, Examples};
pub use observation::{Kind, NO_LABEL, NO_ROOM, Nanos, Observation, Outcome, UserId};
