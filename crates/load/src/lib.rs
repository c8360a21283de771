//! Stampede, the load lab: it plays millions of clients against any WebSocket or HTTP server, and says honestly what it
//! saw. This crate must never be able to make a server look better than it is.

pub mod draw;
pub mod ledger;
pub mod observe;
pub mod scenario;
pub mod schedule;
pub mod statistics;
