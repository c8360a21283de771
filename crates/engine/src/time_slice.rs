//! A thread's time slice.

use std::time::Duration;

use crate::sys;

/// The shortest slice that the kernel grants.
const SLICE_SHORTEST: Duration = Duration::from_micros(100);

/// For a thread that sends to a crowd: time for some fifty system calls. If the crowd's clients run on the same machine,
/// the last of them has its message sooner than with the kernel's usual slices, with longer ones, or with shorter ones:
/// the measurements are in docs/decisions/0005.
const SLICE_FOR_CROWDS: Duration = Duration::from_micros(700);

/// For a thread to which a crowd comes. If the crowd's clients run on the same machine, more of them are accepted in a
/// second than with shorter slices: the measurements are in docs/decisions/0005.
const SLICE_FOR_ARRIVALS: Duration = Duration::from_millis(3);

/// Asks for short time slices for the calling thread: for one that does little and should do it soon (answers scrapes,
/// reads a clock) beside a hundred shards that are all busy, or for one of those hundred, so that each gets its turn
/// soon. Its share of the processor stays that of any other thread.
///
/// From Linux 6.12 on, the scheduler runs a thread with short slices before those with longer ones (EEVDF; the kernel's
/// documentation of `sched_setattr`). If the kernel does not support or does not permit it, the thread waits like all
/// others, which is not an error.
pub fn request_short_time_slices() {
    ask_for(SLICE_SHORTEST);
}

/// Asks for the time slices with which the calling thread sends to a crowd fastest. As with
/// [`request_short_time_slices`], its share of the processor does not change.
pub fn request_time_slices_for_crowds() {
    ask_for(SLICE_FOR_CROWDS);
}

/// Asks for the time slices with which the calling thread accepts a crowd with the least work for each who comes. As with
/// [`request_short_time_slices`], its share of the processor does not change.
pub fn request_time_slices_for_arrivals() {
    ask_for(SLICE_FOR_ARRIVALS);
}

fn ask_for(slice: Duration) {
    if let Err(error) = sys::set_slice(slice) {
        tracing::debug!(%error, "this kernel gives no turns of a length");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_threads_turns_can_be_shortened_more_than_once_and_be_as_before() {
        std::thread::spawn(|| {
            sys::set_slice(SLICE_SHORTEST).expect("a thread may shorten its own turns");
            sys::set_slice(SLICE_SHORTEST).expect("and do so again");
            sys::set_slice(Duration::ZERO).expect("and take it back");
        })
        .join()
        .expect("nothing panics");
    }
}
