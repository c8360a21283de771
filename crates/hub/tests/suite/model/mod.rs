//! Compares a hub with a reference model that is a vector of members and plain queues. After every operation both must
//! have sent the same messages to every connection. The tests generate operations; the fuzz target reads them from its
//! input.

mod harness;
pub mod operation;
mod reference;

pub use harness::run;
