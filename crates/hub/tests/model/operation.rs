//! What can be done to a hub.

/// Connections at a time.
pub const SLOTS: u8 = 6;
/// Topics.
pub const TOPICS: u8 = 3;
/// Operations of one run. Fewer than a connection may have waiting, so that none is closed for that.
const OPERATIONS_MAX: usize = 120;

/// One operation. Those on a slot without a connection do nothing.
#[derive(Clone, Copy, Debug)]
pub enum Operation {
    /// Opens a connection; how it is written to follows from the slot.
    Open {
        slot: u8,
    },
    /// Cuts one.
    Close {
        slot: u8,
    },
    /// Asks for a join, which is decided at once or by a task.
    Join {
        slot: u8,
        topic: u8,
        later: bool,
    },
    Leave {
        slot: u8,
        topic: u8,
    },
    /// A message that is answered.
    Echo {
        slot: u8,
        topic: u8,
    },
    /// A message whose channel tells everyone on its topic, itself included or not.
    Publish {
        slot: u8,
        topic: u8,
        from: bool,
    },
    /// A message whose channel tells everyone on another topic.
    PublishTo {
        slot: u8,
        topic: u8,
        to: u8,
    },
    /// Code outside any channel tells everyone on a topic.
    PublishNow {
        topic: u8,
    },
    /// The oldest task finishes.
    Answer,
    /// The hub delivers about so many messages.
    Pump {
        budget: u8,
    },
}

/// Reads operations from any bytes, two for each.
pub fn operations(bytes: &[u8]) -> Vec<Operation> {
    let pairs = bytes.chunks_exact(2).take(OPERATIONS_MAX);
    pairs.map(|pair| operation(pair[0], pair[1])).collect()
}

fn operation(kind: u8, choice: u8) -> Operation {
    let (slot, topic) = (choice % SLOTS, choice / SLOTS % TOPICS);
    let rest = choice / SLOTS / TOPICS;
    match kind % 16 {
        0 | 1 => Operation::Open { slot },
        2 => Operation::Close { slot },
        3..=5 => Operation::Join { slot, topic, later: rest.is_multiple_of(4) },
        6 => Operation::Leave { slot, topic },
        7 => Operation::Echo { slot, topic },
        8 | 9 => Operation::Publish { slot, topic, from: rest.is_multiple_of(2) },
        10 => Operation::PublishTo { slot, topic, to: rest % TOPICS },
        11 => Operation::PublishNow { topic },
        12 => Operation::Answer,
        _ => Operation::Pump { budget: choice % 8 + 1 },
    }
}
