//! How the kernel has scheduled a thread: its time on a processor, and its time waiting for one.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;
use std::time::Duration;

/// Totals over a thread's lifetime, from its `schedstat` file.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Scheduling {
    /// Time on a processor.
    pub cpu: Duration,
    /// Time in which it was runnable but another thread ran: its wait on a run queue.
    pub waited: Duration,
    /// How often it was given a processor.
    pub turns: u64,
}

/// The calling thread's `schedstat`, kept open for frequent reading: each reading is one system call.
#[derive(Debug)]
pub struct OwnScheduling {
    file: File,
}

/// The file has three numbers of at most twenty digits.
const FILE_BYTES_MAX: usize = 80;

impl OwnScheduling {
    /// Opens the calling thread's file, which reports on that thread, whichever thread reads it. With private
    /// descriptor tables only that thread can read it, and only that thread may drop it.
    ///
    /// # Errors
    /// If `/proc/thread-self/schedstat` cannot be read or is all zero, as on a kernel without `CONFIG_SCHED_INFO`.
    pub fn open() -> io::Result<Self> {
        let own = Self { file: File::open("/proc/thread-self/schedstat")? };
        // A running thread has been given a processor. Its time may still be zero: the kernel updates that at its next
        // tick.
        match own.read()?.turns {
            0 => Err(io::Error::new(
                io::ErrorKind::Unsupported,
                "the kernel does not provide scheduling times",
            )),
            _ => Ok(own),
        }
    }

    /// Reads the current values.
    ///
    /// # Errors
    /// If it cannot be read or has an unknown format.
    pub fn read(&self) -> io::Result<Scheduling> {
        let mut bytes = [0; FILE_BYTES_MAX];
        let length = self.file.read_at(&mut bytes, 0)?;
        let text = std::str::from_utf8(&bytes[..length]).ok();
        text.and_then(parse_schedstat).ok_or_else(|| {
            io::Error::new(io::ErrorKind::InvalidData, "/proc/thread-self/schedstat has an unknown format")
        })
    }
}

/// Parses a thread's scheduling from the text of a `schedstat` file (the kernel's `scheduler/sched-stats.rst`):
/// nanoseconds on a processor, nanoseconds on a run queue, and time slices; `None` if it has an unknown format.
#[must_use]
pub fn parse_schedstat(text: &str) -> Option<Scheduling> {
    let mut numbers = text.split_ascii_whitespace().map(str::parse::<u64>);
    let mut number = || numbers.next()?.ok();
    let (cpu_ns, waited_ns, turns) = (number()?, number()?, number()?);
    let (cpu, waited) = (Duration::from_nanos(cpu_ns), Duration::from_nanos(waited_ns));
    Some(Scheduling { cpu, waited, turns })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_time_on_a_processor_time_on_a_run_queue_and_turns() {
        let expected = Scheduling {
            cpu: Duration::from_nanos(7_105_838_293),
            waited: Duration::from_nanos(1_500_250),
            turns: 42,
        };
        assert_eq!(parse_schedstat("7105838293 1500250 42\n"), Some(expected));
        assert_eq!(parse_schedstat("0 0 0\n"), Some(Scheduling::default()));
    }

    #[test]
    fn what_is_no_such_line_is_told_apart() {
        for text in ["", "\n", "1 2", "1 2 x", "-1 2 3", "1 2 99999999999999999999", "cpu 1 2 3"] {
            assert_eq!(parse_schedstat(text), None, "{text:?}");
        }
    }

    #[test]
    fn a_thread_that_has_just_begun_is_told_like_any_other() {
        if OwnScheduling::open().is_err() {
            return; // a kernel that does not keep statistics
        }
        for _ in 0..500 {
            std::thread::spawn(OwnScheduling::open).join().expect("it ends").expect("the kernel keeps times");
        }
    }

    #[test]
    fn the_own_threads_times_grow() {
        // A kernel without these statistics reports an error.
        let Ok(own) = OwnScheduling::open() else { return };
        let before = own.read().expect("it was read before");
        let mut sum = 0_u64;
        while own.read().expect("it was read before").cpu == before.cpu {
            sum = std::hint::black_box(sum + 1);
        }
        let after = own.read().expect("it was read before");
        assert!(after.cpu > before.cpu && after.turns >= before.turns, "{before:?} {after:?}");
    }
}
