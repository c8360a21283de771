//! What the kernel tells about the server under test: the CPU time that its processes have used.

use std::io;
use std::time::Duration;

use crate::sys;

/// The processes of the server under test.
#[derive(Clone, Debug)]
pub struct ServerProcesses {
    pids: Vec<u32>,
}

impl ServerProcesses {
    /// The processes with these numbers; an error when the clock of one cannot be read.
    pub fn new(pids: Vec<u32>) -> io::Result<Self> {
        pids.iter().try_for_each(|pid| sys::process_cpu(*pid).map(drop))?;
        Ok(Self { pids })
    }

    /// User and system time of all of them so far. A process that is gone counts nothing, and one that was started
    /// since is not known.
    pub fn cpu(&self) -> Duration {
        self.pids.iter().map(|pid| sys::process_cpu(*pid).unwrap_or_default()).sum()
    }
}
