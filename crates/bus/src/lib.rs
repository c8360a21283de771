//! Carries topics between nodes: implements the hub's bus effects over Redis (or Valkey) and NATS.
//!
//! A [`Bus`] takes the requests of a node's hubs ([`hub::BusEffect`]) and passes the engine's events to them
//! ([`hub::BusEvent`]); `hub/src/bus.rs` defines what it guarantees them. It owns the connections, their failures, and
//! the wire format between nodes (`frame.rs`). It must not contain rules of the hub: who gets which publication, and
//! what a gap means, is decided there.
//!
//! Queues are bounded (`limits.rs`). An engine that is away is retried with backoff, and the reason is reported as text
//! ([`Status`]).

mod address;
mod announced;
mod backoff;
mod bus;
mod decode;
mod engine;
mod failure;
mod frame;
mod limits;
mod losses;
mod nats;
mod node_channel;
mod port;
mod queue;
mod redis;
mod requests;
mod session;
mod settings;
mod status;
mod stored_head;
mod times;

pub use address::{Address, BadAddress, redacted};
pub use bus::Bus;
pub use port::{NodeAddress, Port, RequestReceiver, Tell, TellPeers};
pub use settings::{BadSettings, Settings};
pub use status::{Snapshot, State, Status};
pub use times::Times;
