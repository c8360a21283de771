//! Stampede, the load lab: it plays millions of clients against any WebSocket or HTTP server, and says honestly what it
//! saw. This crate must never be able to make a server look better than it is.

pub mod draw;
pub mod observe;
pub mod record;
pub mod scenario;
pub mod statistics;
