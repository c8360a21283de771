//! A hub beside a reference model that is a vector of members and plain queues. After every operation both must have
//! said the same to everyone. The tests make up operations, the fuzz target reads them from its input.

mod harness;
pub mod operation;
mod reference;

pub use harness::run;
