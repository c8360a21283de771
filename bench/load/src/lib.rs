//! The load driver of the benchmarks: crowds of clients that speak plain WebSocket, Phoenix V1 or NATS, against any
//! server.
//!
//! Owns the client side of every figure in `bench/`: the same code drives the floor, Throng and its peers, so that a
//! ratio between two servers compares only the servers. It checks what correct counts require (the 101, the status of
//! the join's reply, the length of every frame) and parses no JSON; only [`returning`], which measures how a crowd
//! recovers, reads message contents.
//!
//! It must never retry a failure, nor omit from a count what did not arrive: a connection that was refused, cut or not
//! answered is reported as such. (Clients that move to another server when theirs dies are what [`returning`]
//! measures.)
//!
//! The main types: a [`Target`] describes the server and the conversation, a [`Crowd`] holds the connections on its
//! threads, and [`scenario`] has one function for each kind of measurement. [`wire`] has the bytes of both sides and
//! [`sys`] the system calls; the floor's server is built on those two.

mod connection;
mod crowd;
mod frames;
pub mod returning;
pub mod scenario;
mod server;
#[allow(unsafe_code, reason = "descriptor tables, epoll and CPU clocks have no safe interface in std")]
pub mod sys;
mod target;
pub mod wire;
mod worker;

pub use crowd::{CONNECTIONS_PER_THREAD_MAX, Crowd, Opened};
pub use frames::{FrameReader, Seen};
pub use server::ServerProcesses;
pub use target::{Conversation, Target};
