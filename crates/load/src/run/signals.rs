//! SIGINT and SIGTERM: the first asks the run to end orderly, the second to end at once.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals as Iterator;

use crate::live::Stop;

/// The signals that have come, over all runs of the process.
#[derive(Clone, Debug)]
pub struct Signals(Arc<AtomicUsize>);

impl Signals {
    /// Catches both signals from now on.
    ///
    /// # Errors
    /// If the kernel refuses.
    pub fn catch() -> io::Result<Self> {
        let count = Arc::new(AtomicUsize::new(0));
        let mut signals = Iterator::new([SIGINT, SIGTERM])?;
        let counted = Arc::clone(&count);
        std::thread::Builder::new().name("signals".to_owned()).spawn(move || {
            for _ in signals.forever() {
                counted.fetch_add(1, Ordering::Relaxed);
            }
        })?;
        Ok(Self(count))
    }

    /// What they ask for.
    #[must_use]
    pub fn stop(&self) -> Stop {
        match self.0.load(Ordering::Relaxed) {
            0 => Stop::No,
            1 => Stop::Orderly,
            2.. => Stop::AtOnce,
        }
    }
}
