//! How the tests of every driver start an engine and watch its counters.

use std::net::Ipv4Addr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use engine::EngineConfig;

/// How long a test waits for an event before it gives up.
pub(crate) const PATIENCE: Duration = Duration::from_secs(120);

/// One shard on a free port of the loopback address.
pub(crate) fn config() -> EngineConfig {
    EngineConfig::new(vec![(Ipv4Addr::LOCALHOST, 0).into()])
}

/// Waits until a counter has a value, which another thread is about to write.
pub(crate) fn wait_until(counter: &AtomicU64, wanted: u64) {
    let deadline = Instant::now() + PATIENCE;
    while value(counter) != wanted {
        assert!(Instant::now() < deadline, "{} instead of {wanted}", value(counter));
        std::thread::yield_now();
    }
}

pub(crate) fn value(counter: &AtomicU64) -> u64 {
    counter.load(Ordering::Relaxed)
}
