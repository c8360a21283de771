//! What the tests of Stampede need: the binary with its runs and what they leave, servers that behave as they are told,
//! a proxy that loses messages and counts what it did, and the servers of others.
//!
//! It owns a WebSocket codec and counts of its own, and must never share either with what it tests.
#![allow(clippy::missing_panics_doc, reason = "in a test a panic is the answer")]

mod chance;
mod counter;
mod ended;
mod host_site;
mod http;
mod lab;
mod lossy;
mod peers;
mod program;
mod server;
mod serving;
mod terminal;
mod throng;
mod tls;
mod websocket;

pub use chance::Chance;
pub use counter::Counter;
pub use ended::{Counts, Ended, EventLog, Summary};
pub use host_site::HostSite;
pub use http::{Answer, get, post};
pub use lab::{Lab, Run};
pub use lossy::{Direction, Disturbance, Done, LossyProxy, by_connection, by_name};
pub use peers::{node_echo, python_echo};
pub use program::{Outcome, Program};
pub use server::{Peer, Server};
pub use serving::{echo, echo_after, echo_by_tls, rooms};
pub use terminal::Terminal;
pub use throng::Throng;
pub use tls::Authority;
pub use websocket::{Frame, Opcode, accept_key};

use std::time::{Duration, Instant};

/// How long a test waits for an event before it gives up.
pub const PATIENCE: Duration = Duration::from_secs(180);

/// Looks until `is_so`, for what tells nobody that it changed.
pub fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
    let deadline = Instant::now() + PATIENCE;
    while !is_so() {
        assert!(Instant::now() < deadline, "waited in vain until {what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}
