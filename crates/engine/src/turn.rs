//! How long a thread runs at a stretch.

use std::time::Duration;

use crate::sys;

/// The shortest that the kernel grants.
const SLICE_SHORTEST: Duration = Duration::from_micros(100);

/// Asks for short turns on the processor for the calling thread, which does little and should do it soon: one that
/// answers scrapes or reads a clock, beside a hundred shards that are all busy. Its share of the processor is that of
/// any other thread.
///
/// From Linux 6.12 on, the scheduler lets a thread whose turns are short go before those with longer ones (EEVDF; the
/// kernel's documentation of `sched_setattr`). Where the kernel does not know of it, or forbids it, the thread waits as
/// all others do, which is no error.
pub fn ask_for_short_turns() {
    if let Err(error) = sys::set_slice(SLICE_SHORTEST) {
        tracing::debug!(%error, "this kernel gives no short turns");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_threads_turns_can_be_shortened_more_than_once() {
        std::thread::spawn(|| {
            sys::set_slice(SLICE_SHORTEST).expect("a thread may shorten its own turns");
            sys::set_slice(SLICE_SHORTEST).expect("and do so again");
        })
        .join()
        .expect("nothing panics");
    }
}
