//! Carries topics between nodes: Redis (or Valkey) and NATS under the hub's bus effects.
//!
//! A [`Bus`] takes what the hubs of a node want ([`hub::BusEffect`]) and tells them what an engine says
//! ([`hub::BusEvent`]); `hub/src/bus.rs` says what it owes them. It owns connections, their failures and what is on the
//! wire between nodes (`frame.rs`). It must hold no rule of the hub: who is told what, and what a gap means, is decided
//! there.
//!
//! What waits is bounded (`limits.rs`), an engine that is away is tried again with backoff, and why it is away is said
//! in words ([`Status`]).

mod address;
mod announced;
mod backoff;
mod bus;
mod engine;
mod everybody;
mod failure;
mod frame;
mod heard;
mod limits;
mod losses;
mod nats;
mod port;
mod queue;
mod redis;
mod session;
mod settings;
mod status;
mod times;
mod wishes;
mod witness;

pub use address::{Address, BadAddress, redacted};
pub use bus::Bus;
pub use port::{NodeAddress, Port, Requests, Tell, TellPeers};
pub use settings::{BadSettings, Settings};
pub use status::{Snapshot, State, Status};
pub use times::Times;
