//! The queue of joins that wait for their turn. A shard may be limited to a number of joins per second: when a crowd
//! reconnects at once, its joins are queued, and messages of established clients do not wait behind them.
//!
//! It knows the rate, as a generic cell rate algorithm (ITU-T I.371), and the order. Joins of a connection that has
//! ended are skipped.

use crate::ids::{ConnectionKey, JoinInstance, Micros, TopicId};
use crate::limits::{JOIN_BURST_US, JOIN_CATCH_UP_US, JOIN_LINE_BYTES_MAX, JOIN_STEP_US, Limits};
use crate::outgoing::Outgoing;
use crate::planted::PlantedBug;
use crate::sizes::block_bytes;
use std::collections::VecDeque;

#[derive(Debug, Default)]
pub(crate) struct JoinQueue {
    /// The interval between two joins at the full rate; 0 for no limit.
    interval_us: u64,
    /// A join that would wait longer than this is refused.
    wait_us_max: u64,
    /// When a full burst is allowed again.
    full_at: Micros,
    /// When the queue is next looked at: one turn of the shard per waiting join would cost more than the joins.
    calls_at: Micros,
    line: VecDeque<QueuedJoin>,
    /// Total payload bytes in the queue.
    payload_bytes: usize,
}

/// A join whose channel has not been called yet.
#[derive(Debug)]
pub(crate) struct QueuedJoin {
    pub(crate) key: ConnectionKey,
    pub(crate) topic: TopicId,
    pub(crate) instance: JoinInstance,
    pub(crate) payload: Outgoing<'static>,
}

/// The queue has no room for another join.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct JoinQueueFull {
    /// When the joins that are queued now will have been handled, in milliseconds.
    pub(crate) retry_after_ms: u64,
}

impl JoinQueue {
    pub(crate) fn new(limits: &Limits) -> JoinQueue {
        JoinQueue {
            interval_us: limits.join_interval_us,
            wait_us_max: limits.join_wait_us_max,
            ..JoinQueue::default()
        }
    }

    /// Returns whether a join has to wait; if not, it is counted against the rate.
    pub(crate) fn must_wait(&mut self, now: Micros) -> bool {
        self.interval_us > 0 && (!self.line.is_empty() || !self.admits(now, 0))
    }

    /// Checks whether there is room for one more join with a payload of this size.
    pub(crate) fn has_room(&self, payload_bytes: usize) -> Result<(), JoinQueueFull> {
        let wait_us = self.interval_us.saturating_mul(self.line.len() as u64 + 1);
        // The first payload may be larger than the bound.
        let is_heavy = !self.line.is_empty() && self.payload_bytes + payload_bytes > JOIN_LINE_BYTES_MAX;
        if wait_us > self.wait_us_max || is_heavy {
            return Err(JoinQueueFull { retry_after_ms: wait_us.div_ceil(1000) });
        }
        Ok(())
    }

    pub(crate) fn push(&mut self, join: QueuedJoin) {
        self.payload_bytes += join.payload.len();
        self.line.push_back(join);
    }

    /// Returns the next join if its turn has come. Joins of ended connections are dropped and take no turn.
    pub(crate) fn next(&mut self, now: Micros, is_there: impl Fn(&QueuedJoin) -> bool) -> Option<QueuedJoin> {
        while let Some(first) = self.line.front() {
            let is_there = is_there(first);
            // Allow catching up: a shard that runs late would otherwise fall below its rate, and the queue grow beyond
            // its bound.
            if is_there && !self.admits(now, JOIN_CATCH_UP_US) {
                self.calls_at = now + JOIN_STEP_US;
                return None;
            }
            let join = self.line.pop_front()?;
            self.payload_bytes -= join.payload.len();
            if !is_there && PlantedBug::GoneTakeNextTurn.is_planted() {
                self.payload_bytes -= self.line.pop_front().map_or(0, |next| next.payload.len());
            }
            if self.line.is_empty() {
                // Release the memory of a burst.
                self.line = VecDeque::new();
            }
            if is_there {
                return Some(join);
            }
        }
        None
    }

    /// Returns when the next turn may come.
    pub(crate) fn deadline(&self) -> Option<Micros> {
        let allowed_at = Micros(self.full_at.0.saturating_sub(self.tolerance_us()));
        (!self.line.is_empty()).then(|| allowed_at.max(self.calls_at))
    }

    pub(crate) fn len(&self) -> usize {
        self.line.len()
    }

    pub(crate) fn bytes(&self) -> usize {
        block_bytes(self.line.capacity() * size_of::<QueuedJoin>()) + self.payload_bytes
    }

    /// Returns whether a join is allowed now, and counts it if so. Unused time before `now` counts up to `unused_us`.
    fn admits(&mut self, now: Micros, unused_us: u64) -> bool {
        let full_at = self.full_at.max(Micros(now.0.saturating_sub(unused_us)));
        let admits = full_at.0.saturating_sub(now.0) <= self.tolerance_us();
        if admits {
            self.full_at = full_at + self.interval_us;
        }
        admits
    }

    /// Returns how far ahead of schedule the last join of a burst may come.
    fn tolerance_us(&self) -> u64 {
        JOIN_BURST_US.saturating_sub(self.interval_us)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(interval_us: u64, join_wait_us_max: u64) -> JoinQueue {
        JoinQueue::new(&Limits { join_interval_us: interval_us, join_wait_us_max, ..Limits::default() })
    }

    fn join(number: u32) -> QueuedJoin {
        QueuedJoin {
            key: ConnectionKey { slot: number, generation: 1 },
            topic: TopicId(0),
            instance: JoinInstance(number),
            payload: Outgoing::empty(),
        }
    }

    /// Returns the joins that are called at a time, given that those in `gone` have ended.
    fn called(line: &mut JoinQueue, now: u64, gone: &[u32]) -> Vec<u32> {
        let is_there = |join: &QueuedJoin| !gone.contains(&join.instance.0);
        std::iter::from_fn(|| line.next(Micros(now), is_there)).map(|join| join.instance.0).collect()
    }

    #[test]
    fn without_a_pace_nobody_waits() {
        let mut line = line(0, 0);
        assert!((0..1_000_000).all(|_| !line.must_wait(Micros(0))));
        assert_eq!(line.deadline(), None);
    }

    #[test]
    fn a_burst_comes_at_once_and_the_others_in_their_order_at_the_pace() {
        let mut line = line(2_000, 1_000_000);
        let at_once = (0..10).take_while(|_| !line.must_wait(Micros(0))).count();
        assert_eq!(at_once, 5, "ten milliseconds' worth");
        (0..9).for_each(|number| line.push(join(number)));
        assert!(called(&mut line, 0, &[]).is_empty());
        assert_eq!(line.deadline(), Some(Micros(2_000)));
        assert_eq!(called(&mut line, 2_000, &[]), [0]);
        assert!(line.must_wait(Micros(4_000)), "nobody comes before those in line");
        assert_eq!(called(&mut line, 6_000, &[1]), [2, 3], "who is gone takes nobody's turn");
        assert_eq!(called(&mut line, 1_000_000, &[]), [4, 5, 6, 7, 8]);
        assert_eq!((line.len(), line.payload_bytes, line.deadline()), (0, 0, None));
    }

    #[test]
    fn a_shard_that_is_late_makes_up_for_a_tenth_of_a_second_and_for_nothing_when_nobody_waited() {
        let mut line = line(2_000, 10_000_000);
        while !line.must_wait(Micros(0)) {}
        (0..200).for_each(|number| line.push(join(number)));
        assert_eq!(called(&mut line, 50_000, &[]).len(), 25, "as many as would have come meanwhile");
        assert_eq!(called(&mut line, 1_050_000, &[]).len(), 50 + 5);
        (0..1_000).for_each(|at| drop(called(&mut line, 2_000_000 + at * 1_000, &[])));
        assert_eq!(line.len(), 0);
        assert_eq!((0..10).take_while(|_| !line.must_wait(Micros(9_000_000))).count(), 5, "a burst");
    }

    #[test]
    fn a_pace_slower_than_a_burst_lets_one_in_at_a_time() {
        let mut line = line(1_000_000, 5_000_000);
        assert!(!line.must_wait(Micros(7)) && line.must_wait(Micros(8)));
        line.push(join(1));
        assert!(called(&mut line, 1_000_006, &[]).is_empty());
        assert_eq!(called(&mut line, 1_000_007, &[]), [1]);
    }

    #[test]
    fn who_would_wait_too_long_is_told_when_to_come_back() {
        let mut line = line(1_000, 3_000);
        for number in 0..3 {
            assert_eq!(line.has_room(2), Ok(()));
            line.push(join(number));
        }
        assert_eq!(line.has_room(2), Err(JoinQueueFull { retry_after_ms: 4 }));
    }

    #[test]
    fn what_is_kept_of_those_in_line_is_bounded() {
        let mut line = line(1, u64::MAX);
        assert_eq!(line.has_room(2 * JOIN_LINE_BYTES_MAX), Ok(()), "one alone may be larger");
        line.push(join(1));
        assert!(line.has_room(JOIN_LINE_BYTES_MAX).is_err());
    }
}
