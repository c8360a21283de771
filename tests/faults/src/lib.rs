//! What the tests of faults need: a client that may misbehave in any way, a room whose handlers may too, and the
//! programs `host` (a gateway in a process of its own) and `crowd` (clients that die together).
//!
//! It owns the client's side of the wire, written without the crates that it tests, and must never answer a ping, obey
//! a close or reconnect unless a test says so.
#![allow(clippy::missing_panics_doc, reason = "in a test a panic is the answer")]

mod client;
mod crowd;
mod descriptors;
mod fixture;
mod host;
mod phoenix;
mod room;
mod tls;
mod wire;

pub use client::{Answer, Client, Connecting, PATIENCE, upgrade_request};
pub use crowd::{CROWD_TOPIC, Crowd, gather};
pub use descriptors::limit_descriptors;
pub use fixture::{Fixture, wait_until};
pub use host::{Host, HostOptions, Numbers};
pub use room::{End, FLOOD_MESSAGE_BYTES, Gate, Room};
pub use tls::{Trust, self_signed};
pub use wire::{Frame, Opcode, compressed_zeros, frame, frame_header, masked};
