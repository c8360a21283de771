//! The memory budget: how many connections it has room for, given the current memory usage.
//!
//! Pure arithmetic. The budget covers everything that the server takes of the machine, including the kernel's part. The
//! usage of the process at the start is subtracted first. The rest is divided into shares, so that none can grow at
//! another's expense: connections, unread output of slow clients (in outboxes and in the kernel), incomplete messages
//! and unfetched long-poll messages, and a margin for what arrives between two checks.

use engine::SocketBuffers;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// The shares are in sixteenths of what is left after the start.
const PARTS: u64 = 16;
const OUTBOX_PARTS: u64 = 2;
const SEND_QUEUE_PARTS: u64 = 1;
const PARTIAL_PARTS: u64 = 1;
const LONGPOLL_PARTS: u64 = 1;
const MARGIN_PARTS: u64 = 1;
const CONNECTION_PARTS: u64 =
    PARTS - OUTBOX_PARTS - SEND_QUEUE_PARTS - PARTIAL_PARTS - LONGPOLL_PARTS - MARGIN_PARTS;
/// The kernel buffers of one connection under a budget. All of them together have a share; each is so small that one
/// write does not take much of the share, that the outbox soon shows a slow reader, and that data in transit to the
/// server is bounded, too; and so large that a connection across the world still carries some hundred KB per second.
pub(crate) const SOCKET_BUFFERS: SocketBuffers =
    SocketBuffers { send_bytes: 32 << 10, receive_bytes: 64 << 10 };
/// The minimum that a connection takes in the process: its slots, and a place among the members of one topic.
const PROCESS_BYTES_MIN: u64 = 192;
/// The maximum that a new connection may take before the next check shows it: a TLS session and the kernel's part.
const NEWCOMER_BYTES_MAX: u64 = 16 << 10;
/// Below this number of connections, the average per connection is meaningless: one-time costs would be attributed to
/// them.
const SAMPLE_MIN: u64 = 1_000;
/// A budget with room for fewer connections is a configuration mistake.
const CONNECTIONS_MIN: u64 = 100;

/// The memory usage at one time, as far as it matters to the budget.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Reading {
    /// Process memory, without what has a share of its own (outboxes, partial messages, sessions), in bytes.
    pub(crate) process_bytes: u64,
    /// Kernel memory for the process, in bytes.
    pub(crate) kernel_bytes: u64,
    /// Number of open connections.
    pub(crate) open: u64,
}

/// The shares of the budget, in bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Shares {
    pub(crate) connections: u64,
    pub(crate) outboxes: u64,
    pub(crate) send_queues: u64,
    pub(crate) partial_messages: u64,
    pub(crate) longpoll_sessions: u64,
}

/// The error for a budget under which a gateway could not serve.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BudgetTooSmall {
    /// The budget, in bytes.
    pub budget_bytes: u64,
    /// The memory that the process takes without any connection, in bytes.
    pub start_bytes: u64,
}

impl fmt::Display for BudgetTooSmall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mebibytes = |bytes: u64| bytes.div_ceil(1 << 20);
        write!(
            f,
            "a memory budget of {} MiB is too small for {CONNECTIONS_MIN} connections: the server uses {} MiB \
             without any connection; allow at least {} MiB",
            mebibytes(self.budget_bytes),
            mebibytes(self.start_bytes),
            mebibytes(self.start_bytes + (1 << 20))
        )
    }
}

impl std::error::Error for BudgetTooSmall {}

impl Shares {
    /// Divides the budget beyond what the process takes at the start.
    pub(crate) fn of(budget_bytes: u64, start_bytes: u64) -> Shares {
        let part = budget_bytes.saturating_sub(start_bytes) / PARTS;
        Shares {
            connections: part * CONNECTION_PARTS,
            outboxes: part * OUTBOX_PARTS,
            send_queues: part * SEND_QUEUE_PARTS,
            partial_messages: part * PARTIAL_PARTS,
            longpoll_sessions: part * LONGPOLL_PARTS,
        }
    }

    /// Returns the number of idle connections that there is room for, if each takes `each_bytes` besides its slots in
    /// the process.
    fn idle_connections(&self, each_bytes: u64) -> u64 {
        self.connections / (each_bytes + PROCESS_BYTES_MIN)
    }
}

/// Returns the number of idle connections that a budget has room for, based on the minimum that one takes:
/// `start_bytes` is what the process takes without any, `each_bytes` what one takes besides its slots in the process,
/// such as the kernel's part.
#[must_use]
pub fn idle_connections(budget_bytes: u64, start_bytes: u64, each_bytes: u64) -> u64 {
    Shares::of(budget_bytes, start_bytes).idle_connections(each_bytes)
}

/// Returns the smallest budget that has room for the given number of idle connections, in bytes; see
/// [`idle_connections`].
#[must_use]
pub fn budget_for(connections: u64, start_bytes: u64, each_bytes: u64) -> u64 {
    let bytes = connections.saturating_mul(each_bytes + PROCESS_BYTES_MIN);
    start_bytes.saturating_add(bytes.div_ceil(CONNECTION_PARTS).saturating_mul(PARTS))
}

/// Decides, from one reading after another, how many connections are allowed.
#[derive(Debug)]
pub(crate) struct Pacer {
    start: Reading,
    shares: Shares,
    /// The memory that the kernel takes for one connection without buffers, in bytes.
    socket_bytes: u64,
    /// The most connections at any check: the process has allocated their slots and keeps them.
    open_most: u64,
}

impl Pacer {
    pub(crate) fn new(budget_bytes: u64, start: Reading, socket_bytes: u64) -> Result<Pacer, BudgetTooSmall> {
        let start_bytes = start.process_bytes + start.kernel_bytes;
        let shares = Shares::of(budget_bytes, start_bytes);
        let pacer = Pacer { start, shares, socket_bytes, open_most: 0 };
        if pacer.capacity() < CONNECTIONS_MIN {
            return Err(BudgetTooSmall { budget_bytes, start_bytes });
        }
        Ok(pacer)
    }

    /// Returns the number of idle connections that the budget has room for, based on the minimum that one takes.
    pub(crate) fn capacity(&self) -> u64 {
        self.shares.idle_connections(self.socket_bytes)
    }

    /// Returns how many connections are allowed until the next check. At most half of the remaining room is given away
    /// at a time: new connections may turn out to take more than the earlier ones.
    pub(crate) fn allowed(&mut self, now: Reading) -> u64 {
        self.open_most = self.open_most.max(now.open);
        let grown = |now: u64, start: u64| now.saturating_sub(start);
        let process = grown(now.process_bytes, self.start.process_bytes);
        let kernel = grown(now.kernel_bytes, self.start.kernel_bytes);
        let room = self.shares.connections.saturating_sub(process + kernel) / 2;
        let kernel_each = (kernel / now.open.max(SAMPLE_MIN)).max(self.socket_bytes);
        let process_each = (process / self.open_most.max(SAMPLE_MIN)).max(PROCESS_BYTES_MIN);
        // Up to the earlier maximum, new connections reuse the process memory of those that closed.
        let returning = (room / kernel_each).min(self.open_most - now.open);
        let left = room - returning * kernel_each;
        // Little is known about what new connections take until there are some.
        let unseen_max = (self.shares.connections / NEWCOMER_BYTES_MAX).max(self.open_most);
        now.open + returning + (left / (kernel_each + process_each)).min(unseen_max)
    }
}

/// The result of the last check, for all code that admits connections.
#[derive(Debug)]
pub(crate) struct Allowance {
    allowed: AtomicUsize,
    /// Number of connections of all shards.
    population: Arc<AtomicUsize>,
}

impl Allowance {
    /// Unlimited until it is [set](Allowance::set).
    pub(crate) fn new(population: Arc<AtomicUsize>) -> Allowance {
        Allowance { allowed: AtomicUsize::new(usize::MAX), population }
    }

    pub(crate) fn set(&self, allowed: u64) {
        self.allowed.store(usize::try_from(allowed).unwrap_or(usize::MAX), Relaxed);
    }

    /// Returns how many connections are allowed now; `None` if unlimited.
    pub(crate) fn allowed(&self) -> Option<u64> {
        let allowed = self.allowed.load(Relaxed);
        (allowed != usize::MAX).then_some(allowed as u64)
    }

    /// Returns the number of connections of all shards.
    pub(crate) fn population(&self) -> usize {
        self.population.load(Relaxed)
    }

    /// Returns whether a connection that is counted already is one too many.
    pub(crate) fn is_exceeded(&self) -> bool {
        self.population() > self.allowed.load(Relaxed)
    }

    /// Returns whether another connection would be one too many.
    pub(crate) fn is_used_up(&self) -> bool {
        self.population() >= self.allowed.load(Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOCKET_BYTES: u64 = 4_000;
    const START: Reading = Reading { process_bytes: 10 << 20, kernel_bytes: 1 << 20, open: 0 };

    fn pacer(budget_bytes: u64) -> Pacer {
        Pacer::new(budget_bytes, START, SOCKET_BYTES).expect("large enough")
    }

    /// A reading for the given number of connections that take `process_each` bytes each.
    fn reading(open: u64, process_each: u64) -> Reading {
        Reading {
            process_bytes: START.process_bytes + open * process_each,
            kernel_bytes: START.kernel_bytes + open * SOCKET_BYTES,
            open,
        }
    }

    /// Opens connections as fast as they are allowed; returns how many there are in the end.
    fn crowd(pacer: &mut Pacer, mut open: u64, process_each: u64) -> u64 {
        for _ in 0..100 {
            open = open.max(pacer.allowed(reading(open, process_each)));
        }
        open
    }

    #[test]
    fn a_crowd_fills_its_share_and_nothing_beyond() {
        for (budget, process_each) in
            [(64 << 20, 200), (64 << 20, 12_000), (16 << 30, 165), (16 << 30, 2_000)]
        {
            let mut pacer = pacer(budget);
            let open = crowd(&mut pacer, 0, process_each);
            let taken = open * (process_each + SOCKET_BYTES);
            let share = pacer.shares.connections;
            assert!(taken <= share, "{taken} of {share}");
            assert!(taken as f64 > share as f64 * 0.98, "{taken} of {share}");
        }
    }

    #[test]
    fn the_parts_are_not_more_than_the_whole() {
        let Shares { connections, outboxes, send_queues, partial_messages, longpoll_sessions } =
            Shares::of(1 << 30, 1 << 20);
        let sum = connections + outboxes + send_queues + partial_messages + longpoll_sessions + (1 << 20);
        assert!(sum < 1 << 30 && sum > (1 << 30) / 16 * 15 - PARTS, "{sum}");
    }

    #[test]
    fn room_can_be_told_before_there_is_a_server() {
        let start_bytes = START.process_bytes + START.kernel_bytes;
        for budget in [16 << 20, 64 << 20, 16 << 30] {
            assert_eq!(idle_connections(budget, start_bytes, SOCKET_BYTES), pacer(budget).capacity());
        }
        assert_eq!(idle_connections(start_bytes, start_bytes, SOCKET_BYTES), 0);
        for connections in [1, 1_000, 2_000_000] {
            let budget = budget_for(connections, start_bytes, SOCKET_BYTES);
            let room = |budget| idle_connections(budget, start_bytes, SOCKET_BYTES);
            assert!(room(budget) >= connections && room(budget - PARTS) <= connections, "{connections}");
        }
    }

    #[test]
    fn who_is_there_stays_when_the_memory_is_used_up() {
        let mut pacer = pacer(64 << 20);
        assert_eq!(pacer.allowed(Reading { process_bytes: 1 << 40, kernel_bytes: 1 << 40, open: 77 }), 77);
    }

    #[test]
    fn after_a_crowd_left_as_many_may_come_again() {
        let mut pacer = pacer(64 << 20);
        let full = crowd(&mut pacer, 0, 400);
        // The kernel has its memory back; the process keeps its own.
        let left = |open| Reading {
            process_bytes: START.process_bytes + full * 400,
            kernel_bytes: START.kernel_bytes + open * SOCKET_BYTES,
            open,
        };
        let mut open = 0;
        for _ in 0..100 {
            open = pacer.allowed(left(open));
        }
        assert!(open as f64 > full as f64 * 0.98 && open <= full + 1, "{open} of {full}");
    }

    #[test]
    fn a_budget_that_the_process_alone_uses_up_is_refused_with_a_better_one() {
        let error = Pacer::new(11 << 20, START, SOCKET_BYTES).expect_err("too small");
        let text = error.to_string();
        assert!(
            text.contains("the server uses 11 MiB without any connection; allow at least 12 MiB"),
            "{text}"
        );
        Pacer::new(12 << 20, START, SOCKET_BYTES).expect("as the message says");
    }
}
