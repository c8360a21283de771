//! Sleeps of a driver that are accurate to the microsecond. The readiness loop itself counts whole milliseconds, and
//! the kernel may add its timer slack to them; a timer with its own descriptor (timerfd) is exact.

use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::time::{Duration, Instant};

use mio::unix::SourceFd;
use mio::{Interest, Registry};
use rustix::time::{
    Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create, timerfd_settime,
};

use crate::source::Source;

/// Deadlines this close to each other count as the same. A driver that asks for the same moment in every tick computes
/// it slightly differently each time, and must not pay a system call for that.
const SAME_DEADLINE: Duration = Duration::from_micros(10);

/// The timer that wakes one shard.
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

    /// Makes the readiness loop wake at `deadline`, unless it is already armed for then. Nobody reads the timer:
    /// edge-triggered, each expiry is an edge, and arming it anew replaces the last deadline.
    pub(crate) fn arm(&mut self, deadline: Instant, now: Instant) -> io::Result<()> {
        let waits_for = |armed: Instant| armed > now && distance(armed, deadline) <= SAME_DEADLINE;
        if self.armed.is_some_and(waits_for) {
            return Ok(());
        }
        // A time of zero would disarm it.
        let sleep = deadline.saturating_duration_since(now).max(Duration::from_nanos(1));
        let it_value = Timespec::try_from(sleep).map_err(|_| io::ErrorKind::InvalidInput)?;
        let once = Itimerspec { it_interval: Timespec::default(), it_value };
        timerfd_settime(&self.timer, TimerfdTimerFlags::empty(), &once)?;
        self.armed = Some(deadline);
        Ok(())
    }
}

fn distance(one: Instant, other: Instant) -> Duration {
    one.saturating_duration_since(other).max(other.saturating_duration_since(one))
}

#[cfg(test)]
mod tests {
    use super::*;
    use mio::{Events, Poll};

    const FAR: Duration = Duration::from_secs(3600);

    #[test]
    fn a_readiness_loop_without_a_bound_wakes_at_each_deadline() {
        let mut poll = Poll::new().expect("a loop");
        let mut timer = FineTimer::new(poll.registry()).expect("a timer");
        let mut events = Events::with_capacity(8);
        for sleep_us in [0, 1, 300, 1500] {
            let now = Instant::now();
            let deadline = now + Duration::from_micros(sleep_us);
            timer.arm(deadline, now).expect("it can be set");
            poll.poll(&mut events, None).expect("it waits");
            assert!(Instant::now() >= deadline);
            let sources: Vec<_> = events.iter().map(|event| Source::from_token(event.token())).collect();
            assert_eq!(sources, [Source::Timer]);
        }
    }

    #[test]
    fn a_deadline_takes_the_place_of_the_last() {
        let mut poll = Poll::new().expect("a loop");
        let mut timer = FineTimer::new(poll.registry()).expect("a timer");
        let now = Instant::now();
        timer.arm(now + FAR, now).expect("it can be set");
        timer.arm(now + Duration::from_micros(100), now).expect("it can be set");
        let mut events = Events::with_capacity(8);
        poll.poll(&mut events, None).expect("it waits");
        assert_eq!(events.iter().count(), 1);
    }

    #[test]
    fn the_same_deadline_named_again_is_not_armed_again() {
        let poll = Poll::new().expect("a loop");
        let mut timer = FineTimer::new(poll.registry()).expect("a timer");
        let now = Instant::now();
        let first = now + FAR;
        timer.arm(first, now).expect("it can be set");
        timer.arm(first + SAME_DEADLINE, now).expect("it can be set");
        assert_eq!(timer.armed, Some(first));
        timer.arm(first + 2 * SAME_DEADLINE, now).expect("it can be set");
        assert_eq!(timer.armed, Some(first + 2 * SAME_DEADLINE));
        // Once it has passed, even the same moment is a new one.
        let over = first + FAR;
        timer.arm(first, over).expect("it can be set");
        assert_eq!(timer.armed, Some(first));
    }
}
