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

/// The time between two looks at what another thread is about to change.
const BETWEEN: Duration = Duration::from_millis(1);

/// Waits until a counter has a value, which another thread is about to write.
pub(crate) fn wait_until(counter: &AtomicU64, wanted: u64) {
    wait_for(counter, |value| value == wanted, &format!("it is {wanted}"));
}

/// Waits until a counter `is` as wanted, which `expected` says.
pub(crate) fn wait_for(counter: &AtomicU64, is: impl Fn(u64) -> bool, expected: &str) {
    let deadline = Instant::now() + PATIENCE;
    while !is(value(counter)) {
        assert!(Instant::now() < deadline, "the counter is {}; expected: {expected}", value(counter));
        std::thread::sleep(BETWEEN);
    }
}

pub(crate) fn value(counter: &AtomicU64) -> u64 {
    counter.load(Ordering::Relaxed)
}
