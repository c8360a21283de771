//! The truth about every order: which message has which offset.
//!
//! A bus's engine reports it as it orders. Without a bus the offsets are dense, and acknowledgements and deliveries
//! tell what is at them.

use crate::oracle::{Checked, violated};
use std::collections::BTreeMap;

/// One message; its payload carries the number.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct MessageId(pub(super) u64);

/// A message, as its publisher meant it.
#[derive(Clone, Debug)]
pub(super) struct Message {
    pub(super) topic: String,
    pub(super) publisher: usize,
    /// The name under which that client published.
    pub(super) name: Option<String>,
    /// Whether it is only for clients other than the publisher.
    pub(super) from: bool,
    pub(super) acknowledged: bool,
}

#[derive(Default)]
pub(super) struct Ledger {
    pub(super) messages: BTreeMap<MessageId, Message>,
    /// The message at each offset, by topic and epoch.
    orders: BTreeMap<(String, String), BTreeMap<u64, MessageId>>,
}

impl Ledger {
    pub(super) fn published(&mut self, id: MessageId, message: Message) {
        self.messages.insert(id, message);
    }

    /// Records that a message has this offset. No other message may ever have it.
    pub(super) fn stands(&mut self, topic: &str, epoch: &str, offset: u64, id: MessageId) -> Checked {
        let order = self.orders.entry((topic.into(), epoch.into())).or_default();
        match order.insert(offset, id) {
            Some(other) if other != id => {
                violated(format!("{id:?} and {other:?} both stand at {offset} of {epoch} on {topic}"))
            }
            Some(_) | None => Ok(()),
        }
    }

    pub(super) fn acknowledged(&mut self, topic: &str, epoch: &str, offset: u64, id: MessageId) -> Checked {
        if let Some(message) = self.messages.get_mut(&id) {
            message.acknowledged = true;
        }
        self.stands(topic, epoch, offset, id)
    }

    /// Returns the newest offset that anybody was told of.
    pub(super) fn newest(&self, topic: &str, epoch: &str) -> Option<u64> {
        let order = self.orders.get(&(topic.to_owned(), epoch.to_owned()))?;
        order.last_key_value().map(|(offset, _)| *offset)
    }

    /// Returns the messages above `from` and up to `to`.
    pub(super) fn between(
        &self,
        topic: &str,
        epoch: &str,
        from: u64,
        to: u64,
    ) -> impl Iterator<Item = (u64, MessageId)> + '_ {
        let order = self.orders.get(&(topic.to_owned(), epoch.to_owned()));
        let range = (from < to).then_some(from + 1..=to);
        let inside = order.zip(range).map(|(order, range)| order.range(range));
        inside.into_iter().flatten().map(|(offset, id)| (*offset, *id))
    }

    /// Returns whether a message of this client, meant only for others, may have an offset that nobody knows: nobody
    /// was there to receive it, and its answer was lost.
    pub(super) fn has_unheard(&self, topic: &str, publisher: usize) -> bool {
        let mut own = self.messages.values().filter(|message| message.publisher == publisher);
        own.any(|message| message.topic == topic && message.from && !message.acknowledged)
    }
}
