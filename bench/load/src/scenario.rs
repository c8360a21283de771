//! One function for each kind of measurement; each opens a crowd, measures, and closes it.
//!
//! CPU figures are those of the server's processes, if they are known; times are taken by the driver.

mod broadcast;
mod connect;
mod echo;

pub use broadcast::{Broadcast, BroadcastReport, broadcast};
pub use connect::{ConnectReport, connect};
pub use echo::{Echo, EchoReport, echo};

use std::time::Duration;

/// Time limit for opening a crowd; two million connections take about two minutes where client and server share two
/// cores.
pub const OPEN_PATIENCE: Duration = Duration::from_secs(900);

/// Time limit until the last receiver has a message; two slow cores deliver one to two million in about 30 s.
pub const HEAR_PATIENCE: Duration = Duration::from_secs(300);

/// Number of threads of a crowd, unless descriptor limits require more.
pub const THREADS: usize = 2;

fn microseconds_each(total: Duration, count: u64) -> f64 {
    total.as_secs_f64() * 1e6 / count.max(1) as f64
}
