//! A driver's sleep to the microsecond. The readiness loop itself counts whole milliseconds, and the kernel may add its
//! slack to them; a timer with a descriptor of its own (timerfd) is exact.

use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::time::{Duration, Instant};

use mio::unix::SourceFd;
use mio::{Interest, Registry};
use rustix::time::{
    Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create, timerfd_settime,
};

use crate::source::Source;

/// Deadlines so close to each other are one. A driver that asks for the same moment in every tick names it a little
/// differently each time, and is not to pay a system call for it.
const SAME_DEADLINE: Duration = Duration::from_micros(10);

/// Wakes one shard.
pub(crate) struct FineTimer {
    timer: OwnedFd,
    armed: Option<Instant>,
}

impl FineTimer {
    pub(crate) fn new(registry: &Registry) -> io::Result<Self> {
        let timer =
            timerfd_create(TimerfdClockId::Monotonic, TimerfdFlags::CLOEXEC | TimerfdFlags::NONBLOCK)?;
        registry.register(&mut SourceFd(&timer.as_raw_fd()), Source::Timer.token(), Interest::READABLE)?;
        Ok(Self { timer, armed: None })
    }

    /// Lets the readiness loop wake at `deadline`, unless it is to wake then already. Nobody reads the timer: with
    /// edges, each expiry is one, and arming it anew forgets the last.
    pub(crate) fn arm(&mut self, deadline: Instant, now: Instant) -> io::Result<()> {
        let waits_for = |armed: Instant| armed > now && distance(armed, deadline) <= SAME_DEADLINE;
        if self.armed.is_some_and(waits_for) {
            return Ok(());
        }
        // A time of zero would disarm it.
        let sleep = deadline.saturating_duration_since(now).max(Duration::from_nanos(1));
        let it_value =
            Timespec { tv_sec: sleep.as_secs() as i64, tv_nsec: i64::from(sleep.subsec_nanos()) as _ };
        let once = Itimerspec { it_interval: Timespec::default(), it_value };
        timerfd_settime(&self.timer, TimerfdTimerFlags::empty(), &once)?;
        self.armed = Some(deadline);
        Ok(())
    }
}

fn distance(one: Instant, other: Instant) -> Duration {
    one.saturating_duration_since(other).max(other.saturating_duration_since(one))
}
