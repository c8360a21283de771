//! The metrics that Prometheus' own clients export for every process, under the same names.

use super::page::Page;
use gateway::machine;
use std::fmt;
use std::time::{SystemTime, UNIX_EPOCH};

/// Leaves out what the kernel does not report.
pub(super) fn encode(page: &mut Page<'_>, started: SystemTime) -> fmt::Result {
    if let Ok(time) = machine::process_time(std::process::id()) {
        let help = "CPU time of all threads together.";
        page.counter("process_cpu_seconds", help, time.cpu.as_secs_f64())?;
    }
    // A clock before 1970 is wrong.
    if let Ok(since) = started.duration_since(UNIX_EPOCH) {
        let help = "When the process started, in seconds since 1970.";
        page.gauge("process_start_time_seconds", help, since.as_secs_f64())?;
    }
    Ok(())
}
