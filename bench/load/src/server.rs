//! What the kernel tells about the server under test: the CPU time that its process has used.

use std::io;
use std::time::Duration;

use crate::sys;

/// The process of the server under test.
#[derive(Clone, Copy, Debug)]
pub struct ServerProcess {
    pid: u32,
}

impl ServerProcess {
    /// The process with this number; an error when its clock cannot be read.
    pub fn new(pid: u32) -> io::Result<Self> {
        sys::process_cpu(pid).map(|_| Self { pid })
    }

    /// User and system time so far; zero once the process is gone.
    pub fn cpu(&self) -> Duration {
        sys::process_cpu(self.pid).unwrap_or_default()
    }
}
