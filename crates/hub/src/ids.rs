//! Ids of the things that a hub manages. Each is its own type, so that one cannot be passed for another.

use std::ops::{Add, Sub};

/// A shard of this node, from 0.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct ShardIndex(pub u16);

/// A mount of the gateway: which routes and limits apply to a connection.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct MountIndex(pub u16);

/// A connection of one shard. Slots are reused; the generation distinguishes successive connections of a slot.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct ConnectionKey {
    /// The index in the driver's and the hub's slab.
    pub slot: u32,
    /// Which of the slot's successive connections it is.
    pub generation: u32,
}

/// Slots from here on are a separate range, for a driver with two kinds of connections.
pub const SECOND_LANE: u32 = 1 << 31;

/// Numbers the publications of one topic on one shard.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub(crate) struct Sequence(pub(crate) u64);

/// One join of one connection to one topic, from `phx_join` to its end. Unique within its shard.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct JoinInstance(pub u32);

/// Distinguishes a shard's requests of interest in one topic, so that a late answer does not confirm a newer request.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct InterestEpoch(pub(crate) u32);

/// The driver's id of a frame whose handling it waits for (a long-poll POST). `NONE` requests no notice.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Ticket(pub u32);

impl Ticket {
    /// Nobody waits for this frame.
    pub const NONE: Ticket = Ticket(0);
}

/// A point in time, in microseconds since the driver's start.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Micros(pub u64);

impl Add<u64> for Micros {
    type Output = Micros;
    fn add(self, span_us: u64) -> Micros {
        Micros(self.0.saturating_add(span_us))
    }
}

impl Sub for Micros {
    type Output = u64;
    fn sub(self, earlier: Micros) -> u64 {
        self.0.saturating_sub(earlier.0)
    }
}

/// A place in the shard's table of topics.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct TopicId(pub(crate) u32);
