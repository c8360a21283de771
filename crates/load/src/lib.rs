//! Stampede, the load lab: it plays millions of clients against any WebSocket or HTTP server, and says honestly what it
//! saw. This crate must never be able to make a server look better than it is.

pub mod cli;
pub mod draw;
pub mod floor;
pub mod observe;
pub mod presets;
pub mod scenario;
pub mod search;
pub mod statistics;
pub mod tsung;
