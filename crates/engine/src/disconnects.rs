//! Connections whose peers are gone. Ending one takes as long as handling several messages, so a mass disconnect would
//! delay everybody else on the shard: a tick deals with a bounded number, and the others wait in a queue.

use std::collections::VecDeque;

use crate::config::{PARTINGS_HELD_PER_TICK_MAX, PARTINGS_PER_TICK_MAX};
use crate::connection::Flags;
use crate::counters::add;
use crate::driver::{ConnectionId, Driver};
use crate::shard::Shard;
use crate::sockets::Sockets;

/// The queue, and how many this tick has dealt with.
#[derive(Default)]
pub(crate) struct Disconnects {
    line: VecDeque<ConnectionId>,
    /// How many this tick has dealt with.
    dealt: usize,
    /// Whether the driver wants most of them to wait.
    held: bool,
}

impl Disconnects {
    pub(crate) fn begin_tick(&mut self) {
        self.dealt = 0;
    }

    /// Returns whether a connection whose peer has just gone may be dealt with at once, and counts it if so; else it
    /// must be queued.
    pub(crate) fn admit(&mut self) -> bool {
        let may = self.line.is_empty() && self.dealt < self.limit();
        self.dealt += usize::from(may);
        may
    }

    /// Returns the length of the queue.
    pub(crate) fn waiting(&self) -> usize {
        self.line.len()
    }

    /// Returns whether the next tick should deal with them and start at once.
    pub(crate) fn are_due(&self) -> bool {
        !self.held && !self.line.is_empty()
    }

    pub(crate) fn hold(&mut self, held: bool) {
        self.held = held;
    }

    /// Takes the first connection in the queue, if this tick may deal with one more.
    fn take(&mut self) -> Option<ConnectionId> {
        if self.dealt >= self.limit() {
            return None;
        }
        let first = self.line.pop_front()?;
        self.dealt += 1;
        if self.line.is_empty() {
            // Release the memory that a mass disconnect needed.
            self.line.shrink_to(PARTINGS_PER_TICK_MAX);
        }
        Some(first)
    }

    fn limit(&self) -> usize {
        if self.held { PARTINGS_HELD_PER_TICK_MAX } else { PARTINGS_PER_TICK_MAX }
    }
}

impl<P> Sockets<P> {
    /// Appends a connection whose peer is gone to the queue.
    pub(crate) fn part_later(&mut self, id: ConnectionId) {
        if let Some(connection) = self.slab.live_mut(id)
            && !connection.flags.any(Flags::READY | Flags::DOOMED)
        {
            connection.flags |= Flags::READY;
            self.partings.line.push_back(id);
            add(&self.books.counters.partings_delayed_total, 1);
        }
    }
}

impl<D: Driver> Shard<D> {
    /// Reads queued connections to their end, as many as this tick may.
    pub(crate) fn part(&mut self) {
        while let Some(id) = self.sockets.partings.take() {
            if let Some(connection) = self.sockets.slab.live_mut(id) {
                connection.flags.remove(Flags::READY);
                self.read(id);
                self.after_callback();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Lets the peers of `crowd` connections go at once. Returns how many each tick deals with until the queue is
    /// empty.
    fn dealt_by_tick(partings: &mut Disconnects, crowd: u32) -> Vec<usize> {
        let mut ticks = Vec::new();
        let mut gone = (0..crowd).map(|slot| ConnectionId { slot, generation: 0 });
        loop {
            partings.begin_tick();
            for id in gone.by_ref() {
                if !partings.admit() {
                    partings.line.push_back(id);
                }
            }
            while partings.take().is_some() {}
            ticks.push(partings.dealt);
            if partings.waiting() == 0 {
                return ticks;
            }
        }
    }

    #[test]
    fn a_tick_deals_with_as_many_as_it_may_and_the_next_with_more() {
        let mut partings = Disconnects::default();
        let most = PARTINGS_PER_TICK_MAX;
        assert_eq!(dealt_by_tick(&mut partings, 2 * most as u32 + 1), [most, most, 1]);
        assert_eq!(dealt_by_tick(&mut partings, most as u32), [most]);
        assert!(!partings.are_due());
    }

    #[test]
    fn whoever_goes_while_others_stand_in_line_comes_behind_them() {
        let mut partings = Disconnects::default();
        let id = |slot| ConnectionId { slot, generation: 0 };
        partings.line.extend([id(1), id(2)]);
        assert!(partings.are_due() && !partings.admit());
        partings.line.push_back(id(3));
        let order: Vec<_> = std::iter::from_fn(|| partings.take()).map(|id| id.slot).collect();
        assert_eq!(order, [1, 2, 3]);
        assert!(partings.admit(), "nobody is left");
    }

    #[test]
    fn while_the_driver_holds_them_a_tick_deals_with_few_and_none_is_due() {
        let mut partings = Disconnects::default();
        partings.hold(true);
        let few = PARTINGS_HELD_PER_TICK_MAX;
        assert_eq!(dealt_by_tick(&mut partings, 2 * few as u32), [few, few]);
        partings.line.push_back(ConnectionId { slot: 0, generation: 0 });
        assert!(!partings.are_due());
        partings.hold(false);
        assert!(partings.are_due());
    }

    #[test]
    fn the_line_of_a_crowd_gives_its_memory_back() {
        let mut partings = Disconnects::default();
        dealt_by_tick(&mut partings, 100_000);
        assert!(partings.line.capacity() <= 2 * PARTINGS_PER_TICK_MAX, "{}", partings.line.capacity());
    }
}
