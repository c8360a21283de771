//! Delivery classes of messages between shards.

/// What may happen to a message between shards when the receiver's mailbox is full.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Class {
    /// May be dropped; drops are counted.
    Ephemeral,
    /// May be refused; it is then returned as [`Event::Refused`](crate::Event::Refused).
    Durable,
    /// Is never dropped, and never blocks.
    Control,
}
