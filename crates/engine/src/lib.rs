//! Sockets, the readiness loop, buffers, ticks, mailboxes and descriptor tables.
//!
//! The engine owns the local side of a connection: it accepts, adopts and connects sockets, waits for readiness, reads
//! and writes, buffers what the kernel does not accept, closes idle connections, and carries mail between threads. It
//! sees only bytes: no topics, users, JSON or WebSocket frames. The [`Driver`] gives the bytes their meaning.
//!
//! A *shard* is one thread with its own readiness loop, its own listeners and its own connections; shards share nothing
//! but their mailboxes. [`prepare()`] creates what must exist before any thread starts, [`Prepared::start`] spawns the
//! shards, and each shard calls its [`Driver`] with an [`Io`], through which the driver acts.
//!
//! Everything that can grow has a limit in [`EngineLimits`], and everything that happens is counted in
//! [`ShardCounters`]. All `unsafe` code of the project is in the module `sys`.
//!
//! An echo server:
//!
//! ```
//! use std::io::{Read, Write};
//! use std::net::{SocketAddr, TcpStream};
//! use std::time::Duration;
//!
//! use engine::{Admission, ConnectionId, Driver, EndCause, EngineConfig, Io, ListenerIndex};
//!
//! struct Echo;
//!
//! impl Driver for Echo {
//!     type Peer = ();
//!     type Mail = ();
//!     type Seed = ();
//!
//!     fn accepted(&mut self, _: ListenerIndex, _: SocketAddr) -> Admission<()> {
//!         Admission::Admit(())
//!     }
//!     fn received(&mut self, io: &mut Io<'_, Self>, id: ConnectionId, bytes: &mut [u8]) -> usize {
//!         io.send(id, bytes);
//!         bytes.len()
//!     }
//!     fn idle_limit(&self, _: &()) -> Option<Duration> {
//!         Some(Duration::from_secs(60))
//!     }
//!     fn expired(&mut self, io: &mut Io<'_, Self>, id: ConnectionId) {
//!         io.close(id);
//!     }
//!     fn overflowed(&mut self, io: &mut Io<'_, Self>, id: ConnectionId) {
//!         io.abort(id);
//!     }
//!     fn ended(&mut self, _: &mut Io<'_, Self>, _: ConnectionId, _: (), _: EndCause) {}
//!     fn peer_for(&mut self, _: &()) {}
//!     fn adopted(&mut self, _: &mut Io<'_, Self>, _: ConnectionId, _: ()) {}
//!     fn mail(&mut self, _: &mut Io<'_, Self>, _: ()) {}
//!     fn turn(&mut self, _: &mut Io<'_, Self>) -> Option<Duration> {
//!         None
//!     }
//! }
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let prepared = engine::prepare::<Echo>(EngineConfig::new(vec!["127.0.0.1:0".parse()?]))?;
//! let engine = prepared.start(|_shard| Echo, Box::new(drop))?;
//!
//! let mut client = TcpStream::connect(engine.local_addresses()[0])?;
//! client.write_all(b"hello")?;
//! let mut answer = [0; 5];
//! client.read_exact(&mut answer)?;
//! assert_eq!(&answer, b"hello");
//! engine.shutdown();
//! # Ok(())
//! # }
//! ```

mod accept;
mod books;
mod broadcast;
mod config;
mod connect;
mod connection;
mod control;
mod control_path;
mod control_queue;
mod counters;
mod descriptor_table;
mod dial;
mod disconnects;
mod driver;
mod engine;
mod expire;
mod handoff;
mod held;
mod inbound;
mod io;
mod listen;
pub mod machine;
mod mailbox;
mod outbox;
mod outgoing;
mod pause;
mod prepare;
mod read;
mod send_budget;
mod settle;
mod shard;
mod slab;
mod sockets;
mod source;
mod staging;
mod start;
mod start_error;
mod steering;
mod sweep;
mod sys;
mod time_slice;
mod timer;
mod tls;
mod together;
mod transfer;
mod turned_away;
mod unread;
mod write;

pub use config::{EngineConfig, EngineLimits, SocketBuffers, Tables};
pub use counters::ShardCounters;
pub use dial::Dial;
pub use driver::{
    Admission, ConnectionId, Delivery, Driver, EndCause, LEFTOVER_BYTES_MAX, ListenerIndex, ShardIndex,
};
pub use engine::{Adoption, Engine};
pub use handoff::{HandedOff, Handoff};
pub use io::Io;
pub use mailbox::Mailboxes;
pub use prepare::{Prepared, prepare};
pub use start_error::StartError;
pub use sys::send_queue_bytes;
pub use time_slice::TimeSlices;
pub use together::Together;
