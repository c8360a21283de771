//! What the hub wants done. The driver carries the effects out in order.

use crate::bus::BusEffect;
use crate::channel::Task;
use crate::class::Class;
use crate::event::ShardMessage;
use crate::ids::{Micros, ShardIndex, Ticket};
use crate::limits::{KEPT_BYTES_MAX, KEPT_EFFECTS_MAX};
use crate::tasks::TaskOwner;
use bytes::Bytes;
use std::ops::Range;

/// One thing to do. Slots name connections that are open at the moment of the effect.
#[derive(Debug)]
pub enum Effect {
    /// Give a connection the message at this range of [`Effects::bytes`], framed for its transport.
    Send {
        /// Whom.
        slot: u32,
        /// Where its bytes are.
        range: Range<usize>,
    },
    /// Give a connection the shared frames at this place of [`Effects::frames`].
    Deliver {
        /// Whom.
        slot: u32,
        /// An index into [`Effects::frames`].
        frame: u32,
    },
    /// Close a connection. The hub has forgotten it.
    Close {
        /// Whom.
        slot: u32,
        /// The WebSocket close code.
        code: u16,
    },
    /// Post a message to another shard, or to this one for later.
    ToShard {
        /// To which shard.
        shard: ShardIndex,
        /// What.
        message: ShardMessage,
        /// What may become of it on the way.
        class: Class,
    },
    /// Run something that takes time, and bring its answer back as [`Event::Answer`](crate::Event::Answer).
    Spawn {
        /// Whose it is.
        owner: TaskOwner,
        /// What to run.
        task: Task,
    },
    /// The frame that carried this ticket has been handled.
    Taken {
        /// From whom it came.
        slot: u32,
        /// Its ticket.
        ticket: Ticket,
    },
    /// A pass over a topic's members on this shard is complete.
    Walked {
        /// When each of its publications was received.
        received: Micros,
        /// How many members were given each.
        members: u32,
    },
    /// For the bus between nodes.
    Bus(Box<BusEffect>),
}

/// Effects in the order they were wanted, with the bytes they speak of. The driver clears and reuses it.
#[derive(Debug, Default)]
pub struct Effects {
    /// What to do.
    pub list: Vec<Effect>,
    /// The bytes of every [`Effect::Send`].
    pub bytes: Vec<u8>,
    /// The shared frames of every [`Effect::Deliver`].
    pub frames: Vec<Bytes>,
}

impl Effects {
    /// Forgets everything and keeps the memory that ordinary events need.
    pub fn clear(&mut self) {
        self.list.clear();
        self.bytes.clear();
        self.frames.clear();
        self.list.shrink_to(KEPT_EFFECTS_MAX);
        self.bytes.shrink_to(KEPT_BYTES_MAX);
        self.frames.shrink_to(KEPT_EFFECTS_MAX);
    }

    pub(crate) fn push(&mut self, effect: Effect) {
        self.list.push(effect);
    }

    /// Shares `frame` for deliveries to come and says where it is.
    pub(crate) fn share(&mut self, frame: &Bytes) -> u32 {
        self.frames.push(frame.clone());
        (self.frames.len() - 1) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_large_message_and_a_crowd_needed_is_given_back() {
        let mut effects = Effects::default();
        effects.bytes.resize(KEPT_BYTES_MAX * 2, 0);
        for slot in 0..KEPT_EFFECTS_MAX as u32 * 2 {
            effects.push(Effect::Close { slot, code: 1001 });
            effects.share(&Bytes::new());
        }
        effects.clear();
        assert!(effects.bytes.capacity() <= KEPT_BYTES_MAX, "{}", effects.bytes.capacity());
        assert!(effects.list.capacity() <= KEPT_EFFECTS_MAX, "{}", effects.list.capacity());
        assert!(effects.frames.capacity() <= KEPT_EFFECTS_MAX, "{}", effects.frames.capacity());
    }

    #[test]
    fn what_ordinary_events_need_is_kept() {
        let mut effects = Effects::default();
        effects.bytes.resize(1000, 0);
        effects.push(Effect::Close { slot: 0, code: 1001 });
        effects.clear();
        assert!(effects.bytes.capacity() >= 1000);
        assert!(effects.list.capacity() >= 1);
    }
}
