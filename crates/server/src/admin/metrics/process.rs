//! What Prometheus' own clients tell of every process, under the names that they gave it.

use super::page::Page;
use gateway::machine;
use std::fmt;
use std::time::{SystemTime, UNIX_EPOCH};

/// What the kernel does not tell is left out.
pub(super) fn encode(page: &mut Page<'_>, started: SystemTime) -> fmt::Result {
    if let Ok(time) = machine::process_time(std::process::id()) {
        let help = "CPU time of all threads together.";
        page.counter("process_cpu_seconds", help, time.cpu.as_secs_f64())?;
    }
    // A clock before 1970 tells nothing.
    if let Ok(since) = started.duration_since(UNIX_EPOCH) {
        let help = "When the process started, in seconds since 1970.";
        page.gauge("process_start_time_seconds", help, since.as_secs_f64())?;
    }
    Ok(())
}
