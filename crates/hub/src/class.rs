//! What a message between shards may suffer.

/// What may become of a message between shards when the receiver's mailbox is full.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Class {
    /// May be dropped, and is then counted.
    Ephemeral,
    /// May be refused, and is then given back as [`Event::Refused`](crate::Event::Refused).
    Durable,
    /// Is never dropped and never blocks.
    Control,
}
