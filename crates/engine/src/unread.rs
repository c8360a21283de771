//! Bounded send queues: finds the connections whose peers do not read, and cuts those that keep too much in the kernel.

use std::sync::LazyLock;

use crate::connection::Flags;
use crate::counters::{add, set};
use crate::driver::{ConnectionId, Driver, EndCause};
use crate::machine;
use crate::send_budget::Pass;
use crate::shard::Shard;
use crate::sys;

/// What the kernel counts for each processor separately before it adds it to what it reports for all sockets
/// (SK_MEMORY_PCPU_RESERVE, include/net/sock.h).
const UNTOLD_BYTES_PER_PROCESSOR: u64 = 1 << 20;
static UNTOLD_BYTES: LazyLock<u64> = LazyLock::new(|| {
    let processors = machine::processors_possible().map_or(u64::MAX, |processors| processors as u64);
    processors.saturating_mul(UNTOLD_BYTES_PER_PROCESSOR)
});

impl<D: Driver> Shard<D> {
    /// Asks the kernel about a slice of the connections, if it may keep too much for all of them.
    pub(crate) fn look_for_unread(&mut self) {
        let now = self.sockets.now;
        if self.sockets.books.send_room.begins_pass(now)
            && let Ok(usage) = machine::socket_usage()
        {
            // One file may answer for all connections, if this server holds a large share of the machine's sockets.
            self.sockets.books.send_room.cap(usage.tcp_buffer_bytes.saturating_add(*UNTOLD_BYTES));
        }
        let slots = self.sockets.slab.slots();
        if let Some((slice, pass)) = self.sockets.books.send_room.slice(now, slots) {
            for slot in slice {
                if let Some(id) = self.sockets.slab.id_of(slot) {
                    self.ask_what_is_unread(id, pass);
                }
            }
            self.sockets.books.send_room.end_slice(now, slots);
            self.after_callback();
        }
        let counters = &self.sockets.books.counters;
        set(&counters.send_room_bytes, self.sockets.books.send_room.bytes() as usize);
    }

    fn ask_what_is_unread(&mut self, id: ConnectionId, pass: Pass) {
        let Some(connection) = self.sockets.slab.live_mut(id) else { return };
        if connection.flags.any(Flags::DOOMED | Flags::CONNECTING) {
            return;
        }
        let unread = sys::send_queue_bytes(&connection.socket);
        if unread > 0 {
            let is_cut = pass == Pass::Cuts && connection.flags.any(Flags::UNREAD);
            if pass != Pass::Looks {
                connection.flags |= Flags::UNREAD;
            }
            if is_cut {
                // What it does not read would also hold up a last message.
                add(&self.sockets.books.counters.unread_cut_total, 1);
                return self.sockets.doom(id, EndCause::Overflow);
            }
        } else {
            connection.flags.remove(Flags::UNREAD);
        }
        self.sockets.books.send_room.find(unread);
        // Nothing else tells connections whose writes were held back that there is room.
        self.sockets.writable(id);
    }
}
