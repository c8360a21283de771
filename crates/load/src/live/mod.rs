//! What a run looks like while it runs: in the terminal, in a browser, for Prometheus.
//!
//! The run publishes a [`Status`] on a [`Board`] whenever something new is known, once a second at least; the views
//! read the board, each at its own pace, and may ask it to stop the run. A view never holds the run up and never
//! counts anything itself: what it shows is what was published.

mod board;
pub mod dashboard;
pub mod figures;
mod metrics;
pub mod plain;
mod status;
pub mod terminal;

pub use board::{Board, SERIES_ROWS_MAX, Stop};
pub use status::{Buckets, LATENCY_BOUNDS_US, PhaseStatus, Stage, Status, Users};
