//! The load driver of the benchmarks: crowds of clients that speak plain WebSocket, Phoenix V1 or NATS, against any
//! server.
//!
//! It owns the client side of every figure in `bench/`: the same code drives the floor, Throng and its peers, so that
//! a ratio between two servers compares nothing but the servers. It checks what it must to count honestly (the 101,
//! the status of the join's reply, the length of every frame) and parses no JSON; only [`returning`], which measures how a
//! crowd recovers, reads what it is told.
//!
//! It must never retry what failed, nor leave out of a count what did not arrive: a connection that was refused, cut
//! or not answered is reported as such. (That clients go elsewhere when their server dies is what [`returning`] measures.)
//!
//! The main types: a [`Target`] says what to talk to, a [`Crowd`] holds the connections on its threads, and
//! [`scenario`] has one function for each kind of measurement. [`wire`] has the bytes of both sides and [`sys`] the
//! system calls; the floor's server is built on those two.

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
