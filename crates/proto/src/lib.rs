//! Bytes to messages and back, on both sides of a connection, without IO: RFC 6455 frames, permessage-deflate,
//! the values of a WebSocket handshake, and Phoenix Channels V1 and V2.
//!
//! - [`ws`] turns bytes into WebSocket messages and messages into frames.
//! - [`phoenix`] turns the body of a WebSocket message into the five fields of a Phoenix message and back.
//! - [`handshake`] checks the plain values of an upgrade request: key, subprotocols, origin, query.
//!
//! This crate never opens a socket, reads a clock, or imports another crate of this project. Whatever a peer sends
//! results in a value or in an error: nothing here panics on input, and named limits bound memory.

pub mod handshake;
pub mod phoenix;
pub mod ws;
