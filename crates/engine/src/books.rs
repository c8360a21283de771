//! A shard's bookkeeping: its counters, and what was decided during a driver call to be settled after it.

use std::sync::Arc;
use std::time::Instant;

use crate::config::EngineLimits;
use crate::connection::{Connection, Extra, Flags};
use crate::counters::{ShardCounters, add, subtract};
use crate::driver::{ConnectionId, EndCause};
use crate::held::Held;
use crate::send_budget::{SHORT_BYTES_MAX, SendBudget, SendPressure};
use crate::sys;

/// Counters, and decisions that wait to be settled.
pub(crate) struct Books {
    pub(crate) counters: Arc<ShardCounters>,
    pub(crate) fates: Vec<Fate>,
    pub(crate) overflowing: Vec<ConnectionId>,
    /// Memory held by all outboxes.
    pub(crate) held: Held,
    /// What the kernel holds in its send queues.
    pub(crate) send_room: SendBudget,
    outbox_bytes_max: usize,
    outboxes_bytes_max: usize,
}

/// The decided end of a connection.
pub(crate) struct Fate {
    pub(crate) id: ConnectionId,
    pub(crate) cause: EndCause,
    /// For a connection that is handed off: what was read from it and not consumed.
    pub(crate) unread: Vec<u8>,
    /// The error behind [`EndCause::Tls`].
    pub(crate) tls_error: Option<Box<rustls::Error>>,
}

impl Books {
    pub(crate) fn new(counters: Arc<ShardCounters>, limits: &EngineLimits, now: Instant) -> Self {
        let EngineLimits { outbox_bytes_max, outboxes_bytes_max, send_queues_bytes_max, .. } = *limits;
        Self {
            counters,
            fates: Vec::new(),
            overflowing: Vec::new(),
            held: Held::default(),
            send_room: SendBudget::new(send_queues_bytes_max, now),
            outbox_bytes_max,
            outboxes_bytes_max,
        }
    }

    pub(crate) fn doom<P>(&mut self, id: ConnectionId, connection: &mut Connection<P>, cause: EndCause) {
        self.decide(connection, Fate { id, cause, unread: Vec::new(), tls_error: None });
    }

    /// Decides how a connection ends, unless that was decided before.
    pub(crate) fn decide<P>(&mut self, connection: &mut Connection<P>, fate: Fate) {
        if !connection.flags.any(Flags::DOOMED) {
            connection.flags |= Flags::DOOMED;
            self.fates.push(fate);
        }
    }

    /// Adds the connection to the overflowing ones if its outbox has just gone over the limit.
    pub(crate) fn check_outbox<P>(&mut self, id: ConnectionId, connection: &mut Connection<P>) {
        let Some(extra) = connection.extra.as_ref() else { return };
        let left = self.outboxes_bytes_max.saturating_sub(self.held.bytes());
        let limit = self.outbox_bytes_max.min(left / 2);
        if extra.outbox.bytes() > limit && !connection.flags.any(Flags::MUTE) {
            connection.flags |= Flags::OVERFLOWED;
            add(&self.counters.outbox_overflows_total, 1);
            self.overflowing.push(id);
        }
    }

    /// Returns whether the kernel may be given `length` more bytes for this peer. If not, requests a pass over the
    /// connections.
    pub(crate) fn may_write<P>(
        &mut self,
        connection: &mut Connection<P>,
        length: impl FnOnce(&Connection<P>) -> usize,
    ) -> bool {
        let fits = match self.send_room.standing() {
            SendPressure::Free => return true,
            SendPressure::Tight => true,
            SendPressure::Narrow => length(connection) <= SHORT_BYTES_MAX,
            SendPressure::Full => false,
        };
        let may = fits && sys::send_queue_bytes(&connection.socket) == 0;
        if may {
            connection.flags.remove(Flags::UNREAD);
        } else {
            self.send_room.hold_back();
        }
        may
    }

    pub(crate) fn extra_mut<'a, P>(&self, connection: &'a mut Connection<P>) -> &'a mut Extra {
        if connection.extra.is_none() {
            add(&self.counters.extra_bytes, size_of::<Extra>() as u64);
        }
        connection.extra_mut()
    }

    /// Frees the box for rarely needed state once it is empty.
    pub(crate) fn release_extra<P>(&self, connection: &mut Connection<P>) {
        if connection.extra.as_ref().is_some_and(|extra| extra.is_vacant()) {
            connection.extra = None;
            subtract(&self.counters.extra_bytes, size_of::<Extra>() as u64);
        }
    }
}
