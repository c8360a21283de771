//! The engine over real sockets, one subject in each file.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod caller;
mod connect;
mod connect_tls;
mod crossing;
mod echo;
mod ends;
mod fine_timer;
#[path = "../line/mod.rs"]
mod line;
mod mail;
mod pause;
mod refusals;
mod silence;
mod slow_reader;
mod start;
mod tls;
mod unread;
#[path = "../watching/mod.rs"]
mod watching;
