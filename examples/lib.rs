//! Example programs for the `gateway` crate, each in its own file:
//!
//! - `echo`: raw WebSocket echo at `/echo/websocket`, and a channel that answers;
//! - `lobby`: a chat room in thirty lines;
//! - `presence`: who is present;
//! - `conformance`: the fixture against which the protocol's conformance cases run.
