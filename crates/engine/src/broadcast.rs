//! The write path of a broadcast: one message for many connections, nearly all of which take all of it at once. What is
//! the same for all of them is looked at once, and their writes are counted together.

use bytes::Bytes;
use rustix::io::Errno;

use crate::books::Books;
use crate::connection::{Flags, UNTOUCHED};
use crate::counters::add;
use crate::driver::ConnectionId;
use crate::sockets::Sockets;

/// Where a broadcast's loop ended: at its last slot, at a connection that does not just take the message or is gone, or
/// where the kernel may not be given more without looking.
struct Stop {
    /// The number of slots before that connection's.
    served: usize,
    /// What the kernel made of the message, if it was offered.
    attempt: Option<Result<usize, Errno>>,
}

impl<P> Sockets<P> {
    /// Delivers `bytes` to each of the connections that use these slots now.
    pub(crate) fn deliver_each(&mut self, mut slots: &[u32], bytes: &Bytes) {
        while !slots.is_empty() {
            let Stop { served, attempt } = self.write_to_first(slots, bytes);
            let Some((slot, rest)) = slots[served..].split_first() else { return };
            self.deliver_at(*slot, bytes, attempt);
            slots = rest;
        }
    }

    /// Writes `bytes` to the first of these connections, as long as each takes all of it.
    // In a function of its own, the loop has registers for nearly all that it needs.
    #[inline(never)]
    fn write_to_first(&mut self, slots: &[u32], bytes: &[u8]) -> Stop {
        let room = usize::try_from(self.books.send_room.writes_left(bytes.len())).unwrap_or(usize::MAX);
        let first = &slots[..slots.len().min(room)];
        let mut served = 0;
        let mut attempt = None;
        while let Some(slot) = first.get(served)
            && let Some(connection) = self.slab.at_mut(*slot)
            && connection.staged == UNTOUCHED
            && !connection.flags.any(Flags::INDIRECT)
        {
            let outcome = Books::send(&connection.socket, bytes);
            if outcome != Ok(bytes.len()) {
                attempt = Some(outcome);
                break;
            }
            served += 1;
        }
        self.books.count_whole_writes(served, bytes.len());
        Stop { served, attempt }
    }

    #[cold]
    fn deliver_at(&mut self, slot: u32, bytes: &Bytes, attempt: Option<Result<usize, Errno>>) {
        let Some(connection) = self.slab.at_mut(slot) else { return };
        let id = ConnectionId { slot, generation: connection.generation };
        match attempt {
            Some(outcome) => {
                let outcome = self.books.count_write_of(outcome, &connection.socket, bytes);
                self.books.settle_delivery(id, connection, bytes, outcome);
            }
            None => drop(self.books.deliver(&mut self.staging, id, connection, bytes)),
        }
    }
}

impl Books {
    /// Counts this many writes of `length` bytes each, all of which the kernel accepted.
    fn count_whole_writes(&mut self, writes: usize, length: usize) {
        add(&self.counters.writes_total, writes as u64);
        add(&self.counters.bytes_out, (writes * length) as u64);
        self.send_room.hand_over_each(writes as u64, length);
    }
}
