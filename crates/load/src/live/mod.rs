//! Live views of a run: in the terminal, in a browser, and for Prometheus.
//!
//! The run publishes a [`Status`] on a [`Board`] whenever something changes, at least once a second; each view reads
//! the board at its own pace and may request a stop. A view never delays the run and never computes statistics itself:
//! it shows what was published.

mod board;
pub mod dashboard;
pub mod figures;
mod metrics;
pub mod plain;
mod status;
pub mod terminal;

pub use board::{Board, SERIES_ROWS_MAX, Stop};
pub use status::{Buckets, LATENCY_BOUNDS_US, PhaseStatus, Stage, Status, Users};
