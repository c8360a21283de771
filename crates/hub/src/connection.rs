//! The shard's connections, stored by the slot that the driver chose, in chunks that never move.

use crate::frames::Dialect;
use crate::ids::{ConnectionKey, JoinInstance, MountIndex, SECOND_LANE, Ticket, TopicId};
use crate::join::{Join, NOT_A_MEMBER};
use crate::short_text::ShortText;
use crate::sizes::block_bytes;
use proto::phoenix::FrameKind;
use std::any::Any;
use std::collections::VecDeque;
use std::sync::Arc;

/// Kept small: an idle client takes one of these, one place among a topic's members, and the driver's own slot.
pub(crate) struct Connection {
    pub(crate) generation: u32,
    pub(crate) mount: MountIndex,
    dialect: u8,
    first: Option<Join>,
    extra: Option<Box<Extra>>,
}

/// State that an ordinary client never needs.
#[derive(Default)]
pub(crate) struct Extra {
    pub(crate) identity: Option<Identity>,
    pub(crate) assigns: Option<Arc<dyn Any + Send + Sync>>,
    second: Option<Join>,
    rare: Option<Box<Rare>>,
    /// The bytes that the sum over the shard's connections includes for this one.
    accounted: usize,
}

/// State that few of the connections with an [`Extra`] have for long.
#[derive(Default)]
struct Rare {
    /// Joins beyond the second.
    more: Vec<Join>,
    parked: ParkedFrames,
}

/// Frames that wait for a join's decision or a held channel, oldest first.
#[derive(Default)]
pub(crate) struct ParkedFrames {
    pub(crate) frames: VecDeque<Parked>,
    /// Total size of their payloads.
    pub(crate) bytes: usize,
}

/// A socket id. Sockets with the same id form a linked list through their slots, newest first.
pub(crate) struct Identity {
    pub(crate) id: ShortText,
    pub(crate) previous: Neighbour,
    pub(crate) next: Neighbour,
}

/// The slot before or after in the list, if there is one. Four bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Neighbour(u32);

impl Neighbour {
    /// No slot. The driver's second lane ends before this number.
    pub(crate) const NONE: Neighbour = Neighbour(u32::MAX);

    pub(crate) fn slot(self) -> Option<u32> {
        Some(self.0).filter(|_| self != Neighbour::NONE)
    }
}

impl From<u32> for Neighbour {
    fn from(slot: u32) -> Neighbour {
        Neighbour(slot)
    }
}

pub(crate) struct Parked {
    pub(crate) kind: FrameKind,
    pub(crate) bytes: Box<[u8]>,
    pub(crate) ticket: Ticket,
}

impl Extra {
    /// Returns the memory it takes. The assigns belong to the application; only their pointer is counted.
    fn bytes(&self) -> usize {
        let identity = self.identity.as_ref().map_or(0, |identity| identity.id.block_bytes());
        block_bytes(size_of::<Extra>()) + identity + self.rare.as_deref().map_or(0, Rare::bytes)
    }

    /// Returns whether any frames are parked.
    pub(crate) fn has_parked(&self) -> bool {
        self.rare.as_deref().is_some_and(|rare| !rare.parked.frames.is_empty())
    }

    /// Returns the queue of parked frames.
    pub(crate) fn parked(&mut self) -> &mut ParkedFrames {
        &mut self.rare.get_or_insert_default().parked
    }

    /// Takes the parked frames.
    pub(crate) fn take_parked(&mut self) -> VecDeque<Parked> {
        let Some(rare) = &mut self.rare else { return VecDeque::new() };
        let parked = std::mem::take(&mut rare.parked);
        self.settle();
        parked.frames
    }

    fn joins(&self) -> impl Iterator<Item = &Join> {
        self.second.iter().chain(self.rare.iter().flat_map(|rare| rare.more.iter()))
    }

    fn joins_mut(&mut self) -> impl Iterator<Item = &mut Join> {
        self.second.iter_mut().chain(self.rare.iter_mut().flat_map(|rare| rare.more.iter_mut()))
    }

    fn add_join(&mut self, join: Join) {
        if self.second.is_none() {
            self.second = Some(join);
        } else {
            self.rare.get_or_insert_default().more.push(join);
        }
    }

    fn remove_join(&mut self, topic: TopicId) -> Option<Join> {
        if self.second.as_ref().is_some_and(|join| join.topic == topic) {
            return self.second.take();
        }
        let more = &mut self.rare.as_mut()?.more;
        let at = more.iter().position(|join| join.topic == topic)?;
        let join = more.swap_remove(at);
        self.settle();
        Some(join)
    }

    /// Releases what is empty.
    fn settle(&mut self) {
        self.rare.take_if(|rare| rare.more.is_empty() && rare.parked.frames.is_empty());
    }
}

impl Rare {
    fn bytes(&self) -> usize {
        let parked = block_bytes(self.parked.frames.capacity() * size_of::<Parked>()) + self.parked.bytes;
        block_bytes(size_of::<Rare>()) + block_bytes(self.more.capacity() * size_of::<Join>()) + parked
    }
}

impl Connection {
    pub(crate) fn new(generation: u32, mount: MountIndex, dialect: Dialect) -> Connection {
        Connection { generation, mount, dialect: dialect.index() as u8, first: None, extra: None }
    }

    pub(crate) fn dialect(&self) -> Dialect {
        Dialect::from_index(usize::from(self.dialect))
    }

    pub(crate) fn extra(&self) -> Option<&Extra> {
        self.extra.as_deref()
    }

    pub(crate) fn extra_mut(&mut self) -> &mut Extra {
        self.extra.get_or_insert_default()
    }

    pub(crate) fn joins(&self) -> impl Iterator<Item = &Join> {
        self.first.iter().chain(self.extra.iter().flat_map(|extra| extra.joins()))
    }

    fn joins_mut(&mut self) -> impl Iterator<Item = &mut Join> {
        self.first.iter_mut().chain(self.extra.iter_mut().flat_map(|extra| extra.joins_mut()))
    }

    pub(crate) fn join(&self, topic: TopicId) -> Option<&Join> {
        self.joins().find(|join| join.topic == topic)
    }

    pub(crate) fn join_mut(&mut self, topic: TopicId) -> Option<&mut Join> {
        self.joins_mut().find(|join| join.topic == topic)
    }

    pub(crate) fn add_join(&mut self, join: Join) {
        if self.first.is_none() {
            self.first = Some(join);
        } else {
            self.extra_mut().add_join(join);
        }
    }

    pub(crate) fn remove_join(&mut self, topic: TopicId) -> Option<Join> {
        if self.first.as_ref().is_some_and(|join| join.topic == topic) {
            return self.first.take();
        }
        self.extra.as_mut()?.remove_join(topic)
    }
}

const CHUNK: usize = 1024;

/// Two ranges of slots, for drivers with two kinds of connections: below and from [`SECOND_LANE`] on.
#[derive(Default)]
pub(crate) struct Connections {
    lanes: [Vec<Box<[Option<Connection>]>>; 2],
    open: usize,
    extra_bytes: usize,
}

fn place(slot: u32) -> (usize, usize, usize) {
    let (lane, slot) = ((slot / SECOND_LANE) as usize, (slot % SECOND_LANE) as usize);
    (lane, slot / CHUNK, slot % CHUNK)
}

impl Connections {
    pub(crate) fn open(&self) -> usize {
        self.open
    }

    /// Returns the memory of the slots, occupied or not.
    pub(crate) fn bytes(&self) -> usize {
        self.lanes.iter().map(Vec::len).sum::<usize>() * CHUNK * size_of::<Option<Connection>>()
    }

    /// Returns the memory of what only some connections have.
    pub(crate) fn extra_bytes(&self) -> usize {
        self.extra_bytes
    }

    /// Recounts a connection's extra state after a change to it.
    pub(crate) fn recount(&mut self, slot: u32) {
        let Some(extra) = self.get_mut(slot).and_then(|connection| connection.extra.as_deref_mut()) else {
            return;
        };
        let after = extra.bytes();
        let before = std::mem::replace(&mut extra.accounted, after);
        self.extra_bytes = self.extra_bytes + after - before;
    }

    pub(crate) fn insert(&mut self, slot: u32, connection: Connection) {
        let (lane, chunk, place) = place(slot);
        let chunks = &mut self.lanes[lane];
        while chunks.len() <= chunk {
            chunks.push(std::iter::repeat_with(|| None).take(CHUNK).collect());
        }
        let before = chunks[chunk][place].replace(connection);
        assert!(before.is_none(), "the driver opened slot {slot} twice");
        self.open += 1;
        self.recount(slot);
    }

    pub(crate) fn remove(&mut self, slot: u32) -> Option<Connection> {
        let (lane, chunk, place) = place(slot);
        let connection = self.lanes[lane].get_mut(chunk)?[place].take();
        self.open -= usize::from(connection.is_some());
        self.extra_bytes -=
            connection.as_ref().and_then(Connection::extra).map_or(0, |extra| extra.accounted);
        connection
    }

    pub(crate) fn get(&self, slot: u32) -> Option<&Connection> {
        let (lane, chunk, place) = place(slot);
        self.lanes[lane].get(chunk)?[place].as_ref()
    }

    pub(crate) fn get_mut(&mut self, slot: u32) -> Option<&mut Connection> {
        let (lane, chunk, place) = place(slot);
        self.lanes[lane].get_mut(chunk)?[place].as_mut()
    }

    pub(crate) fn keyed(&self, key: ConnectionKey) -> Option<&Connection> {
        self.get(key.slot).filter(|connection| connection.generation == key.generation)
    }

    pub(crate) fn join(&self, slot: u32, topic: TopicId) -> Option<&Join> {
        self.get(slot)?.join(topic)
    }

    pub(crate) fn join_mut(&mut self, slot: u32, topic: TopicId) -> Option<&mut Join> {
        self.get_mut(slot)?.join_mut(topic)
    }

    /// Returns the socket id of a connection that has one.
    pub(crate) fn socket_id(&self, slot: u32) -> Option<&str> {
        self.get(slot)?.extra()?.identity.as_ref().map(|identity| identity.id.as_str())
    }

    /// Returns the key of the connection in the slot.
    pub(crate) fn key_of(&self, slot: u32) -> Option<ConnectionKey> {
        self.get(slot).map(|connection| ConnectionKey { slot, generation: connection.generation })
    }

    /// Returns the topic of a join that still exists.
    pub(crate) fn topic_of(&self, key: ConnectionKey, instance: JoinInstance) -> Option<TopicId> {
        self.keyed(key)?.joins().find(|join| join.instance == instance).map(|join| join.topic)
    }

    /// Sets a member's new place in its topic.
    pub(crate) fn place_member(&mut self, slot: u32, topic: TopicId, place: u32) {
        let join = self.join_mut(slot, topic).expect("every member has its join");
        debug_assert_ne!(join.member, NOT_A_MEMBER);
        join.member = place;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_connection_stays_within_its_bytes() {
        assert!(size_of::<Option<Connection>>() <= 72, "{} bytes", size_of::<Option<Connection>>());
    }

    #[test]
    fn what_only_some_connections_have_stays_within_its_bytes() {
        assert!(size_of::<Extra>() <= 112, "{} bytes", size_of::<Extra>());
    }
}
