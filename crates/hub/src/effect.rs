//! What the hub wants done. The driver carries the effects out in order.

use crate::bus::BusEffect;
use crate::channel::Task;
use crate::event::ShardMessage;
use crate::ids::{Micros, ShardIndex, Ticket};
use crate::tasks::TaskOwner;
use bytes::Bytes;
use std::ops::Range;

/// What may become of a message between shards when the receiver's mailbox is full.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Class {
    /// May be dropped, and is then counted.
    Ephemeral,
    /// Is never dropped and never blocks.
    Control,
}

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
        /// Whether it may be dropped.
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
    Bus(BusEffect),
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
    /// Forgets everything and keeps the memory.
    pub fn clear(&mut self) {
        self.list.clear();
        self.bytes.clear();
        self.frames.clear();
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
