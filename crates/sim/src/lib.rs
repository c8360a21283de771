//! Simulates several shards of the hub, several nodes with a bus, and the messenger on a disk, under one seed and a
//! virtual clock.
//!
//! A run draws a node from its seed (shards, clients, mailbox sizes, which shards are slow) and takes hundreds of
//! random steps: sockets of every dialect open, join, send and are cut, shards read their mail, deliver a little and
//! answer tasks in any order, mailboxes overflow. Independently of the hub's code, an oracle determines who must
//! receive what, each client checks the protocol, and presence is compared with the truth. A run is one thread without
//! IO or clock: the same seed gives the same trace.
//!
//! A second run from the same seed is a [`cluster`]: recoverable topics, a bus and everything that goes wrong with it.
//! A third is [`stored`]: the messenger's rooms on a disk that fails, in a process that is killed.
//!
//! The simulation must never look inside a hub or the messenger: it knows only their events, their effects and what
//! channels are told.
//!
//! Start with [`run()`], [`cluster::run`] and [`sweep()`].

mod actions;
mod channels;
mod client;
pub mod cluster;
mod journal;
mod oracle;
mod plan;
mod presence;
mod random;
mod run;
mod shard;
pub mod stored;
mod sweep;
mod trace;
mod wire;
mod world;

pub use run::{Failure, Kind, Report, run};
pub use sweep::{Total, sweep};

/// How many seeds, from 0, `cargo test` and a run without `--seeds` simulate: as many as a debug build runs in well
/// under a minute, and enough to find each planted bug several times. `make sim-smoke` goes on where they end.
pub const DEFAULT_SEEDS: u64 = 200;
