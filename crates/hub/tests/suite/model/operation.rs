//! The operations of a model test.

/// Maximum number of connections at a time.
pub const SLOTS: u8 = 6;
/// Number of topics.
pub const TOPICS: u8 = 3;
/// Operations per run. Fewer than the frames that a connection may have parked, so that none is closed for that.
const OPERATIONS_MAX: usize = 120;

/// One operation. Those on a slot without a connection do nothing.
#[derive(Clone, Copy, Debug)]
pub enum Operation {
    /// Opens a connection; the slot determines its dialect.
    Open {
        slot: u8,
    },
    /// Cuts a connection.
    Close {
        slot: u8,
    },
    /// Sends a join, which is decided at once or by a task.
    Join {
        slot: u8,
        topic: u8,
        later: bool,
    },
    Leave {
        slot: u8,
        topic: u8,
    },
    /// Sends a message that is answered.
    Echo {
        slot: u8,
        topic: u8,
    },
    /// Sends a message that the channel broadcasts on its topic, including or excluding the sender.
    Publish {
        slot: u8,
        topic: u8,
        from: bool,
    },
    /// Sends a message that the channel broadcasts on another topic.
    PublishTo {
        slot: u8,
        topic: u8,
        to: u8,
    },
    /// Publishes on a topic from outside any channel.
    PublishNow {
        topic: u8,
    },
    /// Finishes the oldest task.
    Answer,
    /// Lets the hub deliver about this many messages.
    Pump {
        budget: u8,
    },
}

/// Decodes operations from arbitrary bytes, two for each.
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
