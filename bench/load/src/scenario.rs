//! One function for each kind of measurement; each opens a crowd, measures, and closes it.
//!
//! CPU figures are those of the server's processes, when they are known; times are the driver's.

mod broadcast;
mod connect;
mod echo;

pub use broadcast::{Broadcast, BroadcastReport, broadcast};
pub use connect::{ConnectReport, connect};
pub use echo::{Echo, EchoReport, echo};

use std::time::Duration;

/// How long opening a crowd may take; two million take about two minutes where client and server share two cores.
pub const OPEN_PATIENCE: Duration = Duration::from_secs(900);

/// How long the last receiver of a message may take; two slow cores bring one to two million in about 30 s.
pub const HEAR_PATIENCE: Duration = Duration::from_secs(300);

/// Threads of a crowd, as long as descriptors do not ask for more.
pub const THREADS: usize = 2;

fn microseconds_each(total: Duration, count: u64) -> f64 {
    total.as_secs_f64() * 1e6 / count.max(1) as f64
}
