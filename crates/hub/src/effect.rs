//! The outputs of a hub. The driver carries the effects out in order.

use crate::bus::BusEffect;
use crate::channel::Task;
use crate::class::Class;
use crate::event::ShardMessage;
use crate::ids::{Micros, ShardIndex, Ticket};
use crate::limits::{KEPT_BYTES_MAX, KEPT_EFFECTS_MAX};
use crate::tasks::TaskOwner;
use bytes::Bytes;
use std::ops::Range;

/// One action. Slots refer to connections that are open at the moment of the effect.
#[derive(Debug)]
pub enum Effect {
    /// Send the message at this range of [`Effects::bytes`], framed for its transport, to a connection.
    Send {
        /// The connection.
        slot: u32,
        /// Where its bytes are.
        range: Range<usize>,
    },
    /// Send the shared frames at this index of [`Effects::frames`] to each of several connections, all of which are in
    /// the same lane of slots ([`SECOND_LANE`](crate::SECOND_LANE)).
    Deliver {
        /// Where the connections are in [`Effects::slots`].
        slots: Range<usize>,
        /// An index into [`Effects::frames`].
        frame: u32,
    },
    /// Close a connection. The hub has removed it already.
    Close {
        /// The connection.
        slot: u32,
        /// The WebSocket close code.
        code: u16,
    },
    /// Post a message to another shard, or to this one for later.
    ToShard {
        /// The receiver.
        shard: ShardIndex,
        /// The message.
        message: ShardMessage,
        /// What happens if the receiver's mailbox is full.
        class: Class,
    },
    /// Run a task and return its answer as [`Event::Answer`](crate::Event::Answer).
    Spawn {
        /// The task's owner.
        owner: TaskOwner,
        /// The task.
        task: Task,
    },
    /// The frame with this ticket has been handled.
    Taken {
        /// The connection that sent it.
        slot: u32,
        /// Its ticket.
        ticket: Ticket,
    },
    /// A pass over a topic's members on this shard is complete.
    Walked {
        /// When each of its publications was received.
        received: Micros,
        /// The number of members that each was delivered to.
        members: u32,
    },
    /// A request to the bus between nodes.
    Bus(Box<BusEffect>),
}

/// Effects in order, with the bytes and frames that they refer to. The driver clears and reuses this value.
#[derive(Debug, Default)]
pub struct Effects {
    /// The effects.
    pub list: Vec<Effect>,
    /// The bytes of all [`Effect::Send`]s.
    pub bytes: Vec<u8>,
    /// The receivers of all [`Effect::Deliver`]s: a crowd's broadcast is a few effects with many receivers.
    pub slots: Vec<u32>,
    /// The shared frames of all [`Effect::Deliver`]s.
    pub frames: Vec<Bytes>,
}

impl Effects {
    /// Clears everything, but keeps the memory that ordinary events need.
    pub fn clear(&mut self) {
        self.list.clear();
        self.bytes.clear();
        self.slots.clear();
        self.frames.clear();
        self.list.shrink_to(KEPT_EFFECTS_MAX);
        self.bytes.shrink_to(KEPT_BYTES_MAX);
        self.slots.shrink_to(KEPT_EFFECTS_MAX);
        self.frames.shrink_to(KEPT_EFFECTS_MAX);
    }

    pub(crate) fn push(&mut self, effect: Effect) {
        self.list.push(effect);
    }

    /// Shares `frame` for later deliveries and returns its index.
    pub(crate) fn share(&mut self, frame: &Bytes) -> u32 {
        self.frames.push(frame.clone());
        (self.frames.len() - 1) as u32
    }

    /// Delivers the shared frames at index `frame` to these connections, of which there is at least one.
    pub(crate) fn deliver(&mut self, receivers: impl IntoIterator<Item = u32>, frame: u32) {
        let start = self.slots.len();
        self.slots.extend(receivers);
        let end = self.slots.len();
        match self.list.last_mut() {
            // The last effect's receivers are the last of all receivers.
            Some(Effect::Deliver { slots, frame: same }) if *same == frame => slots.end = end,
            _ => self.list.push(Effect::Deliver { slots: start..end, frame }),
        }
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
            let frame = effects.share(&Bytes::new());
            effects.deliver([slot], frame);
        }
        effects.clear();
        assert!(effects.bytes.capacity() <= KEPT_BYTES_MAX, "{}", effects.bytes.capacity());
        assert!(effects.list.capacity() <= KEPT_EFFECTS_MAX, "{}", effects.list.capacity());
        assert!(effects.slots.capacity() <= KEPT_EFFECTS_MAX, "{}", effects.slots.capacity());
        assert!(effects.frames.capacity() <= KEPT_EFFECTS_MAX, "{}", effects.frames.capacity());
    }

    #[test]
    fn those_in_a_row_who_get_the_same_are_one_effect() {
        let mut effects = Effects::default();
        let frames = [effects.share(&Bytes::new()), effects.share(&Bytes::new())];
        effects.deliver([5, 7], frames[0]);
        effects.deliver([3], frames[0]);
        effects.deliver([4], frames[1]);
        effects.push(Effect::Close { slot: 4, code: 1001 });
        effects.deliver([6], frames[1]);
        let told = effects.list.iter().map(|effect| match effect {
            Effect::Deliver { slots, frame } => (Some(*frame), effects.slots[slots.clone()].to_vec()),
            _ => (None, Vec::new()),
        });
        let [first, second] = frames.map(Some);
        let expected = [(first, vec![5, 7, 3]), (second, vec![4]), (None, vec![]), (second, vec![6])];
        assert_eq!(told.collect::<Vec<_>>(), expected);
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
