//! The hub from outside: single shards, nodes of several, and both beside a reference model.

mod corpus;
mod crowds;
mod destructors;
mod join_storms;
mod losses_elsewhere;
#[allow(unreachable_pub, reason = "shared with the fuzz target")]
mod model;
mod node;
mod operations;
mod own_copies;
mod owners;
mod parked_frames;
mod recoverable_topics;
mod severed_topics;
mod shard;
mod shared_reads;
mod silent_bus;
mod tasks;
