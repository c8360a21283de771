//! Schedules the search for silent connections: a slice of the slots at a time, so that every slot is checked at least
//! four times per shortest limit in use. There is no timer per connection.

use std::ops::Range;
use std::time::{Duration, Instant};

/// Slots per slice, unless the shortest limit requires larger ones.
const SLICE_SLOTS: u32 = 4096;
/// Checks of each slot per shortest limit.
const LOOKS_PER_LIMIT: u32 = 4;
/// The minimum time between two slices.
const STEP_MS_MIN: u32 = 1;
/// How often a pass asks every connection for its limit, so that a short limit no longer in use stops setting the pace.
const RECOUNT_INTERVAL: Duration = Duration::from_secs(30);

/// The state of the sweep over one shard's slots.
pub(crate) struct Sweep {
    /// A lower bound on the limits in use.
    shortest_ms: Option<u32>,
    /// The next slot of the current pass.
    cursor: u32,
    next_slice: Instant,
    next_recount: Instant,
    /// The shortest limit found in the current pass, if this pass asks every connection.
    recount: Option<Option<u32>>,
}

impl Sweep {
    pub(crate) fn new(now: Instant) -> Self {
        Self {
            shortest_ms: None,
            cursor: 0,
            next_slice: now,
            next_recount: now + RECOUNT_INTERVAL,
            recount: None,
        }
    }

    /// Notes that a connection with this limit exists.
    pub(crate) fn note(&mut self, limit: Duration, now: Instant) {
        let limit_ms = limit_ms(limit);
        if let Some(met) = &mut self.recount {
            *met = Some(met.map_or(limit_ms, |shortest| shortest.min(limit_ms)));
        }
        if self.shortest_ms.is_none_or(|shortest| limit_ms < shortest) {
            self.shortest_ms = Some(limit_ms);
            self.next_slice = now + Duration::from_millis(u64::from(pass_ms(limit_ms)));
        }
    }

    /// Returns when the next slice is due; `None` while no connection has a limit.
    pub(crate) fn next_slice(&self) -> Option<Instant> {
        self.shortest_ms.map(|_| self.next_slice)
    }

    /// Returns the slots to check now, if any are due.
    pub(crate) fn slice(&mut self, now: Instant, slots: u32) -> Option<Range<u32>> {
        let shortest_ms = self.shortest_ms?;
        if now < self.next_slice {
            return None;
        }
        if self.cursor == 0 && now >= self.next_recount {
            self.next_recount = now + RECOUNT_INTERVAL;
            self.recount = Some(None);
        }
        let steps = slots.div_ceil(SLICE_SLOTS).clamp(1, pass_ms(shortest_ms) / STEP_MS_MIN);
        self.next_slice = now + Duration::from_millis(u64::from(pass_ms(shortest_ms) / steps));
        let start = self.cursor;
        let end = start.saturating_add(slots.div_ceil(steps)).min(slots);
        self.cursor = end;
        Some(start..end)
    }

    /// Returns whether a connection that has been silent for `silence_ms` has to be asked for its limit.
    pub(crate) fn asks(&self, silence_ms: u32) -> bool {
        self.recount.is_some() || self.shortest_ms.is_some_and(|shortest| silence_ms >= shortest)
    }

    /// Ends the last slice, all slots of which have been checked.
    pub(crate) fn slice_done(&mut self, slots: u32) {
        if self.cursor < slots {
            return;
        }
        self.cursor = 0;
        if let Some(met) = self.recount.take() {
            self.shortest_ms = met;
        }
    }
}

/// Converts a limit to the sweep's clock, which counts milliseconds and wraps around after seven weeks; a limit longer
/// than half of that is reduced to it.
pub(crate) fn limit_ms(limit: Duration) -> u32 {
    limit.as_millis().min(u128::from(u32::MAX / 2)) as u32
}

/// Returns the time for one check of every slot.
fn pass_ms(shortest_ms: u32) -> u32 {
    (shortest_ms / LOOKS_PER_LIMIT).max(STEP_MS_MIN)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Runs the sweep on a virtual clock and returns the times at which slot 0 was checked, in milliseconds.
    fn looks_at_first_slot(limit: Duration, slots: u32, for_ms: u64) -> Vec<u64> {
        let start = Instant::now();
        let mut sweep = Sweep::new(start);
        sweep.note(limit, start);
        let mut looks = Vec::new();
        for elapsed in 0..for_ms {
            if let Some(slice) = sweep.slice(start + Duration::from_millis(elapsed), slots) {
                if slice.contains(&0) {
                    looks.push(elapsed);
                }
                // The limit is still in use, as a recount must find.
                sweep.note(limit, start + Duration::from_millis(elapsed));
                sweep.slice_done(slots);
            }
        }
        looks
    }

    proptest! {
        #[test]
        fn every_slot_is_looked_at_four_times_per_limit(limit_ms in 8u64..3000, slots in 1u32..3_000_000) {
            let looks = looks_at_first_slot(Duration::from_millis(limit_ms), slots, 5 * limit_ms);
            prop_assert!(looks.len() >= 4, "looks at {looks:?}");
            for pair in looks.windows(2) {
                prop_assert!(pair[1] - pair[0] <= limit_ms / 4 + 1, "looks at {looks:?}");
            }
        }
    }

    #[test]
    fn nothing_is_swept_while_nobody_has_a_limit() {
        let now = Instant::now();
        let mut sweep = Sweep::new(now);
        assert_eq!(sweep.next_slice(), None);
        assert_eq!(sweep.slice(now + Duration::from_secs(9), 10), None);
    }

    #[test]
    fn a_short_limit_no_longer_in_use_stops_to_set_the_pace() {
        let start = Instant::now();
        let mut sweep = Sweep::new(start);
        sweep.note(Duration::from_millis(200), start);
        let later = start + RECOUNT_INTERVAL;
        assert_eq!(sweep.slice(later, 3), Some(0..3));
        assert!(sweep.asks(0));
        sweep.note(Duration::from_secs(60), later);
        sweep.slice_done(3);
        assert!(!sweep.asks(200) && sweep.asks(60_000));
    }
}
