//! SIGINT, SIGTERM and SIGHUP: the first signal ends the run gracefully, the second ends it at once.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals as Iterator;

use crate::live::Stop;

/// Number of signals received, over all runs of the process.
#[derive(Clone, Debug)]
pub struct Signals(Arc<AtomicUsize>);

impl Signals {
    /// Starts catching the signals. A SIGHUP that was ignored when the program started, as by `nohup`, stays ignored.
    ///
    /// # Errors
    /// If the kernel refuses.
    pub fn catch() -> io::Result<Self> {
        let count = Arc::new(AtomicUsize::new(0));
        let mut signals = Iterator::new([SIGINT, SIGTERM])?;
        if !is_ignored(SIGHUP)? {
            signals.add_signal(SIGHUP)?;
        }
        let counted = Arc::clone(&count);
        std::thread::Builder::new().name("signals".to_owned()).spawn(move || {
            for _ in signals.forever() {
                counted.fetch_add(1, Ordering::Relaxed);
            }
        })?;
        Ok(Self(count))
    }

    /// Returns what the signals received so far request.
    #[must_use]
    pub fn stop(&self) -> Stop {
        match self.0.load(Ordering::Relaxed) {
            0 => Stop::No,
            1 => Stop::Orderly,
            2.. => Stop::AtOnce,
        }
    }
}

/// Returns whether this process ignores a signal, from `SigIgn` in `/proc/self/status` (proc(5)).
fn is_ignored(signal: i32) -> io::Result<bool> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or_default();
    Ok(mask & (1 << (signal - 1)) != 0)
}
