//! Sockets, the readiness loop, buffers, ticks, mailboxes and descriptor tables.
//!
//! The engine owns a machine's side of a connection: it accepts and adopts sockets, waits for readiness, reads, writes,
//! keeps what the kernel would not take, ends what is idle, and carries mail between threads. It knows bytes only: no
//! topic, no user, no JSON, no WebSocket. What the bytes mean is the [`Driver`]'s business.
//!
//! A *shard* is one thread with its own readiness loop, its own listeners and its own connections; nothing is shared
//! between shards but their mailboxes. [`prepare`] makes what must exist before any thread, [`Prepared::start`] spawns
//! the shards, and each calls its [`Driver`] with an [`Io`] to answer through.
//!
//! Everything that can grow has a limit in [`EngineLimits`], and everything that happens a count in [`ShardCounters`].
//! All `unsafe` code of the project is in the module `sys`.

mod accept;
mod config;
mod connection;
mod control;
mod counters;
mod driver;
mod engine;
mod io;
mod listen;
pub mod machine;
mod mailbox;
mod outbox;
mod passage;
mod read;
mod shard;
mod slab;
mod sockets;
mod source;
mod staging;
mod start_error;
mod sweep;
mod sys;
mod tls;
mod transfer;
mod write;

pub use config::{EngineConfig, EngineLimits, Tables};
pub use counters::ShardCounters;
pub use driver::{
    Admission, ConnectionId, Delivery, Driver, EndCause, LEFTOVER_BYTES_MAX, ListenerIndex, ShardIndex,
};
pub use engine::{Adoption, Engine, HandedOff, Handoff, Prepared, prepare};
pub use io::Io;
pub use mailbox::Mailboxes;
pub use start_error::StartError;
