//! Connections whose time is up: silent ones, and closing ones whose peers take too long.

use crate::config::LINGERING_CUT_PER_TICK_MAX;
use crate::connection::Flags;
use crate::counters::add;
use crate::driver::{ConnectionId, Driver, EndCause};
use crate::io::Io;
use crate::shard::Shard;
use crate::sweep::limit_ms;

impl<D: Driver> Shard<D> {
    pub(crate) fn note_idle_limit(&mut self, id: ConnectionId) {
        if let Some(connection) = self.sockets.slab.live(id)
            && let Some(limit) = self.driver.idle_limit(&connection.peer)
        {
            self.sweep.note(limit, self.sockets.now);
        }
    }

    pub(crate) fn sweep_silent(&mut self) {
        let slots = self.sockets.slab.slots();
        let Some(slice) = self.sweep.slice(self.sockets.now, slots) else { return };
        for slot in slice {
            let silence_ms = self.sockets.silence_ms(slot);
            if self.sweep.asks(silence_ms)
                && let Some(id) = self.sockets.slab.id_of(slot)
            {
                self.expire_if_silent(id, silence_ms);
            }
        }
        self.sweep.slice_done(slots);
    }

    fn expire_if_silent(&mut self, id: ConnectionId, silence_ms: u32) {
        let Some(connection) = self.sockets.slab.live(id) else { return };
        if connection.flags.any(Flags::CLOSING | Flags::DOOMED) {
            return;
        }
        let Some(limit) = self.driver.idle_limit(&connection.peer) else { return };
        self.sweep.note(limit, self.sockets.now);
        if silence_ms > limit_ms(limit) {
            add(&self.sockets.books.counters.expired_total, 1);
            self.driver.expired(&mut Io::new(&mut self.sockets), id);
            self.after_callback();
        }
    }

    /// Cuts a bounded number of connections past their linger time; if more are left, the next tick starts at once.
    pub(crate) fn cut_lingering(&mut self) {
        let mut cut = 0;
        while cut < LINGERING_CUT_PER_TICK_MAX
            && let Some((deadline, id)) = self.sockets.lingering.front().copied()
            && deadline <= self.sockets.now
        {
            self.sockets.lingering.pop_front();
            // Most have closed in time.
            if self.sockets.slab.live(id).is_some() {
                self.sockets.doom(id, EndCause::Lingered);
                cut += 1;
            }
        }
    }
}
