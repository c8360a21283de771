//! Plays the conformance cases of Phoenix Channels against a server, over raw sockets.
//!
//! Owns the case format (`case`, `script`, `syntax`), a WebSocket and HTTP client that can also send what
//! no polite client would (`websocket`, `http`, `longpoll`), and the player that carries a script out and
//! keeps the transcript of the wire (`player`). Knows nothing of the server's code: what it expects stands
//! in `cases/*.toml`, what it observes comes off a socket.
//!
//! Must never depend on another crate of this workspace: a codec shared with the server would agree
//! with its mistakes.

mod bytes;
pub mod case;
mod client;
mod control;
mod failure;
mod http;
mod longpoll;
mod pattern;
pub mod player;
mod script;
pub mod server;
mod syntax;
mod transcript;
mod variables;
mod websocket;
mod wire;

use std::time::Duration;

/// How long any single expectation may take before it counts as not met.
const PATIENCE: Duration = Duration::from_secs(10);

/// The pause between two looks at something that has no event to wait for.
const POLL_INTERVAL: Duration = Duration::from_millis(20);
