//! CPU time that the server under test has used, as reported by the kernel.

use std::io;
use std::time::Duration;

use crate::sys;

/// The processes of the server under test.
#[derive(Clone, Debug)]
pub struct ServerProcesses {
    pids: Vec<u32>,
}

impl ServerProcesses {
    /// Creates it from process ids; fails if the CPU clock of one cannot be read.
    pub fn new(pids: Vec<u32>) -> io::Result<Self> {
        pids.iter().try_for_each(|pid| sys::process_cpu(*pid).map(drop))?;
        Ok(Self { pids })
    }

    /// Returns the user and system time of all of them so far. A process that has ended counts as 0, and processes
    /// started since are not included.
    pub fn cpu(&self) -> Duration {
        self.pids.iter().map(|pid| sys::process_cpu(*pid).unwrap_or_default()).sum()
    }
}
