//! Faults that concern a whole process, so that the gateway, and the clients where they are many, have processes of
//! their own.

mod crowd;
mod descriptors;
mod memory;
mod private_tables;

const HOST: &str = env!("CARGO_BIN_EXE_host");
const CROWD: &str = env!("CARGO_BIN_EXE_crowd");
/// The V2 sockets of the host's rooms.
const SOCKET: &str = "/socket/websocket?vsn=2.0.0";
/// The host's raw sockets.
const ECHO: &str = "/echo/websocket";
