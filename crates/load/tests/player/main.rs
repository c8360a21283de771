//! The player against servers of each kind.

mod http;
mod manners;
mod phoenix;
#[path = "../play/mod.rs"]
mod play;
mod presence;
mod returning;
mod tls;
mod websocket;
