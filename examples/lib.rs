//! What a programmer writes with the `gateway` crate; each program is a file beside this one:
//!
//! - `echo`: raw WebSocket echo at `/echo/websocket`, and a channel that answers;
//! - `lobby`: a chat room in thirty lines;
//! - `presence`: who is there;
//! - `conformance`: the fixture that the protocol's conformance cases are run against.
