//! A thread's time slices.

use std::time::Duration;

use crate::sys;

/// What a thread asks for. Its share of the processor stays that of any other thread.
///
/// From Linux 6.12 on, the scheduler runs a thread with short slices before those with longer ones (EEVDF; the kernel's
/// documentation of `sched_setattr`). If the kernel does not support or does not permit it, the thread waits like all
/// others, which is not an error. The measurements are in docs/decisions/0005.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimeSlices {
    /// For a thread that does little and should do it soon (answers scrapes, reads a clock) beside a hundred shards that
    /// are all busy, or for one of those hundred, so that each gets its turn soon.
    Short,
    /// For a thread that sends to a crowd: time for some fifty system calls. If the crowd's clients run on the same
    /// machine, the last of them has its message sooner than with the kernel's usual slices, with longer ones, or with
    /// shorter ones.
    ForCrowds,
    /// For a thread to which a crowd comes. If the crowd's clients run on the same machine, more of them are accepted in
    /// a second than with shorter slices.
    ForArrivals,
}

impl TimeSlices {
    /// Asks for such slices for the calling thread.
    pub fn request(self) {
        if let Err(error) = sys::set_slice(self.length()) {
            tracing::debug!(%error, "this kernel gives no turns of a length");
        }
    }

    fn length(self) -> Duration {
        match self {
            // The shortest that the kernel grants.
            TimeSlices::Short => Duration::from_micros(100),
            TimeSlices::ForCrowds => Duration::from_micros(700),
            TimeSlices::ForArrivals => Duration::from_millis(3),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_threads_turns_can_be_shortened_more_than_once_and_be_as_before() {
        std::thread::spawn(|| {
            sys::set_slice(TimeSlices::Short.length()).expect("a thread may shorten its own turns");
            sys::set_slice(TimeSlices::Short.length()).expect("and do so again");
            sys::set_slice(Duration::ZERO).expect("and take it back");
        })
        .join()
        .expect("nothing panics");
    }
}
